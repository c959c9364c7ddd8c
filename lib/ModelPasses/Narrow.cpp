//===- Narrow.cpp - Weights in few bits, and their scales -----------------===//

#include "lib/ModelPasses/Narrow.h"

using namespace mlir;
using namespace modelc;

RankedTensorType modelc::scalesOf(RankedTensorType matrix,
                                  const NumberFormat &numbers) {
  SmallVector<int64_t> shape(matrix.getShape());
  const int64_t columns = shape.pop_back_val();
  if (numbers.block == 0) {
    return RankedTensorType::get(shape, Float32Type::get(matrix.getContext()));
  }
  shape.push_back(columns / numbers.block);
  return RankedTensorType::get(shape, numbers.scale(matrix.getContext()));
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
                        const NumberFormat &numbers) {
  SmallVector<model::SourceAttr> sources = llvm::to_vector(weight.getSources());
  RankedTensorType type = scalesOf(weight.getType(), numbers);
  const bool hasBlocks = numbers.block > 0;
  if (hasBlocks) {
    SmallVector<int64_t> shape(type.getShape());
    int64_t &rows = shape[shape.size() - 2];
    rows = numbers.scaledRows(rows);
    type = type.clone(shape);
  }
  model::WeightOp scale = makeBeside(builder, weight, type,
                                     hasBlocks ? sources : wholeRows(weight));
  scale.setChannelScale(!hasBlocks);
  scale.setBlockScale(hasBlocks);
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

const NumberFormat *modelc::formatOf(model::WeightOp weight, bool holds,
                                     const NumberFormat &asked) {
  if (!holds) {
    return &asked;
  }
  std::optional<model::HeldAttr> held = weight.getHeld();
  return held ? model::findFormat(held->getFormat().getValue()) : nullptr;
}

static LogicalResult verifyBlocks(model::ExpertsOp experts,
                                  const NumberFormat &numbers) {
  for (int64_t inputs : {experts.getGateUp().getType().getDimSize(2),
                         experts.getDown().getType().getDimSize(2)}) {
    if (numbers.block > 0 && inputs % numbers.block != 0) {
      return emitError(model::placeOf(experts, model::Subject::Inputs),
                       "expected inputs of experts in whole blocks of ")
             << numbers.block << " for such weights, got " << inputs
             << "; try other types of weights";
    }
  }
  return success();
}

LogicalResult modelc::quantiseExperts(model::ExpertsOp experts, bool holds,
                                      const NumberFormat &asked) {
  auto gateUp = experts.getGateUp().getDefiningOp<model::WeightOp>();
  auto down = experts.getDown().getDefiningOp<model::WeightOp>();
  if (!gateUp || !down || experts.getGateUpScale()) {
    return success();
  }
  const NumberFormat *format = formatOf(gateUp, holds, asked);
  if (!format || !format->scale) {
    return success();
  }
  const NumberFormat &numbers = *format;
  if (failed(verifyBlocks(experts, numbers))) {
    return failure();
  }
  OpBuilder builder(experts);
  Type element = numbers.element(experts.getContext());
  experts.getGateUpMutable().assign(makeNarrow(builder, gateUp, element));
  experts.getDownMutable().assign(makeNarrow(builder, down, element));
  experts.getGateUpScaleMutable().assign(makeScale(builder, gateUp, numbers));
  experts.getDownScaleMutable().assign(makeScale(builder, down, numbers));
  if (numbers.hasTensorScale) {
    experts.getGateUpTensorScaleMutable().assign(
        makeTensorScale(builder, gateUp));
    experts.getDownTensorScaleMutable().assign(makeTensorScale(builder, down));
  }
  experts.setInputsAttr(TypeAttr::get(element));
  for (model::WeightOp weight : {gateUp, down}) {
    if (weight->use_empty()) {
      weight->erase();
    }
  }
  return success();
}
