//===- PtxMachine.h - State of a launch, its workgroups and waves ---------===//

#ifndef LIB_CHECK_PTX_PTXMACHINE_H
#define LIB_CHECK_PTX_PTXMACHINE_H

#include "lib/Check/Memory.h"
#include "lib/Check/Ptx/PtxClock.h"
#include "lib/Check/Ptx/PtxProgram.h"
#include "lib/Hardware/Hardware.h"
#include "llvm/ADT/Twine.h"
#include <deque>
#include <functional>
#include <map>
#include <memory>

namespace modelc::ptx {

struct Block;
struct KernelRun;

/// What of a wave works beside it; each is an actor with its own clock. Actors
/// are numbered waves first, then the first queue of all waves, and so on.
enum class Queue : uint8_t {
  Copies,      // of 16 bytes, ordinary accesses
  StoreReads,  // box stores: shared memory is read
  StoreWrites, // and they are done
  Matrix,      // into registers
  Tensor,      // into tensor memory
  TensorLoads,
  TensorStores,
};
constexpr unsigned kQueues = unsigned(Queue::TensorStores) + 1;

/// Groups of operations that a wave waits for by their number.
struct Groups {
  uint32_t time = 1;            // of operations issued now
  std::vector<uint32_t> closed; // time of each group
  bool any = false;             // operations since the last group

  /// The time up to which all is done when `pending` groups may be left.
  uint32_t waitedFor(uint64_t pending) const {
    return closed.size() > pending ? closed[closed.size() - 1 - pending] : 0;
  }
  void close() {
    closed.push_back(time++);
    any = false;
  }
};

/// Lanes of a wave that are at the same instruction.
struct Path {
  enum class State : uint8_t { Ready, Converging, Polling };
  Mask lanes = 0;
  uint32_t next = 0;
  State state = State::Ready;
};

/// 32 lanes.
struct Warp {
  enum class State : uint8_t { Ready, AtBarrier, Asleep, Ended };

  Block *block = nullptr;
  unsigned number = 0; // in its workgroup
  unsigned rank = 0;   // of its workgroup in the cluster
  unsigned id = 0;     // among all waves of the cluster
  State state = State::Ready;
  Mask live = 0;     // lanes that have not ended
  Mask active = 0;   // that do the current instruction
  Mask followed = 0; // that have waited for earlier kernels
  std::vector<Path> paths;
  size_t path = 0; // the one that runs
  const Instruction *current = nullptr;
  std::vector<uint32_t> registers;
  std::vector<Mask> predicates;
  std::vector<uint8_t> local; // [lane][bytes of private memory]
  /// By row: when its value is there, if an operation in flight brings it, and
  /// until when an operation in flight reads it.
  std::vector<Stamp> incoming, outgoing;
  bool hasInFlight = false;

  Knowledge knowledge;
  Clock tensor; // what its operations on tensor memory come behind
  Groups groups[kQueues];
  unsigned barrier = 0;        // that it waits at: Block::numberOf
  uint32_t barrierThreads = 0; // 0: all
  bool matrixFenced = false;   // since its last wait for matrix operations
  unsigned matrixIssued = 0;
  /// Waited-for loads and stores of tensor memory that a fence has made known.
  uint32_t publishedLoads = 0, publishedStores = 0;

  Path &running() { return paths[path]; }
  uint32_t actor(Queue queue) const;
  /// Its clock now, as a stamp.
  Stamp now() const { return stampOf(id, knowledge.all.timeOf(id)); }
  /// When an operation of a queue issued now will be done.
  Stamp stamp(Queue queue) const {
    return stampOf(actor(queue), groups[unsigned(queue)].time);
  }
  template <typename Word>
  Word *row(const Operand &operand) {
    return reinterpret_cast<Word *>(
        &registers[sizeof(Word) == 8 ? operand.wideRow : operand.row]);
  }
  /// The value of one lane as 64 bits, zero-extended.
  uint64_t value(const Operand &operand, unsigned lane);
  void setValue(const Operand &operand, unsigned lane, uint64_t value);
  Mask predicate(const Operand &operand) const {
    return predicates[operand.row] ^ (operand.negated ? kAllLanes : 0);
  }
  /// What others may learn when this wave arrives somewhere; time goes on.
  Knowledge release();
  void acquire(const Knowledge &other) { knowledge.join(other); }
  /// Whether the active lanes may touch global memory that earlier kernels may
  /// still use; fails if not: `what` begins the message.
  bool mayTouch(uint64_t address, const llvm::Twine &what);
  /// Bytes of global memory; null, and the run ends, where the kernel has none
  /// there or may not touch it yet: `what` begins the message.
  uint8_t *findGlobal(uint64_t address, uint64_t bytes, bool writes,
                      const llvm::Twine &what);
  /// Ends the run with a message about the current instruction.
  void fail(const llvm::Twine &message);
};

/// A barrier in shared memory.
struct Barrier {
  uint32_t actor = 0;
  uint32_t count = 0, pending = 0;    // arrivals of a phase, still to come
  int64_t bytes = 0;                  // expected and not yet there
  uint32_t phase = 0, firstPhase = 0; // counted on when initialised again
  uint32_t thread = 0;                // of the cluster, that has initialised it
  Stamp initialised = 0;              // when
  Stamp published = 0; // when a fence made that known to units; 0: never
  Knowledge arriving, done;
};

/// An asynchronous operation that has not happened yet.
struct Late {
  Warp *from = nullptr;
  const Instruction *instruction = nullptr;
  std::function<void()> run;
};

/// Tensor memory: 128 lanes x 512 columns of 32 bits.
struct TensorMemory {
  static constexpr unsigned kRows = 128, kColumns = 512, kPart = 32;
  std::vector<uint32_t> words;
  Cells cells; // [part of 32 lanes][column]
  std::map<uint32_t, uint32_t> taken;
  unsigned workgroups = 1; // that took them together
  bool relinquished = false;
  uint32_t &at(unsigned row, unsigned column) {
    return words[size_t(row) * kColumns + column];
  }
};

/// A workgroup, or all of a cluster: what they share is the order of things,
/// and each other's shared memory.
struct Block {
  /// Barriers by number of a workgroup.
  static constexpr unsigned kBarriers = 16;

