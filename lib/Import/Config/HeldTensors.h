//===- HeldTensors.h - Which tensors of a checkpoint are quantised --------===//

#ifndef LIB_IMPORT_CONFIG_HELDTENSORS_H
#define LIB_IMPORT_CONFIG_HELDTENSORS_H

#include "lib/Import/Reader.h"

namespace modelc {

/// States on the weights of linears and experts how the checkpoint holds them;
/// layers that are said once must be held alike.
mlir::LogicalResult holdTensors(mlir::ModuleOp module, const Source &source);

} // namespace modelc

#endif // LIB_IMPORT_CONFIG_HELDTENSORS_H
