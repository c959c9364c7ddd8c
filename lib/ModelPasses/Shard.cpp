//===- Shard.cpp - Tensor parallel ----------------------------------------===//
//
// Megatron's scheme. A value is either whole on every rank or split by columns;
// linears switch between the two, everything else passes on what it gets:
//
//   whole --column-split linear--> split --attention, SwiGLU, ...--> split
//         --row-split linear--> partial sums --all-reduce--> whole
//
//===----------------------------------------------------------------------===//

#include "lib/ModelPasses/ModelPasses.h"
#include "lib/ModelPasses/Roles.h"
#include "lib/ModelPasses/Weights.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace modelc {
#define GEN_PASS_DEF_MODELSHARD
#include "lib/ModelPasses/Passes.h.inc"

namespace {
/// Something that must be cut in equal parts, and where it is stated.
struct Divisible {
  StringRef what;
  int64_t size;
  Location place;
  /// Fewer parts than ranks will do: neighbours share one.
  bool canRepeat = false;

  bool fits(int64_t ranks) const {
    return size % ranks == 0 || (canRepeat && ranks % size == 0);
  }
};
} // namespace

/// The type of the scales of blocks of a weight; null: it has none.
static Type scaleOfBlocks(model::LinearOp linear) {
  Value scale = linear.getWeightScale();
  auto type = scale ? cast<RankedTensorType>(scale.getType()) : nullptr;
  return type && type.getRank() == 2 ? type.getElementType() : Type();
}

/// Blocks of rows that share a scale stay whole where outputs are split.
static std::optional<Divisible> blocksOfOutputs(model::LinearOp linear) {
  Type scale = scaleOfBlocks(linear);
  int64_t rows = scale ? model::getScaledRows(linear.getOutputs(), scale) : 0;
  if (rows == 0 || rows == linear.getOutputs() ||
      getRole(linear) == Role::AttentionOutput ||
      getRole(linear) == Role::Down) {
    return std::nullopt;
  }
  // Heads that are repeated must be whole blocks themselves.
  auto append = dyn_cast_or_null<model::AppendOp>(getAttentionConsumer(linear));
  bool isRepeated =
      append &&
      append.getCache().getType().getHeadDim() % model::kScaledGroup == 0;
  return Divisible{"blocks of outputs that share a scale", rows,
                   linear.getLoc(), isRepeated};
}

/// Blocks that share a scale stay whole where inputs are split.
static std::optional<Divisible> blocksOfInputs(model::LinearOp linear) {
  Type scale = scaleOfBlocks(linear);
  if (!scale) {
    return std::nullopt;
  }
  return Divisible{"blocks of inputs that share a scale",
                   linear.getInputs() / model::getScaledBlock(scale),
                   linear.getLoc()};
}

static std::optional<Divisible> whatIsCut(model::LinearOp linear) {
  Location place = linear.getLoc();
  Operation *consumer = getAttentionConsumer(linear);
  switch (getRole(linear)) {
  case Role::Query:
    return Divisible{"query heads",
                     cast<model::AttentionOp>(consumer).getHeads(), place};
  case Role::KeyOrValue:
    return Divisible{
        "kv heads",
        cast<model::AppendOp>(consumer).getCache().getType().getKvHeads(),
        place, /*canRepeat=*/true};
  case Role::GateOrUp:
    return Divisible{"columns of the MLP", linear.getOutputs(), place};
  case Role::Head:
    return Divisible{"words of the vocabulary", linear.getOutputs(), place};
  case Role::AttentionOutput:
  case Role::Down:
    return blocksOfInputs(linear);
  default:
    return std::nullopt;
  }
}

/// What is cut, the fewest first: heads before columns.
static SmallVector<Divisible> collectDivisibles(model::GraphOp graph) {
  SmallVector<Divisible> divisibles;
  graph.walk([&](model::LinearOp linear) {
    for (std::optional<Divisible> divisible :
         {whatIsCut(linear), blocksOfOutputs(linear)}) {
      if (divisible) {
        divisibles.push_back(*divisible);
      }
    }
  });
  llvm::sort(divisibles, [](const Divisible &a, const Divisible &b) {
    return std::tie(a.size, a.what) < std::tie(b.size, b.what);
  });
  return divisibles;
}

