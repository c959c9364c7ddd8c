//===- Inference.cpp - What every order of operands asks of a kernel ------===//

#include "lib/SchedulePasses/Layouts/Inference.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

static int64_t elementsOf(Value value) {
  return cast<TileType>(value.getType()).getNumElements();
}

/// How often an op runs for each run of the kernel's grid.
static double timesOf(Operation *op) {
  constexpr double kTrips = 16;
  double often = 1;
  for (auto loop = op->getParentOfType<LoopOp>(); loop;
       loop = loop->getParentOfType<LoopOp>()) {
    often *= loop.getKind() == LoopKind::Sequence ? kTrips : 1;
  }
  return often;
}

/// The largest first, equals as they stand.
static void orderBySize(SmallVectorImpl<Value> &values) {
  SmallVector<std::pair<int64_t, size_t>> order;
  for (auto [i, value] : llvm::enumerate(values)) {
    order.push_back({-elementsOf(value), i});
  }
  llvm::sort(order);
  SmallVector<Value> sorted;
  for (auto [size, i] : order) {
    sorted.push_back(values[i]);
  }
  values = std::move(sorted);
}

Inference::Inference(KernelOp kernel, const Target &target)
    : kernel(kernel), target(target) {
  auto add = [](SmallVectorImpl<Value> &list, Value value) {
    if (isRegisterValue(value)) {
      list.push_back(value);
    }
  };
  kernel.walk([&](Operation *op) {
    if (isa<LoadOp, StoreOp, CopyOp, ReduceOp, MapOp, MmaOp, LoopOp>(op)) {
      movers.push_back({op, timesOf(op)});
    }
    if (OpOperand *numbers = rowNumbersOf(op)) {
      rowNumbers.push_back(numbers->get());
    }
    if (auto mma = dyn_cast<MmaOp>(op)) {
      products.push_back(mma);
    } else if (auto load = dyn_cast<LoadOp>(op)) {
      add(accessed, load.getResult());
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      add(accessed, store.getValue());
    }
    for (Value result : op->getResults()) {
      add(values, result);
    }
  });
  orderBySize(accessed);
  orderBySize(values);
}
