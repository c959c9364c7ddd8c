//===- Weights.h - Parts and joins of weights -----------------------------===//

#ifndef LIB_MODELPASSES_WEIGHTS_H
#define LIB_MODELPASSES_WEIGHTS_H

#include "dialects/Model/Model.h"

#include "mlir/IR/Builders.h"

namespace modelc {

/// One rank's part of a weight.
mlir::Value splitWeight(mlir::OpBuilder &builder, model::WeightOp weight,
                        model::CutAttr cut);

/// So many rows of zeros behind a weight of one tensor.
mlir::Value padWeight(mlir::OpBuilder &builder, model::WeightOp weight,
                      int64_t rows);

/// The whole weight on rank 0 of `tp`, zeros on the others.
mlir::Value onFirstRank(mlir::OpBuilder &builder, model::WeightOp weight);

/// Weights below one another. Null values join to a null value.
mlir::Value joinWeights(mlir::OpBuilder &builder, mlir::ValueRange weights);

/// Whether `joinWeights` can join these: all null, or all plain weights alike.
bool canJoin(mlir::ValueRange weights);

/// The cache op and all ops that pass its value on get another type.
void setCacheType(model::CacheOp cache, model::CacheType type);

/// Each rank has the heads of one of so many parts, one at least.
void splitCache(model::CacheOp cache, int64_t parts);

} // namespace modelc

#endif // LIB_MODELPASSES_WEIGHTS_H
