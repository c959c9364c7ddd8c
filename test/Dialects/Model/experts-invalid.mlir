// RUN: modelc-opt %s --split-input-file --verify-diagnostics

model.graph @chosen(%l: tensor<?x8xf32>) {
  // expected-error@+1 {{expected 'top_k' of at most 8, one logit for each expert, got 9}}
  %i, %w = model.route %l softmax top_k 9 : tensor<?x8xf32> -> tensor<?x9xi32>, tensor<?x9xf32>
  model.return
}

// -----

model.graph @results(%l: tensor<?x8xf32>) {
  // expected-error@+1 {{expected 2 columns in both results, got 2 and 3}}
  %i, %w = model.route %l softmax top_k 2 : tensor<?x8xf32> -> tensor<?x2xi32>, tensor<?x3xf32>
  model.return
}

// -----

model.graph @correction(%l: tensor<?x8xf32>, %c: tensor<7xf32>) {
  // expected-error@+1 {{expected a correction for each of 8 experts, got 'tensor<7xf32>'}}
  %i, %w = model.route %l correction %c sigmoid top_k 2
      : tensor<?x8xf32>, tensor<7xf32> -> tensor<?x2xi32>, tensor<?x2xf32>
  model.return
}

// -----

model.graph @renormalised(%l: tensor<?x8xf32>) {
  // expected-error@+1 {{expected 'renormalised' to be finite and at least 0, got -1}}
  %i, %w = model.route %l softmax top_k 2 renormalised -1.0
      : tensor<?x8xf32> -> tensor<?x2xi32>, tensor<?x2xf32>
  model.return
}

// -----

model.graph @whole_groups(%l: tensor<?x8xf32>) {
  // expected-error@+1 {{expected groups of whole experts, got 8 experts in 3 groups}}
  %i, %w = model.route %l softmax top_k 2 groups <count = 3, kept = 1, score = max, mask = zero>
      : tensor<?x8xf32> -> tensor<?x2xi32>, tensor<?x2xf32>
  model.return
}

// -----

model.graph @pairs(%l: tensor<?x8xf32>) {
  // expected-error@+1 {{expected groups of two experts or more beside 'top_two', got one in each}}
  %i, %w = model.route %l sigmoid top_k 2
      groups <count = 8, kept = 2, score = top_two, mask = minus_infinity>
      : tensor<?x8xf32> -> tensor<?x2xi32>, tensor<?x2xf32>
  model.return
}

// -----

model.graph @few_groups(%l: tensor<?x8xf32>) {
  // expected-error@+1 {{expected to choose at most the 2 experts of the groups that are kept, got 'top_k' 3}}
  %i, %w = model.route %l softmax top_k 3 groups <count = 4, kept = 1, score = max, mask = zero>
      : tensor<?x8xf32> -> tensor<?x3xi32>, tensor<?x3xf32>
  model.return
}

// -----

model.graph @kept(%l: tensor<?x8xf32>) {
  // expected-error@+1 {{expected from 1 to 4 groups to be kept, got 5}}
  %i, %w = model.route %l softmax top_k 3 groups <count = 4, kept = 5, score = max, mask = zero>
      : tensor<?x8xf32> -> tensor<?x3xi32>, tensor<?x3xf32>
  model.return
}

// -----

model.graph @down(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %w: tensor<?x2xf32>,
    %gu: tensor<8x192x64xbf16>, %d: tensor<8x96x64xbf16>) {
  // expected-error@+1 {{expected gate and up to be 8 x 128 x 64, got 'tensor<8x192x64xbf16>'}}
  %y = model.experts %x, %i, %w, %gu, %d
      : tensor<?x64xbf16>, tensor<?x2xi32>, tensor<?x2xf32>, tensor<8x192x64xbf16>,
        tensor<8x96x64xbf16> -> tensor<?x64xbf16>
  model.return
}

// -----

model.graph @weights(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %w: tensor<?x3xf32>,
    %gu: tensor<8x192x64xbf16>, %d: tensor<8x64x96xbf16>) {
  // expected-error@+1 {{expected a weight for each of 2 experts of a token, got 'tensor<?x3xf32>'}}
  %y = model.experts %x, %i, %w, %gu, %d
      : tensor<?x64xbf16>, tensor<?x2xi32>, tensor<?x3xf32>, tensor<8x192x64xbf16>,
        tensor<8x64x96xbf16> -> tensor<?x64xbf16>
  model.return
}

