//===- Formats.h - The 8 bits that a machine computes with ----------------===//
//
// Graphs speak of E4M3FN. Some machines multiply E4M3FNUZ only: the same bits
// mean half the value, minus zero means NaN. Their kernels, caches and weights
// hold FNUZ numbers, each half of what the graph says, and every scale is twice
// as large. A number of 8 bits times its scale is then the same on all
// machines.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_ROWS_FORMATS_H
#define LIB_KERNELS_ROWS_FORMATS_H

#include "lib/Hardware/Hardware.h"
#include "mlir/IR/BuiltinTypes.h"

namespace modelc::kernels {

/// An element type as target files spell it: "bf16", "f8E4M3FN".
std::string spelling(mlir::Type type);

/// The element type that the target keeps in place of `type`: other than it
/// where it has 8 bits and the matrix unit knows only E4M3FNUZ.
mlir::Type storedType(mlir::Type type, const Target &target);

/// Whether numbers of an 8-bit type are half, scales twice those of E4M3FN.
bool isHalved(mlir::Type type);

/// What the largest magnitude of a row becomes when it is quantised: the
/// largest finite number of E4M3FN, in any format.
double quantisedLimit(mlir::Type type);

} // namespace modelc::kernels

#endif // LIB_KERNELS_ROWS_FORMATS_H
