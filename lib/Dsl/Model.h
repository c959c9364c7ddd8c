//===- Model.h - One graph under construction -----------------------------===//

#ifndef LIB_DSL_MODEL_H
#define LIB_DSL_MODEL_H

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

/// RoPE of YaRN; see #model.yarn.
struct Yarn {
  double factor = 1.0, betaFast = 32.0, betaSlow = 1.0;
  int64_t originalContext = 4096;
  double magnitude = 1.0;
  bool truncate = true;
  /// Scores of latent attention are multiplied by its square.
  double scoreMagnitude = 1.0;
};

struct RopeOptions {
  int64_t headDim = 0;
  double theta = 10000.0;
  std::optional<Llama3Scaling> scaling = std::nullopt;
  std::optional<Yarn> yarn = std::nullopt;
  double stretched = 1.0; ///< what all frequencies are divided by
  /// Columns of a head that are turned, from `first` on; 0: all of it.
  int64_t rotated = 0, first = 0;
  bool interleaved = false; ///< pairs are neighbours, not halves
};

struct LinearOptions {
  mlir::Value bias = {}; ///< null: none
  /// How ranks share it, with the columns of a head where it has heads.
  model::Role role = model::Role::Replicated;
  int64_t headDim = 0;
};

struct NormOptions {
  double eps = 1e-6;
  int64_t headDim = 0;  ///< columns that are a row of their own; 0: all
  int64_t first = 0;    ///< columns of a row that are normed; 0: all
  bool onePlus = false; ///< weights are 1 more than in the checkpoint
};

/// Queries are multiplied by 1 + scale ln(1 + floor((position + 1) / every)).
struct Temperature {
  double scale = 0.1;
  int64_t every = 8192;
};

struct AttentionOptions {
  int64_t kvHeads = 0;
  int64_t headDim = 0;
  int64_t window = 0; ///< 0: none
  int64_t chunk = 0;  ///< keys of the same chunk are seen; 0: all before
  double scale = 0;   ///< of scores; 0: 1 / sqrt(headDim)
  double softCap = 0; ///< 0: none
  std::optional<Temperature> temperature = std::nullopt;
  mlir::Value sink = {}; ///< one more score for each query head, or null
};

/// Sizes of latent attention: of what queries are made of (0: of the input), of
/// the latent, of the three parts of heads.
struct LatentShape {
  int64_t queryRank = 0, rank = 0, keyDim = 0, ropeDim = 0, valueDim = 0;
};

/// Experts are chosen in `kept` of `count` groups only; see #model.groups.
struct ExpertGroups {
  int64_t count = 1, kept = 1;
  model::GroupScore score = model::GroupScore::TopTwo;
  model::GroupMask mask = model::GroupMask::MinusInfinity;
};

struct RouteOptions {
  int64_t topK = 1;
  model::Scoring scoring = model::Scoring::Softmax;
  std::optional<ExpertGroups> groups = std::nullopt;
  std::optional<double> renormalised = std::nullopt; ///< what the sum gets
  std::optional<double> scaled = std::nullopt;
};

/// How a gate is put through; alpha and limit are of clamped SiLU alone.
struct GatingOptions {
  model::Gating gating = model::Gating::Silu;
  double alpha = 0, limit = 0;
};

/// The matrices of all experts, [experts, outputs, inputs], and their biases,
/// which may be null.
struct ExpertWeights {
  mlir::Value gateUp, down, gateUpBias = {}, downBias = {};
  bool interleaved = false; ///< rows of gate and up in turn, not halves
  bool weighInputs = false; ///< weights multiply what experts read
  GatingOptions gating = {};
};

/// A tensor that is not a plain matrix in the type of the model.
struct WeightOptions {
  mlir::Type type = {};    ///< that of the model if null
  bool transposed = false; ///< inputs before outputs in the checkpoint
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

