//===- GraphRows.cpp - What the rows of a graph's values stand for --------===//
//
// The rows of a value are the tokens of the step or, behind `model.last`, its
// sequences. Their types are the same, and in a decode step so are they; in a
// prefill step a value of one kind where the other is meant has no kernel.
//
//===----------------------------------------------------------------------===//

#include "dialects/Model/Model.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace modelc::model;

namespace {
enum class Rows { Unknown, Tokens, Sequences };

class RowCheck {
public:
  explicit RowCheck(GraphOp graph) : graph(graph) {}
  LogicalResult run();

private:
  LogicalResult check(Block &block);
  LogicalResult check(Operation &op);
  LogicalResult checkSample(SampleOp sample);
  LogicalResult checkLayers(LayersOp layers);
  LogicalResult checkJoined(JoinedOp joined);
  LogicalResult expectTokens(Operation &op);
  /// What all operands with rows have in common; fails where that is nothing.
  FailureOr<Rows> commonRows(Operation &op);

  GraphOp graph;
  DenseMap<Value, Rows> rows;
  LastOp unused; ///< a `model.last` that nothing reads
};
} // namespace

static bool hasRows(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 0 && type.isDynamicDim(0);
}

FailureOr<Rows> RowCheck::commonRows(Operation &op) {
  Rows common = Rows::Unknown;
  for (Value operand : op.getOperands()) {
    Rows of = hasRows(operand) ? rows.lookup(operand) : Rows::Unknown;
    if (of != Rows::Unknown && common != Rows::Unknown && of != common) {
      return op.emitError("expected values with one row for each token or with "
                          "one for each sequence (behind 'last'), got both");
    }
    common = of == Rows::Unknown ? common : of;
  }
  return common;
}

/// Ops that know where a token stands in its sequence.
LogicalResult RowCheck::expectTokens(Operation &op) {
  FailureOr<Rows> common = commonRows(op);
  if (failed(common)) {
    return failure();
  }
  if (*common == Rows::Sequences) {
    return op.emitError("expected values with one row for each token, got one "
                        "for each sequence; try to put it before 'last'");
  }
  for (Value result : op.getResults()) {
    rows[result] = isa<LastOp>(op) ? Rows::Sequences : Rows::Tokens;
  }
  return success();
}

LogicalResult RowCheck::checkSample(SampleOp sample) {
  if (rows.lookup(sample.getLogits()) != Rows::Tokens) {
    return success();
  }
  if (unused) {
    return unused.emitError("expected the head to read what 'last' makes, one "
                            "row for each sequence; nothing reads it");
  }
  bool isLeftToBind =
      !graph.getPhase() && graph.getOps<LastOp>().empty(); // see model-bind
  return isLeftToBind
             ? success()
             : LogicalResult(sample.emitError(
                   "expected logits with one row for each sequence, got one "
                   "for each token; try 'last' before the head"));
}

LogicalResult RowCheck::checkLayers(LayersOp layers) {
  Block &body = layers.getBody().front();
  for (auto [init, argument] :
       llvm::zip_equal(layers.getInits(), body.getArguments())) {
    rows[argument] = rows.lookup(init);
  }
  if (failed(check(body))) {
    return failure();
  }
  for (auto [init, yielded, result] :
       llvm::zip_equal(layers.getInits(), layers.getYield().getOperands(),
                       layers.getResults())) {
    rows[result] = rows.lookup(yielded);
    if (rows.lookup(init) != Rows::Unknown &&
        rows.lookup(init) != rows.lookup(yielded)) {
      return layers.emitError("expected layers that carry one row for each "
                              "token, got one for each sequence; try 'last' "
                              "behind the layers");
    }
  }
  return success();
}

LogicalResult RowCheck::checkJoined(JoinedOp joined) {
  if (failed(check(joined.getBody().front()))) {
    return failure();
  }
  for (auto [made, result] :
       llvm::zip_equal(joined.getSecond()->getResults(), joined.getResults())) {
    rows[result] = rows.lookup(made);
  }
  return success();
}

