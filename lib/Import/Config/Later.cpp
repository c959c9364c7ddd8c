//===- Later.cpp - Layers that are not supported yet, by their keys -------===//

#include "lib/Import/Config/Architecture.h"

using namespace mlir;
using namespace modelc;

namespace {
struct Later {
  StringRef key, meaning;
};
} // namespace

/// The first that a file has says best what it is.
static constexpr Later kLater[] = {
    {"linear_attn_config", "layers with a recurrent state (delta attention)"},
    {"linear_num_value_heads",
     "layers with a recurrent state (gated delta rule)"},
    {"hybrid_override_pattern", "layers with a recurrent state (Mamba 2)"},
    {"mamba_num_heads", "layers with a recurrent state (Mamba 2)"},
    {"hc_mult", "several residual streams"},
    {"index_topk", "keys that an indexer chooses"},
    {"sparse_attention_config", "keys that an indexer chooses"},
    {"global_head_dim", "heads of two sizes"},
};

/// Says it of one table, if it has such a key.
static bool refuseIn(TableReader &config) {
  for (const Later &later : kLater) {
    if (config.has(later.key)) {
      config.error(later.key, "unsupported key \"" + later.key +
                                  "\", which asks for " + later.meaning +
                                  "; no op of the model dialect says that yet");
      return true;
    }
  }
  return false;
}

bool modelc::refuseLater(TableReader &config) {
  if (refuseIn(config)) {
    return true;
  }
  const Node *text = config.find("text_config");
  if (!text || !text->isTable()) {
    return false;
  }
  TableReader inside(config.getSource(), *text, "\"text_config\"");
  return refuseIn(inside);
}
