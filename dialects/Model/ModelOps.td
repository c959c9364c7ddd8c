// Ops that compute.

#ifndef DIALECTS_MODEL_MODELOPS_TD
#define DIALECTS_MODEL_MODELOPS_TD

include "dialects/Model/ModelAttention.td"
include "dialects/Model/ModelCollectives.td"
include "dialects/Model/ModelExperts.td"
include "dialects/Model/ModelStructure.td"

def Model_EmbedOp : Model_Op<"embed", [Pure]> {
  let summary = "row of the table for each token";
  let description = [{
    With `times s` the row is multiplied by s, which is rounded to the type of the
    table first.

    ```mlir
    model.graph @embed(%tokens: tensor<?xi32>, %table: tensor<320x64xbf16>)
        -> tensor<?x64xbf16> {
      %x = model.embed %tokens, %table
          : tensor<?xi32>, tensor<320x64xbf16> -> tensor<?x64xbf16>
      %y = model.embed %tokens, %table times 8.0
          : tensor<?xi32>, tensor<320x64xbf16> -> tensor<?x64xbf16>
      model.return %x : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins Model_Tokens:$tokens, Model_Matrix:$table,
      OptionalAttr<F64Attr>:$times);
  let results = (outs Model_Rows:$out);
  let assemblyFormat = [{
    $tokens `,` $table (`times` $times^)? attr-dict `:` type(operands) `->` type($out)
  }];
  let hasVerifier = 1;
}

def Model_NormOp : Model_Op<"norm",
    [Pure, Model_SharesColumns, AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "RMS norm of each row";
  let description = [{
    `out = s / sqrt(mean(s * s) + eps) * weight` in f32, where `s` is `x`, or
    `x + residual` where there is one; then `sum` is `s`, rounded to the type
    of `x`, and that rounded value is what is normed. With `scale`, `out` has 8,
    6 or 4 bits, as in `model.quantise`.

    With `head_dim N` every N neighbouring columns are a row of their own, and the
    weight has N numbers. With `first N` only the first N columns of such a row are
    normed; the others are handed on. With `one_plus` the weight is 1 more than what
    the checkpoint holds. Without a weight it is 1.

    ```mlir
    model.graph @norm(%x: tensor<?x64xbf16>, %r: tensor<?x64xbf16>,
        %w: tensor<64xbf16>) -> (tensor<?x64xf8E4M3FN>, tensor<?xf32>, tensor<?x64xbf16>) {
      %y = model.norm %x, %w eps 1.0e-5
          : tensor<?x64xbf16>, tensor<64xbf16> -> tensor<?x64xbf16>
      %z, %scale, %sum = model.norm %y, %w residual %r eps 1.0e-5
          : tensor<?x64xbf16>, tensor<64xbf16>, tensor<?x64xbf16>
          -> tensor<?x64xf8E4M3FN> scale tensor<?xf32> sum tensor<?x64xbf16>
      model.return %z, %scale, %sum
          : tensor<?x64xf8E4M3FN>, tensor<?xf32>, tensor<?x64xbf16>
    }
    model.graph @of_heads(%x: tensor<?x64xbf16>, %w: tensor<32xbf16>,
        %v: tensor<48xbf16>) -> tensor<?x64xbf16> {
      %y = model.norm %x, %w eps 1.0e-6 head_dim 32 one_plus
          : tensor<?x64xbf16>, tensor<32xbf16> -> tensor<?x64xbf16>
      %z = model.norm %y eps 1.0e-6 head_dim 32 : tensor<?x64xbf16> -> tensor<?x64xbf16>
      %u = model.norm %z, %v eps 1.0e-6 first 48
          : tensor<?x64xbf16>, tensor<48xbf16> -> tensor<?x64xbf16>
      model.return %u : tensor<?x64xbf16>
    }
    model.graph @blocks(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>,
        %t: tensor<1xf32>) -> (tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>) {
      %y, %scale = model.norm %x, %w tensor_scaled %t eps 1.0e-5
          : tensor<?x64xbf16>, tensor<64xbf16>, tensor<1xf32>
          -> tensor<?x64xf4E2M1FN> scale tensor<?x4xf8E4M3FN>
      model.return %y, %scale : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
    }
    ```
  }];
  let arguments = (ins Model_Rows:$x, Optional<Model_Vector>:$weight,
      Optional<Model_Rows>:$residual, Optional<Model_Scales>:$tensor_scale,
      F64Attr:$eps, OptionalAttr<Model_Positive>:$head_dim,
      OptionalAttr<Model_Positive>:$normed, UnitAttr:$one_plus);
  let results = (outs Model_Rows:$out, Optional<Model_LinearScales>:$scale,
      Optional<Model_Rows>:$sum);
  let assemblyFormat = [{
    $x (`,` $weight^)? (`residual` $residual^)? (`tensor_scaled` $tensor_scale^)?
    `eps` $eps (`head_dim` $head_dim^)? (`first` $normed^)? (`one_plus` $one_plus^)? attr-dict `:` type(operands) `->` type($out) (`scale` type($scale)^)?
    (`sum` type($sum)^)?
  }];
  let extraClassDeclaration = [{
    /// Whether it norms each head, all of its columns, with a weight, and does
    /// no more.
    bool normsHeads() {
      return getHeadDim() && getWeight() && !getNormed() && !getResidual() &&
             !getScale() && !getSum();
    }
  }];
  let hasVerifier = 1;
}

def Model_LinearOp : Model_Op<"linear",
    [Pure, AttrSizedOperandSegments,
     DeclareOpInterfaceMethods<Model_ShardingInterface,
                               ["getSharding", "getDivisibles"]>]> {
  let summary = "rows times a weight, transposed";
  let description = [{
    `out = x * weight^T`, accumulated in f32, then in this order where given:
    multiplied by `x_scale[row] * weight_scale[column]` (8-bit `x` and
    `weight`), plus `bias`, SwiGLU, plus `residual`, and rounded once. Of 4-bit
    `x` and `weight` every block of 32 neighbours of a row (MXFP4) or 16 (NVFP4)
    has a scale, by which its numbers are multiplied first; beside a weight in
    MXFP4 `x` may have 8 bits and a scale for each row. The second scales of NVFP4
    are of whole tensors: what was accumulated is multiplied by
    `x_tensor_scale[0] * weight_tensor_scale[column]`. There is one for each
    column because the weight may be several tensors, one below the other.

    `swiglu`: the upper half of the weight's rows is the gate, the lower half the
    up projection; the result has half as many columns, `silu(gate) * up`.

    `role` says how ranks of `tp` share it, which changes nothing of what it
    computes:

    | role | each rank has |
    | --- | --- |
    | none, `replicated` | all of it |
    | `column` | a part of the outputs |
    | `row` | a part of the inputs; results are sums over the ranks. With `head_dim` inputs are heads of so many columns |
    | `heads` | whole heads of `head_dim` outputs, of queries |
    | `kv_heads` | the same of keys or values; where ranks outnumber heads, neighbours have the same one |
    | `vocabulary` | a part of the words that its outputs are scores of |

    ```mlir
    model.graph @roles(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
      %wq = model.weight ["q"] : tensor<128x64xbf16>
      %q = model.linear %x, %wq role heads head_dim 32
          : tensor<?x64xbf16>, tensor<128x64xbf16> -> tensor<?x128xbf16>
      %wo = model.weight ["o"] : tensor<64x128xbf16>
      %y = model.linear %q, %wo role row head_dim 32
          : tensor<?x128xbf16>, tensor<64x128xbf16> -> tensor<?x64xbf16>
      model.return %y : tensor<?x64xbf16>
    }
    model.graph @linear(%x: tensor<?x64xf8E4M3FN>, %xs: tensor<?xf32>,
        %r: tensor<?x96xbf16>) -> tensor<?x96xbf16> {
      %w = model.weight ["w"] stored bf16 : tensor<96x64xf8E4M3FN>
      %ws = model.weight ["w"] channel_scale : tensor<96xf32>
      %b = model.weight ["b"] : tensor<96xbf16>
      %y = model.linear %x, %w scaled %xs, %ws bias %b residual %r
          : tensor<?x64xf8E4M3FN>, tensor<96x64xf8E4M3FN>, tensor<?xf32>,
            tensor<96xf32>, tensor<96xbf16>, tensor<?x96xbf16> -> tensor<?x96xbf16>
      model.return %y : tensor<?x96xbf16>
    }
    ```
  }];
  let arguments = (ins Model_Rows:$x, Model_Matrix:$weight,
      Optional<Model_LinearScales>:$x_scale,
      Optional<Model_LinearScales>:$weight_scale,
      Optional<Model_Scales>:$x_tensor_scale,
      Optional<Model_Scales>:$weight_tensor_scale,
      Optional<Model_Vector>:$bias, Optional<Model_Rows>:$residual,
      UnitAttr:$swiglu,
      DefaultValuedAttr<Model_Role, "Role::Replicated">:$role,
      OptionalAttr<Model_Positive>:$head_dim);
  let results = (outs Model_Rows:$out);
  let builders = [OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$weight,
      CArg<"::mlir::Value", "{}">:$bias)>];
  let assemblyFormat = [{
    $x `,` $weight (`scaled` $x_scale^ `,` $weight_scale)?
    (`tensor_scaled` $x_tensor_scale^ `,` $weight_tensor_scale)? (`bias` $bias^)?
    (`swiglu` $swiglu^)? (`residual` $residual^)? (`role` $role^)?
    (`head_dim` $head_dim^)? attr-dict `:` type(operands) `->` type($out)
  }];
  let extraClassDeclaration = [{
    /// Columns of one row of the input: what is summed over.
    int64_t getInputs() { return getWeight().getType().getDimSize(1); }
    /// Rows of the weight; with `swiglu` twice the columns of the result.
    int64_t getOutputs() { return getWeight().getType().getDimSize(0); }
    /// That of the weight and its scales; null: it has none.
    FormatAttr getWeightFormat();
  }];
  let hasVerifier = 1;
}

def Model_SwigluOp : Model_Op<"swiglu",
    [Pure, Model_SharesColumns, AllTypesMatch<["gate", "up"]>]> {
  let summary = "silu(gate) * up";
  let description = [{
    Computed in f32. With `scale` the result has 8, 6 or 4 bits, as in
    `model.quantise`. With `gelu_tanh` the gate is put through GELU, as its
    approximation by tanh is defined, in place of SiLU.

    ```mlir
    model.graph @geglu(%g: tensor<?x96xbf16>, %u: tensor<?x96xbf16>)
        -> tensor<?x96xbf16> {
      %y = model.swiglu %g, %u gelu_tanh : tensor<?x96xbf16> -> tensor<?x96xbf16>
      model.return %y : tensor<?x96xbf16>
    }
    model.graph @swiglu(%g: tensor<?x96xbf16>, %u: tensor<?x96xbf16>)
        -> tensor<?x96xf8E4M3FN> {
      %y = model.swiglu %g, %u : tensor<?x96xbf16> -> tensor<?x96xbf16>
      %z, %scale = model.swiglu %y, %u
          : tensor<?x96xbf16> -> tensor<?x96xf8E4M3FN> scale tensor<?xf32>
      model.return %z : tensor<?x96xf8E4M3FN>
    }
    ```
  }];
  let arguments = (ins Model_Rows:$gate, Model_Rows:$up,
      Optional<Model_Scales>:$tensor_scale,
      DefaultValuedAttr<Model_Gating, "Gating::Silu">:$gating);
  let results = (outs Model_Rows:$out, Optional<Model_LinearScales>:$scale);
  let assemblyFormat = [{
    $gate `,` $up (`tensor_scaled` $tensor_scale^)? ($gating^)? attr-dict
    `:` type($gate) (`,` type($tensor_scale)^)? `->` type($out)
    (`scale` type($scale)^)?
  }];
  let hasVerifier = 1;
}

def Model_AddOp : Model_Op<"add",
    [Pure, Commutative, Model_SharesColumns, AllTypesMatch<["a", "b", "out"]>]> {
  let summary = "elementwise sum (a residual)";
  let description = [{
    ```mlir
    model.graph @add(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
      %y = model.add %x, %x : tensor<?x64xbf16>
      model.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins Model_Rows:$a, Model_Rows:$b);
  let results = (outs Model_Rows:$out);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($out)";
}

def Model_QuantiseOp : Model_Op<"quantise", [Pure, Model_SharesColumns]> {
  let summary = "rows to 8, 6 or 4 bits, with a scale for each row or block";
  let description = [{
    `scale` is the largest magnitude of the row over the largest finite number
    of the 8-bit type; `out = x / scale`, rounded to nearest even. A row of zeros,
    or of numbers so small that 1 / scale is infinite, has scale 1.

    To 6 or 4 bits every block of 32 neighbours has a scale (OCP MX): the largest
    power of two that is not above its largest magnitude, over the largest power
    of two of the type (4 of f4E2M1FN and f6E2M3FN, 16 of f6E3M2FN); numbers over
    the largest of the type (6, 7.5, 28) become that.

    With scales of f8E4M3FN every block of 16 has one (NVFP4): its largest
    magnitude over 6, over `tensor_scale`, rounded; numbers are divided by what it
    was rounded to, times `tensor_scale`. That second scale is one number of all
    rows, known before the run (calibrated): one that follows the run would need a
    pass over all rows before the first is stored. Without it, it is 1: scales of
    blocks reach from 2^-9 to 448, which holds largest magnitudes from 0.012 to
    2688.

    ```mlir
    model.graph @blocks(%x: tensor<?x64xbf16>, %w: tensor<96x64xf4E2M1FN>,
        %ws: tensor<96x2xf8E8M0FNU>) -> tensor<?x96xbf16> {
      %y, %scale = model.quantise %x
          : tensor<?x64xbf16> -> tensor<?x64xf4E2M1FN> scale tensor<?x2xf8E8M0FNU>
      %z = model.linear %y, %w scaled %scale, %ws
          : tensor<?x64xf4E2M1FN>, tensor<96x64xf4E2M1FN>, tensor<?x2xf8E8M0FNU>,
            tensor<96x2xf8E8M0FNU> -> tensor<?x96xbf16>
      model.return %z : tensor<?x96xbf16>
    }
    model.graph @quantise(%x: tensor<?x64xbf16>) -> tensor<?x64xf8E4M3FN> {
      %y, %scale = model.quantise %x
          : tensor<?x64xbf16> -> tensor<?x64xf8E4M3FN> scale tensor<?xf32>
      model.return %y : tensor<?x64xf8E4M3FN>
    }
    model.graph @two_scales(%x: tensor<?x64xbf16>, %xt: tensor<1xf32>,
        %w: tensor<96x64xf4E2M1FN>, %ws: tensor<96x4xf8E4M3FN>,
        %wt: tensor<96xf32>) -> tensor<?x96xbf16> {
      %y, %scale = model.quantise %x tensor_scaled %xt : tensor<?x64xbf16>, tensor<1xf32>
          -> tensor<?x64xf4E2M1FN> scale tensor<?x4xf8E4M3FN>
      %z = model.linear %y, %w scaled %scale, %ws tensor_scaled %xt, %wt
          : tensor<?x64xf4E2M1FN>, tensor<96x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>,
            tensor<96x4xf8E4M3FN>, tensor<1xf32>, tensor<96xf32> -> tensor<?x96xbf16>
      model.return %z : tensor<?x96xbf16>
    }
    ```
  }];
  let arguments = (ins Model_Rows:$x, Optional<Model_Scales>:$tensor_scale);
  let results = (outs Model_Rows:$out, Model_LinearScales:$scale);
  let assemblyFormat = [{
    $x (`tensor_scaled` $tensor_scale^)? attr-dict `:` type(operands)
    `->` type($out) `scale` type($scale)
  }];
  let hasVerifier = 1;
}

def Model_GateOp : Model_Op<"gate", [Pure, AllTypesMatch<["x", "out"]>]> {
  let summary = "x * sigmoid(gate)";
  let description = [{
    Computed in f32. The gate has a column for each of `x`, or one for all.

    ```mlir
    model.graph @gate(%x: tensor<?x64xbf16>, %g: tensor<?x1xf32>) -> tensor<?x64xbf16> {
      %y = model.gate %x, %g : tensor<?x64xbf16>, tensor<?x1xf32>
      model.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins Model_Rows:$x, Model_Rows:$gate);
  let results = (outs Model_Rows:$out);
  let assemblyFormat = "$x `,` $gate attr-dict `:` type($x) `,` type($gate)";
  let hasVerifier = 1;
}

def Model_ConcatOp : Model_Op<"concat", [Pure]> {
  let summary = "columns of the first value, then those of the second";
  let description = [{
    What a module reads that drafts the next token but one: the embedding of the
    next token and what the last layer made.

    ```mlir
    model.graph @concat(%a: tensor<?x64xbf16>, %b: tensor<?x32xbf16>) -> tensor<?x96xbf16> {
      %y = model.concat %a, %b : tensor<?x64xbf16>, tensor<?x32xbf16> -> tensor<?x96xbf16>
      model.return %y : tensor<?x96xbf16>
    }
    ```
  }];
  let arguments = (ins Model_Rows:$a, Model_Rows:$b);
  let results = (outs Model_Rows:$out);
  let assemblyFormat = "$a `,` $b attr-dict `:` type(operands) `->` type($out)";
  let hasVerifier = 1;
}

def Model_LastOp : Model_Op<"last", [Pure, AllTypesMatch<["x", "out"]>]> {
  let summary = "the row of the last token of each sequence";
  let description = [{
    One row for each sequence from here on. In a decode step this is `x` itself.

    ```mlir
    model.graph @last(%x: tensor<?x64xbf16>, %batch: !model.batch) -> tensor<?x64xbf16> {
      %y = model.last %x, %batch : tensor<?x64xbf16>
      model.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins Model_Rows:$x, Model_BatchType:$batch);
  let results = (outs Model_Rows:$out);
  let assemblyFormat = "$x `,` $batch attr-dict `:` type($x)";
}

def Model_SampleOp : Model_Op<"sample", [Pure]> {
  let summary = "the next token of each row of logits";
  let description = [{
    `greedy` takes the largest, the first of equals. `random` divides the logits
    by `temperature`, keeps the `top_k` largest, of those the fewest most probable
    whose probabilities sum to at least `top_p`, and draws one of these by the
    sequence's entry of `batch.draws`, in order of falling probability. With `words
    N` only the first N logits are of words, the others of padding, and never taken.

    ```mlir
    model.graph @sample(%x: tensor<?x320xbf16>, %batch: !model.batch) -> tensor<?xi32> {
      %a = model.sample %x, %batch greedy : tensor<?x320xbf16> -> tensor<?xi32>
      %p = model.sample %x, %batch greedy words 310 : tensor<?x320xbf16> -> tensor<?xi32>
      %b = model.sample %x, %batch random top_k 40 top_p 0.9 temperature 0.7
          : tensor<?x320xbf16> -> tensor<?xi32>
      model.return %b : tensor<?xi32>
    }
    ```
  }];
  let arguments = (ins Model_Rows:$logits, Model_BatchType:$batch,
      Model_Sampling:$sampling, OptionalAttr<Model_Positive>:$words,
      OptionalAttr<Model_Positive>:$top_k,
      OptionalAttr<F64Attr>:$top_p, OptionalAttr<F64Attr>:$temperature);
  let results = (outs Model_Tokens:$out);
  let extraClassDeclaration = [{
    /// Logits of a row that are of words.
    int64_t getWordCount() {
      return getWords().value_or(getLogits().getType().getDimSize(1));
    }
  }];
  let assemblyFormat = [{
    $logits `,` $batch $sampling (`words` $words^)? (`top_k` $top_k^)? (`top_p` $top_p^)?
    (`temperature` $temperature^)? attr-dict `:` type($logits) `->` type($out)
  }];
  let hasVerifier = 1;
}

#endif // DIALECTS_MODEL_MODELOPS_TD
