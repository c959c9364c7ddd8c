//===- Cost.h - Seconds, joules and bytes of schedules --------------------===//
//
// Joins what ops ask for (WorkOpInterface and the structure of the IR) with
// what a target offers. Two steps: `readKernel` turns a kernel at given sizes
// into amounts in plain structs, `estimate` turns amounts into time and energy.
// The second step alone serves those who compare many schedules before any IR
// exists. Nothing here knows a kernel family.
//
// Two numbers are kept apart everywhere. The *bound* is what the schedule
// allows on ideal hardware: peak rates at the boost clock. The *expectation*
// takes the measured efficiencies of the target file and the board's power.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_COST_COST_H
#define LIB_COST_COST_H

#include "lib/Cost/ExpertLoad.h"
#include "lib/Cost/StepShape.h"
#include "lib/Hardware/Hardware.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
namespace func {
class FuncOp;
} // namespace func
} // namespace mlir

namespace modelc {

namespace schedule {
class KernelOp;
} // namespace schedule

/// Value of an `expect` expression: names, numbers, + - * / ^, parentheses,
/// min(a, b), max(a, b), ceildiv(a, b), floordiv(a, b). `why` says what was
/// expected and at which column.
llvm::FailureOr<double> evaluateExpression(llvm::StringRef text,
                                           const Bindings &bindings,
                                           std::string &why);

//===----------------------------------------------------------------------===//
// Explanations
//===----------------------------------------------------------------------===//

/// One line of an explanation: a number, the sum it came from, and the keys of
/// the target's facts that went into it.
struct Term {
  std::string name;
  double value = 0;
  std::string unit; // "s", "J", "B", "clk", "" for a plain number
  std::string formula;
  std::vector<std::string> facts;
  std::vector<Term> children;
};

/// Prints the tree, then every fact used with its value, grade and source.
void printTerm(const Term &term, const Target &target, llvm::raw_ostream &os);

//===----------------------------------------------------------------------===//
// Work of a kernel in amounts
//===----------------------------------------------------------------------===//

/// What one execution of a step by one workgroup asks of the units.
struct Amounts {
  const MmaRow *row = nullptr; // of the matrix operations
  double matrixFlop = 0;
  double vector = 0;       // scalar float and integer operations
  double exp2 = 0;         // transcendental operations
  double convert = 0;      // conversions between float types
  double sharedBytes = 0;  // by lanes and products
  double boxBytes = 0;     // of boxes in shared memory, beside these
  double sharedClocks = 0; // beyond bytes over rate, by bank conflicts
  double tensorBytes = 0;  // read from tensor memory
  double globalBytes = 0;  // asked of L2
  double linkBytes = 0;    // asked of peers
};

/// What a step waits for and what it makes others wait for.
enum class StepKind {
  Load,      // global memory to registers; its users wait
  Shared,    // shared or tensor memory to or from registers
  Store,     // to global memory; nobody waits
  Copy,      // to shared memory, in the background
  Matrix,    // on the matrix unit, in order with the stream
  MatrixRun, // on the matrix unit, in the background
  Vector,    // on the vector units, in order with the stream
  Exchange,  // through shared memory with rendezvous, in order
  Wait,      // holds the stream until its edges allow
  Sync,      // rendezvous of the workgroup
  Signal,    // a message to another stream or device
  Loop,      // a nested block
};

/// An order between two steps of a block.
struct Edge {
  enum class Kind {
    Complete,   // after all of the other
    Piece,      // after the first piece of the other has arrived
    Accumulate, // after the other's accumulator can be added to
    Issue,      // after the other was issued
  };
  unsigned from = 0;
  unsigned distance = 0; // in trips: `from` ran that many trips earlier
  Kind kind = Kind::Complete;
};

/// One op in a block.
struct Step {
  std::string label;
  StepKind kind = StepKind::Vector;
  unsigned stream = 0;     // steps of one stream issue in order
  double executions = 1;   // mean, of one trip of the block
  unsigned pieces = 1;     // of its operands that it takes one after the other
  int access = -1;         // index into KernelWork::accesses
  int nested = -1;         // index into KernelWork::blocks
  double extraLatency = 0; // clocks: lookups of a page table; results that
                           // pass through shared memory
  bool meetsPeer = false;  // a signal to another device, or a read from it
  double syncs = 0;
  double laneCopies = 0; // of 16 bytes, by all lanes
  /// Of a trip, asked for by copies of lanes: the step is over when the unit's
  /// port to L2 has taken them.
  double askedBytes = 0;
  Amounts amounts;
  llvm::SmallVector<Edge, 4> after;
};

/// The body of a loop, or of a workgroup (block 0).
struct Body {
  std::string label;
  double trips = 1;    // mean, of one execution of the loop
  unsigned groups = 1; // of waves that run apart and fill each other's gaps
  std::vector<Step> steps;
};

/// How an access depends on one index of the grid.
struct GridUse {
  bool depends = false;
  /// Number of the address class of each index value; empty = all differ.
  std::vector<uint32_t> classes;
  /// Of what is walked at one index value, the part that is not at the next.
  double fresh = 1;
  bool operator==(const GridUse &) const = default;
};

/// One op that touches global memory.
struct Access {
  std::string name;          // of the buffer
  double bytes = 0;          // of one execution, mean, within the limits
  double executions = 1;     // mean, of one workgroup
  double walked = 1;         // different tiles among those executions
  std::vector<GridUse> uses; // for each index of the grid
  double bufferBytes = 0;    // of the buffer, 0 = unknown
  bool writes = false;
  bool paged = false;    // through a page table or a vector of rows
  bool peer = false;     // of another device
  double sharers = 1;    // workgroups that ask for a part each, for all
  bool resident = false; // a cache holds the buffer from the kernel before
  bool isRepeat = false; // the workgroup has read the same bytes before
  double early = 0; // bytes of the kernel, asked for while earlier ones run
};

/// All that time and energy of a kernel depend on.
struct KernelWork {
  std::string name;
  std::vector<double> grid;  // workgroups along each index, last fastest
  int64_t orderChiplets = 1; // of schedule::GridOrder
  int64_t orderRows = 1;
  int64_t waves = 4;       // of a workgroup
  int64_t sharedBytes = 0; // of a workgroup
  int64_t registersPerThread = 0;
  int64_t mostOfUnit = 0; // workgroups that the kernel lets run at once; 0: any
  int64_t tensorColumns = 0;
  double longest = 1;   // longest workgroup over the mean
  bool follows = false; // roles go on to the next tile before this one is done
  int64_t turns = 1;    // groups of waves that take tiles in turns
  bool startsNextLate = false; // schedule::startsNextLate
  std::vector<Access> accesses;
  std::vector<Body> blocks; // a nested block stands behind its parent
  double workgroups() const;
  double earlyBytes() const; // of all accesses
};

//===----------------------------------------------------------------------===//
// Cost of a kernel
//===----------------------------------------------------------------------===//

/// What can limit a kernel, beside the latency of its dependences.
enum class Resource {
  Matrix,
  Vector,
  Exp2,
  Convert,
  Shared,
  TensorMemory,
  Port,      // of one unit to L2
  L2,        // of all units
  LastLevel, // cache between L2 and memory
  Memory,
  Link,
};
inline constexpr unsigned kResources = 11;
/// "matrix unit", "device memory", ...
llvm::StringRef resourceName(Resource resource);

/// Bytes that move below L2, of a whole kernel.
struct Traffic {
  double l2 = 0;                // asked of L2
  double lastLevel = 0;         // that miss L2
  double read = 0, written = 0; // of device memory
  double link = 0;
  double memory() const { return read + written; }
};

struct Estimate {
  double seconds = 0;
  double joules = 0;
  double clockHz = 0;
  /// What binds: a resource, "latency" or "launch".
  std::string limit;
};

struct CostOptions {
  bool explain = false;  // fill the terms
  bool chosen = false;   // not a candidate: follow its loops event by event
  bool compared = false; // with others: the expectation alone, no bound
  bool evidence = false; // count what a package says of its kernels
  double cacheBytesTaken = 0; // of the last cache, by what must stay
  bool early = false;         // all that a kernel alone asks for early has come
  /// Index arguments and buffers by name that the kernel before left in cache.
  std::vector<std::string> resident;
};

/// One trip of the loop in which a workgroup does most of its work, or all of a
/// workgroup where it has no loop.
struct TripCost {
  double trips = 1;
  double conflictClocks = 0; // of shared memory, by bank conflicts
  double waits = 0, syncs = 0;
};

/// What can be counted of a kernel before it runs.
struct Evidence {
  std::string perUnitBy; // the fact that limits workgroups on a unit
  int64_t registersPerThread = 0;
  TripCost trip;
  double leastBytes = 0;  // of device memory: each byte that moves, once
  double peakSeconds = 0; // matrix work or least bytes over peak, the longer
  Resource peakOf = Resource::Memory;
};

struct KernelCost {
  std::string name;
  Estimate bound, expectation;
  double workgroups = 0;
  double workgroupsPerUnit = 0; // that run at once
  double rounds = 0;
  double matrixFlop = 0;
  double sharedBytes = 0;
  Traffic traffic;
  Evidence evidence; // filled by CostOptions::evidence
  Term time, energy; // of the expectation; filled by CostOptions::explain
};

/// The amounts of a kernel in its final form (or the plain form: then nothing
/// overlaps) at sizes `bindings`. Emits located errors.
llvm::FailureOr<KernelWork> readKernel(schedule::KernelOp kernel,
                                       const Target &target,
                                       const Bindings &bindings,
                                       const CostOptions &options = {});

/// Whether what a kernel has written is still in the last cache when the next
/// one reads it: what fits there twice.
bool staysCached(double bytes, const Target &target);

/// Time and energy of one launch that is repeated for long.
KernelCost estimate(const KernelWork &work, const Target &target,
                    const CostOptions &options = {});

/// Both steps.
llvm::FailureOr<KernelCost> costKernel(schedule::KernelOp kernel,
                                       const Target &target,
                                       const Bindings &bindings,
                                       const CostOptions &options = {});

//===----------------------------------------------------------------------===//
// Cost of a plan
//===----------------------------------------------------------------------===//

/// One launch or collective of a plan.
struct StepCost {
  std::string label;
  double count = 1; // executions in the plan
  bool collective = false;
  KernelCost cost; // of one execution
  Bindings sizes;  // arguments of the kernel; filled by CostOptions::evidence
  std::string plan = {}; // of several in turn the one that it is of
};

/// A tensor of the checkpoint, or several as one, on one device.
struct StoredWeight {
  std::string source; // schedule.alloc's pattern: `["head" split 0 of 2]`
  double bytes = 0;   // of one
  double count = 1;   // one for each layer
};

/// Bytes that a plan allocates, by role.
struct PlanStorage {
  double weights = 0, caches = 0, workspace = 0, other = 0;
  std::vector<StoredWeight> tensors;
};

struct PlanCost {
  std::string name;
  std::vector<StepCost> steps;
  Estimate bound, expectation; // sums
  PlanStorage storage;
  double launches = 0;
  double starts = 1;           // of the captured graph
  Term startTime, startEnergy; // of one start
  Term power;                  // mean watts of the board, and the clock
};

/// The plan so many times.
PlanCost repeated(PlanCost plan, double times);

/// Plans that run one after the other as one of that name. Clock and power are
/// those of the longest.
PlanCost inTurn(std::string name, std::vector<PlanCost> plans);

class KnownLaunches;

/// Costs the plans of a module; what several launch alike is read once. Nothing
/// of the module changes meanwhile.
class PlanCoster {
public:
  PlanCoster(mlir::ModuleOp module, const Target &target);
  ~PlanCoster();
  /// Time and energy of all launches and collectives of a plan, at the one
  /// clock that the board's power allows it. `bindings` holds the plan's size
  /// arguments and the symbols of the workload.
  llvm::FailureOr<PlanCost> cost(mlir::func::FuncOp plan,
                                 const Bindings &bindings,
                                 const CostOptions &options = {});
  /// The same of a step; `beside` holds what the step does not say. Kernels
  /// that walk the new tokens of sequences are launched for each group.
  llvm::FailureOr<PlanCost> cost(mlir::func::FuncOp plan, const StepShape &step,
                                 const Bindings &beside,
                                 const CostOptions &options = {});

private:
  const Target &target;
  std::unique_ptr<KnownLaunches> launches;
};

/// Time and energy of a collective of `bytes` for each device over `group`.
/// Verbs: all_reduce, all_gather, reduce_scatter, all_to_all, broadcast.
llvm::FailureOr<KernelCost> costCollective(llvm::StringRef verb, double bytes,
                                           int64_t group, const Target &target,
                                           const CostOptions &options = {});

/// Makes `--schedule-print-cost` known.
void registerCostPasses();

/// A trip whose copies ask memory for `busy` clocks and take `waiting` from the
/// first to the last: requests queue before memory is busy all the time. The
/// exponent after reads with 8, 16 and 32 KiB on their way to each unit, which
/// reach 0.48, 0.76 and 0.96 of what more of them do (test/gpu/facts.cu).
double queuedClocks(double busy, double waiting);

/// Clocks that memory takes longer than the `busy` ones of its full rate, which
/// it approaches with the time constant `ramp`: with
/// busy = t - ramp (1 - exp(-t / ramp)), t - busy.
double lagClocks(double busy, double ramp);

} // namespace modelc

#endif // LIB_COST_COST_H
