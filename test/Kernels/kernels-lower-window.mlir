// RUN: modelc-opt %s --kernels-lower=target=mi300x --mlir-use-nameloc-as-prefix | FileCheck %s
// Heads that see a window of the keys beside such that see all: the cache is filled by the same
// kernel, and the parts of the keys are those of the window.

// CHECK: schedule.kernel @attention_decode_h8_kv2_d64_bf16(
// CHECK: schedule.kernel @attention_decode_h8_kv2_d64_bf16_w1000(
// CHECK: func.func @decode
// CHECK: %[[KEYS:.*]] = arith.muli %pages_per_sequence, %c64
// CHECK: arith.ceildivsi %[[KEYS]], %c64
// CHECK: %[[KEYS:.*]] = arith.muli %pages_per_sequence, %c64
// CHECK: %[[NEAR:.*]] = arith.minsi %[[KEYS]], %c1064
// CHECK: arith.ceildivsi %[[NEAR]], %c64
// CHECK: schedule.launch [@rope_append_decode_h8_kv2_d64_bf16](
// CHECK: schedule.launch [@attention_decode_h8_kv2_d64_bf16]({{.*}}, splits = %splits, {{.*}})
// CHECK: schedule.launch [@rope_append_decode_h8_kv2_d64_bf16](
// CHECK: schedule.launch [@attention_decode_h8_kv2_d64_bf16_w1000]({{.*}}, splits = %splits_0, {{.*}})
// CHECK: schedule.launch [@attention_combine_h8_kv2_d64_bf16_w1000](

model.graph @decode(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?x512xbf16>
    attributes {max_context = 4096 : i64, phase = #model.phase<decode>} {
  %t = model.weight ["embed"] : tensor<320x512xbf16>
  %x = model.embed %tokens, %t : tensor<?xi32>, tensor<320x512xbf16> -> tensor<?x512xbf16>
  %y = model.layers 1 from 0 carry (%h = %x : tensor<?x512xbf16>) {
    %w = model.weight ["{layer}.qkv"] : tensor<768x512xbf16>
    %qkv = model.linear %h, %w : tensor<?x512xbf16>, tensor<768x512xbf16> -> tensor<?x768xbf16>
    %c = model.cache : !model.cache<kv_heads = 2, head_dim = 64, bf16, page = 64>
    %q, %d = model.rope_append %qkv, %c, %batch theta 5.0e5
        : tensor<?x768xbf16>, !model.cache<kv_heads = 2, head_dim = 64, bf16, page = 64> -> tensor<?x512xbf16>
    %a = model.attention %q, %d, %batch : tensor<?x512xbf16>, !model.cache<kv_heads = 2, head_dim = 64, bf16, page = 64>
    %o = model.weight ["{layer}.o"] : tensor<512x512xbf16>
    %n = model.linear %a, %o : tensor<?x512xbf16>, tensor<512x512xbf16> -> tensor<?x512xbf16>
    model.yield %n : tensor<?x512xbf16>
  }
  %z = model.layers 1 from 1 carry (%h = %y : tensor<?x512xbf16>) {
    %w = model.weight ["{layer}.qkv"] : tensor<768x512xbf16>
    %qkv = model.linear %h, %w : tensor<?x512xbf16>, tensor<768x512xbf16> -> tensor<?x768xbf16>
    %c = model.cache : !model.cache<kv_heads = 2, head_dim = 64, bf16, page = 64>
    %q, %d = model.rope_append %qkv, %c, %batch theta 5.0e5
        : tensor<?x768xbf16>, !model.cache<kv_heads = 2, head_dim = 64, bf16, page = 64> -> tensor<?x512xbf16>
    %a = model.attention %q, %d, %batch window 1000 : tensor<?x512xbf16>, !model.cache<kv_heads = 2, head_dim = 64, bf16, page = 64>
    %o = model.weight ["{layer}.o"] : tensor<512x512xbf16>
    %n = model.linear %a, %o : tensor<?x512xbf16>, tensor<512x512xbf16> -> tensor<?x512xbf16>
    model.yield %n : tensor<?x512xbf16>
  }
  %g = model.weight ["norm"] : tensor<512xbf16>
  %r = model.norm %z, %g eps 1.0e-5 : tensor<?x512xbf16>, tensor<512xbf16> -> tensor<?x512xbf16>
  model.return %r : tensor<?x512xbf16>
}
