//===- Hardware.h - What a machine has, how fast, at what energy ----------===//
//
// A machine is a TOML file below targets/. It is read at run time into the
// plain struct Target; no chip is known to the compiler. Every number remembers
// the file, line, source and grade it came from.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_HARDWARE_HARDWARE_H
#define LIB_HARDWARE_HARDWARE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace modelc {

enum class Grade; // of lib/Support: how far a fact can be trusted

/// Where one value of a target came from.
struct Fact {
  std::string key;  // "memory.bandwidth", "clock.sustained.bf16", "mma.<name>"
  std::string text; // as written in the file: "8 TB/s"
  std::string unit; // of the member in Target: "B/s", "" for a plain number
  std::string meaning; // one line
  std::string source;  // the document or measurement
  Grade grade;
  std::string file; // empty for a value set on the command line
  unsigned line = 0;
};

/// Values per element type. The types are spelled "bf16", "f16", "f32",
/// "f8E4M3FN", "f8E4M3FNUZ", "f6E2M3FN", "f4E2M1FN", as MLIR spells them.
using ByType = std::map<std::string, double>;

/// [target]: names and the language that is emitted.
struct Identity {
  std::string name;     // of the file: "toy"
  std::string product;  // what the vendor calls it
  std::string family;   // architecture
  std::string isa;      // what the device compiler calls it
  std::string language; // of the emitted text: "hip" or "cuda"
  std::string prelude;  // path below targets/ of the device prelude
  std::string status;   // "shipping", "announced", "test"
};

/// [compiler]: how the emitted text becomes a binary.
struct Compiler {
  std::string driver;             // "clang" or "nvcc"
  std::vector<std::string> flags; // but input and output; {isa} is filled in
  std::string suffix;             // of the binary: "hsaco", "cubin"
};

/// [execution]: the units that run workgroups, and their issue rates.
struct Execution {
  int64_t waveSize = 0; // lanes of a wave
  int64_t units = 0;    // units of the GPU, each with its own shared memory
  int64_t chiplets = 0; // groups of units with an L2 of their own
  int64_t schedulersPerUnit = 0;  // waves that issue in one clock
  int64_t matrixPipesPerUnit = 0; // matrix instructions that run at once
  int64_t maxWavesPerUnit = 0;
  int64_t maxWorkgroupsPerUnit = 0;
  int64_t maxThreadsPerWorkgroup = 0;
  int64_t maxRegistersPerThread = 0; // of 4 bytes
  int64_t registerGranule =
      0; // registers per thread are allocated in this step
  int64_t registerBytesPerUnit = 0;
  int64_t maxClusterWorkgroups =
      1; // that share their shared memories, 1 = none
  bool reassignsRegisters =
      false; // waves of a workgroup can have different counts
  bool addsRoundingDown = false; // so that x + 1.5 * 2^23 holds floor(x)
  double fp32FlopPerClock = 0;   // of one unit, an fma counts two
  double exp2PerClock = 0;       // of one unit
  double waveIssueClocks = 0;    // between instructions of one wave alone; 0: 1
  double exp2StallsMatrix = 0;   // part of exponentials that products wait for
  double convertPerClock = 0;    // narrowing float conversions of one unit

  /// Registers of a lane of each of so many waves that fill a unit.
  int64_t registersOf(int64_t waves) const;
  /// The same of waves that hold sums beside a group of waves that copies and
  /// asks for products, and leaves its registers where it can.
  int64_t registersOfRole(int64_t waves) const;
};

/// Waves that change their registers together, and what a lane of them needs
/// for addresses of copies.
constexpr int64_t kWavesOfGroup = 4, kCopyRegisters = 40;

/// [clock]
struct Clock {
  double boostHz = 0; // the clock that the peak rates assume
  ByType sustainedHz; // measured under matrix load of a type; absent = boost
};

/// One width and direction of shared memory accesses. Lanes of a wave are
/// served in phases; only lanes of one phase can conflict. The phase of a lane
/// is linear over the bits of the lane number: the xor of phaseOfLaneBit[i] for
/// every set bit i.
struct SharedAccess {
  std::string kind;  // "read" or "write"
  int64_t bytes = 0; // that one lane moves
  int64_t banks = 0; // that this access sees
  std::vector<int64_t> phaseOfLaneBit;
};

