//===- Launches.h - What the lowerings of several ops share ---------------===//

#ifndef LIB_KERNELS_GRAPH_LAUNCHES_H
#define LIB_KERNELS_GRAPH_LAUNCHES_H

#include "lib/Kernels/Graph/Lowering.h"

namespace modelc::kernels {

inline mlir::Type elementOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getElementType();
}
inline int64_t columnsOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getDimSize(1);
}
/// The scales of blocks of `numbers`; those of rows are none.
BlockScales scalesFor(mlir::Type numbers, mlir::Value scale,
                      const Target &target);

// The first of two joined ops, and the second where a kernel of the first does.
mlir::LogicalResult lower(Lowering &in, model::LinearOp op,
                          mlir::Operation *second);
mlir::LogicalResult lower(Lowering &in, model::AttentionOp op,
                          model::QuantiseOp quantise);
mlir::LogicalResult lower(Lowering &in, model::NormOp op,
                          model::AllReduceOp sum);

// Linears.
/// What a linear is launched with, whatever tiles it has.
struct LinearArguments {
  NamedValues operands; ///< a, w, scales of blocks
  NamedValues epilogue; ///< scales, bias and residual, for a kernel of sums
  mlir::Value tileExperts = {}; ///< where rows are of experts
  mlir::Value rows;
  mlir::Value d = {};              ///< null: all that is made is quantised
  model::QuantiseOp quantise = {}; ///< of d, or null
  model::RopeAppendOp rope = {};   ///< of d, or null
};
void launchLinear(Lowering &in, const LinearShape &shape,
                  llvm::ArrayRef<LinearVariant> variants,
                  const LinearArguments &arguments, llvm::StringRef label);

// Quantising.
QuantiseShape quantiseShapeOf(Lowering &in, model::QuantiseOp op);
/// Whether a kernel that joins parts can quantise what it makes.
bool canQuantiseParts(Lowering &in, model::QuantiseOp op);
/// As arguments of the kernel that makes them: with the scale of the tensor.
NamedValues resultsOf(const Lowering &in, model::QuantiseOp op);
void launchQuantise(Lowering &in, model::QuantiseOp op, mlir::Value x);

// Heads.
/// Writes rows to the cache that is the result of the op.
void launchAppend(Lowering &in, mlir::Operation *op, const HeadShape &shape,
                  NamedValues rows);
HeadShape headsOf(Lowering &in, model::CacheType cache, int64_t heads,
                  mlir::Type element);
/// Heads whose queries have 8 bits over `scale`, if it is not null.
void narrow(Lowering &in, HeadShape &shape, Storage &cache, mlir::Value scale);
/// What queries are multiplied by, of each position.
mlir::Value temperatureTable(Lowering &in, model::TemperatureAttr of);
/// Keys, values and the scales that there are.
void appendCache(NamedValues &arguments, const Storage &cache);
/// Those of a step of any phase.
void appendSizes(NamedValues &arguments, const PlanSizes &sizes);
/// Attention of any phase of such queries, which q and, latent, q_latent hold.
void launchQueries(Lowering &in, const HeadShape &shape, const Storage &cache,
                   llvm::ArrayRef<NamedValue> queries, mlir::Value out,
                   llvm::StringRef label);
void bindRope(Lowering &in, model::RopeAppendOp op, mlir::Value rows);
/// Of queries, keys and values, or of parts of their sums and what finishes
/// them, as `rows`.
void launchRope(Lowering &in, model::RopeAppendOp op,
                llvm::ArrayRef<NamedValue> rows, const SumParts &sums);
/// The parts of the keys of each sequence that take the least time, and all
/// parts of a step.
std::pair<mlir::Value, mlir::Value> splitsOf(Lowering &in,
                                             const HeadShape &shape);

// Norms and sums over ranks.
struct NormArguments {
  NamedValues operands, results;
  mlir::Value rows;
};
/// Reports what ranks along another axis than `tp` would share.
mlir::LogicalResult expectTensorAxis(mlir::Operation *op, model::Axis axis);
void launchNorm(Lowering &in, const NormShape &shape,
                const NormArguments &arguments, llvm::StringRef label);
/// Adds up rows in place, or in the norm that is all that reads the sums.
void launchSums(Lowering &in, model::AllReduceOp op, const NormShape *norm,
                const NormArguments &arguments, llvm::StringRef label);
/// Where the devices meet: staging buffers, flags, counts of calls; of tiles of
/// so many columns.
NamedValues meetingPlaces(Lowering &in, const ExchangeShape &shape,
                          int64_t tileColumns);

} // namespace modelc::kernels

#endif // LIB_KERNELS_GRAPH_LAUNCHES_H
