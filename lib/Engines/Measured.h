//===- Measured.h - Tables of measured kernels ----------------------------===//
//
// One row is one kernel that somebody timed: a product of matrices, attention
// over new or cached tokens with what appends them, or an all-reduce. Columns
// are found by name, as in the public tables of aiconfigurator and AITER:
//
//   product     chip | gpu, dtype | gemm_dtype, m, n, k
//   attention   gpu, attn_dtype, kv_cache_dtype, batch_size, isl, step,
//               num_heads, num_key_value_heads, head_dim, window_size
//   experts     gpu, moe_dtype, num_tokens, hidden_size, inter_size, topk,
//               num_experts, moe_tp_size, moe_ep_size, distribution, kernel |
//               chip, act_dtype, weight_dtype, quant, tokens, model_dim,
//               inter_dim (of a rank), topk, experts
//   latent      gpu, mla_dtype, kv_cache_dtype, batch_size, isl, step,
//               num_heads
//   all-reduce  gpu, allreduce_dtype (a kernel) | nccl_dtype (the vendor's
//               library), num_gpus, message_size in elements
//   time        latency_ms | latency_us, by a source
//
//===----------------------------------------------------------------------===//

#ifndef LIB_ENGINES_MEASURED_H
#define LIB_ENGINES_MEASURED_H

#include "lib/Engines/Engines.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <vector>

namespace modelc {

enum class Measurement {
  Linear,
  Prefill,
  Decode,
  LatentPrefill,
  LatentDecode,
  Experts,
  AllReduce,
  Collective
};
/// "linear", "prefill attention", ...
llvm::StringRef nameOf(Measurement kind);

struct MeasuredRow {
  unsigned line = 0; ///< of the file
  Measurement kind = Measurement::Linear;
  std::string chip;
  std::string type, cacheType; ///< as the file spells them
  std::string source;          ///< the software that was timed, if it is named
  /// Of a linear; of experts, whose matrices are n x k: m tokens.
  int64_t m = 0, n = 0, k = 0;
  /// Of a linear: timed as a layer of an engine, which quantises what it reads,
  /// several layers in turn; else the kernel alone.
  bool isLayer = false;
  bool isBatched = false; ///< of a linear: many at once, nobody says how many
  /// Of attention: new tokens of each sequence, tokens before them.
  int64_t sequences = 0, newTokens = 0, past = 0;
  int64_t heads = 0, kvHeads = 0, headDim = 0, window = 0;
  int64_t devices = 1, elements = 0; ///< of an all-reduce, for each device
  /// Of experts: all, those of a token, ranks that share them.
  int64_t experts = 0, topK = 0, expertRanks = 1;
  std::string load;   ///< of experts: how tokens fall on them, an ExpertLoad
  std::string kernel; ///< of experts: what the table calls it, or empty
  double seconds = 0;
  const Collector *collector = nullptr; ///< who timed it, of the given engines

  /// The target's own name: the chip's without a form factor behind a "_".
  std::string machine() const {
    return llvm::StringRef(chip).split('_').first.str();
  }
  /// Whether its layer has no other kernel than the linear.
  bool isUnquantised() const;
  /// Why no kernel can be built for it; empty if one can.
  std::string reasonAgainst() const;
  /// The rows that share a graph have the same.
  std::string shape() const;
  /// The software without its version.
  llvm::StringRef engine() const {
    return llvm::StringRef(source).split(' ').first;
  }
  /// Of attention: columns of all queries, keys and values of a token.
  int64_t headColumns() const { return (heads + 2 * kvHeads) * headDim; }
  /// Rows of the graph's tensors: m, new tokens of all, rows of the exchange.
  int64_t rows() const;
  /// Floating point operations, and bytes that must be read or written once.
  double flop() const;
  double bytes() const;
  /// Attention of any kind; of one latent vector for all heads.
  bool isAttention() const;
  bool isLatent() const;
  /// Of experts: those that any token goes to.
  double expertsHit() const;
  /// Of experts: whether choosing them is in the time.
  bool routes() const { return isLayer; }
  /// Of attention: keys that the new tokens of a sequence see any of.
  int64_t keysSeen() const;
  /// Of attention: whether no window is shorter than the context.
  bool seesAll() const { return window == 0 || past + newTokens <= window; }
  /// Of attention: keys and values that `heads` heads see.
  double cacheBytes(int64_t heads) const;
  /// Of attention: its layer rotates queries and keys itself.
  bool rotates() const { return !collector || !collector->isRotated; }
  /// Layers that run in turn before the same one comes again, of a linear of an
  /// engine.
  double layersOfTurn(double l2Bytes) const;
  /// Bytes that are read or written until the same launch comes again.
  double bytesOfTurn(double l2Bytes) const;
};

/// Who has timed rows like this one, or null.
const Collector *collectorOf(const MeasuredRow &row, const Engines &engines);

/// The rows of a file, as what they are where `engines` corrects what they say.
/// A mistake is a message at its place on `errors`.
llvm::FailureOr<std::vector<MeasuredRow>>
readMeasurements(llvm::StringRef path, const Engines &engines,
                 llvm::raw_ostream &errors);

/// A module with one graph that holds the op of a row; its label is `kSubject`
/// or begins with it. `narrows`: queries are rounded to the type of the cache
/// even if the row says nothing of it.
mlir::OwningOpRef<mlir::ModuleOp> graphOf(const MeasuredRow &row, bool narrows,
                                          mlir::MLIRContext *context);
inline constexpr llvm::StringLiteral kSubject = "subject";

/// Text of the graphs of experts and of latent attention, for graphOf.
std::string graphOfExperts(const MeasuredRow &row);
std::string graphOfLatent(const MeasuredRow &row);
/// Columns of latent attention as DeepSeek V3 has it: of the latent vector of a
/// token, of its rotated part, and of a head's keys and values without it.
struct LatentColumns {
  static constexpr int64_t latent = 512, rotated = 64, head = 128;
};

} // namespace modelc

#endif // LIB_ENGINES_MEASURED_H
