//===- Quantise.cpp - Linears in 8 or 4 bits, caches in 8 -----------------===//

#include "lib/ModelPasses/ModelPasses.h"
#include "lib/ModelPasses/Roles.h"
#include "lib/ModelPasses/Weights.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace modelc {
#define GEN_PASS_DEF_MODELQUANTISE
#include "lib/ModelPasses/Passes.h.inc"

/// The type of the scales of a matrix of these numbers: in f32 one for each
/// row, of 4 bits a power of two for each block.
static RankedTensorType scalesOf(RankedTensorType matrix, Type number) {
  MLIRContext *context = number.getContext();
  if (!model::isFourBit(number)) {
    return RankedTensorType::get({matrix.getDimSize(0)},
                                 Float32Type::get(context));
  }
  return RankedTensorType::get(
      {matrix.getDimSize(0), matrix.getDimSize(1) / model::kScaledBlock},
      Float8E8M0FNUType::get(context));
}

/// The scales of a weight: of rows that this rank has, but always over all
/// columns, so that they do not depend on the number of ranks; of blocks where
/// the weight has those.
static Value makeScale(OpBuilder &builder, model::WeightOp weight,
                       Type number) {
  bool isOfBlocks = model::isFourBit(number);
  SmallVector<model::SourceAttr> sources;
  for (model::SourceAttr source : weight.getSources()) {
    bool isSplitAlike = isOfBlocks || source.getDim() == 0;
    sources.push_back(
        isSplitAlike ? source
                     : model::SourceAttr::get(builder.getContext(),
                                              source.getName().getValue()));
  }
  UnitAttr is = builder.getUnitAttr();
  return model::WeightOp::create(
      builder, weight.getLoc(), scalesOf(weight.getType(), number),
      model::SourcesAttr::get(builder.getContext(), sources),
      /*stored=*/TypeAttr(), /*channel_scale=*/isOfBlocks ? UnitAttr() : is,
      /*block_scale=*/isOfBlocks ? is : UnitAttr(), /*absent=*/FloatAttr());
}

static Value makeNarrow(OpBuilder &builder, model::WeightOp weight,
                        Type number) {
  auto narrow = cast<model::WeightOp>(builder.clone(*weight));
  Type stored = weight.getStored().value_or(weight.getType().getElementType());
  narrow.setStoredAttr(TypeAttr::get(stored));
  narrow.getResult().setType(weight.getType().clone(number));
  return narrow;
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
      /*block_scale=*/UnitAttr(), builder.getF64FloatAttr(1.0));
}

namespace {
struct Quantise : public impl::ModelQuantiseBase<Quantise> {
  using ModelQuantiseBase::ModelQuantiseBase;

  void runOnOperation() override {
    bool isNarrow = weights != Precision::Bf16 || inputs != Precision::Bf16;
    if (isNarrow && failed(quantiseLinears())) {
      return signalPassFailure();
    }
    if (kv == Precision::Fp8) {
      getOperation().walk([&](model::CacheOp cache) { quantise(cache); });
    }
  }

  Type numberOf(Precision precision) {
    return precision == Precision::Mxfp4
               ? Type(Float4E2M1FNType::get(&getContext()))
               : Type(Float8E4M3FNType::get(&getContext()));
  }

  LogicalResult quantiseLinears() {
    if (weights == Precision::Bf16) {
      return getOperation().emitError("expected weights of 8 or 4 bits beside "
                                      "inputs of 8; try weights=mxfp4");
    }
    Type number = numberOf(weights);
    Type ofInputs = inputs == Precision::Bf16 ? number : numberOf(inputs);
    WalkResult walk = getOperation().walk([&](model::LinearOp linear) {
      bool isDone = getRole(linear) == Role::Head || linear.getXScale();
      return isDone ? WalkResult::advance()
                    : WalkResult(quantise(linear, number, ofInputs));
    });
    return failure(walk.wasInterrupted());
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

  model::QuantiseOp quantiseInput(OpBuilder &builder, model::LinearOp linear,
                                  Type number) {
    Value x = linear.getX();
    for (Operation *user : x.getUsers()) {
      if (auto known = dyn_cast<model::QuantiseOp>(user)) {
        return known;
      }
    }
    auto type = cast<RankedTensorType>(x.getType());
    return model::QuantiseOp::create(builder, linear.getLoc(),
                                     type.clone(number), scalesOf(type, number),
                                     x);
  }

  LogicalResult quantise(model::LinearOp linear, Type number, Type ofInputs) {
    auto weight = linear.getWeight().getDefiningOp<model::WeightOp>();
    if (!weight) {
      return success(); // a weight that is an argument keeps its type
    }
    if (model::isFourBit(number) &&
        linear.getInputs() % model::kScaledBlock != 0) {
      return linear.emitError("expected inputs in whole blocks of ")
             << model::kScaledBlock << " for weights of 4 bits, got "
             << linear.getInputs() << "; try other types of weights";
    }
    OpBuilder builder(linear);
    model::QuantiseOp input = quantiseInput(builder, linear, ofInputs);
    linear.getXMutable().assign(input.getOut());
    linear.getWeightMutable().assign(makeNarrow(builder, weight, number));
    linear.getXScaleMutable().assign(input.getScale());
    linear.getWeightScaleMutable().assign(makeScale(builder, weight, number));
    if (weight->use_empty()) {
      weight->erase();
    }
    return success();
  }
};
} // namespace
} // namespace modelc
