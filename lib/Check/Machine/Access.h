//===- Access.h - One lane's bytes between memory and registers -----------===//

#ifndef LIB_CHECK_MACHINE_ACCESS_H
#define LIB_CHECK_MACHINE_ACCESS_H

#include "lib/Check/Machine/Lanes.h"
#include "llvm/ADT/ArrayRef.h"

namespace modelc::check {

/// Reads the bytes of one access into whole words.
void loadWords(const Shape &shape, const uint8_t *from, uint32_t *words);
/// The register after a load of 16 bits into one of its halves.
uint32_t mergeHalf(const Shape &shape, uint32_t old, uint32_t loaded);
/// Writes one lane's words.
void storeWords(const Shape &shape, const Source &data, unsigned lane,
                uint8_t *to);

/// What an atomic does to memory.
enum class Atomic : uint8_t {
  Swap,
  CompareSwap,  // data is new, second is compared with
  CompareStore, // the other way round
  Add,
  Sub,
  SignedMin,
  UnsignedMin,
  SignedMax,
  UnsignedMax,
  And,
  Or,
  Xor,
  Increment,
  Decrement,
  AddFloat,
  MinFloat,
  MaxFloat,
  AddHalfPair,
  AddBf16Pair,
};

/// The spellings of an atomic: behind `global_atomic_` and, for shared memory,
/// `ds_<shared>_<type>`. Empty where there is none.
struct AtomicName {
  Atomic operation;
  llvm::StringRef global32, global64, shared, sharedType32, sharedType64;
};
llvm::ArrayRef<AtomicName> atomicNames();

/// Changes 4 or 8 bytes and returns what was there.
uint64_t applyAtomic(const Shape &shape, uint8_t *at, uint64_t data,
                     uint64_t second);

/// The addresses of a memory instruction, null where a buffer is out of bounds.
struct LaneAddresses {
  uint8_t *at[kLanes] = {};
  bool isShared = false; // a flat access to shared memory: `offset` says where
  uint32_t offset[kLanes] = {};
};
/// Finds the bytes of all active lanes; false after a failure. `firstAddress`
/// is the operand where the address begins (of buffers, the offset).
bool locate(Wave &wave, const Instruction &instruction, unsigned firstAddress,
            unsigned bytes, bool forWriting, LaneAddresses &to);

} // namespace modelc::check

#endif // LIB_CHECK_MACHINE_ACCESS_H
