//===- Plan.cpp - Cost of all launches of a step --------------------------===//

#include "dialects/Schedule/Schedule.h"
#include "lib/Cost/PlanClock.h"
#include "lib/Cost/PlanSum.h"
#include "lib/Cost/Read/Expressions.h"
#include "lib/Cost/Read/Iterations.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace modelc::schedule;

namespace modelc {

namespace {
class PlanReader {
public:
  PlanReader(KnownLaunches &launches, const Target &target, Bindings bindings,
             ArrayRef<StepGroup> groups, const CostOptions &options)
      : launches(launches), target(target), bindings(std::move(bindings)),
        groups(groups), options(options) {}
  LogicalResult read(func::FuncOp plan);
  PlanCost cost;

private:
  LogicalResult readBlock(mlir::Block &block, double times);
  LogicalResult readLoop(LoopOp loop, double times);
  LogicalResult readLaunch(LaunchOp launch, double times);
  LogicalResult readGroups(LaunchOp launch, double times);
  static bool walksSequences(LaunchOp launch);
  LogicalResult bindSizes(func::FuncOp plan);
  LogicalResult readCollective(CollectiveOp collective, double times);
  LogicalResult readAlloc(AllocOp alloc, double times);
  FailureOr<double> bytesOf(AllocOp alloc);
  FailureOr<double> bytesOf(Operation *user, BufferType type, ValueRange sizes);
  FailureOr<KernelOp> choose(LaunchOp launch, const Bindings &arguments);
  LogicalResult bindArguments(LaunchOp launch, Bindings &arguments,
                              CostOptions &own);

