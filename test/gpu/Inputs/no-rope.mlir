// Attention whose queries and keys are not rotated.
module {
  model.graph @no_rope(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?xi32> attributes {max_context = 256 : i64} {
    %embed_tokens = model.weight ["model.embed_tokens.weight"] : tensor<320x128xbf16>
    %embedded = model.embed %tokens, %embed_tokens : tensor<?xi32>, tensor<320x128xbf16> -> tensor<?x128xbf16>
    %y = model.layers 3 carry (%x = %embedded : tensor<?x128xbf16>) {
      %input_layernorm = model.weight ["model.layers.{layer}.input_layernorm.weight"] : tensor<128xbf16>
      %normed = model.norm %x, %input_layernorm eps 1.000000e-05 : tensor<?x128xbf16>, tensor<128xbf16> -> tensor<?x128xbf16>
      %self_attn_q = model.weight ["model.layers.{layer}.self_attn.q_proj.weight"] : tensor<256x128xbf16>
      %q = model.linear %normed, %self_attn_q : tensor<?x128xbf16>, tensor<256x128xbf16> -> tensor<?x256xbf16>
      %self_attn_k = model.weight ["model.layers.{layer}.self_attn.k_proj.weight"] : tensor<128x128xbf16>
      %k = model.linear %normed, %self_attn_k : tensor<?x128xbf16>, tensor<128x128xbf16> -> tensor<?x128xbf16>
      %self_attn_v = model.weight ["model.layers.{layer}.self_attn.v_proj.weight"] : tensor<128x128xbf16>
      %v = model.linear %normed, %self_attn_v : tensor<?x128xbf16>, tensor<128x128xbf16> -> tensor<?x128xbf16>
      %cache = model.cache : !model.cache<kv_heads = 2, head_dim = 64, bf16>
      %new = model.append %k, %v, %cache, %batch : tensor<?x128xbf16>, !model.cache<kv_heads = 2, head_dim = 64, bf16>
      %a = model.attention %q, %new, %batch : tensor<?x256xbf16>, !model.cache<kv_heads = 2, head_dim = 64, bf16>
      %self_attn_o = model.weight ["model.layers.{layer}.self_attn.o_proj.weight"] : tensor<128x256xbf16>
      %o = model.linear %a, %self_attn_o : tensor<?x256xbf16>, tensor<128x256xbf16> -> tensor<?x128xbf16>
      %h = model.add %x, %o : tensor<?x128xbf16>
      %post_attention_layernorm = model.weight ["model.layers.{layer}.post_attention_layernorm.weight"] : tensor<128xbf16>
      %inner = model.norm %h, %post_attention_layernorm eps 1.000000e-05 : tensor<?x128xbf16>, tensor<128xbf16> -> tensor<?x128xbf16>
      %mlp_gate = model.weight ["model.layers.{layer}.mlp.gate_proj.weight"] : tensor<384x128xbf16>
      %gate = model.linear %inner, %mlp_gate : tensor<?x128xbf16>, tensor<384x128xbf16> -> tensor<?x384xbf16>
      %mlp_up = model.weight ["model.layers.{layer}.mlp.up_proj.weight"] : tensor<384x128xbf16>
      %up = model.linear %inner, %mlp_up : tensor<?x128xbf16>, tensor<384x128xbf16> -> tensor<?x384xbf16>
      %gated = model.swiglu %gate, %up : tensor<?x384xbf16> -> tensor<?x384xbf16>
      %mlp_down = model.weight ["model.layers.{layer}.mlp.down_proj.weight"] : tensor<128x384xbf16>
      %down = model.linear %gated, %mlp_down : tensor<?x384xbf16>, tensor<128x384xbf16> -> tensor<?x128xbf16>
      %sum = model.add %h, %down : tensor<?x128xbf16>
      model.yield %sum : tensor<?x128xbf16>
    }
    %end = model.last %y, %batch : tensor<?x128xbf16>
    %norm = model.weight ["model.norm.weight"] : tensor<128xbf16>
    %out = model.norm %end, %norm eps 1.000000e-05 : tensor<?x128xbf16>, tensor<128xbf16> -> tensor<?x128xbf16>
    %lm_head = model.weight ["lm_head.weight"] : tensor<320x128xbf16>
    %logits = model.linear %out, %lm_head : tensor<?x128xbf16>, tensor<320x128xbf16> -> tensor<?x320xbf16>
    %next = model.sample %logits, %batch greedy : tensor<?x320xbf16> -> tensor<?xi32>
    model.return %next : tensor<?xi32>
  }
}
