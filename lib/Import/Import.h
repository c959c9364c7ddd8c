//===- Import.h - Files that describe a model -> model dialect ------------===//
//
// Reads three kinds of files, all through the C++ language of lib/Dsl:
//
//   config.json (or its folder)  Hugging Face's description of a decoder
//   x.toml                       the project's own: a decoder by its sizes, or
//                                any architecture op by op (Graph.cpp)
//   x.mlir                       the model dialect itself
//
//===----------------------------------------------------------------------===//

#ifndef LIB_IMPORT_IMPORT_H
#define LIB_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace modelc {

/// A value that a file did not state.
struct Assumption {
  std::string fileKey; ///< as the file would have named it
  std::string tomlKey; ///< as the project's TOML names it
  std::string value;   ///< in TOML's spelling
  std::string why;     ///< whose default it is
};

struct ImportOptions {
  /// Name of the graph; if empty, from the file or its folder.
  std::string name;
  /// Filled with what was assumed, if not null.
  std::vector<Assumption> *assumptions = nullptr;
  /// The type that is asked for the weights of linears ("nvfp4"); empty: that
  /// which the checkpoint says that it has, filled in. Null: checkpoints that
  /// are quantised are a mistake.
  std::string *weights = nullptr;
  /// The same of the KV cache ("fp8"), which may differ from the checkpoint's;
  /// null where `weights` is.
  std::string *cache = nullptr;
};

/// Reads a model. Mistakes of the file are printed on `notes` with their place
/// and a caret, assumptions as notes. Ops carry the place they come from.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importModel(llvm::StringRef path, const ImportOptions &options,
            mlir::MLIRContext *context, llvm::raw_ostream &notes);

/// Prints the model in the project's TOML form: by its sizes where it is a
/// plain decoder, else op by op. Assumptions are said in comments.
mlir::LogicalResult exportToml(mlir::ModuleOp module,
                               llvm::ArrayRef<Assumption> assumptions,
                               llvm::raw_ostream &os);

} // namespace modelc

#endif // LIB_IMPORT_IMPORT_H