  /// Tensors below one another; with `{expert}` in a name those of all experts,
  /// stacked along the first dimension.
  Value weights(llvm::ArrayRef<std::string> names,
                llvm::ArrayRef<int64_t> shape,
                const WeightOptions &options = {},
                Where where = std::source_location::current());

  /// Rows of the table, times `scale` unless that is 0.
  Value embed(Value tokens, Value table, double scale = 0,
              Where where = std::source_location::current());
  Value norm(Value x, Value weight, double eps,
             Where where = std::source_location::current());
  /// The same of heads, of some columns, or without a weight (null).
  Value norm(Value x, Value weight, const NormOptions &options,
             Where where = std::source_location::current());
  /// x * weight^T (+ bias).
  Value linear(Value x, Value weight, const LinearOptions &options = {},
               Where where = std::source_location::current());
  /// The same, whose result stays in f32: what routers and gates read.
  Value logits(Value x, Value weight, Value bias = {},
               Where where = std::source_location::current());
  Value rope(Value x, const RopeOptions &options,
             Where where = std::source_location::current());
  /// Appends k and v to the cache of this layer and attends over it.
  Value attention(Value q, Value k, Value v, const AttentionOptions &options,
                  Where where = std::source_location::current());
  /// Appends the latent of `kv` and the rotated key behind it to the cache of
  /// this layer, and attends over it: `q` are whole heads, `expand` makes keys
  /// and values of a latent, head by head.
  Value latentAttention(Value q, Value kv, Value expand,
                        const LatentShape &shape, double scale,
                        Where where = std::source_location::current());
  Value swiglu(Value gate, Value up, model::Gating gating = model::Gating::Silu,
               Where where = std::source_location::current());
  /// The numbers of the experts of each token, and their weights; `correction`
  /// is added to scores for the choice alone, and may be null.
  std::pair<Value, Value> route(Value logits, Value correction,
                                const RouteOptions &options,
                                Where where = std::source_location::current());
  /// What the chosen experts make of each token, summed up.
  Value experts(Value x, std::pair<Value, Value> route,
                const ExpertWeights &weights,
                Where where = std::source_location::current());
  /// x * sigmoid(gate); the gate has one column, or as many as x.
  Value gate(Value x, Value gate,
             Where where = std::source_location::current());
  /// Columns of `a`, then those of `b`.
  Value concat(Value a, Value b, Where where = std::source_location::current());
  Value add(Value a, Value b, Where where = std::source_location::current());
  /// The row of the last token of each sequence.
  Value last(Value x, Where where = std::source_location::current());
  /// The next token of each row.
  Value sample(Value logits, const SamplingOptions &options = {},
               Where where = std::source_location::current());

  /// `count` identical layers, numbered on from the layers before. `body`
  /// builds one: it gets the carried values and returns them for the next. With
  /// a `step` it builds as many layers of several kinds, whose tensors have
  /// `{layer}`, `{layer+1}`, ... in their names.
  mlir::SmallVector<Value>
  layers(int64_t count, mlir::ValueRange inits,
         llvm::function_ref<mlir::SmallVector<Value>(mlir::ValueRange)> body,
         Where where = std::source_location::current(), int64_t step = 1);
  /// The same with one carried value.
  Value layers(int64_t count, Value init, llvm::function_ref<Value(Value)> body,
               Where where = std::source_location::current(), int64_t step = 1);

  /// Ends the graph with its result and verifies it; the module is empty after.
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
  finish(Value result, Where where = std::source_location::current());

private:
  /// The type of `rows` with another number of columns.
  mlir::RankedTensorType withColumns(Value rows, int64_t columns);
  /// The cache of the layer that is being built.
  Value cache(model::CacheType type, mlir::Location loc);

  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  model::GraphOp graph;
  Value batch;
  mlir::Type elementType, storedType;
  int64_t nextLayer = 0;
  /// Weights that dominate the insertion point, by name.
  llvm::StringMap<Value> knownWeights;
};

} // namespace modelc

#endif // LIB_DSL_MODEL_H
