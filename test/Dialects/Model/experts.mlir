// RUN: modelc-opt %s | modelc-opt | FileCheck %s
// RUN: modelc-opt --mlir-print-op-generic %s | modelc-opt | FileCheck %s

// Routing, experts, latent attention and what layers of several kinds have survive a round trip
// through both forms.

// CHECK-LABEL: model.graph @experts
model.graph @experts(%x: tensor<?x64xbf16>, %l: tensor<?x8xf32>, %c: tensor<8xf32>,
    %gub: tensor<8x192xbf16>, %db: tensor<8x64xbf16>) -> tensor<?x64xbf16> {
  // CHECK: model.route %{{.*}} correction %{{.*}} sigmoid top_k 2 groups <count = 4, kept = 2, score = top_two, mask = minus_infinity> renormalised {{.*}} scaled 2.500000e+00 : tensor<?x8xf32>, tensor<8xf32> -> tensor<?x2xi32>, tensor<?x2xf32>
  %i, %w = model.route %l correction %c sigmoid top_k 2
      groups <count = 4, kept = 2, score = top_two, mask = minus_infinity>
      renormalised 1.0e-20 scaled 2.5
      : tensor<?x8xf32>, tensor<8xf32> -> tensor<?x2xi32>, tensor<?x2xf32>
  // CHECK: model.route %{{.*}} softmax_of_chosen top_k 2 : tensor<?x8xf32> -> tensor<?x2xi32>, tensor<?x2xf32>
  %j, %v = model.route %l softmax_of_chosen top_k 2
      : tensor<?x8xf32> -> tensor<?x2xi32>, tensor<?x2xf32>
  // CHECK: model.weight ["e.{expert}.gate", "e.{expert}.up"] held <"nvfp4", data = ".weight", scale = ".weight_scale" tensor_scale ".weight_scale_2"> : tensor<8x192x64xbf16>
  %gu = model.weight ["e.{expert}.gate", "e.{expert}.up"] held <"nvfp4", data = ".weight",
      scale = ".weight_scale" tensor_scale ".weight_scale_2"> : tensor<8x192x64xbf16>
  // CHECK: model.weight ["down"] transposed : tensor<8x64x96xbf16>
  %d = model.weight ["down"] transposed : tensor<8x64x96xbf16>
  // CHECK: model.experts %{{.*}} weigh_inputs gelu_tanh : tensor<?x64xbf16>, tensor<?x2xi32>, tensor<?x2xf32>, tensor<8x192x64xbf16>, tensor<8x64x96xbf16> -> tensor<?x64xbf16>
  %y = model.experts %x, %i, %w, %gu, %d weigh_inputs gelu_tanh
      : tensor<?x64xbf16>, tensor<?x2xi32>, tensor<?x2xf32>, tensor<8x192x64xbf16>,
        tensor<8x64x96xbf16> -> tensor<?x64xbf16>
  // CHECK: model.experts %{{.*}} bias %{{.*}}, %{{.*}} interleaved clamped_silu alpha 1.702000e+00 limit 7.000000e+00 :
  %z = model.experts %y, %j, %v, %gu, %d bias %gub, %db interleaved clamped_silu
      alpha 1.702 limit 7.0
      : tensor<?x64xbf16>, tensor<?x2xi32>, tensor<?x2xf32>, tensor<8x192x64xbf16>,
        tensor<8x64x96xbf16>, tensor<8x192xbf16>, tensor<8x64xbf16> -> tensor<?x64xbf16>
  // CHECK: model.weight ["e.{expert}.gate", "e.{expert}.up"] block_scale : tensor<8x192x2xf8E8M0FNU>
  %gus = model.weight ["e.{expert}.gate", "e.{expert}.up"] block_scale : tensor<8x192x2xf8E8M0FNU>
  %ds = model.weight ["e.{expert}.down"] block_scale : tensor<8x64x3xf8E8M0FNU>
  %gun = model.weight ["e.{expert}.gate", "e.{expert}.up"] stored bf16 : tensor<8x192x64xf4E2M1FN>
  %dn = model.weight ["e.{expert}.down"] stored bf16 : tensor<8x64x96xf4E2M1FN>
  // CHECK: model.experts %{{.*}} scaled %{{.*}}, %{{.*}} inputs f4E2M1FN :
  %u = model.experts %z, %i, %w, %gun, %dn scaled %gus, %ds inputs f4E2M1FN
      : tensor<?x64xbf16>, tensor<?x2xi32>, tensor<?x2xf32>, tensor<8x192x64xf4E2M1FN>,
        tensor<8x64x96xf4E2M1FN>, tensor<8x192x2xf8E8M0FNU>, tensor<8x64x3xf8E8M0FNU>
      -> tensor<?x64xbf16>
  model.return %u : tensor<?x64xbf16>
}

!latent = !model.cache<kv_heads = 1, head_dim = 80 latent 64, bf16>

