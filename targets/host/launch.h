//===- launch.h - What drivers and launchers speak of ---------------------===//
#ifndef MODELC_HOST_LAUNCH_H
#define MODELC_HOST_LAUNCH_H

#include "modelc.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <initializer_list>
#include <string>

namespace modelc_host {

/// Opaque: how a tensor in device memory is cut into boxes.
struct alignas(64) TensorMap {
  uint64_t opaque[16];
};

inline thread_local char lastError[512];

/// Keeps a message for modelc_last_error and returns the code.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
inline int fail(int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(lastError, sizeof lastError, format, arguments);
  va_end(arguments);
  return code;
}

/// A kernel and how it is launched, whatever the sizes.
struct Kernel {
  const char *symbol;
  const char *file;     // of the binary, in the package
  unsigned threads;     // of a workgroup
  unsigned sharedBytes; // that the launch asks for
  unsigned cluster;     // workgroups of a cluster, 1 = none
};

/// A tensor as launchers pass it on: where it is and its outermost extent.
struct Buffer {
  void *data = nullptr;
  int64_t rows = 1;

  Buffer() = default;
  Buffer(void *data, int64_t rows) : data(data), rows(rows) {}
  Buffer(const mc_tensor &tensor)
      : data(tensor.data), rows(tensor.rank ? tensor.shape[0] : 1) {}
};

struct NamedSize {
  const char *name;
  int64_t value;
};

/// Bytes of one element of an mc_type.
inline int elementBytes(int32_t type) {
  switch (type) {
  case MC_F8E4M3FN:
  case MC_F8E4M3FNUZ:
  case MC_F8E8M0FNU:
  case MC_F4E2M1FNX2:
    return 1;
  case MC_BF16:
  case MC_F16:
    return 2;
  case MC_I64:
  case MC_F32X2:
    return 8;
  case MC_I64X2:
    return 16;
  case MC_F6E2M3FNX32:
    return 24;
  case MC_BF16X32:
  case MC_F16X32:
    return 64;
  case MC_F32X32:
    return 128;
  default:
    return 4;
  }
}

/// A box copy: a row-major tensor and the box, innermost first.
struct Box {
  static constexpr int kMaxRank = 5;
  const void *data;
  int32_t type;
  uint32_t rank;
  uint64_t sizes[kMaxRank] = {};
  uint64_t strides[kMaxRank] = {}; // bytes; [i] is that of dimension i + 1
  uint32_t box[kMaxRank] = {};
  uint32_t steps[kMaxRank] = {1, 1, 1, 1, 1};
  int span; // of the swizzle in bytes, 0 = none

  Box(const void *data, int32_t type, std::initializer_list<int64_t> extents,
      std::initializer_list<int64_t> boxes, int span)
      : data(data), type(type), rank(uint32_t(extents.size())), span(span) {
    std::copy(extents.begin(), extents.end(), sizes);
    std::copy(boxes.begin(), boxes.end(), box);
    uint64_t bytes = uint64_t(elementBytes(type));
    for (uint32_t i = 0; i < rank; ++i) {
      bytes *= sizes[i];
      strides[i] = bytes;
    }
  }

  /// The same, but what lies beyond `end` in a dimension reads as zero.
  Box ending(int dimension, int64_t end) const {
    Box ended = *this;
    ended.sizes[dimension] = uint64_t(end);
    return ended;
  }
};

/// Rounded up to what every kernel may assume of a buffer's address.
inline int64_t aligned(int64_t bytes) { return (bytes + 255) / 256 * 256; }

inline int64_t minimum(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t maximum(int64_t a, int64_t b) { return a > b ? a : b; }
inline int64_t ceilDiv(int64_t a, int64_t b) {
  return a / b + (a % b != 0 && (a % b < 0) == (b < 0));
}
inline int64_t floorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

inline int64_t select(bool condition, int64_t yes, int64_t no) {
  return condition ? yes : no;
}

/// Whether a size is what a guard demands.
inline bool isIn(int64_t value, int64_t minimum, int64_t maximum,
                 int64_t multiple = 1) {
  return minimum <= value && value <= maximum && value % multiple == 0;
}

/// Whether a tensor has the type and the fixed extents that are wanted; says in
/// `why` what differs.
inline bool isLike(const mc_tensor &tensor, int32_t type, int32_t rank,
                   const int64_t *shape, std::string &why) {
  auto differs = [&](const char *what, int64_t wanted, int64_t got) {
    why = std::string("expected ") + what + " " + std::to_string(wanted) +
          ", got " + std::to_string(got);
    return false;
  };
  if (tensor.type != type) {
    return differs("mc_type", type, tensor.type);
  }
  if (tensor.rank != rank) {
    return differs("rank", rank, tensor.rank);
  }
  for (int i = 0; i < rank; ++i) {
    if (shape[i] != MC_ANY && shape[i] != tensor.shape[i]) {
      return differs(("extent " + std::to_string(i) + " of").c_str(), shape[i],
                     tensor.shape[i]);
    }
  }
  if (!tensor.data || reinterpret_cast<uintptr_t>(tensor.data) % 16) {
    why = "expected device memory at a multiple of 16 bytes, got " +
          std::to_string(reinterpret_cast<uintptr_t>(tensor.data));
    return false;
  }
  return true;
}

} // namespace modelc_host

#endif // MODELC_HOST_LAUNCH_H
