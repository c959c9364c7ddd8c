//===- Quantise.cpp - Linears in 8, 6 or 4 bits, caches in 8 --------------===//

#include "lib/ModelPasses/ModelPasses.h"
#include "lib/ModelPasses/Weights.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace modelc {
#define GEN_PASS_DEF_MODELQUANTISE
#include "lib/ModelPasses/Passes.h.inc"

/// What the numbers of linears are: a type of few bits and that of the scales
/// of its blocks; null: rows have scales.
namespace {
struct Numbers {
  Type type, scale;
  bool hasBlocks() const { return static_cast<bool>(scale); }
  /// Scales of f32 are of as many rows of a weight too.
  bool hasGroups() const { return scale && scale.isF32(); }
  int64_t block() const { return model::getScaledBlock(scale); }
  /// Scales with a fraction have a second one, of the whole tensor.
  bool hasTensorScale() const {
    return isa_and_nonnull<Float8E4M3FNType>(scale);
  }
};
} // namespace

static Numbers numbersOf(MLIRContext *context, Precision precision) {
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

/// The type of the scales of a matrix of these numbers: in f32 one for each
/// row, or one for each block.
static RankedTensorType scalesOf(RankedTensorType matrix,
                                 const Numbers &numbers) {
  int64_t rows = matrix.getDimSize(0);
  if (!numbers.hasBlocks()) {
    return RankedTensorType::get({rows}, Float32Type::get(matrix.getContext()));
  }
  return RankedTensorType::get({rows, matrix.getDimSize(1) / numbers.block()},
                               numbers.scale);
}

/// The sources of scales of rows that this rank has, but of their whole
/// tensors, so that the scales do not depend on the number of ranks.
static SmallVector<model::SourceAttr> wholeRows(model::WeightOp weight) {
  SmallVector<model::SourceAttr> sources;
  for (model::SourceAttr source : weight.getSources()) {
    SmallVector<model::CutAttr> cuts;
    llvm::copy_if(source.getCuts(), std::back_inserter(cuts),
                  [](model::CutAttr cut) { return cut.getDim() == 0; });
    sources.push_back(
        model::SourceAttr::get(weight.getContext(), source.getName(), cuts,
                               source.getFirstRank(), source.getPadding()));
  }
  return sources;
}

/// The scales of rows of a weight, or of blocks where the weight has those.
static Value makeScale(OpBuilder &builder, model::WeightOp weight,
                       const Numbers &numbers) {
  SmallVector<model::SourceAttr> sources = llvm::to_vector(weight.getSources());
  RankedTensorType type = scalesOf(weight.getType(), numbers);
  if (numbers.hasBlocks()) {
    type = type.clone({model::getScaledRows(type.getDimSize(0), numbers.scale),
                       type.getDimSize(1)});
  }
  auto scale = model::WeightOp::create(builder, weight.getLoc(), type,
                                       numbers.hasBlocks() ? sources
                                                           : wholeRows(weight));
  scale.setChannelScale(!numbers.hasBlocks());
  scale.setBlockScale(numbers.hasBlocks());
  return scale;
}

/// The second scale of each row of a weight.
static Value makeTensorScale(OpBuilder &builder, model::WeightOp weight) {
  auto type = RankedTensorType::get({weight.getType().getDimSize(0)},
                                    builder.getF32Type());
  auto scale = model::WeightOp::create(builder, weight.getLoc(), type,
                                       wholeRows(weight));
  scale.setTensorScale(true);
  return scale;
}

/// The second scale of the input of linears, by the names of calibrated
/// checkpoints: "...q_proj.input_scale" beside "...q_proj.weight"; 1 where
/// there is none. One that several linears read has the largest of theirs.
static Value makeInputScale(OpBuilder &builder, Value x) {
  SmallVector<model::LinearOp> linears;
  for (Operation *user : x.getUsers()) {
    auto linear = dyn_cast<model::LinearOp>(user);
    if (linear && linear.getX() == x &&
        linear.getWeight().getDefiningOp<model::WeightOp>()) {
      linears.push_back(linear);
    }
  }
  llvm::sort(linears, [](model::LinearOp a, model::LinearOp b) {
    return a->isBeforeInBlock(b);
  });
  SmallVector<model::SourceAttr> sources;
  SmallVector<Location> places;
  for (model::LinearOp linear : linears) {
    places.push_back(linear.getLoc());
    auto weight = linear.getWeight().getDefiningOp<model::WeightOp>();
    for (model::SourceAttr source : weight.getSources()) {
      StringRef name = source.getName().getValue();
      name.consume_back(".weight");
      sources.push_back(model::SourceAttr::get(builder.getContext(),
                                               (name + ".input_scale").str()));
    }
  }
  auto scale = model::WeightOp::create(
      builder, builder.getFusedLoc(places),
      RankedTensorType::get({1}, builder.getF32Type()), sources);
  scale.setLargest(true);
  scale.setAbsent(APFloat(1.0));
  return scale;
}

static Value makeNarrow(OpBuilder &builder, model::WeightOp weight,
                        Type number) {
  auto narrow = cast<model::WeightOp>(builder.clone(*weight));
  Type stored = weight.getStored().value_or(weight.getType().getElementType());
  narrow.setStoredAttr(TypeAttr::get(stored));
  narrow.getResult().setType(weight.getType().clone(number));
  return narrow;
}

/// The name of the projection that made queries, keys or values, without
/// ".weight": "model.layers.{layer}.self_attn.k_proj"; empty: unknown.
static StringRef projectionOf(Value value) {
  while (value && value.getDefiningOp<model::RopeOp>()) {
    value = value.getDefiningOp<model::RopeOp>().getX();
  }
  auto linear = value ? value.getDefiningOp<model::LinearOp>() : nullptr;
  auto weight =
      linear ? linear.getWeight().getDefiningOp<model::WeightOp>() : nullptr;
  return weight ? weight.getSources()
                      .begin()
                      ->getName()
                      .getValue()
                      .rsplit('.')
                      .first
                : StringRef();
}

/// Calibrated checkpoints have the scale of what attention reads beside the
/// projection that made it or in that: "...self_attn.k_scale",
/// "...self_attn.k_proj.k_scale".
static Value makeScaleBeside(OpBuilder &builder, model::CacheOp cache,
                             StringRef name, Value made) {
  StringRef projection = projectionOf(made);
  SmallVector<model::SourceAttr> sources;
  auto add = [&](const Twine &source) {
    sources.push_back(
        model::SourceAttr::get(builder.getContext(), source.str()));
  };
  if (projection.empty()) {
    add("layers.{layer}." + name);
  } else {
    add(projection.rsplit('.').first + "." + name);
    add(projection + "." + name);
  }
  auto scale = model::WeightOp::create(
      builder, cache.getLoc(), RankedTensorType::get({1}, builder.getF32Type()),
      sources);
  scale.setLargest(sources.size() > 1);
  scale.setAbsent(APFloat(1.0));
  return scale;
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
    if (queries == Precision::Fp8 && failed(quantiseQueries())) {
      signalPassFailure();
    }
  }

  LogicalResult quantiseQueries() {
    WalkResult walk = getOperation().walk([](model::AttentionOp attention) {
      if (attention.getQScale()) {
        return WalkResult::advance(); // takes 8 bits already
      }
      auto append = attention.getCache().getDefiningOp<model::AppendOp>();
      auto cache =
          append ? append.getCache().getDefiningOp<model::CacheOp>() : nullptr;
      if (!cache || !cache.getKScale()) {
        emitError(model::placeOf(attention, model::Subject::Queries),
                  "expected a cache of 8 bits that the layer fills beside "
                  "queries of 8; try kv=fp8");
        return WalkResult::interrupt();
      }
      OpBuilder builder(cache);
      attention.getQScaleMutable().assign(
          makeScaleBeside(builder, cache, "q_scale", attention.getQ()));
      return WalkResult::advance();
    });
    return failure(walk.wasInterrupted());
  }

  LogicalResult quantiseLinears() {
    if (weights == Precision::Bf16) {
      return emitError(
          model::placeOf(getOperation(), model::Subject::Activations),
          "expected weights of 8 bits or fewer beside "
          "inputs of 8; try weights=mxfp4");
    }
    bool takesEight = weights == Precision::Fp8 ||
                      weights == Precision::Mxfp6 ||
                      weights == Precision::Mxfp4;
    if (!takesEight && inputs != Precision::Bf16) {
      return emitError(
          model::placeOf(getOperation(), model::Subject::Activations),
          "expected inputs of the type of the weights beside weights in NVFP4 "
          "or of 8 bits with scales of blocks; try weights=mxfp4");
    }
    Numbers number = numbersOf(&getContext(), weights);
    Numbers ofInputs =
        inputs == Precision::Bf16 ? number : numbersOf(&getContext(), inputs);
    WalkResult walk = getOperation().walk([&](model::LinearOp linear) {
      bool isDone =
          linear.getRole() == model::Role::Vocabulary || linear.getXScale();
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
    Value k, v;
    for (Operation *user : cache->getUsers()) {
      if (auto append = dyn_cast<model::AppendOp>(user)) {
        k = append.getK();
        v = append.getV();
      }
    }
    cache.getKScaleMutable().assign(
        makeScaleBeside(builder, cache, "k_scale", k));
    cache.getVScaleMutable().assign(
        makeScaleBeside(builder, cache, "v_scale", v));
    setCacheType(cache,
                 model::CacheType::get(
                     &getContext(), type.getKvHeads(), type.getHeadDim(),
                     Float8E4M3FNType::get(&getContext()), type.getPage()));
  }

  model::QuantiseOp quantiseInput(OpBuilder &builder, model::LinearOp linear,
                                  const Numbers &numbers) {
    Value x = linear.getX();
    for (Operation *user : x.getUsers()) {
      if (auto known = dyn_cast<model::QuantiseOp>(user)) {
        return known;
      }
    }
    auto type = cast<RankedTensorType>(x.getType());
    Value tensorScale =
        numbers.hasTensorScale() ? makeInputScale(builder, x) : Value();
    return model::QuantiseOp::create(builder, linear.getLoc(),
                                     type.clone(numbers.type),
                                     scalesOf(type, numbers), x, tensorScale);
  }

  LogicalResult quantise(model::LinearOp linear, const Numbers &numbers,
                         const Numbers &ofInputs) {
    auto weight = linear.getWeight().getDefiningOp<model::WeightOp>();
    if (!weight) {
      return success(); // a weight that is an argument keeps its type
    }
    if (numbers.hasBlocks() && linear.getInputs() % numbers.block() != 0) {
      return emitError(model::placeOf(linear, model::Subject::Inputs),
                       "expected inputs in whole blocks of ")
             << numbers.block() << " for such weights, got "
             << linear.getInputs() << "; try other types of weights";
    }
    if (numbers.hasGroups() && linear.getOutputs() % numbers.block() != 0) {
      return emitError(model::placeOf(linear, model::Subject::Outputs),
                       "expected outputs in whole blocks of ")
             << numbers.block() << " for such weights, got "
             << linear.getOutputs() << "; try other types of weights";
    }
    OpBuilder builder(linear);
    model::QuantiseOp input = quantiseInput(builder, linear, ofInputs);
    linear.getXMutable().assign(input.getOut());
    linear.getWeightMutable().assign(makeNarrow(builder, weight, numbers.type));
    linear.getXScaleMutable().assign(input.getScale());
    linear.getWeightScaleMutable().assign(makeScale(builder, weight, numbers));
    if (numbers.hasTensorScale()) {
      linear.getXTensorScaleMutable().assign(input.getTensorScale());
      linear.getWeightTensorScaleMutable().assign(
          makeTensorScale(builder, weight));
    }
    if (weight->use_empty()) {
      weight->erase();
    }
    return success();
  }
};
} // namespace
} // namespace modelc
