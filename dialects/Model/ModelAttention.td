// Ops of the model dialect: queries, keys and values of heads.

#ifndef DIALECTS_MODEL_MODELATTENTION_TD
#define DIALECTS_MODEL_MODELATTENTION_TD

include "dialects/Model/ModelStructure.td"

/// How columns of heads are turned: arguments, and how they are written.
class Model_TurnedColumns {
  dag arguments = (ins F64Attr:$theta,
      OptionalAttr<Model_Llama3ScalingAttr>:$scaling,
      OptionalAttr<Model_YarnAttr>:$yarn, OptionalAttr<F64Attr>:$stretched,
      OptionalAttr<Model_Positive>:$rotated,
      ConfinedAttr<DefaultValuedAttr<I64Attr, "0">, [IntNonNegative]>:$first,
      UnitAttr:$interleaved);
  string format = [{
    (`rotated` $rotated^)? (`first` $first^)? (`interleaved` $interleaved^)?
    `theta` $theta (`scaling` $scaling^)? (`yarn` $yarn^)?
    (`stretched` $stretched^)?
  }];
}
def Model_Turned : Model_TurnedColumns;

def Model_RopeOp : Model_Op<"rope",
    [Pure, Model_SharesColumns, AllTypesMatch<["x", "out"]>]> {
  let summary = "rotary position embedding";
  let description = [{
    Every head of `head_dim` columns is rotated in pairs of columns `(i, i +
    head_dim / 2)` by `position * theta^(-2 i / head_dim)`, with the frequencies
    stretched by `scaling` where given, as `yarn` says, or all divided by what
    `stretched` says. Computed in f32.

    `rotated N` turns N columns of each head only, those from `first` on: what is
    said of the head is then said of these, and others are handed on. Pairs that are
    `interleaved` are columns `(2 i, 2 i + 1)`.

    ```mlir
    model.graph @rope(%q: tensor<?x64xbf16>, %batch: !model.batch) -> tensor<?x64xbf16> {
      %y = model.rope %q, %batch head_dim 32 theta 1.0e4 : tensor<?x64xbf16>
      %z = model.rope %y, %batch head_dim 32 theta 5.0e5 scaling <factor = 8.0,
          low_freq_factor = 1.0, high_freq_factor = 4.0, original_context = 8192>
          : tensor<?x64xbf16>
      %u = model.rope %z, %batch head_dim 32 rotated 16 first 16 interleaved theta 1.0e4
          yarn <factor = 40.0, beta_fast = 32.0, beta_slow = 1.0, original_context = 4096,
          magnitude = 1.0, truncate = true> : tensor<?x64xbf16>
      %v = model.rope %u, %batch head_dim 32 theta 1.0e6 stretched 8.0 : tensor<?x64xbf16>
      model.return %v : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = !con((ins Model_Rows:$x, Model_BatchType:$batch,
      Model_Positive:$head_dim), Model_Turned.arguments);
  let results = (outs Model_Rows:$out);
  let assemblyFormat = !strconcat("$x `,` $batch `head_dim` $head_dim",
      Model_Turned.format, "attr-dict `:` type($x)");
  let builders = [OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$batch,
      "int64_t":$headDim, "double":$theta)>];
  let extraClassDeclaration = [{
    /// Columns of each head that are turned.
    int64_t getRotatedColumns() {
      return static_cast<int64_t>(getRotated().value_or(getHeadDim()));
    }
  }];
  let hasVerifier = 1;
}

def Model_AppendOp : Model_Op<"append", [
    Model_SharesColumns, AllTypesMatch<["k", "v"]>, AllTypesMatch<["cache", "out"]>]> {
  let summary = "write the new keys and values to the cache";
  let description = [{
    The row of each token goes to the place that its position and the pages of
    its sequence name. The result is the cache after that.

    ```mlir
    model.graph @append(%k: tensor<?x64xbf16>, %batch: !model.batch,
        %cache: !model.cache<kv_heads = 2, head_dim = 32, bf16>)
        -> !model.cache<kv_heads = 2, head_dim = 32, bf16> {
      %c = model.append %k, %k, %cache, %batch
          : tensor<?x64xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16>
      model.return %c : !model.cache<kv_heads = 2, head_dim = 32, bf16>
    }
    ```
  }];
  let arguments = (ins Model_Rows:$k, Model_Rows:$v,
      Arg<Model_CacheType, "", [MemWrite]>:$cache, Model_BatchType:$batch);
  let results = (outs Model_CacheType:$out);
  let assemblyFormat = [{
    $k `,` $v `,` $cache `,` $batch attr-dict `:` type($k) `,` qualified(type($cache))
  }];
  let hasVerifier = 1;
}

def Model_RopeAppendOp : Model_Op<"rope_append", [
    Model_SharesColumns, AttrSizedOperandSegments,
    AllTypesMatch<["cache", "cacheOut"]>]> {
  let summary = "rope of queries and keys, keys and values into the cache";
  let description = [{
    `qkv` holds side by side the columns of all query heads, of all key heads,
    of all value heads. `q` is the queries, rotated as `model.rope` with the same
    words does; the keys, rotated too, and the values are written as `model.append` does. `scaled`: `q`
    is the numbers of 8 bits that `model.attention` would make of the queries with
    that scale. `normed`: heads of queries and keys are normed first, as
    `model.norm` does with `head_dim`, in f32 up to the rotated number.

    ```mlir
    model.graph @rope_append(%qkv: tensor<?x256xbf16>, %batch: !model.batch,
        %cache: !model.cache<kv_heads = 2, head_dim = 32, bf16>)
        -> tensor<?x128xbf16> {
      %q, %c = model.rope_append %qkv, %cache, %batch theta 1.0e4
          : tensor<?x256xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16>
          -> tensor<?x128xbf16>
      model.return %q : tensor<?x128xbf16>
    }
    model.graph @normed(%qkv: tensor<?x256xbf16>, %batch: !model.batch, %w: tensor<32xbf16>,
        %cache: !model.cache<kv_heads = 2, head_dim = 32, bf16>)
        -> tensor<?x128xbf16> {
      %q, %c = model.rope_append %qkv, %cache, %batch normed %w, %w eps 1.0e-6 one_plus
          theta 1.0e4 : tensor<?x256xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16>
          normed tensor<32xbf16>, tensor<32xbf16> -> tensor<?x128xbf16>
      model.return %q : tensor<?x128xbf16>
    }
    model.graph @eight_bits(%qkv: tensor<?x256xbf16>, %batch: !model.batch, %qs: tensor<1xf32>,
        %cache: !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN>) -> tensor<?x128xbf16> {
      %q, %c = model.rope_append %qkv, %cache, %batch scaled %qs theta 1.0e4
          : tensor<?x256xbf16>, !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN>,
            tensor<1xf32> -> tensor<?x128xf8E4M3FN>
      %y = model.attention %q, %c, %batch scaled %qs : tensor<?x128xf8E4M3FN>,
          !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN>, tensor<1xf32>
          -> tensor<?x128xbf16>
      model.return %y : tensor<?x128xbf16>
    }
    ```
  }];
  let arguments = !con((ins Model_Rows:$qkv,
      Arg<Model_CacheType, "", [MemWrite]>:$cache, Model_BatchType:$batch,
      Optional<Model_Scales>:$q_scale, Optional<Model_Vector>:$q_norm,
      Optional<Model_Vector>:$k_norm, OptionalAttr<F64Attr>:$eps,
      UnitAttr:$one_plus), Model_Turned.arguments);
  let results = (outs Model_Rows:$q, Model_CacheType:$cacheOut);
  let assemblyFormat = !strconcat([{
    $qkv `,` $cache `,` $batch (`scaled` $q_scale^)?
    (`normed` $q_norm^ `,` $k_norm `eps` $eps)? (`one_plus` $one_plus^)?
  }], Model_Turned.format, [{
    attr-dict `:` type($qkv) `,` qualified(type($cache)) (`,` type($q_scale)^)?
    (`normed` type($q_norm)^ `,` type($k_norm))? `->` type($q)
  }]);
  let extraClassDeclaration = [{
    int64_t getHeadDim() { return getCache().getType().getHeadDim(); }
    /// Columns of each head that are turned.
    int64_t getRotatedColumns() {
      return static_cast<int64_t>(getRotated().value_or(getHeadDim()));
    }
    /// Query heads on this rank.
    int64_t getHeads();
  }];
  let hasVerifier = 1;
}

def Model_AttentionOp : Model_Op<"attention",
    [Model_SharesColumns, AttrSizedOperandSegments]> {
  let summary = "causal attention over the cache, with grouped queries";
  let description = [{
    Of each token and query head: softmax over the tokens of its own sequence at
    its own position and before of `q . k / sqrt(head_dim)`, times their values.
    Query heads share a KV head in groups of `heads / kv_heads`: head h reads KV
    head `h / group`. The new tokens' keys and values are in the cache already.
    With `window N` a query at position p sees only the keys p - N + 1 to p; with
    `chunk N` only those from the largest multiple of N that is not above p on.

    `scale s` stands in place of `1 / sqrt(head_dim)`; `temperature` multiplies
    queries further along the context by more. With `soft_cap c` a score x, behind
    the scale, becomes `c * tanh(x / c)`. A `sink` is one more score for each query
    head, to which no scale applies and whose probability is dropped: it is in the
    sum of the softmax alone.

    `scaled`: products are of numbers of 8 bits, as the cache holds them. Queries
    are divided by that scale, one number that is known before the run, rounded
    once and saturated; they may come so already. Powers of the softmax, over their sum only behind the
    product, are rounded to the same type where the machine multiplies values of
    8 bits as they lie in the cache, and else values are converted.

    ```mlir
    model.graph @attention(%q: tensor<?x128xbf16>, %batch: !model.batch,
        %cache: !model.cache<kv_heads = 2, head_dim = 32, bf16>) -> tensor<?x128xbf16> {
      %y = model.attention %q, %cache, %batch
          : tensor<?x128xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16>
      %z = model.attention %y, %cache, %batch window 128
          : tensor<?x128xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16>
      model.return %z : tensor<?x128xbf16>
    }
    model.graph @sinks(%q: tensor<?x128xbf16>, %batch: !model.batch, %s: tensor<4xf32>,
        %cache: !model.cache<kv_heads = 2, head_dim = 32, bf16>) -> tensor<?x128xbf16> {
      %y = model.attention %q, %cache, %batch sink %s window 128
          : tensor<?x128xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16> sink tensor<4xf32>
      %z = model.attention %y, %cache, %batch chunk 8192 scale 0.25 soft_cap 50.0
          temperature <scale = 0.1, every = 8192>
          : tensor<?x128xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16>
      model.return %z : tensor<?x128xbf16>
    }
    model.graph @eight_bits(%q: tensor<?x128xbf16>, %batch: !model.batch, %qs: tensor<1xf32>,
        %cache: !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN>) -> tensor<?x128xbf16> {
      %y = model.attention %q, %cache, %batch scaled %qs : tensor<?x128xbf16>,
          !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN>, tensor<1xf32>
      model.return %y : tensor<?x128xbf16>
    }
    ```
  }];
  let arguments = (ins Model_Rows:$q,
      Arg<Model_CacheType, "", [MemRead]>:$cache, Model_BatchType:$batch,
      Optional<Model_Scales>:$q_scale, Optional<Model_Vector>:$sink,
      OptionalAttr<Model_Positive>:$window, OptionalAttr<Model_Positive>:$chunk,
      OptionalAttr<F64Attr>:$scale, OptionalAttr<F64Attr>:$soft_cap,
      OptionalAttr<Model_TemperatureAttr>:$temperature);
  let results = (outs Model_Rows:$out);
  let assemblyFormat = [{
    $q `,` $cache `,` $batch (`scaled` $q_scale^)? (`sink` $sink^)?
    (`window` $window^)? (`chunk` $chunk^)? (`scale` $scale^)?
    (`soft_cap` $soft_cap^)? (`temperature` $temperature^)? attr-dict
    `:` type($q) `,` qualified(type($cache)) (`,` type($q_scale)^)?
    (`sink` type($sink)^)? `` custom<OutputType>(type($out), ref(type($q)))
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$q, "::mlir::Value":$cache,
      "::mlir::Value":$batch, CArg<"::mlir::Value", "{}">:$sink)>];
  let extraClassDeclaration = [{
    /// Query heads on this rank.
    int64_t getHeads() {
      return getQ().getType().getDimSize(1) / getCache().getType().getHeadDim();
    }
  }];
  let hasVerifier = 1;
}

def Model_LatentAppendOp : Model_Op<"latent_append",
    [AllTypesMatch<["cache", "out"]>]> {
  let summary = "write what all heads share of the new tokens to the cache";
  let description = [{
    The row of each token, the latent columns and behind them the key that is
    rotated, goes to the place that `model.append` names. A cache of 8 bits holds
    it over `k_scale`.

    ```mlir
    model.graph @latent_append(%kv: tensor<?x80xbf16>, %batch: !model.batch,
        %cache: !model.cache<kv_heads = 1, head_dim = 80 latent 64, bf16>)
        -> !model.cache<kv_heads = 1, head_dim = 80 latent 64, bf16> {
      %c = model.latent_append %kv, %cache, %batch
          : tensor<?x80xbf16>, !model.cache<kv_heads = 1, head_dim = 80 latent 64, bf16>
      model.return %c : !model.cache<kv_heads = 1, head_dim = 80 latent 64, bf16>
    }
    ```
  }];
  let arguments = (ins Model_Rows:$kv,
      Arg<Model_CacheType, "", [MemWrite]>:$cache, Model_BatchType:$batch);
  let results = (outs Model_CacheType:$out);
  let assemblyFormat = [{
    $kv `,` $cache `,` $batch attr-dict `:` type($kv) `,` qualified(type($cache))
  }];
  let hasVerifier = 1;
}

def Model_LatentAttentionOp : Model_Op<"latent_attention", [Model_SharesColumns]> {
  let summary = "causal attention over a latent cache";
  let description = [{
    A head of `q` is the columns that meet keys made of the latent, then those that
    meet the rotated key, which all heads share. Of each head the rows of `expand`
    are those that make its keys of a latent, then those that make its values:
    `k = [expand_k latent ; rotated]`, `v = expand_v latent`, and from there on as
    `model.attention`, with scores times `scale`.

    `absorbed` is the same sum in another order: queries are multiplied by
    `expand_k` and meet the latents themselves, of which `expand_v` makes the result
    behind the softmax. The cache is read once for all heads then, which suits few
    queries a sequence; the expanded form has a third of the products, which suits
    many. `model-bind` chooses; kernels compute both absorbed.

    ```mlir
    model.graph @latent(%q: tensor<?x192xbf16>, %w: tensor<256x64xbf16>,
        %batch: !model.batch,
        %cache: !model.cache<kv_heads = 1, head_dim = 80 latent 64, bf16>)
        -> tensor<?x128xbf16> {
      %y = model.latent_attention %q, %w, %cache, %batch scale 0.144
          : tensor<?x192xbf16>, tensor<256x64xbf16>,
            !model.cache<kv_heads = 1, head_dim = 80 latent 64, bf16> -> tensor<?x128xbf16>
      %z = model.latent_attention %q, %w, %cache, %batch absorbed scale 0.144
          : tensor<?x192xbf16>, tensor<256x64xbf16>,
            !model.cache<kv_heads = 1, head_dim = 80 latent 64, bf16> -> tensor<?x128xbf16>
      model.return %z : tensor<?x128xbf16>
    }
    ```
  }];
  let arguments = (ins Model_Rows:$q, Model_Matrix:$expand,
      Arg<Model_CacheType, "", [MemRead]>:$cache, Model_BatchType:$batch,
      UnitAttr:$absorbed, F64Attr:$scale);
  let results = (outs Model_Rows:$out);
  let assemblyFormat = [{
    $q `,` $expand `,` $cache `,` $batch (`absorbed` $absorbed^)?
    `scale` $scale attr-dict `:` type($q) `,` type($expand) `,`
    qualified(type($cache)) `->` type($out)
  }];
  let extraClassDeclaration = [{
    /// Query heads on this rank, which follow from the sizes.
    int64_t getHeads();
    /// Columns of a head of values, and of the part of a key that the latent makes.
    int64_t getValueDim();
    int64_t getKeyDim();
  }];
  let hasVerifier = 1;
}

#endif // DIALECTS_MODEL_MODELATTENTION_TD
