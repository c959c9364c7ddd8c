//===- OrderGrid.cpp - Which workgroup computes which tile ----------------===//

#include "lib/SchedulePasses/Machine.h"
#include "lib/SchedulePasses/SchedulePasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include <algorithm>

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// Workgroups that are launched one after the other lie along the rows of a
/// group: clusters are whole where a group has whole ones.
static LogicalResult checkCluster(KernelOp kernel) {
  int64_t cluster = kernel.getCluster().value_or(1);
  GridOrder order(kernel.getGrid().getOrder().value_or(ArrayRef<int64_t>()));
  if (order.groupRows % cluster || (cluster > 1 && order.chiplets > 1)) {
    return kernel.emitOpError("expected an order of one chiplet in groups of "
                              "whole clusters of ")
           << cluster << " rows, got groups of " << order.groupRows << " on "
           << order.chiplets << " chiplets";
  }
  return success();
}

LogicalResult modelc::orderGrid(KernelOp kernel, const Target &target) {
  LoopOp grid = kernel.getGrid();
  bool multiplies = kernel.walk([](MmaOp) { return WalkResult::interrupt(); })
                        .wasInterrupted();
  // The last two axes are of tiles: all there are, or as the kernel says.
  bool isOrdered = grid.getInductionVars().size() == 2 || kernel.getOrdered() ||
                   kernel.getOrderedRows();
  if (!grid.getOrder() && multiplies && isOrdered) {
    int64_t rows = kernel.getOrderedRows().value_or(target.tileRowsOfChiplet());
    grid.setOrder(ArrayRef<int64_t>{
        std::max<int64_t>(target.execution.chiplets, 1), rows});
  }
  return checkCluster(kernel);
}

namespace modelc {
#define GEN_PASS_DEF_SCHEDULEORDERGRID
#include "lib/SchedulePasses/Passes.h.inc"

namespace {
struct OrderGrid : impl::ScheduleOrderGridBase<OrderGrid> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(
            runOnKernels(getOperation(), targetsDir, overrides, orderGrid))) {
      signalPassFailure();
    }
  }
};
} // namespace
} // namespace modelc
