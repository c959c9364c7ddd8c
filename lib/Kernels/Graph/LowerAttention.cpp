//===- LowerAttention.cpp - Attention over the cache ----------------------===//

#include "lib/Kernels/Graph/Launches.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

namespace {
/// What the kernels of an attention are launched with.
struct Attended {
  HeadShape shape;
  Storage cache;
  NamedValues queries;
  NamedValues scores; ///< numbers of heads and positions, if there are any
  std::string label;

  NamedValues arguments() const {
    NamedValues list = queries;
    appendCache(list, cache);
    llvm::append_range(list, scores);
    return list;
  }
};
} // namespace

static void launchPrefill(Lowering &in, const Attended &of, Value out) {
  NamedValues arguments = of.arguments();
  arguments.append({{"starts", in.starts()},
                    {"contexts", in.contexts()},
                    {"pages", in.pages()},
                    {"out", out}});
  appendSizes(arguments, in.plan.sizes);
  in.plan.launch(in.library.prefill(of.shape), arguments, of.label);
}

static void launchParts(Lowering &in, const Attended &of,
                        ArrayRef<NamedValue> results) {
  const HeadShape &shape = of.shape;
  Value sequences = in.plan.sizes.sequences;
  auto [splits, parts] = splitsOf(in, shape);
  Type f32 = in.plan.builder.getF32Type();
  Value part = in.plan.workspace(parts, {shape.heads, shape.valueDim}, f32);
  Value stat = in.plan.workspace(parts, {shape.heads, 2}, f32);
  Value valueScale = shape.isLatent() ? of.cache.keyScale : of.cache.valueScale;
  NamedValues combine = {
      {"part", part}, {"stat", stat}, {"v_scale", valueScale}};
  Attended ofParts = of; // parts stay in units of the scale of values
  ofParts.cache.valueScale = {};
  NamedValues arguments = ofParts.arguments();
  arguments.append({{"contexts", in.contexts()},
                    {"pages", in.pages()},
                    {"part", part},
                    {"stat", stat},
                    {"sequences", sequences},
                    {"splits", splits},
                    {"pages_per_sequence", in.plan.sizes.pagesPerSequence}});
  llvm::append_range(combine, results);
  combine.append({{"sequences", sequences}, {"splits", splits}});
  in.plan.launch(in.library.decodePart(shape), arguments, of.label);
  in.plan.launch(in.library.combine(shape), combine, of.label + "_combine");
  in.plan.release(part);
  in.plan.release(stat);
}

/// `quantise`: what the kernel that joins parts does with them too, or null.
static void launchDecode(Lowering &in, const Attended &of, Value out,
                         model::QuantiseOp quantise) {
  auto whole = [&] {
    NamedValues arguments = of.arguments();
    arguments.append({{"contexts", in.contexts()},
                      {"pages", in.pages()},
                      {"out", out},
                      {"sequences", in.plan.sizes.sequences},
                      {"pages_per_sequence", in.plan.sizes.pagesPerSequence}});
    in.plan.launch(in.library.decodeWhole(of.shape), arguments, of.label);
    if (quantise) {
      launchQuantise(in, quantise, out);
    }
  };
  if (in.library.decodeTile(of.shape).maxSplits == 1) {
    return whole();
  }
  NamedValues results = {{"out", out}};
  if (quantise) {
    results = resultsOf(in, quantise);
  }
  Value splits = splitsOf(in, of.shape).first;
  in.plan.when(splits, {1, 1}, whole);
  in.plan.when(splits, {2, kNoLimit}, [&] { launchParts(in, of, results); });
}

void kernels::launchQueries(Lowering &in, const HeadShape &shape,
                            const Storage &cache, ArrayRef<NamedValue> queries,
                            Value out, StringRef label) {
  Attended of = {shape, cache, NamedValues(queries), {}, label.str()};
  if (in.plan.isDecode) {
    launchDecode(in, of, out, nullptr);
  } else {
    launchPrefill(in, of, out);
  }
}

static void launchAttention(Lowering &in, model::AttentionOp op, Attended of,
                            model::QuantiseOp quantise) {
  Value out = in.bufferOf(op.getOut());
  if (!in.plan.isDecode) {
    return launchPrefill(in, of, out);
  }
  // Scales of blocks are stored in words: a head must have whole ones.
  bool isInParts =
      quantise && canQuantiseParts(in, quantise) &&
      in.library.decodeTile(of.shape).maxSplits > 1 &&
      of.shape.valueDim % quantiseShapeOf(in, quantise).scales.wordNumbers() ==
          0;
  if (isInParts) {
    of.shape.quantise = quantiseShapeOf(in, quantise);
    in.bindNumbers(quantise.getOut(), quantise.getScale(),
                   in.rowsOf(op.getQ()));
  }
  launchDecode(in, of, out, isInParts ? quantise : nullptr);
}

/// What the op says of scores, in its shape and arguments.
static void setScores(Lowering &in, model::AttentionOp op, Attended &of) {
  auto number = [](std::optional<APFloat> value) {
    return value ? value->convertToDouble() : 0;
  };
  of.shape.window = op.getWindow().value_or(0);
  of.shape.chunk = op.getChunk().value_or(0);
  of.shape.scale = number(op.getScale());
  of.shape.softCap = number(op.getSoftCap());
  if (Value sink = op.getSink()) {
    of.shape.sink = elementOf(sink);
    of.scores.push_back({"sink", in.bufferOf(sink)});
  }
  if (auto temperature = op.getTemperature()) {
    of.shape.isTempered = true;
    of.scores.push_back({"temperature", temperatureTable(in, *temperature)});
  }
}

LogicalResult kernels::lower(Lowering &in, model::AttentionOp op) {
  return lower(in, op, nullptr);
}

LogicalResult kernels::lower(Lowering &in, model::AttentionOp op,
                             model::QuantiseOp quantise) {
  Value rows = in.rowsOf(op.getQ());
  Attended of = {headsOf(in, op.getCache().getType(), op.getHeads(),
                         elementOf(op.getOut())),
                 in.storage[op.getCache()],
                 {},
                 {},
                 model::getShortName(op)};
  setScores(in, op, of);
  in.bind(op.getOut(), rows);
  narrow(in, of.shape, of.cache, op.getQScale());
  const HeadShape shape = of.shape;
  if (failed(in.library.chooseTile(op, shape, in.plan.isDecode))) {
    return failure();
  }
  Value q = in.bufferOf(op.getQ());
  of.queries = {{"q", q}};
  bool isThere =
      cast<BufferType>(q.getType()).getElementType() == shape.queryElement();
  if (isThere) {
    launchAttention(in, op, of, quantise);
    return success();
  }
  Value narrow =
      in.plan.workspace(rows, {shape.heads * shape.headDim}, shape.queries);
  in.plan.launch(
      in.library.elementwise({Elementwise::Narrow, shape.heads * shape.headDim,
                              shape.element, shape.queries}),
      {{"x", q}, {"scale", of.cache.queryScale}, {"out", narrow}, {"m", rows}},
      of.label + "_queries");
  of.queries = {{"q", narrow}};
  launchAttention(in, op, of, quantise);
  in.plan.release(narrow);
  return success();
}
