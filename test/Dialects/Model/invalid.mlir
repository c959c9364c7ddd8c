// RUN: modelc-opt %s --split-input-file --verify-diagnostics

model.graph @return(%x: tensor<?x64xbf16>) -> tensor<?x64xf32> {
  // expected-error@+1 {{expected to return the results of the graph, 'tensor<?x64xf32>', got 'tensor<?x64xbf16>'}}
  model.return %x : tensor<?x64xbf16>
}

// -----

model.graph @yield(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %y = model.layers 3 carry (%h = %x : tensor<?x64xbf16>) {
    // expected-error@+1 {{expected to yield the carried values, 'tensor<?x64xbf16>', got}}
    model.yield
  }
  model.return %y : tensor<?x64xbf16>
}

// -----

model.graph @caches(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %y = model.layers 3 carry (%h = %x : tensor<?x64xbf16>) {
    // expected-note@+1 {{the first is here}}
    %a = model.cache : !model.cache<kv_heads = 2, head_dim = 32, bf16>
    // expected-error@+1 {{expected one cache in a layer, got a second}}
    %b = model.cache : !model.cache<kv_heads = 2, head_dim = 32, bf16>
    model.yield %h : tensor<?x64xbf16>
  }
  model.return %y : tensor<?x64xbf16>
}

// -----

model.graph @placeholder() -> tensor<64xbf16> {
  // expected-error@+1 {{expected '{layer}' in 'a.{layer}.b' only inside 'model.layers'}}
  %w = model.weight ["a.{layer}.b"] : tensor<64xbf16>
  model.return %w : tensor<64xbf16>
}

// -----

model.graph @weight_name() {
  // expected-error@+1 {{expected the name of a tensor in UTF-8, without a zero byte, got}}
  %w = model.weight ["a\FF"] : tensor<64xbf16>
  model.return
}

// -----

model.graph @weight_name() {
  // expected-error@+1 {{expected the name of a tensor in UTF-8, without a zero byte, got}}
  %w = model.weight ["a\00b"] : tensor<64xbf16>
  model.return
}

// -----

model.graph @unknown_placeholder() -> tensor<64xbf16> {
  // expected-error@+1 {{expected '{layer}' and '{expert}' as the only placeholders in the name of a tensor, got 'a.{rank}.b'}}
  %w = model.weight ["a.{rank}.b"] : tensor<64xbf16>
  model.return %w : tensor<64xbf16>
}

// -----

model.graph @cache_unscaled(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %y = model.layers 2 carry (%h = %x : tensor<?x64xbf16>) {
    // expected-error@+1 {{expected 'scaled' exactly where the cache has 8 bits, got '!model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN>'}}
    %a = model.cache : !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN>
    model.yield %h : tensor<?x64xbf16>
  }
  model.return %y : tensor<?x64xbf16>
}

// -----

model.graph @cache_scales(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %y = model.layers 2 carry (%h = %x : tensor<?x64xbf16>) {
    %s = model.weight ["{layer}.k_scale"] default 1.0 : tensor<2xf32>
    // expected-error@+1 {{expected one scale for the layer, tensor<1xf32>, got 'tensor<2xf32>'}}
    %a = model.cache scaled %s, %s : !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN>, tensor<2xf32>, tensor<2xf32>
    model.yield %h : tensor<?x64xbf16>
  }
  model.return %y : tensor<?x64xbf16>
}

// -----

model.graph @split() -> tensor<80xbf16> {
  // expected-error@+1 {{expected to split one of 1 dimensions, got dimension 1}}
  %w = model.weight ["a" split 1 of 2] : tensor<80xbf16>
  model.return %w : tensor<80xbf16>
}

// -----

model.graph @scales() -> tensor<80xbf16> {
  // expected-error@+1 {{expected scales to be a vector of f32, got 'tensor<80xbf16>'}}
  %w = model.weight ["a"] channel_scale : tensor<80xbf16>
  model.return %w : tensor<80xbf16>
}

// -----

model.graph @block_scales() -> tensor<80x2xbf16> {
  // expected-error@+1 {{expected scales of blocks to be a matrix of f8E8M0FNU, f8E4M3FN or f32, got 'tensor<80x2xbf16>'}}
  %w = model.weight ["a"] block_scale : tensor<80x2xbf16>
  model.return %w : tensor<80x2xbf16>
}

// -----

model.graph @embed(%t: tensor<?xi32>, %w: tensor<320x64xbf16>) -> tensor<?x32xbf16> {
  // expected-error@+1 {{expected rows of the table, 64 x 'bf16', got 32 x 'bf16'}}
  %x = model.embed %t, %w : tensor<?xi32>, tensor<320x64xbf16> -> tensor<?x32xbf16>
  model.return %x : tensor<?x32xbf16>
}

// -----

model.graph @norm_weight(%x: tensor<?x64xbf16>, %w: tensor<32xbf16>) -> tensor<?x64xbf16> {
  // expected-error@+1 {{expected a weight of 64 elements, one for each column, got 'tensor<32xbf16>'}}
  %y = model.norm %x, %w eps 1.0e-5 : tensor<?x64xbf16>, tensor<32xbf16> -> tensor<?x64xbf16>
  model.return %y : tensor<?x64xbf16>
}