SmallVector<int64_t> possibleRanks(model::GraphOp graph, int64_t most) {
  SmallVector<Divisible> divisibles = collectDivisibles(graph);
  SmallVector<int64_t> ranks;
  for (int64_t n = 1; n <= most; ++n) {
    if (llvm::all_of(divisibles,
                     [&](const Divisible &d) { return d.fits(n); })) {
      ranks.push_back(n);
    }
  }
  return ranks;
}

static LogicalResult checkDivisible(model::GraphOp graph, int64_t ranks) {
  for (const Divisible &divisible : collectDivisibles(graph)) {
    if (divisible.fits(ranks)) {
      continue;
    }
    InFlightDiagnostic error = emitError(divisible.place)
                               << "tp=" << ranks << " does not divide "
                               << divisible.size << " " << divisible.what
                               << "; try ";
    llvm::interleaveComma(possibleRanks(graph, std::max<int64_t>(ranks, 16)),
                          error);
    return error;
  }
  return success();
}

namespace {
struct Shard : public impl::ModelShardBase<Shard> {
  using ModelShardBase::ModelShardBase;

  void runOnOperation() override {
    model::GraphOp graph = getOperation();
    if (tp < 1) {
      graph.emitError("expected tp of at least 1, got ") << int64_t(tp);
      return signalPassFailure();
    }
    if (tp == 1) {
      return;
    }
    if (graph.getRanks() != 1) {
      graph.emitError("expected a graph that is not sharded, got one for ")
          << graph.getRanks() << " ranks";
      return signalPassFailure();
    }
    if (failed(checkDivisible(graph, tp))) {
      return signalPassFailure();
    }
    graph.setRanks(tp);
    graph.walk([&](model::CacheOp cache) { splitCache(cache); });
    // Roles are read from the graph as it was, before any linear changes.
    SmallVector<std::pair<Operation *, Role>> ops;
    graph.walk<WalkOrder::PreOrder>([&](Operation *op) {
      auto linear = dyn_cast<model::LinearOp>(op);
      ops.push_back({op, linear ? getRole(linear) : Role::Other});
    });
    for (auto [op, role] : ops) {
      if (failed(shard(op, role))) {
        return signalPassFailure();
      }
    }
    eraseUnusedWeights(graph);
  }

  void splitCache(model::CacheOp cache) {
    model::CacheType type = cache.getType();
    int64_t heads = std::max<int64_t>(1, type.getKvHeads() / tp);
    setCacheType(cache,
                 model::CacheType::get(&getContext(), heads, type.getHeadDim(),
                                       type.getElementType(), type.getPage()));
  }

  LogicalResult shard(Operation *op, Role role) {
    auto linear = dyn_cast<model::LinearOp>(op);
    if (!linear) {
      return passOn(op);
    }
    if (!linear.getWeight().getDefiningOp<model::WeightOp>()) {
      return linear.emitError("expected the weight to be a 'model.weight'");
    }
    if (linear.getSwiglu() || linear.getResidual()) {
      return linear.emitError("expected a linear without an epilogue; run "
                              "model-shard before model-fuse");
    }
    switch (role) {
    case Role::Query:
    case Role::KeyOrValue:
    case Role::GateOrUp:
      splitOutputs(linear, role);
      split.insert(linear.getOut());
      return success();
    case Role::AttentionOutput:
    case Role::Down:
      splitInputs(linear);
      return success();
    case Role::Head:
      splitOutputs(linear, role);
      gather(linear);
      return success();
    default:
      return success();
    }
  }

