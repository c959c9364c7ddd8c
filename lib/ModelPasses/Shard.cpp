//===- Shard.cpp - Ranks along an axis share a graph ----------------------===//
//
// One walk for each axis. Of every value it knows where it is over the ranks
// (model::Placement); every op says where it needs its operands. What is not
// there is brought there: weights and caches are cut, values are summed or
// gathered behind the op that made them. The types of what is cut shrink.
//
//===----------------------------------------------------------------------===//

#include "lib/ModelPasses/ModelPasses.h"
#include "lib/ModelPasses/Weights.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace modelc {
#define GEN_PASS_DEF_MODELSHARD
#include "lib/ModelPasses/Passes.h.inc"

using model::Axis;
using model::Divisible;
using model::Placement;

/// What an axis cuts, the fewest first: heads before columns.
static SmallVector<Divisible> collectDivisibles(model::GraphOp graph,
                                                Axis axis) {
  SmallVector<Divisible> divisibles;
  graph.walk([&](model::ShardingInterface op) {
    llvm::append_range(divisibles, op.getDivisibles(axis));
  });
  llvm::sort(divisibles, [](const Divisible &a, const Divisible &b) {
    return std::tie(a.size, a.what) < std::tie(b.size, b.what);
  });
  return divisibles;
}

/// Numbers of ranks up to `most` that fit what is cut.
static SmallVector<int64_t>
fittingRanks(int64_t most, llvm::function_ref<bool(int64_t)> fits) {
  SmallVector<int64_t> ranks;
  for (int64_t n = 1; n <= most; ++n) {
    if (fits(n)) {
      ranks.push_back(n);
    }
  }
  return ranks;
}

SmallVector<int64_t> possibleRanks(model::GraphOp graph, int64_t most) {
  SmallVector<Divisible> all = collectDivisibles(graph, Axis::Tensor);
  return fittingRanks(all.empty() ? 1 : most, [&](int64_t n) {
    return llvm::all_of(
        all, [&](const Divisible &d) { return d.canPad || d.fits(n); });
  });
}

static LogicalResult checkDivisible(model::GraphOp graph, Axis axis,
                                    int64_t ranks) {
  SmallVector<Divisible> all = collectDivisibles(graph, axis);
  for (const Divisible &divisible : all) {
    if (divisible.fits(ranks)) {
      continue;
    }
    InFlightDiagnostic error = emitError(divisible.place)
                               << stringifyAxis(axis) << "=" << ranks
                               << " does not divide " << divisible.size << " "
                               << divisible.what << "; try ";
    llvm::interleaveComma(
        fittingRanks(std::max<int64_t>(ranks, 16),
                     [&](int64_t n) {
                       return llvm::all_of(
                           all, [&](const Divisible &d) { return d.fits(n); });
                     }),
        error);
    return error;
  }
  StringRef word = stringifyAxis(axis);
  if (all.empty() && axis != Axis::Data) {
    return emitError(model::placeOf(graph, model::Subject::Ranks), "expected ")
           << (axis == Axis::Tensor
                   ? "linears with a role, which says how they "
                     "are shared"
                   : "an op with experts")
           << ", for " << word << "=" << ranks << ", got none; try " << word
           << "=1";
  }
  return success();
}

namespace {
/// Shares a graph over the ranks along one axis.
class AxisWalk {
public:
  AxisWalk(Axis axis, int64_t ranks) : axis(axis), ranks(ranks) {}

  LogicalResult run(model::GraphOp graph) {
    bool haveOwnRows = axis != Axis::Tensor;
    for (BlockArgument argument : graph.getBody().getArguments()) {
      places[argument] =
          haveOwnRows ? Placement::cut(0, ranks) : Placement::whole();
    }
    return share(graph.getBody().front());
  }

private:
  LogicalResult share(Block &block);
  LogicalResult share(Operation &op);
  LogicalResult shareBody(model::LayersOp layers);
  FailureOr<model::Sharding> ask(Operation &op);
  LogicalResult bring(OpOperand &operand, Placement wanted);
  Value cutWeight(OpOperand &operand, model::WeightOp weight, Placement wanted);
  Value insertCollective(Value value, Placement wanted);
  void place(Value value, Placement where);

  Axis axis;
  int64_t ranks;
  llvm::DenseMap<Value, Placement> places;
  /// What collectives made of a value, by where it is then.
  llvm::DenseMap<std::pair<Value, unsigned>, Value> moved;
};
} // namespace

LogicalResult AxisWalk::share(Block &block) {
  // Ops that are inserted behind another are not walked: their results are
  // placed as they are made.
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (failed(share(op))) {
      return failure();
    }
  }
  return success();
}

FailureOr<model::Sharding> AxisWalk::ask(Operation &op) {
  SmallVector<Placement> operands;
  for (Value operand : op.getOperands()) {
    operands.push_back(places.lookup(operand));
  }
  auto known = dyn_cast<model::ShardingInterface>(op);
  return known ? known.getSharding(axis, ranks, operands)
               : model::shareRows(&op, axis, ranks, operands);
}

LogicalResult AxisWalk::share(Operation &op) {
  FailureOr<model::Sharding> sharding = ask(op);
  if (failed(sharding)) {
    return failure();
  }
  for (auto [operand, wanted] :
       llvm::zip_equal(op.getOpOperands(), sharding->operands)) {
    if (failed(bring(operand, wanted))) {
      return failure();
    }
  }
  if (auto layers = dyn_cast<model::LayersOp>(op)) {
    return shareBody(layers);
  }
  for (auto [result, where] :
       llvm::zip_equal(op.getResults(), sharding->results)) {
    place(result, where);
  }
  return success();
}