// -----

model.graph @norm_sum(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>) -> tensor<?x64xbf16> {
  // expected-error@+1 {{expected 'sum' exactly where there is a 'residual'}}
  %y = model.norm %x, %w residual %x eps 1.0e-5
      : tensor<?x64xbf16>, tensor<64xbf16>, tensor<?x64xbf16> -> tensor<?x64xbf16>
  model.return %y : tensor<?x64xbf16>
}

// -----

model.graph @norm_scale(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>) -> tensor<?x64xf8E4M3FN> {
  // expected-error@+1 {{expected a scale exactly where the result has 8 bits or fewer, got a result of 'f8E4M3FN' without a scale}}
  %y = model.norm %x, %w eps 1.0e-5 : tensor<?x64xbf16>, tensor<64xbf16> -> tensor<?x64xf8E4M3FN>
  model.return %y : tensor<?x64xf8E4M3FN>
}

// -----

model.graph @linear_columns(%x: tensor<?x64xbf16>, %w: tensor<64x96xbf16>) -> tensor<?x96xbf16> {
  // expected-error@+1 {{expected a weight of 64 columns, as the input has, got 'tensor<64x96xbf16>'; a weight is [outputs, inputs]}}
  %y = model.linear %x, %w : tensor<?x64xbf16>, tensor<64x96xbf16> -> tensor<?x96xbf16>
  model.return %y : tensor<?x96xbf16>
}

// -----

model.graph @linear_types(%x: tensor<?x64xbf16>, %w: tensor<96x64xf8E4M3FN>) -> tensor<?x96xbf16> {
  // expected-error@+1 {{expected input and weight of one element type, or of 8 and fewer bits, got 'bf16' and 'f8E4M3FN'}}
  %y = model.linear %x, %w : tensor<?x64xbf16>, tensor<96x64xf8E4M3FN> -> tensor<?x96xbf16>
  model.return %y : tensor<?x96xbf16>
}

// -----

model.graph @linear_fine_blocks(%x: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>, %w: tensor<96x64xf4E2M1FN>, %t: tensor<96x2xf8E4M3FN>) -> tensor<?x96xbf16> {
  // expected-error@+1 {{expected a scale for each block of 16 columns of 'tensor<96x64xf4E2M1FN>', got 'tensor<96x2xf8E4M3FN>'}}
  %y = model.linear %x, %w scaled %s, %t : tensor<?x64xf4E2M1FN>, tensor<96x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>, tensor<96x2xf8E4M3FN> -> tensor<?x96xbf16>
  model.return %y : tensor<?x96xbf16>
}

// -----

model.graph @tensor_scale_of_rows(%x: tensor<?x64xbf16>, %t: tensor<1xf32>) -> tensor<?x64xf8E4M3FN> {
  // expected-error@+1 {{expected 'tensor_scaled' only beside scales of blocks of f8E4M3FN}}
  %y, %s = model.quantise %x tensor_scaled %t : tensor<?x64xbf16>, tensor<1xf32> -> tensor<?x64xf8E4M3FN> scale tensor<?xf32>
  model.return %y : tensor<?x64xf8E4M3FN>
}

// -----

model.graph @several_tensor_scales(%x: tensor<?x64xbf16>, %t: tensor<2xf32>) -> tensor<?x64xf4E2M1FN> {
  // expected-error@+1 {{expected one scale of all rows for 'tensor_scaled', got 'tensor<2xf32>'}}
  %y, %s = model.swiglu %x, %x tensor_scaled %t : tensor<?x64xbf16>, tensor<2xf32> -> tensor<?x64xf4E2M1FN> scale tensor<?x4xf8E4M3FN>
  model.return %y : tensor<?x64xf4E2M1FN>
}

// -----

model.graph @linear_tensor_scales(%x: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>, %w: tensor<96x64xf4E2M1FN>, %t: tensor<96x4xf8E4M3FN>, %xt: tensor<1xf32>, %wt: tensor<1xf32>) -> tensor<?x96xbf16> {
  // expected-error@+1 {{expected a scale of its tensor for each of 96 rows of the weight, got 'tensor<1xf32>'}}
  %y = model.linear %x, %w scaled %s, %t tensor_scaled %xt, %wt : tensor<?x64xf4E2M1FN>, tensor<96x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>, tensor<96x4xf8E4M3FN>, tensor<1xf32>, tensor<1xf32> -> tensor<?x96xbf16>
  model.return %y : tensor<?x96xbf16>
}

// -----

model.graph @tensor_scale_type() -> tensor<80x1xf32> {
  // expected-error@+1 {{expected scales to be a vector of f32, got 'tensor<80x1xf32>'}}
  %w = model.weight ["a"] tensor_scale : tensor<80x1xf32>
  model.return %w : tensor<80x1xf32>
}

// -----

