//===- Model.h - The model dialect: what a language model computes ---------===//
///
/// \file
/// Whole-tensor ops of a large language model. See ModelOps.td for the ops,
/// Rationale.md for why they are as they are.
///
//===----------------------------------------------------------------------===//

#ifndef DIALECTS_MODEL_MODEL_H
#define DIALECTS_MODEL_MODEL_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace modelc::model {

/// Stands in the name of a weight for the number of the layer.
inline constexpr llvm::StringLiteral kLayerPlaceholder = "{layer}";

/// The largest finite number of an element type of floats (448 for f8E4M3FN).
double getLargestFinite(mlir::Type elementType);

/// Whether tensors of this element type carry scales beside them.
bool isEightBit(mlir::Type elementType);

} // namespace modelc::model

/// Reads a number of an attribute such as `#model.llama3_scaling`.
template <>
struct mlir::FieldParser<double> {
  static mlir::FailureOr<double> parse(mlir::AsmParser &parser) {
    double value;
    if (parser.parseFloat(value)) {
      return mlir::failure();
    }
    return value;
  }
};

#include "dialects/Model/ModelDialect.h.inc"
#include "dialects/Model/ModelEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Model/ModelTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Model/ModelAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/Model/ModelOps.h.inc"

#endif // DIALECTS_MODEL_MODEL_H
