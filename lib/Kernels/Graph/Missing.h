//===- Missing.h - What no kernel computes yet ----------------------------===//

#ifndef LIB_KERNELS_GRAPH_MISSING_H
#define LIB_KERNELS_GRAPH_MISSING_H

#include "dialects/Model/Model.h"

namespace modelc::kernels {

/// Says at the first op of a graph that has no kernel what is missing.
mlir::LogicalResult refuseMissing(model::GraphOp graph);

} // namespace modelc::kernels

#endif // LIB_KERNELS_GRAPH_MISSING_H