/// A layer hands on what it is given, where it is given it.
LogicalResult AxisWalk::shareBody(model::LayersOp layers) {
  Block &body = layers.getBody().front();
  for (auto [init, argument, result] : llvm::zip_equal(
           layers.getInits(), body.getArguments(), layers.getResults())) {
    places[argument] = places[result] = places.lookup(init);
  }
  if (failed(share(body))) {
    return failure();
  }
  for (auto [argument, yielded] : llvm::zip_equal(
           body.getArguments(), layers.getYield()->getOpOperands())) {
    if (failed(bring(yielded, places.lookup(argument)))) {
      return failure();
    }
  }
  return success();
}

/// Each rank has its part of what is cut; a dimension that a type lacks, that
/// of the scales of rows, is each rank's own.
void AxisWalk::place(Value value, Placement where) {
  places[value] = where;
  if (where.kind != Placement::Kind::Cut) {
    return;
  }
  if (auto cache = dyn_cast<model::CacheType>(value.getType())) {
    return; // cut where it is made
  }
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || where.dim >= type.getRank() || type.isDynamicDim(where.dim)) {
    return;
  }
  SmallVector<int64_t> shape(type.getShape());
  shape[where.dim] /= where.parts;
  value.setType(type.clone(shape));
}

Value AxisWalk::cutWeight(OpOperand &operand, model::WeightOp weight,
                          Placement wanted) {
  OpBuilder builder(operand.getOwner());
  return wanted.kind == Placement::Kind::Sum
             ? onFirstRank(builder, weight)
             : splitWeight(builder, weight,
                           model::CutAttr::get(builder.getContext(), wanted.dim,
                                               wanted.parts,
                                               ranks / wanted.parts, axis));
}

/// The value where it is wanted, made behind the op that made it, or where the
/// block begins; null: no collective does that.
Value AxisWalk::insertCollective(Value value, Placement wanted) {
  Placement from = places.lookup(value);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() != 2) {
    return {};
  }
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  Location loc = value.getLoc();
  bool isSum = from.kind == Placement::Kind::Sum;
  if (wanted == Placement::whole() && isSum) {
    return model::AllReduceOp::create(builder, loc, type, value, axis);
  }
  if (wanted == Placement::whole() && from.isCut(1) && from.parts == ranks) {
    auto whole = type.clone({type.getDimSize(0), type.getDimSize(1) * ranks});
    return model::AllGatherOp::create(builder, loc, whole, value, axis);
  }
  if (wanted == Placement::whole() && from.isCut(0)) {
    return model::GatherRowsOp::create(builder, loc, type, value, axis);
  }
  return wanted.isCut(0) && isSum
             ? model::ScatterRowsOp::create(builder, loc, type, value, axis)
                   .getOut()
             : Value();
}

static StringRef wordOf(Placement place) {
  switch (place.kind) {
  case Placement::Kind::Whole:
    return "whole";
  case Placement::Kind::Cut:
    return place.dim == 0 ? "in rows of each rank" : "in columns of each rank";
  case Placement::Kind::Sum:
    return "as a sum over the ranks";
  }
  llvm_unreachable("all kinds are named");
}

LogicalResult AxisWalk::bring(OpOperand &operand, Placement wanted) {
  Value value = operand.get();
  Placement from = places.lookup(value);
  if (from == wanted) {
    return success();
  }
  if (auto weight = value.getDefiningOp<model::WeightOp>();
      weight && from == Placement::whole()) {
    operand.set(cutWeight(operand, weight, wanted));
    places[operand.get()] = wanted;
    return success();
  }
  if (auto cache = value.getDefiningOp<model::CacheOp>();
      cache && from == Placement::whole()) {
    places[value] = wanted;
    if (wanted.isCut(1)) {
      splitCache(cache, wanted.parts);
    }
    return success();
  }
  Value &there = moved[{value, unsigned(wanted.kind)}];
  there = there ? there : insertCollective(value, wanted);
  if (!there) {
    return operand.getOwner()->emitError("expected operand ")
           << operand.getOperandNumber() << " " << wordOf(wanted) << " along "
           << stringifyAxis(axis) << ", got it " << wordOf(from)
           << "; give the linears before it roles";
  }
  places[there] = wanted;
  operand.set(there);
  return success();
}

namespace {
struct Shard : public impl::ModelShardBase<Shard> {
  using ModelShardBase::ModelShardBase;

  void runOnOperation() override {
    // Along `ep` and `dp` rows are each rank's own before anything is cut.
    for (auto [axis, ranks] : {std::pair<Axis, int64_t>{Axis::Tensor, tp},
                               {Axis::Expert, ep},
                               {Axis::Data, dp}}) {
      if (failed(share(getOperation(), axis, ranks))) {
        return signalPassFailure();
      }
    }
    getOperation().walk([](model::WeightOp weight) {
      if (weight->use_empty()) {
        weight->erase();
      }
    });
  }

  static LogicalResult share(model::GraphOp graph, Axis axis, int64_t ranks) {
    if (ranks < 1) {
      return graph.emitError("expected ")
             << stringifyAxis(axis) << " of at least 1, got " << ranks;
    }
    if (ranks == 1) {
      return success();
    }
    if (graph.getRanks(axis) != 1) {
      return graph.emitError("expected a graph that is not sharded along ")
             << stringifyAxis(axis) << ", got one for " << graph.getRanks(axis)
             << " ranks";
    }
    if (failed(checkDivisible(graph, axis, ranks))) {
      return failure();
    }
    auto mesh = graph.getMesh().value_or(
        model::MeshAttr::get(graph.getContext(), 1, 1, 1, 1, 1));
    graph.setMeshAttr(mesh.with(axis, ranks));
    return AxisWalk(axis, ranks).run(graph);
  }
};
} // namespace
} // namespace modelc
