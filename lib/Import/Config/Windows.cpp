//===- Windows.cpp - Which keys the layers of a config.json see -----------===//

#include "lib/Import/Config/Architecture.h"

using namespace mlir;
using namespace modelc;

static constexpr StringRef kTypes = "layer_types", kWindow = "sliding_window";
static constexpr StringRef kFull = "full_attention",
                           kSliding = "sliding_attention";

/// The window that is stated, or the default, and not switched off. Values are
/// checked either way.
static std::optional<int64_t> readSize(TableReader &config,
                                       const Architecture &architecture) {
  const DecoderDefaults &defaults = architecture.defaults;
  std::optional<int64_t> size = config.positive(kWindow);
  // Classes whose last layers may have a window have none unless it is said.
  const bool isUsed =
      config.boolean("use_sliding_window")
          .value_or(architecture.windows != Windows::LastLayers);
  if (!isUsed) {
    return std::nullopt;
  }
  if (defaults.window > 0 && !config.states(kWindow)) {
    return config.positiveOr(kWindow,
                             {defaults.window, "window", defaults.why});
  }
  return size;
}

/// Whether "layer_types" says that a layer has the window; of a type that no
/// layer can have, a mistake.
static bool hasWindow(Source &source, const Node &type, bool isStated) {
  if (!type.isString()) {
    source.error(type.place, "expected the type of a layer, a string, got " +
                                 type.kindName());
    return false;
  }
  if (type.string == kFull) {
    return false;
  }
  if (type.string != kSliding) {
    source.error(type.place, "unsupported layer type \"" + type.string +
                                 "\"; supported: \"" + kFull + "\"");
  } else if (!isStated) {
    source.error(type.place, "expected a \"" + kWindow +
                                 "\" in use for a layer of type \"" + kSliding +
                                 "\", got none");
  }
  return true;
}

/// How many layers "layer_types" gives the window.
static int64_t countTypes(TableReader &config, const Node &types,
                          const DecoderShape &shape, bool isStated) {
  Source &source = config.getSource();
  if (types.items.size() != uint64_t(shape.layers)) {
    config.error(kTypes, "expected an array of " + Twine(shape.layers) +
                             " types, one for each layer, got " +
                             Twine(types.items.size()));
    return 0;
  }
  int64_t count = 0;
  for (const Node &type : types.items) {
    count += hasWindow(source, type, isStated);
    if (source.failed) {
      break;
    }
  }
  return count;
}

/// The same by the architecture's own rule.
static int64_t countByRule(TableReader &config, Windows rule, int64_t full,
                           const DecoderShape &shape) {
  switch (rule) {
  case Windows::Unknown:
    config.error(kWindow, "expected \"" + kWindow + "\" of at least the " +
                              Twine(shape.options.maxContext) +
                              " tokens of the context, or null: engines "
                              "disagree which layers it is of; a TOML file can "
                              "say window = ... for all");
    return 0;
  case Windows::AllLayers:
    return shape.layers;
  case Windows::LastLayers:
    return shape.layers - std::min(shape.layers, full);
  }
  llvm_unreachable("all rules are listed");
}

int64_t modelc::readWindow(TableReader &config,
                           const Architecture &architecture,
                           const DecoderShape &shape) {
  std::optional<int64_t> size = readSize(config, architecture);
  const int64_t full = config.natural("max_window_layers")
                           .value_or(architecture.defaults.fullLayers);
  const Node *types = config.array(kTypes);
  if (config.getSource().failed) {
    return 0;
  }
  const bool isShort = size && *size < shape.options.maxContext;
  int64_t layers = 0;
  if (types) {
    layers = countTypes(config, *types, shape, size.has_value());
  } else if (isShort) {
    layers = countByRule(config, architecture.windows, full, shape);
  }
  if (!isShort || layers == 0 || config.getSource().failed) {
    return 0;
  }
  if (layers != shape.layers) {
    config.error(types ? kTypes : kWindow,
                 "expected a window of all layers or of none, got one of " +
                     Twine(layers) + " in " + Twine(shape.layers));
    return 0;
  }
  return *size;
}
