//===- Dsl.h - Model graphs in C++ ----------------------------------------===//
//
// Values of this language are mlir::Values and every function makes ops of the
// model dialect at once: there is no graph beside the IR. Example:
//
//   Model m(&context, "tiny", {.maxContext = 2048});
//   Value table = m.weight("model.embed_tokens.weight", {320, 128});
//   Value x = m.embed(m.tokens(), table);
//   x = m.layers(3, x, [&](Value h) {
//     h = m.add(h, selfAttention(m, h, attention));
//     return m.add(h, swigluMlp(m, h, mlp));
//   });
//   x = rmsNorm(m, m.last(x), "model.norm.weight", 1e-5);
//   auto module = m.finish(m.sample(m.linear(x, table)));
//
// Ops carry the place of the call, so messages point into the user's C++.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DSL_DSL_H
#define LIB_DSL_DSL_H

#include "dialects/Model/Model.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <source_location>
#include <string>

namespace modelc {

/// A subject of an op, and where the user states it if that is known.
struct Stated {
  model::Subject subject;
  std::optional<mlir::Location> place;
};

/// Where an op was asked for: a place in C++ or in a file that was read.
class Where {
public:
  Where(std::source_location place) : inSource(place) {}
  Where(mlir::Location place) : inFile(place) {}
  mlir::Location in(mlir::MLIRContext *context) const;
  /// The same place, which knows where sizes of the op are stated.
  Where about(llvm::ArrayRef<Stated> sizes) const;

private:
  std::source_location inSource;
  std::optional<mlir::Location> inFile;
};

/// What is common to a whole model.
struct ModelOptions {
  /// Longest sequence in tokens; 0 if not known.
  int64_t maxContext = 0;
  /// Type of weights and activations; bf16 if null.
  mlir::Type elementType = {};
  /// Type of the weights in the checkpoint; `elementType` if null.
  mlir::Type storedType = {};
  /// Where a file states them: the longest sequence, the format of weights.
  std::optional<mlir::Location> maxContextPlace = std::nullopt,
                                weightsPlace = std::nullopt;
};

/// RoPE of Llama 3 for contexts beyond those trained first.
struct Llama3Scaling {
  double factor = 8.0;
  double lowFreqFactor = 1.0;
  double highFreqFactor = 4.0;
  int64_t originalContext = 8192;
};

struct RopeOptions {
  int64_t headDim = 0;
  double theta = 10000.0;
  std::optional<Llama3Scaling> scaling = std::nullopt;
};

struct LinearOptions {
  mlir::Value bias = {}; ///< null: none
  /// How ranks share it, with the columns of a head where it has heads.
  model::Role role = model::Role::Replicated;
  int64_t headDim = 0;
};

struct AttentionOptions {
  int64_t kvHeads = 0;
  int64_t headDim = 0;
  int64_t window = 0; ///< 0: none
};

/// Greedy unless `random`.
struct SamplingOptions {
  bool random = false;
  std::optional<int64_t> topK = std::nullopt;
  std::optional<double> topP = std::nullopt;
  std::optional<double> temperature = std::nullopt;
};

/// One graph under construction.
class Model {
public:
  using Value = mlir::Value;

  Model(mlir::MLIRContext *context, llvm::StringRef name,
        const ModelOptions &options = {},
        Where where = std::source_location::current());

  /// The packed tokens of the step, i32.
  Value tokens();
  /// A tensor of the checkpoint; asked for again in the same place of the
  /// graph, the same value. In layers, `{layer}` stands for the number.
  Value weight(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
               Where where = std::source_location::current());

