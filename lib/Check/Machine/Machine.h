//===- Machine.h - State of a launch, its workgroups and waves ------------===//

#ifndef LIB_CHECK_MACHINE_MACHINE_H
#define LIB_CHECK_MACHINE_MACHINE_H

#include "lib/Check/Machine/Code.h"
#include "lib/Check/Machine/Instruction.h"
#include "lib/Check/Machine/Shared.h"
#include "lib/Check/Memory.h"
#include "lib/Hardware/Hardware.h"
#include "llvm/ADT/Twine.h"
#include <array>
#include <memory>
#include <vector>

namespace modelc::check {

struct Group;
struct KernelRun;

/// The counters that waits look at.
enum class Counter : uint8_t { Vector, Local };

/// A memory operation of a wave that has not been waited for.
struct Pending {
  uint32_t id = 0;
  const Instruction *from = nullptr;
  bool onVector = false;                     // counts in vmcnt, in order
  bool onLocal = false;                      // counts in lgkmcnt,
  bool unordered = false;                    // out of order there
  uint16_t firstRegister = 0, registers = 0; // that it will write
  bool writesShared = false, readsShared = false, copies = false;
  std::vector<ByteRange> shared;
};

/// 64 lanes and the program counter they share.
struct Wave {
  enum class State : uint8_t { Ready, AtBarrier, Asleep, Ended };

  Group *group = nullptr;
  unsigned number = 0;
  State state = State::Ready;
  bool scc = false;
  uint32_t next = 0; // instruction
  const Instruction *current = nullptr;
  std::array<uint32_t, kScalarRegisters> scalar = {};
  std::vector<uint32_t> vector; // [kVectorRegisters][kLanes]
  std::vector<uint8_t> scratch; // [kLanes][bytes of private memory]
  std::vector<Pending> pending; // oldest first
  /// Id of the pending operation that writes a register, vector ones first.
  std::array<uint32_t, kVectorRegisters + kScalarRegisters> owner = {};
  unsigned ownedRegisters = 0;

  uint32_t *row(unsigned index) { return &vector[index * kLanes]; }
  uint64_t pair(unsigned index) const {
    return scalar[index] | uint64_t(scalar[index + 1]) << 32;
  }
  void setPair(unsigned index, uint64_t value) {
    scalar[index] = uint32_t(value);
    scalar[index + 1] = uint32_t(value >> 32);
  }
  uint64_t exec() const { return pair(kExec); }
  bool isActive(unsigned lane) const { return exec() >> lane & 1; }
  /// Ends the run with a message about the current instruction.
  void fail(const llvm::Twine &message);
};

/// A workgroup: waves and shared memory.
struct Group {
  KernelRun *launch = nullptr;
  std::array<uint32_t, 3> index = {};
  std::vector<Wave> waves;
  SharedMemoryState shared;
  uint32_t epoch = 1;  // barriers passed, from 1
  uint32_t lastId = 0; // of pending operations
};

/// One kernel on its arguments.
struct KernelRun {
  const Kernel *kernel = nullptr;
  std::vector<Instruction> code;
  std::vector<uint64_t> executed; // by instruction, once a wave
  std::vector<uint64_t> drained;  // waits that emptied a counter not empty
  AddressSpace memory;
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  uint32_t sharedBytes = 0;
  uint64_t kernargAddress = 0, dispatchAddress = 0;
  bool openFormats = false; // 8-bit floats are those of the OCP
  const Target *target = nullptr;
  Counts counts;
  uint64_t stores = 0; // progress that a sleeping wave may wait for
  std::string fault;
};

/// Registers a pending operation of the current instruction.
Pending &issue(Wave &wave);
/// Marks the registers that an operation will write.
void ownRegisters(Wave &wave, Pending &pending, unsigned first, unsigned count);
/// Waits until at most `count` operations are left on a counter.
void waitFor(Wave &wave, Counter counter, unsigned count);
/// Fails if an operand of the instruction is not there yet.
void checkOperands(Wave &wave, const Instruction &instruction);
/// Why an operation is still in flight, for messages.
std::string describe(const Pending &pending);

/// Runs all workgroups; false when the launch has a fault.
bool runGrid(KernelRun &launch, uint64_t maxInstructions);

/// Prints what was counted as JSON.
void printReport(const KernelRun &launch, llvm::raw_ostream &os);

} // namespace modelc::check

#endif // LIB_CHECK_MACHINE_MACHINE_H
