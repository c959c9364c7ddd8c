//===- ModelPasses.h - Model dialect -> model dialect ---------------------===//
//
// Quantise, shard, fuse and bind a graph to a phase, and count what it holds.
// What each pass does, with a before and an after: Passes.td.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_MODELPASSES_MODELPASSES_H
#define LIB_MODELPASSES_MODELPASSES_H

#include "dialects/Model/Model.h"
#include "dialects/Model/NumberFormats.h"

#include "mlir/Pass/Pass.h"

namespace modelc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/ModelPasses/Passes.h.inc"

/// What one rank holds of a model.
struct ModelSummary {
  int64_t ranks = 1;
  int64_t layers = 0;
  /// Weights on this rank, without scales; all of the model's if `ranks` is 1.
  int64_t parameters = 0;
  /// Of these, those that a token meets: of experts, those chosen for it.
  int64_t activeParameters = 0;
  /// Bytes of weights on this rank, with their scales, by what they are for.
  int64_t embeddingBytes = 0, attentionBytes = 0, mlpBytes = 0, normBytes = 0,
          headBytes = 0;
  /// Bytes that one token of one sequence takes in the caches of all layers.
  int64_t cacheBytesPerToken = 0;

  int64_t weightBytes() const {
    return embeddingBytes + attentionBytes + mlpBytes + normBytes + headBytes;
  }
};

/// Counts the weights and the cache of a graph, before or after any pass.
ModelSummary summarise(model::GraphOp graph);

/// Numbers of ranks up to `most` over which the graph (not yet sharded) can be
/// split.
llvm::SmallVector<int64_t> possibleRanks(model::GraphOp graph, int64_t most);

} // namespace modelc

#endif // LIB_MODELPASSES_MODELPASSES_H
