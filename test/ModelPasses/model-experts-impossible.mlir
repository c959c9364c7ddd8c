// RUN: modelc-opt %s --split-input-file --model-shard=tp=2 --verify-diagnostics

// What ranks cannot share is said at the op.

model.graph @whole_rows(%x: tensor<?x64xbf16>) -> tensor<?x128xbf16> {
  %w = model.weight ["q"] : tensor<128x64xbf16>
  %q = model.linear %x, %w role heads head_dim 32
      : tensor<?x64xbf16>, tensor<128x64xbf16> -> tensor<?x128xbf16>
  %n = model.weight ["q_norm"] : tensor<128xbf16>
  // expected-error@+1 {{expected a norm of each head where heads are cut over ranks, got one of whole rows; try tp=1}}
  %y = model.norm %q, %n eps 1.0e-6
      : tensor<?x128xbf16>, tensor<128xbf16> -> tensor<?x128xbf16>
  model.return %y : tensor<?x128xbf16>
}

// -----

model.graph @width(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %w: tensor<?x2xf32>) -> tensor<?x64xbf16> {
  %gu = model.weight ["{expert}.gate", "{expert}.up"] : tensor<8x186x64xbf16>
  %d = model.weight ["{expert}.down"] : tensor<8x64x93xbf16>
  // expected-error@+1 {{tp=2 does not divide 93 columns of an expert; try 1, 3}}
  %y = model.experts %x, %i, %w, %gu, %d
      : tensor<?x64xbf16>, tensor<?x2xi32>, tensor<?x2xf32>, tensor<8x186x64xbf16>,
        tensor<8x64x93xbf16> -> tensor<?x64xbf16>
  model.return %y : tensor<?x64xbf16>
}
