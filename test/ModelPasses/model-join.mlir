// RUN: modelc-opt %s --model-join | FileCheck %s
// Two ops that one kernel can compute become one; what lies between them nobody else reads.

// CHECK-LABEL: model.graph @quantise(
// CHECK: %[[J:.*]]:2 = model.joined {
// CHECK-NEXT: %[[Y:.*]] = model.linear
// CHECK-NEXT: %[[A:.*]], %[[B:.*]] = model.quantise %[[Y]]
// CHECK-NEXT: model.yield %[[A]], %[[B]] : tensor<?x96xf4E2M1FN>, tensor<?x3xf8E8M0FNU>
// CHECK-NEXT: } : tensor<?x96xf4E2M1FN>, tensor<?x3xf8E8M0FNU>
// CHECK-NEXT: model.return %[[J]]#0
model.graph @quantise(%x: tensor<?x64xbf16>, %w: tensor<96x64xbf16>) -> tensor<?x96xf4E2M1FN> {
  %y = model.linear %x, %w : tensor<?x64xbf16>, tensor<96x64xbf16> -> tensor<?x96xbf16>
  %q, %s = model.quantise %y : tensor<?x96xbf16> -> tensor<?x96xf4E2M1FN> scale tensor<?x3xf8E8M0FNU>
  model.return %q : tensor<?x96xf4E2M1FN>
}

// A scale of a row needs the whole row, and somebody else may read the rows.
// CHECK-LABEL: model.graph @rows(
// CHECK-NOT: model.joined
// CHECK: model.return
model.graph @rows(%x: tensor<?x64xbf16>, %w: tensor<96x64xbf16>) -> (tensor<?x96xf8E4M3FN>, tensor<?x96xf4E2M1FN>, tensor<?x96xbf16>) {
  %y = model.linear %x, %w : tensor<?x64xbf16>, tensor<96x64xbf16> -> tensor<?x96xbf16>
  %q, %s = model.quantise %y : tensor<?x96xbf16> -> tensor<?x96xf8E4M3FN> scale tensor<?xf32>
  %z = model.linear %x, %w : tensor<?x64xbf16>, tensor<96x64xbf16> -> tensor<?x96xbf16>
  %p, %t = model.quantise %z : tensor<?x96xbf16> -> tensor<?x96xf4E2M1FN> scale tensor<?x3xf8E8M0FNU>
  model.return %q, %p, %z : tensor<?x96xf8E4M3FN>, tensor<?x96xf4E2M1FN>, tensor<?x96xbf16>
}

// The sum over ranks goes to the norm, weights before both.
// CHECK-LABEL: model.graph @sum(
// CHECK: model.weight ["norm"]
// CHECK-NEXT: %[[J:.*]]:2 = model.joined {
// CHECK-NEXT: %[[S:.*]] = model.all_reduce %{{.*}} over tp : tensor<?x64xbf16>
// CHECK-NEXT: %{{.*}}, %{{.*}} = model.norm %[[S]],
// CHECK: model.return %[[J]]#0, %[[J]]#1
model.graph @sum(%x: tensor<?x64xbf16>, %r: tensor<?x64xbf16>) -> (tensor<?x64xbf16>, tensor<?x64xbf16>) attributes {mesh = #model.mesh<tp = 2>} {
  %s = model.all_reduce %x over tp : tensor<?x64xbf16>
  %w = model.weight ["norm"] : tensor<64xbf16>
  %y, %sum = model.norm %s, %w residual %r eps 1.0e-5 : tensor<?x64xbf16>, tensor<64xbf16>, tensor<?x64xbf16> -> tensor<?x64xbf16> sum tensor<?x64xbf16>
  model.return %y, %sum : tensor<?x64xbf16>, tensor<?x64xbf16>
}

// Rope goes with the linear in a decode step: a prefill step has whole rows.
// CHECK-LABEL: model.graph @decode(
// CHECK: model.joined
// CHECK-NEXT: model.linear
// CHECK-NEXT: model.rope_append
// CHECK: model.joined
// CHECK-NEXT: model.attention
// CHECK-NEXT: model.quantise
// CHECK-LABEL: model.graph @prefill(
// CHECK-NOT: model.joined
// CHECK: model.attention
!cache = !model.cache<kv_heads = 2, head_dim = 32, bf16>
model.graph @decode(%x: tensor<?x64xbf16>, %batch: !model.batch, %cache: !cache, %w: tensor<256x64xbf16>)
    -> tensor<?x128xf4E2M1FN> attributes {phase = #model.phase<decode>} {
  %y = model.linear %x, %w : tensor<?x64xbf16>, tensor<256x64xbf16> -> tensor<?x256xbf16>
  %q, %c = model.rope_append %y, %cache, %batch theta 1.0e4 : tensor<?x256xbf16>, !cache -> tensor<?x128xbf16>
  %a = model.attention %q, %c, %batch : tensor<?x128xbf16>, !cache
  %p, %s = model.quantise %a : tensor<?x128xbf16> -> tensor<?x128xf4E2M1FN> scale tensor<?x4xf8E8M0FNU>
  model.return %p : tensor<?x128xf4E2M1FN>
}
model.graph @prefill(%x: tensor<?x64xbf16>, %batch: !model.batch, %cache: !cache, %w: tensor<256x64xbf16>)
    -> tensor<?x128xbf16> attributes {phase = #model.phase<prefill>} {
  %y = model.linear %x, %w : tensor<?x64xbf16>, tensor<256x64xbf16> -> tensor<?x256xbf16>
  %q, %c = model.rope_append %y, %cache, %batch theta 1.0e4 : tensor<?x256xbf16>, !cache -> tensor<?x128xbf16>
  %a = model.attention %q, %c, %batch : tensor<?x128xbf16>, !cache
  model.return %a : tensor<?x128xbf16>
}
