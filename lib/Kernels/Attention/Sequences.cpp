#include "lib/Kernels/Attention/Sequences.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

SequenceArguments SequenceArguments::declare(KernelBuilder &k) {
  SequenceArguments arguments;
  arguments.starts = k.buffer("starts", {kDynamic}, k.i32());
  arguments.contexts = k.buffer("contexts", {kDynamic}, k.i32());
  arguments.pages = k.buffer("pages", {kDynamic, kDynamic}, k.i32());
  return arguments;
}

CacheArguments CacheArguments::declare(KernelBuilder &k, const HeadShape &shape,
                                       bool scalesValues) {
  CacheArguments cache;
  SmallVector<int64_t> rows = {kDynamic, shape.kvHeads, shape.headDim};
  cache.keys = k.buffer("k_cache", rows, shape.cacheElement);
  rows.back() = shape.valueDim;
  cache.values = k.buffer("v_cache", rows, shape.cacheElement);
  if (shape.queries) {
    cache.queryScale = k.buffer("q_scale", {1}, k.f32());
  }
  if (shape.isScaled()) {
    cache.keyScale = k.buffer("k_scale", {1}, k.f32());
    if (scalesValues) {
      cache.valueScale = k.buffer("v_scale", {1}, k.f32());
    }
  }
  return cache;
}

StepSizes SequenceArguments::declareSizes(KernelBuilder &k,
                                          StepRange sizes) const {
  k.size("tokens", 1, sizes.sequences.maximum * sizes.longest.maximum);
  Scalar count =
      k.size("sequences", sizes.sequences.minimum, sizes.sequences.maximum);
  Scalar longest =
      k.size("longest", sizes.longest.minimum, sizes.longest.maximum);
  k.bindExtent(pages, 1, k.size("pages_per_sequence", 1, INT32_MAX));
  return {count, longest};
}

Sequence SequenceArguments::load(KernelBuilder &k, Scalar index) const {
  Sequence sequence;
  sequence.index = index;
  // Sequences are alike, so that one stands for all: the first.
  sequence.start = k.loadIndex("start", at(starts, {index}), "0");
  sequence.end =
      k.loadIndex("end", at(starts, {index + 1.0}), "tokens / sequences");
  sequence.context = k.loadIndex("context", at(contexts, {index}), "context");
  sequence.count = k.name("count", sequence.end - sequence.start);
  sequence.past = k.name("past", sequence.context - sequence.count);
  return sequence;
}
