//===- ReadSteps.cpp - The work of one op as a step -----------------------===//

#include "lib/Cost/Read/KernelReader.h"

using namespace mlir;
using namespace modelc::schedule;

namespace modelc {

/// The instruction of an mma; the fastest of its type while none is chosen.
static const MmaRow *rowOf(MmaOp mma, const Work &work, const Target &target) {
  if (!work.unit.empty()) {
    return target.instruction(work.unit);
  }
  std::string type;
  llvm::raw_string_ostream(type) << work.element;
  const MmaRow *best = nullptr;
  for (const MmaRow &row : target.mma) {
    bool fits = row.ratedType() == type &&
                row.scaled == static_cast<bool>(mma.getAScales());
    if (fits && (!best || row.flopPerClock > best->flopPerClock)) {
      best = &row;
    }
  }
  return best;
}

/// What groups of waves read of shared memory beside one read of each operand.
static void addReadsAgain(MmaOp mma, const MmaRow &row, Step &step) {
  if (row.scope != MmaScope::Group4) {
    return;
  }
  int64_t gridM = mma.getGrid() ? (*mma.getGrid())[0] : 1;
  int64_t gridN = mma.getGrid() ? (*mma.getGrid())[1] : 1;
  TileType c = mma.getAccumulator().getType();
  auto add = [&](TileType operand, int64_t reads) {
    bool isShared = operand.getSpace() == Space::Shared;
    step.amounts.sharedBytes +=
        isShared ? double(operand.getBytes()) * double(reads - 1) : 0;
  };
  add(mma.getA().getType(), gridN * row.readsOfA(c.getColumns() / gridN));
  add(mma.getB().getType(), gridM * row.readsOfB(c.getRows() / gridM));
}

LogicalResult KernelReader::addMatrix(MmaOp mma, const Work &amount,
                                      Step &step) {
  const MmaRow *row = rowOf(mma, amount, target);
  if (!row) {
    return mma.emitOpError("expected a matrix instruction of target '")
           << target.identity.name << "' for " << amount.element << ", got '"
           << amount.unit << "'";
  }
  step.amounts.row = row;
  step.amounts.matrixFlop += amount.amount;
  bool background =
      row->scope != MmaScope::Wave &&
      (mma.getAsynchronous() || isa<TokenType>(mma.getResult().getType()));
  step.kind = background ? StepKind::MatrixRun : StepKind::Matrix;
  addReadsAgain(mma, *row, step);
  TileType a = mma.getA().getType();
  step.pieces =
      std::max<int64_t>(1, a.getColumns() * packedNumbers(a.getElementType()) /
                               std::max<int64_t>(1, row->k));
  return success();
}

/// Clocks that bank conflicts and narrow accesses add to those of a shared
/// tile.
static double conflictClocks(Operation *op, const Work &amount,
                             const Target &target) {
  TileType place, value;
  bool isTransposed = false;
  if (auto load = dyn_cast<LoadOp>(op)) {
    place = dyn_cast<TileType>(load.getSource().getType());
    value = dyn_cast<TileType>(load.getResult().getType());
    isTransposed = load.getTransposed();
  } else if (auto store = dyn_cast<StoreOp>(op)) {
    place = dyn_cast<TileType>(store.getDestination().getType());
    value = dyn_cast<TileType>(store.getValue().getType());
    isTransposed = store.getTransposed();
  }
  if (!place || !value || place.getSpace() != Space::Shared) {
    return 0;
  }
  double degree = accessDegree(place, value, isa<LoadOp>(op) ? "read" : "write",
                               isTransposed, target);
  return (degree - 1) * amount.amount / target.shared.bytesPerClock;
}

/// Results pass through shared memory piece by piece, in 32 bits: written, read
/// once all waves have met, and met again before the next piece.
void KernelReader::addPassage(StoreOp store, Step &step) const {
  constexpr double kBytes = 4;
  constexpr double kWaits = 4; // two rendezvous, a write and a read
  auto tile = cast<TileType>(store.getValue().getType());
  int64_t numbers = tile.getNumElements();
  int64_t ofPiece = resultPiece * work.waves;
  step.amounts.sharedBytes += 2 * kBytes * double(numbers);
  step.extraLatency += kWaits * target.shared.latencyClocks *
                       double(llvm::divideCeil(numbers, ofPiece));
}

void KernelReader::addMove(Operation *op, const Work &amount, Step &step) {
  constexpr double kCopyBytes = 16;
  Amounts &sum = step.amounts;
  auto touches = [&](Space space) {
    return amount.from == space || amount.to == space;
  };
  if (touches(Space::Shared)) {
    auto copy = dyn_cast<CopyOp>(op);
    bool isBox = copy && copy.getBox();
    (isBox ? sum.boxBytes : sum.sharedBytes) += amount.amount;
    sum.sharedClocks += conflictClocks(op, amount, target);
  }
  if (touches(Space::Tensor)) {
    sum.tensorBytes += amount.amount;
  }
  if (isa<ReduceOp, RelayoutOp>(op)) {
    step.kind = StepKind::Exchange;
  } else if (auto copy = dyn_cast<CopyOp>(op)) {
    step.kind = touches(Space::Tensor) ? StepKind::Shared : StepKind::Copy;
    step.laneCopies = copy.getBox() ? 0 : amount.amount / kCopyBytes;
  } else if (!isa<MmaOp>(op)) {
    bool global = touches(Space::Global);
    step.kind = !global           ? StepKind::Shared
                : isa<LoadOp>(op) ? StepKind::Load
                                  : StepKind::Store;
    if (auto load = dyn_cast<LoadOp>(op); load && load.getAhead()) {
      step.laneCopies = amount.amount / kCopyBytes;
    }
    if (step.kind == StepKind::Store && resultPiece > 0) {
      addPassage(cast<StoreOp>(op), step);
    }
  }
}

/// Copies run ahead of a loop that they fill; the last ones lie past the end of
/// what the device holds and move nothing. Known limits say so themselves.
double KernelReader::partBeforeEnd(const BufferUse &use, Region region) const {
  auto copy = dyn_cast<CopyOp>(use.op);
  double trips = work.blocks[region.block].trips;
  if (!copy || copy.getSlot().empty() || region.perTrip < 1 || trips <= 1) {
    return 1;
  }
  IndexValues values = middleOfLoops();
  std::optional<int64_t> slot = evaluateIndex(copy.getSlot().front(), values);
  double ahead = slot ? double(*slot - values[nest.levels.back().index]) : 0;
  return ahead > 0 ? std::max(0.0, trips - ahead) / trips : 1;
}

/// Different tiles that one workgroup touches: its executions but for the loops
/// on which the address does not depend.
double KernelReader::tilesWalked(const BufferUse &use) const {
  SmallVector<Value> indices = indicesBehind(use.address());
  double outer = work.workgroups(), walked = 1;
  for (unsigned i = grid.size(); i < nest.levels.size(); ++i) {
    bool walks = llvm::is_contained(indices, nest.levels[i].index);
    double trips = nest.counts[i] / std::max(outer, 1e-9);
    walked *= walks ? trips : std::min(1.0, trips);
    outer = nest.counts[i];
  }
  return walked;
}

/// The loops around an op within a workgroup.
std::vector<Level> KernelReader::levelsInside(const Iterations &of) const {
  SmallVector<LoopOp> loops;
  for (const Level &level : ArrayRef(nest.levels).drop_front(grid.size())) {
    if (loops.empty() || loops.back() != level.loop) {
      loops.push_back(level.loop);
    }
  }
  return of.levels(loops);
}

/// Of what a workgroup in the middle of the grid walks, the part that its next
/// neighbour along an index does not: 64 queries behind those that see the last
/// 128 keys see 64 others.
double KernelReader::freshPart(const BufferUse &use, const Level &along) const {
  SmallVector<const IndexProgram *> offsets;
  for (Value offset : use.offsets) {
    if (const IndexProgram &program = programs.of(offset);
        program.reads(along.index)) {
      offsets.push_back(&program);
    }
  }
  ArrayRef<Level> nested = ArrayRef(nest.levels).drop_front(grid.size());
  auto walks = [&](const IndexProgram *program) {
    return llvm::any_of(nested, [&](const Level &level) {
      return program->reads(level.index);
    });
  };
  if (llvm::none_of(offsets, walks)) {
    return 1;
  }
  Iterations ofOne(typical, bindings, programs);
  std::vector<Level> inside = levelsInside(ofOne);
  IndexValues here = typical;
  for (const Level &level : inside) {
    here[level.index] = 0;
  }
  double fresh = 1;
  for (const IndexProgram *program : offsets) {
    auto walk = llvm::find_if(inside, [&](const Level &level) {
      return program->reads(level.index);
    });
    if (walk == inside.end()) {
      continue;
    }
    FailureOr<Trips> trips = ofOne.trips(*walk, here);
    IndexValues last = here, next = here;
    last[walk->index] += succeeded(trips) ? std::llround(trips->count) : 0;
    ++next[along.index];
    std::optional<int64_t> from = program->run(here), to = program->run(last),
                           moved = program->run(next);
    if (from && to && moved && *from < *to) {
      fresh = std::min(fresh,
                       std::abs(double(*moved - *from)) / double(*to - *from));
    }
  }
  return fresh;
}

/// The part of the tiles that lies inside limits, over the loops of a typical
/// workgroup where only the device knows a limit and loads say what to expect.
FailureOr<double> KernelReader::partInside(const BufferUse &use,
                                           Region region) const {
  ValidPart valid(use, iterations.knownSizes(), programs);
  if (!valid.isOpen && valid.limits.empty()) {
    return nest.executions > 0 ? 1.0 : 0.0;
  }
  if (!valid.isOpen) {
    FailureOr<double> inside = iterations.sum(nest.levels, valid.limits);
    return failed(inside) ? inside : *inside / std::max(nest.executions, 1e-9);
  }
  ValidPart expected(use, typical, programs);
  if (expected.isOpen) {
    return partBeforeEnd(use, region);
  }
  Iterations ofOne(typical, bindings, programs);
  FailureOr<double> inside = ofOne.sum(levelsInside(ofOne), expected.limits);
  double executions = nest.executions / work.workgroups();
  return failed(inside) ? inside
                        : std::min(1.0, *inside / std::max(executions, 1e-9));
}

void KernelReader::addGridUses(const BufferUse &use, Access &access) {
  access.uses = gridUses(use, grid, iterations, atStart, programs);
  for (auto [gridUse, level, extent] :
       llvm::zip_equal(access.uses, grid, work.grid)) {
    if (!gridUse.depends || !gridUse.classes.empty()) {
      continue;
    }
    gridUse.classes =
        classesOfDistinct(use, level, static_cast<int64_t>(extent), distinct);
    gridUse.fresh = gridUse.classes.empty() ? freshPart(use, level) : 1;
  }
}

LogicalResult KernelReader::addAccess(const BufferUse &use, Region region,
                                      Step &step) {
  double bytes = 0;
  for (const Work &amount : cast<WorkOpInterface>(use.op).getWork()) {
    bool global = amount.from == Space::Global || amount.to == Space::Global;
    bytes += global ? amount.amount : 0;
  }
  FailureOr<double> inside = partInside(use, region);
  if (failed(inside)) {
    return failure();
  }
  Access access;
  if (auto argument = dyn_cast<BlockArgument>(use.buffer)) {
    access.name = kernel.getArgumentName(argument.getArgNumber());
  }
  access.bytes = bytes * *inside;
  if (auto copy = dyn_cast<CopyOp>(use.op); copy && copy.getMulticast()) {
    access.sharers =
        double(copy->getParentOfType<KernelOp>().getCluster().value_or(1));
  }
  access.executions = nest.executions / work.workgroups();
  access.walked = tilesWalked(use);
  addGridUses(use, access);
  access.bufferBytes = cast<BufferType>(use.buffer.getType()).getBytes(0);
  access.writes = use.writes;
  access.paged = use.pageTable || use.rows;
  access.peer = use.peer;
  step.meetsPeer = use.peer && !use.writes;
  access.isRepeat = llvm::any_of(uses, [&](const BufferUse &before) {
    return readSameBytes(before, use);
  });
  uses.push_back(use);
  access.resident = llvm::is_contained(options.resident, access.name);
  step.extraLatency += use.pageTable ? target.cache.l2LatencyClocks : 0;
  (use.peer ? step.amounts.linkBytes : step.amounts.globalBytes) +=
      access.bytes / access.sharers;
  step.access = work.accesses.size();
  work.accesses.push_back(std::move(access));
  return success();
}

LogicalResult KernelReader::addWork(Operation *op, Region region, Step &step) {
  for (const Work &amount : cast<WorkOpInterface>(op).getWork()) {
    switch (amount.kind) {
    case Work::Kind::Move:
      addMove(op, amount, step);
      break;
    case Work::Kind::Matrix:
      if (failed(addMatrix(cast<MmaOp>(op), amount, step))) {
        return failure();
      }
      break;
    case Work::Kind::Vector:
      (amount.unit == "exp2"      ? step.amounts.exp2
       : amount.unit == "convert" ? step.amounts.convert
                                  : step.amounts.vector) += amount.amount;
      break;
    case Work::Kind::Exchange:
      // Lanes exchange through the crossbar of shared memory.
      step.amounts.sharedBytes += amount.amount;
      step.kind = StepKind::Exchange;
      break;
    case Work::Kind::Sync:
      step.syncs += amount.amount;
      step.kind = isa<SyncOp>(op) ? StepKind::Sync : StepKind::Exchange;
      break;
    case Work::Kind::Wait:
      step.kind = StepKind::Wait;
      break;
    case Work::Kind::Message:
      step.kind = StepKind::Signal;
      step.meetsPeer = isa<ArriveOp>(op) && cast<ArriveOp>(op).getPeer();
      break;
    case Work::Kind::Launch:
      break;
    }
  }
  std::optional<BufferUse> use = bufferUse(op);
  return use ? addAccess(*use, region, step) : success();
}

} // namespace modelc
