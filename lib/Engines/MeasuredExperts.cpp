//===- MeasuredExperts.cpp - Graphs of experts and of latent attention ----===//

#include "lib/Engines/Measured.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace modelc;
using llvm::formatv;
using llvm::StringRef;

namespace {
/// How the matrices of experts are held, by the type of a row.
struct ExpertFormat {
  StringRef type;
  StringRef number;    ///< of the matrices
  StringRef inputs;    ///< what they meet is quantised to; empty: it is not
  StringRef scale;     ///< of a block; empty: one of each row, if any
  int64_t rows = 1;    ///< of the matrix that share a scale
  int64_t columns = 0; ///< numbers that share one; 0: all of a row
};
} // namespace

static ExpertFormat formatOf(StringRef type) {
  static const ExpertFormat kFormats[] = {
      {"fp8", "f8E4M3FN", "f8E4M3FN", ""},
      {"fp8_block", "f8E4M3FN", "f8E4M3FN", "f32", 128, 128},
      {"mxfp8", "f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", 1, 32},
      {"mxfp4", "f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 1, 32},
      {"nvfp4", "f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 1, 16},
      {"w4a8_mxfp4_mxfp8", "f4E2M1FN", "f8E4M3FN", "f8E8M0FNU", 1, 32},
  };
  for (const ExpertFormat &format : kFormats) {
    if (format.type == type) {
      return format;
    }
  }
  return {type, "bf16", "", ""};
}

namespace {
/// One matrix of all experts, and its scales, as weights of a graph.
struct ExpertMatrix {
  std::string type, scaleType, text;

  /// `parts` matrices below each other, whose rows are used side by side.
  ExpertMatrix(StringRef name, const ExpertFormat &format, int64_t experts,
               int64_t rows, int64_t columns, StringRef parts) {
    type = formatv("tensor<{0}x{1}x{2}x{3}>", experts, rows, columns,
                   format.number);
    std::string blocks =
        format.scale.empty() ? "" : (" blocks " + format.scale).str();
    std::string held =
        format.inputs.empty()
            ? ""
            : ("format <" + format.number + blocks + parts + "> ").str();
    text = formatv("\n  %{0} = model.weight [\"{1}\"] {2}: {3}", name,
                   nameIn(name), held, type);
    if (format.inputs.empty()) {
      return;
    }
    bool isOfRows = format.columns == 0;
    scaleType = isOfRows ? formatv("tensor<{0}x{1}xf32>", experts, rows).str()
                         : formatv("tensor<{0}x{1}x{2}x{3}>", experts,
                                   llvm::divideCeil(rows, format.rows),
                                   llvm::divideCeil(columns, format.columns),
                                   format.scale)
                               .str();
    text +=
        formatv("\n  %{0}_scale = model.weight [\"{1}\"] {2} {3}: {4}", name,
                nameIn(name), isOfRows ? "channel_scale" : "block_scale", held,
                scaleType);
  }

private:
  static std::string nameIn(StringRef name) {
    return (kSubject + "_" + name + ".{expert}").str();
  }
};
} // namespace

std::string modelc::graphOfExperts(const MeasuredRow &row) {
  ExpertFormat format = formatOf(row.type);
  ExpertMatrix gateUp("gate_up", format, row.experts, 2 * row.n, row.k,
                      " parts 2");
  ExpertMatrix down("down", format, row.experts, row.k, row.n, "");
  std::string scaled, scaledTypes;
  if (!format.inputs.empty()) {
    scaled =
        " scaled %gate_up_scale, %down_scale inputs " + format.inputs.str();
    scaledTypes = ", " + gateUp.scaleType + ", " + down.scaleType;
  }
  return formatv(R"(
model.graph @decode(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?x{0}xbf16>
    attributes {{phase = #model.phase<decode>} {{
  %table = model.weight ["table"] : tensor<2x{0}xbf16>
  %x = model.embed %tokens, %table : tensor<?xi32>, tensor<2x{0}xbf16> -> tensor<?x{0}xbf16>
  %router = model.weight ["router"] : tensor<{1}x{0}xbf16>
  %scores = model.linear %x, %router : tensor<?x{0}xbf16>, tensor<{1}x{0}xbf16> -> tensor<?x{1}xbf16>
  %chosen, %weights = model.route %scores softmax top_k {2} renormalised 0.0 : tensor<?x{1}xbf16> -> tensor<?x{2}xi32>, tensor<?x{2}xf32>{3}{4}
  %y = model.experts %x, %chosen, %weights, %gate_up, %down{5} : tensor<?x{0}xbf16>, tensor<?x{2}xi32>, tensor<?x{2}xf32>, {6}, {7}{8} -> tensor<?x{0}xbf16>
  model.return %y : tensor<?x{0}xbf16>
})",
                 row.k, row.experts, row.topK, gateUp.text, down.text, scaled,
                 gateUp.type, down.type, scaledTypes)
      .str();
}

std::string modelc::graphOfLatent(const MeasuredRow &row) {
  using Columns = LatentColumns;
  bool isPrefill = row.kind == Measurement::LatentPrefill;
  int64_t keys = Columns::latent + Columns::rotated;
  int64_t queries = row.heads * (Columns::head + Columns::rotated);
  int64_t results = row.heads * Columns::head;
  bool isNarrow = row.cacheType == "fp8";
  std::string cache =
      formatv("!model.cache<kv_heads = 1, head_dim = {0} latent {1}, {2}, page "
              "= 64>",
              keys, Columns::latent, isNarrow ? "f8E4M3FN" : "bf16")
          .str();
  std::string made =
      isNarrow ? "scaled %s, %s : " + cache + ", tensor<1xf32>, tensor<1xf32>"
               : ": " + cache;
  return formatv(R"(
model.graph @{0}(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?x{1}xbf16>
    attributes {{phase = #model.phase<{0}>} {{
  %q_rows = model.weight ["q"] : tensor<2x{2}xbf16>
  %q = model.embed %tokens, %q_rows : tensor<?xi32>, tensor<2x{2}xbf16> -> tensor<?x{2}xbf16>
  %k_rows = model.weight ["k"] : tensor<2x{3}xbf16>
  %k = model.embed %tokens, %k_rows : tensor<?xi32>, tensor<2x{3}xbf16> -> tensor<?x{3}xbf16>
  %start_rows = model.weight ["start"] : tensor<2x{1}xbf16>
  %start = model.embed %tokens, %start_rows : tensor<?xi32>, tensor<2x{1}xbf16> -> tensor<?x{1}xbf16>
  %g = model.weight ["norm"] : tensor<{1}xbf16>
  %z = model.layers 1 carry (%h = %start : tensor<?x{1}xbf16>) {{
    %s = model.weight ["scale"] stored f32 format <f8E4M3FN> : tensor<1xf32>
    %c = model.cache {11}
    %qr = model.rope %q, %batch head_dim {5} rotated {6} first {7} interleaved theta 1.0e4 : tensor<?x{2}xbf16>
    %kr = model.rope %k, %batch head_dim {3} rotated {6} first {8} interleaved theta 1.0e4 : tensor<?x{3}xbf16>
    %new = model.latent_append %kr, %c, %batch : tensor<?x{3}xbf16>, {4}
    %kv_b = model.weight ["kv_b"] : tensor<{9}x{8}xbf16>
    %a = model.latent_attention %qr, %kv_b, %new, %batch{10} scale 0.1 : tensor<?x{2}xbf16>, tensor<{9}x{8}xbf16>, {4} -> tensor<?x{1}xbf16>
    %r = model.add %h, %a : tensor<?x{1}xbf16>
    model.yield %r : tensor<?x{1}xbf16>
  }
  %y = model.norm %z, %g eps 1.0e-5 : tensor<?x{1}xbf16>, tensor<{1}xbf16> -> tensor<?x{1}xbf16>
  model.return %y : tensor<?x{1}xbf16>
})",
                 isPrefill ? "prefill" : "decode", results, queries, keys,
                 cache, Columns::head + Columns::rotated, Columns::rotated,
                 Columns::head, Columns::latent, 2 * results,
                 isPrefill ? "" : " absorbed", made)
      .str();
}
