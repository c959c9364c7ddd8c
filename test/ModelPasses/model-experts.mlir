// RUN: modelc-opt %s --model-quantise=weights=mxfp4 | FileCheck %s --check-prefix=QUANTISED
// RUN: modelc-opt %s --model-shard=tp=2 | FileCheck %s --check-prefix=TENSOR
// RUN: modelc-opt %s --model-shard=ep=4 | FileCheck %s --check-prefix=EXPERT

// Experts have few bits, and so have what they meet; the router stays as it is. Ranks of tp have columns of each
// expert, of ep whole experts, for the tokens of all ranks.

// QUANTISED-LABEL: model.graph @experts
// QUANTISED: model.linear {{.*}} -> tensor<?x8xf32>
// QUANTISED: model.weight ["e.{expert}.gate", "e.{expert}.up"] stored bf16 : tensor<8x192x64xf4E2M1FN>
// QUANTISED: model.weight ["e.{expert}.gate", "e.{expert}.up"] block_scale : tensor<8x192x2xf8E8M0FNU>
// QUANTISED: model.experts {{.*}} inputs f4E2M1FN :
// TENSOR-LABEL: model.graph @experts
// TENSOR: model.weight ["e.{expert}.gate" split 1 of 2, "e.{expert}.up" split 1 of 2] : tensor<8x96x64xbf16>
// TENSOR: model.weight ["e.{expert}.down" split 2 of 2] : tensor<8x64x48xbf16>
// TENSOR: %[[Y:.*]] = model.experts
// TENSOR: model.all_reduce %[[Y]] over tp
// EXPERT-LABEL: model.graph @experts
// EXPERT: model.gather_rows {{.*}} over ep : tensor<?x2xi32>
// EXPERT: model.weight ["e.{expert}.gate" split 0 of 4 over ep, "e.{expert}.up" split 0 of 4 over ep] : tensor<2x192x64xbf16>
// EXPERT: %[[Y:.*]] = model.experts
// EXPERT: model.scatter_rows %[[Y]] over ep
model.graph @experts(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %r = model.weight ["router"] : tensor<8x64xbf16>
  %l = model.linear %x, %r : tensor<?x64xbf16>, tensor<8x64xbf16> -> tensor<?x8xf32>
  %i, %w = model.route %l softmax top_k 2
      : tensor<?x8xf32> -> tensor<?x2xi32>, tensor<?x2xf32>
  %gu = model.weight ["e.{expert}.gate", "e.{expert}.up"] : tensor<8x192x64xbf16>
  %d = model.weight ["e.{expert}.down"] : tensor<8x64x96xbf16>
  %y = model.experts %x, %i, %w, %gu, %d
      : tensor<?x64xbf16>, tensor<?x2xi32>, tensor<?x2xf32>, tensor<8x192x64xbf16>,
        tensor<8x64x96xbf16> -> tensor<?x64xbf16>
  %z = model.add %x, %y : tensor<?x64xbf16>
  model.return %z : tensor<?x64xbf16>
}
