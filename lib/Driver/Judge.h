//===- Judge.h - What candidates for a kernel take ------------------------===//
//
// By the real passes and the real cost: what is judged is what would be
// emitted. A candidate is brought into its final form once, and read once at
// each size, whoever asks.
//
//===----------------------------------------------------------------------===//

#ifndef MODELC_LIB_DRIVER_JUDGE_H
#define MODELC_LIB_DRIVER_JUDGE_H

#include "lib/Cost/Cost.h"
#include "lib/Kernels/Kernels.h"
#include "lib/SchedulePasses/SchedulePasses.h"

namespace modelc {

class Judge {
public:
  /// Both outlive it.
  Judge(const KernelFinisher &finisher, const Target &target)
      : finisher(finisher), target(target) {}

  /// Judges by the cost with `options`; the judge outlives the answer.
  EvaluateKernels evaluateWith(const CostOptions &options);

private:
  llvm::FailureOr<Judgement> judge(const KernelSequence &kernels,
                                   llvm::ArrayRef<SizesOfRun> sizes,
                                   const CostOptions &options);
  /// Whether the target runs the kernel, which has its final form then.
  bool finish(schedule::KernelOp kernel);
  /// What one kernel takes at some sizes.
  struct Timed {
    double seconds = 0;
    int64_t perUnit = 0; // workgroups that a unit runs
  };
  llvm::FailureOr<Timed> time(schedule::KernelOp kernel, const Bindings &sizes,
                              const CostOptions &options);
  Timed time(const KernelWork &work, const CostOptions &options) const;

  /// All that the amounts of a kernel depend on.
  struct Key {
    mlir::Operation *kernel;
    Bindings sizes;
    std::vector<std::string> resident;
    auto operator<=>(const Key &) const = default;
  };
  struct Known {
    llvm::FailureOr<KernelWork> work;
    std::map<bool, Timed> times; // by whether it is followed event by event
  };

  const KernelFinisher &finisher;
  const Target &target;
  llvm::DenseMap<mlir::Operation *, bool> finished;
  std::map<Key, Known> known;
};

} // namespace modelc

#endif // MODELC_LIB_DRIVER_JUDGE_H
