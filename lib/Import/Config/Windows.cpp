//===- Windows.cpp - Which keys the layers of a config.json see -----------===//

#include "lib/Import/Config/Architecture.h"

using namespace mlir;
using namespace modelc;

static constexpr StringRef kTypes = "layer_types", kWindow = "sliding_window";
static constexpr StringRef kFull = "full_attention",
                           kSliding = "sliding_attention";
// The second is what transformers 5 saves beside "layer_types".
static constexpr StringRef kPeriod = "sliding_window_pattern",
                           kSavedPeriod = "_sliding_window_pattern";

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
                                 "\"; supported: \"" + kFull + "\" and \"" +
                                 kSliding + "\"");
  } else if (!isStated) {
    source.error(type.place, "expected a \"" + kWindow +
                                 "\" in use for a layer of type \"" + kSliding +
                                 "\", got none");
  }
  return true;
}

/// Which layers "layer_types" gives the window.
static std::vector<bool> readTypes(TableReader &config, const Node &types,
                                   const DecoderShape &shape, bool isStated) {
  Source &source = config.getSource();
  std::vector<bool> slide(shape.layers);
  if (types.items.size() != uint64_t(shape.layers)) {
    config.error(kTypes, "expected an array of " + Twine(shape.layers) +
                             " types, one for each layer, got " +
                             Twine(types.items.size()));
    return slide;
  }
  for (auto [i, type] : llvm::enumerate(types.items)) {
    slide[i] = hasWindow(source, type, isStated);
    if (source.failed) {
      break;
    }
  }
  return slide;
}

/// The same by the architecture's own rule.
static std::vector<bool> byRule(TableReader &config,
                                const Architecture &architecture,
                                const DecoderShape &shape) {
  std::vector<bool> slide(shape.layers);
  const int64_t full = config.natural("max_window_layers")
                           .value_or(architecture.defaults.fullLayers);
  const std::optional<int64_t> saved = config.positive(kSavedPeriod);
  const int64_t period = config.positive(kPeriod).value_or(
      saved.value_or(architecture.windowPeriod));
  for (int64_t i = 0; i < shape.layers; ++i) {
    switch (architecture.windows) {
    case Windows::Unknown:
      break;
    case Windows::AllLayers:
      slide[i] = true;
      break;
    case Windows::LastLayers:
      slide[i] = i >= full;
      break;
    case Windows::InTurn:
      slide[i] = (i + 1) % period != 0;
      break;
    }
  }
  return slide;
}

/// A window that would change something needs a rule.
static void checkRule(TableReader &config, const Architecture &architecture,
                      const DecoderShape &shape) {
  if (architecture.windows == Windows::Unknown) {
    config.error(kWindow, "expected \"" + kWindow + "\" of at least the " +
                              Twine(shape.options.maxContext) +
                              " tokens of the context, or null: engines "
                              "disagree which layers it is of; a TOML file can "
                              "say window = ... for all");
  }
}

void modelc::readWindows(TableReader &config, const Architecture &architecture,
                         DecoderShape &shape) {
  std::optional<int64_t> size = readSize(config, architecture);
  const Node *types = architecture.hasChunks ? nullptr : config.array(kTypes);
  const std::vector<bool> ruled = byRule(config, architecture, shape);
  shape.kinds.assign(shape.layers, {});
  if (config.getSource().failed) {
    return;
  }
  const bool isShort = size && *size < shape.options.maxContext;
  if (isShort && !types) {
    checkRule(config, architecture, shape);
  }
  const std::vector<bool> slide =
      types ? readTypes(config, *types, shape, size.has_value()) : ruled;
  for (auto [kind, slides] : llvm::zip_equal(shape.kinds, slide)) {
    kind.window = slides && isShort ? *size : 0;
    if (slides && architecture.hasLocalRope) {
      kind.rotation = LayerKind::Rotation::Local;
    }
  }
}
