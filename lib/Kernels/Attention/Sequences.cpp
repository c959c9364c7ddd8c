#include "lib/Kernels/Attention/Sequences.h"
#include "lib/Kernels/Attention/HeadColumns.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

SequenceArguments SequenceArguments::declareTokens(KernelBuilder &k) {
  SequenceArguments arguments;
  arguments.starts = k.buffer("starts", {kDynamic}, k.i32());
  arguments.contexts = k.buffer("contexts", {kDynamic}, k.i32());
  return arguments;
}

SequenceArguments SequenceArguments::declare(KernelBuilder &k) {
  SequenceArguments arguments = declareTokens(k);
  arguments.pages = k.buffer("pages", {kDynamic, kDynamic}, k.i32());
  return arguments;
}

SmallVector<int64_t, 4> HeadShape::keyParts() const {
  if (!isLatent()) {
    return partsOf(headDim);
  }
  SmallVector<int64_t, 4> parts = partsOf(valueDim);
  llvm::append_range(parts, partsOf(headDim - valueDim));
  return parts;
}

QueryArguments QueryArguments::declare(KernelBuilder &k,
                                       const HeadShape &shape) {
  QueryArguments arguments;
  SmallVector<int64_t> rows = {kDynamic, shape.heads, shape.headDim};
  if (shape.isLatent()) {
    rows.back() = shape.valueDim;
    arguments.latent = k.buffer("q_latent", rows, shape.queryElement());
    rows.back() = shape.keyDim + shape.headDim - shape.valueDim;
  }
  arguments.q = k.buffer("q", rows, shape.queryElement());
  return arguments;
}

QueryArguments::Column QueryArguments::at(const HeadShape &shape,
                                          int64_t column) const {
  if (!latent) {
    return {q, column};
  }
  return column < shape.valueDim
             ? Column{latent, column}
             : Column{q, shape.keyDim + column - shape.valueDim};
}

CacheArguments CacheArguments::declare(KernelBuilder &k, const HeadShape &shape,
                                       bool scalesValues) {
  CacheArguments cache;
  auto rows = [&](int64_t columns) {
    return headExtents(shape, {kDynamic, shape.kvHeads}, columns);
  };
  cache.keys = k.buffer("k_cache", rows(shape.headDim), shape.cacheElement);
  cache.values = shape.isLatent() ? cache.keys
                                  : k.buffer("v_cache", rows(shape.valueDim),
                                             shape.cacheElement);
  if (shape.queries) {
    cache.queryScale = k.buffer("q_scale", {1}, k.f32());
  }
  if (shape.isScaled()) {
    cache.keyScale = k.buffer("k_scale", {1}, k.f32());
    if (scalesValues) {
      cache.valueScale =
          shape.isLatent() ? cache.keyScale : k.buffer("v_scale", {1}, k.f32());
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
  if (pages) {
    k.bindExtent(pages, 1, k.size("pages_per_sequence", 1, INT32_MAX));
  }
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
