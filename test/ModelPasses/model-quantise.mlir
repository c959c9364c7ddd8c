// RUN: modelc-opt %s --model-quantise="weights=fp8 kv=fp8" | FileCheck %s
// RUN: modelc-opt %s --model-quantise=weights=mxfp4 | FileCheck %s --check-prefix=MXFP4
// RUN: modelc-opt %s --model-quantise="weights=mxfp4 inputs=fp8" | FileCheck %s --check-prefix=MIXED
// RUN: not modelc-opt %s --model-quantise=inputs=fp8 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: modelc-opt %s --model-quantise=weights=nvfp4 | FileCheck %s --check-prefix=NVFP4
// RUN: not modelc-opt %s --model-quantise="weights=nvfp4 inputs=fp8" 2>&1 | FileCheck %s --check-prefix=INPUTS
// RUN: modelc-opt %s --model-quantise | FileCheck %s --check-prefix=BF16
// RUN: modelc-opt %s --model-quantise="kv=fp8 queries=fp8" | FileCheck %s --check-prefix=QUERIES
// RUN: modelc-opt %s --model-quantise="kv=fp8 queries=fp8" > %t.once
// RUN: modelc-opt %t.once --model-quantise="kv=fp8 queries=fp8" | diff - %t.once
// RUN: not modelc-opt %s --model-quantise=queries=fp8 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not modelc-opt %s --model-shard=tp=1 --model-quantise=weights=int4 2>&1 | FileCheck %s --check-prefix=WORD

// BF16-NOT: f8E4M3FN
// ALONE: error: expected a cache of 8 bits that the layer fills beside queries of 8; try kv=fp8
// QUERIES-LABEL: model.graph @cache
// QUERIES: %[[QS:.*]] = model.weight ["layers.{layer}.q_scale"] default 1.000000e+00 : tensor<1xf32>
// QUERIES: model.attention %{{.*}}, %{{.*}}, %{{.*}} scaled %[[QS]] : tensor<?x64xbf16>, !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN>, tensor<1xf32>
// WIDE: error: expected weights of 8 bits or fewer beside inputs of 8; try weights fp8, mxfp6 or mxfp4
// WORD: for the --weights option: Cannot find option named 'int4'

