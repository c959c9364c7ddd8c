//===- Narrow.cpp - Weights in few bits, and their scales -----------------===//

#include "lib/ModelPasses/Narrow.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace modelc;

std::optional<Precision> modelc::precisionNamed(StringRef word) {
  return llvm::StringSwitch<std::optional<Precision>>(word)
      .Case("bf16", Precision::Bf16)
      .Case("fp8", Precision::Fp8)
      .Case("fp8_block", Precision::Fp8Block)
      .Case("mxfp8", Precision::Mxfp8)
      .Case("mxfp6", Precision::Mxfp6)
      .Case("mxfp4", Precision::Mxfp4)
      .Case("nvfp4", Precision::Nvfp4)
      .Default(std::nullopt);
}

Numbers modelc::numbersOf(MLIRContext *context, Precision precision) {
  switch (precision) {
  case Precision::Mxfp4:
    return {Float4E2M1FNType::get(context), Float8E8M0FNUType::get(context)};
  case Precision::Mxfp6:
    return {Float6E2M3FNType::get(context), Float8E8M0FNUType::get(context)};
  case Precision::Mxfp8:
    return {Float8E4M3FNType::get(context), Float8E8M0FNUType::get(context)};
  case Precision::Nvfp4:
    return {Float4E2M1FNType::get(context), Float8E4M3FNType::get(context)};
  case Precision::Fp8Block:
    return {Float8E4M3FNType::get(context), Float32Type::get(context)};
  default:
    return {Float8E4M3FNType::get(context), {}};
  }
}

RankedTensorType modelc::scalesOf(RankedTensorType matrix,
                                  const Numbers &numbers) {
  SmallVector<int64_t> shape(matrix.getShape());
  const int64_t columns = shape.pop_back_val();
  if (!numbers.hasBlocks()) {
    return RankedTensorType::get(shape, Float32Type::get(matrix.getContext()));
  }
  shape.push_back(columns / numbers.block());
  return RankedTensorType::get(shape, numbers.scale);
}

/// The sources of scales of rows that this rank has, but of their whole
/// tensors, so that the scales do not depend on the number of ranks.
static SmallVector<model::SourceAttr> wholeRows(model::WeightOp weight) {
  const int64_t inputs = weight.getType().getRank() - 1;
  SmallVector<model::SourceAttr> sources;
  for (model::SourceAttr source : weight.getSources()) {
    SmallVector<model::CutAttr> cuts;
    llvm::copy_if(source.getCuts(), std::back_inserter(cuts),
                  [&](model::CutAttr cut) { return cut.getDim() != inputs; });
    sources.push_back(
        model::SourceAttr::get(weight.getContext(), source.getName(), cuts,
                               source.getFirstRank(), source.getPadding()));
  }
  return sources;
}

/// A weight of scales beside another, as the checkpoint holds that.
static model::WeightOp makeBeside(OpBuilder &builder, model::WeightOp weight,
                                  RankedTensorType type,
                                  ArrayRef<model::SourceAttr> sources) {
  auto scale = model::WeightOp::create(builder, weight.getLoc(), type, sources);
  scale.setHeldAttr(weight.getHeldAttr());
  scale.setTransposed(weight.getTransposed());
  return scale;
}

Value modelc::makeScale(OpBuilder &builder, model::WeightOp weight,
                        const Numbers &numbers) {
  SmallVector<model::SourceAttr> sources = llvm::to_vector(weight.getSources());
  RankedTensorType type = scalesOf(weight.getType(), numbers);
  if (numbers.hasBlocks()) {
    SmallVector<int64_t> shape(type.getShape());
    int64_t &rows = shape[shape.size() - 2];
    rows = model::getScaledRows(rows, numbers.scale);
    type = type.clone(shape);
  }
  model::WeightOp scale = makeBeside(
      builder, weight, type, numbers.hasBlocks() ? sources : wholeRows(weight));
  scale.setChannelScale(!numbers.hasBlocks());
  scale.setBlockScale(numbers.hasBlocks());
  return scale;
}

Value modelc::makeTensorScale(OpBuilder &builder, model::WeightOp weight) {
  auto type = RankedTensorType::get(weight.getType().getShape().drop_back(),
                                    builder.getF32Type());
  model::WeightOp scale = makeBeside(builder, weight, type, wholeRows(weight));
  scale.setTensorScale(true);
  return scale;
}

Value modelc::makeNarrow(OpBuilder &builder, model::WeightOp weight,
                         Type number) {
  auto narrow = cast<model::WeightOp>(builder.clone(*weight));
  Type stored = weight.getStored().value_or(weight.getType().getElementType());
  narrow.setStoredAttr(TypeAttr::get(stored));
  narrow.getResult().setType(weight.getType().clone(number));
  return narrow;
}

bool modelc::holdsNarrow(model::GraphOp graph) {
  return graph
      .walk([](model::WeightOp weight) {
        return weight.getHeld() ? WalkResult::interrupt()
                                : WalkResult::advance();
      })
      .wasInterrupted();
}

std::optional<Precision> modelc::precisionOf(model::WeightOp weight, bool holds,
                                             Precision asked) {
  if (!holds) {
    return asked;
  }
  std::optional<model::HeldAttr> held = weight.getHeld();
  return held ? precisionNamed(held->getFormat().getValue()) : std::nullopt;
}

static LogicalResult verifyBlocks(model::ExpertsOp experts,
                                  const Numbers &numbers) {
  for (int64_t inputs : {experts.getGateUp().getType().getDimSize(2),
                         experts.getDown().getType().getDimSize(2)}) {
    if (numbers.hasBlocks() && inputs % numbers.block() != 0) {
      return emitError(model::placeOf(experts, model::Subject::Inputs),
                       "expected inputs of experts in whole blocks of ")
             << numbers.block() << " for such weights, got " << inputs
             << "; try other types of weights";
    }
  }
  return success();
}

LogicalResult modelc::quantiseExperts(model::ExpertsOp experts, bool holds,
                                      Precision asked) {
  auto gateUp = experts.getGateUp().getDefiningOp<model::WeightOp>();
  auto down = experts.getDown().getDefiningOp<model::WeightOp>();
  if (!gateUp || !down || experts.getGateUpScale()) {
    return success();
  }
  std::optional<Precision> precision = precisionOf(gateUp, holds, asked);
  if (!precision || *precision == Precision::Bf16) {
    return success();
  }
  const Numbers numbers = numbersOf(experts.getContext(), *precision);
  if (failed(verifyBlocks(experts, numbers))) {
    return failure();
  }
  OpBuilder builder(experts);
  experts.getGateUpMutable().assign(makeNarrow(builder, gateUp, numbers.type));
  experts.getDownMutable().assign(makeNarrow(builder, down, numbers.type));
  experts.getGateUpScaleMutable().assign(makeScale(builder, gateUp, numbers));
  experts.getDownScaleMutable().assign(makeScale(builder, down, numbers));
  if (numbers.hasTensorScale()) {
    experts.getGateUpTensorScaleMutable().assign(
        makeTensorScale(builder, gateUp));
    experts.getDownTensorScaleMutable().assign(makeTensorScale(builder, down));
  }
  experts.setInputsAttr(TypeAttr::get(numbers.type));
  for (model::WeightOp weight : {gateUp, down}) {
    if (weight->use_empty()) {
      weight->erase();
    }
  }
  return success();
}
