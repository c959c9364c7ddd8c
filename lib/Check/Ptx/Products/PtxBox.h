//===- PtxBox.h - Copies of boxes and of many bytes -----------------------===//

#ifndef LIB_CHECK_PTX_PRODUCTS_PTXBOX_H
#define LIB_CHECK_PTX_PRODUCTS_PTXBOX_H

#include "lib/Check/Ptx/PtxLanes.h"

namespace modelc::ptx {

/// Decodes cp.async.bulk of all kinds.
bool decodeBulk(Instruction &i, llvm::ArrayRef<llvm::StringRef> modifiers);

/// Where the hardware puts a byte of a swizzled tile: units of 16 bytes are
/// permuted within rows by bits of the address above them.
inline uint32_t swizzled(uint32_t address, uint32_t spanBytes) {
  uint32_t rows = spanBytes / 16;
  return rows ? address ^ ((address >> 7 & (rows - 1)) << 4) : address;
}

} // namespace modelc::ptx

#endif // LIB_CHECK_PTX_PRODUCTS_PTXBOX_H
