//===- Rotation.cpp - RoPE in a config.json -------------------------------===//
//
// Older files state "rope_theta" and, where frequencies are stretched, a table
// "rope_scaling" with the "type" or "rope_type". Newer ones state all of it in
// "rope_parameters". transformers takes either table for the other, moves what
// stands beside it into it, and so do we; what stands in both must agree.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Config/Architecture.h"

using namespace mlir;
using namespace modelc;

static constexpr StringRef kTheta = "rope_theta",
                           kFraction = "partial_rotary_factor",
                           kOriginal = "original_max_position_embeddings";

/// The table of either name, or null.
static const Node *findTable(TableReader &config, StringRef &key) {
  const Node *old = config.table("rope_scaling");
  const Node *parameters = config.table("rope_parameters");
  if (old && parameters) {
    config.error("rope_scaling", "expected \"rope_scaling\" or "
                                 "\"rope_parameters\", got both");
  }
  key = parameters ? "rope_parameters" : "rope_scaling";
  const Node *found = parameters ? parameters : old;
  return found && !found->members.empty() ? found : nullptr;
}

/// What the config and its table both state must be one number.
static std::optional<double> agree(TableReader &config, TableReader &inner,
                                   StringRef key) {
  std::optional<double> outside = config.number(key);
  std::optional<double> inside = inner.number(key);
  if (outside && inside && *outside != *inside) {
    config.error(key, "expected one \"" + key + "\", got " +
                          exactReal(*outside) + " here and " +
                          exactReal(*inside) + " in " + inner.name());
  }
  return inside ? inside : outside;
}

static void readTheta(TableReader &config, TableReader &inner,
                      const DecoderDefaults &defaults, DecoderShape &shape) {
  const bool isStated = config.has(kTheta) || inner.has(kTheta);
  shape.ropeTheta =
      isStated ? agree(config, inner, kTheta).value_or(defaults.ropeTheta)
               : config.numberOr(
                     kTheta, {defaults.ropeTheta, "rope.theta", defaults.why});
}

static void checkFraction(TableReader &config, TableReader &inner) {
  std::optional<double> fraction = agree(config, inner, kFraction);
  if (fraction && *fraction != 1) {
    TableReader &at = inner.has(kFraction) ? inner : config;
    at.error(kFraction, "expected a \"" + kFraction +
                            "\" of 1, all of each head rotated, got " +
                            exactReal(*fraction));
  }
}

/// Whether frequencies are stretched as Llama 3 does; no other way is known.
static bool isStretched(TableReader &inner) {
  static constexpr StringRef kKinds[] = {"default", "llama3"};
  std::optional<size_t> kind = inner.choice("rope_type", kKinds);
  std::optional<size_t> legacy = inner.choice("type", kKinds);
  if (kind && legacy && *kind != *legacy) {
    inner.error("type", "expected \"type\" and \"rope_type\" to agree, got \"" +
                            kKinds[*legacy] + "\" and \"" + kKinds[*kind] +
                            "\"");
  }
  if (!kind && !legacy && !inner.getSource().failed &&
      !inner.others().empty()) {
    inner.error("rope_type", "expected \"rope_type\" beside \"" +
                                 inner.others().front()->key +
                                 "\": " + listWords(kKinds));
  }
  return (kind ? kind : legacy) == 1;
}

static void readKind(TableReader &config, TableReader &inner,
                     DecoderShape &shape) {
  const bool stretched = isStretched(inner);
  // Some write it beside the table, which is then its place.
  std::optional<double> original = agree(config, inner, kOriginal);
  if (stretched && !inner.getSource().failed) {
    TableReader &at = original && !inner.has(kOriginal) ? config : inner;
    shape.ropeScaling =
        readLlama3Scaling(inner, at, kOriginal, shape.options.maxContext);
  }
  if (!inner.getSource().failed) {
    inner.rejectOthers();
  }
}

void modelc::readRotation(TableReader &config, const DecoderDefaults &defaults,
                          DecoderShape &shape) {
  Source &source = config.getSource();
  StringRef key;
  const Node empty;
  const Node *table = findTable(config, key);
  TableReader inner(source, table ? *table : empty, ("\"" + key + "\"").str());
  readTheta(config, inner, defaults, shape);
  checkFraction(config, inner);
  if (table) {
    readKind(config, inner, shape);
  } else {
    config.positive(kOriginal);
  }
}
