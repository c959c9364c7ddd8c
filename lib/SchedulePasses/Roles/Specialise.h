//===- Specialise.h - One kernel on its way to roles ----------------------===//
//
// Specialise.cpp says what roles look like and makes them, SpecialiseBoxes.cpp
// lets a thread copy for the others, SpecialiseLanes.cpp waves,
// SpecialiseTiles.cpp lets roles go on from tile to tile,
// SpecialiseProducts.cpp takes products out of a loop that adds them.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_SCHEDULEPASSES_ROLES_SPECIALISE_H
#define LIB_SCHEDULEPASSES_ROLES_SPECIALISE_H

#include "lib/SchedulePasses/Pipeline/Rings.h"

namespace modelc {

class Specialise {
public:
  Specialise(schedule::KernelOp kernel, const Target &target)
      : kernel(kernel), target(target) {}
  /// Whether the kernel has the one form that is cut into roles.
  bool isPossible();
  void run();

private:
  bool canMove(mlir::Operation &op);
  bool canCut(schedule::LoopOp loop);
  /// Whether waves copy, not one thread.
  bool copiesByLanes() { return !ring->full; }
  bool canCutLanes(schedule::LoopOp loop);
  void findCondition();
  /// What a workgroup does: the body of the grid, or of the condition in it.
  mlir::Block &work();
  /// Numbers that roles share leave the condition.
  void hoistNumbers();
  /// Behind what the role does so far, within its condition.
  mlir::OpBuilder openWork(schedule::RoleOp role);
  /// Whether lanes fill a place that no trip fills anew.
  static bool isOnce(mlir::Operation &op);
  int64_t onceBytes(); ///< of such places
  void awaitLanes();
  void makeLaneCopies(schedule::RoleOp role);
  bool isIntoTensor() {
    return llvm::isa<schedule::TokenType>(ring->mmas[0].getResult().getType());
  }
  /// Whether the workgroups of the cluster multiply together.
  bool isPaired() { return ring->mmas[0].getWorkgroups().value_or(1) > 1; }
  /// Whether each trip has a product of its own, which waves add to sums.
  bool isFresh();
  bool canPersist();
  bool accumulatorsFit(int64_t times);
  int64_t turns();
  /// Whether the ring, or the accumulators in turns, leave no room for another
  /// workgroup on the unit.
  bool fillsUnit();
  void carryTile();
  void setTurns();
  void numberTrips();
  void numberProducts(mlir::Value number);
  bool exceedsLaunch();
  void setRegisters();
  schedule::RoleOp makeRole(llvm::StringRef name, int64_t waves, bool elect,
                            int64_t registers);
  mlir::Value makeBarrier(int64_t slots);
  void reachCluster();
  void shareCopies();
  mlir::OpBuilder openTrips(schedule::RoleOp role, mlir::IRMapping &mapping);
  void makeLoad(schedule::RoleOp role);
  void makeMatrix();
  void makeMatrixRole(schedule::RoleOp epilogue);
  void makeProducts(schedule::RoleOp role);
  void releaseInOrder(mlir::Value trip);
  void moveRest(schedule::RoleOp role);

  schedule::KernelOp kernel;
  const Target &target;
  std::optional<Ring> ring;
  schedule::LoopOp condition; ///< around all that a workgroup does, or null
  mlir::Value empty, drained;
  llvm::SmallVector<mlir::Value, 2> done; ///< of products
  /// The number of the tile of a persistent grid, or null.
  mlir::Value tile;
  int64_t firstWave = 0, loadWaves = 1;
  /// Of the waves that multiply and of those that copy, or 0.
  int64_t matrixRegisters = 0, loadRegisters = 0;
};

} // namespace modelc

#endif // LIB_SCHEDULEPASSES_ROLES_SPECIALISE_H
