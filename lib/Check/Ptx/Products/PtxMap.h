//===- PtxMap.h - Tensor maps ---------------------------------------------===//
//
// The machine's own encoding of a map is the driver's secret; all that kernels
// do with one is name it.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CHECK_PTX_PRODUCTS_PTXMAP_H
#define LIB_CHECK_PTX_PRODUCTS_PTXMAP_H

#include <cstdint>

namespace modelc::ptx {

constexpr uint32_t kMapBytes = 128, kMapMagic = 0x7E450B0C;
constexpr unsigned kMaxRank = 5;

/// How a tensor in global memory is cut into boxes; innermost first.
struct TensorMap {
  uint32_t magic = kMapMagic;
  uint16_t rank = 0, elementBytes = 0;
  uint64_t base = 0;
  uint64_t sizes[kMaxRank] = {};       // elements
  uint64_t strides[kMaxRank - 1] = {}; // bytes, of dimensions 1 and up
  uint16_t box[kMaxRank] = {};         // elements
  uint16_t swizzleBytes = 0;
};
static_assert(sizeof(TensorMap) <= kMapBytes);

} // namespace modelc::ptx

#endif // LIB_CHECK_PTX_PRODUCTS_PTXMAP_H
