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

/// How linears are cut and run where a caller asks for one way in place of the
/// best: members that are empty, or as they are here, ask for nothing.
struct LinearCut {
  /// m, n, k, waves of each, and pieces of m and n whose copies and products
  /// take turns, where they do. All below but the parts holds for these only.
  std::vector<std::vector<int64_t>> tiles;
  int64_t leastParts = 1, mostParts = 1; ///< of a sum
  bool weightFirst = false;              ///< in products
  bool hasRoles = false;                 ///< waves that copy beside those that
                                         ///< multiply
  int64_t sharers = 1;      ///< tiles along m whose workgroups load one weight
  int64_t weightsAhead = 0; ///< trips that lanes load the weight into registers
                            ///< ahead; 0: it passes through shared memory
  int64_t slots = 0;        ///< of the ring of operands
  int64_t groupRows = 0;    ///< of tiles, gone down together
  int64_t workgroups = 0;   ///< that a unit runs at once, at most
  /// What only the time of a kernel depends on, as its attributes say it:
  /// groups of waves that take the tiles of a unit in turns, so that one
  /// multiplies while the others store results; numbers of a wave that pass
  /// through shared memory at a time before they are stored (0: none do); and
  /// copies in front of a product, not between its instructions.
  int64_t turns = 1;
  int64_t resultPiece = 0;
  bool copiesFirst = false;
  /// Rows, columns and waves of what quantises the input.
  std::vector<int64_t> quantise;
  bool knowsScales = false; ///< of the input, before the run
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
  /// How linears are cut; null: as is best.
  const LinearCut *cut = nullptr;
  /// That if it says into which tiles, or null.
  const LinearCut *tiled() const {
    return cut && !cut->tiles.empty() ? cut : nullptr;
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
