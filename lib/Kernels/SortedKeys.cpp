#include "lib/Kernels/SortedKeys.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

static constexpr int64_t kIndexMask = std::numeric_limits<int32_t>::max();

/// The bits of a float as an integer that sorts as the float does, and back.
static Scalar sortable(Scalar bits) {
  Scalar mask = bits.kernel->integer(bits.type(), kIndexMask);
  return bits ^ (shiftRight(bits, 31) & mask);
}

/// The bits of a number, of zero without its sign: both zeros are equal.
static Scalar bitsOf(Scalar number) {
  KernelBuilder *k = number.kernel;
  Scalar bits = bitcast(convert(number, k->f32()), k->i32());
  Scalar minusZero = k->integer(k->i32(), std::numeric_limits<int32_t>::min());
  return select(bits == minusZero, k->integer(k->i32(), 0), bits);
}

Scalar kernels::keyOf(Scalar number, Scalar index) {
  KernelBuilder *k = number.kernel;
  Scalar low = k->integer(k->i64(), kIndexMask) - convert(index, k->i64());
  return shiftLeft(convert(sortable(bitsOf(number)), k->i64()), 32) + low;
}

Scalar kernels::numberOfKey(Scalar key) {
  KernelBuilder *k = key.kernel;
  Scalar high = convert(shiftRight(key, 32), k->i32());
  return bitcast(sortable(high), k->f32());
}

Scalar kernels::indexOfKey(Scalar key) {
  Scalar mask = key.kernel->integer(key.type(), kIndexMask);
  return mask - (key & mask);
}
