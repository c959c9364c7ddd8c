// Ops of the model dialect: queries, keys and values of heads.

#ifndef DIALECTS_MODEL_MODELATTENTION_TD
#define DIALECTS_MODEL_MODELATTENTION_TD

include "dialects/Model/ModelStructure.td"

def Model_RopeOp : Model_Op<"rope",
    [Pure, Model_SharesColumns, AllTypesMatch<["x", "out"]>]> {
  let summary = "rotary position embedding";
  let description = [{
    Every head of `head_dim` columns is rotated in pairs of columns `(i, i +
    head_dim / 2)` by `position * theta^(-2 i / head_dim)`, with the frequencies
    stretched by `scaling` where given. Computed in f32.

    ```mlir
    model.graph @rope(%q: tensor<?x64xbf16>, %batch: !model.batch) -> tensor<?x64xbf16> {
      %y = model.rope %q, %batch head_dim 32 theta 1.0e4 : tensor<?x64xbf16>
      %z = model.rope %y, %batch head_dim 32 theta 5.0e5 scaling <factor = 8.0,
          low_freq_factor = 1.0, high_freq_factor = 4.0, original_context = 8192>
          : tensor<?x64xbf16>
      model.return %z : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins Model_Rows:$x, Model_BatchType:$batch,
      Model_Positive:$head_dim, F64Attr:$theta,
      OptionalAttr<Model_Llama3ScalingAttr>:$scaling);
  let results = (outs Model_Rows:$out);
  let assemblyFormat = [{
    $x `,` $batch `head_dim` $head_dim `theta` $theta (`scaling` $scaling^)?
    attr-dict `:` type($x)
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
    Model_SharesColumns, AllTypesMatch<["cache", "cacheOut"]>]> {
  let summary = "rope of queries and keys, keys and values into the cache";
  let description = [{
    `qkv` holds side by side the columns of all query heads, of all key heads,
    of all value heads. `q` is the queries, rotated as `model.rope` does; the keys,
    rotated too, and the values are written as `model.append` does. `scaled`: `q`
    is the numbers of 8 bits that `model.attention` would make of the queries with
    that scale.

    ```mlir
    model.graph @rope_append(%qkv: tensor<?x256xbf16>, %batch: !model.batch,
        %cache: !model.cache<kv_heads = 2, head_dim = 32, bf16>)
        -> tensor<?x128xbf16> {
      %q, %c = model.rope_append %qkv, %cache, %batch theta 1.0e4
          : tensor<?x256xbf16>, !model.cache<kv_heads = 2, head_dim = 32, bf16>
          -> tensor<?x128xbf16>
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
  let arguments = (ins Model_Rows:$qkv,
      Arg<Model_CacheType, "", [MemWrite]>:$cache, Model_BatchType:$batch,
      Optional<Model_Scales>:$q_scale, F64Attr:$theta,
      OptionalAttr<Model_Llama3ScalingAttr>:$scaling);
  let results = (outs Model_Rows:$q, Model_CacheType:$cacheOut);
  let assemblyFormat = [{
    $qkv `,` $cache `,` $batch (`scaled` $q_scale^)? `theta` $theta
    (`scaling` $scaling^)? attr-dict `:` type($qkv) `,` qualified(type($cache))
    (`,` type($q_scale)^)? `->` type($q)
  }];
  let extraClassDeclaration = [{
    /// Query heads on this rank.
    int64_t getHeads();
  }];
  let hasVerifier = 1;
}

def Model_AttentionOp : Model_Op<"attention", [Model_SharesColumns]> {
  let summary = "causal attention over the cache, with grouped queries";
  let description = [{
    Of each token and query head: softmax over the tokens of its own sequence at
    its own position and before of `q . k / sqrt(head_dim)`, times their values.
    Query heads share a KV head in groups of `heads / kv_heads`: head h reads KV
    head `h / group`. The new tokens' keys and values are in the cache already.
    With `window N` a query at position p sees only the keys p - N + 1 to p.

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
      Optional<Model_Scales>:$q_scale, OptionalAttr<Model_Positive>:$window);
  let results = (outs Model_Rows:$out);
  let assemblyFormat = [{
    $q `,` $cache `,` $batch (`scaled` $q_scale^)? (`window` $window^)? attr-dict
    `:` type($q) `,` qualified(type($cache)) (`,` type($q_scale)^)?
    `` custom<OutputType>(type($out), ref(type($q)))
  }];
  let extraClassDeclaration = [{
    /// Query heads on this rank.
    int64_t getHeads() {
      return getQ().getType().getDimSize(1) / getCache().getType().getHeadDim();
    }
  }];
  let hasVerifier = 1;
}

#endif // DIALECTS_MODEL_MODELATTENTION_TD
