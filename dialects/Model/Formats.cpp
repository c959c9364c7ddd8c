//===- Formats.cpp - What ops read numbers of few bits as -----------------===//

#include "dialects/Model/Formats.h"

using namespace mlir;
using namespace modelc::model;

/// Of a matrix, or one for each expert, and its scales: of rows, or with as
/// many dimensions as the matrix, of blocks.
static FormatAttr formatOf(Value weight, Value scale, int64_t parts) {
  if (!scale) {
    return {};
  }
  auto type = cast<RankedTensorType>(weight.getType());
  auto ofScale = cast<RankedTensorType>(scale.getType());
  bool isOfBlocks = ofScale.getRank() == type.getRank();
  return FormatAttr::get(type.getContext(), type.getElementType(),
                         isOfBlocks ? ofScale.getElementType() : Type(), parts);
}

FormatAttr LinearOp::getWeightFormat() {
  return formatOf(getWeight(), getWeightScale(), getSwiglu() ? 2 : 1);
}

FormatAttr ExpertsOp::getGateUpFormat() {
  return formatOf(getGateUp(), getGateUpScale(), 2);
}

FormatAttr ExpertsOp::getDownFormat() {
  return formatOf(getDown(), getDownScale(), 1);
}

FormatAttr CacheType::getFormat() const {
  return isEightBit(getElementType())
             ? FormatAttr::get(getContext(), getElementType(), {}, 1)
             : FormatAttr();
}

/// Of a weight that states a format.
static LogicalResult verifyFormat(Operation *op, Value value,
                                  FormatAttr format) {
  auto weight = value ? value.getDefiningOp<WeightOp>() : WeightOp();
  FormatAttr stated = weight ? weight.getFormatAttr() : FormatAttr();
  if (!stated || stated == format) {
    return success();
  }
  InFlightDiagnostic error = op->emitOpError("expected a weight ");
  error << (format ? "of format " : "without a format");
  if (format) {
    error << format;
  }
  error << ", got " << stated;
  error.attachNote(weight.getLoc()) << "the weight is here";
  return error;
}

LogicalResult modelc::model::verifyFormats(ExpertsOp op) {
  const std::pair<Value, FormatAttr> weights[] = {
      {op.getGateUp(), op.getGateUpFormat()},
      {op.getGateUpScale(), op.getGateUpFormat()},
      {op.getGateUpTensorScale(), op.getGateUpFormat()},
      {op.getDown(), op.getDownFormat()},
      {op.getDownScale(), op.getDownFormat()},
      {op.getDownTensorScale(), op.getDownFormat()}};
  for (auto [weight, format] : weights) {
    if (failed(verifyFormat(op, weight, format))) {
      return failure();
    }
  }
  return success();
}

LogicalResult modelc::model::verifyFormats(LinearOp op) {
  FormatAttr format = op.getWeightFormat();
  const Value weights[] = {op.getWeight(), op.getWeightScale(),
                           op.getWeightTensorScale()};
  for (Value weight : weights) {
    if (failed(verifyFormat(op, weight, format))) {
      return failure();
    }
  }
  return success();
}

LogicalResult modelc::model::verifyQueryScale(Operation *op, Value scale,
                                              CacheType cache) {
  if (!scale) {
    return success();
  }
  if (!isEightBit(cache.getElementType())) {
    return op->emitOpError("expected 'scaled' only beside a cache of 8 bits, "
                           "got ")
           << cache;
  }
  if (cast<RankedTensorType>(scale.getType()).getDimSize(0) != 1) {
    return op->emitOpError("expected one scale of all queries, got ")
           << scale.getType();
  }
  return verifyFormat(op, scale, cache.getFormat());
}
