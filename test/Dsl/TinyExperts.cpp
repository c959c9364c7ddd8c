//===- TinyExperts.cpp - A small model with experts, written in C++ -------===//
//
// Prints the model of examples/experts/tiny-experts.toml: layers of two kinds
// in turn, as no checkpoint has them.
//
//===----------------------------------------------------------------------===//

#include "lib/Dsl/Dsl.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace modelc;
using mlir::Value;
using model::Role;

namespace {
constexpr int64_t kHidden = 128, kHeads = 4, kKvHeads = 2, kHeadDim = 32,
                  kVocab = 320, kExperts = 8, kWidth = 96;
constexpr LatentShape kLatent = {
    .rank = 64, .keyDim = 32, .ropeDim = 16, .valueDim = 32};
} // namespace

static Value norm(Model &m, Value x, const std::string &name) {
  return m.norm(x, m.weight(name, {kHidden}), NormOptions{.onePlus = true});
}

static Value heads(Model &m, Value n, const std::string &prefix,
                   const std::string &name, Role role) {
  const int64_t count = role == Role::Heads ? kHeads : kKvHeads;
  return project(m, n,
                 {prefix + name, count * kHeadDim, false, role, kHeadDim});
}

static Value headNorm(Model &m, Value x, const std::string &weight) {
  return m.norm(x, m.weight(weight, {kHeadDim}),
                NormOptions{.headDim = kHeadDim});
}

static Value nearAttention(Model &m, Value x, const std::string &prefix) {
  Value n = norm(m, x, prefix + "norm.weight");
  Value q = heads(m, n, prefix, "q", Role::Heads);
  Value k = heads(m, n, prefix, "k", Role::KvHeads);
  Value v = heads(m, n, prefix, "v", Role::KvHeads);
  const RopeOptions rope = {.headDim = kHeadDim, .rotated = 16};
  q = headNorm(m, q, prefix + "q_norm.weight");
  k = headNorm(m, k, prefix + "k_norm.weight");
  q = m.rope(q, rope);
  k = m.rope(k, rope);
  AttentionOptions options = {
      .kvHeads = kKvHeads, .headDim = kHeadDim, .window = 128};
  options.sink = m.weight(prefix + "sinks", {kHeads});
  Value a = m.attention(q, k, v, options);
  return project(m, a, {prefix + "o", kHidden, false, Role::Row, kHeadDim});
}

static Value groupedExperts(Model &m, Value x, const std::string &prefix) {
  Value n = norm(m, x, prefix + "mlp_norm.weight");
  Value logits =
      m.logits(n, m.weight(prefix + "router.weight", {kExperts, kHidden}));
  Value correction =
      m.weights(prefix + "router.correction", {kExperts},
                {.type = mlir::Float32Type::get(n.getContext())});
  auto route = m.route(logits, correction,
                       {.topK = 2,
                        .scoring = model::Scoring::Sigmoid,
                        .groups = ExpertGroups{.count = 4, .kept = 2},
                        .renormalised = 0,
                        .scaled = 2.5});
  ExpertWeights weights;
  weights.gateUp = m.weights({prefix + "experts.{expert}.gate.weight",
                              prefix + "experts.{expert}.up.weight"},
                             {kExperts, 2 * kWidth, kHidden});
  weights.down = m.weights(prefix + "experts.{expert}.down.weight",
                           {kExperts, kHidden, kWidth});
  return m.experts(n, route, weights);
}

static Value latentAttention(Model &m, Value x, const std::string &prefix) {
  const int64_t head = kLatent.keyDim + kLatent.ropeDim;
  const int64_t row = kLatent.rank + kLatent.ropeDim;
  Value n = norm(m, x, prefix + "norm.weight");
  Value q =
      project(m, n, {prefix + "q", kHeads * head, false, Role::Heads, head});
  q = m.rope(q, RopeOptions{.headDim = head,
                            .rotated = kLatent.ropeDim,
                            .first = kLatent.keyDim,
                            .interleaved = true});
  Value c = project(m, n, {.prefix = prefix + "kv", .outputs = row});
  c = m.norm(c, m.weight(prefix + "kv_norm.weight", {kLatent.rank}),
             NormOptions{.first = kLatent.rank});
  c = m.rope(c, RopeOptions{.headDim = row,
                            .rotated = kLatent.ropeDim,
                            .first = kLatent.rank,
                            .interleaved = true});
  Value expand =
      m.weight(prefix + "expand.weight",
               {kHeads * (kLatent.keyDim + kLatent.valueDim), kLatent.rank});
  Value a = m.latentAttention(q, c, expand, kLatent, 0.125);
  return project(m, a,
                 {prefix + "o", kHidden, false, Role::Row, kLatent.valueDim});
}

/// What all tokens go through, as much of it as a gate says.
static Value gatedMlp(Model &m, Value n, const std::string &prefix) {
  auto columns = [&](const char *name) {
    return project(m, n, {prefix + name, kWidth, false, Role::Column});
  };
  Value gate = columns("shared.gate"), up = columns("shared.up");
  Value s = project(m, m.swiglu(gate, up, model::Gating::GeluTanh),
                    {prefix + "shared.down", kHidden, false, Role::Row});
  return m.gate(s, project(m, n, {prefix + "shared_gate", 1}));
}

static Value clampedExperts(Model &m, Value x, const std::string &prefix) {
  Value n = norm(m, x, prefix + "mlp_norm.weight");
  Value logits = project(m, n, {prefix + "router", kExperts, true});
  auto route = m.route(logits, {},
                       {.topK = 2, .scoring = model::Scoring::SoftmaxOfChosen});
  ExpertWeights weights;
  weights.gateUp =
      m.weight(prefix + "gate_up", {kExperts, 2 * kWidth, kHidden});
  weights.down = m.weight(prefix + "down", {kExperts, kHidden, kWidth});
  weights.gateUpBias =
      m.weight(prefix + "gate_up_bias", {kExperts, 2 * kWidth});
  weights.downBias = m.weight(prefix + "down_bias", {kExperts, kHidden});
  weights.interleaved = true;
  weights.gating = {model::Gating::ClampedSilu, 1.702, 7.0};
  return m.add(m.experts(n, route, weights), gatedMlp(m, n, prefix));
}

int main() {
  mlir::MLIRContext context;
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  Model m(&context, "tiny-experts", {.maxContext = 4096});
  Value x = m.embed(m.tokens(), m.weight("embed.weight", {kVocab, kHidden}));
  x = m.layers(
      3, x,
      [&](Value h) {
        h = m.add(h, nearAttention(m, h, "layers.{layer}."));
        h = m.add(h, groupedExperts(m, h, "layers.{layer}."));
        h = m.add(h, latentAttention(m, h, "layers.{layer+1}."));
        return m.add(h, clampedExperts(m, h, "layers.{layer+1}."));
      },
      std::source_location::current(), /*step=*/2);
  x = norm(m, m.last(x), "norm.weight");
  Value logits = m.linear(x, m.weight("head.weight", {kVocab, kHidden}),
                          {.role = Role::Vocabulary});
  auto module = m.finish(m.sample(logits));
  if (failed(module)) {
    return 1;
  }
  llvm::outs() << **module << "\n";
  return 0;
}
