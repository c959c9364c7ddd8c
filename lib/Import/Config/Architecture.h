//===- Architecture.h - Decoders as transformers describes them -----------===//

#ifndef LIB_IMPORT_CONFIG_ARCHITECTURE_H
#define LIB_IMPORT_CONFIG_ARCHITECTURE_H

#include "lib/Import/Reader.h"

namespace modelc {

/// Which layers a "sliding_window" is of, where "layer_types" does not say.
enum class Windows {
  Unknown,    ///< engines disagree: a mistake where it would change anything
  AllLayers,  ///< every layer
  LastLayers, ///< those from "max_window_layers" on, if "use_sliding_window"
  InTurn      ///< all but each `windowPeriod`-th
};

/// Which linears of attention and feed-forward have a bias.
enum class Biases {
  AsStated,    ///< "attention_bias": all of attention; "mlp_bias": feed-forward
  Apart,       ///< as above, but "attention_out_bias": the output of attention
  Qkv,         ///< queries, keys and values
  QkvAsStated, ///< "attention_bias": those three
  Attention,   ///< "attention_bias": all of attention
  None
};

/// What a class of experts has where its file does not say.
struct ExpertDefaults {
  int64_t count = 0, topK = 0, width = 0, shared = 0, dense = 0;
  int64_t groups = 1, keptGroups = 1;
  double scale = 1;
  bool renormalises = false;
};

/// One architecture that the importer knows: a row of the table in
/// Architectures.cpp.
struct Architecture {
  llvm::StringRef name;          ///< in "architectures"
  llvm::StringRef modelType;     ///< in "model_type"
  DecoderDefaults defaults = {}; ///< those of its config class
  Windows windows = Windows::Unknown;
  Biases biases = Biases::AsStated;
  /// Names of the norms of a layer in the checkpoint; empty: as in a Llama.
  llvm::StringRef attentionNorm = "", mlpNorm = "";
  /// Whether its class comes with the checkpoint, as "auto_map" says.
  bool hasOwnClass = false;
  int64_t windowPeriod = 0;
  /// Whether layers with a window have frequencies of their own.
  bool hasLocalRope = false;
  /// Whether types of layers say which see a chunk; else which have a window.
  bool hasChunks = false;
  /// Whether pairs are neighbours, and what part of a head is turned.
  bool ropeInterleaved = false;
  double ropeFraction = 1;
  /// Whether a llama3 scaling may have no frequencies between its two bands.
  bool hasEqualBands = false;
  QkNorm qkNorm = QkNorm::None;
  model::Gating gating = model::Gating::Silu;
  ExpertDefaults experts = {};
  /// Reads what only this family has; null: nothing.
  void (*readFamily)(TableReader &config, const Architecture &architecture,
                     DecoderShape &shape) = nullptr;
};

/// The row that a config.json names, or null and a message.
const Architecture *findArchitecture(TableReader &config);

/// Base and scaling of RoPE, by the keys of any version of transformers.
void readRotation(TableReader &config, const Architecture &architecture,
                  DecoderShape &shape);

/// What a table and what it stands in both state must be one number.
std::optional<double> agree(TableReader &config, TableReader &inner,
                            llvm::StringRef key);

/// How a table of RoPE says that frequencies are stretched. `outside` is what
/// the table stands in.
void readStretching(TableReader &outside, TableReader &table,
                    DecoderShape &shape);

/// Which linears have a bias. Keys that say otherwise than the architecture
/// are mistakes.
void readBiases(TableReader &config, const Architecture &architecture,
                DecoderShape &shape);

/// Which layers have a window, in `shape.kinds`.
void readWindows(TableReader &config, const Architecture &architecture,
                 DecoderShape &shape);

// Families, in Families.cpp and Experts.cpp: what their layers have beside
// those of a Llama.
void readMixtral(TableReader &config, const Architecture &architecture,
                 DecoderShape &shape);
void readQwenExperts(TableReader &config, const Architecture &architecture,
                     DecoderShape &shape);
void readGptOss(TableReader &config, const Architecture &architecture,
                DecoderShape &shape);
void readDeepSeek2(TableReader &config, const Architecture &architecture,
                   DecoderShape &shape);
void readDeepSeek3(TableReader &config, const Architecture &architecture,
                   DecoderShape &shape);
void readGlm(TableReader &config, const Architecture &architecture,
             DecoderShape &shape);
void readMiniMax(TableReader &config, const Architecture &architecture,
                 DecoderShape &shape);
void readLlama4(TableReader &config, const Architecture &architecture,
                DecoderShape &shape);
void readGemma3(TableReader &config, const Architecture &architecture,
                DecoderShape &shape);

/// The text model inside of a larger one, with what the larger one says of it;
/// of a file that has none, the file. A note says what is left out.
struct TextModel {
  Node config;
  bool isInside = false;
};
TextModel findTextModel(Source &source, const Node &config);

/// Says at its key that a file asks for layers that are not supported yet, if
/// it does.
bool refuseLater(TableReader &config);

/// Every key that no reader asked for has no effect on what is computed, or is
/// a mistake.
void checkOtherKeys(TableReader &config, const Architecture &architecture);

} // namespace modelc

#endif // LIB_IMPORT_CONFIG_ARCHITECTURE_H
