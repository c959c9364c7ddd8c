//===- Stretching.cpp - Frequencies of RoPE for long contexts -------------===//

#include "lib/Import/Config/Architecture.h"

#include <cmath>

using namespace mlir;
using namespace modelc;

static constexpr StringRef kOriginal = "original_max_position_embeddings",
                           kFactor = "factor", kFast = "beta_fast",
                           kSlow = "beta_slow";
static constexpr StringRef kKinds[] = {"default", "llama3", "yarn", "linear"};
enum class Kind { Default, Llama3, Yarn, Linear };

/// The way that the table names, by either key.
static Kind readKind(TableReader &inner) {
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
  return Kind(kind ? *kind : legacy.value_or(0));
}

static double readFactor(TableReader &inner) {
  const double factor = inner.requireNumber(kFactor);
  if (factor < 1) {
    inner.error(kFactor, "expected a \"" + kFactor + "\" of at least 1, got " +
                             exactReal(factor));
  }
  return factor;
}

/// By how much YaRN enlarges sines and cosines for a factor.
static double magnitude(double factor, double scale) {
  return factor <= 1 ? 1 : 0.1 * scale * std::log(factor) + 1;
}

/// Files state it, or what it follows from, or leave it to the factor.
static void readMagnitudes(TableReader &inner, Yarn &yarn) {
  std::optional<double> stated = inner.number("attention_factor");
  std::optional<double> scale = inner.number("mscale");
  std::optional<double> ofAll = inner.number("mscale_all_dim");
  yarn.magnitude = magnitude(yarn.factor, 1);
  if (scale && ofAll) {
    yarn.magnitude =
        magnitude(yarn.factor, *scale) / magnitude(yarn.factor, *ofAll);
  }
  yarn.magnitude = stated.value_or(yarn.magnitude);
  yarn.scoreMagnitude = ofAll ? magnitude(yarn.factor, *ofAll) : 1;
}

static Yarn readYarn(TableReader &inner, TableReader &original,
                     int64_t maxContext) {
  Yarn yarn;
  yarn.factor = readFactor(inner);
  yarn.betaFast = inner.number(kFast).value_or(32);
  yarn.betaSlow = inner.number(kSlow).value_or(1);
  yarn.truncate = inner.boolean("truncate").value_or(true);
  yarn.originalContext = original.has(kOriginal)
                             ? original.positive(kOriginal).value_or(1)
                             : maxContext;
  readMagnitudes(inner, yarn);
  if (yarn.betaFast < yarn.betaSlow) {
    inner.error(kFast, "expected \"" + kFast + "\" of at least \"" + kSlow +
                           "\" = " + exactReal(yarn.betaSlow) + ", got " +
                           exactReal(yarn.betaFast));
  }
  return yarn;
}

void modelc::readStretching(TableReader &outside, TableReader &table,
                            DecoderShape &shape) {
  Source &source = table.getSource();
  const Kind kind = readKind(table);
  // Some write it beside the table, which is then its place.
  std::optional<double> original = agree(outside, table, kOriginal);
  TableReader &at = original && !table.has(kOriginal) ? outside : table;
  if (source.failed) {
    return;
  }
  const int64_t context = shape.options.maxContext;
  switch (kind) {
  case Kind::Default:
    break;
  case Kind::Llama3:
    shape.ropeScaling = readLlama3Scaling(table, at, kOriginal, context);
    break;
  case Kind::Yarn:
    shape.yarn = readYarn(table, at, context);
    break;
  case Kind::Linear:
    shape.ropeStretched = readFactor(table);
    break;
  }
  if (!source.failed) {
    table.rejectOthers();
  }
}
