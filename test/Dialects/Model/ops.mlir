// RUN: modelc-opt %s | modelc-opt | FileCheck %s
// RUN: modelc-opt --mlir-print-op-generic %s | modelc-opt | FileCheck %s

// Every op and attribute survives a round trip through both forms.

!cache = !model.cache<kv_heads = 2, head_dim = 32, bf16>

// CHECK-LABEL: model.graph @layer
// CHECK-SAME: attributes {max_context = 131072 : i64, phase = #model.phase<decode>}
model.graph @layer(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?xi32>
    attributes {max_context = 131072 : i64, phase = #model.phase<decode>} {
  // CHECK: model.weight ["embed"] : tensor<320x128xbf16>
  %table = model.weight ["embed"] : tensor<320x128xbf16>
  // CHECK: model.embed %{{.*}}, %{{.*}} : tensor<?xi32>, tensor<320x128xbf16> -> tensor<?x128xbf16>
  %x = model.embed %tokens, %table
      : tensor<?xi32>, tensor<320x128xbf16> -> tensor<?x128xbf16>
  // CHECK: model.layers 3 from 1 carry (%[[H:.*]] = %{{.*}} : tensor<?x128xbf16>) {
  %y = model.layers 3 from 1 carry (%h = %x : tensor<?x128xbf16>) {
    // CHECK: model.cache : !model.cache<kv_heads = 2, head_dim = 32, bf16>
    %cache = model.cache : !cache
    // CHECK: model.weight ["{layer}.n"] stored f32 : tensor<128xbf16>
    %wn = model.weight ["{layer}.n"] stored f32 : tensor<128xbf16>
    // CHECK: model.norm %[[H]], %{{.*}} eps 1.000000e-05
    %n = model.norm %h, %wn eps 1.0e-5
        : tensor<?x128xbf16>, tensor<128xbf16> -> tensor<?x128xbf16>
    // CHECK: model.weight ["{layer}.q", "{layer}.k" split 0 of 2 copies 2, "{layer}.v" split 0 of 4]
    %w = model.weight ["{layer}.q", "{layer}.k" split 0 of 2 copies 2, "{layer}.v" split 0 of 4]
        : tensor<256x128xbf16>
    // CHECK: model.weight ["{layer}.bias" first rank]
    %b = model.weight ["{layer}.bias" first rank] : tensor<256xbf16>
    // CHECK: model.linear %{{.*}}, %{{.*}} bias %{{.*}} :
    %qkv = model.linear %n, %w bias %b
        : tensor<?x128xbf16>, tensor<256x128xbf16>, tensor<256xbf16> -> tensor<?x256xbf16>
    // CHECK: model.rope_append %{{.*}}, %{{.*}}, %{{.*}} theta 5.000000e+05
    // CHECK-SAME: scaling <factor = 8.000000e+00, low_freq_factor = 1.000000e+00, high_freq_factor = 4.000000e+00, original_context = 8192>
    %q, %c = model.rope_append %qkv, %cache, %batch theta 5.0e5 scaling <factor = 8.0,
        low_freq_factor = 1.0, high_freq_factor = 4.0, original_context = 8192>
        : tensor<?x256xbf16>, !cache -> tensor<?x128xbf16>
    // CHECK: model.attention %{{.*}}, %{{.*}}, %{{.*}} window 128 :
    %near = model.attention %q, %c, %batch window 128 : tensor<?x128xbf16>, !cache
    // CHECK: model.attention %{{.*}}, %{{.*}}, %{{.*}} :
    %a = model.attention %near, %c, %batch : tensor<?x128xbf16>, !cache
    // CHECK: %{{.*}}, %{{.*}} = model.norm %{{.*}}, %{{.*}} residual %[[H]] eps {{.*}} -> tensor<?x128xbf16> sum tensor<?x128xbf16>
    %m, %sum = model.norm %a, %wn residual %h eps 1.0e-5
        : tensor<?x128xbf16>, tensor<128xbf16>, tensor<?x128xbf16>
        -> tensor<?x128xbf16> sum tensor<?x128xbf16>
    // CHECK: model.weight ["{layer}.g", "{layer}.u"] : tensor<256x128xbf16>
    %gu = model.weight ["{layer}.g", "{layer}.u"] : tensor<256x128xbf16>
    // CHECK: model.linear %{{.*}}, %{{.*}} swiglu residual %{{.*}} :
    %s = model.linear %m, %gu swiglu residual %sum
        : tensor<?x128xbf16>, tensor<256x128xbf16>, tensor<?x128xbf16> -> tensor<?x128xbf16>
    // CHECK: model.yield
    model.yield %s : tensor<?x128xbf16>
  }
  // CHECK: model.last
  %l = model.last %y, %batch : tensor<?x128xbf16>
  %logits = model.linear %l, %table
      : tensor<?x128xbf16>, tensor<320x128xbf16> -> tensor<?x320xbf16>
  // CHECK: model.sample %{{.*}}, %{{.*}} greedy :
  %t = model.sample %logits, %batch greedy : tensor<?x320xbf16> -> tensor<?xi32>
  // CHECK: model.return
  model.return %t : tensor<?xi32>
}

// CHECK-LABEL: model.graph @parts
model.graph @parts(%k: tensor<?x64xbf16>, %batch: !model.batch,
    %cache: !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN, page = 64>) -> tensor<?x64xbf16> {
  // CHECK: model.rope %{{.*}}, %{{.*}} head_dim 32 theta 1.000000e+04 : tensor<?x64xbf16>
  %r = model.rope %k, %batch head_dim 32 theta 1.0e4 : tensor<?x64xbf16>
  // CHECK: model.append %{{.*}} : tensor<?x64xbf16>, !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN, page = 64>
  %c = model.append %r, %k, %cache, %batch
      : tensor<?x64xbf16>, !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN, page = 64>
  // CHECK: model.swiglu %{{.*}} : tensor<?x64xbf16> -> tensor<?x64xf8E4M3FN> scale tensor<?xf32>
  %s, %scale = model.swiglu %r, %k : tensor<?x64xbf16> -> tensor<?x64xf8E4M3FN> scale tensor<?xf32>
  // CHECK: model.weight ["w"] stored bf16 : tensor<64x64xf8E4M3FN>
  %w = model.weight ["w"] stored bf16 : tensor<64x64xf8E4M3FN>
  // CHECK: model.weight ["w"] channel_scale : tensor<64xf32>
  %ws = model.weight ["w"] channel_scale : tensor<64xf32>
  // CHECK: model.weight ["w" split 1 of 2] block_scale : tensor<64x2xf8E8M0FNU>
  %wb = model.weight ["w" split 1 of 2] block_scale : tensor<64x2xf8E8M0FNU>
  // CHECK: %[[WT:.*]] = model.weight ["w", "v"] tensor_scale : tensor<64xf32>
  %wt = model.weight ["w", "v"] tensor_scale : tensor<64xf32>
  // CHECK: %[[XT:.*]] = model.weight ["w.input_scale", "v.input_scale"] largest default 1.000000e+00 : tensor<1xf32>
  %xt = model.weight ["w.input_scale", "v.input_scale"] largest default 1.0 : tensor<1xf32>
  // CHECK: model.quantise %{{.*}} tensor_scaled %[[XT]] : tensor<?x64xbf16>, tensor<1xf32> -> tensor<?x64xf4E2M1FN> scale tensor<?x4xf8E4M3FN>
  %f, %fs = model.quantise %r tensor_scaled %xt : tensor<?x64xbf16>, tensor<1xf32> -> tensor<?x64xf4E2M1FN> scale tensor<?x4xf8E4M3FN>
  // CHECK: model.swiglu %{{.*}}, %{{.*}} tensor_scaled %[[XT]] : tensor<?x64xbf16>, tensor<1xf32> -> tensor<?x64xf4E2M1FN> scale tensor<?x4xf8E4M3FN>
  %e, %es = model.swiglu %r, %k tensor_scaled %xt : tensor<?x64xbf16>, tensor<1xf32> -> tensor<?x64xf4E2M1FN> scale tensor<?x4xf8E4M3FN>
  %wf = model.weight ["w", "v"] stored bf16 : tensor<64x64xf4E2M1FN>
  %wfs = model.weight ["w", "v"] block_scale : tensor<64x4xf8E4M3FN>
  // CHECK: model.linear %{{.*}}, %{{.*}} scaled %{{.*}}, %{{.*}} tensor_scaled %[[XT]], %[[WT]] :
  %g = model.linear %f, %wf scaled %fs, %wfs tensor_scaled %xt, %wt : tensor<?x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>, tensor<64x4xf8E4M3FN>, tensor<1xf32>, tensor<64xf32> -> tensor<?x64xbf16>
  // CHECK: model.linear %{{.*}}, %{{.*}} scaled %{{.*}}, %{{.*}} :
  %y = model.linear %s, %w scaled %scale, %ws
      : tensor<?x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<?xf32>, tensor<64xf32> -> tensor<?x64xbf16>
  // CHECK: model.add
  %z = model.add %y, %k : tensor<?x64xbf16>
  model.return %z : tensor<?x64xbf16>
}

// CHECK-LABEL: model.graph @ranks
// CHECK-SAME: mesh = #model.mesh<tp = 4, ep = 2>
model.graph @ranks(%x: tensor<?x80xbf16>, %batch: !model.batch) -> tensor<?xi32>
    attributes {mesh = #model.mesh<ep = 2, tp = 4>} {
  // CHECK: model.quantise %{{.*}} : tensor<?x80xbf16> -> tensor<?x80xf8E4M3FN> scale tensor<?xf32>
  %q, %scale = model.quantise %x : tensor<?x80xbf16> -> tensor<?x80xf8E4M3FN> scale tensor<?xf32>
  // CHECK: model.all_reduce %{{.*}} over tp : tensor<?x80xbf16>
  %r = model.all_reduce %x over tp : tensor<?x80xbf16>
  // CHECK: model.gather_rows %{{.*}} over ep : tensor<?x80xbf16>
  %all = model.gather_rows %r over ep : tensor<?x80xbf16>
  // CHECK: model.scatter_rows %{{.*}} over ep : tensor<?x80xbf16>
  %own = model.scatter_rows %all over ep : tensor<?x80xbf16>
  // CHECK: model.all_gather %{{.*}} over tp : tensor<?x80xbf16> -> tensor<?x320xbf16>
  %g = model.all_gather %own over tp : tensor<?x80xbf16> -> tensor<?x320xbf16>
  // CHECK: model.sample %{{.*}}, %{{.*}} random top_k 40 top_p 9.000000e-01 temperature 0.69999999999999996 :
  %t = model.sample %g, %batch random top_k 40 top_p 0.9 temperature 0.7
      : tensor<?x320xbf16> -> tensor<?xi32>
  model.return %t : tensor<?xi32>
}

// Roles of linears, and cuts over several axes.
// CHECK-LABEL: model.graph @roles
// CHECK-SAME: mesh = #model.mesh<tp = 2, ep = 4, dp = 8, pp = 2, cp = 3>
model.graph @roles(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16>
    attributes {mesh = #model.mesh<tp = 2, ep = 4, dp = 8, pp = 2, cp = 3>} {
  // CHECK: model.weight ["q" padded 32 split 0 of 2 split 1 of 4 over ep] : tensor<128x64xbf16>
  %wq = model.weight ["q" padded 32 split 0 of 2 split 1 of 4 over ep] : tensor<128x64xbf16>
  // CHECK: model.linear %{{.*}}, %{{.*}} role heads head_dim 32 :
  %q = model.linear %x, %wq role heads head_dim 32
      : tensor<?x64xbf16>, tensor<128x64xbf16> -> tensor<?x128xbf16>
  // CHECK: model.weight ["o" split 1 of 1 copies 2] : tensor<64x128xbf16>
  %wo = model.weight ["o" split 1 of 1 copies 2] : tensor<64x128xbf16>
  // CHECK: model.linear %{{.*}}, %{{.*}} role row head_dim 32 :
  %o = model.linear %q, %wo role row head_dim 32
      : tensor<?x128xbf16>, tensor<64x128xbf16> -> tensor<?x64xbf16>
  // CHECK: model.linear %{{.*}}, %{{.*}} role column :
  %w = model.weight ["w"] : tensor<64x64xbf16>
  %y = model.linear %o, %w role column
      : tensor<?x64xbf16>, tensor<64x64xbf16> -> tensor<?x64xbf16>
  // CHECK: model.linear %{{[^ ]*}}, %{{[^ ]*}} : tensor<?x64xbf16>
  %z = model.linear %y, %w role replicated
      : tensor<?x64xbf16>, tensor<64x64xbf16> -> tensor<?x64xbf16>
  model.return %z : tensor<?x64xbf16>
}
