// Tensor maps: how a tensor in global memory is cut into boxes. The emulator
// encodes them itself, with the arguments of the driver's
// cuTensorMapEncodeTiled, so that a host library can call either through one
// function pointer.
#ifndef TARGETS_EMULATOR_NVIDIAMAP_H
#define TARGETS_EMULATOR_NVIDIAMAP_H

#include "nvidiaState.h"

#include <array>

namespace emulator::nvidia {

constexpr int kMaxRank = 5;

/// The words of an encoded map.
struct MapFields {
  static constexpr uint32_t kMagic = 0x7E450B0C;
  uint32_t magic = kMagic;
  uint16_t rank = 0;
  uint16_t elementBytes = 0;
  uint64_t base = 0;
  uint64_t sizes[kMaxRank] = {};       // elements, innermost first
  uint64_t strides[kMaxRank - 1] = {}; // bytes, of dimensions 1 and up
  uint16_t box[kMaxRank] = {};         // elements
  Swizzle swizzle = Swizzle::None;

  static MapFields of(const modelc::TensorMap &map) {
    MapFields fields;
    if (uintptr_t(&map) % 64 != 0) {
      fail("a tensor map is not at a multiple of 64 bytes");
    }
    std::memcpy(&fields, &map, sizeof fields);
    if (fields.magic != kMagic) {
      fail("a tensor map is used that was not encoded");
    }
    return fields;
  }
};
static_assert(sizeof(MapFields) <= sizeof(modelc::TensorMap));

/// One box of a map: `at` is its first element, innermost first.
struct Box {
  MapFields map;
  std::array<int, 3> at;

  Box(const modelc::TensorMap &encoded, int rank, std::array<int, 3> at)
      : map(MapFields::of(encoded)), at(at) {
    if (map.rank != rank) {
      fail("a box of %d dimensions of a tensor of %d", rank, int(map.rank));
    }
  }

  uint32_t rowBytes() const { return uint32_t(map.box[0]) * map.elementBytes; }
  uint32_t rows() const { return map.box[1] * (map.rank > 2 ? map.box[2] : 1); }
  uint32_t bytes() const { return rowBytes() * rows(); }

  /// Calls visit(offset in the box, address of the row's first element, first
  /// and last byte inside of the tensor) for each row.
  template <typename Visit>
  void forEachRow(Visit visit) const {
    int64_t first = std::max<int64_t>(0, -int64_t(at[0]));
    int64_t last = std::min<int64_t>(map.box[0], int64_t(map.sizes[0]) - at[0]);
    for (uint32_t row = 0; row < rows(); ++row) {
      int64_t y = int64_t(at[1]) + row % map.box[1];
      int64_t z = map.rank > 2 ? int64_t(at[2]) + row / map.box[1] : 0;
      bool inside = y >= 0 && y < int64_t(map.sizes[1]) && z >= 0 &&
                    (map.rank < 3 || z < int64_t(map.sizes[2])) && first < last;
      int64_t offset = int64_t(at[0]) * map.elementBytes +
                       y * int64_t(map.strides[0]) +
                       (map.rank > 2 ? z * int64_t(map.strides[1]) : 0);
      char *global = reinterpret_cast<char *>(map.base) + (inside ? offset : 0);
      visit(row * rowBytes(), global,
            inside ? uint32_t(first * map.elementBytes) : 0,
            inside ? uint32_t(last * map.elementBytes) : 0);
    }
  }
};

/// Why the driver would refuse these fields; null if it would not.
inline const char *mapError(const MapFields &map, const uint32_t *box,
                            const uint32_t *elementStrides) {
  if (map.base % 16 != 0) {
    return "the tensor is not at a multiple of 16 bytes";
  }
  for (int i = 0; i < map.rank; ++i) {
    if (box[i] == 0 || box[i] > 256) {
      return "a box has 1 to 256 elements in each dimension";
    }
    if (map.sizes[i] == 0 || map.sizes[i] > uint64_t(1) << 32) {
      return "a tensor has 1 to 2^32 elements in each dimension";
    }
    if (elementStrides[i] != 1) {
      return "the emulator knows element strides of 1 only";
    }
    if (i > 0 && (map.strides[i - 1] % 16 != 0 ||
                  map.strides[i - 1] >= uint64_t(1) << 40)) {
      return "a stride is not a multiple of 16 bytes below 2^40";
    }
  }
  if (box[0] * map.elementBytes % 16 != 0) {
    return "a row of the box is not a multiple of 16 bytes";
  }
  if (map.swizzle != Swizzle::None &&
      box[0] * map.elementBytes > uint32_t(map.swizzle)) {
    return "a row of the box is longer than the span of the swizzle";
  }
  return nullptr;
}

/// Bytes of an element by the driver's CUtensorMapDataType.
inline int elementBytesOf(int dataType) {
  constexpr int bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
  return dataType >= 0 && dataType < 10 ? bytes[dataType] : 0;
}

/// The driver's cuTensorMapEncodeTiled, enumerations as integers: data type 0 =
/// 8 bits, 9 = bf16, 7 = f32; swizzle 0 none, 1 32, 2 64, 3 128 bytes. Sizes
/// and strides innermost first; `strides` from the second dimension, in bytes.
/// Returns 0, or 1 (CUDA_ERROR_INVALID_VALUE) and says why on stderr.
inline int encodeTensorMap(modelc::TensorMap *map, int dataType, uint32_t rank,
                           void *base, const uint64_t *sizes,
                           const uint64_t *strides, const uint32_t *box,
                           const uint32_t *elementStrides, int interleave,
                           int swizzle, [[maybe_unused]] int l2Promotion,
                           int outOfBoundsFill) {
  MapFields fields;
  const char *error = nullptr;
  if (rank < 2 || rank > kMaxRank || !elementBytesOf(dataType) || interleave ||
      swizzle < 0 || swizzle > 3 || outOfBoundsFill) {
    error = "expected rank 2 to 5, a known data type and swizzle, neither "
            "interleave nor NaN fill";
  } else {
    constexpr Swizzle swizzles[] = {Swizzle::None, Swizzle::Bytes32,
                                    Swizzle::Bytes64, Swizzle::Bytes128};
    fields.rank = uint16_t(rank);
    fields.elementBytes = uint16_t(elementBytesOf(dataType));
    fields.base = uint64_t(uintptr_t(base));
    fields.swizzle = swizzles[swizzle];
    for (uint32_t i = 0; i < rank; ++i) {
      fields.sizes[i] = sizes[i];
      fields.box[i] = uint16_t(box[i]);
      if (i > 0) {
        fields.strides[i - 1] = strides[i - 1];
      }
    }
    error = mapError(fields, box, elementStrides);
  }
  if (error) {
    std::fprintf(stderr, "emulator: tensor map: %s\n", error);
    return 1;
  }
  std::memset(map, 0, sizeof *map);
  std::memcpy(static_cast<void *>(map), &fields, sizeof fields);
  return 0;
}

} // namespace emulator::nvidia

#endif // TARGETS_EMULATOR_NVIDIAMAP_H
