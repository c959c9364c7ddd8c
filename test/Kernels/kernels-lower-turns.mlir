// RUN: modelc-opt %s --kernels-lower=target=mi300x --mlir-use-nameloc-as-prefix | FileCheck %s
// Layers of two kinds that take turns: one loop in steps, weights and caches of the right layer;
// scores and RoPE as each of them says.

// CHECK: schedule.kernel @rope_decode_h8_kv8_d64_bf16(
// CHECK: func.func @decode
// CHECK-DAG: as constant "rope columns 32 theta 10000 factor 8 beta_fast 32 beta_slow 1 original_context 32 magnitude 1.25 truncate 0"
// CHECK-DAG: as constant "temperature scale 0.1 every 8192"
// CHECK: schedule.loop (%layer) = (%c3) to (%c7) step (%c2)
// CHECK: %[[NEXT:.*]] = arith.addi %layer, %c1
// CHECK: schedule.alloc(%layer) as weight "[\22{layer}.q\22]"
// CHECK: schedule.alloc(%cache_rows, %layer) as cache "k_cache"
// CHECK: schedule.alloc(%layer) as weight "[\22{layer}.sinks\22]"
// CHECK: schedule.launch [@attention_decode_whole_h8_kv2_d64_bf16_w100_sinks]({{.*}}, sink = %{{.*}},
// CHECK: schedule.alloc(%[[NEXT]]) as weight "[\22{layer}.q\22]"
// CHECK: schedule.alloc(%cache_rows, %[[NEXT]]) as cache "k_cache"
// CHECK: schedule.launch [@attention_decode_whole_h8_kv2_d64_bf16_c1024]({{.*}}, temperature = %{{.*}},

!cache = !model.cache<kv_heads = 2, head_dim = 64, bf16, page = 64>
model.graph @decode(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?x512xbf16>
    attributes {max_context = 16384 : i64, phase = #model.phase<decode>} {
  %t = model.weight ["embed"] : tensor<320x512xbf16>
  %x = model.embed %tokens, %t : tensor<?xi32>, tensor<320x512xbf16> -> tensor<?x512xbf16>
  %y = model.layers 2 from 3 step 2 carry (%h = %x : tensor<?x512xbf16>) {
    %w = model.weight ["{layer}.q"] : tensor<512x512xbf16>
    %l = model.linear %h, %w : tensor<?x512xbf16>, tensor<512x512xbf16> -> tensor<?x512xbf16>
    %q = model.rope %l, %batch head_dim 64 rotated 32 interleaved theta 1.0e4
        yarn <factor = 8.0, beta_fast = 32.0, beta_slow = 1.0, original_context = 32, magnitude = 1.25,
              truncate = false> : tensor<?x512xbf16>
    %kw = model.weight ["{layer}.k"] : tensor<128x512xbf16>
    %k = model.linear %h, %kw : tensor<?x512xbf16>, tensor<128x512xbf16> -> tensor<?x128xbf16>
    %c = model.cache : !cache
    %d = model.append %k, %k, %c, %batch : tensor<?x128xbf16>, !cache
    %s = model.weight ["{layer}.sinks"] : tensor<8xbf16>
    %a = model.attention %q, %d, %batch sink %s window 100 scale 0.25 soft_cap 50.0
        : tensor<?x512xbf16>, !cache sink tensor<8xbf16>
    %w1 = model.weight ["{layer+1}.q"] : tensor<512x512xbf16>
    %q1 = model.linear %a, %w1 : tensor<?x512xbf16>, tensor<512x512xbf16> -> tensor<?x512xbf16>
    %kw1 = model.weight ["{layer+1}.k"] : tensor<128x512xbf16>
    %k1 = model.linear %a, %kw1 : tensor<?x512xbf16>, tensor<128x512xbf16> -> tensor<?x128xbf16>
    %c1 = model.cache layer 1 : !cache
    %d1 = model.append %k1, %k1, %c1, %batch : tensor<?x128xbf16>, !cache
    %a1 = model.attention %q1, %d1, %batch chunk 1024 temperature <scale = 0.1, every = 8192>
        : tensor<?x512xbf16>, !cache
    model.yield %a1 : tensor<?x512xbf16>
  }
  %g = model.weight ["norm"] : tensor<512xbf16>
  %r = model.norm %y, %g eps 1.0e-5 : tensor<?x512xbf16>, tensor<512xbf16> -> tensor<?x512xbf16>
  model.return %r : tensor<?x512xbf16>
}
