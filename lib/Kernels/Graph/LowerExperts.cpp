//===- LowerExperts.cpp - The products of experts -------------------------===//
//
// Tokens of a step become rows of slots, in tiles of one expert each
// (ExpertFamilies.h); two linears follow, whose workgroups read the expert of
// their tile, and what the slots of a token hold is added up:
//
//     place, expand, [quantise], gate and up, [quantise], down, combine
//
// Tiles have about as many rows as an expert has tokens: ranges of tokens
// differ in them, and a step runs the launches of its range.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Graph/Launches.h"
#include "lib/Kernels/Refusals.h"
#include "lib/Kernels/Rows/Formats.h"
#include "lib/Kernels/Rows/SixBits.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using modelc::schedule::numberType;

static constexpr int64_t kDynamic = ShapedType::kDynamic;
/// Rows that one expert has side by side, at most.
static constexpr int64_t kMostTileRows = 128;

namespace {
/// Rows of slots in the numbers that a product reads.
struct SlotNumbers {
  Value numbers, scale;
};

/// One of the two matrices of each expert.
struct Matrices {
  model::ExpertsOp op;
  bool isDown;
  Value weight() { return isDown ? op.getDown() : op.getGateUp(); }
  Value scale() { return isDown ? op.getDownScale() : op.getGateUpScale(); }
  Value bias() { return isDown ? op.getDownBias() : op.getGateUpBias(); }
  RankedTensorType type() { return cast<RankedTensorType>(weight().getType()); }
  bool hasBlocks() {
    return scale() && cast<RankedTensorType>(scale().getType()).getRank() == 3;
  }
  std::string name() {
    auto made = weight().getDefiningOp<model::WeightOp>();
    return made ? model::getShortName(made) : isDown ? "down" : "gate_up";
  }
};

/// The launches of tokens whose tiles have the same rows.
class SlotLaunches {
public:
  SlotLaunches(Lowering &in, model::ExpertsOp op, SlotShape slots,
               ArrayRef<Range> ranges);
  LogicalResult launch();

private:
  void place();
  Value expand();
  LogicalResult quantise(SlotNumbers &x, int64_t columns, StringRef name);
  FailureOr<Value> multiply(Matrices matrices, SlotNumbers x);
  void combine(Value y);
  SmallVector<Range> rangesOfSlots() const;
  LinearShape shapeOf(Matrices matrices);
  Value workspace(Value size, ArrayRef<int64_t> columns);
  Value workspaceOf(int64_t columns, Type element, Type scaled = {});
  void drop(SlotNumbers x);
  Type element() { return elementOf(op.getX()); }
  /// Of what products read.
  Type inputs() { return op.getInputs().value_or(element()); }

  Lowering &in;
  model::ExpertsOp op;
  SlotShape slots;
  SmallVector<Range> ranges;
  Range tokenRange;
  std::string name;
  Value tokens; ///< of the step if it is of these, else 0
  Value pairs, tiles, rows;
  Value slotTokens, tileExperts, pairSlots;
};
} // namespace

SlotLaunches::SlotLaunches(Lowering &in, model::ExpertsOp op, SlotShape slots,
                           ArrayRef<Range> ranges)
    : in(in), op(op), slots(slots), ranges(ranges),
      tokenRange{ranges.front().minimum, ranges.back().maximum},
      name(model::getShortName(op)),
      tokens(in.inside(in.rowsOf(op.getX()), tokenRange)) {
  Plan &plan = in.plan;
  Value experts = plan.constant(slots.experts);
  pairs = plan.compute<arith::MulIOp>(tokens, plan.constant(slots.topK));
  Value more = plan.compute<arith::MaxSIOp>(
      plan.compute<arith::SubIOp>(pairs, experts), plan.constant(0));
  tiles = plan.compute<arith::AddIOp>(
      plan.compute<arith::MinSIOp>(pairs, experts),
      plan.compute<arith::DivSIOp>(more, plan.constant(slots.tileRows)));
  rows = plan.compute<arith::MulIOp>(tiles, plan.constant(slots.tileRows));
}

Value SlotLaunches::workspace(Value size, ArrayRef<int64_t> columns) {
  return in.plan.workspace(size, columns, in.plan.builder.getI32Type());
}

/// A row for each slot.
Value SlotLaunches::workspaceOf(int64_t columns, Type element, Type scaled) {
  return in.fresh(RankedTensorType::get({kDynamic, columns}, element), rows,
                  scaled);
}

void SlotLaunches::drop(SlotNumbers x) {
  in.plan.release(x.numbers);
  if (x.scale) {
    in.plan.release(x.scale);
  }
}

