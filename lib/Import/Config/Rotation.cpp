//===- Rotation.cpp - RoPE in a config.json -------------------------------===//
//
// Older files state "rope_theta" and, where frequencies are stretched, a table
// "rope_scaling" with the "type" or "rope_type". Newer ones state all of it in
// "rope_parameters". transformers takes either table for the other, moves what
// stands beside it into it, and so do we; what stands in both must agree. How
// frequencies are stretched is read in Stretching.cpp.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Config/Architecture.h"

#include <cmath>

using namespace mlir;
using namespace modelc;

static constexpr StringRef kTheta = "rope_theta",
                           kFraction = "partial_rotary_factor",
                           kColumns = "rotary_dim", kWhole = "full_attention",
                           kLocal = "sliding_attention",
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

std::optional<double> modelc::agree(TableReader &config, TableReader &inner,
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

/// How many columns of a head are turned: all, a part of them, or so many.
static void readFraction(TableReader &config, TableReader &inner,
                         const Architecture &architecture,
                         DecoderShape &shape) {
  std::optional<double> stated = agree(config, inner, kFraction);
  const double fraction = stated.value_or(architecture.ropeFraction);
  const int64_t columns = config.positive(kColumns).value_or(
      std::llround(fraction * double(shape.headDim)));
  if (columns < 1 || columns > shape.headDim || columns % 2 != 0) {
    TableReader &at = inner.has(kFraction) ? inner : config;
    at.error(config.has(kColumns) ? kColumns : kFraction,
             "expected an even number of the " + Twine(shape.headDim) +
                 " columns of a head to be turned, got " + Twine(columns));
    return;
  }
  shape.ropeRotated = columns == shape.headDim ? 0 : columns;
}

/// What layers with a window turn by, where they have a table of their own.
static void readLocal(TableReader &table, DecoderShape &shape) {
  const Node *local = table.table(kLocal);
  if (!local) {
    return;
  }
  TableReader inner(table.getSource(), *local, ("\"" + kLocal + "\"").str());
  shape.localTheta = inner.number(kTheta).value_or(shape.localTheta);
  inner.choice("rope_type", {"default"});
  inner.rejectOthers();
}

/// The table of layers that see all keys; that of others is read here.
static const Node *findWhole(TableReader &config, const Node *table,
                             StringRef &key, DecoderShape &shape) {
  if (!table || !table->find(kWhole)) {
    return table;
  }
  TableReader both(config.getSource(), *table, ("\"" + key + "\"").str());
  readLocal(both, shape);
  const Node *whole = both.table(kWhole);
  both.rejectOthers();
  key = kWhole;
  return whole;
}

/// Equal bands leave out the step from one to the other: a slip of the hand,
/// but in the files of a Llama 4.
static void expectBetween(TableReader &inner, const DecoderShape &shape) {
  const auto &bands = shape.ropeScaling;
  if (bands && bands->lowFreqFactor == bands->highFreqFactor) {
    inner.error("high_freq_factor",
                "expected a \"high_freq_factor\" above \"low_freq_factor\", "
                "got " +
                    exactReal(bands->highFreqFactor) + " for both");
  }
}

void modelc::readRotation(TableReader &config, const Architecture &architecture,
                          DecoderShape &shape) {
  Source &source = config.getSource();
  StringRef key;
  const Node empty;
  const Node *table = findTable(config, key);
  if (architecture.hasLocalRope) {
    table = findWhole(config, table, key, shape);
  }
  TableReader inner(source, table ? *table : empty, ("\"" + key + "\"").str());
  shape.ropeInterleaved = architecture.ropeInterleaved;
  readTheta(config, inner, architecture.defaults, shape);
  if (shape.headDim > 0 && !source.failed) {
    readFraction(config, inner, architecture, shape);
  }
  if (!table) {
    config.positive(kOriginal);
    return;
  }
  readStretching(config, inner, shape);
  if (!architecture.hasEqualBands && !source.failed) {
    expectBetween(inner, shape);
  }
}
