//===- Verify.h - What verifiers of ops share -----------------------------===//

#ifndef DIALECTS_MODEL_VERIFY_H
#define DIALECTS_MODEL_VERIFY_H

#include "dialects/Model/Model.h"

namespace modelc::model {

inline int64_t columns(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getDimSize(1);
}

inline mlir::Type elementType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getElementType();
}

inline bool hasSize(mlir::Value vector, int64_t size) {
  return mlir::cast<mlir::RankedTensorType>(vector.getType()).getDimSize(0) ==
         size;
}

/// A number of an attribute is finite and above 0.
mlir::LogicalResult verifyPositive(mlir::Operation *op, llvm::StringRef name,
                                   const llvm::APFloat &value);

} // namespace modelc::model

#endif // DIALECTS_MODEL_VERIFY_H