  Value embed(Value tokens, Value table,
              Where where = std::source_location::current());
  Value norm(Value x, Value weight, double eps,
             Where where = std::source_location::current());
  /// x * weight^T (+ bias).
  Value linear(Value x, Value weight, const LinearOptions &options = {},
               Where where = std::source_location::current());
  Value rope(Value x, const RopeOptions &options,
             Where where = std::source_location::current());
  /// Appends k and v to the cache of this layer and attends over it.
  Value attention(Value q, Value k, Value v, const AttentionOptions &options,
                  Where where = std::source_location::current());
  Value swiglu(Value gate, Value up,
               Where where = std::source_location::current());
  Value add(Value a, Value b, Where where = std::source_location::current());
  /// The row of the last token of each sequence.
  Value last(Value x, Where where = std::source_location::current());
  /// The next token of each row.
  Value sample(Value logits, const SamplingOptions &options = {},
               Where where = std::source_location::current());

  /// `count` identical layers, numbered on from the layers before. `body`
  /// builds one: it gets the carried values and returns them for the next.
  mlir::SmallVector<Value>
  layers(int64_t count, mlir::ValueRange inits,
         llvm::function_ref<mlir::SmallVector<Value>(mlir::ValueRange)> body,
         Where where = std::source_location::current());
  /// The same with one carried value.
  Value layers(int64_t count, Value init, llvm::function_ref<Value(Value)> body,
               Where where = std::source_location::current());

  /// Ends the graph with its result and verifies it; the module is empty after.
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
  finish(Value result, Where where = std::source_location::current());

private:
  /// The type of `rows` with another number of columns.
  mlir::RankedTensorType withColumns(Value rows, int64_t columns);

  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  model::GraphOp graph;
  Value batch;
  mlir::Type elementType, storedType;
  int64_t nextLayer = 0;
  /// Weights that dominate the insertion point, by name.
  llvm::StringMap<Value> weights;
};

/// Where a file states the sizes of a decoder, so that messages can point
/// there.
struct DecoderPlaces {
  std::optional<mlir::Location> hidden, heads, kvHeads, headDim, ffn, vocab;
};

/// Shape of a decoder in the manner of Llama.
struct DecoderShape {
  std::string name;
  int64_t layers = 0, hidden = 0, heads = 0, kvHeads = 0, headDim = 0, ffn = 0,
          vocab = 0;
  double normEps = 1e-6;
  double ropeTheta = 10000.0;
  std::optional<Llama3Scaling> ropeScaling;
  int64_t window = 0;      ///< of all attention; 0: none
  bool qkvBias = false;    ///< of queries, keys and values
  bool outputBias = false; ///< of what attention gives back
  bool mlpBias = false, tiedEmbeddings = false;
  /// Names of the norms of a layer in the checkpoint.
  std::string attentionNorm = "input_layernorm",
              mlpNorm = "post_attention_layernorm";
  ModelOptions options;
  SamplingOptions sampling;
  DecoderPlaces places;
};

/// RMS norm with the weight of that name.
mlir::Value rmsNorm(Model &m, mlir::Value x, llvm::StringRef weight, double eps,
                    Where where = std::source_location::current());
/// Linear with `<prefix>.weight` and, if `bias`, `<prefix>.bias`.
struct Projection {
  std::string prefix = {};
  int64_t outputs = 0;
  bool bias = false;
  /// How ranks share it, with the columns of a head where it has heads.
  model::Role role = model::Role::Replicated;
  int64_t headDim = 0;
};
mlir::Value project(Model &m, mlir::Value x, const Projection &projection,
                    Where where = std::source_location::current());
/// Pre-norm, q, k, v, RoPE, attention and output projection of one layer,
/// without the residual; tensors named as in the Hugging Face Llama.
mlir::Value selfAttention(Model &m, mlir::Value x, const DecoderShape &shape,
                          Where where = std::source_location::current());
/// Pre-norm, gate, up, SwiGLU and down of one layer, without the residual.
mlir::Value swigluMlp(Model &m, mlir::Value x, const DecoderShape &shape,
                      Where where = std::source_location::current());
/// The whole model.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
buildDecoder(mlir::MLIRContext *context, const DecoderShape &shape,
             Where where = std::source_location::current());

} // namespace modelc

#endif // LIB_DSL_DSL_H
