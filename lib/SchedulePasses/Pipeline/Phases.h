//===- Phases.h - A loop of several products, one phase each --------------===//

#ifndef LIB_SCHEDULEPASSES_PIPELINE_PHASES_H
#define LIB_SCHEDULEPASSES_PIPELINE_PHASES_H

#include "lib/SchedulePasses/Pipeline/Rings.h"

namespace modelc {

/// One product and the reads of the places that it is the first to read.
struct ProductPhase {
  schedule::MmaOp mma;
  llvm::SmallVector<schedule::LoadOp> loads;
};

/// A copy and the phase that issues it, counted on from the trip that is
/// `slots` before the one it fills: beyond the last phase it is one of the next
/// trip, and fills a place of the trip that is one less ahead.
struct Refill {
  schedule::CopyOp copy;
  int64_t phase = 0;
};

/// A loop whose products are phases; what the strategies of `schedule-stagger`
/// have in common.
class PhasedLoop {
public:
  explicit PhasedLoop(const Target &target) : target(target) {}
  /// Phases and ring of a loop from 0 by 1 that lanes copy for, runs once, and
  /// holds nothing else that takes time. The ring has two slots at least, and
  /// `spareSlots` fewer than where one rendezvous guards the whole slot.
  llvm::LogicalResult find(schedule::LoopOp loop, int64_t spareSlots);

protected:
  auto count() const { return static_cast<int64_t>(phases.size()); }
  schedule::CopyOp copyOf(schedule::LoadOp load);
  /// Copies of one trip that are issued before the loop: all but those that the
  /// first trip issues itself.
  void copyBefore(mlir::OpBuilder &builder, int64_t trip);
  /// The copies of one phase.
  void refill(mlir::OpBuilder &builder, int64_t phase);
  /// What the naive loop has of copies, waits and rendezvous.
  llvm::SmallVector<mlir::Operation *> naiveOps();

  const Target &target;
  Ring ring;
  llvm::SmallVector<ProductPhase> phases;
  llvm::SmallVector<Refill> refills;

private:
  llvm::LogicalResult findPhases();
  llvm::LogicalResult chooseRingSlots(int64_t spareSlots);
};

/// One group of waves reads for the next product while one runs.
llvm::LogicalResult readAhead(schedule::LoopOp loop, const Target &target);

} // namespace modelc

#endif // LIB_SCHEDULEPASSES_PIPELINE_PHASES_H