// -----

model.graph @limits(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %w: tensor<?x2xf32>,
    %gu: tensor<8x192x64xbf16>, %d: tensor<8x64x96xbf16>) {
  // expected-error@+1 {{expected 'alpha' and 'limit' beside 'clamped_silu' and nothing else}}
  %y = model.experts %x, %i, %w, %gu, %d clamped_silu limit 7.0
      : tensor<?x64xbf16>, tensor<?x2xi32>, tensor<?x2xf32>, tensor<8x192x64xbf16>,
        tensor<8x64x96xbf16> -> tensor<?x64xbf16>
  model.return
}

// -----

model.graph @unscaled(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %w: tensor<?x2xf32>,
    %gu: tensor<8x192x64xf8E4M3FN>, %d: tensor<8x64x96xf8E4M3FN>) {
  // expected-error@+1 {{expected 'scaled' exactly where matrices have 8 bits or fewer, got 'tensor<8x192x64xf8E4M3FN>'}}
  %y = model.experts %x, %i, %w, %gu, %d
      : tensor<?x64xbf16>, tensor<?x2xi32>, tensor<?x2xf32>, tensor<8x192x64xf8E4M3FN>,
        tensor<8x64x96xf8E4M3FN> -> tensor<?x64xbf16>
  model.return
}

// -----

model.graph @latent(%k: tensor<?x80xbf16>, %batch: !model.batch,
    %cache: !model.cache<kv_heads = 1, head_dim = 80 latent 64, bf16>) {
  // expected-error@+1 {{expected a cache without 'latent', got}}
  %c = model.append %k, %k, %cache, %batch
      : tensor<?x80xbf16>, !model.cache<kv_heads = 1, head_dim = 80 latent 64, bf16>
  model.return
}

// -----

model.graph @values(%k: tensor<?x64xbf16>, %batch: !model.batch,
    %cache: !model.cache<kv_heads = 2, head_dim = 32, bf16>) {
  // expected-error@+1 {{expected a cache with 'latent', got}}
  %c = model.latent_append %k, %cache, %batch
      : tensor<?x64xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16>
  model.return
}

// -----

// expected-error@+1 {{expected one head with a 'latent' of fewer than its 64 columns, got 64 of 1 heads}}
model.graph @whole_latent(%cache: !model.cache<kv_heads = 1, head_dim = 64 latent 64, bf16>) {
  model.return
}

// -----

model.graph @expand(%q: tensor<?x192xbf16>, %w: tensor<255x64xbf16>, %batch: !model.batch,
    %cache: !model.cache<kv_heads = 1, head_dim = 80 latent 64, bf16>) {
  // expected-error@+1 {{expected 'expand' to make keys and values of whole heads of a latent of 64, got 'tensor<255x64xbf16>' for 192 columns of queries and 128 of results}}
  %y = model.latent_attention %q, %w, %cache, %batch scale 0.1
      : tensor<?x192xbf16>, tensor<255x64xbf16>,
        !model.cache<kv_heads = 1, head_dim = 80 latent 64, bf16> -> tensor<?x128xbf16>
  model.return
}

// -----

model.graph @sinks(%q: tensor<?x64xbf16>, %s: tensor<3xf32>, %batch: !model.batch,
    %cache: !model.cache<kv_heads = 2, head_dim = 32, bf16>) {
  // expected-error@+1 {{expected a sink for each of 2 query heads, got 'tensor<3xf32>'}}
  %y = model.attention %q, %cache, %batch sink %s
      : tensor<?x64xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16> sink tensor<3xf32>
  model.return
}

// -----

model.graph @both(%q: tensor<?x64xbf16>, %batch: !model.batch,
    %cache: !model.cache<kv_heads = 2, head_dim = 32, bf16>) {
  // expected-error@+1 {{expected 'window' or 'chunk', got both}}
  %y = model.attention %q, %cache, %batch window 4 chunk 8
      : tensor<?x64xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16>
  model.return
}

// -----

model.graph @rotated(%x: tensor<?x64xbf16>, %batch: !model.batch) {
  // expected-error@+1 {{expected to turn columns of heads of 32, got those up to 40}}
  %y = model.rope %x, %batch head_dim 32 rotated 16 first 24 theta 1.0e4 : tensor<?x64xbf16>
  model.return
}

// -----