model.graph @linear_types_of_scales(%x: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>, %w: tensor<96x64xf4E2M1FN>, %t: tensor<96x2xf8E8M0FNU>) -> tensor<?x96xbf16> {
  // expected-error@+1 {{expected scales of one type, got 'f8E4M3FN' and 'f8E8M0FNU'}}
  %y = model.linear %x, %w scaled %s, %t : tensor<?x64xf4E2M1FN>, tensor<96x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>, tensor<96x2xf8E8M0FNU> -> tensor<?x96xbf16>
  model.return %y : tensor<?x96xbf16>
}

// -----

model.graph @linear_blocks(%x: tensor<?x64xf4E2M1FN>, %s: tensor<?x2xf8E8M0FNU>, %w: tensor<96x64xf4E2M1FN>, %t: tensor<96x4xf8E8M0FNU>) -> tensor<?x96xbf16> {
  // expected-error@+1 {{expected a scale for each block of 32 columns of 'tensor<96x64xf4E2M1FN>', got 'tensor<96x4xf8E8M0FNU>'}}
  %y = model.linear %x, %w scaled %s, %t : tensor<?x64xf4E2M1FN>, tensor<96x64xf4E2M1FN>, tensor<?x2xf8E8M0FNU>, tensor<96x4xf8E8M0FNU> -> tensor<?x96xbf16>
  model.return %y : tensor<?x96xbf16>
}

// -----

model.graph @norm_blocks(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>) -> tensor<?x64xf4E2M1FN> {
  // expected-error@+1 {{expected a scale exactly where the result has 8 bits or fewer, got a result of 'f4E2M1FN' without a scale}}
  %y = model.norm %x, %w eps 1.0e-5 : tensor<?x64xbf16>, tensor<64xbf16> -> tensor<?x64xf4E2M1FN>
  model.return %y : tensor<?x64xf4E2M1FN>
}

// -----

model.graph @norm_block_size(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>) -> tensor<?x64xf4E2M1FN> {
  // expected-error@+1 {{expected a scale for each block of 32 columns of 'tensor<?x64xf4E2M1FN>', got 'tensor<?x4xf8E8M0FNU>'}}
  %y, %s = model.norm %x, %w eps 1.0e-5 : tensor<?x64xbf16>, tensor<64xbf16> -> tensor<?x64xf4E2M1FN> scale tensor<?x4xf8E8M0FNU>
  model.return %y : tensor<?x64xf4E2M1FN>
}

// -----

model.graph @norm_tensor_scaled(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>, %t: tensor<1xf32>) -> tensor<?x64xf8E4M3FN> {
  // expected-error@+1 {{expected 'tensor_scaled' only beside scales of blocks of f8E4M3FN}}
  %y, %s = model.norm %x, %w tensor_scaled %t eps 1.0e-5 : tensor<?x64xbf16>, tensor<64xbf16>, tensor<1xf32> -> tensor<?x64xf8E4M3FN> scale tensor<?xf32>
  model.return %y : tensor<?x64xf8E4M3FN>
}

// -----

model.graph @linear_unscaled(%x: tensor<?x64xf8E4M3FN>, %w: tensor<96x64xf8E4M3FN>) -> tensor<?x96xbf16> {
  // expected-error@+1 {{expected 'scaled' exactly where input and weight have 8 bits or fewer, got 'f8E4M3FN'}}
  %y = model.linear %x, %w : tensor<?x64xf8E4M3FN>, tensor<96x64xf8E4M3FN> -> tensor<?x96xbf16>
  model.return %y : tensor<?x96xbf16>
}

// -----

model.graph @linear_swiglu(%x: tensor<?x64xbf16>, %w: tensor<97x64xbf16>) -> tensor<?x48xbf16> {
  // expected-error@+1 {{expected as many rows of up as of gate for 'swiglu', got 97 rows in all}}
  %y = model.linear %x, %w swiglu : tensor<?x64xbf16>, tensor<97x64xbf16> -> tensor<?x48xbf16>
  model.return %y : tensor<?x48xbf16>
}

// -----

model.graph @linear_bias(%x: tensor<?x64xbf16>, %w: tensor<96x64xbf16>, %b: tensor<64xbf16>) -> tensor<?x96xbf16> {
  // expected-error@+1 {{expected a bias of 96 elements, got 'tensor<64xbf16>'}}
  %y = model.linear %x, %w bias %b
      : tensor<?x64xbf16>, tensor<96x64xbf16>, tensor<64xbf16> -> tensor<?x96xbf16>
  model.return %y : tensor<?x96xbf16>
}

// -----

model.graph @linear_result(%x: tensor<?x64xbf16>, %w: tensor<96x64xbf16>) -> tensor<?x48xbf16> {
  // expected-error@+1 {{expected 96 columns in the result, got 48}}
  %y = model.linear %x, %w : tensor<?x64xbf16>, tensor<96x64xbf16> -> tensor<?x48xbf16>
  model.return %y : tensor<?x48xbf16>
}

// -----

