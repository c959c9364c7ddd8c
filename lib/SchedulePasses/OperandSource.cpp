#include "lib/SchedulePasses/OperandSource.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// Bytes of a row beyond which it is cut into columns of spans.
constexpr int64_t kWidestSpanBytes = 128;
/// Rows that one box may have.
constexpr int64_t kMostBoxRows = 256;

bool modelc::isCopyable(LoadOp load, const Target &target) {
  auto buffer = cast<BufferType>(load.getSource().getType());
  auto tile = cast<TileType>(load.getResult().getType());
  int64_t last = buffer.getRank() - 1, bits = tile.getElementBits();
  int64_t pieceBits = target.copy.bytesPerLane * 8;
  bool alongRow = !load.getDims() || (*load.getDims())[1] == last;
  int64_t extent = buffer.getShape()[last];
  return target.copy.asyncToShared && alongRow && !load.getPeer() &&
         !ShapedType::isDynamic(extent) && extent * bits % pieceBits == 0 &&
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

/// The load of a buffer that only products read, with rows that a swizzle of
/// the matrix unit knows; null if there is none.
static LoadOp loadForMatrixUnit(Value operand, const Target &target) {
  auto load = operand.getDefiningOp<LoadOp>();
  if (!load || !isa<BufferType>(load.getSource().getType()) ||
      load.getTransposed() || load.getToken() ||
      !llvm::all_of(operand.getUsers(), llvm::IsaPred<MmaOp>)) {
    return {};
  }
  auto tile = cast<TileType>(operand.getType());
  int64_t rowBytes = tile.getColumns() * tile.getElementBits() / 8;
  bool hasSwizzle = llvm::is_contained(target.copy.boxSwizzleBytes,
                                       std::min(rowBytes, kWidestSpanBytes));
  return hasSwizzle ? load : LoadOp();
}

bool modelc::isBox(Value operand, const Target &target) {
  LoadOp load = loadForMatrixUnit(operand, target);
  return load && target.copy.boxes && !load.getRows() && !load.getPageTable() &&
         !load.getDims() &&
         cast<BufferType>(load.getSource().getType()).getRank() == 2 &&
         llvm::all_of(load.getValid(), isKnownToHost) &&
         cast<TileType>(operand.getType()).getRows() <= kMostBoxRows;
}

bool modelc::isCopiedByLanes(Value operand, const Target &target) {
  LoadOp load = loadForMatrixUnit(operand, target);
  return load && isCopyable(load, target);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

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

bool modelc::isCarriedFromZero(MmaOp mma) {
  auto loop = dyn_cast<LoopOp>(mma->getParentOp());
  auto argument = dyn_cast<BlockArgument>(mma.getAccumulator());
  if (!loop || loop.getKind() != LoopKind::Sequence || !argument ||
      argument.getOwner() != &loop.getBody().front() || !argument.hasOneUse()) {
    return false;
  }
  unsigned index = argument.getArgNumber() - 1;
  auto grid = dyn_cast<LoopOp>(loop->getParentOp());
  return grid && grid.getKind() == LoopKind::Workgroups &&
         !grid.getPersistent() && mma.getResult().hasOneUse() &&
         loop.getYield().getValues()[index] == mma.getResult() &&
         isZero(loop.getInits()[index]);
}

bool modelc::isFedByBoxes(MmaOp mma, const Target &target) {
  return llvm::all_of(mma->getBlock()->getOps<MmaOp>(), [&](MmaOp other) {
    return isCarriedFromZero(other) && !other.getBTransposed() &&
           isBox(other.getA(), target) && isBox(other.getB(), target);
  });
}
