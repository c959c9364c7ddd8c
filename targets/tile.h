//===- tile.h - Tiles of elements, the same on every machine --------------===//
//
// The layer between an emitted kernel and the instructions of a machine: tiles
// in registers and places in shared memory, whose layouts are types, and
// functions that move, combine and rearrange them. Not included by kernels:
// they include the machine's tiles header, which first defines
//
//   TILE, TILE_MEMBER        before functions and members
//   TILE_CONSTEXPR           before functions that are evaluated when compiled
//   INLINE                   behind the parameters of a lambda
//   laneId waveId uniformWaveId threadId sync shuffle shuffleXor anyLane
//   kWaveSize bf16 f8, toFloat toBf16 toF8, exp2 log2 rsqrt rcp sqrt fma
//   uniformValue renewed
// and after tile/layout.h
//   kSinksProducts readGlobal readConstant readStreaming readOrZero writeGlobal
//   addGlobal canReadMatrix readMatrix registersOfRead
// and after this file  copyTile mma<Instruction> wait... of its own.
//
//===----------------------------------------------------------------------===//
#ifndef MODELC_TARGETS_TILE_H
#define MODELC_TARGETS_TILE_H

// clang-format off: the later ones use the earlier ones.
#include "tile/layout.h"
#include "tile/scalar.h"
#include "tile/grid.h"
#include "tile/memory.h"
#include "tile/shared.h"
#include "tile/reduce.h"
#include "tile/mma.h"
// clang-format on

#endif // MODELC_TARGETS_TILE_H
