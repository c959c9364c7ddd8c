// RUN: modelc-opt %s --kernels-lower=target=mi300x --mlir-use-nameloc-as-prefix | FileCheck %s
// Attention of as many KV heads but wider ones, whose tiles have fewer keys, has parts of its
// own size.

// CHECK: func.func @decode
// CHECK-DAG: %[[NARROW:.*]] = schedule.alloc(%[[PARTS:.*]]) as workspace : !schedule.buffer<?x8x64xf32>
// CHECK-DAG: %[[WIDE:.*]] = schedule.alloc(%[[OTHERS:.*]]) as workspace : !schedule.buffer<?x8x256xf32>
// CHECK-DAG: %[[PARTS]] = arith.muli %sequences, %[[SPLITS:.*]] : index
// CHECK-DAG: %[[OTHERS]] = arith.muli %sequences, %[[OTHER:.*]] : index
// CHECK: schedule.launch [@attention_decode_h8_kv2_d64_bf16]({{.*}}, part = %[[NARROW]], {{.*}}, splits = %[[SPLITS]], {{.*}})
// CHECK-NOT: splits = %[[SPLITS]], pages_per_sequence
// CHECK: schedule.launch [@attention_decode_h8_kv2_d256_bf16]({{.*}}, part = %[[WIDE]], {{.*}}, splits = %[[OTHER]], {{.*}})

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
    %w = model.weight ["{layer}.qkv"] : tensor<3072x512xbf16>
    %qkv = model.linear %h, %w : tensor<?x512xbf16>, tensor<3072x512xbf16> -> tensor<?x3072xbf16>
    %c = model.cache : !model.cache<kv_heads = 2, head_dim = 256, bf16, page = 64>
    %q, %d = model.rope_append %qkv, %c, %batch theta 5.0e5
        : tensor<?x3072xbf16>, !model.cache<kv_heads = 2, head_dim = 256, bf16, page = 64> -> tensor<?x2048xbf16>
    %a = model.attention %q, %d, %batch : tensor<?x2048xbf16>, !model.cache<kv_heads = 2, head_dim = 256, bf16, page = 64>
    %o = model.weight ["{layer}.o"] : tensor<512x2048xbf16>
    %n = model.linear %a, %o : tensor<?x2048xbf16>, tensor<512x2048xbf16> -> tensor<?x512xbf16>
    model.yield %n : tensor<?x512xbf16>
  }
  %g = model.weight ["norm"] : tensor<512xbf16>
  %r = model.norm %z, %g eps 1.0e-5 : tensor<?x512xbf16>, tensor<512xbf16> -> tensor<?x512xbf16>
  model.return %r : tensor<?x512xbf16>
}
