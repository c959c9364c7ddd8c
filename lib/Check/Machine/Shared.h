//===- Shared.h - Shared memory of a workgroup and who touched it ---------===//
//
// Two accesses of different waves are ordered if a barrier lies between the end
// of the first and the start of the second; an access that has been issued ends
// where its wave waits for it. All waves of a workgroup pass barriers together,
// so one number, the epoch, says between which two barriers we are. Each byte
// remembers the epoch and wave of its last write and of its last read, and the
// operation that is about to write it.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CHECK_MACHINE_SHARED_H
#define LIB_CHECK_MACHINE_SHARED_H

#include <cstdint>
#include <vector>

namespace modelc::check {

struct Wave;
struct Pending;

/// Bytes of shared memory.
struct ByteRange {
  uint32_t start = 0, bytes = 0;
};

/// Epoch 0 is before all.
struct ByteState {
  uint32_t writeEpoch = 0, readEpoch = 0;
  uint32_t inFlight = 0; // id of the pending operation that writes it
  uint8_t writer = 0, reader = 0;
  bool atomic = false, copied = false; // the last write was
};
constexpr uint8_t kSeveralWaves = 0xFF;

struct SharedMemoryState {
  std::vector<uint8_t> bytes;
  std::vector<ByteState> states;
};

/// How an instruction touches shared memory.
struct SharedUse {
  bool reads = false, writes = false, copies = false;
  bool isAtomic() const { return reads && writes; }
};

/// Appends lanes' bytes, joined with the last range where they touch it.
void addRange(std::vector<ByteRange> &ranges, uint32_t start, uint32_t bytes);

/// Checks bounds, races and bytes in flight, and notes the access as pending
/// from now on. False after a failure. `incoming` may give the bytes that will
/// be written: waves that copy the same bytes to the same place are no race.
bool touchShared(Wave &wave, Pending &pending, SharedUse use,
                 const std::vector<uint8_t> &incoming = {});
/// The operation has been waited for.
void retireShared(Wave &wave, const Pending &pending);

} // namespace modelc::check

#endif // LIB_CHECK_MACHINE_SHARED_H