model.graph @stretched(%x: tensor<?x64xbf16>, %batch: !model.batch) {
  // expected-error@+1 {{expected one of 'scaling', 'yarn' and 'stretched', got 2}}
  %y = model.rope %x, %batch head_dim 32 theta 1.0e4 yarn <factor = 40.0, beta_fast = 32.0,
      beta_slow = 1.0, original_context = 4096, magnitude = 1.0, truncate = true> stretched 2.0
      : tensor<?x64xbf16>
  model.return
}

// -----

model.graph @yarn(%x: tensor<?x64xbf16>, %batch: !model.batch) {
  // expected-error@+1 {{expected 0 < 'beta_slow' <= 'beta_fast', both finite, got 2}}
  %y = model.rope %x, %batch head_dim 32 theta 1.0e4 yarn <factor = 40.0, beta_fast = 1.0,
      beta_slow = 2.0, original_context = 4096, magnitude = 1.0, truncate = true>
      : tensor<?x64xbf16>
  model.return
}

// -----

model.graph @heads(%x: tensor<?x64xbf16>, %w: tensor<48xbf16>) {
  // expected-error@+1 {{expected whole heads of 48 columns, got 64}}
  %y = model.norm %x, %w eps 1.0e-6 head_dim 48
      : tensor<?x64xbf16>, tensor<48xbf16> -> tensor<?x64xbf16>
  model.return
}

// -----

model.graph @bare(%x: tensor<?x64xbf16>) {
  // expected-error@+1 {{expected a weight beside 'one_plus'}}
  %y = model.norm %x eps 1.0e-6 one_plus : tensor<?x64xbf16> -> tensor<?x64xbf16>
  model.return
}

// -----

model.graph @gate(%x: tensor<?x64xbf16>, %g: tensor<?x2xf32>) {
  // expected-error@+1 {{expected a gate of 1 or 64 columns, got 2}}
  %y = model.gate %x, %g : tensor<?x64xbf16>, tensor<?x2xf32>
  model.return
}

// -----

model.graph @concat(%x: tensor<?x64xbf16>) {
  // expected-error@+1 {{expected 128 columns of 'bf16', got 96 of 'bf16'}}
  %y = model.concat %x, %x : tensor<?x64xbf16>, tensor<?x64xbf16> -> tensor<?x96xbf16>
  model.return
}

// -----

model.graph @odd_pair(%x: tensor<?x64xbf16>, %batch: !model.batch) {
  // expected-error@+1 {{expected 'interleaved' pairs from an even column of heads of even size, got column 3 of 32}}
  %y = model.rope %x, %batch head_dim 32 rotated 16 first 3 interleaved theta 1.0e4 : tensor<?x64xbf16>
  model.return
}

// -----

model.graph @two_layers(%x: tensor<?x64xbf16>) {
  %y = model.layers 3 step 2 carry (%h = %x : tensor<?x64xbf16>) {
    // expected-error@+1 {{expected tensors of one layer in a weight, got "layers.{layer}.norm" and "layers.{layer+1}.norm"}}
    %a = model.weight ["layers.{layer}.norm", "layers.{layer+1}.norm"] : tensor<64xbf16>
    model.yield %h : tensor<?x64xbf16>
  }
  model.return
}

// -----

model.graph @third_cache(%x: tensor<?x64xbf16>) {
  %y = model.layers 3 step 2 carry (%h = %x : tensor<?x64xbf16>) {
    // expected-error@+1 {{expected the number of one of 2 layers that take turns, got 2}}
    %a = model.cache layer 2 : !model.cache<kv_heads = 2, head_dim = 32, bf16>
    model.yield %h : tensor<?x64xbf16>
  }
  model.return
}

// -----

model.graph @third(%x: tensor<?x64xbf16>) {
  %y = model.layers 3 step 2 carry (%h = %x : tensor<?x64xbf16>) {
    // expected-error@+1 {{expected '{layer}' and '{expert}' as the only placeholders in the name of a tensor, got 'layers.{layer+2}.norm'}}
    %a = model.weight ["layers.{layer+2}.norm"] : tensor<64xbf16>
    model.yield %h : tensor<?x64xbf16>
  }
  model.return
}

// -----

model.graph @stacked() {
  // expected-error@+1 {{expected a dimension of experts for 'e.{expert}.bias', got 'tensor<64xbf16>'}}
  %a = model.weight ["e.{expert}.bias"] : tensor<64xbf16>
  model.return
}
