#include "lib/SchedulePasses/Pipeline/Trips.h"
#include "lib/SchedulePasses/Waits/Flattener.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// Outer loops repeat their rings; their trips lie this far apart.
constexpr int64_t kRoundTrips = 1000, kRounds = 3;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Whether a walk finds an op of these kinds below `loop`.
template <typename... Ops>
static bool contains(LoopOp loop) {
  return loop
      .walk([&](Operation *op) {
        return WalkResult(failure(op != loop && isa<Ops...>(op)));
      })
      .wasInterrupted();
}

/// Conditions run once, prologues as often as they say, other loops until
/// their rings are steady; loops around loops a few times.
int64_t Flattener::tripCount(LoopOp loop) const {
  if (isCondition(loop)) {
    return 1;
  }
  std::optional<int64_t> trips = constantIndex(loop.getUpperBounds()[0]);
  if (trips && !contains<WaitOp, MmaOp, SyncOp>(loop)) {
    return std::min(*trips, 2 * unrolledTrips);
  }
  bool isAround =
      loop.walk([&](LoopOp inner) {
            return WalkResult(failure(inner != loop && !isCondition(inner)));
          })
          .wasInterrupted();
  return isAround ? kRounds : unrolledTrips;
}

void Flattener::loop(LoopOp loop) {
  WaitStep marker = begin(loop);
  marker.name = "loop";
  steps.push_back(marker);
  int number = loopNumbers.try_emplace(loop, loopNumbers.size()).first->second;
  int64_t trips = tripCount(loop);
  auto saved = std::tuple(loopNumber, trip, round);
  int64_t from = evaluate(loop.getLowerBounds()[0]);
  int64_t by = loop.getSteps().empty()
                   ? 1
                   : std::max<int64_t>(evaluate(loop.getSteps()[0]), 1);
  for (auto [argument, init] :
       llvm::zip_equal(loop.getCarried(), loop.getInits())) {
    origins[argument] = origins.lookup(init);
  }
  for (int64_t i = 0; i < trips; ++i) {
    indices[loop.getInductionVars()[0]] = from + i * by;
    // A condition is part of the trip around it.
    if (!isCondition(loop)) {
      loopNumber = number;
      round = std::get<1>(saved) + std::get<2>(saved) * kRoundTrips;
      trip = i;
    }
    block(loop.getBody().front());
    SmallVector<Origin> yielded;
    for (Value value : loop.getYield().getValues()) {
      yielded.push_back(origins.lookup(value));
    }
    for (auto [argument, origin] :
         llvm::zip_equal(loop.getCarried(), yielded)) {
      origins[argument] = origin;
    }
  }
  std::tie(loopNumber, trip, round) = saved;
  for (auto [result, argument] :
       llvm::zip_equal(loop.getResults(), loop.getCarried())) {
    origins[result] = origins.lookup(argument);
  }
}

