//===- Candidates.h - Kernels that are built to be judged -----------------===//

#ifndef LIB_KERNELS_CANDIDATES_H
#define LIB_KERNELS_CANDIDATES_H

#include "lib/Kernels/Families.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

namespace modelc::kernels {

/// Kernels that are built to be judged, in a module of their own. Each is built
/// once, however many ranges of rows it is judged for: they differ in nothing
/// that is judged.
class Candidates {
public:
  explicit Candidates(mlir::Location location)
      : module(mlir::ModuleOp::create(location)),
        builder(mlir::OpBuilder::atBlockEnd(module->getBody())) {}

  using Build =
      llvm::function_ref<schedule::KernelOp(mlir::OpBuilder &, const Label &)>;
  /// The kernel of which `identity` holds all but the ranges that it serves.
  schedule::KernelOp kernel(llvm::StringRef identity, Build build) {
    schedule::KernelOp &known = kernels[identity];
    if (!known) {
      std::string symbol = "candidate_" + std::to_string(kernels.size());
      known = build(builder, {symbol, symbol, ""});
    }
    return known;
  }

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::OpBuilder builder;
  llvm::StringMap<schedule::KernelOp> kernels;
};

} // namespace modelc::kernels

#endif // LIB_KERNELS_CANDIDATES_H