model.graph @rope(%x: tensor<?x72xbf16>, %batch: !model.batch) -> tensor<?x72xbf16> {
  // expected-error@+1 {{expected whole heads of 32 columns, got 72}}
  %y = model.rope %x, %batch head_dim 32 theta 1.0e4 : tensor<?x72xbf16>
  model.return %y : tensor<?x72xbf16>
}

// -----

model.graph @append(%k: tensor<?x128xbf16>, %batch: !model.batch,
    %cache: !model.cache<kv_heads = 2, head_dim = 32, bf16>) -> tensor<?x128xbf16> {
  // expected-error@+1 {{expected keys and values of 2 x 32 = 64 columns, as the cache has, got 128}}
  %c = model.append %k, %k, %cache, %batch
      : tensor<?x128xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16>
  model.return %k : tensor<?x128xbf16>
}

// -----

model.graph @rope_append(%x: tensor<?x256xbf16>, %batch: !model.batch,
    %cache: !model.cache<kv_heads = 2, head_dim = 32, bf16>) -> tensor<?x64xbf16> {
  // expected-error@+1 {{expected 64 + 2 x 64 columns of queries, keys and values, got 256}}
  %q, %c = model.rope_append %x, %cache, %batch theta 1.0e4
      : tensor<?x256xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16> -> tensor<?x64xbf16>
  model.return %q : tensor<?x64xbf16>
}

// -----

model.graph @one_norm(%x: tensor<?x256xbf16>, %batch: !model.batch, %w: tensor<32xbf16>,
    %cache: !model.cache<kv_heads = 2, head_dim = 32, bf16>) -> tensor<?x128xbf16> {
  // expected-error@+1 {{expected norms of queries and of keys, with 'eps', or neither}}
  %q, %c = model.rope_append %x, %cache, %batch one_plus theta 1.0e4
      : tensor<?x256xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16> -> tensor<?x128xbf16>
  model.return %q : tensor<?x128xbf16>
}

// -----

model.graph @wide_norm(%x: tensor<?x256xbf16>, %batch: !model.batch, %w: tensor<32xbf16>, %v: tensor<128xbf16>,
    %cache: !model.cache<kv_heads = 2, head_dim = 32, bf16>) -> tensor<?x128xbf16> {
  // expected-error@+1 {{expected norms of heads of 32 columns, got 'tensor<128xbf16>'}}
  %q, %c = model.rope_append %x, %cache, %batch normed %v, %w eps 1.0e-6 theta 1.0e4
      : tensor<?x256xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16>
      normed tensor<128xbf16>, tensor<32xbf16> -> tensor<?x128xbf16>
  model.return %q : tensor<?x128xbf16>
}

// -----

model.graph @attention(%q: tensor<?x96xbf16>, %batch: !model.batch,
    %cache: !model.cache<kv_heads = 2, head_dim = 32, bf16>) -> tensor<?x96xbf16> {
  // expected-error@+1 {{expected query heads in 2 equal groups, one for each KV head, got 3 heads}}
  %y = model.attention %q, %cache, %batch
      : tensor<?x96xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16>
  model.return %y : tensor<?x96xbf16>
}

// -----

model.graph @wide_cache(%q: tensor<?x64xbf16>, %batch: !model.batch, %qs: tensor<1xf32>,
    %cache: !model.cache<kv_heads = 2, head_dim = 32, bf16>) -> tensor<?x64xbf16> {
  // expected-error @below {{expected 'scaled' only beside a cache of 8 bits, got '!model.cache<kv_heads = 2, head_dim = 32, bf16>'}}
  %y = model.attention %q, %cache, %batch scaled %qs
      : tensor<?x64xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16>, tensor<1xf32>
  model.return %y : tensor<?x64xbf16>
}

// -----

model.graph @scales(%q: tensor<?x64xbf16>, %batch: !model.batch, %qs: tensor<2xf32>,
    %cache: !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN>) -> tensor<?x64xbf16> {
  // expected-error @below {{expected one scale of all queries, got 'tensor<2xf32>'}}
  %y = model.attention %q, %cache, %batch scaled %qs
      : tensor<?x64xbf16>, !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN>, tensor<2xf32>
  model.return %y : tensor<?x64xbf16>
}

// -----

model.graph @window(%q: tensor<?x64xbf16>, %batch: !model.batch,
    %cache: !model.cache<kv_heads = 2, head_dim = 32, bf16>) -> tensor<?x64xbf16> {
  // expected-error@+1 {{attribute 'window' failed to satisfy constraint}}
  %y = model.attention %q, %cache, %batch window 0
      : tensor<?x64xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16>
  model.return %y : tensor<?x64xbf16>
}

// -----

// expected-error@+1 {{expected a cache of bf16, f16, f32 or f8E4M3FN, got 'i8'}}
model.graph @cache_type(%cache: !model.cache<kv_heads = 2, head_dim = 32, i8>) {
  model.return
}

// -----

model.graph @greedy(%x: tensor<?x320xbf16>, %batch: !model.batch) -> tensor<?xi32> {
  // expected-error@+1 {{expected 'top_k', 'top_p' and 'temperature' only with 'random' sampling}}
  %t = model.sample %x, %batch greedy top_k 4 : tensor<?x320xbf16> -> tensor<?xi32>
  model.return %t : tensor<?xi32>
}

