//===- KnownLaunches.h - Launches of a module that were read already ------===//
//
// Inner to lib/Cost. The plans of a module launch the same kernels at the same
// sizes again and again: a norm several times in a layer, all linears of a
// decode step whatever the context, those of a prompt's chunk wherever it lies.
// Each is read once for all steps of a run, and timed once for each clock: what
// a kernel does not read, neither as an argument nor in what it expects, makes
// no difference.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_COST_READ_KNOWNLAUNCHES_H
#define LIB_COST_READ_KNOWNLAUNCHES_H

#include "dialects/Schedule/Schedule.h"
#include "lib/Cost/Time/Launched.h"
#include <memory>
#include <set>

namespace modelc {

/// One kernel at the sizes of a launch.
class KnownLaunch {
public:
  KnownLaunch(KernelWork work, const Target &target, const CostOptions &options)
      : work(std::move(work)), launched(this->work, target, options) {}
  KnownLaunch(const KnownLaunch &) = delete;

  /// As it is expected at a clock, of which `early` bytes have come before.
  const KernelTime &timeAt(double clockHz, const Target &target,
                           double early = 0);

private:
  KernelWork work;
  std::map<std::pair<double, double>, KernelTime> times; // clock, early bytes

public:
  const Launched launched;
};

class KnownLaunches {
public:
  KnownLaunches(mlir::ModuleOp module, const Target &target)
      : symbols(module), target(target) {}
  /// Null: no such kernel.
  schedule::KernelOp lookup(llvm::StringRef name) const {
    return symbols.lookup<schedule::KernelOp>(name);
  }
  llvm::FailureOr<KnownLaunch *> read(schedule::KernelOp kernel,
                                      const Bindings &bindings,
                                      const CostOptions &options);

private:
  /// Of the bindings, those that the kernel reads.
  Bindings readBy(schedule::KernelOp kernel, const Bindings &bindings);

  /// All that the answer depends on.
  struct Key {
    mlir::Operation *kernel;
    Bindings bindings;
    std::vector<std::string> resident;
    double cacheBytesTaken;
    bool explain;
    auto operator<=>(const Key &) const = default;
  };
  mlir::SymbolTable symbols;
  const Target &target;
  std::map<Key, std::unique_ptr<KnownLaunch>> known;
  std::map<mlir::Operation *, std::set<std::string>> namesOf; // that it reads
};

} // namespace modelc

#endif // LIB_COST_READ_KNOWNLAUNCHES_H
