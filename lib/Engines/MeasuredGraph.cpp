//===- MeasuredGraph.cpp - The graph around a measured kernel -------------===//
//
// A graph begins with tokens, so that what the measured ops read is embedded;
// only they themselves are predicted.
//
//===----------------------------------------------------------------------===//

#include "lib/Engines/Measured.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using llvm::formatv;

/// `{0}` rows of `{1}` columns as %x, then `body`, which makes %y of `result`.
static std::string around(StringRef attributes, StringRef phase,
                          int64_t columns, int64_t result,
                          const std::string &body) {
  return formatv(R"(
model.graph @{0}(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?x{3}xbf16>
    attributes {{phase = #model.phase<{0}>{1}} {{
  %table = model.weight ["table"] : tensor<2x{2}xbf16>
  %x = model.embed %tokens, %table : tensor<?xi32>, tensor<2x{2}xbf16> -> tensor<?x{2}xbf16>
{4}
  model.return %y : tensor<?x{3}xbf16>
})",
                 phase, attributes, columns, result, body)
      .str();
}

/// Numbers of four to eight bits, a scale for each 32 of them, or for each 16.
/// Rows too short for a kernel are filled up.
static std::string blockScaledLinear(const MeasuredRow &row) {
  constexpr int64_t kLeast = 64;
  int64_t columns = llvm::alignTo(row.k, kLeast);
  bool isNarrow = row.type == "nvfp4";
  StringRef number = row.type == "mxfp8"   ? "f8E4M3FN"
                     : row.type == "mxfp6" ? "f6E2M3FN"
                                           : "f4E2M1FN";
  return around("", "decode", columns, row.n,
                formatv(R"(
  %q, %s = model.quantise %x : tensor<?x{2}xbf16> -> tensor<?x{2}x{5}> scale tensor<?x{3}x{4}>
  %w = model.weight ["{0}"] format <{5} blocks {4}> : tensor<{1}x{2}x{5}>
  %ws = model.weight ["{0}_scale"] format <{5} blocks {4}> : tensor<{1}x{3}x{4}>
  %y = model.linear %q, %w scaled %s, %ws : tensor<?x{2}x{5}>, tensor<{1}x{2}x{5}>, tensor<?x{3}x{4}>, tensor<{1}x{3}x{4}> -> tensor<?x{1}xbf16>)",
                        kSubject, row.n, columns,
                        columns / (isNarrow ? 16 : 32),
                        isNarrow ? "f8E4M3FN" : "f8E8M0FNU", number)
                    .str());
}

/// Numbers of 8 bits, a scale for each 128 of them, of the weight for as many
/// rows too. The last 128 are filled up.
static std::string groupScaledLinear(const MeasuredRow &row) {
  constexpr int64_t kGroup = 128;
  int64_t columns = llvm::alignTo(row.k, kGroup);
  int64_t groups = columns / kGroup, rows = llvm::divideCeil(row.n, kGroup);
  return around("", "decode", columns, row.n,
                formatv(R"(
  %q, %s = model.quantise %x : tensor<?x{2}xbf16> -> tensor<?x{2}xf8E4M3FN> scale tensor<?x{3}xf32>
  %w = model.weight ["{0}"] format <f8E4M3FN blocks f32> : tensor<{1}x{2}xf8E4M3FN>
  %ws = model.weight ["{0}"] block_scale format <f8E4M3FN blocks f32> : tensor<{4}x{3}xf32>
  %y = model.linear %q, %w scaled %s, %ws : tensor<?x{2}xf8E4M3FN>, tensor<{1}x{2}xf8E4M3FN>, tensor<?x{3}xf32>, tensor<{4}x{3}xf32> -> tensor<?x{1}xbf16>)",
                        kSubject, row.n, columns, groups, rows)
                    .str());
}

static std::string linear(const MeasuredRow &row) {
  if (row.type == "fp8_block") {
    return groupScaledLinear(row);
  }
  if (row.type.starts_with("mxfp") || row.type == "nvfp4") {
    return blockScaledLinear(row);
  }
  if (row.type != "fp8") {
    return around("", "decode", row.k, row.n,
                  formatv(R"(
  %w = model.weight ["{0}"] : tensor<{1}x{2}xbf16>
  %y = model.linear %x, %w : tensor<?x{2}xbf16>, tensor<{1}x{2}xbf16> -> tensor<?x{1}xbf16>)",
                          kSubject, row.n, row.k)
                      .str());
  }
  return around("", "decode", row.k, row.n,
                formatv(R"(
  %q, %s = model.quantise %x : tensor<?x{2}xbf16> -> tensor<?x{2}xf8E4M3FN> scale tensor<?xf32>
  %w = model.weight ["{0}"] format <f8E4M3FN> : tensor<{1}x{2}xf8E4M3FN>
  %ws = model.weight ["{0}"] channel_scale format <f8E4M3FN> : tensor<{1}xf32>
  %y = model.linear %q, %w scaled %s, %ws : tensor<?x{2}xf8E4M3FN>, tensor<{1}x{2}xf8E4M3FN>, tensor<?xf32>, tensor<{1}xf32> -> tensor<?x{1}xbf16>)",
                        kSubject, row.n, row.k)
                    .str());
}

