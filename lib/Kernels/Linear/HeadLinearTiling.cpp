//===- HeadLinearTiling.cpp - Tiles of linears of heads: enumerate, judge -===//
//
// Weights of a head are small: a tile of a few shapes is judged for all ranges
// of rows at once.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Tiling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

/// Of a tile of d and of a trip, at most.
static constexpr int64_t kMostColumns = 128, kMostInputs = 128;

/// Those of the sizes up to what covers `extent`, else the first.
static SmallVector<int64_t, 3> covering(ArrayRef<int64_t> sizes,
                                        int64_t extent) {
  SmallVector<int64_t, 3> list = {sizes.front()};
  for (int64_t size : sizes.drop_front()) {
    if (size <= int64_t(llvm::PowerOf2Ceil(extent))) {
      list.push_back(size);
    }
  }
  return list;
}

/// The largest power of two up to `most` that divides `extent`.
static int64_t dividing(int64_t extent, int64_t most) {
  return std::min<int64_t>(
      most, int64_t(1) << llvm::countr_zero(static_cast<uint64_t>(extent)));
}

SmallVector<HeadLinearTile> Tiling::candidates(const HeadLinearShape &shape,
                                               int64_t rows) const {
  SmallVector<HeadLinearTile> tiles;
  for (int64_t m : covering({16, 32, 64, 128}, rows)) {
    for (int64_t n : covering({32, 64, kMostColumns}, shape.columns)) {
      for (int64_t most : {kMostInputs, kMostInputs / 2}) {
        int64_t k = dividing(shape.inputs, most);
        for (int64_t waves : {4, 2}) {
          tiles.push_back({m, n, std::max<int64_t>(k, 16), waves});
        }
      }
    }
  }
  return tiles;
}

FailureOr<SmallVector<HeadLinearTile>>
Tiling::headLinear(Candidates &built, const HeadLinearShape &shape,
                   ArrayRef<Range> ranges) const {
  SmallVector<HeadLinearTile> tiles = candidates(shape, ranges.back().maximum);
  if (!options.evaluate) {
    return SmallVector<HeadLinearTile>(ranges.size(), tiles.front());
  }
  SmallVector<KernelSequence> kernels;
  for (const HeadLinearTile &tile : tiles) {
    kernels.push_back({built.kernel("head_linear" + identityOf(shape, tile),
                                    [&](auto &builder, auto &label) {
                                      return buildHeadLinear(
                                          builder, label, shape, tile,
                                          {1, ranges.back().maximum});
                                    })});
  }
  SmallVector<SizesOfRun> sizes;
  for (Range range : ranges) {
    sizes.push_back({{"m", double(std::min(range.maximum, kJudgedRows))}});
  }
  std::vector<FailureOr<Judgement>> judged = options.evaluate(kernels, sizes);
  SmallVector<HeadLinearTile> best;
  for (size_t i = 0; i < ranges.size(); ++i) {
    double least = std::numeric_limits<double>::infinity();
    HeadLinearTile chosen;
    for (auto [judgement, tile] : llvm::zip_equal(judged, tiles)) {
      if (succeeded(judgement) && judgement->seconds[i] < least) {
        least = judgement->seconds[i];
        chosen = tile;
      }
    }
    if (chosen.m == 0) {
      return failure();
    }
    best.push_back(chosen);
  }
  return best;
}
