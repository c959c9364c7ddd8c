#include "lib/Driver/Judge.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace modelc;

/// Adds the names of the buffers of a kernel of so many rows that are `wanted`
/// and stay in the last cache from one kernel to the next.
static void addCached(schedule::KernelOp kernel, const Target &target,
                      double rows, llvm::function_ref<bool(StringRef)> wanted,
                      std::vector<std::string> &names) {
  Block &entry = kernel.getEntry();
  for (auto [position, argument] : llvm::enumerate(entry.getArguments())) {
    auto type = dyn_cast<schedule::BufferType>(argument.getType());
    StringRef name = kernel.getArgumentName(position);
    if (type && wanted(name) && staysCached(type.getBytes(rows), target)) {
      names.push_back(name.str());
    }
  }
}

/// What the kernel before a linear has just written.
static bool isInputOfLinear(StringRef name) {
  return name == "a" || name.starts_with("a_") || name == "residual";
}
static bool isAny(StringRef) { return true; }

bool Judge::finish(schedule::KernelOp kernel) {
  auto [known, isNew] = finished.try_emplace(kernel, false);
  if (isNew) {
    known->second = succeeded(finisher.finishUnproven(kernel));
  }
  return known->second;
}

Judge::Timed Judge::time(const KernelWork &work,
                         const CostOptions &options) const {
  KernelCost cost = estimate(work, target, options);
  Timed timed = {cost.expectation.seconds,
                 static_cast<int64_t>(cost.workgroupsPerUnit)};
  if (work.earlyBytes() > 0) {
    // Some follow a kernel that leaves memory idle, some one that does not.
    CostOptions early = options;
    early.early = true;
    double least = estimate(work, target, early).expectation.seconds;
    timed.seconds += (least - timed.seconds) / 2;
  }
  return timed;
}

FailureOr<Judge::Timed> Judge::time(schedule::KernelOp kernel,
                                    const Bindings &sizes,
                                    const CostOptions &options) {
  Key key = {kernel, sizes, options.resident};
  auto place = known.find(key);
  if (place == known.end()) {
    Known read = {readKernel(kernel, target, sizes, options), {}};
    place = known.try_emplace(std::move(key), std::move(read)).first;
  }
  auto &[work, times] = place->second;
  if (failed(work)) {
    return failure();
  }
  auto [timed, isNew] = times.try_emplace(options.chosen);
  if (isNew) {
    timed->second = time(*work, options);
  }
  return timed->second;
}

FailureOr<Judgement> Judge::judge(const KernelSequence &kernels,
                                  ArrayRef<SizesOfRun> sizes,
                                  const CostOptions &options) {
  // A candidate that does not fit the machine is no mistake of the user.
  ScopedDiagnosticHandler quiet(kernels.front()->getContext(),
                                [](Diagnostic &) { return success(); });
  if (!llvm::all_of(kernels, [&](auto kernel) { return finish(kernel); })) {
    return failure();
  }
  Judgement judgement;
  for (const Bindings &bound : sizes) {
    CostOptions following = options;
    following.compared = true;
    auto rows = bound.find("m");
    if (rows != bound.end()) {
      addCached(kernels.front(), target, rows->second, isInputOfLinear,
                following.resident);
    }
    double seconds = 0;
    for (schedule::KernelOp kernel : kernels) {
      FailureOr<Timed> timed = time(kernel, bound, following);
      if (failed(timed)) {
        return failure();
      }
      seconds += timed->seconds;
      if (kernel == kernels.front()) {
        judgement.perUnit = timed->perUnit;
      }
      if (kernel != kernels.back()) {
        addCached(kernel, target, bound.at("m"), isAny, following.resident);
      }
    }
    judgement.seconds.push_back(seconds);
  }
  return judgement;
}

EvaluateKernels Judge::evaluateWith(const CostOptions &options) {
  return [this, options](ArrayRef<KernelSequence> candidates,
                         ArrayRef<SizesOfRun> sizes) {
    std::vector<FailureOr<Judgement>> judgements;
    for (const KernelSequence &candidate : candidates) {
      judgements.push_back(judge(candidate, sizes, options));
    }
    return judgements;
  };
}
