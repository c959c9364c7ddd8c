//===- Weights.cpp - Parts and joins of weights ---------------------------===//

#include "lib/ModelPasses/Weights.h"

using namespace mlir;
using namespace modelc;

Value modelc::splitWeight(OpBuilder &builder, model::WeightOp weight,
                          const Split &split) {
  RankedTensorType type = weight.getType();
  SmallVector<int64_t> shape(type.getShape());
  shape[split.dim] /= split.parts;
  SmallVector<model::SourceAttr> sources;
  for (model::SourceAttr source : weight.getSources()) {
    sources.push_back(model::SourceAttr::get(
        builder.getContext(), source.getName(), split.dim, split.parts,
        split.copies, /*firstRank=*/false));
  }
  return model::WeightOp::create(
      builder, weight.getLoc(), type.clone(shape),
      model::SourcesAttr::get(builder.getContext(), sources),
      weight.getStoredAttr(), weight.getChannelScaleAttr(),
      weight.getAbsentAttr());
}

Value modelc::onFirstRank(OpBuilder &builder, model::WeightOp weight) {
  SmallVector<model::SourceAttr> sources;
  for (model::SourceAttr source : weight.getSources()) {
    sources.push_back(model::SourceAttr::get(builder.getContext(),
                                             source.getName(), 0, 1, 1,
                                             /*firstRank=*/true));
  }
  auto result = cast<model::WeightOp>(builder.clone(*weight));
  result.setSourcesAttr(model::SourcesAttr::get(builder.getContext(), sources));
  return result;
}

bool modelc::canJoin(ValueRange weights) {
  if (llvm::all_of(weights, [](Value value) { return !value; })) {
    return true;
  }
  model::WeightOp first;
  for (Value value : weights) {
    auto weight = value ? value.getDefiningOp<model::WeightOp>() : nullptr;
    if (!weight || weight.getAbsent()) {
      return false;
    }
    first = first ? first : weight;
    if (weight.getType().getElementType() != first.getType().getElementType() ||
        weight.getType().getShape().drop_front() !=
            first.getType().getShape().drop_front() ||
        weight.getStored() != first.getStored() ||
        weight.getChannelScale() != first.getChannelScale()) {
      return false;
    }
  }
  return true;
}

Value modelc::joinWeights(OpBuilder &builder, ValueRange weights) {
  if (!weights.front()) {
    return Value();
  }
  SmallVector<model::SourceAttr> sources;
  SmallVector<Location> places;
  int64_t rows = 0;
  for (Value value : weights) {
    auto weight = value.getDefiningOp<model::WeightOp>();
    llvm::append_range(sources, weight.getSources());
    places.push_back(weight.getLoc());
    rows += weight.getType().getDimSize(0);
  }
  auto first = weights.front().getDefiningOp<model::WeightOp>();
  SmallVector<int64_t> shape(first.getType().getShape());
  shape[0] = rows;
  return model::WeightOp::create(
      builder, builder.getFusedLoc(places), first.getType().clone(shape),
      model::SourcesAttr::get(builder.getContext(), sources),
      first.getStoredAttr(), first.getChannelScaleAttr(),
      /*absent=*/FloatAttr());
}

void modelc::setCacheType(model::CacheOp cache, model::CacheType type) {
  SmallVector<Value> pending = {cache.getResult()};
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    value.setType(type);
    for (Operation *user : value.getUsers()) {
      for (Value result : user->getResults()) {
        if (isa<model::CacheType>(result.getType())) {
          pending.push_back(result);
        }
      }
    }
  }
}
