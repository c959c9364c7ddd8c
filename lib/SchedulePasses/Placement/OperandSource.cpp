#include "lib/SchedulePasses/Placement/OperandSource.h"
#include "lib/SchedulePasses/Pipeline/Trips.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// Bytes of a row beyond which it is cut into columns of spans.
constexpr int64_t kWidestSpanBytes = 128;
/// Rows that one box may have.
constexpr int64_t kMostBoxRows = 256;
/// Bytes that rows of a buffer of boxes are whole multiples of (CUDA driver
/// API, cuTensorMapEncodeTiled: globalStrides).
constexpr int64_t kBoxRowBytes = 16;

bool modelc::isCopyable(LoadOp load, const Target &target) {
  auto buffer = cast<BufferType>(load.getSource().getType());
  auto tile = cast<TileType>(load.getResult().getType());
  int64_t last = buffer.getRank() - 1, bits = tile.getElementBits();
  int64_t pieceBits = target.copy.bytesPerLane * 8;
  bool alongRow = !load.getDims() || (*load.getDims())[1] == last;
  int64_t extent = buffer.getShape()[last];
  return target.copy.asyncToShared && alongRow && !load.getPeer() &&
         !load.getAhead() && !ShapedType::isDynamic(extent) &&
         extent * bits % pieceBits == 0 &&
         tile.getColumns() * bits % pieceBits == 0 &&
         tile.getNumElements() * bits / 8 >=
             target.copy.bytesPerLane * target.execution.waveSize;
}

/// Whether the host can know the value when it describes a tensor to the copy
/// unit: a constant or a size of the run.
static bool isKnownToHost(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return matchPattern(value, m_Constant()) ||
         (argument && isa<KernelOp>(argument.getOwner()->getParentOp()));
}

/// Whether a swizzle of the matrix unit knows rows of such a tile.
static bool hasSwizzle(TileType tile, const Target &target) {
  int64_t rowBytes = tile.getColumns() * tile.getElementBits() / 8;
  return llvm::is_contained(target.copy.boxSwizzleBytes,
                            std::min(rowBytes, kWidestSpanBytes));
}

/// The load of a buffer that only products read, with rows that a swizzle of
/// the matrix unit knows; null if there is none.
static LoadOp loadForMatrixUnit(Value operand, const Target &target) {
  auto load = operand.getDefiningOp<LoadOp>();
  bool fits = load && isa<BufferType>(load.getSource().getType()) &&
              !load.getTransposed() && !load.getToken() &&
              llvm::all_of(operand.getUsers(), llvm::IsaPred<MmaOp>);
  return fits && hasSwizzle(cast<TileType>(operand.getType()), target)
             ? load
             : LoadOp();
}

/// Whether the copy unit can be told how far apart the rows of the buffer lie.
static bool hasRowsOfBoxes(LoadOp load) {
  auto buffer = cast<BufferType>(load.getSource().getType());
  int64_t columns = buffer.getShape().back();
  int64_t bits = cast<TileType>(load.getResult().getType()).getElementBits();
  return ShapedType::isDynamic(columns) ||
         columns * bits % (kBoxRowBytes * 8) == 0;
}

bool modelc::isBox(Value operand, const Target &target) {
  LoadOp load = loadForMatrixUnit(operand, target);
  return load && target.copy.boxes && !load.getRows() && !load.getPageTable() &&
         !load.getDims() &&
         cast<BufferType>(load.getSource().getType()).getRank() == 2 &&
         hasRowsOfBoxes(load) && llvm::all_of(load.getValid(), isKnownToHost) &&
         cast<TileType>(operand.getType()).getRows() <= kMostBoxRows;
}

bool modelc::isBoxOfScales(Value scales, const Target &target) {
  auto load = scales.getDefiningOp<LoadOp>();
  auto buffer =
      load ? dyn_cast<BufferType>(load.getSource().getType()) : BufferType();
  return buffer && buffer.getPacked() && target.copy.boxes &&
         target.copy.sharedToTensor &&
         llvm::all_of(load.getValid(), isKnownToHost) &&
         llvm::all_of(scales.getUsers(), llvm::IsaPred<MmaOp>) &&
         cast<TileType>(scales.getType()).getColumns() <= kMostBoxRows;
}

