// RUN: modelc-opt %s --model-shard=tp=2 | FileCheck %s

// A bias before a sum over ranks must count once; a tied table is split for the
// head and whole for the embedding.

// CHECK-LABEL: model.graph @bias
model.graph @bias(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?xi32> {
  // CHECK: model.weight ["table"] : tensor<320x64xbf16>
  %table = model.weight ["table"] : tensor<320x64xbf16>
  %x = model.embed %tokens, %table : tensor<?xi32>, tensor<320x64xbf16> -> tensor<?x64xbf16>
  %wg = model.weight ["gate"] : tensor<96x64xbf16>
  %bg = model.weight ["gate.bias"] : tensor<96xbf16>
  // CHECK: model.weight ["gate.bias" split 0 of 2] : tensor<48xbf16>
  %g = model.linear %x, %wg bias %bg role column
      : tensor<?x64xbf16>, tensor<96x64xbf16>, tensor<96xbf16> -> tensor<?x96xbf16>
  %s = model.swiglu %g, %g : tensor<?x96xbf16> -> tensor<?x96xbf16>
  %wd = model.weight ["down"] : tensor<64x96xbf16>
  %bd = model.weight ["down.bias"] : tensor<64xbf16>
  // CHECK: model.weight ["down.bias" first rank] : tensor<64xbf16>
  %d = model.linear %s, %wd bias %bd role row
      : tensor<?x96xbf16>, tensor<64x96xbf16>, tensor<64xbf16> -> tensor<?x64xbf16>
  // CHECK: model.weight ["table" split 0 of 2] : tensor<160x64xbf16>
  %logits = model.linear %d, %table role vocabulary
      : tensor<?x64xbf16>, tensor<320x64xbf16> -> tensor<?x320xbf16>
  %t = model.sample %logits, %batch greedy : tensor<?x320xbf16> -> tensor<?xi32>
  model.return %t : tensor<?xi32>
}
