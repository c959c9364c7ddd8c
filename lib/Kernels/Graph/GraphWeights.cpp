//===- GraphWeights.cpp - What a graph reads that steps before it made ----===//
//
// Weights of the checkpoint, with the text that tells its loader how to make
// them, and caches.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Graph/GraphLowering.h"
#include "lib/Kernels/Rows/Formats.h"
#include "lib/Text/Text.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

/// Whether the linear multiplies by the weight as numbers or as their scales.
static bool isOf(model::LinearOp linear, model::WeightOp weight) {
  Value value = weight.getResult();
  return value == linear.getWeight() || value == linear.getWeightScale() ||
         value == linear.getWeightTensorScale();
}

/// The words that say which neighbours of a row share a scale that the matrix
/// unit multiplies by, and the types of numbers and scales; empty: none do.
static std::string blocksText(model::WeightOp weight) {
  std::string text;
  for (Operation *user : weight->getUsers()) {
    auto linear = dyn_cast<model::LinearOp>(user);
    if (!linear || !linear.getWeightScale() || !isOf(linear, weight)) {
      continue;
    }
    Type number = linear.getWeight().getType().getElementType();
    BlockScales scales =
        blockScalesOf(number, getElementTypeOrSelf(linear.getWeightScale()));
    if (scales && !scales.isByKernel()) {
      llvm::raw_string_ostream(text) << " blocks " << scales.block << " of "
                                     << number << " scaled " << scales.type;
    }
    break;
  }
  return text;
}

/// Whether the weight is numbers whose groups have scales in f32, or those.
static bool isOfGroups(model::WeightOp weight) {
  auto isGroupScale = [](Value scale) {
    auto type =
        scale ? cast<RankedTensorType>(scale.getType()) : RankedTensorType();
    return type && type.getRank() == 2 && type.getElementType().isF32();
  };
  if (weight.getBlockScale()) {
    return isGroupScale(weight.getResult());
  }
  return llvm::any_of(weight->getUsers(), [&](Operation *user) {
    auto linear = dyn_cast<model::LinearOp>(user);
    return linear && linear.getWeight() == weight &&
           isGroupScale(linear.getWeightScale());
  });
}

model::LinearOp kernels::swigluScaledBy(Value scale) {
  for (Operation *user : scale.getUsers()) {
    auto linear = dyn_cast<model::LinearOp>(user);
    if (linear && linear.getSwiglu() && linear.getWeightScale() == scale) {
      return linear;
    }
  }
  return {};
}

std::string kernels::sourceOf(model::WeightOp weight, bool isDoubled) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  llvm::interleaveComma(weight.getSources(), os, [&](model::SourceAttr source) {
    os << source.getName();
    if (source.getPadding() > 0) {
      os << " padded " << source.getPadding();
    }
    for (model::CutAttr cut : source.getCuts()) {
      if (cut.getParts() > 1) {
        os << " split " << cut.getDim() << " of " << cut.getParts();
      }
      if (cut.getCopies() > 1) {
        os << " copies " << cut.getCopies();
      }
    }
    if (source.getFirstRank()) {
      os << " first rank";
    }
  });
  os << "]";
  if (weight.getStored()) {
    os << " stored " << *weight.getStored();
  }
  os << blocksText(weight);
  if (weight.getChannelScale()) {
    os << " channel_scale";
  }
  if (isOfGroups(weight)) {
    os << " grouped " << model::kScaledGroup;
  }
  if (weight.getBlockScale()) {
    os << " block_scale";
    model::LinearOp linear = swigluScaledBy(weight.getResult());
    int64_t rows = linear && !isOfGroups(weight) ? linear.getOutputs() / 2 : 0;
    if (rows % kScaleRows != 0) {
      os << " apart " << rows;
    }
  }
  if (weight.getTensorScale()) {
    os << " tensor_scale";
  }
  if (weight.getLargest()) {
    os << " largest";
  }
  if (weight.getAbsent()) {
    os << " default " << exactNumber(weight.getAbsent()->convertToDouble());
  }
  if (isDoubled) {
    os << " doubled";
  }
  return text;
}

/// Whether it scales numbers of 8 bits that the machine keeps as their halves.
bool GraphLowering::isDoubledScale(model::WeightOp op) const {
  bool isScale =
      op.getChannelScale() || (op.getBlockScale() && isOfGroups(op)) ||
      llvm::any_of(op->getUsers(),
                   llvm::IsaPred<model::CacheOp, model::AttentionOp>);
  return isScale && isHalved(stored(Float8E4M3FNType::get(op->getContext())));
}

LogicalResult GraphLowering::lower(model::WeightOp op) {
  for (model::SourceAttr source : op.getSources()) {
    for (model::CutAttr cut : source.getCuts()) {
      if (failed(expectTensorAxis(op, cut.getAxis()))) {
        return failure();
      }
    }
  }
  BufferType type = storedAs(op.getResult());
  NamedBuffer buffer = {StorageRole::Weight,
                        sourceOf(op, isDoubledScale(op)),
                        SmallVector<int64_t>(type.getShape()),
                        type.getElementType(),
                        {},
                        type.getPacked()};
  if (layer) {
    buffer.sizes.push_back(layer);
  }
  storage[op.getResult()] = {
      layer ? plan.local(buffer) : plan.named(buffer), {}, {}};
  return success();
}

LogicalResult GraphLowering::lower(model::CacheOp op) {
  model::CacheType cache = op.getResult().getType();
  if (!cache.getPage()) {
    return op.emitError("expected a cache with pages, got none; try "
                        "model-bind");
  }
  NamedBuffer buffer = {StorageRole::Cache,
                        "k_cache",
                        {kDynamic, cache.getKvHeads(), cache.getHeadDim()},
                        stored(cache.getElementType()),
                        {plan.sizes.cacheRows, layer}};
  Value keys = plan.local(buffer);
  buffer.source = "v_cache";
  Value values = plan.local(buffer);
  storage[op.getResult()] = {keys, {}, values, {}, {}};
  if (op.getKScale()) {
    storage[op.getResult()].keyScale = bufferOf(op.getKScale());
    storage[op.getResult()].valueScale = bufferOf(op.getVScale());
  }
  return success();
}