void SlotLaunches::place() {
  slotTokens = workspace(rows, {});
  tileExperts = workspace(tiles, {});
  pairSlots = workspace(tokens, {slots.topK});
  PlaceKernels kernels = in.library.place(slots, /*firstExpert=*/0);
  NamedValues arguments = {{"chosen", in.bufferOf(op.getChosen())},
                           {"slot_tokens", slotTokens},
                           {"tile_experts", tileExperts},
                           {"pair_slots", pairSlots},
                           {"tokens", tokens}};
  auto inChunks = [&] {
    Value chunks = in.plan.compute<arith::CeilDivSIOp>(
        pairs, in.plan.constant(kernels.chunkPairs));
    Value counts = workspace(chunks, {slots.experts});
    in.plan.launch(kernels.count,
                   {{"chosen", in.bufferOf(op.getChosen())},
                    {"counts", counts},
                    {"tokens", tokens}},
                   name + "_count");
    NamedValues all = arguments;
    all.push_back({"counts", counts});
    in.plan.launch(kernels.place, all, name + "_place");
    in.plan.release(counts);
  };
  auto atOnce = [&] {
    in.plan.launch(kernels.whole, arguments, name + "_place");
  };
  int64_t most = kernels.wholeTokens;
  if (tokenRange.maximum <= most) {
    return atOnce();
  }
  if (tokenRange.minimum > most) {
    return inChunks();
  }
  in.plan.when(tokens, {tokenRange.minimum, most}, atOnce);
  in.plan.when(tokens, {most + 1, tokenRange.maximum}, inChunks);
}

Value SlotLaunches::expand() {
  bool isWeighed = op.getWeighInputs();
  Value out = workspaceOf(columnsOf(op.getX()), element());
  NamedValues arguments = {{"x", in.bufferOf(op.getX())},
                           {"slot_tokens", slotTokens}};
  if (isWeighed) {
    arguments.append(
        {{"weights", in.bufferOf(op.getWeights())}, {"pair_slots", pairSlots}});
  }
  arguments.append({{"out", out}, {"tokens", tokens}});
  in.plan.launch(
      in.library.expand({slots, columnsOf(op.getX()), element(), isWeighed}),
      arguments, name + "_expand");
  return out;
}

/// Rows in the numbers that products read, in place of `x`.
LogicalResult SlotLaunches::quantise(SlotNumbers &x, int64_t columns,
                                     StringRef name) {
  if (!op.getInputs()) {
    return success();
  }
  QuantiseShape shape = {columns, element(), numberType(in.stored(inputs()))};
  Type ofScale = in.plan.builder.getF32Type();
  if (Matrices{op, false}.hasBlocks()) {
    ofScale = elementOf(op.getGateUpScale());
    shape.scales =
        blockScalesOf(shape.result, ofScale, &in.library.tiling.target);
  }
  if (failed(verifyWords(op, shape.scales, columns))) {
    return failure();
  }
  SlotNumbers narrow = {workspaceOf(columns, inputs()), Value()};
  narrow.scale =
      shape.scales ? workspaceOf(llvm::divideCeil(columns, shape.scales.block),
                                 ofScale, inputs())
                   : in.plan.workspace(rows, {}, ofScale);
  NamedValues arguments = {{"x", x.numbers}, {"out", narrow.numbers}};
  if (hasTails(inputs())) {
    arguments.push_back({tailsOf("out"), narrow.numbers});
  }
  arguments.append({{"scale", narrow.scale}, {"m", rows}});
  // Of tiles of any size.
  Range any = {1, in.library.allRows().maximum * slots.topK +
                      slots.experts * kMostTileRows};
  in.plan.launch(in.library.quantise(shape, any), arguments,
                 (name + "_quantise").str());
  drop(x);
  x = narrow;
  return success();
}

LinearShape SlotLaunches::shapeOf(Matrices matrices) {
  ArrayRef<int64_t> extents = matrices.type().getShape();
  LinearShape shape;
  shape.isSwiglu = !matrices.isDown;
  shape.columns = extents[1] / (shape.isSwiglu ? 2 : 1);
  shape.inputs = extents[2];
  shape.element = numberType(in.stored(inputs()));
  Type weight = numberType(in.stored(matrices.type().getElementType()));
  shape.weight = weight == shape.element ? Type() : weight;
  shape.result = element();
  shape.biasType = matrices.bias() ? elementOf(matrices.bias()) : Type();
  if (matrices.hasBlocks()) {
    shape.blockScales = blockScalesOf(weight, elementOf(matrices.scale()),
                                      &in.library.tiling.target);
  }
  shape.isScaled = matrices.scale() && !matrices.hasBlocks();
  if (shape.isSwiglu) {
    shape.gating = static_cast<Gating>(op.getGating());
    shape.alpha =
        op.getAlpha() ? op.getAlpha()->convertToDouble() : shape.alpha;
    shape.limit =
        op.getLimit() ? op.getLimit()->convertToDouble() : shape.limit;
  }
  shape.experts = slots.experts;
  shape.expertRows = slots.tileRows;
  shape.topK = slots.topK;
  return shape;
}

