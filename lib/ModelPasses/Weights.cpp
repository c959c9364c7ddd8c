//===- Weights.cpp - Parts and joins of weights ---------------------------===//

#include "lib/ModelPasses/Weights.h"

using namespace mlir;
using namespace modelc;

/// A weight of another shape, from other sources.
static model::WeightOp copyOf(OpBuilder &builder, model::WeightOp weight,
                              ArrayRef<int64_t> shape,
                              ArrayRef<model::SourceAttr> sources) {
  auto copy = cast<model::WeightOp>(builder.clone(*weight));
  copy.setSourcesAttr(model::SourcesAttr::get(builder.getContext(), sources));
  copy.getResult().setType(weight.getType().clone(shape));
  return copy;
}

Value modelc::splitWeight(OpBuilder &builder, model::WeightOp weight,
                          model::CutAttr cut) {
  SmallVector<int64_t> shape(weight.getType().getShape());
  shape[cut.getDim()] /= cut.getParts();
  SmallVector<model::SourceAttr> sources;
  for (model::SourceAttr source : weight.getSources()) {
    SmallVector<model::CutAttr> cuts(source.getCuts());
    cuts.push_back(cut);
    sources.push_back(
        model::SourceAttr::get(builder.getContext(), source.getName(), cuts,
                               source.getFirstRank(), source.getPadding()));
  }
  return copyOf(builder, weight, shape, sources);
}

Value modelc::padWeight(OpBuilder &builder, model::WeightOp weight,
                        int64_t rows) {
  SmallVector<int64_t> shape(weight.getType().getShape());
  shape.front() += rows;
  model::SourceAttr source = *weight.getSources().begin();
  return copyOf(builder, weight, shape,
                model::SourceAttr::get(builder.getContext(), source.getName(),
                                       source.getCuts(), source.getFirstRank(),
                                       source.getPadding() + rows));
}

Value modelc::onFirstRank(OpBuilder &builder, model::WeightOp weight) {
  SmallVector<model::SourceAttr> sources;
  for (model::SourceAttr source : weight.getSources()) {
    sources.push_back(model::SourceAttr::get(
        builder.getContext(), source.getName(), source.getCuts(),
        /*firstRank=*/true, source.getPadding()));
  }
  return copyOf(builder, weight, weight.getType().getShape(), sources);
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
        weight.getChannelScale() != first.getChannelScale() ||
        weight.getBlockScale() != first.getBlockScale() ||
        weight.getTensorScale() != first.getTensorScale() ||
        weight.getHeld() != first.getHeld()) {
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
  model::WeightOp joined = copyOf(builder, first, shape, sources);
  joined->setLoc(builder.getFusedLoc(places));
  joined.removeFormatAttr(); // that of all parts follows from who reads them
  return joined;
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

void modelc::splitCache(model::CacheOp cache, int64_t parts) {
  model::CacheType type = cache.getType();
  setCacheType(
      cache, model::CacheType::get(cache.getContext(),
                                   type.getKvHeads() / parts, type.getHeadDim(),
                                   type.getElementType(), type.getPage()));
}
