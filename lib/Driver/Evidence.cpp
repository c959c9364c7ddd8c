//===- Evidence.cpp - What the estimate says of every kernel --------------===//

#include "lib/Driver/Package.h"

#include "lib/Cost/Cost.h"
#include "lib/Support/Support.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace modelc;

static Prediction predictionOf(const KernelCost &cost, const Bindings &sizes) {
  const Evidence &evidence = cost.evidence;
  Prediction prediction;
  prediction.seconds = cost.expectation.seconds;
  prediction.joules = cost.expectation.joules;
  prediction.sizes = sizes;
  prediction.limit = cost.expectation.limit;
  prediction.peakFraction = evidence.peakSeconds / cost.expectation.seconds;
  prediction.peakOf = resourceName(evidence.peakOf);
  prediction.workgroupsPerUnit = cost.workgroupsPerUnit;
  prediction.perUnitBy = evidence.perUnitBy;
  prediction.registers = evidence.registersPerThread;
  prediction.movedBytes = cost.traffic.memory();
  prediction.leastBytes = evidence.leastBytes;
  prediction.trips = evidence.trip.trips;
  prediction.conflictClocks = evidence.trip.conflictClocks;
  prediction.waits = evidence.trip.waits;
  prediction.syncs = evidence.trip.syncs;
  return prediction;
}

/// Sizes that a kernel serves, beside all that the step binds.
static Bindings sizesNear(schedule::KernelOp kernel, const Bindings &step) {
  Bindings sizes;
  for (const schedule::SizeDemand &demand : kernel.getDemands()) {
    auto known = step.find(demand.argument.str());
    bool isBound = known != step.end();
    sizes[demand.argument.str()] = static_cast<double>(demand.nearest(
        isBound ? static_cast<int64_t>(known->second) : INT64_MAX));
  }
  return sizes;
}

FailureOr<std::map<std::string, Prediction>>
modelc::predictionsOf(ModuleOp module, const Report &report,
                      const Bindings &lastStep, const Target &target) {
  std::map<std::string, Prediction> predictions;
  for (const PlanCost *plan : {&report.prefill, &report.decode}) {
    for (const StepCost &step : plan->steps) {
      predictions[step.cost.name] = predictionOf(step.cost, step.sizes);
    }
  }
  CostOptions options;
  options.chosen = true;
  options.evidence = true;
  for (auto kernel : module.getOps<schedule::KernelOp>()) {
    auto [place, isNew] = predictions.try_emplace(kernel.getSymName().str());
    if (!isNew) {
      continue;
    }
    // No step of this workload runs it.
    Bindings sizes = sizesNear(kernel, lastStep), all = sizes;
    all.insert(lastStep.begin(), lastStep.end());
    FailureOr<KernelCost> cost = costKernel(kernel, target, all, options);
    if (failed(cost)) {
      return failure();
    }
    place->second = predictionOf(*cost, sizes);
  }
  return predictions;
}

//===----------------------------------------------------------------------===//
// In words
//===----------------------------------------------------------------------===//

/// The value below keys, or null.
static const Node *valueAt(const Node &node, ArrayRef<llvm::StringRef> keys) {
  const Node *value = &node;
  for (llvm::StringRef key : keys) {
    value = value ? value->find(key) : nullptr;
  }
  return value;
}

static double numberAt(const Node &node, ArrayRef<llvm::StringRef> keys) {
  const Node *value = valueAt(node, keys);
  return value ? value->number : 0;
}

static std::string textAt(const Node &node, llvm::StringRef key) {
  const Node *value = node.find(key);
  return value ? value->string : "";
}

static void printSizes(const Node &kernel, llvm::raw_ostream &os) {
  os << "kernel " << textAt(kernel, "symbol");
  const Node *sizes = valueAt(kernel, {"evidence", "sizes"});
  llvm::StringRef separator = " at ";
  for (const Member &size : sizes ? sizes->members : std::vector<Member>()) {
    os << separator << size.key << " = "
       << formatQuantity(size.value.number, "");
    separator = ", ";
  }
  os << "\n";
}

static void printTrip(const Node &evidence, llvm::raw_ostream &os) {
  const Node *trip = evidence.find("trip");
  if (!trip) {
    return;
  }
  auto number = [&](llvm::StringRef key) {
    return formatQuantity(numberAt(*trip, {key}), "");
  };
  os << "  a trip of its main loop, of " << number("trips")
     << ": matrix instructions " << number("matrix_instructions") << ", waits "
     << number("waits") << ", syncs " << number("syncs")
     << ", clocks of bank conflicts " << number("bank_conflict_clocks") << "\n";
  const Node *loops = valueAt(evidence, {"binary", "loops"});
  for (const Node &loop : loops ? loops->items : std::vector<Node>()) {
    os << "  a loop of the code: matrix instructions "
       << formatQuantity(numberAt(loop, {"matrix_instructions"}), "")
       << ", copies of a trip "
       << formatQuantity(numberAt(loop, {"copies_of_a_trip"}), "") << "\n";
  }
}

static void printEvidence(const Node &kernel, llvm::raw_ostream &os) {
  const Node *evidence = kernel.find("evidence");
  if (!evidence) {
    return;
  }
  auto number = [&](ArrayRef<llvm::StringRef> keys, llvm::StringRef unit = "") {
    return formatQuantity(numberAt(*evidence, keys), unit, 4);
  };
  printSizes(kernel, os);
  os << "  registers of a thread: " << number({"registers"}) << " planned";
  if (evidence->find("binary")) {
    os << ", " << number({"binary", "registers"}) << " in the binary, "
       << number({"binary", "spilled_bytes"}, "B") << " spilled";
  }
  os << "\n  workgroups that a unit runs at once: "
     << number({"workgroups_per_unit"}) << " ["
     << textAt(*evidence, "limited_by") << "]\n";
  printTrip(*evidence, os);
  os << "  device memory: " << number({"memory_bytes", "moved"}, "B")
     << " moved, " << number({"memory_bytes", "least"}, "B") << " at least\n  "
     << formatQuantity(100 * numberAt(*evidence, {"fraction_of_peak"}), "", 3)
     << " % of the peak of " << textAt(*evidence, "peak_of") << ", limited by "
     << textAt(*evidence, "limit") << "\n";
}

LogicalResult modelc::printEvidence(const SourceFile &manifest,
                                    ArrayRef<std::string> symbols,
                                    llvm::raw_ostream &os,
                                    llvm::raw_ostream &errors) {
  FailureOr<Node> root = parseJson(manifest, errors);
  const Node *kernels = succeeded(root) ? root->find("kernels") : nullptr;
  if (!kernels) {
    return failure();
  }
  for (const Node &kernel : kernels->items) {
    if (llvm::is_contained(symbols, textAt(kernel, "symbol"))) {
      ::printEvidence(kernel, os);
    }
  }
  return success();
}
