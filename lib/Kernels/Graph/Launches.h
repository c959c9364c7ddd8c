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

// Quantising.
QuantiseShape quantiseShapeOf(Lowering &in, model::QuantiseOp op);
/// Whether a kernel that joins parts can quantise what it makes.
bool canQuantiseParts(Lowering &in, model::QuantiseOp op);
/// [tensor_scale], out, scale.
llvm::SmallVector<mlir::Value> resultsOf(Lowering &in, model::QuantiseOp op);
void launchQuantise(Lowering &in, model::QuantiseOp op, mlir::Value x);

// Heads.
HeadShape headsOf(Lowering &in, model::CacheType cache, int64_t heads,
                  mlir::Type element);
/// Heads whose queries have 8 bits over `scale`, if it is not null.
void narrow(Lowering &in, HeadShape &shape, Storage &cache, mlir::Value scale);
/// k_cache, v_cache and the scales that there are.
void appendCache(llvm::SmallVectorImpl<mlir::Value> &arguments,
                 const Storage &cache);
void bindRope(Lowering &in, model::RopeAppendOp op, mlir::Value rows);
/// Of queries, keys and values, or of parts of their sums, which `epilogue`
/// finishes.
void launchRope(Lowering &in, model::RopeAppendOp op, mlir::Value qkv,
                const SumParts &sums, mlir::ValueRange epilogue);
/// The parts of the keys of each sequence that take the least time, and all
/// parts of a step.
std::pair<mlir::Value, mlir::Value> splitsOf(Lowering &in,
                                             const HeadShape &shape);

// Norms and sums over ranks.
struct NormArguments {
  llvm::SmallVector<mlir::Value> operands, results;
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
llvm::SmallVector<mlir::Value>
meetingPlaces(Lowering &in, const ExchangeShape &shape, int64_t tileColumns);

} // namespace modelc::kernels

#endif // LIB_KERNELS_GRAPH_LAUNCHES_H
