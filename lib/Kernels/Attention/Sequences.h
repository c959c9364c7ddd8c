//===- Sequences.h - The sequences of a step, seen from a kernel ----------===//

#ifndef LIB_KERNELS_ATTENTION_SEQUENCES_H
#define LIB_KERNELS_ATTENTION_SEQUENCES_H

#include "lib/Kernels/HeadFamilies.h"
#include "lib/Kernels/KernelBuilder.h"

namespace modelc::kernels {

/// Where the new tokens of one sequence lie: rows `start` to `end` of packed
/// matrices, positions `past` to `context` of the sequence.
struct Sequence {
  Scalar index, start, end, count, past, context;
};

/// Arguments that hold queries: those that meet the last columns of keys may
/// lie apart.
struct QueryArguments {
  /// Where a column that meets keys lies.
  struct Column {
    mlir::Value buffer;
    int64_t column;
  };
  mlir::Value latent, q;

  /// Declares [q_latent] and q.
  static QueryArguments declare(KernelBuilder &k, const HeadShape &shape);
  Column at(const HeadShape &shape, int64_t column) const;
};

/// Arguments of the cache: keys and values, and their scales where it has 8
/// bits, with that of queries that multiply such keys. Values of a latent cache
/// are keys.
struct CacheArguments {
  mlir::Value keys, values, queryScale, keyScale, valueScale;

  /// Declares k_cache, v_cache, [q_scale], [k_scale, v_scale]; who leaves
  /// values in units of their scale takes no v_scale.
  static CacheArguments declare(KernelBuilder &k, const HeadShape &shape,
                                bool scalesValues = true);
};

/// Sizes of a step that a grid spans.
struct StepSizes {
  Scalar sequences, longest;
};

/// Arguments that describe the sequences of a step.
struct SequenceArguments {
  mlir::Value starts, contexts, pages;

  /// Declares starts[sequences + 1] and contexts[sequences].
  static SequenceArguments declareTokens(KernelBuilder &k);
  /// The same and pages[sequences, pages of one].
  static SequenceArguments declare(KernelBuilder &k);
  /// Declares tokens, sequences and longest; with pages pages_per_sequence.
  StepSizes declareSizes(KernelBuilder &k, StepRange sizes) const;
  /// Loads the numbers of one sequence.
  Sequence load(KernelBuilder &k, Scalar index) const;
};

/// The share of tiles of new tokens that hold any, if a grid spans the longest
/// sequence: an `expect` expression.
inline constexpr llvm::StringLiteral kLiveTiles =
    "min(1, tokens / (sequences * longest))";

} // namespace modelc::kernels

#endif // LIB_KERNELS_ATTENTION_SEQUENCES_H
