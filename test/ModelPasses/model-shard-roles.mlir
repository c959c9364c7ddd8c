// RUN: modelc-opt %s --model-shard=tp=2 --split-input-file --verify-diagnostics

// Roles that do not go together are said where the value is read.

model.graph @columns(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %w = model.weight ["w"] : tensor<64x64xbf16>
  // expected-error@+1 {{expected operand 0 in columns of each rank along tp, got it whole; give the linears before it roles}}
  %y = model.linear %x, %w role row : tensor<?x64xbf16>, tensor<64x64xbf16> -> tensor<?x64xbf16>
  model.return %y : tensor<?x64xbf16>
}

// -----

model.graph @cache(%x: tensor<?x64xbf16>, %batch: !model.batch) -> tensor<?x64xbf16> {
  %y = model.layers 2 carry (%h = %x : tensor<?x64xbf16>) {
    %wq = model.weight ["{layer}.q"] : tensor<64x64xbf16>
    %q = model.linear %h, %wq role heads head_dim 16 : tensor<?x64xbf16>, tensor<64x64xbf16> -> tensor<?x64xbf16>
    %wk = model.weight ["{layer}.k"] : tensor<32x64xbf16>
    %k = model.linear %h, %wk : tensor<?x64xbf16>, tensor<32x64xbf16> -> tensor<?x32xbf16>
    %cache = model.cache : !model.cache<kv_heads = 2, head_dim = 16, bf16>
    %c = model.append %k, %k, %cache, %batch : tensor<?x32xbf16>, !model.cache<kv_heads = 2, head_dim = 16, bf16>
    // expected-error@+1 {{expected operand 1 in columns of each rank along tp, got it whole; give the linears before it roles}}
    %a = model.attention %q, %c, %batch : tensor<?x64xbf16>, !model.cache<kv_heads = 2, head_dim = 16, bf16>
    %wo = model.weight ["{layer}.o"] : tensor<64x64xbf16>
    %o = model.linear %a, %wo role row head_dim 16 : tensor<?x64xbf16>, tensor<64x64xbf16> -> tensor<?x64xbf16>
    model.yield %o : tensor<?x64xbf16>
  }
  model.return %y : tensor<?x64xbf16>
}

// -----

// expected-error@+1 {{expected linears with a role, which says how they are shared, for tp=2, got none; try tp=1}}
model.graph @none(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %w = model.weight ["w"] : tensor<64x64xbf16>
  %y = model.linear %x, %w : tensor<?x64xbf16>, tensor<64x64xbf16> -> tensor<?x64xbf16>
  model.return %y : tensor<?x64xbf16>
}
