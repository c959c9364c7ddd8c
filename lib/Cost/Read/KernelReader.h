//===- KernelReader.h - The walk from a kernel's IR to amounts ------------===//
//
// ReadKernel.cpp walks the loops, ReadSteps.cpp reads the work of an op,
// ReadEdges.cpp what it waits for.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_COST_READ_KERNELREADER_H
#define LIB_COST_READ_KERNELREADER_H

#include "lib/Cost/Read/ReadKernel.h"

namespace modelc {

/// Edges from a carried value's last definition are known when the body ends.
constexpr unsigned kCarried = 1u << 30;

class KernelReader {
public:
  KernelReader(schedule::KernelOp kernel, const Target &target,
               const Bindings &bindings, const CostOptions &options,
               IndexValues sizes)
      : kernel(kernel), target(target), options(options), bindings(bindings),
        iterations(std::move(sizes), bindings, programs) {}
  llvm::FailureOr<KernelWork> read();

private:
  /// The loops around the op that is read, without the dissolved ones' blocks.
  struct Nest {
    std::vector<Level> levels;
    std::vector<double> counts; // iterations through each level
    double executions = 1;      // of its body, in the whole kernel
  };
  struct Region {
    unsigned block = 0;
    unsigned stream = 0;
    double perTrip = 1; // executions for each trip of the block
  };

  llvm::LogicalResult readGrid();
  llvm::LogicalResult readRegion(mlir::Block &body, Region region);
  llvm::LogicalResult readLoop(schedule::LoopOp loop, Region region);
  void forwardResults(schedule::LoopOp loop);
  unsigned blockFor(schedule::LoopOp loop, Region region, double trips);
  llvm::LogicalResult readRole(schedule::RoleOp role, Region region);
  llvm::LogicalResult readStep(mlir::Operation *op, Region region);
  llvm::LogicalResult addWork(mlir::Operation *op, Region region, Step &step);
  IndexValues middleOfLoops() const;
  llvm::LogicalResult addMatrix(schedule::MmaOp mma,
                                const schedule::Work &amount, Step &step);
  void addMove(mlir::Operation *op, const schedule::Work &amount, Step &step);
  void addPassage(schedule::StoreOp store, Step &step) const;
  llvm::LogicalResult addAccess(const BufferUse &use, Region region,
                                Step &step);
  llvm::FailureOr<double> partInside(const BufferUse &use, Region region) const;
  double partBeforeEnd(const BufferUse &use, Region region) const;
  llvm::LogicalResult expectScalars();
  llvm::LogicalResult expectScalar(schedule::LoadOp load);
  llvm::FailureOr<int64_t> valueOf(schedule::LoadOp load, llvm::StringRef key,
                                   llvm::StringRef expression) const;
  void addGridUses(const BufferUse &use, Access &access);
  double tilesWalked(const BufferUse &use) const;
  double freshPart(const BufferUse &use, const Level &along) const;
  std::vector<Level> levelsInside(const Iterations &of) const;
  void addOperandEdges(mlir::Operation *op, Region region, Step &step);
  void addLoopEdges(schedule::LoopOp loop, Region region, Step &step);
  void followCarried(schedule::LoopOp loop, unsigned number, Edge edge,
                     llvm::SmallVectorImpl<Edge> &resolved);
  void resolveCarried(schedule::LoopOp loop, unsigned number);
  void addAskedBytes(Body &block, llvm::ArrayRef<mlir::Operation *> ops);
  void finishBlock(unsigned block);
  void readPrefetches();
  void forward(mlir::Operation *op);
  llvm::LogicalResult findLongest();
  llvm::LogicalResult readBody(schedule::LoopOp loop, Region region,
                               double trips);

  schedule::KernelOp kernel;
  const Target &target;
  const CostOptions &options;
  const Bindings &bindings;
  mutable IndexPrograms programs;
  Iterations iterations;
  /// Sizes, what loads of scalars expect, and a workgroup in the grid's middle.
  IndexValues typical;
  /// Of scalars that the grid loads: how many different values it meets.
  IndexValues distinct;
  /// Sizes, and every index of a loop at its first value.
  IndexValues atStart;
  KernelWork work;
  /// Numbers of a wave that pass through shared memory at a time on their way
  /// to global memory; 0: none do.
  int64_t resultPiece = 0;
  std::vector<Level> grid;
  Nest nest;
  unsigned streams = 1;
  /// Steps that make a value, with their block.
  using Source = std::pair<unsigned, unsigned>;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Source, 2>> sources;
  /// Of each access.
  llvm::SmallVector<BufferUse> uses;
  /// For each block, the op of each step (null for a loop).
  std::vector<llvm::SmallVector<mlir::Operation *>> ops;
  /// Blocks that roles share, by their parent and trips.
  std::map<std::pair<unsigned, double>, unsigned> shared;
};

} // namespace modelc

#endif // LIB_COST_READ_KERNELREADER_H
