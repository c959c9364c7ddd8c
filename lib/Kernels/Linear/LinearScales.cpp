//===- LinearScales.cpp - What scales of blocks demand of tiles -----------===//

#include "lib/Kernels/Linear/LinearWriter.h"
#include "lib/Kernels/Tiling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace modelc;
using namespace modelc::kernels;

std::string kernels::reasonAgainstScales(const LinearShape &shape,
                                         const LinearTile &tile) {
  const BlockScales &scales = shape.blockScales;
  if (!scales.isByKernel()) {
    return "";
  }
  if (tile.k != scales.block) {
    return "a trip has one scale of a row";
  }
  bool isWhole = tile.n <= kGroup || (tile.hasRoles && tile.n % kGroup == 0);
  return isWhole ? "" : "a product has more than one scale of the weight";
}

/// Words of both operands that a lane holds where waves share a tile as evenly
/// as they can: each reads its rows and its columns.
static int64_t operandWords(const LinearTile &tile, const MmaRow &row,
                            int64_t waveSize) {
  int64_t best = INT64_MAX;
  for (int64_t rows = 1; rows <= tile.waves; rows *= 2) {
    int64_t columns = tile.waves / rows;
    if (tile.m % (row.m * rows) == 0 && tile.n % (row.n * columns) == 0) {
      int64_t numbers = (tile.m / rows + tile.n / columns) * tile.k;
      best = std::min(best, numbers / 4 / waveSize);
    }
  }
  return best == INT64_MAX ? 0 : best;
}

/// Trips before its own in which scales of the input are loaded, of which a
/// lane holds so many.
static int64_t tripsAhead(const Target &target, const LinearShape &shape,
                          const LinearTile &tile, const MmaRow &row,
                          int64_t scales) {
  int64_t columns = tile.n * (shape.isSwiglu ? 2 : 1);
  double matrix =
      2.0 * static_cast<double>(tile.m * columns * tile.k) / row.flopPerClock;
  int64_t bits = tile.m * shape.element.getIntOrFloatBitWidth() +
                 columns * shape.weightElement().getIntOrFloatBitWidth();
  double bytes = static_cast<double>(bits * tile.k) / 8;
  return target.tripsAhead(matrix, bytes, scales);
}

/// Registers of a lane of waves that multiply from registers: sums, the product
/// of a trip and its operands (a compiler reads all of them before the first
/// addition), scales of this trip and of those ahead (two waves share the
/// rows), addresses. Compiled where sums are held in each trip: 128 x 128 on 8
/// waves 132, on 4 waves 214, 256 x 128 on 8 waves 214, on 4 waves 378. Where
/// copies do not complete in order, trips are a loop whose order is the
/// compiler's: 2 x 64 x 64 on 4 waves spilled 19 of 255.
static int64_t registersOfLane(const Target &target, const LinearShape &shape,
                               const LinearTile &tile, const MmaRow &row) {
  constexpr int64_t kHeld = 16, kFree = 64;
  bool isHeld = target.copy.completion == Completion::Counted;
  int64_t waveSize = target.execution.waveSize;
  int64_t products = shape.isSwiglu ? 2 : 1;
  int64_t sums =
      llvm::divideCeil(tile.m * tile.n * products, tile.waves * waveSize);
  int64_t scales = llvm::divideCeil(tile.m, 2 * row.m) + products;
  int64_t ahead = tripsAhead(target, shape, tile, row, scales);
  return 2 * sums + operandWords(tile, row, waveSize) + (ahead + 1) * scales +
         (isHeld ? kHeld : kFree);
}

/// Sums and the product of a trip; a quarter of the registers is left to
/// addresses, fewer where others copy. Where a compiler orders reads of tensor
/// memory and additions, one product in two is there at once.
bool Tiling::holdsProducts(const LinearShape &shape, const LinearTile &tile,
                           const MmaRow &row) const {
  int64_t waveSize = target.execution.waveSize;
  int64_t sums = llvm::divideCeil(tile.m * tile.n * (shape.isSwiglu ? 2 : 1),
                                  tile.waves * waveSize);
  int64_t registers = target.execution.registersOf(tile.waves);
  if (row.scope == MmaScope::Wave) {
    return registersOfLane(target, shape, tile, row) < registers;
  }
  bool isRead = row.cSpace == OperandSpace::Tensor;
  int64_t live = isRead ? sums + sums / 2 : 2 * sums;
  if (tile.isSwapped) {
    // Rows of a are columns of the sums; their scales lie in every lane.
    int64_t scales = llvm::divideCeil(tile.m, isRead ? 1 : 4);
    live += (tripsAhead(target, shape, tile, row, scales) + 1) * scales;
  }
  constexpr int64_t kAddresses = 32;
  return tile.hasRoles
             ? live + kAddresses <= target.execution.registersOfRole(tile.waves)
             : 4 * live <= 3 * (registers + 1);
}