/// `{1}` columns for each token as %`{0}`.
static std::string embedded(StringRef name, int64_t columns) {
  return formatv(R"(
  %{0}_rows = model.weight ["{0}"] : tensor<2x{1}xbf16>
  %{0} = model.embed %tokens, %{0}_rows : tensor<?xi32>, tensor<2x{1}xbf16> -> tensor<?x{1}xbf16>)",
                 name, columns)
      .str();
}

/// What fills the cache %c of a layer, as %new; the queries are %q behind it,
/// rotated to the numbers that attention takes.
static std::string append(const MeasuredRow &row, StringRef cache,
                          bool narrows) {
  int64_t columns = row.heads * row.headDim;
  if (row.rotates()) {
    return formatv(
               R"(
    %q, %new = model.rope_append %x, %c, %batch{3} theta 1.0e4 : tensor<?x{0}xbf16>, {1}{4} -> tensor<?x{2}x{5}>)",
               row.headColumns(), cache, columns, narrows ? " scaled %qs" : "",
               narrows ? ", tensor<1xf32>" : "", narrows ? "f8E4M3FN" : "bf16")
        .str();
  }
  return formatv(R"(
    %new = model.append %k, %k, %c, %batch : tensor<?x{0}xbf16>, {1})",
                 row.kvHeads * row.headDim, cache)
      .str();
}

static std::string attention(const MeasuredRow &row, bool narrows) {
  int64_t columns = row.heads * row.headDim;
  bool isNarrow = row.cacheType == "fp8";
  std::string cache =
      formatv("!model.cache<kv_heads = {0}, head_dim = {1}, {2}, page = 64>",
              row.kvHeads, row.headDim, isNarrow ? "f8E4M3FN" : "bf16")
          .str();
  std::string inputs = embedded("start", columns);
  if (!row.rotates()) {
    inputs += embedded("q", columns) + embedded("k", row.kvHeads * row.headDim);
  }
  narrows = narrows || !row.isUnquantised();
  inputs += narrows ? R"(
  %qs = model.weight ["q_scale"] stored f32 format <f8E4M3FN> : tensor<1xf32>)"
                    : "";
  inputs += isNarrow ? R"(
  %ks = model.weight ["k_scale"] stored f32 format <f8E4M3FN> : tensor<1xf32>
  %vs = model.weight ["v_scale"] stored f32 format <f8E4M3FN> : tensor<1xf32>)"
                     : "";
  std::string made =
      isNarrow ? "scaled %ks, %vs : " + cache + ", tensor<1xf32>, tensor<1xf32>"
               : ": " + cache;
  std::string window =
      row.window > 0 ? " window " + std::to_string(row.window) : "";
  std::string body =
      formatv(R"({1}
  %g = model.weight ["norm"] : tensor<{0}xbf16>
  %z = model.layers 1 carry (%h = %start : tensor<?x{0}xbf16>) {{
    %c = model.cache {2}{4}
    %a = model.attention %q, %new, %batch{5}{6} : tensor<?x{0}x{8}>, {3}{7} -> tensor<?x{0}xbf16>
    %r = model.add %h, %a : tensor<?x{0}xbf16>
    model.yield %r : tensor<?x{0}xbf16>
  }
  %y = model.norm %z, %g eps 1.0e-5 : tensor<?x{0}xbf16>, tensor<{0}xbf16> -> tensor<?x{0}xbf16>)",
              columns, inputs, made, cache, append(row, cache, narrows),
              narrows ? " scaled %qs" : "", window,
              narrows ? ", tensor<1xf32>" : "",
              narrows && row.rotates() ? "f8E4M3FN" : "bf16")
          .str();
  StringRef phase = row.kind == Measurement::Prefill ? "prefill" : "decode";
  return around("", phase, row.headColumns(), columns, body);
}

/// What reads the sum is no norm, which would add up itself.
static std::string allReduce(const MeasuredRow &row) {
  int64_t columns = row.elements / row.rows();
  std::string ranks =
      ", mesh = #model.mesh<tp = " + std::to_string(row.devices) + ">";
  return around(ranks, "decode", 64, columns,
                formatv(R"(
  %w = model.weight ["{0}"] : tensor<{1}x64xbf16>
  %l = model.linear %x, %w : tensor<?x64xbf16>, tensor<{1}x64xbf16> -> tensor<?x{1}xbf16>
  %r = model.all_reduce %l over tp : tensor<?x{1}xbf16>
  %y = model.add %r, %r : tensor<?x{1}xbf16>)",
                        kSubject, columns)
                    .str());
}

OwningOpRef<ModuleOp> modelc::graphOf(const MeasuredRow &row, bool narrows,
                                      MLIRContext *context) {
  std::string text = row.kind == Measurement::Linear    ? linear(row)
                     : row.kind == Measurement::Experts ? graphOfExperts(row)
                     : row.isLatent()                   ? graphOfLatent(row)
                     : row.kind == Measurement::AllReduce
                         ? allReduce(row)
                         : attention(row, narrows);
  return parseSourceString<ModuleOp>(text, context);
}
