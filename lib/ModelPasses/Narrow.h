//===- Narrow.h - Weights in few bits, and their scales -------------------===//

#ifndef LIB_MODELPASSES_NARROW_H
#define LIB_MODELPASSES_NARROW_H

#include "lib/ModelPasses/ModelPasses.h"

#include "mlir/IR/Builders.h"

namespace modelc {

/// What the numbers of linears are: a type of few bits and that of the scales
/// of its blocks; null: rows have scales.
struct Numbers {
  mlir::Type type, scale;
  bool hasBlocks() const { return static_cast<bool>(scale); }
  /// Scales of f32 are of as many rows of a weight too.
  bool hasGroups() const { return scale && scale.isF32(); }
  int64_t block() const { return model::getScaledBlock(scale); }
  /// Scales with a fraction have a second one, of the whole tensor.
  bool hasTensorScale() const {
    return mlir::isa_and_nonnull<mlir::Float8E4M3FNType>(scale);
  }
};

Numbers numbersOf(mlir::MLIRContext *context, Precision precision);

/// The type of the scales of a matrix of these numbers: in f32 one for each
/// row, or one for each block.
mlir::RankedTensorType scalesOf(mlir::RankedTensorType matrix,
                                const Numbers &numbers);

/// The scales of rows of a weight, or of blocks where the weight has those; of
/// a stack of matrices, those of each.
mlir::Value makeScale(mlir::OpBuilder &builder, model::WeightOp weight,
                      const Numbers &numbers);

/// The second scale of each row of a weight.
mlir::Value makeTensorScale(mlir::OpBuilder &builder, model::WeightOp weight);

/// The weight in another type of numbers.
mlir::Value makeNarrow(mlir::OpBuilder &builder, model::WeightOp weight,
                       mlir::Type number);

/// Whether a checkpoint holds some weights of the graph in few bits; then these
/// are quantised and no others.
bool holdsNarrow(model::GraphOp graph);

/// In what numbers a weight is multiplied: as the checkpoint holds it where
/// `holds`, else as is asked for; none: as it is.
std::optional<Precision> precisionOf(model::WeightOp weight, bool holds,
                                     Precision asked);

/// Has experts multiplied in few bits: matrices and what they meet.
mlir::LogicalResult quantiseExperts(model::ExpertsOp experts, bool holds,
                                    Precision asked);

} // namespace modelc

#endif // LIB_MODELPASSES_NARROW_H