// Two linears of one input share its quantisation; the head stays.
// CHECK-LABEL: model.graph @shared
// Inputs of several linears have the largest of the scales that these state.
// INPUTS: error: expected inputs of the type of the weights beside weights in nvfp4; try weights fp8, mxfp6 or mxfp4
// NVFP4-LABEL: model.graph @shared
// NVFP4: %[[XT:.*]] = model.weight ["gate.input_scale", "up.input_scale"] largest default 1.000000e+00 : tensor<1xf32>
// NVFP4: %[[Q:.*]], %[[S:.*]] = model.quantise %{{.*}} tensor_scaled %[[XT]] : tensor<?x64xbf16>, tensor<1xf32> -> tensor<?x64xf4E2M1FN> scale tensor<?x4xf8E4M3FN>
// NVFP4-DAG: %[[W:.*]] = model.weight ["gate"] stored f16 : tensor<96x64xf4E2M1FN>
// NVFP4-DAG: %[[WS:.*]] = model.weight ["gate"] block_scale : tensor<96x4xf8E4M3FN>
// NVFP4-DAG: %[[WT:.*]] = model.weight ["gate"] tensor_scale : tensor<96xf32>
// NVFP4: model.linear %[[Q]], %[[W]] scaled %[[S]], %[[WS]] tensor_scaled %[[XT]], %[[WT]] :
// NVFP4-NOT: model.quantise
// NVFP4: model.linear %[[Q]], %{{.*}} scaled %[[S]], %{{.*}} tensor_scaled %[[XT]], %{{.*}} bias
// NVFP4: model.weight ["head"] : tensor<320x96xbf16>
// MXFP4-LABEL: model.graph @shared
// MXFP4: %[[Q:.*]], %[[S:.*]] = model.quantise %{{.*}} : tensor<?x64xbf16> -> tensor<?x64xf4E2M1FN> scale tensor<?x2xf8E8M0FNU>
// MXFP4-DAG: %[[W:.*]] = model.weight ["gate"] stored f16 : tensor<96x64xf4E2M1FN>
// MXFP4-DAG: %[[WS:.*]] = model.weight ["gate"] block_scale : tensor<96x2xf8E8M0FNU>
// MXFP4: model.linear %[[Q]], %[[W]] scaled %[[S]], %[[WS]] :
// MXFP4-NOT: model.quantise
// MXFP4: model.linear %[[Q]], %{{.*}} scaled %[[S]], %{{.*}} bias
// MXFP4: model.weight ["head"] : tensor<320x96xbf16>
// MIXED-LABEL: model.graph @shared
// MIXED: %[[Q:.*]], %[[S:.*]] = model.quantise %{{.*}} : tensor<?x64xbf16> -> tensor<?x64xf8E4M3FN> scale tensor<?xf32>
// MIXED-DAG: %[[W:.*]] = model.weight ["gate"] stored f16 : tensor<96x64xf4E2M1FN>
// MIXED-DAG: %[[WS:.*]] = model.weight ["gate"] block_scale : tensor<96x2xf8E8M0FNU>
// MIXED: model.linear %[[Q]], %[[W]] scaled %[[S]], %[[WS]] :
model.graph @shared(%x: tensor<?x64xbf16>, %batch: !model.batch) -> tensor<?xi32> {
  // CHECK: %[[Q:.*]], %[[S:.*]] = model.quantise %{{.*}} : tensor<?x64xbf16> -> tensor<?x64xf8E4M3FN> scale tensor<?xf32>
  // CHECK-DAG: %[[W:.*]] = model.weight ["gate"] stored f16 : tensor<96x64xf8E4M3FN>
  // CHECK-DAG: %[[WS:.*]] = model.weight ["gate"] channel_scale : tensor<96xf32>
  // CHECK: model.linear %[[Q]], %[[W]] scaled %[[S]], %[[WS]] :
  %wg = model.weight ["gate"] stored f16 : tensor<96x64xbf16>
  %g = model.linear %x, %wg : tensor<?x64xbf16>, tensor<96x64xbf16> -> tensor<?x96xbf16>
  // CHECK-NOT: model.quantise
  // CHECK: model.linear %[[Q]], %{{.*}} scaled %[[S]], %{{.*}} bias
  %wu = model.weight ["up"] : tensor<96x64xbf16>
  %b = model.weight ["up.bias"] : tensor<96xbf16>
  %u = model.linear %x, %wu bias %b
      : tensor<?x64xbf16>, tensor<96x64xbf16>, tensor<96xbf16> -> tensor<?x96xbf16>
  %s = model.swiglu %g, %u : tensor<?x96xbf16> -> tensor<?x96xbf16>
  // CHECK: model.weight ["head"] : tensor<320x96xbf16>
  // CHECK: model.linear %{{[^ ]*}}, %{{[^ ]*}} role vocabulary : tensor<?x96xbf16>
  %wh = model.weight ["head"] : tensor<320x96xbf16>
  %logits = model.linear %s, %wh role vocabulary : tensor<?x96xbf16>, tensor<320x96xbf16> -> tensor<?x320xbf16>
  %t = model.sample %logits, %batch greedy : tensor<?x320xbf16> -> tensor<?xi32>
  model.return %t : tensor<?xi32>
}

