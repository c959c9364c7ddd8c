//===- SortedKeys.h - Numbers and where they stand, as sortable keys ------===//
//
// A number in f32 and its index become one integer of 64 bits: the bits of the
// number, so that keys sort as numbers do, above the complement of the index,
// so that the first of equals is the largest.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_SORTEDKEYS_H
#define LIB_KERNELS_SORTEDKEYS_H

#include "lib/Kernels/KernelBuilder.h"
#include <limits>

namespace modelc::kernels {

/// Below all keys, and above.
inline constexpr int64_t kLowestKey = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kHighestKey = std::numeric_limits<int64_t>::max();

/// Of an f32, or of what is converted to it; both zeros are equal.
Scalar keyOf(Scalar number, Scalar index);
/// The number of a key in f32, zero without its sign.
Scalar numberOfKey(Scalar key);
/// The index of a key, in 64 bits.
Scalar indexOfKey(Scalar key);

} // namespace modelc::kernels

#endif // LIB_KERNELS_SORTEDKEYS_H
