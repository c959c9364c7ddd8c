//===- Flattener.h - The walk of a kernel that writes its loops out -------===//
//
// Flatten.cpp walks ops in the order of the program, FlattenRoles.cpp one role
// with what it does to barriers; FlattenIndices.cpp knows the numbers of trips.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_SCHEDULEPASSES_WAITS_FLATTENER_H
#define LIB_SCHEDULEPASSES_WAITS_FLATTENER_H

#include "lib/SchedulePasses/Waits/Flatten.h"

namespace modelc {

class Flattener {
public:
  /// Loops have `trips` trips.
  Flattener(schedule::KernelOp kernel, const Target &target, int64_t trips)
      : kernel(kernel), target(target), unrolledTrips(trips) {}
  std::vector<WaitStep> run() {
    block(kernel.getGrid().getBody().front());
    return std::move(steps);
  }
  std::vector<WaitStep> run(schedule::RoleOp only, int64_t waves, int64_t rank);

private:
  using Origin = llvm::SmallVector<StorageKey, 1>;

  void block(mlir::Block &body);
  void loop(schedule::LoopOp loop);
  void step(mlir::Operation *op);
  void addCopy(schedule::CopyOp copy, WaitStep &step);
  void addCopyToTensor(schedule::CopyOp copy, WaitStep &step);
  void addLoad(schedule::LoadOp load, WaitStep &step);
  void addMma(schedule::MmaOp mma, WaitStep &step);
  void addWait(schedule::WaitOp wait, WaitStep &step);
  void addArrive(schedule::ArriveOp arrive);
  void addSignal(schedule::ArriveOp arrive, WaitStep &step);
  void reach(mlir::Value barrier, BarrierSignal &signal) const;
  void addScratch(mlir::Operation *op, mlir::Value scratch);
  void touch(WaitStep &step, mlir::Value place, mlir::Value trip, bool writes);
  void use(WaitStep &step, mlir::Operation *op);
  StorageKey arriveLater(WaitStep &step) const;
  WaitStep begin(mlir::Operation *op) const;
  int64_t evaluate(mlir::Value value);
  int64_t tripCount(schedule::LoopOp loop) const;

  schedule::KernelOp kernel;
  const Target &target;
  std::vector<WaitStep> steps;
  llvm::DenseMap<mlir::Value, int64_t> indices;
  /// Asynchronously written registers that a value stands for.
  llvm::DenseMap<mlir::Value, Origin> origins;
  /// Steps that a phase of a barrier completes.
  std::map<std::pair<const void *, int64_t>, std::vector<size_t>> phases;
  llvm::DenseMap<mlir::Operation *, int> loopNumbers;
  llvm::DenseMap<mlir::Value, size_t> tokens;
  int loopNumber = -1;
  int64_t trip = 0, round = 0, unrolledTrips;
  schedule::RoleOp role; ///< null: the whole kernel
  int64_t arrivals = 1, rank = 0;
};

} // namespace modelc

#endif // LIB_SCHEDULEPASSES_WAITS_FLATTENER_H
