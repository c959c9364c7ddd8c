//===- PairWorkgroups.cpp - The workgroups of a cluster multiply together -===//
//
// Neighbours along the rows of the grid read the same b. Where an instruction
// multiplies for all workgroups of a cluster, each loads its part of the rows
// of b only, so that b comes through L2 and shared memory once for the cluster:
//
//   %y = load %w[%column, %k] : tile<256x64>       mma %acc, %x, %y
//   becomes, in a cluster of two,
//   %part = %i rem 2 * 128
//   %y = load %w[%column + %part, %k] : tile<128x64>
//   mma %acc, %x, %y {workgroups = 2}
//
// Scales of blocks of b are small and each unit multiplies all columns: every
// workgroup loads those of all rows.
//
// Where instructions multiply for one workgroup, each asks for its part of what
// all read alike and sends it to all: the load is marked as `multicast`.
//
// The rows of the grid become a multiple of the cluster. What the added ones
// read and write lies beyond the limits of every access. "Rows" are the last
// axis of the grid but one: those of the weight where that is the first
// operand; before it there may be one of parts of the sum.
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Machine.h"
#include "lib/SchedulePasses/Pipeline/Trips.h"
#include "lib/SchedulePasses/Placement/OperandSource.h"
#include "lib/SchedulePasses/Placement/Places.h"
#include "lib/SchedulePasses/SchedulePasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

namespace {
class PairWorkgroups {
public:
  PairWorkgroups(KernelOp kernel, const Target &target)
      : kernel(kernel), target(target),
        cluster(kernel.getCluster().value_or(1)) {
    kernel.walk([&](MmaOp mma) { mmas.push_back(mma); });
  }
  /// Whether instructions multiply for all workgroups of a cluster.
  bool isPossible();
  void run();
  /// Whether they read an operand alike, each beside one of its own.
  bool canMulticast();
  void multicast();

private:
  size_t rowAxis() { return kernel.getGrid().getInductionVars().size() - 2; }
  bool hasCluster();
  bool hasInstruction(MmaOp mma);
  bool multipliesInRegisters(MmaOp mma);
  bool dependsOnRow(Value value);
  bool dependsOnRow(LoadOp load);
  bool sharesB(MmaOp mma);
  LoadOp loadedAlike(MmaOp mma);
  Value growRows();
  bool endsInGroup(LoadOp load);
  bool hasWholeClusters();
  bool clipsRows();
  void splitLoad(LoadOp load, Value rank);

  KernelOp kernel;
  const Target &target;
  int64_t cluster;
  SmallVector<MmaOp> mmas;
};
} // namespace

//===----------------------------------------------------------------------===//
// Legality
//===----------------------------------------------------------------------===//

/// Clusters are neighbours in the order of their launch: along the rows of a
/// grid of rows and columns on one chiplet.
bool PairWorkgroups::hasCluster() {
  LoopOp grid = kernel.getGrid();
  return cluster <= target.execution.maxClusterWorkgroups &&
         target.execution.chiplets <= 1 &&
         grid.getInductionVars().size() >= 2 && !grid.getPersistent() &&
         grid.getSteps().empty() && !grid.getOrder() &&
         constantIndex(grid.getLowerBounds()[rowAxis()]) == 0;
}

bool PairWorkgroups::hasInstruction(MmaOp mma) {
  std::string a =
      targetSpelling(numberType(mma.getA().getType().getElementType()));
  std::string b =
      targetSpelling(numberType(mma.getB().getType().getElementType()));
  auto hasScales = [&](const MmaRow &row) {
    if (!mma.getAScales()) {
      return !row.scaled;
    }
    TileType words = mma.getAScales().getType();
    int64_t numbers = mma.getA().getType().getColumns() *
                      packedNumbers(mma.getA().getType().getElementType());
    return row.scaleType ==
               targetSpelling(numberType(words.getElementType())) &&
           row.scaleBlock * words.getRows() * kScalesPerWord == numbers;
  };
  return llvm::any_of(target.mma, [&](const MmaRow &row) {
    return row.workgroups == cluster && row.aType == a && row.bType == b &&
           hasScales(row) &&
           mma.getAccumulator().getType().getRows() == row.m &&
           mma.getB().getType().getRows() <= row.nMax;
  });
}

