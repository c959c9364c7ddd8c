//===- Specialise.h - One kernel on its way to roles ----------------------===//
//
// Specialise.cpp says what roles look like and makes them, SpecialiseTiles.cpp
// lets them go on from tile to tile.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_SCHEDULEPASSES_SPECIALISE_H
#define LIB_SCHEDULEPASSES_SPECIALISE_H

#include "lib/SchedulePasses/Rings.h"

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
  bool isIntoTensor() {
    return llvm::isa<schedule::TokenType>(ring->mmas[0].getResult().getType());
  }
  /// Whether the workgroups of the cluster multiply together.
  bool isPaired() { return ring->mmas[0].getWorkgroups().value_or(1) > 1; }
  bool canPersist();
  /// Whether the ring leaves no room for another workgroup on the unit.
  bool fillsUnit() {
    return 2 * ring->slots * ring->slotBytes() > target.shared.bytesPerUnit;
  }
  void carryTile();
  void numberTrips();
  void setRegisters();
  schedule::RoleOp makeRole(llvm::StringRef name, int64_t waves, bool elect,
                            int64_t registers);
  mlir::Value makeBarrier(int64_t slots);
  void reachCluster();
  void shareCopies();
  void makeLoad(schedule::RoleOp role);
  void makeMatrix();
  void makeMatrixRole(schedule::RoleOp epilogue);
  void releaseInOrder(mlir::Value trip);
  void moveRest(schedule::RoleOp role);

  schedule::KernelOp kernel;
  const Target &target;
  std::optional<Ring> ring;
  mlir::Value empty, done, drained;
  /// The number of the tile of a persistent grid, or null.
  mlir::Value tile;
  int64_t firstWave = 0, loadWaves = 1;
  /// Of the waves that multiply and of those that copy, or 0.
  int64_t matrixRegisters = 0, loadRegisters = 0;
};

} // namespace modelc

#endif // LIB_SCHEDULEPASSES_SPECIALISE_H
