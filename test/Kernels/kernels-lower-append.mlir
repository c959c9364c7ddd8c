// RUN: modelc-opt %s --model-state-formats --kernels-lower=target=h200 --mlir-use-nameloc-as-prefix | FileCheck %s
// Of a layer without rope keys and values are appended as their linears leave them,
// each behind the place of its page, before attention reads the cache.

// CHECK: schedule.kernel @append_decode_h2_kv2_d64_f8e4m3fn(%k: !schedule.buffer<?x2x64xbf16>, %v: !schedule.buffer<?x2x64xbf16>, %starts: {{.*}}, %k_cache: !schedule.buffer<?x2x64xf8E4M3FN>, %v_cache: {{.*}}, %k_scale: !schedule.buffer<1xf32>, %v_scale: !schedule.buffer<1xf32>, %tokens: index, %sequences: index, %longest: index, %pages_per_sequence: index)
// CHECK: schedule.loop (%sequence, %tile) = {{.*}} on workgroups
// CHECK: schedule.load %k[%row, %c0, %c0] valid(%c2) : {{.*}} -> !schedule.tile<2x64xbf16>
// CHECK: schedule.store %{{.*}}, %k_cache[%cache_row, %c0, %c0] valid(%c2)
// CHECK: schedule.store %{{.*}}, %v_cache[%cache_row, %c0, %c0] valid(%c2)
// CHECK-LABEL: func.func @decode
// CHECK: d = %[[KEYS:[^,]*]], m = %sequences) "self_attn_k"
// CHECK: d = %[[VALUES:[^,]*]], m = %sequences) "self_attn_v"
// CHECK: schedule.launch [@append_decode_h2_kv2_d64_f8e4m3fn](k = %[[KEYS]], v = %[[VALUES]], {{.*}}, k_cache = %[[CACHE:[^,]*]], v_cache = %[[OTHER:[^,]*]], k_scale = %[[SCALE:[^,]*]], {{.*}}) "append"
// CHECK: schedule.launch [@attention_decode_whole_{{[^(]*}}(q = %{{[^,]*}}, k_cache = %[[CACHE]], v_cache = %[[OTHER]], k_scale = %[[SCALE]], {{.*}} "attention"

module {
model.graph @decode(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?x256xbf16>
    attributes {max_context = 4096 : i64, phase = #model.phase<decode>} {
  %t = model.weight ["embed"] : tensor<320x256xbf16>
  %x = model.embed %tokens, %t : tensor<?xi32>, tensor<320x256xbf16> -> tensor<?x256xbf16>
  %y = model.layers 2 from 0 carry (%h = %x : tensor<?x256xbf16>) {
    %wq = model.weight ["model.layers.{layer}.self_attn.q_proj.weight"] : tensor<256x256xbf16>
    %wk = model.weight ["model.layers.{layer}.self_attn.k_proj.weight"] : tensor<128x256xbf16>
    %wv = model.weight ["model.layers.{layer}.self_attn.v_proj.weight"] : tensor<128x256xbf16>
    %ks = model.weight ["model.layers.{layer}.self_attn.k_scale"] stored f32 : tensor<1xf32>
    %vs = model.weight ["model.layers.{layer}.self_attn.v_scale"] stored f32 : tensor<1xf32>
    %q = model.linear %h, %wq : tensor<?x256xbf16>, tensor<256x256xbf16> -> tensor<?x256xbf16> loc("self_attn_q")
    %k = model.linear %h, %wk : tensor<?x256xbf16>, tensor<128x256xbf16> -> tensor<?x128xbf16> loc("self_attn_k")
    %v = model.linear %h, %wv : tensor<?x256xbf16>, tensor<128x256xbf16> -> tensor<?x128xbf16> loc("self_attn_v")
    %c = model.cache scaled %ks, %vs : !model.cache<kv_heads = 2, head_dim = 64, f8E4M3FN, page = 64>, tensor<1xf32>, tensor<1xf32>
    %new = model.append %k, %v, %c, %batch : tensor<?x128xbf16>, !model.cache<kv_heads = 2, head_dim = 64, f8E4M3FN, page = 64>
    %a = model.attention %q, %new, %batch : tensor<?x256xbf16>, !model.cache<kv_heads = 2, head_dim = 64, f8E4M3FN, page = 64>
    model.yield %a : tensor<?x256xbf16>
  }
  %g = model.weight ["norm"] : tensor<256xbf16>
  %r = model.norm %y, %g eps 1.0e-5 : tensor<?x256xbf16>, tensor<256xbf16> -> tensor<?x256xbf16>
  model.return %r : tensor<?x256xbf16>
}
}