bool PairWorkgroups::dependsOnRow(Value value) {
  Operation *op = value.getDefiningOp();
  return value == kernel.getGrid().getInductionVars()[rowAxis()] ||
         (op && llvm::any_of(op->getOperands(), [&](Value operand) {
            return dependsOnRow(operand);
          }));
}

bool PairWorkgroups::dependsOnRow(LoadOp load) {
  return llvm::any_of(load->getOperands(),
                      [&](Value value) { return dependsOnRow(value); });
}

/// What all workgroups of a cluster load for a product, or null.
LoadOp PairWorkgroups::loadedAlike(MmaOp mma) {
  if (!isFedByBoxes(mma, target) || mma.getAScales()) {
    return {};
  }
  auto a = mma.getA().getDefiningOp<LoadOp>();
  auto b = mma.getB().getDefiningOp<LoadOp>();
  LoadOp alike = dependsOnRow(a) ? b : a, own = alike == a ? b : a;
  constexpr int64_t kRowsOfSwizzle = 8;
  int64_t rows = cast<TileType>(alike.getResult().getType()).getRows();
  bool isShared = a != b && dependsOnRow(own) && !dependsOnRow(alike) &&
                  cast<BufferType>(alike.getSource().getType()).getRank() == 2;
  return isShared && rows % (kRowsOfSwizzle * cluster) == 0 ? alike : LoadOp();
}

/// Whether all workgroups of a cluster load the same b, each with an a of its
/// own.
bool PairWorkgroups::sharesB(MmaOp mma) {
  auto a = mma.getA().getDefiningOp<LoadOp>();
  auto b = mma.getB().getDefiningOp<LoadOp>();
  return isFedByBoxes(mma, target) && a != b &&
         llvm::any_of(a.getOffsets(),
                      [&](Value offset) { return dependsOnRow(offset); }) &&
         llvm::none_of(b->getOperands(),
                       [&](Value value) { return dependsOnRow(value); }) &&
         mma.getB().getType().getRows() % cluster == 0 &&
         (!mma.getBScales() || !dependsOnRow(mma.getBScales()));
}

/// Whether the load reads a row of a group, of a buffer that holds whole
/// groups, and the rows that the grid grows by begin no new one.
bool PairWorkgroups::endsInGroup(LoadOp load) {
  auto buffer = cast<BufferType>(load.getSource().getType());
  auto tile = dyn_cast<TileType>(load.getResult().getType());
  ValueRange offsets = load.getOffsets();
  auto group = offsets.empty()
                   ? arith::DivSIOp()
                   : offsets.front().getDefiningOp<arith::DivSIOp>();
  auto row =
      group ? offsets.back().getDefiningOp<arith::RemSIOp>() : arith::RemSIOp();
  if (!tile || !row || group->getOperands() != row->getOperands()) {
    return false;
  }
  int64_t rows = std::max(tile.getRows(), tile.getColumns());
  int64_t ofGroup = buffer.getShape().back();
  return constantIndex(row.getRhs()) == ofGroup &&
         ofGroup % (cluster * rows) == 0;
}

bool PairWorkgroups::hasWholeClusters() {
  std::optional<int64_t> rows =
      constantIndex(kernel.getGrid().getUpperBounds()[rowAxis()]);
  return rows && *rows % cluster == 0;
}

/// Whether no row is added, or every access that goes with the row says where
/// rows end; a box of scales ends with its buffer, which holds those of whole
/// groups of rows.
bool PairWorkgroups::clipsRows() {
  return hasWholeClusters() ||
         !kernel
              .walk([&](Operation *op) {
                bool isOpen = false;
                if (auto load = dyn_cast<LoadOp>(op)) {
                  isOpen = load.getValid().empty() &&
                           !isBoxOfScales(load.getResult(), target) &&
                           !endsInGroup(load) &&
                           llvm::any_of(load.getOffsets(), [&](Value offset) {
                             return dependsOnRow(offset);
                           });
                } else if (auto store = dyn_cast<StoreOp>(op)) {
                  isOpen = store.getValid().empty();
                }
                return WalkResult(failure(isOpen));
              })
              .wasInterrupted();
}

/// Whether waves multiply, and say themselves when they have left a slot.
bool PairWorkgroups::multipliesInRegisters(MmaOp mma) {
  std::string a =
      targetSpelling(numberType(mma.getA().getType().getElementType()));
  std::string b =
      targetSpelling(numberType(mma.getB().getType().getElementType()));
  return llvm::none_of(target.mma, [&](const MmaRow &row) {
    return row.cSpace == OperandSpace::Tensor && row.aType == a &&
           row.bType == b;
  });
}

