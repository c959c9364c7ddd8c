//===- BlockEdges.cpp - What the waits of a loop body wait for ------------===//
//
// A counted wait names how many later entries of its queue may still fly; so
// the trip that issued what it completes follows from counting backwards. A
// barrier wait names a trip; the distance to its arrivals is the difference of
// the two trip numbers. Both give edges with a distance in trips, and the
// number of slots of a ring needs no rule of its own.
//
//===----------------------------------------------------------------------===//

#include "lib/Cost/Read/ReadKernel.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace modelc::schedule;

namespace modelc {

double BlockEdges::queueEntries(unsigned index, Queue queue) const {
  const Step &step = block.steps[index];
  if (queue == Queue::Reads) {
    constexpr double kWidest = 16; // bytes of one lane
    double atOnce = waves * target.execution.waveSize * kWidest;
    bool isRead = step.kind == StepKind::Shared;
    return isRead ? std::max(1.0, step.amounts.sharedBytes / atOnce) : 0;
  }
  if (queue == Queue::Matrix) {
    return step.kind == StepKind::MatrixRun ? step.executions : 0;
  }
  bool instructions = target.copy.laneContiguous;
  bool isEntry = step.kind == StepKind::Copy ||
                 (instructions && step.kind == StepKind::Load);
  if (queue != Queue::Copies || !isEntry) {
    return 0;
  }
  if (!instructions) {
    return 1; // committed as a group
  }
  double bytesAtOnce =
      waves * target.execution.waveSize * target.copy.bytesPerLane;
  double bytes = std::max(step.amounts.globalBytes, step.amounts.sharedBytes);
  return std::max(1.0, std::ceil(bytes / bytesAtOnce));
}

void BlockEdges::addQueueWait(unsigned wait, Queue queue, double pending) {
  double all = 0, before = 0;
  unsigned stream = block.steps[wait].stream;
  for (unsigned i = 0; i < block.steps.size(); ++i) {
    double entries =
        block.steps[i].stream == stream ? queueEntries(i, queue) : 0;
    all += entries;
    before += i < wait ? entries : 0;
  }
  double behind = 0; // entries up to and including step i
  for (unsigned i = 0; i < block.steps.size(); ++i) {
    double entries =
        block.steps[i].stream == stream ? queueEntries(i, queue) : 0;
    behind += entries;
    if (entries == 0) {
      continue;
    }
    // Entries issued after step i until the wait of the same trip, or of a
    // later one.
    double between = before - behind;
    unsigned distance = 0;
    while (between < pending || (distance == 0 && i > wait)) {
      between += all;
      ++distance;
    }
    block.steps[wait].after.push_back({i, distance, Edge::Kind::Complete});
  }
}

void BlockEdges::addQueueWaits(ArrayRef<Operation *> ops) {
  for (auto [index, op] : llvm::enumerate(ops)) {
    auto wait = dyn_cast_or_null<WaitOp>(op);
    if (wait && wait.getQueue() && wait.getPending()) {
      addQueueWait(index, *wait.getQueue(), *wait.getPending());
    }
  }
}

/// The barrier that an op signals and the number of the phase.
static std::pair<Value, Value> signalOf(Operation *op) {
  using Signal = std::pair<Value, Value>;
  return TypeSwitch<Operation *, Signal>(op)
      .Case([](ArriveOp arrive) {
        return Signal(arrive.getBarrier(), arrive.getTrip().front());
      })
      .Case([](CopyOp copy) {
        return copy.getArrives() && !copy.getSlot().empty()
                   ? Signal(copy.getArrives(), copy.getSlot().front())
                   : Signal();
      })
      .Default([](Operation *) { return Signal(); });
}

void BlockEdges::addBarrierWait(unsigned index, ArrayRef<Operation *> ops,
                                const IndexValues &values) {
  auto wait = cast<WaitOp>(ops[index]);
  std::optional<int64_t> awaited =
      evaluateIndex(wait.getTrip().front(), values);
  for (auto [other, op] : llvm::enumerate(ops)) {
    auto [barrier, trip] = op ? signalOf(op) : std::pair<Value, Value>();
    if (!barrier || barrier != wait.getBarrier()) {
      continue;
    }
    std::optional<int64_t> signalled = evaluateIndex(trip, values);
    // Within one stream a later signal is that of the trip before.
    bool sameStream = block.steps[other].stream == block.steps[index].stream;
    int64_t distance = sameStream && other > index;
    if (awaited && signalled) {
      distance = std::max<int64_t>(distance, *signalled - *awaited);
    }
    block.steps[index].after.push_back(
        {unsigned(other), unsigned(distance), Edge::Kind::Complete});
  }
}

void BlockEdges::addBarrierWaits(ArrayRef<Operation *> ops,
                                 const IndexValues &values) {
  for (auto [index, op] : llvm::enumerate(ops)) {
    auto wait = dyn_cast_or_null<WaitOp>(op);
    if (wait && wait.getBarrier() && !wait.getTrip().empty()) {
      addBarrierWait(index, ops, values);
    }
  }
}

void BlockEdges::addSignals() {
  for (auto [index, signal] : llvm::enumerate(block.steps)) {
    bool isToPeer = signal.meetsPeer && signal.kind == StepKind::Signal;
    for (unsigned i = 0; isToPeer && i < index; ++i) {
      if (block.steps[i].amounts.linkBytes > 0) {
        signal.after.push_back({i, 0, Edge::Kind::Complete});
      }
    }
  }
}

void BlockEdges::addMeetings() {
  for (Step &loop : block.steps) {
    for (auto [i, other] : llvm::enumerate(block.steps)) {
      bool meets = loop.kind == StepKind::Loop && loop.nested == other.nested &&
                   other.kind == StepKind::Loop && loop.stream != other.stream;
      for (unsigned before = 0; meets && before < i; ++before) {
        const Step &copy = block.steps[before];
        if (copy.kind == StepKind::Copy && copy.stream == other.stream) {
          loop.after.push_back({before, 0, Edge::Kind::Complete});
        }
      }
    }
  }
}

} // namespace modelc
