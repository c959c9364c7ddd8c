//===- ReadEdges.cpp - What the steps of a block wait for -----------------===//

#include "lib/Cost/Read/KernelReader.h"

using namespace mlir;
using namespace modelc::schedule;

namespace modelc {

/// How a step that consumes `operand` waits for the step that made it.
static Edge::Kind edgeKind(Operation *op, Value operand, const Step &maker) {
  auto mma = dyn_cast<MmaOp>(op);
  bool matrix =
      maker.kind == StepKind::Matrix || maker.kind == StepKind::MatrixRun;
  if (mma && operand == mma.getAccumulator() && matrix) {
    return Edge::Kind::Accumulate;
  }
  bool arrives = maker.kind == StepKind::Shared || maker.kind == StepKind::Load;
  return mma && arrives ? Edge::Kind::Piece : Edge::Kind::Complete;
}

void KernelReader::addOperandEdges(Operation *op, Region region, Step &step) {
  for (Value operand : op->getOperands()) {
    for (auto [block, maker] : sources.lookup(operand)) {
      if (block != region.block) {
        continue; // before the loop began
      }
      Edge::Kind kind = Edge::Kind::Accumulate;
      if (maker < kCarried) {
        kind = edgeKind(op, operand, work.blocks[block].steps[maker]);
      } else if (auto mma = dyn_cast<MmaOp>(op);
                 !mma || operand != mma.getAccumulator()) {
        kind = Edge::Kind::Complete;
      }
      step.after.push_back({maker, 0, kind});
    }
  }
}

void KernelReader::addLoopEdges(LoopOp loop, Region region, Step &step) {
  auto addSources = [&](Value value) {
    for (auto [block, maker] : sources.lookup(value)) {
      if (block == region.block) {
        step.after.push_back({maker, 0, Edge::Kind::Complete});
      }
    }
  };
  for (Value operand : loop->getOperands()) {
    addSources(operand);
  }
  loop.getBody().walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      addSources(operand);
    }
  });
}

/// Arithmetic on what the device loaded is as late as the load.
void KernelReader::forward(Operation *op) {
  SmallVector<Source, 2> made;
  for (Value operand : op->getOperands()) {
    llvm::append_range(made, sources.lookup(operand));
  }
  if (!made.empty()) {
    for (Value result : op->getResults()) {
      sources[result] = made;
    }
  }
}

/// What a step waits for where it reads the value that the loop carries as
/// number `carried`: made `distance` trips before, or handed on from there.
void KernelReader::followCarried(LoopOp loop, unsigned number, Edge edge,
                                 SmallVectorImpl<Edge> &resolved) {
  ++edge.distance;
  if (edge.distance > static_cast<int64_t>(loop.getInits().size())) {
    return; // handed from value to value in a circle: from before the loop
  }
  Value value = loop.getYield().getValues()[edge.from - kCarried];
  for (auto [block, maker] : sources.lookup(value)) {
    if (block != number) {
      continue;
    }
    edge.from = maker;
    if (maker >= kCarried) {
      followCarried(loop, number, edge, resolved);
      continue;
    }
    Edge now = edge;
    StepKind made = work.blocks[number].steps[maker].kind;
    if (made != StepKind::Matrix && made != StepKind::MatrixRun) {
      now.kind = Edge::Kind::Complete;
    }
    resolved.push_back(now);
  }
}

void KernelReader::resolveCarried(LoopOp loop, unsigned number) {
  for (Step &step : work.blocks[number].steps) {
    SmallVector<Edge, 4> resolved;
    for (Edge edge : step.after) {
      if (edge.from < kCarried) {
        resolved.push_back(edge);
      } else {
        followCarried(loop, number, edge, resolved);
      }
    }
    step.after = std::move(resolved);
  }
}

/// Indices of loops far from the ends, so that no minimum or condition bites.
IndexValues KernelReader::middleOfLoops() const {
  IndexValues values = iterations.knownSizes();
  constexpr int64_t kMiddle = 1 << 12;
  KernelOp kernel = this->kernel;
  kernel.walk([&](LoopOp loop) {
    bool grid = loop.getKind() == LoopKind::Workgroups;
    for (Value index : loop.getInductionVars()) {
      values[index] = grid ? 0 : kMiddle;
    }
    for (Value number : grid ? loop.getCarried() : ArrayRef<BlockArgument>()) {
      values[number] = kMiddle; // of a tile of a persistent grid
    }
  });
  return values;
}

/// Who waits for the port to L2: a product for what its wave has asked for
/// between its instructions, a copy for itself.
void KernelReader::addAskedBytes(Body &block, ArrayRef<Operation *> ops) {
  if (target.cache.unitBytesPerClock <= 0) {
    return;
  }
  bool copiesFirst = kernel.getCopiesFirst();
  for (auto [step, op] : llvm::zip_equal(block.steps, ops)) {
    if (step.laneCopies > 0) {
      step.askedBytes = step.amounts.globalBytes * step.executions;
    }
    auto mma = dyn_cast_or_null<MmaOp>(op);
    if (!mma || step.kind != StepKind::Matrix || copiesFirst) {
      continue;
    }
    for (Operation *asked : askedBefore(mma)) {
      auto found = llvm::find(ops, asked);
      if (found != ops.end()) {
        Step &asks = block.steps[found - ops.begin()];
        step.askedBytes += std::exchange(asks.askedBytes, 0);
      }
    }
  }
}

void KernelReader::finishBlock(unsigned number) {
  Body &block = work.blocks[number];
  addAskedBytes(block, ops[number]);
  BlockEdges edges(block, target, kernel.getWaves());
  edges.addSignals();
  edges.addQueueWaits(ops[number]);
  edges.addBarrierWaits(ops[number], middleOfLoops());
  edges.addMeetings();
  bool together = llvm::any_of(block.steps, [](const Step &step) {
    return step.kind == StepKind::Sync || step.syncs > 0 ||
           step.kind == StepKind::MatrixRun;
  });
  if (block.groups == 1 && !together) {
    block.groups = std::max<int64_t>(1, kernel.getWaves() /
                                            target.execution.schedulersPerUnit);
  }
}

} // namespace modelc
