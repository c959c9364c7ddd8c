//===- LowerAttention.cpp - Attention over the cache ----------------------===//

#include "lib/Kernels/Graph/Launches.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static void launchPrefill(Lowering &in, const HeadShape &shape,
                          const Storage &place, ArrayRef<NamedValue> queries,
                          Value out, StringRef label) {
  NamedValues arguments(queries);
  appendCache(arguments, place);
  arguments.append({{"starts", in.starts()},
                    {"contexts", in.contexts()},
                    {"pages", in.pages()},
                    {"out", out}});
  appendSizes(arguments, in.plan.sizes);
  in.plan.launch(in.library.prefill(shape), arguments, label);
}

static void launchParts(Lowering &in, const HeadShape &shape,
                        const Storage &place, ArrayRef<NamedValue> queries,
                        ArrayRef<NamedValue> results, StringRef label) {
  Value sequences = in.plan.sizes.sequences;
  auto [splits, parts] = splitsOf(in, shape);
  Type f32 = in.plan.builder.getF32Type();
  Value part = in.plan.workspace(parts, {shape.heads, shape.valueDim}, f32);
  Value stat = in.plan.workspace(parts, {shape.heads, 2}, f32);
  NamedValues arguments(queries);
  Value valueScale = shape.isLatent() ? place.keyScale : place.valueScale;
  NamedValues combine = {
      {"part", part}, {"stat", stat}, {"v_scale", valueScale}};
  Storage ofParts = place; // parts stay in units of the scale of values
  ofParts.valueScale = {};
  appendCache(arguments, ofParts);
  arguments.append({{"contexts", in.contexts()},
                    {"pages", in.pages()},
                    {"part", part},
                    {"stat", stat},
                    {"sequences", sequences},
                    {"splits", splits},
                    {"pages_per_sequence", in.plan.sizes.pagesPerSequence}});
  llvm::append_range(combine, results);
  combine.append({{"sequences", sequences}, {"splits", splits}});
  in.plan.launch(in.library.decodePart(shape), arguments, label);
  in.plan.launch(in.library.combine(shape), combine, label.str() + "_combine");
  in.plan.release(part);
  in.plan.release(stat);
}

/// `quantise`: what the kernel that joins parts does with them too, or null.
static void launchDecode(Lowering &in, const HeadShape &shape,
                         const Storage &place, ArrayRef<NamedValue> queries,
                         Value out, model::QuantiseOp quantise,
                         StringRef label) {
  auto whole = [&] {
    NamedValues arguments(queries);
    appendCache(arguments, place);
    arguments.append({{"contexts", in.contexts()},
                      {"pages", in.pages()},
                      {"out", out},
                      {"sequences", in.plan.sizes.sequences},
                      {"pages_per_sequence", in.plan.sizes.pagesPerSequence}});
    in.plan.launch(in.library.decodeWhole(shape), arguments, label);
    if (quantise) {
      launchQuantise(in, quantise, out);
    }
  };
  if (in.library.decodeTile(shape).maxSplits == 1) {
    return whole();
  }
  NamedValues results = {{"out", out}};
  if (quantise) {
    results = resultsOf(in, quantise);
  }
  Value splits = splitsOf(in, shape).first;
  in.plan.when(splits, {1, 1}, whole);
  in.plan.when(splits, {2, kNoLimit},
               [&] { launchParts(in, shape, place, queries, results, label); });
}

void kernels::launchQueries(Lowering &in, const HeadShape &shape,
                            const Storage &cache, ArrayRef<NamedValue> queries,
                            Value out, StringRef label) {
  if (in.plan.isDecode) {
    launchDecode(in, shape, cache, queries, out, nullptr, label);
  } else {
    launchPrefill(in, shape, cache, queries, out, label);
  }
}

static void launchAttention(Lowering &in, model::AttentionOp op,
                            const HeadShape &from, const Storage &cache,
                            Value q, model::QuantiseOp quantise) {
  HeadShape shape = from;
  Value out = in.bufferOf(op.getOut());
  if (!in.plan.isDecode) {
    return launchPrefill(in, shape, cache, {{"q", q}}, out,
                         model::getShortName(op));
  }
  // Scales of blocks are stored in words: a head must have whole ones.
  bool isInParts =
      quantise && canQuantiseParts(in, quantise) &&
      in.library.decodeTile(shape).maxSplits > 1 &&
      shape.valueDim % quantiseShapeOf(in, quantise).scales.wordNumbers() == 0;
  if (isInParts) {
    shape.quantise = quantiseShapeOf(in, quantise);
    in.bindNumbers(quantise.getOut(), quantise.getScale(),
                   in.rowsOf(op.getQ()));
  }
  launchDecode(in, shape, cache, {{"q", q}}, out,
               isInParts ? quantise : nullptr, model::getShortName(op));
}

LogicalResult kernels::lower(Lowering &in, model::AttentionOp op) {
  return lower(in, op, nullptr);
}

LogicalResult kernels::lower(Lowering &in, model::AttentionOp op,
                             model::QuantiseOp quantise) {
  HeadShape shape = headsOf(in, op.getCache().getType(), op.getHeads(),
                            elementOf(op.getOut()));
  shape.window = op.getWindow().value_or(0);
  Value rows = in.rowsOf(op.getQ()), q = in.bufferOf(op.getQ());
  in.bind(op.getOut(), rows);
  Storage cache = in.storage[op.getCache()];
  narrow(in, shape, cache, op.getQScale());
  if (failed(in.library.chooseTile(op, shape, in.plan.isDecode))) {
    return failure();
  }
  bool isThere =
      cast<BufferType>(q.getType()).getElementType() == shape.queryElement();
  if (isThere) {
    launchAttention(in, op, shape, cache, q, quantise);
    return success();
  }
  Value narrow =
      in.plan.workspace(rows, {shape.heads * shape.headDim}, shape.queries);
  in.plan.launch(
      in.library.elementwise({Elementwise::Narrow, shape.heads * shape.headDim,
                              shape.element, shape.queries}),
      {{"x", q}, {"scale", cache.queryScale}, {"out", narrow}, {"m", rows}},
      model::getShortName(op) + "_queries");
  launchAttention(in, op, shape, cache, narrow, quantise);
  in.plan.release(narrow);
  return success();
}
