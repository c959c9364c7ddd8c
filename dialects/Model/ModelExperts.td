// Ops of the model dialect: which experts a token goes to, and what they make.

#ifndef DIALECTS_MODEL_MODELEXPERTS_TD
#define DIALECTS_MODEL_MODELEXPERTS_TD

include "dialects/Model/ModelStructure.td"

def Model_Choices : 2DTensorOf<[I32]>;
def Model_ChoiceWeights : 2DTensorOf<[F32]>;
def Model_ExpertMatrices : 3DTensorOf<[BF16, F16, F32, F8E4M3FN, F6E2M3FN, F6E3M2FN, F4E2M1FN]>;
def Model_ExpertVectors : 2DTensorOf<[BF16, F16, F32]>;
/// Of rows of experts, or of blocks of rows.
def Model_ExpertScales
    : AnyTypeOf<[2DTensorOf<[F32]>, 3DTensorOf<[F32, F8E8M0FNU, F8E4M3FN]>]>;

def Model_RouteOp : Model_Op<"route", [Pure]> {
  let summary = "the experts of each token, and what their results are weighed by";
  let description = [{
    Of the logits of a router, one for each expert, come scores: `softmax` over all
    experts, `sigmoid` of each, or with `softmax_of_chosen` the logits themselves.
    Computed in f32. The `top_k` experts that score most are chosen, the lower
    number of equals; a `correction` is added to scores for the choice only, and
    `groups` leave some experts out of it. The weight of a chosen expert is its
    score without correction, with `softmax_of_chosen` the softmax over the logits
    that were chosen; `renormalised e` divides it by the sum of a token's weights
    plus e, and `scaled s` multiplies it by s at the end.

    ```mlir
    model.graph @route(%x: tensor<?x256xf32>, %c: tensor<256xf32>)
        -> (tensor<?x8xi32>, tensor<?x8xf32>) {
      %i, %w = model.route %x correction %c sigmoid top_k 8
          groups <count = 8, kept = 4, score = top_two, mask = minus_infinity>
          renormalised 1.0e-20 scaled 2.5
          : tensor<?x256xf32>, tensor<256xf32> -> tensor<?x8xi32>, tensor<?x8xf32>
      %j, %v = model.route %x softmax top_k 2
          : tensor<?x256xf32> -> tensor<?x2xi32>, tensor<?x2xf32>
      model.return %i, %w : tensor<?x8xi32>, tensor<?x8xf32>
    }
    ```
  }];
  let arguments = (ins Model_Rows:$logits, Optional<Model_Vector>:$correction,
      Model_Scoring:$scoring, Model_Positive:$top_k,
      OptionalAttr<Model_GroupsAttr>:$groups, OptionalAttr<F64Attr>:$renormalised,
      OptionalAttr<F64Attr>:$scaled);
  let results = (outs Model_Choices:$experts, Model_ChoiceWeights:$weights);
  let assemblyFormat = [{
    $logits (`correction` $correction^)? $scoring `top_k` $top_k (`groups` $groups^)?
    (`renormalised` $renormalised^)? (`scaled` $scaled^)? attr-dict
    `:` type(operands) `->` type($experts) `,` type($weights)
  }];
  let hasVerifier = 1;
}

