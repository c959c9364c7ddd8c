//===- Architecture.h - Decoders as transformers describes them -----------===//

#ifndef LIB_IMPORT_CONFIG_ARCHITECTURE_H
#define LIB_IMPORT_CONFIG_ARCHITECTURE_H

#include "lib/Import/Reader.h"

namespace modelc {

/// Which layers a "sliding_window" is of, where "layer_types" does not say.
enum class Windows {
  Unknown,   ///< engines disagree: a mistake where it would change anything
  AllLayers, ///< every layer
  LastLayers ///< those from "max_window_layers" on, if "use_sliding_window"
};

/// Which linears of attention and feed-forward have a bias.
enum class Biases {
  AsStated, ///< "attention_bias": all of attention; "mlp_bias": feed-forward
  Apart,    ///< as above, but "attention_out_bias": the output of attention
  Qkv,      ///< queries, keys and values
  None
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
};

/// The row that a config.json names, or null and a message.
const Architecture *findArchitecture(TableReader &config);

/// Base and scaling of RoPE, by the keys of any version of transformers.
void readRotation(TableReader &config, const DecoderDefaults &defaults,
                  DecoderShape &shape);

/// Which linears have a bias. Keys that say otherwise than the architecture
/// are mistakes.
void readBiases(TableReader &config, const Architecture &architecture,
                DecoderShape &shape);

/// The window of all layers, or 0 where a query sees all keys before it.
int64_t readWindow(TableReader &config, const Architecture &architecture,
                   const DecoderShape &shape);

/// Every key that no reader asked for has no effect on what is computed, or is
/// a mistake.
void checkOtherKeys(TableReader &config, const Architecture &architecture);

} // namespace modelc

#endif // LIB_IMPORT_CONFIG_ARCHITECTURE_H
