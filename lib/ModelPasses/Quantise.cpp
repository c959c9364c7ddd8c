//===- Quantise.cpp - Linears and caches in 8 bits ------------------------===//

#include "lib/ModelPasses/ModelPasses.h"
#include "lib/ModelPasses/Roles.h"
#include "lib/ModelPasses/Weights.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace modelc {
#define GEN_PASS_DEF_MODELQUANTISE
#include "lib/ModelPasses/Passes.h.inc"

/// The scales of a weight's rows: of rows that this rank has, but always over
/// all columns, so that they do not depend on the number of ranks.
static Value makeChannelScale(OpBuilder &builder, model::WeightOp weight) {
  SmallVector<model::SourceAttr> sources;
  for (model::SourceAttr source : weight.getSources()) {
    bool splitsRows = source.getDim() == 0;
    sources.push_back(
        splitsRows ? source
                   : model::SourceAttr::get(builder.getContext(),
                                            source.getName().getValue()));
  }
  auto type = RankedTensorType::get({weight.getType().getDimSize(0)},
                                    builder.getF32Type());
  return model::WeightOp::create(
      builder, weight.getLoc(), type,
      model::SourcesAttr::get(builder.getContext(), sources),
      /*stored=*/TypeAttr(), /*channel_scale=*/builder.getUnitAttr(),
      /*absent=*/FloatAttr());
}

static Value makeEightBit(OpBuilder &builder, model::WeightOp weight) {
  RankedTensorType type = weight.getType();
  Type stored = weight.getStored().value_or(type.getElementType());
  return model::WeightOp::create(
      builder, weight.getLoc(),
      type.clone(Float8E4M3FNType::get(builder.getContext())),
      weight.getSourcesAttr(), TypeAttr::get(stored),
      weight.getChannelScaleAttr(), weight.getAbsentAttr());
}

/// What the names of the attention's tensors begin with:
/// "model.layers.{layer}.self_attn." of "...self_attn.k_proj.weight".
static std::string attentionPrefix(model::CacheOp cache) {
  for (Operation *user : cache->getUsers()) {
    auto append = dyn_cast<model::AppendOp>(user);
    Value keys = append ? append.getK() : Value();
    while (keys && keys.getDefiningOp<model::RopeOp>()) {
      keys = keys.getDefiningOp<model::RopeOp>().getX();
    }
    auto linear = keys ? keys.getDefiningOp<model::LinearOp>() : nullptr;
    auto weight =
        linear ? linear.getWeight().getDefiningOp<model::WeightOp>() : nullptr;
    if (weight) {
      StringRef name = weight.getSources().front().getName();
      StringRef layer = name.rsplit('.').first.rsplit('.').first;
      return layer.str() + ".";
    }
  }
  return "layers.{layer}.";
}

static Value makeCacheScale(OpBuilder &builder, model::CacheOp cache,
                            StringRef name) {
  auto source = model::SourceAttr::get(builder.getContext(),
                                       attentionPrefix(cache) + name.str());
  return model::WeightOp::create(
      builder, cache.getLoc(), RankedTensorType::get({1}, builder.getF32Type()),
      model::SourcesAttr::get(builder.getContext(), source),
      /*stored=*/TypeAttr(), /*channel_scale=*/UnitAttr(),
      builder.getF64FloatAttr(1.0));
}

namespace {
struct Quantise : public impl::ModelQuantiseBase<Quantise> {
  using ModelQuantiseBase::ModelQuantiseBase;

  void runOnOperation() override {
    if (weights == Precision::Fp8) {
      getOperation().walk([&](model::LinearOp linear) {
        if (getRole(linear) != Role::Head && !linear.getXScale()) {
          quantise(linear);
        }
      });
    }
    if (kv == Precision::Fp8) {
      getOperation().walk([&](model::CacheOp cache) { quantise(cache); });
    }
  }

  void quantise(model::CacheOp cache) {
    model::CacheType type = cache.getType();
    if (cache.getKScale()) {
      return; // has 8 bits already
    }
    OpBuilder builder(cache);
    cache.getKScaleMutable().assign(makeCacheScale(builder, cache, "k_scale"));
    cache.getVScaleMutable().assign(makeCacheScale(builder, cache, "v_scale"));
    setCacheType(cache,
                 model::CacheType::get(
                     &getContext(), type.getKvHeads(), type.getHeadDim(),
                     Float8E4M3FNType::get(&getContext()), type.getPage()));
  }

  model::QuantiseOp quantiseInput(OpBuilder &builder, model::LinearOp linear) {
    Value x = linear.getX();
    for (Operation *user : x.getUsers()) {
      if (auto known = dyn_cast<model::QuantiseOp>(user)) {
        return known;
      }
    }
    auto type = cast<RankedTensorType>(x.getType());
    auto scaleType =
        RankedTensorType::get({type.getDimSize(0)}, builder.getF32Type());
    return model::QuantiseOp::create(
        builder, linear.getLoc(),
        type.clone(Float8E4M3FNType::get(builder.getContext())), scaleType, x);
  }

  void quantise(model::LinearOp linear) {
    auto weight = linear.getWeight().getDefiningOp<model::WeightOp>();
    if (!weight) {
      return; // a weight that is an argument keeps its type
    }
    OpBuilder builder(linear);
    model::QuantiseOp input = quantiseInput(builder, linear);
    linear.getXMutable().assign(input.getOut());
    linear.getWeightMutable().assign(makeEightBit(builder, weight));
    linear.getXScaleMutable().assign(input.getScale());
    linear.getWeightScaleMutable().assign(makeChannelScale(builder, weight));
    if (weight->use_empty()) {
      weight->erase();
    }
  }
};
} // namespace
} // namespace modelc
