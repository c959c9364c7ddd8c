#include "lib/Cost/Read/KnownLaunches.h"

#include "lib/Cost/Read/ReadKernel.h"
#include "llvm/ADT/TypeSwitch.h"

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

/// Index arguments, and symbols of the workload in what is expected.
static std::set<std::string> namesIn(KernelOp kernel) {
  std::set<std::string> names;
  for (BlockArgument argument : kernel.getEntry().getArguments()) {
    if (argument.getType().isIndex()) {
      names.insert(kernel.getArgumentName(argument.getArgNumber()).str());
    }
  }
  auto add = [&](std::optional<StringRef> expect) {
    if (expect) {
      addNamesOf(*expect, names);
    }
  };
  kernel.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](LoopOp loop) { add(loop.getExpect()); })
        .Case([&](LoadOp load) {
          add(load.getExpect());
          add(load.getDistinct());
        });
  });
  return names;
}

Bindings KnownLaunches::readBy(KernelOp kernel, const Bindings &bindings) {
  auto [names, isNew] = namesOf.try_emplace(kernel);
  if (isNew) {
    names->second = namesIn(kernel);
  }
  Bindings own;
  for (const std::string &name : names->second) {
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