/// [shared]: memory of a workgroup.
struct SharedMemory {
  int64_t bytesPerUnit = 0;
  int64_t maxBytesPerWorkgroup = 0;
  int64_t reservedBytesPerWorkgroup =
      0;                    // taken by the system from bytesPerUnit
  double bytesPerClock = 0; // of one unit
  int64_t banks = 0;
  int64_t bankBytes = 0;
  double latencyClocks = 0;
  std::vector<int64_t>
      transposedReadBits;          // element widths that a read can transpose
  int64_t transposedReadLanes = 0; // that must own neighbours then; 0: any do
  std::vector<SharedAccess> accesses;

  /// The row for an access, or null if the file has none.
  const SharedAccess *access(llvm::StringRef kind, int64_t bytes) const;
};

/// [tensor_memory]: accumulator memory of the matrix unit; columns = 0: none.
struct TensorMemory {
  int64_t columns = 0; // of 4 bytes in each lane
  int64_t lanes = 0;
  int64_t columnGranule = 0;    // allocations are powers of two, at least this
  double readBytesPerClock = 0; // of one unit, to registers
};

/// How a kernel learns that asynchronous copies have arrived.
enum class Completion { Counted, Barrier };

/// [copy]: moving global to shared memory without registers.
struct Copy {
  bool asyncToShared = false;
  int64_t bytesPerLane = 0; // widest copy of one lane
  bool laneContiguous =
      false;              // lane i writes base + i * bytesPerLane, nothing else
  int64_t maxPending = 0; // copies of a wave in flight that can be counted
  bool boxes = false;     // one thread copies a box of a tensor
  std::vector<int64_t> boxSwizzleBytes; // row widths that a box can swizzle
  bool multicast = false;      // a box can land in all workgroups of a cluster
  bool sharedToTensor = false; // shared to tensor memory
  Completion completion = Completion::Counted;
};

/// Who issues a matrix instruction and waits for it.
enum class MmaScope {
  Wave,   // all lanes of a wave, in order
  Group4, // four waves together, asynchronous, counted
  Single, // one thread, asynchronous, completion by barrier
};

/// Where an operand of a matrix instruction lies.
enum class OperandSpace { Register, Shared, Tensor };

/// Where elements of an operand live in registers: a linear map over index
/// bits. Entry i of `reg` and `lane` is the (row, column) image of bit i of the
/// register element and of the lane number (of the thread in its group of four
/// waves for Group4); images are joined by xor. A is (m, k), B is (n, k), C is
/// (m, n). Register elements are elements, not 32-bit words. Where n can be
/// chosen, C is that of nMax; smaller n drop the highest register bits. C in
/// tensor memory is as four waves receive it when they load it.
struct FragmentLayout {
  std::vector<std::pair<int64_t, int64_t>> reg, lane;
  bool empty() const { return reg.empty() && lane.empty(); }
};

/// [[mma]]: one matrix instruction: shape, types, speed, places and spelling.
struct MmaRow {
  std::string name;            // of the function or struct in the prelude
  std::string mnemonic;        // that the machine code must contain
  std::string plainMnemonic;   // that compilers take where scales are constants
  int64_t m = 0, n = 0, k = 0; // n is nMax where it can be chosen
  int64_t nMin = 0, nMax = 0, nStep = 0; // equal to n, n, n where it cannot
  std::string aType, bType, cType;
  std::string computeType; // that others are converted to first; empty: none
  bool scaled = false;     // takes block scales
  int64_t scaleBlock = 0;  // elements along k for each scale
  std::string scaleType;   // of one scale
  OperandSpace scaleSpace = OperandSpace::Register; // Tensor: 32 lanes x 4 B
  int64_t workgroups = 1; // of a cluster that multiply together: m is of one,
                          // each holds one part of the n rows of B
  MmaScope scope = MmaScope::Wave;
  OperandSpace aSpace = OperandSpace::Register;
  OperandSpace bSpace = OperandSpace::Register;
  bool bTransposed = false; // B may also lie as K x N in shared memory
  OperandSpace cSpace = OperandSpace::Register;
  double flopPerClock = 0;  // of one unit with all its matrix pipes busy
  double latencyClocks = 0; // until the result can be an operand
  double joulesPerFlop = 0; // 0 = as power.per_flop of its type
  FragmentLayout aLayout, bLayout, cLayout; // of operands in registers
  /// (row, block along k). In tensor memory of one wave's lanes, which all
  /// waves repeat; registers are bytes.
  FragmentLayout aScaleLayout, bScaleLayout;

