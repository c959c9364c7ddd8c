// RUN: modelc-opt %s --model-fuse | FileCheck %s

// What somebody else reads, or what differs, is not fused.

// CHECK-LABEL: model.graph @other_user
model.graph @other_user(%x: tensor<?x64xbf16>, %r: tensor<?x64xbf16>) -> (tensor<?x64xbf16>, tensor<?x64xbf16>) {
  %w = model.weight ["w"] : tensor<64x64xbf16>
  %y = model.linear %x, %w : tensor<?x64xbf16>, tensor<64x64xbf16> -> tensor<?x64xbf16>
  // CHECK: model.add
  %z = model.add %r, %y : tensor<?x64xbf16>
  model.return %y, %z : tensor<?x64xbf16>, tensor<?x64xbf16>
}

// CHECK-LABEL: model.graph @other_input
model.graph @other_input(%x: tensor<?x64xbf16>, %y: tensor<?x64xbf16>) -> tensor<?x96xbf16> {
  %wg = model.weight ["gate"] : tensor<96x64xbf16>
  %g = model.linear %x, %wg : tensor<?x64xbf16>, tensor<96x64xbf16> -> tensor<?x96xbf16>
  %wu = model.weight ["up"] : tensor<96x64xbf16>
  %u = model.linear %y, %wu : tensor<?x64xbf16>, tensor<96x64xbf16> -> tensor<?x96xbf16>
  // CHECK: model.swiglu
  %s = model.swiglu %g, %u : tensor<?x96xbf16> -> tensor<?x96xbf16>
  model.return %s : tensor<?x96xbf16>
}

// CHECK-LABEL: model.graph @other_bias
model.graph @other_bias(%x: tensor<?x64xbf16>) -> tensor<?x96xbf16> {
  %wg = model.weight ["gate"] : tensor<96x64xbf16>
  %bg = model.weight ["gate.bias"] : tensor<96xbf16>
  %g = model.linear %x, %wg bias %bg
      : tensor<?x64xbf16>, tensor<96x64xbf16>, tensor<96xbf16> -> tensor<?x96xbf16>
  %wu = model.weight ["up"] : tensor<96x64xbf16>
  %u = model.linear %x, %wu : tensor<?x64xbf16>, tensor<96x64xbf16> -> tensor<?x96xbf16>
  // CHECK: model.swiglu
  %s = model.swiglu %g, %u : tensor<?x96xbf16> -> tensor<?x96xbf16>
  model.return %s : tensor<?x96xbf16>
}

// The residual comes after the linear: the linear moves down to it.
// CHECK-LABEL: model.graph @later_residual
model.graph @later_residual(%x: tensor<?x64xbf16>, %a: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %w = model.weight ["w"] : tensor<64x64xbf16>
  %y = model.linear %x, %w : tensor<?x64xbf16>, tensor<64x64xbf16> -> tensor<?x64xbf16>
  // CHECK: %[[R:.*]] = model.norm
  %wn = model.weight ["n"] : tensor<64xbf16>
  %r = model.norm %a, %wn eps 1.0e-5 : tensor<?x64xbf16>, tensor<64xbf16> -> tensor<?x64xbf16>
  // CHECK: model.linear %{{.*}} residual %[[R]]
  %z = model.add %y, %r : tensor<?x64xbf16>
  model.return %z : tensor<?x64xbf16>
}

// A swiglu of its own quantises itself.
// CHECK-LABEL: model.graph @swiglu
model.graph @swiglu(%g: tensor<?x64xbf16>, %u: tensor<?x64xbf16>) -> (tensor<?x64xf8E4M3FN>, tensor<?xf32>) {
  // CHECK: model.swiglu %{{.*}} -> tensor<?x64xf8E4M3FN> scale tensor<?xf32>
  // CHECK-NOT: model.quantise
  %s = model.swiglu %g, %u : tensor<?x64xbf16> -> tensor<?x64xbf16>
  %q, %scale = model.quantise %s : tensor<?x64xbf16> -> tensor<?x64xf8E4M3FN> scale tensor<?xf32>
  model.return %q, %scale : tensor<?x64xf8E4M3FN>, tensor<?xf32>
}

// Norms of heads that differ stay; so do linears before them.
// CHECK-LABEL: model.graph @other_norms
model.graph @other_norms(%x: tensor<?x64xbf16>, %batch: !model.batch,
    %cache: !model.cache<kv_heads = 1, head_dim = 32, bf16>) -> tensor<?x32xbf16> {
  %w = model.weight ["w"] : tensor<32x64xbf16>
  %n = model.weight ["n"] : tensor<32xbf16>
  %q = model.linear %x, %w : tensor<?x64xbf16>, tensor<32x64xbf16> -> tensor<?x32xbf16>
  %k = model.linear %x, %w : tensor<?x64xbf16>, tensor<32x64xbf16> -> tensor<?x32xbf16>
  %v = model.linear %x, %w : tensor<?x64xbf16>, tensor<32x64xbf16> -> tensor<?x32xbf16>
  // CHECK: model.norm %{{.*}} eps {{.*}} head_dim 32
  %qn = model.norm %q, %n eps 1.0e-6 head_dim 32 : tensor<?x32xbf16>, tensor<32xbf16> -> tensor<?x32xbf16>
  %kn = model.norm %k, %n eps 1.0e-5 head_dim 32 : tensor<?x32xbf16>, tensor<32xbf16> -> tensor<?x32xbf16>
  // CHECK: model.rope %
  %qr = model.rope %qn, %batch head_dim 32 theta 1.0e4 : tensor<?x32xbf16>
  %kr = model.rope %kn, %batch head_dim 32 theta 1.0e4 : tensor<?x32xbf16>
  %c = model.append %kr, %v, %cache, %batch : tensor<?x32xbf16>, !model.cache<kv_heads = 1, head_dim = 32, bf16>
  // CHECK-NOT: rope_append
  // CHECK: model.return
  %y = model.attention %qr, %c, %batch : tensor<?x32xbf16>, !model.cache<kv_heads = 1, head_dim = 32, bf16>
  model.return %y : tensor<?x32xbf16>
}
