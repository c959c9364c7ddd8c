//===- Plan.cpp - Cost of all launches of a step --------------------------===//

#include "dialects/Schedule/Schedule.h"
#include "lib/Cost/Cost.h"
#include "lib/Cost/Read/Expressions.h"
#include "lib/Cost/Read/Iterations.h"
#include "lib/Cost/Read/KnownLaunches.h"
#include "lib/Cost/Time/Early.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace modelc::schedule;

namespace modelc {

namespace {
class PlanReader {
public:
  PlanReader(KnownLaunches &launches, const Target &target,
             const Bindings &bindings, const CostOptions &options)
      : launches(launches), target(target), bindings(bindings),
        options(options) {}
  LogicalResult read(func::FuncOp plan);
  PlanCost cost;

private:
  LogicalResult readBlock(mlir::Block &block, double times);
  LogicalResult readLoop(LoopOp loop, double times);
  LogicalResult readLaunch(LaunchOp launch, double times);
  LogicalResult readCollective(CollectiveOp collective, double times);
  LogicalResult readAlloc(AllocOp alloc, double times);
  FailureOr<double> bytesOf(AllocOp alloc);
  FailureOr<double> bytesOf(Operation *user, BufferType type, ValueRange sizes);
  FailureOr<KernelOp> choose(LaunchOp launch, Bindings &arguments,
                             CostOptions &own);
  void bindArguments(LaunchOp launch, KernelOp kernel, Bindings &arguments,
                     CostOptions &own);
  double secondsAt(double clockHz);
  void addUp();

  /// A launch whose cost waits for the clock of the whole step.
  struct Pending {
    unsigned step = 0; // of the plan
    KnownLaunch *launch = nullptr;
    KnownLaunch *before = nullptr; // that it follows directly, null = none

    /// Bytes that have come before its turn.
    double early(double clockHz, const Target &target) const {
      return before
                 ? earlyBytes(before->launched, before->timeAt(clockHz, target),
                              launch->launched, target)
                 : 0;
    }
    const KernelTime &timeAt(double clockHz, const Target &target) const {
      return launch->timeAt(clockHz, target, early(clockHz, target));
    }
  };
  std::vector<Pending> pending;
  KnownLaunch *last = nullptr; // that was read, null = none or a collective
  KnownLaunches &launches;
  const Target &target;
  const Bindings &bindings;
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

void PlanReader::bindArguments(LaunchOp launch, KernelOp kernel,
                               Bindings &arguments, CostOptions &own) {
  for (auto [position, value] : llvm::enumerate(launch.getArguments())) {
    if (position >= kernel.getEntry().getNumArguments()) {
      break;
    }
    std::string name = kernel.getArgumentName(position).str();
    auto found = workspaceBytes.find(value);
    if (found != workspaceBytes.end() && staysCached(found->second, target)) {
      own.resident.push_back(name);
    }
    if (value.getType().isIndex()) {
      if (std::optional<int64_t> size = evaluateIndex(value, values)) {
        arguments[name] = double(*size);
      }
    }
  }
}

static bool holds(KernelOp kernel, const Bindings &arguments) {
  return llvm::all_of(kernel.getDemands(), [&](const SizeDemand &demand) {
    auto found = arguments.find(demand.argument.str());
    return found == arguments.end() || demand.holds(int64_t(found->second));
  });
}

FailureOr<KernelOp> PlanReader::choose(LaunchOp launch, Bindings &arguments,
                                       CostOptions &own) {
  for (Attribute name : launch.getKernels()) {
    KernelOp kernel = launches.lookup(cast<FlatSymbolRefAttr>(name).getValue());
    if (!kernel) {
      return launch.emitOpError("expected a kernel named ") << name;
    }
    arguments = bindings;
    own = options;
    bindArguments(launch, kernel, arguments, own);
    if (holds(kernel, arguments)) {
      return kernel;
    }
  }
  return launch.emitOpError("expected a kernel whose guard holds at these "
                            "sizes");
}

/// Of everything but the bound.
double PlanReader::secondsAt(double clockHz) {
  double seconds = cost.startTime.value;
  for (const StepCost &step : cost.steps) {
    seconds += step.collective ? step.count * step.cost.expectation.seconds : 0;
  }
  for (const Pending &one : pending) {
    seconds += cost.steps[one.step].count * one.timeAt(clockHz, target).seconds;
  }
  return seconds;
}

/// Finds the clock of the step, then what each launch takes at it.
void PlanReader::addUp() {
  WorkJoules joules;
  for (const StepCost &step : cost.steps) {
    const Estimate &one = step.cost.expectation;
    joules.beside +=
        step.count * (one.joules - target.power.idle * one.seconds);
  }
  for (const Pending &one : pending) {
    joules.add(cost.steps[one.step].count, one.launch->launched.joules);
  }
  PowerState state = underPower(
      joules, target, [&](double clockHz) { return secondsAt(clockHz); });
  for (const Pending &one : pending) {
    cost.steps[one.step].cost = costAt(one.launch->launched, target, state,
                                       one.timeAt(state.clockHz, target),
                                       one.early(state.clockHz, target));
  }
  for (const StepCost &step : cost.steps) {
    for (auto [sum, one] :
         {std::pair(&cost.bound, &step.cost.bound),
          std::pair(&cost.expectation, &step.cost.expectation)}) {
      sum->seconds += step.count * one->seconds;
      sum->joules += step.count * one->joules;
    }
    cost.launches += step.count;
  }
  cost.expectation.seconds += cost.startTime.value;
  cost.expectation.joules += cost.startEnergy.value;
  cost.bound.clockHz = target.clock.boostHz;
  cost.expectation.clockHz = state.clockHz;
  cost.power = powerTerm(state, target);
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
  Bindings arguments;
  CostOptions own;
  FailureOr<KernelOp> kernel = choose(launch, arguments, own);
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
  Iterations iterations(values, bindings);
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
            .Case([&](LaunchOp launch) { return readLaunch(launch, times); })
            .Case([&](CollectiveOp op) { return readCollective(op, times); })
            .Case([&](AllocOp alloc) { return readAlloc(alloc, times); })
            .Default([](Operation *) { return success(); });
    if (failed(result)) {
      return failure();
    }
  }
  return success();
}

/// What most of the time goes to.
static std::string mainLimit(const PlanCost &cost,
                             Estimate KernelCost::*which) {
  std::map<std::string, double> seconds;
  for (const StepCost &step : cost.steps) {
    const Estimate &one = step.cost.*which;
    seconds[one.limit] += step.count * one.seconds;
  }
  auto most = std::max_element(
      seconds.begin(), seconds.end(),
      [](const auto &a, const auto &b) { return a.second < b.second; });
  return most == seconds.end() ? "nothing" : most->first;
}

LogicalResult PlanReader::read(func::FuncOp plan) {
  cost.name = plan.getSymName().str();
  auto names = plan->getAttrOfType<ArrayAttr>("arg_names");
  for (BlockArgument argument : plan.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (!argument.getType().isIndex() || !names || number >= names.size()) {
      continue;
    }
    StringRef name = cast<StringAttr>(names[number]).getValue();
    auto found = bindings.find(name.str());
    if (found == bindings.end()) {
      return plan.emitOpError("expected a value for size '")
             << name << "' of the run, got none";
    }
    values[argument] = std::llround(found->second);
  }
  if (failed(readBlock(plan.getBody().front(), 1))) {
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
  addUp();
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
  PlanReader reader(*launches, target, bindings, options);
  if (failed(reader.read(plan))) {
    return failure();
  }
  return std::move(reader.cost);
}

} // namespace modelc