  /// Where the word of row 2^i lies among those that one copy brings to tensor
  /// memory. Empty where scales lie in the order of rows.
  std::vector<int64_t> scaleOrder() const;

  /// The type that sets the rate and the energy: of a and b the wider.
  const std::string &ratedType() const;

  /// How often a product of `rows` rows reads each byte of B in shared memory:
  /// groups of waves do for each instruction's m. Tensor memory holds all rows.
  int64_t readsOfB(int64_t rows) const {
    return scope == MmaScope::Group4 ? (rows + m - 1) / m : 1;
  }
  /// The same of A, for columns that each issuer multiplies.
  int64_t readsOfA(int64_t columns) const {
    return scope == MmaScope::Group4 ? (columns + nMax - 1) / nMax : 1;
  }

  /// Operations of one instruction at width `width` (n if 0).
  double flop(int64_t width = 0) const {
    return 2.0 * m * (width ? width : n) * k;
  }
};

/// [memory]: of the device.
struct Memory {
  int64_t capacityBytes = 0; // usable
  double bandwidth = 0;      // B/s, peak
  double latencyClocks = 0;
};

/// [cache]
struct Cache {
  int64_t l2Bytes = 0;    // of the GPU, all chiplets
  double l2Bandwidth = 0; // B/s, all units
  /// B/clk that one unit takes in at most, and at which lanes can ask: those
  /// that copy wait until the last of them has. 0: a share of the above.
  double unitBytesPerClock = 0;
  double l2LatencyClocks = 0;
  int64_t lineBytes = 0;
  int64_t sectorBytes = 0; // of a line that an access moves at least; 0: all
  int64_t llcBytes = 0;    // cache between L2 and memory, 0 = none
  double llcBandwidth = 0;
  double llcLatencyClocks = 0;
};

/// [link]: between the GPUs of a scale-up domain, and beyond it.
struct Link {
  std::string kind;
  int64_t domain = 0;        // GPUs that reach each other
  double bandwidth = 0;      // B/s of one GPU, one direction, to all peers
  double pairBandwidth = 0;  // B/s from one GPU to one peer
  double libraryLatency = 0; // s, a small call of the library on 8 GPUs
  double pairLatency = 0;    // s, the same on two; 0: not known
  double libraryPipelineBytes = 0; // that the library has under way
  double libraryCopy = 0;      // B/s, it moves what a device keeps; 0: at once
  double messageLatency = 0;   // s, a small write to a peer
  double networkBandwidth = 0; // B/s of one GPU beyond the domain, one way
  double networkLatency = 0;   // s
};

/// [launch]
struct Launch {
  bool startsEarly = false;    // before the kernel that it then waits for ends
  double gap = 0;              // s, kernel to kernel inside a graph
  bool readsArguments = false; // from memory, before all else
  double workgroup = 0;        // s, from one's end to the next one's first load
  double ramp = 0;             // s, time constant of the rate of device memory
  double hostLaunch = 0;       // s, one launch from the host
  double graphReplay = 0;      // s, fixed cost of starting a graph
};

/// [power]. Matrix energy covers everything between shared memory and result.
struct Power {
  double tdp = 0;  // W
  double idle = 0; // W, clocks up but no work
  /// Joules of work on the chip go with clock ^ this, as its voltage rises with
  /// the clock; those of below hold at `atClockHz`, 0: at the boost clock.
  double clockExponent = 0, atClockHz = 0;
  ByType perFlop;           // J/flop
  double perVectorFlop = 0; // J/flop
  double perByteMemory = 0, perByteL2 = 0, perByteShared = 0,
         perByteLink = 0; // J/B
  double hostPerGpu = 0;  // W of host, network and fans for each GPU
  double pue = 1;         // power at the wall over power of the machines
};

