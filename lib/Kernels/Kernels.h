//===- Kernels.h - From the model dialect to the schedule dialect ---------===//
//
// One file per kernel family builds the plain form of its kernels; Tiling
// chooses their sizes.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_KERNELS_H
#define LIB_KERNELS_KERNELS_H

namespace modelc {

/// Makes `--kernels-build` known.
void registerKernelPasses();

} // namespace modelc

#endif // LIB_KERNELS_KERNELS_H
