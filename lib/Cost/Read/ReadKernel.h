//===- ReadKernel.h - From a kernel's IR to amounts -----------------------===//

#ifndef LIB_COST_READ_READKERNEL_H
#define LIB_COST_READ_READKERNEL_H

#include "dialects/Schedule/Schedule.h"
#include "lib/Cost/Cost.h"
#include "lib/Cost/Read/Iterations.h"
#include <set>

namespace modelc {

/// How many times longer than conflict-free accesses of whole words those of
/// shared memory by the workgroup take: lanes of a phase meet in a bank, or
/// each moves less than a word. `place` is the shared tile, `value` the
/// register tile, of which rows are columns of the place if it is transposed.
double accessDegree(schedule::TileType place, schedule::TileType value,
                    llvm::StringRef kind, bool isTransposed,
                    const Target &target);

/// Registers that a thread needs: the largest sum of live register tiles, and
/// some for addresses.
int64_t registersPerThread(schedule::KernelOp kernel, const Target &target);

/// Adds the names that an `expect` expression reads.
void addNamesOf(llvm::StringRef expression, std::set<std::string> &names);

/// The buffer side of a load, store or copy.
struct BufferUse {
  mlir::Operation *op = nullptr;
  mlir::Value buffer;
  mlir::ValueRange offsets, valid;
  mlir::Type value;                   // the tile or scalar that moves
  llvm::SmallVector<int64_t, 2> dims; // that rows and columns walk
  mlir::Value rows, pageTable, sequence;
  bool writes = false, peer = false;
  /// Everything that decides which bytes are touched.
  llvm::SmallVector<mlir::Value> address() const;
};

/// The buffer side of `op`; none if it touches no global memory.
std::optional<BufferUse> bufferUse(mlir::Operation *op);

/// Whether two reads touch the same bytes of one buffer in the same order, as
/// two loops over one row do.
bool readSameBytes(const BufferUse &one, const BufferUse &other);

/// The limits `valid` of a use.
struct ValidPart {
  ValidPart(const BufferUse &use, const IndexValues &sizes,
            IndexPrograms &programs);
  std::vector<Limit> limits; // that follow from sizes and indices
  bool isOpen = false;       // only the device knows one: it counts as far away
};

/// How the address depends on each index of the grid; `atStart` has the sizes
/// and every index at its first value.
std::vector<GridUse> gridUses(const BufferUse &use, llvm::ArrayRef<Level> grid,
                              const Iterations &iterations,
                              const IndexValues &atStart,
                              IndexPrograms &programs);

/// Numbers the different addresses along an index of the grid on which a use
/// depends through a loaded scalar alone, that meets so many `distinct` values;
/// empty where it depends on it otherwise.
std::vector<uint32_t> classesOfDistinct(const BufferUse &use,
                                        const Level &level, int64_t extent,
                                        const IndexValues &distinct);

/// Adds the edges that a finished block's waits, barriers and carried values
/// stand for. Steps and their ops are parallel arrays.
class BlockEdges {
public:
  BlockEdges(Body &block, const Target &target, int64_t waves)
      : block(block), target(target), waves(waves) {}

  /// Signals to devices are sent when what was stored there before has come.
  void addSignals();
  void addQueueWaits(llvm::ArrayRef<mlir::Operation *> ops);
  void addBarrierWaits(llvm::ArrayRef<mlir::Operation *> ops,
                       const IndexValues &values);
  /// Loops of several roles that meet at barriers begin when what one of them
  /// has copied before is there.
  void addMeetings();

private:
  double queueEntries(unsigned step, schedule::Queue queue) const;
  void addQueueWait(unsigned wait, schedule::Queue queue, double pending);
  void addBarrierWait(unsigned wait, llvm::ArrayRef<mlir::Operation *> ops,
                      const IndexValues &values);

  Body &block;
  const Target &target;
  int64_t waves;
};

} // namespace modelc

#endif // LIB_COST_READ_READKERNEL_H