LogicalResult RowCheck::check(Operation &op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](SampleOp sample) { return checkSample(sample); })
      .Case([&](LayersOp layers) { return checkLayers(layers); })
      .Case([&](JoinedOp joined) { return checkJoined(joined); })
      .Case<LastOp, RopeOp, AppendOp, RopeAppendOp, AttentionOp, LatentAppendOp,
            LatentAttentionOp>(
          [&](Operation *inner) { return expectTokens(*inner); })
      .Case<ReturnOp, YieldOp>([](Operation *) { return success(); })
      .Default([&](Operation *inner) {
        FailureOr<Rows> common = commonRows(*inner);
        for (Value result : inner->getResults()) {
          rows[result] = succeeded(common) ? *common : Rows::Unknown;
        }
        return LogicalResult(common);
      });
}

LogicalResult RowCheck::check(Block &block) {
  for (Operation &op : block) {
    if (failed(check(op))) {
      return failure();
    }
  }
  return success();
}

LogicalResult RowCheck::run() {
  for (BlockArgument argument : graph.getBody().getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    bool areTokens = type && type.getElementType().isInteger();
    rows[argument] = areTokens ? Rows::Tokens : Rows::Unknown;
  }
  for (LastOp last : graph.getOps<LastOp>()) {
    unused = last.use_empty() ? last : unused;
  }
  return check(graph.getBody().front());
}

/// The shape of the tensor of which a weight is all, or one of equal parts: "64
/// x 128"; empty for what is made of several, and for scales.
static std::string shapeOfSource(WeightOp weight) {
  if (weight.getSources().size() != 1 || weight.getChannelScale() ||
      weight.getBlockScale() || weight.getTensorScale() ||
      weight.getLargest()) {
    return "";
  }
  SourceAttr source = *weight.getSources().begin();
  SmallVector<int64_t> shape(weight.getType().getShape());
  for (auto [dim, size] : llvm::enumerate(shape)) {
    size *= source.getParts(static_cast<int64_t>(dim));
  }
  if (!shape.empty()) {
    shape.front() -= source.getPadding();
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(shape, os, " x ");
  return text;
}

/// Whether two weights of one name read one tensor: those of layers do where
/// they are of the same layers.
static bool readOneTensor(StringRef name, WeightOp a, WeightOp b) {
  auto first = a->getParentOfType<LayersOp>(),
       second = b->getParentOfType<LayersOp>();
  if (!name.contains("{layer") || !first || !second) {
    return true;
  }
  auto begin = [](LayersOp layers) { return int64_t(layers.getFirst()); };
  auto end = [&](LayersOp layers) {
    return begin(layers) + layers.getLayerCount();
  };
  return begin(first) < end(second) && begin(second) < end(first);
}

static LogicalResult checkShape(WeightOp weight, StringRef name,
                                ArrayRef<WeightOp> others) {
  std::string shape = shapeOfSource(weight);
  for (WeightOp other : others) {
    std::string before = shapeOfSource(other);
    if (shape == before || !readOneTensor(name, weight, other)) {
      continue;
    }
    InFlightDiagnostic error = weight.emitError("expected '")
                               << name << "' to have one shape, got " << before
                               << " and " << shape;
    error.attachNote(other.getLoc()) << "the first is read here";
    return error;
  }
  return success();
}

/// A tensor of the checkpoint has one shape.
static LogicalResult checkShapes(GraphOp graph) {
  llvm::StringMap<SmallVector<WeightOp, 1>> known;
  return success(!graph
                      .walk([&](WeightOp weight) {
                        if (shapeOfSource(weight).empty()) {
                          return WalkResult::advance();
                        }
                        StringRef name =
                            (*weight.getSources().begin()).getName().getValue();
                        SmallVector<WeightOp, 1> &others = known[name];
                        LogicalResult fits = checkShape(weight, name, others);
                        // One of the same layers speaks for all of them.
                        if (llvm::none_of(others, [&](WeightOp other) {
                              return other->getParentOp() ==
                                     weight->getParentOp();
                            })) {
                          others.push_back(weight);
                        }
                        return WalkResult(fits);
                      })
                      .wasInterrupted());
}

LogicalResult GraphOp::verifyRegions() {
  if (failed(checkShapes(*this))) {
    return failure();
  }
  // In a decode step a sequence has one token.
  return getPhase() == Phase::Decode ? success() : RowCheck(*this).run();
}
