//===- Narrow.h - Weights in few bits, and their scales -------------------===//

#ifndef LIB_MODELPASSES_NARROW_H
#define LIB_MODELPASSES_NARROW_H

#include "lib/ModelPasses/ModelPasses.h"

#include "mlir/IR/Builders.h"

namespace modelc {

using model::NumberFormat;

/// The type of the scales of a matrix of these numbers: in f32 one for each
/// row, or one for each block.
mlir::RankedTensorType scalesOf(mlir::RankedTensorType matrix,
                                const NumberFormat &numbers);

/// The scales of rows of a weight, or of blocks where the weight has those; of
/// a stack of matrices, those of each.
mlir::Value makeScale(mlir::OpBuilder &builder, model::WeightOp weight,
                      const NumberFormat &numbers);

/// The second scale of each row of a weight.
mlir::Value makeTensorScale(mlir::OpBuilder &builder, model::WeightOp weight);

/// The weight in another type of numbers.
mlir::Value makeNarrow(mlir::OpBuilder &builder, model::WeightOp weight,
                       mlir::Type number);

/// Whether a checkpoint holds some weights of the graph in few bits; then these
/// are quantised and no others.
bool holdsNarrow(model::GraphOp graph);

/// In what numbers a weight is multiplied: as the checkpoint holds it where
/// `holds`, else as is asked for; null: as it is.
const NumberFormat *formatOf(model::WeightOp weight, bool holds,
                             const NumberFormat &asked);

/// Has experts multiplied in few bits: matrices and what they meet.
mlir::LogicalResult quantiseExperts(model::ExpertsOp experts, bool holds,
                                    const NumberFormat &asked);

} // namespace modelc

#endif // LIB_MODELPASSES_NARROW_H
