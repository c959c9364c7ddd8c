//===- Shared.cpp - Bounds, races and bytes in flight ---------------------===//

#include "lib/Check/Machine/Shared.h"
#include "lib/Check/Machine/Machine.h"

using namespace modelc::check;

void modelc::check::addRange(std::vector<ByteRange> &ranges, uint32_t start,
                             uint32_t bytes) {
  if (!ranges.empty() && ranges.back().start + ranges.back().bytes == start) {
    ranges.back().bytes += bytes;
  } else {
    ranges.push_back({start, bytes});
  }
}

static bool overlap(const ByteRange &a, const ByteRange &b) {
  return a.start < b.start + b.bytes && b.start < a.start + a.bytes;
}

static const Pending *findPending(const Group &group, uint32_t id,
                                  unsigned &wave) {
  for (const Wave &other : group.waves) {
    for (const Pending &pending : other.pending) {
      if (pending.id == id) {
        wave = other.number;
        return &pending;
      }
    }
  }
  return nullptr;
}

static std::string byWave(unsigned number) {
  return number == kSeveralWaves ? "several waves"
                                 : "wave " + std::to_string(number);
}

/// The wave's own reads and writes of shared memory happen in order, but not
/// its copies, which come from elsewhere.
static bool inOrder(const Wave &wave, unsigned otherWave, const Pending &other,
                    SharedUse use) {
  return otherWave == wave.number && !other.copies && !use.copies;
}

/// Bytes that some operation is about to write.
static bool checkInFlight(Wave &wave, uint32_t byte, const ByteState &state,
                          SharedUse use) {
  unsigned number = 0;
  const Pending *other = findPending(*wave.group, state.inFlight, number);
  if (!other || inOrder(wave, number, *other, use)) {
    return true;
  }
  wave.fail(llvm::Twine(use.writes ? "writes" : "reads") + " byte " +
            llvm::Twine(byte) + " of shared memory, but " + describe(*other) +
            " in wave " + llvm::Twine(number));
  return false;
}

static bool checkRace(Wave &wave, uint32_t byte, const ByteState &state,
                      SharedUse use) {
  uint32_t now = wave.group->epoch;
  bool ordered = state.atomic && use.isAtomic();
  if (state.writeEpoch == now && state.writer != wave.number && !ordered) {
    wave.fail(llvm::Twine("race: ") + (use.writes ? "writes" : "reads") +
              " byte " + llvm::Twine(byte) + " of shared memory that " +
              byWave(state.writer) + " wrote since the last barrier");
    return false;
  }
  if (use.writes && state.readEpoch == now && state.reader != wave.number &&
      !ordered) {
    wave.fail("race: writes byte " + llvm::Twine(byte) +
              " of shared memory that " + byWave(state.reader) +
              " read since the last barrier");
    return false;
  }
  return true;
}

/// Reads of other waves that a write might overtake.
static bool checkPendingReads(Wave &wave, const Pending &mine, SharedUse use) {
  for (const Wave &other : wave.group->waves) {
    for (const Pending &pending : other.pending) {
      if (!pending.readsShared || pending.id == mine.id ||
          inOrder(wave, other.number, pending, use)) {
        continue;
      }
      for (const ByteRange &read : pending.shared) {
        for (const ByteRange &written : mine.shared) {
          if (overlap(read, written)) {
            wave.fail("writes byte " +
                      llvm::Twine(std::max(read.start, written.start)) +
                      " of shared memory, but " + describe(pending) +
                      " in wave " + llvm::Twine(other.number));
            return false;
          }
        }
      }
    }
  }
  return true;
}

static void noteRead(ByteState &state, uint32_t epoch, unsigned wave) {
  bool another = state.readEpoch == epoch && state.reader != wave;
  state.reader = another ? kSeveralWaves : uint8_t(wave);
  state.readEpoch = epoch;
}

static void noteWrite(ByteState &state, uint32_t epoch, unsigned wave) {
  state.writer = uint8_t(wave);
  state.writeEpoch = epoch;
}

/// A copy of bytes that another wave's copy has brought since the barrier.
static bool isRepeated(const Wave &wave, const ByteState &state) {
  return state.copied && state.writeEpoch == wave.group->epoch &&
         state.readEpoch != wave.group->epoch;
}

bool modelc::check::touchShared(Wave &wave, Pending &pending, SharedUse use,
                                const std::vector<uint8_t> &incoming) {
  SharedMemoryState &shared = wave.group->shared;
  size_t at = 0;
  for (const ByteRange &range : pending.shared) {
    uint64_t end = uint64_t(range.start) + range.bytes;
    if (end > shared.states.size()) {
      wave.fail("accesses bytes " + llvm::Twine(range.start) + " to " +
                llvm::Twine(end - 1) +
                " of shared memory, but the workgroup has " +
                llvm::Twine(shared.states.size()));
      return false;
    }
    for (uint32_t byte = range.start; byte < end; ++byte) {
      ByteState &state = shared.states[byte];
      bool same = !incoming.empty() && incoming[at++] == shared.bytes[byte];
      if (same && isRepeated(wave, state)) {
        ++wave.group->launch->counts.repeatedBytes;
      } else if ((state.inFlight && !checkInFlight(wave, byte, state, use)) ||
                 !checkRace(wave, byte, state, use)) {
        return false;
      }
      if (use.reads && !use.writes) {
        noteRead(state, wave.group->epoch, wave.number);
      }
      if (use.writes) {
        noteWrite(state, wave.group->epoch, wave.number);
        state.inFlight = pending.id;
        state.atomic = use.isAtomic();
        state.copied = use.copies;
      }
    }
  }
  pending.readsShared = use.reads;
  pending.writesShared = use.writes;
  pending.copies = use.copies;
  return !use.writes || checkPendingReads(wave, pending, use);
}

void modelc::check::retireShared(Wave &wave, const Pending &pending) {
  for (const ByteRange &range : pending.shared) {
    for (uint32_t byte = range.start; byte < range.start + range.bytes;
         ++byte) {
      ByteState &state = wave.group->shared.states[byte];
      if (pending.writesShared && state.inFlight == pending.id) {
        state.inFlight = 0;
        noteWrite(state, wave.group->epoch, wave.number);
      } else if (pending.readsShared && !pending.writesShared) {
        noteRead(state, wave.group->epoch, wave.number);
      }
    }
  }
}
