//===- LinearPieces.cpp - Linears of several products a trip --------------===//

#include "lib/Kernels/Linear/LinearPieces.h"

#include "lib/Kernels/Rows/SixBits.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

static int64_t productsOf(const LinearShape &shape) {
  return shape.isSwiglu ? 2 : 1;
}

SmallVector<int64_t, 4> kernels::partsOf(int64_t extent) {
  SmallVector<int64_t, 4> parts;
  for (int64_t rest = extent; rest > 0; rest -= parts.back()) {
    parts.push_back(llvm::bit_floor<uint64_t>(rest));
  }
  return parts;
}

llvm::SmallVector<int64_t, 4> LinearTile::parts(int64_t size,
                                                int64_t pieces) const {
  if (pieces > 1 || isOneProduct) {
    return llvm::SmallVector<int64_t, 4>(pieces, size / pieces);
  }
  return partsOf(size);
}

int64_t kernels::stepOf(int64_t bytes, Type number) {
  return static_cast<int64_t>(llvm::bit_floor(
      static_cast<uint64_t>(bytes * 8 / number.getIntOrFloatBitWidth())));
}

SmallVector<LinearTile> kernels::tilesInPieces(const LinearShape &shape,
                                               int64_t pipes, int64_t judged) {
  SmallVector<LinearTile> tiles;
  for (int64_t m : {256, 128}) {
    for (int64_t n : {256, 128}) {
      for (int64_t kBytes : {64, 128, 256}) {
        for (int64_t groups : {2, 1}) {
          LinearTile tile{m, n, stepOf(kBytes, shape.element), groups * pipes};
          tile.groups = groups;
          tile.piecesM = 2;
          tile.piecesN = shape.isSwiglu ? 1 : 2;
          if (judged >= m) {
            tiles.push_back(tile);
          }
        }
      }
    }
  }
  return tiles;
}

std::string kernels::reasonAgainstPieces(const Target &target,
                                         const LinearShape &shape,
                                         const LinearTile &tile,
                                         const MmaRow &row) {
  int64_t lanes = tile.waves * target.execution.waveSize;
  bool isSum = tile.rowParts().size() * tile.columnParts(shape).size() > 1;
  // Products side by side of 256 x 160 spilled, on 4 waves as on 8; pieces, one
  // after the other, do not.
  constexpr int64_t kMostSums = 128 * 192;
  if (isSum && !tile.hasPieces() && row.scope == MmaScope::Wave &&
      tile.m * tile.n * productsOf(shape) > kMostSums) {
    return "sums of several products leave too few registers to operands";
  }
  if (!tile.hasPieces()) {
    return "";
  }
  bool copies = target.copy.asyncToShared &&
                target.copy.completion == Completion::Counted;
  if (!copies || row.scope != MmaScope::Wave ||
      row.aSpace != OperandSpace::Register ||
      tile.waves != tile.groups * target.execution.matrixPipesPerUnit) {
    return "a group of waves needs one for each pipe of the matrix unit, and "
           "copies that complete in order";
  }
  // Sums of 32 x 32 are blocks of 16 registers: a tile of 256 x 256 spilled 48.
  if (tile.groups == 1 && row.m >= 32 &&
      2 * tile.m * tile.n * productsOf(shape) >=
          target.execution.maxRegistersPerThread * lanes) {
    return "sums in blocks leave no room to what is read ahead";
  }
  if (hasTails(shape.element) || hasTails(shape.weightElement())) {
    return "numbers of six bits come from two places";
  }
  return shape.blockScales.isByKernel()
             ? "a product is scaled before it is added"
             : "";
}

/// Registers of all lanes for the words of scales of a trip: as many lanes hold
/// the same word as there are blocks in it, or as few as the fragments of a
/// piece leave.
static int64_t scalesOfTrip(const LinearShape &shape, const LinearTile &tile,
                            int64_t readers) {
  constexpr int64_t kFragmentRows = 16;
  auto held = [&](int64_t rows, int64_t piece) {
    int64_t fragments = std::max<int64_t>(1, piece / readers / kFragmentRows);
    int64_t lanes = schedule::kScalesPerWord /
                    std::min(fragments, schedule::kScalesPerWord);
    return rows * tile.k / shape.blockScales.wordNumbers() * lanes;
  };
  return readers *
         (held(tile.m, tile.rowParts().front()) +
          held(tile.n * productsOf(shape), tile.columnParts(shape).front()));
}

int64_t kernels::registersAhead(const LinearShape &shape,
                                const LinearTile &tile, int64_t lanes) {
  // With scales to load 2 x 128 x 256 of MXFP8 would spill 25.
  constexpr int64_t kAddresses = 64, kWithScales = 96, kBits = 32;
  int64_t ofWeights = tile.k * tile.n * productsOf(shape) *
                      shape.weightElement().getIntOrFloatBitWidth();
  if (tile.weightsAhead) {
    return (tile.weightsAhead + 1) * ofWeights / kBits;
  }
  if (!tile.hasPieces() || tile.groups > 1) {
    return 0;
  }
  int64_t bits =
      tile.k * tile.m * shape.element.getIntOrFloatBitWidth() + ofWeights;
  // Each operand is read by half of the waves' grid, which is square.
  int64_t readers = int64_t(1) << (llvm::Log2_64(tile.waves) / 2);
  int64_t operands = bits * readers / kBits;
  // Scales are loaded, those of the next trip beside those of this one.
  return shape.blockScales ? operands + kWithScales * lanes +
                                 2 * scalesOfTrip(shape, tile, readers)
                           : operands + kAddresses * lanes;
}