  std::vector<PendingLaunch> pending;
  KnownLaunch *last = nullptr; // that was read, null = none or a collective
  KnownLaunches &launches;
  const Target &target;
  Bindings bindings;
  ArrayRef<StepGroup> groups; // of the step; empty: bindings say all of it
  const CostOptions &options;
  IndexValues values;
  DenseMap<Value, double> workspaceBytes;
};
} // namespace

FailureOr<double> PlanReader::bytesOf(Operation *user, BufferType type,
                                      ValueRange sizes) {
  double bytes = type.getElementBytes();
  unsigned next = 0;
  for (int64_t extent : type.getShape()) {
    if (!ShapedType::isDynamic(extent)) {
      bytes *= extent;
      continue;
    }
    std::optional<int64_t> size =
        next < sizes.size() ? evaluateIndex(sizes[next], values) : std::nullopt;
    if (!size) {
      return user->emitOpError("expected a size for extent ")
             << next << " that follows from the sizes of the run";
    }
    bytes *= *size;
    ++next;
  }
  return bytes;
}

FailureOr<double> PlanReader::bytesOf(AllocOp alloc) {
  return bytesOf(alloc, cast<BufferType>(alloc.getResult().getType()),
                 alloc.getSizes());
}

LogicalResult PlanReader::readAlloc(AllocOp alloc, double times) {
  if (!isa<BufferType>(alloc.getResult().getType())) {
    return success();
  }
  FailureOr<double> bytes = bytesOf(alloc);
  if (failed(bytes)) {
    return failure();
  }
  switch (alloc.getStorage().value_or(StorageRole::Workspace)) {
  case StorageRole::Weight:
    cost.storage.tensors.push_back(
        {alloc.getSource().value_or("").str(), *bytes, times});
    [[fallthrough]];
  case StorageRole::Constant:
    cost.storage.weights += times * *bytes;
    break;
  case StorageRole::Cache:
    cost.storage.caches += times * *bytes;
    break;
  case StorageRole::Workspace:
  case StorageRole::Peer:
    // One for all layers: nothing of it outlives a trip.
    cost.storage.workspace += *bytes;
    workspaceBytes[alloc.getResult()] = *bytes;
    break;
  default:
    cost.storage.other += *bytes;
    break;
  }
  return success();
}

bool staysCached(double bytes, const Target &target) {
  return 2 * bytes <=
         std::max<double>(target.cache.l2Bytes, target.cache.llcBytes);
}

LogicalResult PlanReader::bindArguments(LaunchOp launch, Bindings &arguments,
                                        CostOptions &own) {
  for (auto [name, value] : launch.getNamedArguments()) {
    auto found = workspaceBytes.find(value);
    if (found != workspaceBytes.end() && staysCached(found->second, target)) {
      own.resident.push_back(name.str());
    }
    if (!value.getType().isIndex()) {
      continue;
    }
    std::optional<int64_t> size = evaluateIndex(value, values);
    if (!size) {
      return launch.emitOpError("expected a value for '")
             << name << "' that follows from the sizes of the run";
    }
    arguments[name.str()] = double(*size);
  }
  return success();
}

static bool holds(KernelOp kernel, const Bindings &arguments) {
  return llvm::all_of(kernel.getDemands(), [&](const SizeDemand &demand) {
    return demand.holds(int64_t(arguments.at(demand.argument.str())));
  });
}

FailureOr<KernelOp> PlanReader::choose(LaunchOp launch,
                                       const Bindings &arguments) {
  for (auto name : launch.getKernels().getAsRange<FlatSymbolRefAttr>()) {
    KernelOp kernel = launches.lookup(name.getValue());
    if (holds(kernel, arguments)) {
      return kernel;
    }
  }
  InFlightDiagnostic error = launch.emitOpError("expected a kernel for ")
                             << launch.getLabel().value_or("a launch")
                             << " whose guard holds at ";
  llvm::interleaveComma(arguments, error, [&](const auto &size) {
    error << size.first << " = " << int64_t(size.second);
  });
  return error;
}

/// The values of the kernel's index arguments.
static Bindings sizesOf(KernelOp kernel, const Bindings &arguments) {
  Bindings sizes;
  for (BlockArgument argument : kernel.getEntry().getArguments()) {
    std::string name = kernel.getArgumentName(argument.getArgNumber()).str();
    auto known = arguments.find(name);
    if (argument.getType().isIndex() && known != arguments.end()) {
      sizes.insert(*known);
    }
  }
  return sizes;
}

LogicalResult PlanReader::readLaunch(LaunchOp launch, double times) {
  Bindings arguments = bindings;
  CostOptions own = options;
  if (failed(bindArguments(launch, arguments, own))) {
    return failure();
  }
  FailureOr<KernelOp> kernel = choose(launch, arguments);
  if (failed(kernel)) {
    return failure();
  }
  FailureOr<KnownLaunch *> read = launches.read(*kernel, arguments, own);
  if (failed(read)) {
    launch.emitRemark("in the kernel launched here");
    return failure();
  }
  pending.push_back({unsigned(cost.steps.size()), *read, last});
  last = *read;
  StringRef label = launch.getLabel().value_or(kernel->getSymName());
  cost.steps.push_back({label.str(), times, false, {}, {}});
  if (options.evidence) {
    cost.steps.back().sizes = sizesOf(*kernel, arguments);
  }
  return success();
}

/// Whether the kernel's grid spans the longest of the sequences.
bool PlanReader::walksSequences(LaunchOp launch) {
  return llvm::any_of(launch.getNamedArguments(), [](const auto &argument) {
    return argument.first == "longest";
  });
}

LogicalResult PlanReader::readGroups(LaunchOp launch, double times) {
  if (groups.size() < 2 || !walksSequences(launch)) {
    return readLaunch(launch, times);
  }
  const Bindings allBindings = bindings;
  const IndexValues allValues = values;
  LogicalResult result = success();
  for (const StepGroup &group : groups) {
    for (const auto &[name, size] : StepShape{{group}}.sizes()) {
      bindings[name] = size;
    }
    result = bindSizes(launch->getParentOfType<func::FuncOp>());
    result = succeeded(result) ? readLaunch(launch, times) : result;
    if (failed(result)) {
      break;
    }
  }
  bindings = allBindings;
  values = allValues;
  return result;
}

LogicalResult PlanReader::readCollective(CollectiveOp collective,
                                         double times) {
  FailureOr<double> bytes = bytesOf(
      collective, collective.getBuffer().getType(), collective.getSizes());
  if (failed(bytes)) {
    return failure();
  }
  FailureOr<KernelCost> one = costCollective(
      collective.getVerb(), *bytes, collective.getGroup(), target, options);
  if (failed(one)) {
    return collective.emitOpError("expected all_reduce, all_gather, "
                                  "reduce_scatter, all_to_all or broadcast, "
                                  "got '")
           << collective.getVerb() << "'";
  }
  last = nullptr;
  StringRef label = collective.getLabel().value_or(collective.getVerb());
  cost.steps.push_back({label.str(), times, true, std::move(*one), {}});
  return success();
}

LogicalResult PlanReader::readLoop(LoopOp loop, double times) {
  double own = 1;
  IndexPrograms programs;
  Iterations iterations(values, bindings, programs);
  for (const Level &level : iterations.levels({loop})) {
    FailureOr<Trips> trips = iterations.trips(level, values);
    if (failed(trips)) {
      return failure();
    }
    own *= trips->count;
    values[level.index] = trips->first; // all trips launch alike
  }
  if (own <= 0) {
    return success();
  }
  size_t first = pending.size();
  KnownLaunch *outside = last;
  if (failed(readBlock(loop.getBody().front(), times * own))) {
    return failure();
  }
  // All trips but one follow the last launch of the trip before.
  if (own > 1 && first < pending.size() && pending[first].before == outside) {
    pending[first].before = last;
  }
  return success();
}

LogicalResult PlanReader::readBlock(mlir::Block &block, double times) {
  for (Operation &op : block) {
    LogicalResult result =
        TypeSwitch<Operation *, LogicalResult>(&op)
            .Case([&](LoopOp loop) { return readLoop(loop, times); })
            .Case([&](LaunchOp launch) { return readGroups(launch, times); })
            .Case([&](CollectiveOp op) { return readCollective(op, times); })
            .Case([&](AllocOp alloc) { return readAlloc(alloc, times); })
            .Default([](Operation *) { return success(); });
    if (failed(result)) {
      return failure();
    }
  }
  return success();
}

/// Gives the plan's size arguments the values of the step.
LogicalResult PlanReader::bindSizes(func::FuncOp plan) {
  for (auto [argument, name] :
       llvm::zip_equal(plan.getArguments(), sizeNamesOf(plan))) {
    auto found = bindings.find(name.str());
    if (found == bindings.end()) {
      return plan.emitOpError("expected a value for size '")
             << name << "' of the run, got none";
    }
    values[argument] = std::llround(found->second);
  }
  return success();
}

LogicalResult PlanReader::read(func::FuncOp plan) {
  cost.name = plan.getSymName().str();
  if (!isPlan(plan)) {
    return plan.emitOpError("expected a plan, got a function without "
                            "'schedule.plan'");
  }
  if (failed(bindSizes(plan)) || failed(readBlock(plan.getBody().front(), 1))) {
    return failure();
  }
  // One replay of the captured graph starts all of it.
  double start = target.launch.graphReplay;
  cost.startTime = {"time",
                    start,
                    "s",
                    "one replay of the captured graph",
                    {"launch.graph_replay"},
                    {}};
  cost.startEnergy = {"energy",
                      start * target.power.idle,
                      "J",
                      "start x idle power",
                      {"launch.graph_replay", "power.idle"},
                      {}};
  settle(cost, pending, target);
  cost.bound.limit = mainLimit(cost, &KernelCost::bound);
  cost.expectation.limit = mainLimit(cost, &KernelCost::expectation);
  return success();
}

PlanCoster::PlanCoster(ModuleOp module, const Target &target)
    : target(target),
      launches(std::make_unique<KnownLaunches>(module, target)) {}

PlanCoster::~PlanCoster() = default;

FailureOr<PlanCost> PlanCoster::cost(func::FuncOp plan,
                                     const Bindings &bindings,
                                     const CostOptions &options) {
  PlanReader reader(*launches, target, bindings, {}, options);
  if (failed(reader.read(plan))) {
    return failure();
  }
  return std::move(reader.cost);
}

FailureOr<PlanCost> PlanCoster::cost(func::FuncOp plan, const StepShape &step,
                                     const Bindings &beside,
                                     const CostOptions &options) {
  Bindings bindings = step.sizes();
  bindings.insert(beside.begin(), beside.end());
  PlanReader reader(*launches, target, std::move(bindings), step.groups,
                    options);
  if (failed(reader.read(plan))) {
    return failure();
  }
  return std::move(reader.cost);
}

} // namespace modelc
