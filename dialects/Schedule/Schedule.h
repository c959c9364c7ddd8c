#ifndef MODELC_DIALECTS_SCHEDULE_SCHEDULE_H
#define MODELC_DIALECTS_SCHEDULE_SCHEDULE_H

#include "dialects/Schedule/Layout.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Schedule/ScheduleDialect.h.inc"
#include "dialects/Schedule/ScheduleEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Schedule/ScheduleAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Schedule/ScheduleTypes.h.inc"

namespace modelc::schedule {

/// Elements narrower than a byte lie packed: `vector<2xf4E2M1FN>` is one stored
/// element of a tile or buffer. How many numbers a stored element holds, and
/// their type.
int64_t packedNumbers(mlir::Type element);
mlir::Type numberType(mlir::Type element);

/// Scales of blocks lie packed in words of so many, neighbours along K.
inline constexpr int64_t kScalesPerWord = 4;

/// What divides the rows and columns of a tile outside of registers that are no
/// power of two: boxes and descriptors go in groups of so many rows.
inline constexpr int64_t kRowsOfWholeTile = 8;

/// Columns of tensor memory that one slot of a place takes. 128 rows of an
/// accumulator share a column. Words of scales lie in 32 lanes, which the
/// others repeat.
int64_t tensorColumns(TileType place);
/// Whether a place holds words of scales.
bool holdsScales(TileType place);
/// The waves that run an op: of its role, or of the kernel.
int64_t wavesOf(mlir::Operation *op);

/// One amount of work of one execution of an op by one workgroup.
struct Work {
  enum class Kind {
    Move,     ///< `amount` bytes from `from` to `to`
    Matrix,   ///< `amount` flops (2 M N K) by instruction `unit` on `element`
    Vector,   ///< `amount` scalar operations of class `unit`: "fma" (1 flop
              ///< classes add, multiply, compare, select), "exp2" (exp, log,
              ///< rsqrt, divide: the transcendental unit), "convert", "integer"
    Exchange, ///< `amount` bytes moved between lanes of a wave
    Sync,     ///< `amount` rendezvous at `scope`
    Wait,     ///< `amount` waits
    Message,  ///< `amount` signals at `scope`
    Launch,   ///< `amount` kernel launches
  };
  Kind kind;
  double amount = 0;
  Space from = Space::None, to = Space::None;
  /// Matrix: the type of the operands (the wider one where they differ).
  mlir::Type element;
  /// Matrix: the row of the target's table; vector: the class.
  llvm::StringRef unit;
  Scope scope = Scope::Workgroup;
};

/// What the guard of a kernel says of one size argument: it lies in one of the
/// ranges.
struct SizeDemand {
  llvm::StringRef argument;
  llvm::SmallVector<RangeAttr, 1> ranges;

  bool holds(int64_t size) const;
  /// What meets it and is nearest to a size.
  int64_t nearest(int64_t size) const;
};

/// What a kernel does with a buffer that is launched with it.
struct BufferRole {
  bool isRead = false; ///< what it held before
  bool isWritten = false;
  bool reachesPeers = false; ///< the buffers of that name on other devices
};

/// What `order` of a loop on workgroups means: the tile that each workgroup
/// computes, by its number in the order of launch. A bijection.
struct GridOrder {
  int64_t chiplets = 1;  ///< that own neighbouring tiles
  int64_t groupRows = 1; ///< of the last two indices, walked together
  GridOrder(llvm::ArrayRef<int64_t> order = {});
  /// The indices of a grid of `extents`, the last two in groups of rows.
  void indicesOf(int64_t workgroup, llvm::ArrayRef<int64_t> extents,
                 llvm::SmallVectorImpl<int64_t> &indices) const;
};

} // namespace modelc::schedule

#include "dialects/Schedule/WorkOpInterface.h.inc"

namespace modelc::schedule {
class YieldOp;
class LoopOp;
} // namespace modelc::schedule

#define GET_OP_CLASSES
#include "dialects/Schedule/ScheduleOps.h.inc"

namespace modelc::schedule {

/// Whether the function is a plan: the launches of a step.
bool isPlan(mlir::Operation *function);
/// The names of the sizes of the run that a plan takes as its arguments.
llvm::SmallVector<llvm::StringRef> sizeNamesOf(mlir::Operation *plan);

/// Whether the next kernel of the stream is started when results are stored,
/// not at once: workgroups that stream operands through a whole unit should not
/// crowd on those units that the ones before them leave first. Measured
/// (test/gpu): 80 workgroups that read 2 MB each take 57 us so, 41 us on units
/// that are all free.
bool startsNextLate(KernelOp kernel);

/// Products of a loop whose first operand it carries: what the trip before has
/// made.
llvm::SmallVector<MmaOp> lateProducts(LoopOp loop);

/// Copies and loads `ahead` in front of a product, behind whatever holds all
/// waves or multiplies before: those of lanes can go out between its
/// instructions. Copies in front of such loads cannot.
llvm::SmallVector<mlir::Operation *> askedBefore(MmaOp product);

/// Of so many elements of a lane, `fma_exponentials` of a map counts a share.
inline constexpr int64_t kExponentialsShared = 8;

/// Registers of 4 bytes of one thread that hold its part of `tile`; as if it
/// were spread evenly where it has no layout yet. None for a place.
int64_t registersOf(TileType tile, int64_t threads);

/// Registers of 4 bytes that the tiles of one thread fill where most are alive.
int64_t registersPerThread(KernelOp kernel, int64_t waveSize);

/// What predictions add to them for addresses, indices and constants.
inline constexpr int64_t kAddressRegisters = 24;

/// The same where a loop that reads ahead also loads scales from global memory:
/// its trips are written out, and each lane has 64 bits of address for each
/// load. MXFP4 tiles of 256 x 128 and 128 x 256 in four pieces take 64 and 74
/// where no more are left, 128 x 128 takes 43.
inline constexpr int64_t kAddressRegistersOfLoads = 80;

} // namespace modelc::schedule

#endif // MODELC_DIALECTS_SCHEDULE_SCHEDULE_H