// -----

model.graph @top_k(%x: tensor<?x320xbf16>, %batch: !model.batch) -> tensor<?xi32> {
  // expected-error@+1 {{expected 'top_k' of at most 320, the size of the vocabulary, got 400}}
  %t = model.sample %x, %batch random top_k 400 : tensor<?x320xbf16> -> tensor<?xi32>
  model.return %t : tensor<?xi32>
}

// -----

model.graph @temperature(%x: tensor<?x320xbf16>, %batch: !model.batch) -> tensor<?xi32> {
  // expected-error@+1 {{expected a 'temperature' above 0, got 0.000000e+00; use 'greedy' for 0}}
  %t = model.sample %x, %batch random temperature 0.0 : tensor<?x320xbf16> -> tensor<?xi32>
  model.return %t : tensor<?xi32>
}

// -----

model.graph @alone(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // expected-error@+1 {{expected a graph with at least 2 ranks along 'tp' around a collective, got 1}}
  %y = model.all_reduce %x over tp : tensor<?x64xbf16>
  model.return %y : tensor<?x64xbf16>
}

// -----

model.graph @gather(%x: tensor<?x80xbf16>) -> tensor<?x160xbf16> attributes {mesh = #model.mesh<tp = 4>} {
  // expected-error@+1 {{expected 4 x 80 columns of 'bf16', got 160 of 'bf16'}}
  %y = model.all_gather %x over tp : tensor<?x80xbf16> -> tensor<?x160xbf16>
  model.return %y : tensor<?x160xbf16>
}

// -----

model.graph @scaling(%q: tensor<?x64xbf16>, %batch: !model.batch) -> tensor<?x64xbf16> {
  // expected-error@+1 {{expected 0 < 'low_freq_factor' <= 'high_freq_factor', both finite, got 4.000000e+00 and 1.000000e+00}}
  %z = model.rope %q, %batch head_dim 32 theta 5.0e5 scaling <factor = 8.0, low_freq_factor = 4.0, high_freq_factor = 1.0, original_context = 8192> : tensor<?x64xbf16>
  model.return %z : tensor<?x64xbf16>
}

// -----

model.graph @shrunk(%q: tensor<?x64xbf16>, %batch: !model.batch) -> tensor<?x64xbf16> {
  // expected-error@+1 {{expected a finite 'factor' of at least 1, got 5.000000e-01}}
  %z = model.rope %q, %batch head_dim 32 theta 5.0e5 scaling <factor = 0.5, low_freq_factor = 1.0, high_freq_factor = 4.0, original_context = 8192> : tensor<?x64xbf16>
  model.return %z : tensor<?x64xbf16>
}

// -----

model.graph @original(%q: tensor<?x64xbf16>, %batch: !model.batch) -> tensor<?x64xbf16> attributes {max_context = 4096 : i64} {
  // expected-error@+1 {{expected an 'original_context' of at most the 4096 tokens of 'max_context', got 8192}}
  %z = model.rope %q, %batch head_dim 32 theta 5.0e5 scaling <factor = 8.0, low_freq_factor = 1.0, high_freq_factor = 4.0, original_context = 8192> : tensor<?x64xbf16>
  model.return %z : tensor<?x64xbf16>
}

// -----

model.graph @theta(%q: tensor<?x64xbf16>, %batch: !model.batch) -> tensor<?x64xbf16> {
  // expected-error@+1 {{expected a finite 'theta' above 0, got 0.000000e+00}}
  %z = model.rope %q, %batch head_dim 32 theta 0.0 : tensor<?x64xbf16>
  model.return %z : tensor<?x64xbf16>
}

// -----

model.graph @fused_theta(%qkv: tensor<?x256xbf16>, %batch: !model.batch,
    %cache: !model.cache<kv_heads = 2, head_dim = 32, bf16>) -> tensor<?x128xbf16> {
  // expected-error@+1 {{expected a finite 'theta' above 0, got -1.000000e+04}}
  %q, %c = model.rope_append %qkv, %cache, %batch theta -1.0e4
      : tensor<?x256xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16> -> tensor<?x128xbf16>
  model.return %q : tensor<?x128xbf16>
}

// -----

model.graph @groups(%x: tensor<?x256xf8E4M3FN>, %xs: tensor<?x2xf32>, %w: tensor<384x256xf8E4M3FN>, %ws: tensor<384x2xf32>) -> tensor<?x384xbf16> {
  // expected-error@+1 {{expected a scale for each of 3 rows of the weight, or blocks of them, got 'tensor<384x2xf32>'}}
  %y = model.linear %x, %w scaled %xs, %ws : tensor<?x256xf8E4M3FN>, tensor<384x256xf8E4M3FN>, tensor<?x2xf32>, tensor<384x2xf32> -> tensor<?x384xbf16>
  model.return %y : tensor<?x384xbf16>
}

// -----