/// [price]: dollars for one GPU and hour; a basis is never mixed with another.
struct Price {
  std::map<std::string, double>
      perHour; // by basis: "hyperscaler", "neocloud", "rental"
  std::string date;
};

/// [efficiency]: measured fractions of the peaks; the bound does not use them.
/// Those of the matrix unit are over the peak at the boost clock: they contain
/// the lower clock that power allows, so do not multiply by Clock::sustainedHz.
struct Efficiency {
  ByType matrix;        // best library on large squares
  double read = 1;      // of memory bandwidth, a read of more than 1 GB
  double copy = 1;      // of memory bandwidth
  double attention = 1; // of memory bandwidth, decode attention
  double link = 1;      // of link bandwidth, writes to peers
  double library = 1;   // of link bandwidth, calls of the library
  double switches = 0;  // of what calls reach, where switches add; 0: none do
  /// Of memory bandwidth, writing: what reading leaves a copy for its other
  /// half, all of it at most.
  double write() const { return 1 / std::max(1.0, 2 / copy - 1 / read); }
};

/// A machine. Plain data in SI base units (B, s, J, W, Hz, flop).
struct Target {
  Identity identity;
  Compiler compiler;
  Execution execution;
  Clock clock;
  SharedMemory shared;
  TensorMemory tensorMemory;
  Copy copy;
  std::vector<MmaRow> mma; // in the order of the file, preferred first
  Memory memory;
  Cache cache;
  Link link;
  Launch launch;
  Power power;
  Price price;
  Efficiency efficiency;
  std::map<std::string, Fact> facts;

  /// The fact behind a key ("memory.bandwidth"), or null.
  const Fact *fact(llvm::StringRef key) const;
  /// The instruction of that name, or null.
  const MmaRow *instruction(llvm::StringRef name) const;
  /// Operations per second of all units, an instruction at a clock (0: boost).
  double flopPerSecond(const MmaRow &row, double clockHz = 0) const;
  /// Clocks that one instruction of `width` columns (n if 0) occupies its pipe,
  /// or all pipes of the unit where four waves or one thread issue it.
  double clocksPerInstruction(const MmaRow &row, int64_t width = 0) const;
  /// From the end of one kernel to the first instruction of the next.
  double startSeconds() const;
  /// Bytes that a unit takes in a clock at most, or else its share of L2's.
  double portBytesPerClock(double clockHz) const;
  /// Trips before its use in which a loop loads what fills so many registers of
  /// a lane: memory answers while they multiply for `clocks` and copy `bytes`.
  int64_t tripsAhead(double clocks, double bytes, int64_t registers) const;
  /// Joules of work on the chip at a clock, over those of the facts.
  double joulesOver(double clockHz) const;
  /// The clock under matrix load of a type: measured, else boost.
  double sustainedHz(llvm::StringRef type) const;
  /// Rows of tiles that the units of one chiplet should span at a time: as near
  /// to a square as a power of two comes; those that they do span where
  /// neighbours go down `groupRows` whatever their chiplet.
  int64_t tileRowsOfChiplet(int64_t groupRows = 0) const;
  /// Slots of a ring of copies into `freeBytes` of shared memory that keep
  /// device memory busy while one of them is read: at most 8, at least 1.
  /// Barriers free a slot a trip later than a rendezvous of all waves.
  int64_t ringSlots(int64_t slotBytes, int64_t freeBytes,
                    bool hasBarriers) const;
};

/// The folder of targets in which no machines are described but who uses them.
inline constexpr llvm::StringLiteral kEnginesFolder = "engines";

/// Reads a target by name ("toy", searched in `searchDirs` and the folders
/// in them) or by path ("./mine.toml"). `overrides` are "key=value" as in the
/// file. Prints a located message for every mistake to `errors`.
llvm::FailureOr<Target> loadTarget(llvm::StringRef nameOrPath,
                                   llvm::ArrayRef<std::string> overrides,
                                   llvm::ArrayRef<std::string> searchDirs,
                                   llvm::raw_ostream &errors);

/// A target file that describes a product.
struct TargetFile {
  std::string name, path, product;
};

/// All products below `searchDirs`, by name.
std::vector<TargetFile> listTargets(llvm::ArrayRef<std::string> searchDirs);

} // namespace modelc

#endif // LIB_HARDWARE_HARDWARE_H
