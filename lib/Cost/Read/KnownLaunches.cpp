#include "lib/Cost/Read/KnownLaunches.h"

using namespace mlir;
using namespace modelc::schedule;

namespace modelc {

const KernelTime &KnownLaunch::timeAt(double clockHz, const Target &target,
                                      double early) {
  auto [place, isNew] = times.try_emplace({clockHz, early});
  if (isNew) {
    place->second =
        launched.timeAt(launched.expectation(), clockHz, target, early);
  }
  return place->second;
}

/// Symbols of the workload are read by the `expect` of loops only.
Bindings KnownLaunches::readBy(KernelOp kernel, const Bindings &bindings) {
  auto [place, isNew] = readsWorkload.try_emplace(kernel, false);
  if (isNew) {
    kernel.walk([&](LoopOp loop) { place->second |= !!loop.getExpect(); });
  }
  if (place->second) {
    return bindings;
  }
  Bindings own;
  for (BlockArgument argument : kernel.getEntry().getArguments()) {
    std::string name = kernel.getArgumentName(argument.getArgNumber()).str();
    if (auto found = bindings.find(name); found != bindings.end()) {
      own.insert(*found);
    }
  }
  return own;
}

llvm::FailureOr<KnownLaunch *> KnownLaunches::read(KernelOp kernel,
                                                   const Bindings &bindings,
                                                   const CostOptions &options) {
  Key key = {kernel, readBy(kernel, bindings), options.resident,
             options.cacheBytesTaken, options.explain};
  std::unique_ptr<KnownLaunch> &launch = known[key];
  if (!launch) {
    llvm::FailureOr<KernelWork> work =
        readKernel(kernel, target, key.bindings, options);
    if (failed(work)) {
      return llvm::failure();
    }
    CostOptions chosen = options;
    chosen.chosen = true;
    launch = std::make_unique<KnownLaunch>(std::move(*work), target, chosen);
  }
  return launch.get();
}

} // namespace modelc
