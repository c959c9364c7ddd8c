// Shared memory of a block and global memory of a device. Everything starts as
// poison (0xFF: a NaN in every format that has one); writes outside of an
// object are caught by the address sanitizer and, at the end of a block,
// without it.
#ifndef TARGETS_EMULATOR_MEMORY_H
#define TARGETS_EMULATOR_MEMORY_H

#include "grid.h"

namespace emulator {

constexpr size_t kSharedAlignment = 1024;
constexpr size_t kRedzoneBytes = 64;

/// Room for a block's objects, their redzones and alignment.
inline size_t arenaCapacity(const Device &device) {
  return device.sharedBytes * 2 + 64 * 1024;
}

/// Gives a block its shared memory, all poison.
inline void makeArena(Block &block) {
  block.arenaBytes = arenaCapacity(*block.launch->device);
  block.arena = static_cast<char *>(
      std::aligned_alloc(kSharedAlignment, block.arenaBytes));
  std::memset(block.arena, 0xFF, block.arenaBytes);
  forbid(block.arena, block.arenaBytes);
}

/// Takes `bytes` bytes of the block's shared memory for the object `key`.
inline char *takeShared(Block &block, const void *key, size_t bytes) {
  size_t limit = block.launch->device->sharedBytes;
  size_t offset = (block.arenaUsed + kSharedAlignment - 1) / kSharedAlignment *
                  kSharedAlignment;
  block.sharedBytes += bytes;
  if (block.sharedBytes > limit) {
    fail("shared memory: %zu bytes of at most %zu", block.sharedBytes, limit);
  }
  if (offset + bytes + kRedzoneBytes > block.arenaBytes) {
    fail("shared memory: too many objects");
  }
  block.arenaUsed = offset + bytes + kRedzoneBytes;
  block.objects.push_back({key, offset, bytes});
  allow(block.arena + offset, bytes);
  return block.arena + offset;
}

/// The block's shared object `key` of `bytes` bytes, made by the first thread
/// that asks; aligned to 1024 bytes.
inline char *sharedObject(const void *key, size_t bytes) {
  Unseen unseen;
  Block &block = *self().block;
  for (const SharedObject &object : block.objects) {
    if (object.key == key) {
      return block.arena + object.offset;
    }
  }
  return takeShared(block, key, bytes);
}

/// The block's dynamic shared memory (the first object, key null).
inline char *dynamicShared() {
  Block &block = *self().block;
  if (block.objects.empty() || block.objects[0].key != nullptr) {
    fail("this kernel was launched without dynamic shared memory");
  }
  return block.arena + block.objects[0].offset;
}

/// The offset of a shared address within its block's memory, below 2^24.
inline uint32_t sharedOffset(const void *address) {
  const Block &block = *self().block;
  size_t offset = static_cast<const char *>(address) - block.arena;
  if (offset >= block.arenaBytes) {
    fail("the address %p is not in the block's shared memory", address);
  }
  return uint32_t(offset);
}

/// The address of an offset in the shared memory of the cluster's block `rank`.
inline char *sharedAddress(int rank, uint32_t offset) {
  Cluster &cluster = *self().block->cluster;
  if (rank < 0 || rank >= int(cluster.blocks.size()) ||
      offset >= cluster.blocks[rank]->arenaBytes) {
    fail("no shared address: block %d of the cluster, offset %u", rank, offset);
  }
  if (cluster.blocks[rank]->alive == 0) {
    fail("block %d of the cluster has ended, and with it its shared memory",
         rank);
  }
  return cluster.blocks[rank]->arena + offset;
}

/// Fails when a byte behind an object has changed; frees the memory.
inline void endArena(Block &block) {
  allow(block.arena, block.arenaBytes);
  for (const SharedObject &object : block.objects) {
    const char *behind = block.arena + object.offset + object.bytes;
    for (size_t i = 0; i < kRedzoneBytes; ++i) {
      if (behind[i] != char(0xFF)) {
        fail("kernel '%s', block (%u, %u, %u): a shared object of %zu bytes is "
             "overrun at byte %zu",
             block.launch->shape.kernel.c_str(), block.index.x, block.index.y,
             block.index.z, object.bytes, object.bytes + i);
      }
    }
  }
  std::free(block.arena);
  block.arena = nullptr;
}

/// A buffer in a device's memory, poison at first; its ends are watched by the
/// address sanitizer.
template <typename T>
class Allocation {
public:
  explicit Allocation(size_t count) : count(count) {
    memory = static_cast<T *>(std::aligned_alloc(256, roundedBytes()));
    std::memset(static_cast<void *>(memory), 0xFF, roundedBytes());
    forbid(end(), roundedBytes() - count * sizeof(T));
  }
  ~Allocation() {
    allow(memory, roundedBytes());
    std::free(memory);
  }
  Allocation(const Allocation &) = delete;
  Allocation &operator=(const Allocation &) = delete;

  T *data() { return memory; }
  T *begin() { return memory; }
  T *end() { return memory + count; }
  T &operator[](size_t i) { return memory[i]; }
  const T &operator[](size_t i) const { return memory[i]; }
  size_t size() const { return count; }

private:
  size_t roundedBytes() const { return (count * sizeof(T) / 256 + 1) * 256; }
  T *memory;
  size_t count;
};

} // namespace emulator

#endif // TARGETS_EMULATOR_MEMORY_H