// The cache has 8 bits wherever it goes, and two scales.
// CHECK-LABEL: model.graph @cache
model.graph @cache(%x: tensor<?x64xbf16>, %batch: !model.batch) -> tensor<?x64xbf16> {
  %y = model.layers 2 carry (%h = %x : tensor<?x64xbf16>) {
    // CHECK: %[[KS:.*]] = model.weight ["layers.{layer}.k_scale"] default 1.000000e+00 : tensor<1xf32>
    // CHECK: %[[VS:.*]] = model.weight ["layers.{layer}.v_scale"] default 1.000000e+00 : tensor<1xf32>
    // CHECK: model.cache scaled %[[KS]], %[[VS]] : !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN>, tensor<1xf32>, tensor<1xf32>
    %cache = model.cache : !model.cache<kv_heads = 2, head_dim = 32, bf16>
    // CHECK: model.append %{{.*}} : tensor<?x64xbf16>, !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN>
    %c = model.append %h, %h, %cache, %batch
        : tensor<?x64xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16>
    // CHECK: model.attention %{{.*}} : tensor<?x64xbf16>, !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN>
    %a = model.attention %h, %c, %batch
        : tensor<?x64xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16>
    model.yield %a : tensor<?x64xbf16>
  }
  model.return %y : tensor<?x64xbf16>
}

// They are found beside the projections, or in them.
// CHECK-LABEL: model.graph @projected
// CHECK: model.weight ["{layer}.attn.k_scale", "{layer}.attn.key.k_scale"] largest default 1.000000e+00 : tensor<1xf32>
// CHECK: model.weight ["{layer}.attn.v_scale", "{layer}.attn.val.v_scale"] largest default 1.000000e+00 : tensor<1xf32>
model.graph @projected(%x: tensor<?x64xbf16>, %batch: !model.batch) -> tensor<?x64xbf16> {
  %y = model.layers 2 carry (%h = %x : tensor<?x64xbf16>) {
    %wk = model.weight ["{layer}.attn.key.weight"] : tensor<64x64xbf16>
    %k = model.linear %h, %wk : tensor<?x64xbf16>, tensor<64x64xbf16> -> tensor<?x64xbf16>
    %r = model.rope %k, %batch head_dim 32 theta 1.0e4 : tensor<?x64xbf16>
    %wv = model.weight ["{layer}.attn.val.weight"] : tensor<64x64xbf16>
    %v = model.linear %h, %wv : tensor<?x64xbf16>, tensor<64x64xbf16> -> tensor<?x64xbf16>
    %cache = model.cache : !model.cache<kv_heads = 2, head_dim = 32, bf16>
    %c = model.append %r, %v, %cache, %batch
        : tensor<?x64xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16>
    %a = model.attention %h, %c, %batch
        : tensor<?x64xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16>
    model.yield %a : tensor<?x64xbf16>
  }
  model.return %y : tensor<?x64xbf16>
}

// Of a weight that is split by columns, the scales are those of whole rows.
// Those of blocks are those of its columns.
// CHECK-LABEL: model.graph @split
// NVFP4-LABEL: model.graph @split
// NVFP4-DAG: model.weight ["w" split 1 of 2] stored bf16 : tensor<96x64xf4E2M1FN>
// NVFP4-DAG: model.weight ["w" split 1 of 2] block_scale : tensor<96x4xf8E4M3FN>
// NVFP4-DAG: model.weight ["w"] tensor_scale : tensor<96xf32>
// MXFP4-LABEL: model.graph @split
// MXFP4-DAG: model.weight ["w" split 1 of 2] stored bf16 : tensor<96x64xf4E2M1FN>
// MXFP4-DAG: model.weight ["w" split 1 of 2] block_scale : tensor<96x2xf8E8M0FNU>
model.graph @split(%x: tensor<?x64xbf16>) -> tensor<?x96xbf16> attributes {mesh = #model.mesh<tp = 2>} {
  // CHECK-DAG: model.weight ["w" split 1 of 2] stored bf16 : tensor<96x64xf8E4M3FN>
  // CHECK-DAG: model.weight ["w"] channel_scale : tensor<96xf32>
  %w = model.weight ["w" split 1 of 2] : tensor<96x64xbf16>
  %y = model.linear %x, %w : tensor<?x64xbf16>, tensor<96x64xbf16> -> tensor<?x96xbf16>
  model.return %y : tensor<?x96xbf16>
}