bool PairWorkgroups::canMulticast() {
  return target.copy.multicast && kernel.getRoles() && hasCluster() &&
         !mmas.empty() &&
         llvm::all_of(mmas,
                      [&](MmaOp mma) {
                        return multipliesInRegisters(mma) && loadedAlike(mma);
                      }) &&
         clipsRows();
}

bool PairWorkgroups::isPossible() {
  return kernel.getRoles() && hasCluster() && !mmas.empty() &&
         llvm::all_of(
             mmas,
             [&](MmaOp mma) { return hasInstruction(mma) && sharesB(mma); }) &&
         clipsRows();
}

//===----------------------------------------------------------------------===//
// Parts of b
//===----------------------------------------------------------------------===//

/// The part of the rows that the workgroup of this rank holds.
void PairWorkgroups::splitLoad(LoadOp load, Value rank) {
  auto tile = cast<TileType>(load.getResult().getType());
  int64_t rows = tile.getRows() / cluster;
  Location loc = load.getLoc();
  OpBuilder builder(load);
  Value first = load.getOffsets()[0];
  if (Operation *maker = first.getDefiningOp()) {
    builder.setInsertionPointAfter(kernel.getGrid()->isProperAncestor(maker)
                                       ? maker
                                       : rank.getDefiningOp());
  }
  Value size = constantOf(builder, loc, rows);
  Value part = arith::MulIOp::create(builder, loc, rank, size);
  Value own = arith::AddIOp::create(
      builder, NameLoc::get(builder.getStringAttr("part")), first, part);
  load.getOffsetsMutable().slice(0, 1).assign(own);
  load.getResult().setType(
      TileType::get({rows, tile.getColumns()}, tile.getElementType()));
}

/// Whole clusters of rows; the rank of a workgroup in its own.
Value PairWorkgroups::growRows() {
  LoopOp grid = kernel.getGrid();
  Location loc = grid.getLoc();
  OpBuilder builder(grid);
  Value count = constantOf(builder, loc, cluster);
  Value clusters = arith::CeilDivSIOp::create(
      builder, loc, grid.getUpperBounds()[rowAxis()], count);
  Value rows = arith::MulIOp::create(builder, loc, clusters, count);
  grid.getUpperBoundsMutable().slice(rowAxis(), 1).assign(rows);
  builder.setInsertionPointToStart(&grid.getBody().front());
  return arith::RemSIOp::create(builder,
                                NameLoc::get(builder.getStringAttr("rank")),
                                grid.getInductionVars()[rowAxis()], count);
}

void PairWorkgroups::multicast() {
  growRows().getDefiningOp()->erase();
  for (MmaOp mma : mmas) {
    loadedAlike(mma)->setAttr(kMulticast, UnitAttr::get(mma.getContext()));
  }
}

void PairWorkgroups::run() {
  Value rank = growRows();
  SmallPtrSet<Operation *, 2> split;
  for (MmaOp mma : mmas) {
    auto load = mma.getB().getDefiningOp<LoadOp>();
    if (split.insert(load).second) {
      splitLoad(load, rank);
    }
    mma.setWorkgroups(cluster);
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult modelc::pairWorkgroups(KernelOp kernel, const Target &target) {
  bool isPaired =
      kernel
          .walk([](MmaOp mma) {
            return WalkResult(failure(mma.getWorkgroups().has_value()));
          })
          .wasInterrupted();
  if (!kernel.getCluster() || isPaired) {
    return success();
  }
  PairWorkgroups pair(kernel, target);
  if (pair.isPossible()) {
    pair.run();
  } else if (pair.canMulticast()) {
    pair.multicast();
  } else {
    kernel.removeClusterAttr();
  }
  return success();
}

namespace modelc {
#define GEN_PASS_DEF_SCHEDULEPAIRWORKGROUPS
#include "lib/SchedulePasses/Passes.h.inc"

namespace {
struct PairWorkgroupsPass
    : impl::SchedulePairWorkgroupsBase<PairWorkgroupsPass> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(runOnKernels(getOperation(), targetsDir, overrides,
                            pairWorkgroups))) {
      signalPassFailure();
    }
  }
};
} // namespace
} // namespace modelc
