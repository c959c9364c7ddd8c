// RUN: modelc-opt %s --model-state-formats | FileCheck %s
// Weights and their scales say what they are read as: of gate and up in two parts.

// CHECK-LABEL: model.graph @halves(
// CHECK: model.weight ["w"] stored bf16 format <f4E2M1FN blocks f8E4M3FN parts 2> : tensor<96x64xf4E2M1FN>
// CHECK: model.weight ["w"] block_scale format <f4E2M1FN blocks f8E4M3FN parts 2> : tensor<96x4xf8E4M3FN>
// CHECK: model.weight ["w"] tensor_scale format <f4E2M1FN blocks f8E4M3FN parts 2> : tensor<96xf32>
// CHECK: model.weight ["x_scale"] : tensor<1xf32>
model.graph @halves(%x: tensor<?x64xf4E2M1FN>, %xs: tensor<?x4xf8E4M3FN>) -> tensor<?x48xbf16> {
  %w = model.weight ["w"] stored bf16 : tensor<96x64xf4E2M1FN>
  %ws = model.weight ["w"] block_scale : tensor<96x4xf8E4M3FN>
  %wt = model.weight ["w"] tensor_scale : tensor<96xf32>
  %xt = model.weight ["x_scale"] : tensor<1xf32>
  %y = model.linear %x, %w scaled %xs, %ws tensor_scaled %xt, %wt swiglu : tensor<?x64xf4E2M1FN>, tensor<96x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>, tensor<96x4xf8E4M3FN>, tensor<1xf32>, tensor<96xf32> -> tensor<?x48xbf16>
  model.return %y : tensor<?x48xbf16>
}

// Scales of rows, and a weight of 16 bits, that has none.
// CHECK-LABEL: model.graph @rows(
// CHECK: model.weight ["w"] stored bf16 format <f8E4M3FN> : tensor<96x64xf8E4M3FN>
// CHECK: model.weight ["w"] channel_scale format <f8E4M3FN> : tensor<96xf32>
// CHECK: model.weight ["v"] : tensor<64x96xbf16>
model.graph @rows(%x: tensor<?x64xf8E4M3FN>, %xs: tensor<?xf32>) -> tensor<?x64xbf16> {
  %w = model.weight ["w"] stored bf16 : tensor<96x64xf8E4M3FN>
  %ws = model.weight ["w"] channel_scale : tensor<96xf32>
  %y = model.linear %x, %w scaled %xs, %ws : tensor<?x64xf8E4M3FN>, tensor<96x64xf8E4M3FN>, tensor<?xf32>, tensor<96xf32> -> tensor<?x96xbf16>
  %v = model.weight ["v"] : tensor<64x96xbf16>
  %z = model.linear %y, %v : tensor<?x96xbf16>, tensor<64x96xbf16> -> tensor<?x64xbf16>
  model.return %z : tensor<?x64xbf16>
}

// One tensor that is read as two formats is two weights.
// CHECK-LABEL: model.graph @twice(
// CHECK-DAG: %[[A:.*]] = model.weight ["w"] stored bf16 format <f8E4M3FN> :
// CHECK-DAG: %[[B:.*]] = model.weight ["w"] stored bf16 format <f8E4M3FN parts 2> :
// CHECK: model.linear %{{.*}}, %[[A]] scaled
// CHECK: model.linear %{{.*}}, %[[B]] scaled
model.graph @twice(%x: tensor<?x64xf8E4M3FN>, %xs: tensor<?xf32>, %ws: tensor<96xf32>) -> tensor<?x48xbf16> {
  %w = model.weight ["w"] stored bf16 : tensor<96x64xf8E4M3FN>
  %y = model.linear %x, %w scaled %xs, %ws : tensor<?x64xf8E4M3FN>, tensor<96x64xf8E4M3FN>, tensor<?xf32>, tensor<96xf32> -> tensor<?x96xbf16>
  %z = model.linear %x, %w scaled %xs, %ws swiglu : tensor<?x64xf8E4M3FN>, tensor<96x64xf8E4M3FN>, tensor<?xf32>, tensor<96xf32> -> tensor<?x48xbf16>
  model.return %z : tensor<?x48xbf16>
}

// Scales beside a cache of 8 bits.
// CHECK-LABEL: model.graph @cache(
// CHECK-COUNT-3: model.weight {{.*}} default 1.000000e+00 format <f8E4M3FN> : tensor<1xf32>
model.graph @cache(%x: tensor<?x64xbf16>, %batch: !model.batch) -> tensor<?x64xbf16> {
  %y = model.layers 3 carry (%h = %x : tensor<?x64xbf16>) {
    %ks = model.weight ["layers.{layer}.k_scale"] default 1.0 : tensor<1xf32>
    %vs = model.weight ["layers.{layer}.v_scale"] default 1.0 : tensor<1xf32>
    %qs = model.weight ["layers.{layer}.q_scale"] default 1.0 : tensor<1xf32>
    %c = model.cache scaled %ks, %vs : !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN>, tensor<1xf32>, tensor<1xf32>
    %a = model.attention %h, %c, %batch scaled %qs : tensor<?x64xbf16>, !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN>, tensor<1xf32>
    model.yield %a : tensor<?x64xbf16>
  }
  model.return %y : tensor<?x64xbf16>
}