// CHECK-LABEL: model.graph @latent
model.graph @latent(%q: tensor<?x192xbf16>, %kv: tensor<?x80xbf16>, %w: tensor<256x64xbf16>,
    %n: tensor<64xbf16>, %batch: !model.batch, %cache: !latent) -> tensor<?x128xbf16> {
  // CHECK: model.norm %{{.*}}, %{{.*}} eps {{.*}} first 64 : tensor<?x80xbf16>
  %m = model.norm %kv, %n eps 1.0e-6 first 64
      : tensor<?x80xbf16>, tensor<64xbf16> -> tensor<?x80xbf16>
  // CHECK: model.rope %{{.*}} head_dim 80 rotated 16 first 64 interleaved theta 1.000000e+04 yarn <factor = 4.000000e+01, beta_fast = 3.200000e+01, beta_slow = 1.000000e+00, original_context = 4096, magnitude = 1.000000e+00, truncate = true> :
  %r = model.rope %m, %batch head_dim 80 rotated 16 first 64 interleaved theta 1.0e4
      yarn <factor = 40.0, beta_fast = 32.0, beta_slow = 1.0, original_context = 4096,
      magnitude = 1.0, truncate = true> : tensor<?x80xbf16>
  // CHECK: model.latent_append %{{.*}} : tensor<?x80xbf16>, !model.cache<kv_heads = 1, head_dim = 80 latent 64, bf16>
  %c = model.latent_append %r, %cache, %batch : tensor<?x80xbf16>, !latent
  // CHECK: model.latent_attention %{{.*}} absorbed scale 1.440000e-01 : tensor<?x192xbf16>, tensor<256x64xbf16>, !model.cache<kv_heads = 1, head_dim = 80 latent 64, bf16> -> tensor<?x128xbf16>
  %y = model.latent_attention %q, %w, %c, %batch absorbed scale 0.144
      : tensor<?x192xbf16>, tensor<256x64xbf16>, !latent -> tensor<?x128xbf16>
  model.return %y : tensor<?x128xbf16>
}

// CHECK-LABEL: model.graph @kinds
model.graph @kinds(%x: tensor<?x64xbf16>, %batch: !model.batch, %g: tensor<?x1xf32>)
    -> tensor<?x64xbf16> {
  // CHECK: model.layers 3 from 1 step 2 carry
  %y = model.layers 3 from 1 step 2 carry (%h = %x : tensor<?x64xbf16>) {
    %a = model.weight ["layers.{layer}.norm"] : tensor<32xbf16>
    // CHECK: model.norm %{{.*}}, %{{.*}} eps 1.000000e-05 head_dim 32 one_plus :
    %n = model.norm %h, %a eps 1.0e-5 head_dim 32 one_plus
        : tensor<?x64xbf16>, tensor<32xbf16> -> tensor<?x64xbf16>
    %near = model.cache : !model.cache<kv_heads = 2, head_dim = 32, bf16>
    %all = model.cache layer 1 : !model.cache<kv_heads = 1, head_dim = 64, bf16>
    %s = model.weight ["layers.{layer+1}.sinks"] : tensor<2xbf16>
    // CHECK: model.attention %{{.*}} sink %{{.*}} window 128 scale 2.500000e-01 soft_cap 5.000000e+01 :
    %m = model.attention %n, %near, %batch sink %s window 128 scale 0.25 soft_cap 50.0
        : tensor<?x64xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16> sink tensor<2xbf16>
    // CHECK: model.attention %{{.*}} chunk 8192 temperature <scale = 1.000000e-01, every = 8192> :
    %k = model.attention %m, %all, %batch chunk 8192 temperature <scale = 0.1, every = 8192>
        : tensor<?x64xbf16>, !model.cache<kv_heads = 1, head_dim = 64, bf16>
    model.yield %k : tensor<?x64xbf16>
  }
  // CHECK: model.norm %{{.*}} eps 1.000000e-05 head_dim 32 : tensor<?x64xbf16> -> tensor<?x64xbf16>
  %u = model.norm %y eps 1.0e-5 head_dim 32 : tensor<?x64xbf16> -> tensor<?x64xbf16>
  // CHECK: model.gate %{{.*}}, %{{.*}} : tensor<?x64xbf16>, tensor<?x1xf32>
  %t = model.gate %u, %g : tensor<?x64xbf16>, tensor<?x1xf32>
  // CHECK: model.swiglu %{{.*}}, %{{.*}} gelu_tanh : tensor<?x64xbf16> -> tensor<?x64xbf16>
  %v = model.swiglu %t, %u gelu_tanh : tensor<?x64xbf16> -> tensor<?x64xbf16>
  model.return %v : tensor<?x64xbf16>
}

// A module that drafts: the embedding of the next token beside what the last layer made.
// CHECK-LABEL: model.graph @draft
model.graph @draft(%tokens: tensor<?xi32>, %hidden: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %table = model.weight ["embed"] : tensor<320x64xbf16>
  // CHECK: model.embed %{{.*}}, %{{.*}} times 8.000000e+00 :
  %e = model.embed %tokens, %table times 8.0
      : tensor<?xi32>, tensor<320x64xbf16> -> tensor<?x64xbf16>
  // CHECK: model.concat %{{.*}}, %{{.*}} : tensor<?x64xbf16>, tensor<?x64xbf16> -> tensor<?x128xbf16>
  %b = model.concat %e, %hidden : tensor<?x64xbf16>, tensor<?x64xbf16> -> tensor<?x128xbf16>
  %w = model.weight ["eh_proj.weight"] : tensor<64x128xbf16>
  %y = model.linear %b, %w : tensor<?x128xbf16>, tensor<64x128xbf16> -> tensor<?x64xbf16>
  model.return %y : tensor<?x64xbf16>
}
