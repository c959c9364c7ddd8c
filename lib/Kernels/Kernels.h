//===- Kernels.h - From the model dialect to the schedule dialect ---------===//
//
// One file per kernel family builds the plain form of its kernels; Tiling
// chooses their sizes for a target; lowerToSchedule turns a graph into kernels
// and the plan that launches them.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_KERNELS_H
#define LIB_KERNELS_KERNELS_H

#include "dialects/Schedule/Schedule.h"
#include "lib/Cost/Cost.h"
#include "lib/Hardware/Hardware.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/LogicalResult.h"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace modelc {

/// Values of size arguments by name.
using SizesOfRun = std::map<std::string, double>;

/// Kernels, in the plain form, that run one after the other.
using KernelSequence = llvm::SmallVector<schedule::KernelOp, 2>;

/// What a candidate takes.
struct Judgement {
  llvm::SmallVector<double, 1> seconds; ///< at each of the sizes asked for
  int64_t perUnit = 0; ///< workgroups of its first kernel that a unit runs
};

/// Of each candidate, or failure for one that cannot be scheduled on the
/// target. Brings the kernels into their final form; each stays what it is
/// until all is chosen, and can be judged again.
using EvaluateKernels = std::function<std::vector<llvm::FailureOr<Judgement>>(
    llvm::ArrayRef<KernelSequence> candidates,
    llvm::ArrayRef<SizesOfRun> sizes)>;

/// What the choice of tiles did.
struct SearchCount {
  uint64_t choices = 0;   ///< shapes and ranges of sizes that were given a tile
  uint64_t rejected = 0;  ///< candidates that the target cannot run
  uint64_t previewed = 0; ///< that were timed by arithmetic
  uint64_t judged = 0;    ///< whose schedules were built and costed
};

struct KernelOptions {
  /// Tokens of a prefill step, sequences of a step, and positions of a
  /// sequence: kernels serve every size up to these.
  int64_t maxTokens = 16384, maxSequences = 256, maxContext = 131072;
  /// The only steps that will be asked for, so that ranges of rows that none
  /// meets get no kernels; empty: any step of the sizes above.
  std::vector<StepShape> steps;
  /// Judges candidates; without it the first legal one in order of a preview
  /// by arithmetic is taken.
  EvaluateKernels evaluate;
  /// The same, each followed event by event: for candidates that differ in who
  /// waits for whom. Null: as `evaluate`.
  EvaluateKernels follow;
  /// Candidates that are judged for one shape and range.
  unsigned maxCandidates = 5;
  SearchCount *count = nullptr; ///< is added to, where somebody asks
  /// Linears are cut as the kernels of an engine are; null: as is best.
  const EngineKernels *engine = nullptr;
  /// The engine if it is known to which tiles it cuts, or null.
  const EngineKernels *tiled() const {
    return engine && !engine->tiles.empty() ? engine : nullptr;
  }
};

/// Replaces every graph of the module, each bound to a phase, by its plan, a
/// function of the phase's name, and by the kernels that the plans launch.
///
/// Size arguments of a plan: `tokens`, `sequences` and `longest` (new tokens of
/// one sequence; not in a decode step), `pages_per_sequence`, `cache_rows` and,
/// over several ranks, `rank`.
llvm::LogicalResult lowerToSchedule(mlir::ModuleOp module, const Target &target,
                                    const KernelOptions &options);

/// Make `--kernels-build` and `--kernels-lower` known.
void registerKernelsBuild();
void registerKernelsLower();

} // namespace modelc

#endif // LIB_KERNELS_KERNELS_H
