#include "lib/Kernels/Attention/NewRows.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

Scalar NewRows::cacheRowOf(const Sequence &sequence, Scalar position) {
  if (tile.tokens > 1) {
    return {};
  }
  auto size = static_cast<double>(shape.pageSize);
  Scalar page = k.loadIndex(
      "page", kernels::at(sequences.pages, {sequence.index, position / size}),
      "0");
  return k.name("cache_row", page * size + position % shape.pageSize);
}

Place NewRows::at(Value buffer, const Sequence &sequence, Scalar position,
                  Scalar kvHead, Scalar cacheRow) {
  if (!kvHead) {
    return headsAt(k, shape, buffer, {cacheRow, k.constant(0)})
        .walks(1, 2)
        .valid({k.constant(shape.kvHeads)});
  }
  if (cacheRow) {
    return headsAt(k, shape, buffer, {cacheRow, kvHead}).walks(0, 2);
  }
  return headsAt(k, shape, buffer, {position, kvHead})
      .walks(0, 2)
      .pages(sequences.pages, sequence.index, shape.pageSize)
      .valid({sequence.context});
}

NewRows::Factors NewRows::loadFactors() {
  std::pair<StringRef, Value> scales[] = {{"q_scale", cache.queryScale},
                                          {"k_scale", cache.keyScale},
                                          {"v_scale", cache.valueScale}};
  for (auto &[name, scale] : scales) {
    if (scale) {
      scale =
          k.load(name, {1, 1}, kernels::at(scale, {k.constant(0)}).walks(0, 0));
    }
  }
  auto inverse = [&](unsigned i) -> Value {
    auto [name, scale] = scales[i];
    return scale ? k.map(("inverse_" + name).str(), k.f32(), scale,
                         [&](Element e) { return k.number(k.f32(), 1) / e[0]; })
                 : Value();
  };
  return {inverse(0), inverse(1), inverse(2)};
}

void NewRows::overTokens(
    StepRange sizes, bool ownsAllHeads,
    llvm::function_ref<void(const Sequence &, Scalar, Scalar)> body) {
  auto [count, longest] = sequences.declareSizes(k, sizes);
  Scalar tiles = k.name("tiles", ceilDiv(longest, tile.tokens));
  SmallVector<Axis> axes = {{"sequence", count}, {"tile", tiles}};
  if (!ownsAllHeads) {
    axes.push_back({"kv_head", k.constant(shape.kvHeads)});
  }
  k.grid(axes, [&](ArrayRef<Scalar> index) {
    Sequence sequence = sequences.load(k, index[0]);
    Scalar first = k.name("first", index[1] * static_cast<double>(tile.tokens));
    k.when(first < sequence.count, kLiveTiles,
           [&] { body(sequence, first, ownsAllHeads ? Scalar() : index[2]); });
  });
}

Value NewRows::stored(StringRef name, Value tile, Value factor) {
  if (factor) {
    return k.map(name, shape.cacheElement, {tile, factor}, [&](Element e) {
      return convertSaturated(convert(e[0], k.f32()) * e[1],
                              shape.cacheElement);
    });
  }
  bool isStored =
      cast<TileType>(tile.getType()).getElementType() == shape.cacheElement;
  return isStored ? tile
                  : k.map(name, shape.cacheElement, tile, [&](Element e) {
                      return convert(e[0], shape.cacheElement);
                    });
}