  /// An op that is no linear: its results are split if its operands are.
  LogicalResult passOn(Operation *op) {
    if (llvm::none_of(op->getOperands(),
                      [&](Value v) { return split.contains(v); })) {
      return success();
    }
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<model::RopeOp, model::AttentionOp, model::SwigluOp,
              model::QuantiseOp>([&](Operation *op) {
          setColumns(op->getResult(0), columns(op->getOperand(0)));
          split.insert(op->getResult(0));
          if (auto quantise = dyn_cast<model::QuantiseOp>(op)) {
            splitScale(quantise);
          }
          return success();
        })
        .Case([](model::AppendOp) { return success(); })
        .Default([](Operation *op) {
          return op->emitError("expected rope, attention, append, swiglu or "
                               "quantise on a value that is split over ranks, "
                               "got '")
                 << op->getName() << "'";
        });
  }

  /// Scales of blocks are split as the columns are, those of rows are not.
  static void splitScale(model::QuantiseOp quantise) {
    auto type = cast<RankedTensorType>(quantise.getScale().getType());
    if (type.getRank() == 2) {
      setColumns(quantise.getScale(),
                 columns(quantise.getOut()) /
                     model::getScaledBlock(type.getElementType()));
    }
  }

  static int64_t columns(Value value) {
    return cast<RankedTensorType>(value.getType()).getDimSize(1);
  }
  static void setColumns(Value value, int64_t columns) {
    auto type = cast<RankedTensorType>(value.getType());
    value.setType(type.clone({type.getDimSize(0), columns}));
  }

  /// Whole heads for each rank; repeated where there are fewer than ranks.
  Split splitOf(model::LinearOp linear, Role role) {
    if (role != Role::KeyOrValue) {
      return {0, tp, 1};
    }
    auto append = cast<model::AppendOp>(getAttentionConsumer(linear));
    int64_t rows = linear.getOutputs();
    int64_t parts = rows / (append.getCache().getType().getKvHeads() *
                            append.getCache().getType().getHeadDim());
    return {0, parts, tp / parts};
  }

  void splitOutputs(model::LinearOp linear, Role role) {
    OpBuilder builder(linear);
    Split parts = splitOf(linear, role);
    for (OpOperand &operand : linear->getOpOperands()) {
      // The others are the input and its scales.
      auto weight = operand.get().getDefiningOp<model::WeightOp>();
      if (weight && operand.get() != linear.getXTensorScale()) {
        operand.set(splitWeight(builder, weight, parts));
      }
    }
    setColumns(linear.getOut(), linear.getOutputs());
  }

  void splitInputs(model::LinearOp linear) {
    OpBuilder builder(linear);
    for (OpOperand &operand : linear->getOpOperands()) {
      // The others are the input and its scales, scales of rows and the bias.
      auto weight = operand.get().getDefiningOp<model::WeightOp>();
      if (weight && weight.getType().getRank() == 2) {
        operand.set(splitWeight(builder, weight, {1, tp, 1}));
      }
    }
    for (OpOperand &bias : linear.getBiasMutable()) {
      bias.set(
          onFirstRank(builder, bias.get().getDefiningOp<model::WeightOp>()));
    }
    builder.setInsertionPointAfter(linear);
    auto sum = model::AllReduceOp::create(builder, linear.getLoc(),
                                          linear.getType(), linear.getOut());
    linear.getOut().replaceAllUsesExcept(sum.getOut(), sum);
  }

  void gather(model::LinearOp linear) {
    OpBuilder builder(linear);
    builder.setInsertionPointAfter(linear);
    auto part = cast<RankedTensorType>(linear.getOut().getType());
    auto whole = part.clone({part.getDimSize(0), part.getDimSize(1) * tp});
    auto logits = model::AllGatherOp::create(builder, linear.getLoc(), whole,
                                             linear.getOut());
    linear.getOut().replaceAllUsesExcept(logits.getOut(), logits);
  }

  static void eraseUnusedWeights(model::GraphOp graph) {
    graph.walk([](model::WeightOp weight) {
      if (weight->use_empty()) {
        weight->erase();
      }
    });
  }

  /// Values of which each rank has its columns only.
  llvm::DenseSet<Value> split;
};
} // namespace
} // namespace modelc