  KernelRun *launch = nullptr;
  std::vector<std::array<uint32_t, 3>> indices; // of each workgroup
  std::vector<Warp> warps;                      // one workgroup's, the next's
  std::vector<uint8_t> shared; // of each workgroup, from kSharedStart
  Cells cells;                 // a byte each
  std::map<uint32_t, Barrier> barriers;
  std::vector<std::string> actors; // what they are, for messages
  /// At barriers by number, of each workgroup; then at that of the cluster.
  std::vector<Knowledge> arrived;
  std::vector<uint32_t> arrivedThreads;
  std::deque<Late> late[2];          // multiplications go before copies
  std::vector<TensorMemory> tensors; // of each workgroup
  std::vector<std::vector<uint64_t>> matrixLog; // of four waves each
  uint32_t atomics = 0, atomicTime = 0;         // actor of atomic operations

  unsigned ranks() const { return unsigned(indices.size()); }
  unsigned wavesOfOne() const { return unsigned(warps.size()) / ranks(); }
  unsigned numberOf(unsigned rank, unsigned barrier) const {
    return rank * kBarriers + barrier;
  }
  unsigned barrierOfCluster() const { return ranks() * kBarriers; }
  /// Where the byte at a shared address lies in `shared`.
  size_t placeOf(uint32_t address) const;
  uint32_t addActor(std::string what);
  std::string describe(Stamp stamp) const;
};

/// One kernel on its arguments.
struct KernelRun {
  const Program *program = nullptr;
  std::vector<uint64_t> executed; // by instruction, once a wave
  check::AddressSpace memory;
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  uint32_t cluster = 1; // workgroups that start together
  uint32_t sharedBytes = 0, dynamicBytes = 0;
  uint64_t parameterAddress = 0;
  bool startsEarly = false; // beside kernels before it
  const Target *target = nullptr;
  check::Counts counts;
  uint64_t progress = 0; // stores and atomics that a polling wave may wait for
  std::string fault;
};

/// How an instruction or a unit touches shared memory.
struct SharedUse {
  bool writes = false;
  bool async = false; // by a unit that sees ordinary writes only behind a fence
  Stamp stamp = 0;
};
/// Shared addresses hold the rank of the workgroup in the upper 8 bits. What a
/// program computes names its own there, 0, or another, its rank + 1.
constexpr unsigned kRankShift = 24;
inline uint32_t ofRank(uint32_t address, unsigned rank) {
  return (address & ((1u << kRankShift) - 1)) | rank << kRankShift;
}
/// The address that one of a program means; fails if there is no such rank.
bool resolveShared(Warp &warp, uint32_t &address);
/// The bytes at a shared address; null after a failure (bounds, races).
uint8_t *touchShared(Warp &warp, uint32_t address, uint32_t bytes,
                     const SharedUse &use);

/// The 32-bit shared address that a lane names, generic or not.
bool sharedAddress(Warp &warp, const Operand &operand, unsigned lane,
                   uint32_t &address);

/// The cluster of a number, at its first instruction.
std::unique_ptr<Block> makeBlock(KernelRun &launch, uint64_t number);
/// Fails if something is left in flight when a workgroup has ended.
void checkEnd(Block &block);
/// Runs all workgroups; false when the launch has a fault.
bool runGrid(KernelRun &launch, uint64_t maxInstructions);

/// Prints what was counted as JSON.
void printReport(const KernelRun &launch, llvm::raw_ostream &os);

} // namespace modelc::ptx

#endif // LIB_CHECK_PTX_PTXMACHINE_H