void Flattener::block(Block &body) {
  for (Operation &op : body.without_terminator()) {
    if (auto inner = dyn_cast<LoopOp>(op)) {
      loop(inner);
    } else if (auto role = dyn_cast<RoleOp>(op)) {
      block(role.getBody().front());
    } else {
      step(&op);
    }
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

WaitStep Flattener::begin(Operation *op) const {
  WaitStep step;
  step.op = op;
  step.name = op->getName().stripDialect().str();
  step.loop = loopNumber;
  step.trip = trip;
  step.round = round;
  return step;
}

/// An access of a slot of a place in shared or tensor memory.
void Flattener::touch(WaitStep &step, Value place, Value trip, bool writes) {
  auto tile = dyn_cast<TileType>(place.getType());
  if (!tile || !tile.isPlace()) {
    return;
  }
  step.ownLanes = tile.getSpace() == Space::Tensor && !step.isProduct();
  int64_t at = trip ? evaluate(trip) : 0;
  int64_t slots = tile.getSlots();
  int64_t slot = (at % slots + slots) % slots;
  step.accesses.push_back({{place.getAsOpaquePointer(), slot, false, rank},
                           at + round * kRoundTrips,
                           writes});
}

/// Uses of registers that are still being written. Products into the same sums
/// are done in their order.
void Flattener::use(WaitStep &step, Operation *op) {
  auto mma = dyn_cast<MmaOp>(op);
  for (Value operand : op->getOperands()) {
    if (mma && mma.getAsynchronous() && operand == mma.getAccumulator()) {
      continue;
    }
    for (const StorageKey &key : origins.lookup(operand)) {
      step.accesses.push_back({key, 0, false});
    }
  }
}

/// Registers that the step writes after the op.
StorageKey Flattener::arriveLater(WaitStep &step) const {
  StorageKey key{step.op, static_cast<int64_t>(steps.size()), true};
  step.accesses.push_back({key, 0, true});
  return key;
}

/// A copy to tensor memory is done in the order of the products, by their unit.
void Flattener::addCopyToTensor(CopyOp copy, WaitStep &step) {
  step.byBarrier = step.inBackground = true;
  Value slot = copy.getOffsets().empty() ? Value() : copy.getOffsets()[0];
  int64_t own = rank, together = copy.getWorkgroups().value_or(1);
  for (rank = own; rank < own + together; ++rank) {
    touch(step, copy.getDestination(), Value(), true);
    touch(step, copy.getSource(), slot, false);
  }
  rank = own;
}

void Flattener::addCopy(CopyOp copy, WaitStep &step) {
  auto place = dyn_cast<TileType>(copy.getDestination().getType());
  if (place && place.getSpace() == Space::Tensor) {
    return addCopyToTensor(copy, step);
  }
  Value slot = copy.getSlot().empty() ? Value() : copy.getSlot()[0];
  int64_t own = rank, receivers = kernel.getCluster().value_or(1);
  if (copy.getMulticast()) {
    for (rank = 0; rank < receivers; ++rank) {
      touch(step, copy.getDestination(), slot, true);
    }
    rank = own;
  } else {
    touch(step, copy.getDestination(), slot, true);
  }
  touch(step, copy.getSource(), Value(), false);
  if (copy.getBox() && copy.getArrives()) {
    step.byBarrier = true;
    phases[{copy.getArrives().getAsOpaquePointer(),
            (slot ? evaluate(slot) : 0) + round * kRoundTrips}]
        .push_back(steps.size());
    step.signal = {copy.getArrives().getAsOpaquePointer(),
                   slot ? evaluate(slot) : 0, 0, 0,
                   cast<TileType>(copy.getDestination().getType()).getBytes()};
    reach(copy.getArrives(), step.signal);
    if (copy.getMulticast()) {
      step.signal.bytes /= receivers;
      step.signal.firstRank = 0;
      step.signal.lastRank = receivers - 1;
    }
    return;
  }
  bool fills = isa<TileType>(copy.getDestination().getType());
  step.queue = static_cast<int>(fills ? Queue::Copies : Queue::Stores);
  step.entries = 1;
  step.inBackground = role && fills; // complete in their order
  if (fills && target.copy.completion == Completion::Counted) {
    // Each wave fills its part, and one that all waves together would more than
    // fill is filled several times: no wave goes without.
    auto tile = cast<TileType>(copy.getDestination().getType());
    int64_t atOnce =
        wavesOf(copy) * target.execution.waveSize * target.copy.bytesPerLane;
    step.entries = std::max<int64_t>(tile.getBytes() / atOnce, 1);
  }
}

/// Vector instructions of one wave that fill a register tile, at least.
static int64_t vectorsOf(TileType tile, const Target &target) {
  int64_t registers = tile.getNumElements() / target.execution.waveSize;
  if (tile.getLayout()) {
    registers = tile.getLayout().getLayout().inputSize("register");
  }
  return std::max<int64_t>(registers * tile.getElementBits() / 128, 1);
}

void Flattener::addLoad(LoadOp load, WaitStep &step) {
  bool fromPlace = isa<TileType>(load.getSource().getType());
  Value slot =
      fromPlace && !load.getOffsets().empty() ? load.getOffsets()[0] : Value();
  touch(step, load.getSource(), slot, false);
  auto tile = dyn_cast<TileType>(load.getResult().getType());
  bool counted = target.copy.completion == Completion::Counted;
  // Waves await its value themselves, but it is an entry among their copies.
  // Where limits hold, some waves may have none.
  if (load.getAhead() && counted && load.getValid().empty()) {
    step.queue = static_cast<int>(Queue::Copies);
    step.entries = vectorsOf(tile, target);
  }
  if (!load.getToken() || !tile) {
    return;
  }
  if (!fromPlace && !counted) {
    return;
  }
  step.queue = static_cast<int>(fromPlace ? Queue::Reads : Queue::Copies);
  step.entries = vectorsOf(tile, target);
  origins[load.getResult()] = {arriveLater(step)};
}

void Flattener::addMma(MmaOp mma, WaitStep &step) {
  bool inTensor = mma.getAccumulator().getType().getSpace() == Space::Tensor;
  // It reads and writes what lies in each workgroup that multiplies.
  int64_t own = rank, together = mma.getWorkgroups().value_or(1);
  step.inBackground = mma.getAsynchronous() || inTensor;
  step.byBarrier = inTensor;
  for (rank = own; rank < own + together; ++rank) {
    touch(step, mma.getA(), mma.getASlot(), false);
    touch(step, mma.getB(), mma.getBSlot(), false);
    if (inTensor) {
      touch(step, mma.getAccumulator(), mma.getCSlot(), true);
    }
    for (Value scales : {mma.getAScales(), mma.getBScales()}) {
      if (scales) {
        touch(step, scales, Value(), false);
      }
    }
  }
  rank = own;
  if (inTensor) {
    tokens[mma.getResult()] = steps.size();
  } else if (mma.getAsynchronous()) {
    step.queue = static_cast<int>(Queue::Matrix);
    step.entries = 1;
    origins[mma.getResult()] = {arriveLater(step)};
  }
}

void Flattener::addArrive(ArriveOp arrive) {
  if (!isa<BarrierType>(arrive.getBarrier().getType())) {
    return;
  }
  if (std::optional<uint64_t> bytes = arrive.getBytes()) {
    WaitStep step = begin(arrive);
    step.signal = {arrive.getBarrier().getAsOpaquePointer(),
                   evaluate(arrive.getTrip()[0]), 1,
                   static_cast<int64_t>(*bytes)};
    steps.push_back(step);
    return;
  }
  auto &phase = phases[{arrive.getBarrier().getAsOpaquePointer(),
                        evaluate(arrive.getTrip()[0]) + round * kRoundTrips}];
  for (Value token : arrive.getAfter()) {
    auto it = tokens.find(token);
    // The unit signals in its order: what it was asked for before is done too.
    for (size_t i = 0; it != tokens.end() && i <= it->second; ++i) {
      if (steps[i].isProduct()) {
        phase.push_back(i);
      }
    }
  }
  for (size_t i = 0; arrive.getAfter().empty() && i < steps.size(); ++i) {
    if (steps[i].isProduct()) {
      phase.push_back(i);
    }
  }
}

void Flattener::addWait(WaitOp wait, WaitStep &step) {
  if (wait.getQueue()) {
    step.waits = static_cast<int>(*wait.getQueue());
    step.pending = wait.getPending();
  }
  Value barrier = wait.getBarrier();
  if (barrier && isa<BarrierType>(barrier.getType())) {
    step.awaits = barrier.getAsOpaquePointer();
    step.awaitedTrip = evaluate(wait.getTrip()[0]);
    step.awaitedRank = rank;
    step.completes =
        phases[{barrier.getAsOpaquePointer(),
                evaluate(wait.getTrip()[0]) + round * kRoundTrips}];
  }
}

/// Exchanges through shared memory: write, rendezvous, read, rendezvous.
void Flattener::addScratch(Operation *op, Value scratch) {
  for (bool writes : {true, false}) {
    WaitStep access = begin(op);
    touch(access, scratch, Value(), writes);
    steps.push_back(access);
    WaitStep sync = begin(op);
    sync.isSync = true;
    steps.push_back(sync);
  }
}

void Flattener::step(Operation *op) {
  auto arrive = dyn_cast<ArriveOp>(op);
  if (arrive && !role) {
    addArrive(arrive);
    return;
  }
  WaitStep step = begin(op);
  if (arrive) {
    addSignal(arrive, step);
  }
  use(step, op);
  Value scratch;
  llvm::TypeSwitch<Operation *>(op)
      .Case<CopyOp>([&](CopyOp copy) { addCopy(copy, step); })
      .Case<LoadOp>([&](LoadOp load) { addLoad(load, step); })
      .Case<MmaOp>([&](MmaOp mma) { addMma(mma, step); })
      .Case<WaitOp>([&](WaitOp wait) { addWait(wait, step); })
      .Case<SyncOp>([&](SyncOp) { step.isSync = true; })
      .Case<StoreOp>([&](StoreOp store) {
        touch(step, store.getDestination(),
              store.getOffsets().empty() ? Value() : store.getOffsets()[0],
              true);
      })
      .Case<ReduceOp>([&](ReduceOp reduce) { scratch = reduce.getScratch(); })
      .Case<RelayoutOp>(
          [&](RelayoutOp relayout) { scratch = relayout.getScratch(); });
  steps.push_back(step);
  if (scratch) {
    addScratch(op, scratch);
  }
}

int64_t modelc::unrolledTrips(KernelOp kernel) {
  int64_t trips = kUnrolledTrips;
  kernel.walk([&](CopyOp copy) {
    if (auto tile = dyn_cast<TileType>(copy.getDestination().getType())) {
      trips = std::max<int64_t>(trips, tile.getSlots() + 1);
    }
  });
  return trips;
}

int64_t modelc::lagOf(KernelOp kernel) {
  int64_t groups = 1;
  kernel.walk([&](LoopOp loop) {
    groups = std::max<int64_t>(groups, loop.getStagger().value_or(1));
  });
  return groups - 1;
}

std::vector<WaitStep> modelc::flatten(KernelOp kernel, const Target &target,
                                      int64_t trips) {
  return Flattener(kernel, target, trips).run();
}
