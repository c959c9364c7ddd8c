//===- Formats.cpp - What ops read numbers of few bits as -----------------===//

#include "dialects/Model/Formats.h"

using namespace mlir;
using namespace modelc::model;

FormatAttr LinearOp::getWeightFormat() {
  if (!getWeightScale()) {
    return {};
  }
  auto scale = cast<RankedTensorType>(getWeightScale().getType());
  Type blocks = scale.getRank() == 2 ? scale.getElementType() : Type();
  return FormatAttr::get(getContext(), getWeight().getType().getElementType(),
                         blocks, getSwiglu() ? 2 : 1);
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
