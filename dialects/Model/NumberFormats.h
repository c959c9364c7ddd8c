//===- NumberFormats.h - The formats of numbers that a model can have -----===//
//
// One row for each: what is multiplied, which numbers share a scale, where it
// may stand. Flags, options of passes and the fit read the table; loaders and
// manifests have names of their own yet.
//
//===----------------------------------------------------------------------===//

#ifndef DIALECTS_MODEL_NUMBERFORMATS_H
#define DIALECTS_MODEL_NUMBERFORMATS_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

namespace modelc::model {

/// What numbers of a format can be, as bits of `NumberFormat::uses`.
enum FormatUse : unsigned {
  kWeights = 1, ///< of linears, and their inputs if nothing else is said
  kInputs = 2,  ///< of linears whose weights have fewer bits
  kCache = 4,   ///< keys and values, and the queries that meet them
};

/// A format of numbers; sizes in numbers, not bytes.
struct NumberFormat {
  using TypeOf = mlir::FloatType (*)(mlir::MLIRContext *);

  llvm::StringLiteral name; ///< as users and reports call it
  int64_t bits;
  TypeOf element;
  TypeOf scale = nullptr;      ///< null: there is none
  int64_t block = 0;           ///< neighbours of a row with a scale; 0: all
  int64_t blockRows = 1;       ///< of a weight, that share it
  bool hasTensorScale = false; ///< a second one, f32, of the whole tensor
  bool takesBytes = false;     ///< weights: beside inputs of kInputs
  unsigned uses = 0;
  llvm::StringLiteral about;

  /// Rows of a weight of so many that have scales of their own.
  int64_t scaledRows(int64_t rows) const {
    return llvm::divideCeil(rows, blockRows);
  }
};

/// In the order in which users read them: from many bits to few.
llvm::ArrayRef<NumberFormat> numberFormats();

/// The format of this name, or null.
const NumberFormat *findFormat(llvm::StringRef name);
/// The same; where nothing is said, bf16, as imported.
const NumberFormat *formatOf(llvm::StringRef name);

/// The first whose blocks have scales of this type, or null. Its blocks are
/// those of all such.
const NumberFormat *formatOfScale(mlir::Type scale);

/// Names of the weights that inputs of 8 bits can meet, as a sentence lists
/// them: "fp8, mxfp6 or mxfp4"; with a word before each.
std::string listBesideBytes(llvm::StringRef before = "");

/// The values of a flag of the command line or of a pass; for llvm::cl.
struct FormatValues {
  unsigned use;
  template <typename Flag>
  void apply(Flag &flag) const {
    if (use == kInputs) { // else that of the weights
      flag.getParser().addLiteralOption(
          "weights", static_cast<const NumberFormat *>(nullptr),
          "as the weights");
    }
    for (const NumberFormat &format : numberFormats()) {
      if (format.uses & use) {
        flag.getParser().addLiteralOption(format.name, &format, format.about);
      }
    }
  }
};

} // namespace modelc::model

#endif // DIALECTS_MODEL_NUMBERFORMATS_H