bool modelc::isCopiedByLanes(Value operand, const Target &target) {
  LoadOp load = loadForMatrixUnit(operand, target);
  return load && isCopyable(load, target);
}

Value modelc::handedOn(Value value, Block *block) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = dyn_cast<LoopOp>(block->getParentOp());
  if (!argument || !loop || argument.getOwner() != block ||
      loop.getKind() != LoopKind::Sequence) {
    return value;
  }
  unsigned first = loop.getInductionVars().size();
  return argument.getArgNumber() < first
             ? value
             : loop.getYield().getValues()[argument.getArgNumber() - first];
}

bool modelc::isStoredByWaves(MmaOp mma, Value operand, const Target &target) {
  auto map = handedOn(operand, mma->getBlock()).getDefiningOp<MapOp>();
  return map && map->getBlock() == mma->getBlock() &&
         hasSwizzle(cast<TileType>(operand.getType()), target);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

bool modelc::isRepeated(Operation *op) {
  auto loop = op->getParentOfType<LoopOp>();
  for (; loop; loop = loop->getParentOfType<LoopOp>()) {
    bool isGrid = loop.getKind() == LoopKind::Workgroups;
    if (isGrid ? loop.getPersistent() : !isCondition(loop)) {
      return true;
    }
  }
  return false;
}

/// Whether the value is a tile of zeros.
static bool isZero(Value tile) {
  auto map = tile.getDefiningOp<MapOp>();
  if (!map || !map.getInputs().empty()) {
    return false;
  }
  Value yielded = map.getBody().front().getTerminator()->getOperand(
      cast<OpResult>(tile).getResultNumber());
  return matchPattern(yielded, m_AnyZeroFloat());
}

/// Whether the loop stands in a grid that is not persistent, alone or within a
/// condition.
static bool isOfOneTile(LoopOp loop) {
  auto around = dyn_cast<LoopOp>(loop->getParentOp());
  if (around && around.getKind() == LoopKind::Sequence && isCondition(around)) {
    around = dyn_cast<LoopOp>(around->getParentOp());
  }
  return around && around.getKind() == LoopKind::Workgroups &&
         !around.getPersistent();
}

bool modelc::isCarriedFromZero(MmaOp mma) {
  auto loop = dyn_cast<LoopOp>(mma->getParentOp());
  auto argument = dyn_cast<BlockArgument>(mma.getAccumulator());
  if (!loop || loop.getKind() != LoopKind::Sequence || !argument ||
      argument.getOwner() != &loop.getBody().front() || !argument.hasOneUse()) {
    return false;
  }
  unsigned index = argument.getArgNumber() - 1;
  return isOfOneTile(loop) && mma.getResult().hasOneUse() &&
         loop.getYield().getValues()[index] == mma.getResult() &&
         isZero(loop.getInits()[index]);
}

bool modelc::isFresh(MmaOp mma) {
  auto loop = dyn_cast<LoopOp>(mma->getParentOp());
  return loop && loop.getKind() == LoopKind::Sequence && !isRepeated(loop) &&
         isZero(mma.getAccumulator()) &&
         llvm::all_of(mma.getResult().getUsers(), llvm::IsaPred<MapOp>);
}

bool modelc::isFedByBoxes(MmaOp mma, const Target &target) {
  bool hasRoles = mma->getParentOfType<KernelOp>().getRoles();
  return llvm::all_of(mma->getBlock()->getOps<MmaOp>(), [&](MmaOp other) {
    bool isOrdered = isCarriedFromZero(other) || (hasRoles && isFresh(other));
    return isOrdered && !other.getBTransposed() &&
           isBox(other.getA(), target) && isBox(other.getB(), target) &&
           (!other.getAScales() || (isBoxOfScales(other.getAScales(), target) &&
                                    isBoxOfScales(other.getBScales(), target)));
  });
}

/// The value of a loop that a map of the accumulator's shape takes alone.
static Value mappedFrom(Value accumulator, Block *block) {
  auto map = accumulator.getDefiningOp<MapOp>();
  if (!map || map->getBlock() != block || map.getNumResults() != 1 ||
      !accumulator.hasOneUse()) {
    return accumulator;
  }
  auto isWhole = [&](Value input) {
    return isa<BlockArgument>(input) &&
           input.getType() == accumulator.getType();
  };
  auto found = llvm::find_if(map.getInputs(), isWhole);
  return found == map.getInputs().end() ? accumulator : *found;
}

/// Whether a loop of at most one trip only maps the one value that it carries.
static MapOp mapWithin(LoopOp loop) {
  auto &body = loop.getBody().front();
  Value yielded =
      loop.getInits().size() == 1 ? loop.getYield().getValues()[0] : Value();
  auto map = yielded ? yielded.getDefiningOp<MapOp>() : MapOp();
  return map && isCondition(loop) && map->getBlock() == &body &&
                 loop.getCarried()[0].hasOneUse()
             ? map
             : MapOp();
}

Operation *modelc::changedAfter(MmaOp mma) {
  Value result = mma.getResult();
  Operation *user = result.hasOneUse() ? *result.user_begin() : nullptr;
  bool fits = user && user->getBlock() == mma->getBlock() &&
              user->getNumResults() == 1 && user->getResult(0).hasOneUse() &&
              user->getResult(0).getType() == result.getType();
  auto loop = dyn_cast_or_null<LoopOp>(user);
  return fits && (isa<MapOp>(user) || (loop && mapWithin(loop))) ? user
                                                                 : nullptr;
}

MapOp modelc::changeOf(Operation *after) {
  auto loop = dyn_cast<LoopOp>(after);
  return loop ? mapWithin(loop) : cast<MapOp>(after);
}

BlockArgument modelc::carriedAccumulator(MmaOp mma) {
  auto loop = dyn_cast<LoopOp>(mma->getParentOp());
  auto argument = dyn_cast<BlockArgument>(
      mappedFrom(mma.getAccumulator(), mma->getBlock()));
  if (!loop || loop.getKind() != LoopKind::Sequence || !argument ||
      argument.getOwner() != mma->getBlock() || !argument.hasOneUse() ||
      !mma.getResult().hasOneUse()) {
    return {};
  }
  unsigned index = argument.getArgNumber() - loop.getInductionVars().size();
  Operation *after = changedAfter(mma);
  bool isChangedAfter = after && argument == mma.getAccumulator();
  Value sums = isChangedAfter ? after->getResult(0) : mma.getResult();
  bool isHandedOn = loop.getYield().getValues()[index] == sums;
  return isHandedOn && isZero(loop.getInits()[index]) ? argument
                                                      : BlockArgument();
}

/// The product of the same trip to which this one adds, or null.
static MmaOp addsTo(MmaOp mma) {
  auto before = mma.getAccumulator().getDefiningOp<MmaOp>();
  bool isOwn = before && before->getBlock() == mma->getBlock() &&
               before.getResult().hasOneUse();
  return isOwn ? before : MmaOp();
}

/// Whether several products read what the trip before has handed on: its place
/// is filled anew behind one of them.
static bool sharesHandedOn(MmaOp mma) {
  auto argument = dyn_cast<BlockArgument>(mma.getA());
  return argument && argument.getOwner() == mma->getBlock() &&
         handedOn(argument, mma->getBlock()) != argument &&
         !argument.hasOneUse();
}

bool modelc::isDrained(MmaOp mma) {
  if (MmaOp before = addsTo(mma)) {
    return isDrained(before);
  }
  if (sharesHandedOn(mma)) {
    return false;
  }
  auto loop = dyn_cast<LoopOp>(mma->getParentOp());
  return loop && loop.getKind() == LoopKind::Sequence && !isRepeated(loop) &&
         (isZero(mma.getAccumulator()) || carriedAccumulator(mma));
}
