// RUN: modelc-opt %s --model-bind=phase=prefill | FileCheck %s --check-prefix=PREFILL --implicit-check-not=absorbed
// RUN: modelc-opt %s --model-bind=phase=decode | FileCheck %s --check-prefix=DECODE
// RUN: modelc-opt %s --model-shard=tp=2 | FileCheck %s --check-prefix=TENSOR

// A decode step multiplies queries by what expands keys, a prefill expands them. Ranks have whole heads of it.

// DECODE-LABEL: model.graph @latent
// PREFILL: model.latent_attention {{.*}} scale
// DECODE: model.latent_attention {{.*}} absorbed scale
// TENSOR-LABEL: model.graph @latent
// TENSOR: model.weight ["q" split 0 of 2] : tensor<96x64xbf16>
// TENSOR: model.weight ["expand" split 0 of 2] : tensor<128x64xbf16>
// TENSOR: model.latent_attention {{.*}} : tensor<?x96xbf16>, tensor<128x64xbf16>, {{.*}} -> tensor<?x64xbf16>
// TENSOR: model.weight ["o" split 1 of 2] : tensor<64x64xbf16>
model.graph @latent(%x: tensor<?x64xbf16>, %kv: tensor<?x80xbf16>, %batch: !model.batch) -> tensor<?x64xbf16> {
  %z = model.layers 1 carry (%h = %x : tensor<?x64xbf16>) {
    %wq = model.weight ["q"] : tensor<192x64xbf16>
    %q = model.linear %h, %wq role heads head_dim 48
        : tensor<?x64xbf16>, tensor<192x64xbf16> -> tensor<?x192xbf16>
    %cache = model.cache : !model.cache<kv_heads = 1, head_dim = 80 latent 64, bf16>
    %c = model.latent_append %kv, %cache, %batch
        : tensor<?x80xbf16>, !model.cache<kv_heads = 1, head_dim = 80 latent 64, bf16>
    %w = model.weight ["expand"] : tensor<256x64xbf16>
    %a = model.latent_attention %q, %w, %c, %batch scale 0.125
        : tensor<?x192xbf16>, tensor<256x64xbf16>,
          !model.cache<kv_heads = 1, head_dim = 80 latent 64, bf16> -> tensor<?x128xbf16>
    %wo = model.weight ["o"] : tensor<64x128xbf16>
    %y = model.linear %a, %wo role row head_dim 32
        : tensor<?x128xbf16>, tensor<64x128xbf16> -> tensor<?x64xbf16>
    model.yield %y : tensor<?x64xbf16>
  }
  model.return %z : tensor<?x64xbf16>
}
