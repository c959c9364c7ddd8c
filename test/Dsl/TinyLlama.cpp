//===- TinyLlama.cpp - The tiny Llama, written in C++ ---------------------===//
//
// Prints the model of test/Golden, op by op. With an argument it makes a
// mistake, to show where the message points.
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
constexpr int64_t kHidden = 128, kHeads = 4, kKvHeads = 2, kHeadDim = 64,
                  kFfn = 384, kVocab = 320;
constexpr double kEps = 1e-5;
} // namespace

static Value attention(Model &m, Value x) {
  const std::string prefix = "model.layers.{layer}.";
  const RopeOptions rope = {.headDim = kHeadDim, .theta = 10000.0};
  Value n = rmsNorm(m, x, prefix + "input_layernorm.weight", kEps);
  Value q = project(m, n,
                    {.prefix = prefix + "self_attn.q_proj",
                     .outputs = kHeads * kHeadDim,
                     .role = Role::Heads,
                     .headDim = kHeadDim});
  Projection ofKeys = {.prefix = prefix + "self_attn.k_proj",
                       .outputs = kKvHeads * kHeadDim,
                       .role = Role::KvHeads,
                       .headDim = kHeadDim};
  Projection ofValues = ofKeys;
  ofValues.prefix = prefix + "self_attn.v_proj";
  Value k = project(m, n, ofKeys), v = project(m, n, ofValues);
  q = m.rope(q, rope);
  k = m.rope(k, rope);
  Value a = m.attention(q, k, v, {.kvHeads = kKvHeads, .headDim = kHeadDim});
  return project(m, a,
                 {.prefix = prefix + "self_attn.o_proj",
                  .outputs = kHidden,
                  .role = Role::Row,
                  .headDim = kHeadDim});
}

static Value mlp(Model &m, Value x) {
  const std::string prefix = "model.layers.{layer}.";
  Value n = rmsNorm(m, x, prefix + "post_attention_layernorm.weight", kEps);
  Value gate = project(m, n,
                       {.prefix = prefix + "mlp.gate_proj",
                        .outputs = kFfn,
                        .role = Role::Column});
  Value up = project(m, n,
                     {.prefix = prefix + "mlp.up_proj",
                      .outputs = kFfn,
                      .role = Role::Column});
  return project(m, m.swiglu(gate, up),
                 {.prefix = prefix + "mlp.down_proj",
                  .outputs = kHidden,
                  .role = Role::Row});
}

int main(int argc, char **) {
  mlir::MLIRContext context;
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  Model m(&context, "tiny-llama", {.maxContext = 256});
  Value x = m.embed(m.tokens(),
                    m.weight("model.embed_tokens.weight", {kVocab, kHidden}));
  x = m.layers(3, x, [&](Value h) {
    h = m.add(h, attention(m, h));
    return m.add(h, mlp(m, h));
  });
  x = rmsNorm(m, m.last(x), "model.norm.weight", kEps);
  const int64_t columns = argc > 1 ? kHidden + 1 : kHidden;
  Value logits = m.linear(x, m.weight("lm_head.weight", {kVocab, columns}),
                          {.role = Role::Vocabulary});
  auto module = m.finish(m.sample(logits));
  if (failed(module)) {
    return 1;
  }
  llvm::outs() << **module << "\n";
  return 0;
}