// Counts of their bytes would not fit 64 bits.
model.graph @numbers(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %y = model.layers 268435456 carry (%h = %x : tensor<?x64xbf16>) {
    // expected-error@+1 {{expected at most 70368744177664 numbers in all layers, got 'tensor<8192x64xbf16>' in 268435456 of them}}
    %w = model.weight ["layers.{layer}.w"] : tensor<8192x64xbf16>
    model.yield %h : tensor<?x64xbf16>
  }
  model.return %y : tensor<?x64xbf16>
}

// -----

model.graph @unused_last(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?xi32> {
  %w = model.weight ["w"] : tensor<320x64xbf16>
  %x = model.embed %tokens, %w : tensor<?xi32>, tensor<320x64xbf16> -> tensor<?x64xbf16>
  // expected-error@+1 {{expected the head to read what 'last' makes, one row for each sequence; nothing reads it}}
  %y = model.last %x, %batch : tensor<?x64xbf16>
  %z = model.linear %x, %w : tensor<?x64xbf16>, tensor<320x64xbf16> -> tensor<?x320xbf16>
  %t = model.sample %z, %batch greedy : tensor<?x320xbf16> -> tensor<?xi32>
  model.return %t : tensor<?xi32>
}

// -----

model.graph @last_beside(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?xi32> {
  %w = model.weight ["w"] : tensor<320x64xbf16>
  %x = model.embed %tokens, %w : tensor<?xi32>, tensor<320x64xbf16> -> tensor<?x64xbf16>
  %y = model.last %x, %batch : tensor<?x64xbf16>
  // expected-error@+1 {{expected values with one row for each token or with one for each sequence (behind 'last'), got both}}
  %s = model.add %x, %y : tensor<?x64xbf16>
  %z = model.linear %s, %w : tensor<?x64xbf16>, tensor<320x64xbf16> -> tensor<?x320xbf16>
  %t = model.sample %z, %batch greedy : tensor<?x320xbf16> -> tensor<?xi32>
  model.return %t : tensor<?xi32>
}

// -----

model.graph @last_elsewhere(%tokens: tensor<?xi32>, %batch: !model.batch) -> (tensor<?xi32>, tensor<?x64xbf16>) {
  %w = model.weight ["w"] : tensor<320x64xbf16>
  %x = model.embed %tokens, %w : tensor<?xi32>, tensor<320x64xbf16> -> tensor<?x64xbf16>
  %y = model.last %x, %batch : tensor<?x64xbf16>
  %z = model.linear %x, %w : tensor<?x64xbf16>, tensor<320x64xbf16> -> tensor<?x320xbf16>
  // expected-error@+1 {{expected logits with one row for each sequence, got one for each token; try 'last' before the head}}
  %t = model.sample %z, %batch greedy : tensor<?x320xbf16> -> tensor<?xi32>
  model.return %t, %y : tensor<?xi32>, tensor<?x64xbf16>
}

// -----

model.graph @no_last(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?xi32> attributes {phase = #model.phase<prefill>} {
  %w = model.weight ["w"] : tensor<320x64xbf16>
  %x = model.embed %tokens, %w : tensor<?xi32>, tensor<320x64xbf16> -> tensor<?x64xbf16>
  %z = model.linear %x, %w : tensor<?x64xbf16>, tensor<320x64xbf16> -> tensor<?x320xbf16>
  // expected-error@+1 {{expected logits with one row for each sequence, got one for each token}}
  %t = model.sample %z, %batch greedy : tensor<?x320xbf16> -> tensor<?xi32>
  model.return %t : tensor<?xi32>
}

// -----

model.graph @last_twice(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?x64xbf16> {
  %w = model.weight ["w"] : tensor<320x64xbf16>
  %x = model.embed %tokens, %w : tensor<?xi32>, tensor<320x64xbf16> -> tensor<?x64xbf16>
  %y = model.last %x, %batch : tensor<?x64xbf16>
  // expected-error@+1 {{expected values with one row for each token, got one for each sequence; try to put it before 'last'}}
  %z = model.last %y, %batch : tensor<?x64xbf16>
  model.return %z : tensor<?x64xbf16>
}

// -----

model.graph @last_in_layers(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?x64xbf16> {
  %w = model.weight ["w"] : tensor<320x64xbf16>
  %x = model.embed %tokens, %w : tensor<?xi32>, tensor<320x64xbf16> -> tensor<?x64xbf16>
  // expected-error@+1 {{expected layers that carry one row for each token, got one for each sequence; try 'last' behind the layers}}
  %y = model.layers 2 carry (%a = %x : tensor<?x64xbf16>) {
    %b = model.last %a, %batch : tensor<?x64xbf16>
    model.yield %b : tensor<?x64xbf16>
  }
  model.return %y : tensor<?x64xbf16>
}

// -----

model.graph @two_shapes(%x: tensor<?x64xbf16>) -> tensor<?x128xbf16> {
  // expected-note@+1 {{the first is read here}}
  %v = model.weight ["w"] : tensor<64x64xbf16>
  %y = model.linear %x, %v : tensor<?x64xbf16>, tensor<64x64xbf16> -> tensor<?x64xbf16>
  // expected-error@+1 {{expected 'w' to have one shape, got 64 x 64 and 128 x 64}}
  %w = model.weight ["w"] : tensor<128x64xbf16>
  %z = model.linear %y, %w : tensor<?x64xbf16>, tensor<128x64xbf16> -> tensor<?x128xbf16>
  model.return %z : tensor<?x128xbf16>
}

// -----

model.graph @axis(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> attributes {mesh = #model.mesh<tp = 4>} {
  // expected-error@+1 {{expected a graph with at least 2 ranks along 'ep' around a collective, got 1}}
  %y = model.gather_rows %x over ep : tensor<?x64xbf16>
  model.return %y : tensor<?x64xbf16>
}

// -----

// expected-error@+1 {{expected at least 1 rank along an axis, got 0}}
model.graph @none(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> attributes {mesh = #model.mesh<tp = 0>} {
  model.return %x : tensor<?x64xbf16>
}

// -----

// expected-error@+1 {{expected a mesh of at most 268435456 ranks}}
model.graph @many(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> attributes {mesh = #model.mesh<tp = 65536, dp = 65536>} {
  model.return %x : tensor<?x64xbf16>
}

// -----

// expected-error@+1 {{duplicate or unknown struct parameter name: xp}}
model.graph @unknown(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> attributes {mesh = #model.mesh<xp = 2>} {
  model.return %x : tensor<?x64xbf16>
}

// -----

model.graph @head_dim(%x: tensor<?x64xbf16>) -> tensor<?x128xbf16> {
  %w = model.weight ["q"] : tensor<128x64xbf16>
  // expected-error@+1 {{expected 'head_dim' beside the roles 'heads' and 'kv_heads', or 'row', got role 'heads' without one}}
  %q = model.linear %x, %w role heads : tensor<?x64xbf16>, tensor<128x64xbf16> -> tensor<?x128xbf16>
  model.return %q : tensor<?x128xbf16>
}

// -----

model.graph @no_heads(%x: tensor<?x64xbf16>) -> tensor<?x128xbf16> {
  %w = model.weight ["q"] : tensor<128x64xbf16>
  // expected-error@+1 {{expected 'head_dim' beside the roles 'heads' and 'kv_heads', or 'row', got role 'column' with one}}
  %q = model.linear %x, %w role column head_dim 64 : tensor<?x64xbf16>, tensor<128x64xbf16> -> tensor<?x128xbf16>
  model.return %q : tensor<?x128xbf16>
}

// -----

model.graph @whole_heads(%x: tensor<?x64xbf16>) -> tensor<?x128xbf16> {
  %w = model.weight ["q"] : tensor<128x64xbf16>
  // expected-error@+1 {{expected whole heads of 48 columns, got 128}}
  %q = model.linear %x, %w role heads head_dim 48 : tensor<?x64xbf16>, tensor<128x64xbf16> -> tensor<?x128xbf16>
  model.return %q : tensor<?x128xbf16>
}

// -----

model.graph @cut_twice() -> tensor<128x64xbf16> {
  // expected-error@+1 {{expected one split over 'tp', got a second}}
  %w = model.weight ["q" split 0 of 2 split 1 of 2] : tensor<128x64xbf16>
  model.return %w : tensor<128x64xbf16>
}

// -----

model.graph @padding() -> tensor<128x64xbf16> {
  // expected-error@+1 {{expected less padding than rows, got 256 of 'tensor<128x64xbf16>'}}
  %w = model.weight ["q" padded 256 split 0 of 2] : tensor<128x64xbf16>
  model.return %w : tensor<128x64xbf16>
}

// -----

model.graph @words(%x: tensor<?x320xbf16>, %batch: !model.batch) -> tensor<?xi32> {
  // expected-error@+1 {{expected 'words' of at most 320, the columns of logits, got 321}}
  %t = model.sample %x, %batch greedy words 321 : tensor<?x320xbf16> -> tensor<?xi32>
  model.return %t : tensor<?xi32>
}

// -----

model.graph @few_words(%x: tensor<?x320xbf16>, %batch: !model.batch) -> tensor<?xi32> {
  // expected-error@+1 {{expected 'top_k' of at most 310, the size of the vocabulary, got 311}}
  %t = model.sample %x, %batch random words 310 top_k 311 : tensor<?x320xbf16> -> tensor<?xi32>
  model.return %t : tensor<?xi32>
}

// -----

model.graph @joined_strangers(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // expected-error@+1 {{expected a linear or attention and 'quantise', a linear and 'rope_append', or 'all_reduce' and a norm, got 'model.add' and 'model.add'}}
  %j = model.joined {
    %y = model.add %x, %x : tensor<?x64xbf16>
    %z = model.add %y, %x : tensor<?x64xbf16>
    model.yield %z : tensor<?x64xbf16>
  } : tensor<?x64xbf16>
  model.return %j : tensor<?x64xbf16>
}

// -----

model.graph @joined_one(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // expected-error@+1 {{expected two ops and what they yield, got 2 ops}}
  %j = model.joined {
    %y = model.add %x, %x : tensor<?x64xbf16>
    model.yield %y : tensor<?x64xbf16>
  } : tensor<?x64xbf16>
  model.return %j : tensor<?x64xbf16>
}

// -----

model.graph @joined_apart(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x64xf8E4M3FN> {
  // expected-error@+1 {{expected 'model.quantise' alone to read what 'model.linear' makes, first of all}}
  %q, %s = model.joined {
    %y = model.linear %x, %w : tensor<?x64xbf16>, tensor<64x64xbf16> -> tensor<?x64xbf16>
    %a, %b = model.quantise %x : tensor<?x64xbf16> -> tensor<?x64xf8E4M3FN> scale tensor<?xf32>
    model.yield %a, %b : tensor<?x64xf8E4M3FN>, tensor<?xf32>
  } : tensor<?x64xf8E4M3FN>, tensor<?xf32>
  model.return %q : tensor<?x64xf8E4M3FN>
}

// -----

model.graph @joined_yields(%x: tensor<?x64xbf16>, %w: tensor<64x64xbf16>) -> tensor<?x64xf8E4M3FN> {
  // expected-error@+1 {{expected to yield the results of 'model.quantise', of the types of its own}}
  %q = model.joined {
    %y = model.linear %x, %w : tensor<?x64xbf16>, tensor<64x64xbf16> -> tensor<?x64xbf16>
    %a, %b = model.quantise %y : tensor<?x64xbf16> -> tensor<?x64xf8E4M3FN> scale tensor<?xf32>
    model.yield %a : tensor<?x64xf8E4M3FN>
  } : tensor<?x64xf8E4M3FN>
  model.return %q : tensor<?x64xf8E4M3FN>
}

// -----

model.graph @other_format(%x: tensor<?x64xf8E4M3FN>, %xs: tensor<?xf32>, %ws: tensor<96xf32>) -> tensor<?x96xbf16> {
  // expected-note@+1 {{the weight is here}}
  %w = model.weight ["w"] format <f8E4M3FN parts 2> : tensor<96x64xf8E4M3FN>
  // expected-error@+1 {{expected a weight of format #model.format<f8E4M3FN>, got #model.format<f8E4M3FN parts 2>}}
  %y = model.linear %x, %w scaled %xs, %ws : tensor<?x64xf8E4M3FN>, tensor<96x64xf8E4M3FN>, tensor<?xf32>, tensor<96xf32> -> tensor<?x96xbf16>
  model.return %y : tensor<?x96xbf16>
}

// -----

model.graph @no_format(%x: tensor<?x64xbf16>) -> tensor<?x96xbf16> {
  // expected-note@+1 {{the weight is here}}
  %w = model.weight ["w"] format <f8E4M3FN> : tensor<96x64xbf16>
  // expected-error@+1 {{expected a weight without a format, got #model.format<f8E4M3FN>}}
  %y = model.linear %x, %w : tensor<?x64xbf16>, tensor<96x64xbf16> -> tensor<?x96xbf16>
  model.return %y : tensor<?x96xbf16>
}

// -----

model.graph @narrow_queries(%q: tensor<?x128xf8E4M3FN>, %batch: !model.batch,
    %cache: !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN>) -> tensor<?x128xbf16> {
  // expected-error@+1 {{expected queries of 8 bits with 'scaled', as the cache has them, and a result of more, got}}
  %y = model.attention %q, %cache, %batch : tensor<?x128xf8E4M3FN>,
      !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN> -> tensor<?x128xbf16>
  model.return %y : tensor<?x128xbf16>
}

// -----

model.graph @other_queries(%qkv: tensor<?x256xbf16>, %batch: !model.batch, %qs: tensor<1xf32>,
    %cache: !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN>) -> tensor<?x128xbf16> {
  // expected-error@+1 {{expected queries of 'f8E4M3FN', got 'bf16'}}
  %q, %c = model.rope_append %qkv, %cache, %batch scaled %qs theta 1.0e4
      : tensor<?x256xbf16>, !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN>, tensor<1xf32> -> tensor<?x128xbf16>
  model.return %q : tensor<?x128xbf16>
}

// -----

model.graph @other_result(%q: tensor<?x128xbf16>, %batch: !model.batch,
    %cache: !model.cache<kv_heads = 2, head_dim = 32, bf16>) -> tensor<?x128xf32> {
  // expected-error@+1 {{expected a result of the type of the queries, 'tensor<?x128xbf16>', got 'tensor<?x128xf32>'}}
  %y = model.attention %q, %cache, %batch : tensor<?x128xbf16>,
      !model.cache<kv_heads = 2, head_dim = 32, bf16> -> tensor<?x128xf32>
  model.return %y : tensor<?x128xf32>
}

// -----

// expected-error@+1 {{'model.graph' op attribute 'mesh' failed to satisfy constraint}}
model.graph @attribute(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> attributes {mesh = 5} {
  model.return %x : tensor<?x64xbf16>
}
