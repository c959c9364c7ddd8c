//===- LinearPieces.h - Linears of several products a trip ----------------===//

#ifndef LIB_KERNELS_LINEAR_LINEARPIECES_H
#define LIB_KERNELS_LINEAR_LINEARPIECES_H

#include "lib/Hardware/Hardware.h"
#include "lib/Kernels/Linear/LinearFamily.h"

namespace modelc::kernels {

/// Numbers of a step along the sum of at most so many bytes: a power of two.
int64_t stepOf(int64_t bytes, mlir::Type number);

/// Tiles whose products two groups of waves do in turns, or one group while it
/// reads for the next: of at most `judged` rows, for `pipes` matrix pipes.
llvm::SmallVector<LinearTile> tilesInPieces(const LinearShape &shape,
                                            int64_t pipes, int64_t judged);

/// Why the waves of a tile in pieces cannot share the matrix unit, or empty.
std::string reasonAgainstPieces(const Target &target, const LinearShape &shape,
                                const LinearTile &tile, const MmaRow &row);

/// Registers of all lanes for what a trip reads, where waves read ahead: a wave
/// holds its rows of both operands, and addresses. Else 0.
int64_t registersAhead(const LinearShape &shape, const LinearTile &tile,
                       int64_t lanes);

} // namespace modelc::kernels

#endif // LIB_KERNELS_LINEAR_LINEARPIECES_H