def Model_ExpertsOp : Model_Op<"experts",
    [Pure, AttrSizedOperandSegments,
     DeclareOpInterfaceMethods<Model_ShardingInterface,
                               ["getSharding", "getDivisibles"]>]> {
  let summary = "each token through the experts chosen for it";
  let description = [{
    Of each token and each expert e in its row of `chosen`:
    `down[e] * (f(gate) . up)`, where `gate_up[e] * x` is the gate in its upper
    half and up in its lower, or with `interleaved` the gate in its even rows and up
    in the odd ones; the sum of these, each times its weight, is the row of the
    result. Sums are in f32, what is between the products is rounded to the type of
    `x`. With `weigh_inputs` it is `x` that is multiplied by the weight.

    f is SiLU or GELU, as in `model.swiglu`. `clamped_silu` is of the gate and up
    together: with gate at most `limit` and up from `-limit` to `limit`,
    `gate * sigmoid(alpha * gate) * (up + 1)`. A `bias` is added behind each
    product, that of down before the weight.

    With `scaled` matrices have 8 bits or fewer and scales, as those of
    `model.linear`; `inputs` is the type to which what they meet is quantised, as
    `model.quantise` does it.

    Ranks of `tp` have a part of the columns of each expert, ranks of `ep` some of
    the experts, in order: what each makes is added up.

    An expert that all tokens go through is a feed-forward beside this op; its
    result is added, behind a `model.gate` where it has one.

    ```mlir
    model.graph @experts(%x: tensor<?x64xbf16>, %i: tensor<?x2xi32>, %w: tensor<?x2xf32>)
        -> tensor<?x64xbf16> {
      %gu = model.weight ["experts.{expert}.gate.weight", "experts.{expert}.up.weight"]
          : tensor<8x192x64xbf16>
      %d = model.weight ["experts.{expert}.down.weight"] : tensor<8x64x96xbf16>
      %y = model.experts %x, %i, %w, %gu, %d
          : tensor<?x64xbf16>, tensor<?x2xi32>, tensor<?x2xf32>, tensor<8x192x64xbf16>,
            tensor<8x64x96xbf16> -> tensor<?x64xbf16>
      model.return %y : tensor<?x64xbf16>
    }
    model.graph @clamped(%x: tensor<?x64xbf16>, %i: tensor<?x4xi32>, %w: tensor<?x4xf32>,
        %gub: tensor<8x192xbf16>, %db: tensor<8x64xbf16>) -> tensor<?x64xbf16> {
      %gu = model.weight ["experts.gate_up_proj"] held <"mxfp4", data = "_blocks",
          scale = "_scales"> : tensor<8x192x64xbf16>
      %d = model.weight ["experts.down_proj"] : tensor<8x64x96xbf16>
      %y = model.experts %x, %i, %w, %gu, %d bias %gub, %db interleaved clamped_silu
          alpha 1.702 limit 7.0
          : tensor<?x64xbf16>, tensor<?x4xi32>, tensor<?x4xf32>, tensor<8x192x64xbf16>,
            tensor<8x64x96xbf16>, tensor<8x192xbf16>, tensor<8x64xbf16> -> tensor<?x64xbf16>
      model.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins Model_Rows:$x, Model_Choices:$chosen,
      Model_ChoiceWeights:$weights, Model_ExpertMatrices:$gate_up,
      Model_ExpertMatrices:$down, Optional<Model_ExpertScales>:$gate_up_scale,
      Optional<Model_ExpertScales>:$down_scale,
      Optional<Model_ExpertVectors>:$gate_up_tensor_scale,
      Optional<Model_ExpertVectors>:$down_tensor_scale,
      Optional<Model_ExpertVectors>:$gate_up_bias,
      Optional<Model_ExpertVectors>:$down_bias, UnitAttr:$interleaved,
      UnitAttr:$weigh_inputs,
      DefaultValuedAttr<Model_Gating, "Gating::Silu">:$gating,
      OptionalAttr<F64Attr>:$alpha, OptionalAttr<F64Attr>:$limit,
      OptionalAttr<TypeAttr>:$inputs);
  let results = (outs Model_Rows:$out);
  let assemblyFormat = [{
    $x `,` $chosen `,` $weights `,` $gate_up `,` $down
    (`scaled` $gate_up_scale^ `,` $down_scale)?
    (`tensor_scaled` $gate_up_tensor_scale^ `,` $down_tensor_scale)?
    (`bias` $gate_up_bias^ `,` $down_bias)? (`interleaved` $interleaved^)?
    (`weigh_inputs` $weigh_inputs^)? ($gating^)? (`alpha` $alpha^)? (`limit` $limit^)?
    (`inputs` $inputs^)? attr-dict `:` type(operands) `->` type($out)
  }];
  let extraClassDeclaration = [{
    /// How many experts there are, and how wide one is.
    int64_t getCount() { return getDown().getType().getDimSize(0); }
    int64_t getWidth() { return getDown().getType().getDimSize(2); }
    /// What the matrices and their scales are read as; null: as they are.
    FormatAttr getGateUpFormat();
    FormatAttr getDownFormat();
    /// How many a token goes through.
    int64_t getTopK() { return getChosen().getType().getDimSize(1); }
  }];
  let hasVerifier = 1;
}

#endif // DIALECTS_MODEL_MODELEXPERTS_TD
