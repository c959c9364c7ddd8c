//===- Refusals.h - What no kernel of a target takes, said to users -------===//

#ifndef LIB_KERNELS_REFUSALS_H
#define LIB_KERNELS_REFUSALS_H

#include "lib/Kernels/Tiling.h"

namespace modelc::kernels {

/// Says at `op`, or where its sizes and types are stated, why no tile of the
/// target multiplies rows of all ranges, and which sizes near by there are
/// tiles for.
mlir::LogicalResult refuse(mlir::Operation *op, const LinearShape &shape,
                           llvm::ArrayRef<Range> ranges, const Tiling &tiling,
                           Candidates &candidates);

/// The same of heads, of which the target can run no attention.
mlir::LogicalResult refuse(mlir::Operation *op, const HeadShape &shape,
                           StepRange sizes, const Tiling &tiling,
                           Candidates &candidates);

/// Whether rows of so many numbers are whole words of scales of blocks; if not,
/// says so.
mlir::LogicalResult verifyWords(mlir::Operation *op, const BlockScales &scales,
                                int64_t columns);

} // namespace modelc::kernels

#endif // LIB_KERNELS_REFUSALS_H
