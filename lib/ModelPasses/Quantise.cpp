//===- Quantise.cpp - Linears in 8, 6 or 4 bits, caches in 8 --------------===//

#include "lib/ModelPasses/Narrow.h"
#include "lib/ModelPasses/Weights.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace modelc {
#define GEN_PASS_DEF_MODELQUANTISE
#include "lib/ModelPasses/Passes.h.inc"

/// The second scale of the input of linears, by the names of calibrated
/// checkpoints: "...q_proj.input_scale" beside "...q_proj.weight"; 1 where
/// there is none. One that several linears read has the largest of theirs.
/// Where a checkpoint divides by second scales, it has one over theirs.
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
  std::optional<model::HeldAttr> held;
  for (model::LinearOp linear : linears) {
    places.push_back(linear.getLoc());
    auto weight = linear.getWeight().getDefiningOp<model::WeightOp>();
    held = weight.getHeld();
    const bool isDivisor = held && held->getTensorDivisor();
    for (model::SourceAttr source : weight.getSources()) {
      StringRef name = source.getName().getValue();
      name.consume_back(".weight");
      sources.push_back(model::SourceAttr::get(
          builder.getContext(),
          (name + (isDivisor ? ".input_global_scale" : ".input_scale")).str()));
    }
  }
  auto scale = model::WeightOp::create(
      builder, builder.getFusedLoc(places),
      RankedTensorType::get({1}, builder.getF32Type()), sources);
  scale.setLargest(true);
  scale.setAbsent(APFloat(1.0));
  if (held && held->getTensorDivisor()) {
    scale.setHeldAttr(*held);
  }
  return scale;
}

/// The name of the projection that made queries, keys or values, without
/// ".weight": "model.layers.{layer}.self_attn.k_proj"; empty: unknown.
static StringRef projectionOf(Value value) {
  while (value && value.getDefiningOp() &&
         isa<model::RopeOp, model::NormOp>(value.getDefiningOp())) {
    value = value.getDefiningOp()->getOperand(0);
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
    int64_t place = cache.getLayer();
    add("layers.{layer" + (place ? "+" + std::to_string(place) : "") + "}." +
        name);
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

/// Whether the columns say where tokens go, or how much of a value is taken.
static bool steers(Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto gate = dyn_cast<model::GateOp>(user);
    return isa<model::RouteOp>(user) || (gate && gate.getGate() == value);
  });
}

static bool isNarrow(const NumberFormat *format) { return format->scale; }

namespace {
struct Quantise : public impl::ModelQuantiseBase<Quantise> {
  using ModelQuantiseBase::ModelQuantiseBase;

  void runOnOperation() override {
    if ((isNarrow(weights) || inputs) && failed(quantiseLinears())) {
      return signalPassFailure();
    }
    if (isNarrow(kv)) {
      getOperation().walk([&](model::CacheOp cache) { quantise(cache); });
    }
    if (isNarrow(queries) && failed(quantiseQueries())) {
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
    if (!isNarrow(weights)) {
      return emitError(
          model::placeOf(getOperation(), model::Subject::Activations),
          "expected weights of 8 bits or fewer beside inputs of 8; try "
          "weights " +
              model::listBesideBytes());
    }
    const NumberFormat &number = *weights.getValue();
    if (!number.takesBytes && inputs) {
      return emitError(
          model::placeOf(getOperation(), model::Subject::Activations),
          "expected inputs of the type of the weights beside weights in " +
              number.name + "; try weights " + model::listBesideBytes());
    }
    const NumberFormat &ofInputs = inputs ? *inputs.getValue() : number;
    const bool holds = holdsNarrow(getOperation());
    WalkResult walk = getOperation().walk([&](Operation *op) {
      if (auto experts = dyn_cast<model::ExpertsOp>(op)) {
        return WalkResult(quantiseExperts(experts, holds, number));
      }
      auto linear = dyn_cast<model::LinearOp>(op);
      return !linear || isKept(linear, holds)
                 ? WalkResult::advance()
                 : WalkResult(quantise(linear, number, ofInputs));
    });
    return failure(walk.wasInterrupted());
  }

  /// Whether a linear stays in the numbers that it has: a head, a router, or
  /// where the checkpoint holds others in few bits, but not its weight or not
  /// in whole blocks of rows.
  bool isKept(model::LinearOp linear, bool holds) {
    model::Role role = linear.getRole();
    if (role == model::Role::Vocabulary || linear.getXScale()) {
      return true;
    }
    auto weight = linear.getWeight().getDefiningOp<model::WeightOp>();
    if (!holds || !weight) {
      return steers(linear.getOut());
    }
    bool isRagged = role == model::Role::Replicated &&
                    linear.getOutputs() % weights.getValue()->blockRows != 0;
    return formatOf(weight, holds, *weights.getValue()) != weights || isRagged;
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
      if (auto append = dyn_cast<model::LatentAppendOp>(user)) {
        k = append.getKv();
      }
    }
    Value keyScale = makeScaleBeside(builder, cache, "k_scale", k);
    cache.getKScaleMutable().assign(keyScale);
    cache.getVScaleMutable().assign(
        type.getLatent() > 0 ? keyScale
                             : makeScaleBeside(builder, cache, "v_scale", v));
    setCacheType(cache, model::CacheType::get(
                            &getContext(), type.getKvHeads(), type.getHeadDim(),
                            Float8E4M3FNType::get(&getContext()),
                            type.getPage(), type.getLatent()));
  }

  model::QuantiseOp quantiseInput(OpBuilder &builder, model::LinearOp linear,
                                  const NumberFormat &numbers) {
    Value x = linear.getX();
    for (Operation *user : x.getUsers()) {
      if (auto known = dyn_cast<model::QuantiseOp>(user)) {
        return known;
      }
    }
    auto type = cast<RankedTensorType>(x.getType());
    Value tensorScale =
        numbers.hasTensorScale ? makeInputScale(builder, x) : Value();
    return model::QuantiseOp::create(builder, linear.getLoc(),
                                     type.clone(numbers.element(&getContext())),
                                     scalesOf(type, numbers), x, tensorScale);
  }

  LogicalResult quantise(model::LinearOp linear, const NumberFormat &numbers,
                         const NumberFormat &ofInputs) {
    auto weight = linear.getWeight().getDefiningOp<model::WeightOp>();
    if (!weight) {
      return success(); // a weight that is an argument keeps its type
    }
    if (numbers.block > 0 && linear.getInputs() % numbers.block != 0) {
      return emitError(model::placeOf(linear, model::Subject::Inputs),
                       "expected inputs in whole blocks of ")
             << numbers.block << " for such weights, got " << linear.getInputs()
             << "; try other types of weights";
    }
    if (linear.getOutputs() % numbers.blockRows != 0) {
      return emitError(model::placeOf(linear, model::Subject::Outputs),
                       "expected outputs in whole blocks of ")
             << numbers.blockRows << " for such weights, got "
             << linear.getOutputs() << "; try other types of weights";
    }
    OpBuilder builder(linear);
    model::QuantiseOp input = quantiseInput(builder, linear, ofInputs);
    linear.getXMutable().assign(input.getOut());
    linear.getWeightMutable().assign(
        makeNarrow(builder, weight, numbers.element(&getContext())));
    linear.getXScaleMutable().assign(input.getScale());
    linear.getWeightScaleMutable().assign(makeScale(builder, weight, numbers));
    if (numbers.hasTensorScale) {
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
