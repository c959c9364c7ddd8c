// RUN: modelc-opt %s --model-bind="phase=decode page=16" --kernels-lower=target=h200 --mlir-use-nameloc-as-prefix | FileCheck %s
// The cache of a latent is one buffer, whose first columns attention reads as values. Queries are multiplied by
// the rows of each head that make keys, results by those that make values, of one weight.

// CHECK: schedule.kernel @append_decode_h1_kv1_d80_latent64_bf16(%k: !schedule.buffer<?x1x80xbf16>, %starts: {{.*}}, %k_cache: !schedule.buffer<?x1x80xbf16>, %tokens: index,
// CHECK: schedule.kernel @head_linear_h40_64x32_bf16_{{.*}}(%a: !schedule.buffer<?x40x48xbf16>, %w: !schedule.buffer<40x64x64xbf16>, %d: !schedule.buffer<?x40x64xbf16>, %m: index)
// CHECK: schedule.mma %{{.*}}, %activations, %weights {b_transposed}
// CHECK: schedule.kernel @attention_decode_whole_h40_kv1_d80_latent64_bf16(%q_latent: !schedule.buffer<?x40x64xbf16>, %q: !schedule.buffer<?x40x48xbf16>, %k_cache: !schedule.buffer<?x1x80xbf16>, %contexts:
// CHECK-LABEL: func.func @decode
// CHECK: %[[CACHE:.*]] = schedule.alloc({{.*}}) as cache "k_cache"
// CHECK-NOT: "v_cache"
// CHECK: schedule.launch [@append_decode_h1{{[^(]*}}(k = %{{[^,]*}}, {{.*}}, k_cache = %[[CACHE]], tokens
// CHECK: schedule.launch [@head_linear_h40_64x32{{[^(]*}}(a = %[[Q:[^,]*]], w = %[[EXPAND:[^,]*]], d = %[[OWN:[^,]*]], m = %{{.*}}) "latent_attention_absorb"
// CHECK: schedule.launch [@attention_decode_whole_{{[^(]*}}(q_latent = %[[OWN]], q = %[[Q]], k_cache = %[[CACHE]], {{.*}} out = %[[SUMS:[^,]*]], {{.*}} "latent_attention"
// CHECK: schedule.launch [@head_linear_h40_32x64{{[^(]*}}(a = %[[SUMS]], w = %[[EXPAND]], d = %{{[^,]*}}, m = %{{.*}}) "latent_attention_expand"
!latent = !model.cache<kv_heads = 1, head_dim = 80 latent 64, bf16>
model.graph @latent(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?x64xbf16> {
  %t = model.weight ["embed"] : tensor<320x64xbf16>
  %x = model.embed %tokens, %t : tensor<?xi32>, tensor<320x64xbf16> -> tensor<?x64xbf16>
  %z = model.layers 1 carry (%h = %x : tensor<?x64xbf16>) {
    %wq = model.weight ["q"] : tensor<1920x64xbf16>
    %q = model.linear %h, %wq : tensor<?x64xbf16>, tensor<1920x64xbf16> -> tensor<?x1920xbf16>
    %wk = model.weight ["kv"] : tensor<80x64xbf16>
    %kv = model.linear %h, %wk : tensor<?x64xbf16>, tensor<80x64xbf16> -> tensor<?x80xbf16>
    %cache = model.cache : !latent
    %c = model.latent_append %kv, %cache, %batch : tensor<?x80xbf16>, !latent
    %w = model.weight ["expand"] : tensor<2560x64xbf16>
    %a = model.latent_attention %q, %w, %c, %batch scale 0.125
        : tensor<?x1920xbf16>, tensor<2560x64xbf16>, !latent -> tensor<?x1280xbf16>
    %wo = model.weight ["o"] : tensor<64x1280xbf16>
    %y = model.linear %a, %wo : tensor<?x1280xbf16>, tensor<64x1280xbf16> -> tensor<?x64xbf16>
    model.yield %y : tensor<?x64xbf16>
  }
  %g = model.weight ["norm"] : tensor<64xbf16>
  %n = model.norm %z, %g eps 1.0e-5 : tensor<?x64xbf16>, tensor<64xbf16> -> tensor<?x64xbf16>
  model.return %n : tensor<?x64xbf16>
}
