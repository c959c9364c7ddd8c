//===- Blocks.h - Blocks of decoders, in C++ ------------------------------===//
//
// What the layers of published models are made of, built by the functions of
// Model.h. A decoder is a shape, of which `buildDecoder` makes a graph.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DSL_BLOCKS_H
#define LIB_DSL_BLOCKS_H

#include "lib/Dsl/Model.h"
#include <vector>

namespace modelc {

/// Where a file states the sizes of a decoder, so that messages can point
/// there.
struct DecoderPlaces {
  std::optional<mlir::Location> hidden, heads, kvHeads, headDim, ffn, vocab;
};

/// What is normed of queries and keys before they meet, by "q_norm" and
/// "k_norm".
enum class QkNorm {
  None,
  PerHead,   ///< before RoPE, with the weight of a head
  WholeRow,  ///< before RoPE, over all heads
  Unweighted ///< each head behind RoPE, without a weight
};

/// Experts of a layer and their router, and how a checkpoint names them: below
/// `prefix`, `{expert}` where each has tensors of its own.
struct ExpertsShape {
  int64_t count = 0, width = 0;
  RouteOptions route;
  GatingOptions gating;
  bool routesInF32 = false; ///< logits are not rounded to the model's type
  bool hasRouterBias = false, hasBiases = false;
  bool interleaved = false, transposed = false, weighInputs = false;
  std::string prefix = "mlp.", router = "gate", correction = "";
  std::vector<std::string> gateUp = {"experts.{expert}.gate_proj.weight",
                                     "experts.{expert}.up_proj.weight"};
  std::string down = "experts.{expert}.down_proj.weight";
  /// Of a feed-forward that all tokens go through: its width (0: none), its
  /// name, that of its gate ("": none).
  int64_t sharedWidth = 0;
  std::string shared = "shared_experts.", sharedGate = "";
};

/// What one layer has that others of the model may not have.
struct LayerKind {
  /// Which frequencies turn queries and keys.
  enum class Rotation { Whole, Local, None };
  bool hasExperts = false;
  int64_t window = 0, chunk = 0;
  Rotation rotation = Rotation::Whole;
  bool hasTemperature = false;
  bool operator==(const LayerKind &) const = default;
};

/// Shape of a decoder in the manner of Llama, and what others have beside it.
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

  /// Before all names of tensors, and before those of a layer.
  std::string root, layer = "model.layers.{layer}.";
  std::string mlp = "mlp."; ///< before those of a feed-forward
  /// Norms behind attention and feed-forward; "": none.
  std::string attentionPostNorm, mlpPostNorm;
  bool onePlusNorms = false; ///< weights of all norms are 1 more
  QkNorm qkNorm = QkNorm::None;
  model::Gating gating = model::Gating::Silu;
  double embeddingScale = 0; ///< 0: none
  double scoreScale = 0;     ///< 0: as the size of heads says
  double softCap = 0;        ///< of scores; 0: none
  bool hasSinks = false;
  std::optional<Yarn> yarn;
  double ropeStretched = 1;
  int64_t ropeRotated = 0; ///< columns of a head that are turned; 0: all
  bool ropeInterleaved = false;
  double localTheta = 10000.0; ///< of layers whose rotation is local
  int64_t chunk = 0;
  bool isRotated = true;
  std::optional<Temperature> temperature;
  std::optional<LatentShape> latent;
  std::optional<ExpertsShape> experts;
  /// One for each layer; empty: all are alike, and as is said above.
  std::vector<LayerKind> kinds;
};

/// The place of a size where it is known, else that of the whole.
Where either(std::optional<mlir::Location> place, Where whole);
/// The norm of a layer by that name, in the manner of the model.
mlir::Value layerNorm(Model &m, mlir::Value x, llvm::StringRef name,
                      const DecoderShape &shape, Where where);
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
/// Attention of one layer over a latent cache, without the residual.
mlir::Value latentSelfAttention(Model &m, mlir::Value x,
                                const DecoderShape &shape,
                                Where where = std::source_location::current());
/// Pre-norm, router, experts and what all tokens go through beside them, of one
/// layer, without the residual.
mlir::Value expertsMlp(Model &m, mlir::Value x, const DecoderShape &shape,
                       Where where = std::source_location::current());
/// Layers that follow one another in turn: `period` kinds, `repeats` times.
struct LayerRun {
  int64_t period = 1, repeats = 1;
};
/// Few runs that make all layers, in order.
std::vector<LayerRun> findRuns(llvm::ArrayRef<LayerKind> kinds);
/// Pre-norm, gate, up, SwiGLU and down of one layer, without the residual.
mlir::Value swigluMlp(Model &m, mlir::Value x, const DecoderShape &shape,
                      Where where = std::source_location::current());
/// The whole model.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
buildDecoder(mlir::MLIRContext *context, const DecoderShape &shape,
             Where where = std::source_location::current());

} // namespace modelc

#endif // LIB_DSL_BLOCKS_H
