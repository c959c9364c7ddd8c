// RUN: modelc-opt %s --split-input-file --verify-diagnostics --kernels-lower=target=mi300x
// Scales lie as the format says that their weight states.

model.graph @decode(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?x64xbf16> attributes {phase = #model.phase<decode>} {
  %table = model.weight ["table"] : tensor<2x64xbf16>
  %x = model.embed %tokens, %table : tensor<?xi32>, tensor<2x64xbf16> -> tensor<?x64xbf16>
  %q, %s = model.quantise %x : tensor<?x64xbf16> -> tensor<?x64xf8E4M3FN> scale tensor<?xf32>
  %w = model.weight ["w"] : tensor<64x64xf8E4M3FN>
  %ws = model.weight ["w"] channel_scale : tensor<64xf32>
  // expected-error @+1 {{expected scales that state the format of their numbers, got none; try model-state-formats}}
  %y = model.linear %q, %w scaled %s, %ws : tensor<?x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<?xf32>, tensor<64xf32> -> tensor<?x64xbf16>
  model.return %y : tensor<?x64xbf16>
}

// -----

model.graph @decode(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?x64xbf16> attributes {phase = #model.phase<decode>} {
  %table = model.weight ["table"] : tensor<2x64xbf16>
  %x = model.embed %tokens, %table : tensor<?xi32>, tensor<2x64xbf16> -> tensor<?x64xbf16>
  %y = model.layers 1 carry (%h = %x : tensor<?x64xbf16>) {
    %ks = model.weight ["layers.{layer}.k_scale"] : tensor<1xf32>
    // expected-error @+1 {{expected scales that state the format of their numbers, got none; try model-state-formats}}
    %c = model.cache scaled %ks, %ks : !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN, page = 64>, tensor<1xf32>, tensor<1xf32>
    model.yield %h : tensor<?x64xbf16>
  }
  model.return %y : tensor<?x64xbf16>
}
