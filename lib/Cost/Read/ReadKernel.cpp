//===- ReadKernel.cpp - From a kernel's IR to amounts ---------------------===//
//
// Walks the loops of a kernel. A loop of 0 or 1 trips is a condition and
// dissolves into its parent with its probability; any other loop becomes a
// block. Amounts come from WorkOpInterface alone; the structure gives how often
// an op runs, what it waits for, and on which indices its address depends.
//
//===----------------------------------------------------------------------===//

#include "lib/Cost/Read/KernelReader.h"

using namespace mlir;
using namespace modelc::schedule;

namespace modelc {

LogicalResult KernelReader::readStep(Operation *op, Region region) {
  Step step;
  step.label = op->getName().stripDialect().str();
  step.stream = region.stream;
  step.executions = region.perTrip;
  if (failed(addWork(op, region, step))) {
    return failure();
  }
  if (step.access >= 0) {
    step.label += " " + work.accesses[step.access].name;
  }
  addOperandEdges(op, region, step);
  Body &block = work.blocks[region.block];
  for (Value result : op->getResults()) {
    sources[result] = {{region.block, unsigned(block.steps.size())}};
  }
  block.steps.push_back(std::move(step));
  ops[region.block].push_back(op);
  return success();
}

/// What a condition yields comes from its body or from before it.
void KernelReader::forwardResults(LoopOp loop) {
  for (auto [index, result] : llvm::enumerate(loop.getResults())) {
    SmallVector<Source, 2> made = sources.lookup(loop.getInits()[index]);
    llvm::append_range(made,
                       sources.lookup(loop.getYield().getValues()[index]));
    sources[result] = made;
  }
}

/// Whether a loop meets those of other roles.
static bool meetsAtBarriers(LoopOp loop) {
  return loop
      .walk(
          [](WaitOp wait) { return WalkResult(failure(!!wait.getBarrier())); })
      .wasInterrupted();
}

/// Groups of waves of a role that make products or read them and add them to
/// their sums, each its part, and meet others at barriers only: while one adds
/// another one multiplies or reads.
static unsigned groupsOfRole(LoopOp loop) {
  auto role = loop->getParentOfType<RoleOp>();
  auto hasProduct = [](Operation &op) {
    if (auto mma = dyn_cast<MmaOp>(op)) {
      return isa<TileType>(mma.getResult().getType());
    }
    auto load = dyn_cast<LoadOp>(op);
    auto place =
        load ? dyn_cast<TileType>(load.getSource().getType()) : TileType();
    return place && place.getSpace() == Space::Tensor;
  };
  bool isApart = role && llvm::any_of(loop.getBody().front(), hasProduct) &&
                 !loop.getBody().getOps<MapOp>().empty();
  return isApart ? std::max<unsigned>(1, role.getWaves() / kWavesOfGroup) : 1;
}

/// Loops of different roles with the same trips that meet at barriers are one
/// block in several streams; loops of one role follow each other.
unsigned KernelReader::blockFor(LoopOp loop, Region region, double trips) {
  bool meets = meetsAtBarriers(loop);
  auto [found, isNew] =
      shared.try_emplace({region.block, meets ? trips : 0}, 0);
  if (!isNew && meets &&
      llvm::none_of(work.blocks[found->second].steps, [&](const Step &step) {
        return step.stream == region.stream;
      })) {
    return found->second;
  }
  Body block;
  block.trips = trips;
  block.groups = loop.getStagger().value_or(groupsOfRole(loop));
  block.label = "loop " + std::to_string(work.blocks.size());
  found->second = work.blocks.size();
  work.blocks.push_back(std::move(block));
  ops.emplace_back();
  return found->second;
}

LogicalResult KernelReader::readLoop(LoopOp loop, Region region) {
  Nest outer = nest;
  for (Level &level : iterations.levels({loop})) {
    nest.levels.push_back(std::move(level));
    FailureOr<double> count = iterations.count(nest.levels);
    if (failed(count)) {
      return failure();
    }
    nest.counts.push_back(nest.executions = *count);
  }
  if (failed(findLongest())) {
    return failure();
  }
  double trips = nest.executions / std::max(outer.executions, 1e-9);
  LogicalResult result = readBody(loop, region, trips);
  nest = std::move(outer);
  return result;
}

LogicalResult KernelReader::readBody(LoopOp loop, Region region, double trips) {
  mlir::Block &body = loop.getBody().front();
  if (trips <= 1) { // a condition: its steps belong to the parent
    for (auto [carried, init] : llvm::zip(loop.getCarried(), loop.getInits())) {
      sources[carried] = sources.lookup(init);
    }
    region.perTrip *= trips;
    if (trips > 0 && failed(readRegion(body, region))) {
      return failure();
    }
    forwardResults(loop);
    return success();
  }
  unsigned number = blockFor(loop, region, trips);
  for (unsigned i = 0; i < loop.getCarried().size(); ++i) {
    sources[loop.getCarried()[i]] = {{number, kCarried + i}};
  }
  if (failed(readRegion(body, {number, region.stream, 1}))) {
    return failure();
  }
  resolveCarried(loop, number);
  Step step;
  step.label = work.blocks[number].label;
  step.kind = StepKind::Loop;
  step.stream = region.stream;
  step.executions = region.perTrip;
  step.nested = number;
  addLoopEdges(loop, region, step);
  Body &block = work.blocks[region.block];
  for (Value result : loop.getResults()) {
    sources[result] = {{region.block, unsigned(block.steps.size())}};
  }
  block.steps.push_back(std::move(step));
  ops[region.block].push_back(nullptr);
  return success();
}

LogicalResult KernelReader::readRole(RoleOp role, Region region) {
  region.stream = streams++;
  return readRegion(role.getBody().front(), region);
}

LogicalResult KernelReader::readRegion(mlir::Block &body, Region region) {
  for (Operation &op : body) {
    LogicalResult result = success();
    if (auto loop = dyn_cast<LoopOp>(op)) {
      result = readLoop(loop, region);
    } else if (auto role = dyn_cast<RoleOp>(op)) {
      result = readRole(role, region);
    } else if (isa<WorkOpInterface>(op)) {
      result = readStep(&op, region);
    } else {
      forward(&op);
    }
    if (failed(result)) {
      return failure();
    }
  }
  return success();
}

/// How much longer the longest workgroup is than the mean one.
LogicalResult KernelReader::findLongest() {
  ArrayRef<Level> levels = nest.levels;
  ArrayRef<Level> inner = levels.drop_front(grid.size());
  bool varies = llvm::any_of(inner, [&](const Level &level) {
    return llvm::any_of(
        grid, [&](const Level &outer) { return level.reads(outer.index); });
  });
  if (!varies) {
    return success();
  }
  FailureOr<double> most = iterations.largest(grid, inner);
  if (failed(most)) {
    return failure();
  }
  double mean = nest.executions / work.workgroups();
  // Conditions and short loops do not decide the length of a workgroup.
  if (mean > 1) {
    work.longest = std::max(work.longest, *most / mean);
  }
  return success();
}

FailureOr<int64_t> KernelReader::valueOf(LoadOp load, StringRef key,
                                         StringRef expression) const {
  std::string why;
  FailureOr<double> value = evaluateExpression(expression, bindings, why);
  if (failed(value)) {
    load.emitOpError("in `") << key << "`: " << why;
    return failure();
  }
  return std::llround(*value);
}

LogicalResult KernelReader::expectScalar(LoadOp load) {
  auto enter = [&](StringRef key, std::optional<StringRef> expression,
                   IndexValues &values) {
    if (!expression) {
      return success();
    }
    FailureOr<int64_t> value = valueOf(load, key, *expression);
    if (succeeded(value)) {
      values[load.getResult()] = *value;
    }
    return LogicalResult(value);
  };
  return failure(failed(enter("expect", load.getExpect(), typical)) ||
                 failed(enter("distinct", load.getDistinct(), distinct)));
}

LogicalResult KernelReader::expectScalars() {
  typical = iterations.knownSizes();
  for (auto [level, trips] : llvm::zip_equal(grid, work.grid)) {
    typical[level.index] = int64_t(trips / 2);
  }
  WalkResult walked =
      kernel.walk([&](LoadOp load) { return WalkResult(expectScalar(load)); });
  return success(!walked.wasInterrupted());
}

LogicalResult KernelReader::readGrid() {
  LoopOp loop = kernel.getGrid();
  grid = iterations.levels({loop});
  work.startsNextLate = startsNextLate(kernel);
  bool hasRoles = !loop.getBody().front().getOps<RoleOp>().empty();
  work.turns = kernel.getTurns().value_or(1);
  work.follows = (loop.getPersistent() && !loop.getCarried().empty()) ||
                 (hasRoles && work.turns > 1);
  for (const Level &level : grid) {
    FailureOr<Trips> trips = iterations.trips(level, iterations.knownSizes());
    if (failed(trips)) {
      return failure();
    }
    work.grid.push_back(trips->count);
  }
  if (std::optional<ArrayRef<int64_t>> order = loop.getOrder()) {
    GridOrder meaning(*order);
    work.orderChiplets = meaning.chiplets;
    work.orderRows = meaning.groupRows;
  }
  nest.levels = grid;
  nest.counts.assign(grid.size(), work.workgroups());
  nest.executions = work.workgroups();
  atStart = iterations.knownSizes();
  kernel.walk([&](LoopOp each) {
    for (Value index : each.getInductionVars()) {
      atStart[index] = 0;
    }
  });
  return expectScalars();
}

/// What a workgroup asks for early is there for the loads of the same buffer,
/// which share it.
void KernelReader::readPrefetches() {
  for (PrefetchOp op : kernel.getGrid().getBody().getOps<PrefetchOp>()) {
    auto argument = cast<BlockArgument>(op.getSource());
    StringRef name = kernel.getArgumentName(argument.getArgNumber());
    SmallVector<Access *> served;
    for (Access &access : work.accesses) {
      if (access.name == name && !access.writes) {
        served.push_back(&access);
      }
    }
    double bytes = work.workgroups() * op.getRows() * op.getRowBytes();
    for (Access *access : served) {
      access->early += bytes / served.size();
    }
  }
}

FailureOr<KernelWork> KernelReader::read() {
  work.name = kernel.getSymName().str();
  work.waves = kernel.getWaves();
  work.registersPerThread = registersPerThread(kernel, target);
  work.mostOfUnit = kernel.getWorkgroupsOfUnit().value_or(work.mostOfUnit);
  resultPiece = kernel.getResultPiece().value_or(0);
  int64_t shared = 0, columns = 0;
  for (AllocOp alloc : kernel.getEntry().getOps<AllocOp>()) {
    if (auto tile = dyn_cast<TileType>(alloc.getResult().getType())) {
      bool tensor = tile.getSpace() == Space::Tensor;
      shared += tensor ? 0 : tile.getBytes() * tile.getSlots();
      columns += tensor ? tile.getSlots() * tensorColumns(tile) : 0;
    }
  }
  work.sharedBytes = kernel.getSharedBytes().value_or(shared);
  work.tensorColumns = kernel.getTensorColumns().value_or(columns);
  if (failed(readGrid())) {
    return failure();
  }
  work.blocks.push_back({"workgroup", 1, 1, {}});
  ops.emplace_back();
  if (work.workgroups() > 0 &&
      failed(readRegion(kernel.getGrid().getBody().front(), {}))) {
    return failure();
  }
  readPrefetches();
  for (unsigned i = 0; i < work.blocks.size(); ++i) {
    finishBlock(i);
  }
  return std::move(work);
}

FailureOr<KernelWork> readKernel(KernelOp kernel, const Target &target,
                                 const Bindings &bindings,
                                 const CostOptions &options) {
  IndexValues sizes;
  for (BlockArgument argument : kernel.getEntry().getArguments()) {
    StringRef name = kernel.getArgumentName(argument.getArgNumber());
    auto found = bindings.find(name.str());
    if (argument.getType().isIndex() && found != bindings.end()) {
      sizes[argument] = std::llround(found->second);
    }
  }
  return KernelReader(kernel, target, bindings, options, std::move(sizes))
      .read();
}

} // namespace modelc
