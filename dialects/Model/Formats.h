//===- Formats.h - What ops read numbers of few bits as -------------------===//

#ifndef DIALECTS_MODEL_FORMATS_H
#define DIALECTS_MODEL_FORMATS_H

#include "dialects/Model/Model.h"

namespace modelc::model {

/// What the weights of an op state of their numbers is what it reads.
mlir::LogicalResult verifyFormats(LinearOp op);
mlir::LogicalResult verifyFormats(ExpertsOp op);

/// The scale of queries of 8 bits, if there is one: one number, beside a cache
/// of 8 bits.
mlir::LogicalResult verifyQueryScale(mlir::Operation *op, mlir::Value scale,
                                     CacheType cache);

} // namespace modelc::model

#endif // DIALECTS_MODEL_FORMATS_H