/// Those of the ranges of tokens: one begins where another ends.
SmallVector<Range> SlotLaunches::rangesOfSlots() const {
  auto rowsOf = [&](int64_t tokens) {
    return slots.tiles(tokens * slots.topK) * slots.tileRows;
  };
  SmallVector<Range> list;
  for (Range range : ranges) {
    Range own = {rowsOf(range.minimum), rowsOf(range.maximum)};
    if (!list.empty()) {
      own.minimum = std::max(own.minimum, list.back().maximum + 1);
    }
    if (own.minimum <= own.maximum) {
      list.push_back(own);
    }
  }
  return list;
}

FailureOr<Value> SlotLaunches::multiply(Matrices matrices, SlotNumbers x) {
  LinearShape shape = shapeOf(matrices);
  FailureOr<SmallVector<LinearVariant>> found =
      in.library.linear(op, shape, rangesOfSlots());
  if (failed(found)) {
    return failure();
  }
  LinearArguments arguments;
  arguments.operands = {{"a", x.numbers}};
  if (hasTails(inputs())) {
    arguments.operands.push_back({tailsOf("a"), x.numbers});
  }
  llvm::append_range(arguments.operands,
                     in.buffersOf({{"w", matrices.weight()}}));
  Value scale = matrices.scale() ? in.bufferOf(matrices.scale()) : Value();
  NamedValues scales = {{shape.blockScales ? "a_scales" : "a_scale", x.scale},
                        {shape.blockScales ? "w_scales" : "w_scale", scale}};
  llvm::append_range(
      shape.blockScales ? arguments.operands : arguments.epilogue, scales);
  llvm::append_range(arguments.epilogue,
                     in.buffersOf({{"bias", matrices.bias()}}));
  arguments.tileExperts = tileExperts;
  arguments.rows = rows;
  arguments.d = workspaceOf(shape.columns, shape.result);
  launchLinear(in, shape, *found, arguments, matrices.name());
  drop(x);
  return arguments.d;
}

void SlotLaunches::combine(Value y) {
  bool isWeighed = !op.getWeighInputs();
  NamedValues arguments = {{"x", y}, {"pair_slots", pairSlots}};
  if (isWeighed) {
    arguments.push_back({"weights", in.bufferOf(op.getWeights())});
  }
  arguments.append({{"out", in.bufferOf(op.getOut())}, {"tokens", tokens}});
  in.plan.launch(
      in.library.combine({slots, columnsOf(op.getX()), element(), isWeighed}),
      arguments, name + "_combine");
}

LogicalResult SlotLaunches::launch() {
  place();
  Matrices gateUp = {op, false}, down = {op, true};
  SlotNumbers x = {expand(), Value()};
  if (failed(quantise(x, columnsOf(op.getX()), gateUp.name()))) {
    return failure();
  }
  FailureOr<Value> gated = multiply(gateUp, x);
  if (failed(gated)) {
    return failure();
  }
  x = {*gated, Value()};
  if (failed(quantise(x, op.getWidth(), down.name()))) {
    return failure();
  }
  FailureOr<Value> y = multiply(down, x);
  if (failed(y)) {
    return failure();
  }
  combine(*y);
  for (Value buffer : {*y, slotTokens, tileExperts, pairSlots}) {
    in.plan.release(buffer);
  }
  return success();
}

/// Rows of a tile: the mean of an expert's at the end of a range, so that its
/// weights are read once or twice and few rows are filling.
static int64_t tileRowsFor(Range tokens, int64_t topK, int64_t experts) {
  constexpr int64_t kFewest = 16;
  int64_t mean = tokens.maximum * topK / experts;
  return std::clamp<int64_t>(llvm::bit_floor<uint64_t>(mean), kFewest,
                             kMostTileRows);
}

LogicalResult kernels::lower(Lowering &in, model::ExpertsOp op) {
  Value tokens = in.rowsOf(op.getX());
  in.bind(op.getOut(), tokens);
  SmallVector<Range> ranges = in.rangesOf(tokens);
  SlotShape slots = {op.getCount(), op.getTopK()};
  auto rowsFor = [&](Range range) {
    return tileRowsFor(range, slots.topK, slots.experts);
  };
  for (size_t first = 0, end; first < ranges.size(); first = end) {
    slots.tileRows = rowsFor(ranges[first]);
    for (end = first + 1;
         end < ranges.size() && rowsFor(ranges[end]) == slots.tileRows;) {
      ++end;
    }
    ArrayRef<Range> own = ArrayRef(ranges).slice(first, end - first);
    LogicalResult result = success();
    auto launch = [&] { result = SlotLaunches(in, op, slots, own).launch(); };
    if (own.size() == ranges.size()) {
      launch();
    } else {
      in.plan.when(tokens, {own.front().minimum, own.back().maximum}, launch);
    }
    if (failed(result)) {
      return failure();
    }
  }
  return success();
}
