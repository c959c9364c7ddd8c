//===- Model.h - The model dialect: what a language model computes
//---------===//
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
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <optional>
#include <utility>

namespace modelc::model {

/// Stands in the name of a weight for the number of the layer.
inline constexpr llvm::StringLiteral kLayerPlaceholder = "{layer}";

/// Stands in the name of a weight for the number of an expert.
inline constexpr llvm::StringLiteral kExpertPlaceholder = "{expert}";

/// No dimension, count or length of a model is larger: products of two of them
/// and their bytes stay within 64 bits.
inline constexpr int64_t kLargestSize = int64_t(1) << 28;

/// The largest finite number of an element type of floats (448 for f8E4M3FN).
double getLargestFinite(mlir::Type elementType);

/// Whether tensors of this element type carry scales beside them: of 8 bits one
/// for each row or block of neighbours in a row, of fewer one for each block.
bool isEightBit(mlir::Type elementType);
bool hasFewBits(mlir::Type elementType);
inline constexpr int64_t kScaledBlock = 32;
/// Neighbours that share a scale of f32, and rows of a weight that do.
inline constexpr int64_t kScaledGroup = 128;
/// Neighbours that share a scale of this type: scales with a fraction
/// (f8E4M3FN, as in NVFP4) stand for half as many as powers of two.
int64_t getScaledBlock(mlir::Type scaleType);
/// Rows of a weight of so many that have scales of blocks of their own.
int64_t getScaledRows(int64_t rows, mlir::Type scaleType);

class FormatAttr;

} // namespace modelc::model

/// Reads a number of an attribute such as `#model.llama3_scaling`.
template <>
struct mlir::FieldParser<llvm::APFloat> {
  static mlir::FailureOr<llvm::APFloat> parse(mlir::AsmParser &parser) {
    double value;
    if (parser.parseFloat(value)) {
      return mlir::failure();
    }
    return llvm::APFloat(value);
  }
};

#include "dialects/Model/ModelDialect.h.inc"
#include "dialects/Model/ModelEnums.h.inc"

namespace modelc::model {

/// Where a value is over the ranks of one axis.
struct Placement {
  enum class Kind {
    Whole, ///< the same on each rank
    Cut,   ///< each rank has a part
    Sum,   ///< it is the sum of what the ranks have
  };
  Kind kind = Kind::Whole;
  /// Of a cut: the dimension of a tensor. Cut along 0 are rows of a rank's own
  /// sequences, and a batch of them; of a cache 1 is its heads.
  int64_t dim = 0;
  /// Of a cut: where there are fewer than ranks, neighbours have the same one.
  int64_t parts = 1;

  static Placement whole() { return {}; }
  static Placement cut(int64_t dim, int64_t parts) {
    return {Kind::Cut, dim, parts};
  }
  static Placement sum() { return {Kind::Sum, 0, 1}; }
  bool isCut(int64_t along) const { return kind == Kind::Cut && dim == along; }
  bool operator==(const Placement &) const = default;
};

/// Where an op needs its operands, and where its results are then.
struct Sharding {
  llvm::SmallVector<Placement> operands, results;
};

/// Something that is cut in equal parts, and where it is stated.
struct Divisible {
  llvm::StringRef what;
  int64_t size;
  mlir::Location place;
  /// Fewer parts than ranks will do: neighbours share one.
  bool canRepeat = false;
  /// More than there are will do: `model-pad` adds some.
  bool canPad = false;

  bool fits(int64_t ranks) const {
    return size % ranks == 0 || (canRepeat && ranks % size == 0);
  }
};

/// Of an op that treats rows alike: whole operands give whole results, rows of
/// a rank's own sequences, which there are along all axes but `tp`, such rows.
Sharding shareRows(mlir::Operation *op, Axis axis, int64_t ranks,
                   llvm::ArrayRef<Placement> operands);
/// Of an op that treats columns alike as well: where the first operand is cut
/// by them, so are the first `count`, and all results.
Sharding shareColumns(mlir::Operation *op, Axis axis, int64_t ranks,
                      llvm::ArrayRef<Placement> operands, size_t count);

} // namespace modelc::model

#include "dialects/Model/ModelInterfaces.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Model/ModelTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Model/ModelAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/Model/ModelOps.h.inc"

namespace modelc::model {

/// The op that makes a value; of a value of joined ops, the one of these.
mlir::Operation *getMaker(mlir::Value value);

/// Of layers that take turns, the place of the one whose tensor has that name:
/// 0 of "{layer}", 1 of "{layer+1}"; none of a name without either.
std::optional<int64_t> layerPlaceOf(llvm::StringRef name);
std::optional<int64_t> layerPlaceOf(WeightOp weight);

/// A short name of a weight, from its sources: "model.layers.{layer}.mlp.
/// gate_proj.weight" and "...up_proj.weight" give "mlp_gate_up".
std::string getShortName(WeightOp weight);

/// What a user calls an op that computes, after its weight if it has one:
/// "mlp_down", "attention", "mlp_down_all_reduce". Stable from run to run; two
/// ops of a graph can share one.
std::string getShortName(mlir::Operation *op);

/// What a message about an op can be about.
enum class Subject {
  Inputs,      ///< columns that an op reads: of a linear, a norm
  Outputs,     ///< rows of the weight of a linear
  Heads,       ///< of queries
  HeadDim,     ///< columns of a head
  MaxContext,  ///< of a graph
  Weights,     ///< the numbers of linears of a graph
  Activations, ///< the numbers of what these read
  Cache,       ///< the numbers of its caches
  Queries,     ///< the numbers of the queries that meet these
  Ranks,       ///< over which a graph is split
};

/// A subject and where the user states it.
using SubjectPlace = std::pair<Subject, mlir::Location>;

/// The location of an op that knows where its subjects are stated: a key of a
/// file, or a flag as `flagPlace` names it.
mlir::Location withPlaces(mlir::Location place,
                          llvm::ArrayRef<SubjectPlace> subjects);

/// Where the subject of an op is stated, or of what is around it; else the op
/// itself: a message stands where a change would help.
mlir::Location placeOf(mlir::Operation *op, Subject subject);
/// The same; none if only the op itself is known.
std::optional<mlir::Location> findPlace(mlir::Operation *op, Subject subject);

/// The place of a flag of the command line, as given: "--weights=nvfp4".
mlir::Location flagPlace(mlir::MLIRContext *context, llvm::StringRef flag);
/// The flag of such a place, or empty.
llvm::StringRef flagOf(mlir::Location place);

} // namespace modelc::model

#endif // DIALECTS_MODEL_MODEL_H
