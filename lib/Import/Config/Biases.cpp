//===- Biases.cpp - Which linears of a config.json have a bias ------------===//

#include "lib/Import/Config/Architecture.h"

using namespace mlir;
using namespace modelc;

static constexpr StringRef kAttention = "attention_bias",
                           kOutput = "attention_out_bias", kMlp = "mlp_bias";

/// A key that the class does not read: it can only say what is so.
static void checkBias(TableReader &config, const Architecture &architecture,
                      StringRef key, bool isThere) {
  std::optional<bool> stated = config.boolean(key);
  if (stated && *stated != isThere) {
    config.error(key, "expected \"" + key + "\" to be " +
                          (isThere ? "true" : "false") + ", as it is for a " +
                          architecture.name);
  }
}

void modelc::readBiases(TableReader &config, const Architecture &architecture,
                        DecoderShape &shape) {
  const DecoderDefaults &defaults = architecture.defaults;
  auto read = [&](StringRef key, StringRef tomlKey, bool otherwise) {
    return config.booleanOr(key, {otherwise, tomlKey, defaults.why});
  };
  switch (architecture.biases) {
  case Biases::AsStated:
    shape.qkvBias = shape.outputBias =
        read(kAttention, kTomlKeys.attentionBias, defaults.attentionBias);
    shape.mlpBias = read(kMlp, kTomlKeys.mlpBias, false);
    return;
  case Biases::Apart:
    shape.qkvBias = read(kAttention, kTomlQkvBias, defaults.attentionBias);
    shape.outputBias = read(kOutput, kTomlKeys.attentionBias, false);
    shape.mlpBias = read(kMlp, kTomlKeys.mlpBias, false);
    return;
  case Biases::QkvAsStated:
    shape.qkvBias = read(kAttention, kTomlQkvBias, defaults.attentionBias);
    return;
  case Biases::Attention:
    shape.qkvBias = shape.outputBias =
        read(kAttention, kTomlKeys.attentionBias, defaults.attentionBias);
    return;
  case Biases::Qkv:
  case Biases::None:
    shape.qkvBias = architecture.biases == Biases::Qkv;
    checkBias(config, architecture, kAttention, shape.qkvBias);
    checkBias(config, architecture, kMlp, false);
    return;
  }
}
