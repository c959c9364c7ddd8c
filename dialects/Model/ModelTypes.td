// The model dialect, its types and its attributes.

#ifndef DIALECTS_MODEL_MODELTYPES_TD
#define DIALECTS_MODEL_MODELTYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/EnumAttr.td"

def Model_Dialect : Dialect {
  let name = "model";
  let cppNamespace = "::modelc::model";
  let summary = "what a large language model computes, on whole tensors";
  let description = [{
    One step of a transformer: embed the tokens, run the layers, sample the next
    tokens. Ops say *what* is computed and name no machine, no tile and no
    kernel. Tensors are builtin: `tensor<?x4096xbf16>` is one row for each token
    of the step. Weights are `[outputs, inputs]`, as checkpoints store them.

    Identical layers are stated once, in a `model.layers` region with a count.
    What a step knows about its sequences (positions, lengths, pages of the KV
    cache) is one value of type `!model.batch`.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

class Model_Type<string name, string typeMnemonic>
    : TypeDef<Model_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Model_BatchType : Model_Type<"Batch", "batch"> {
  let summary = "what one step knows about its sequences";
  let description = [{
    The tokens of a step are packed: all tokens of sequence 0, then all of
    sequence 1, and so on, without padding. A batch is these arrays:

    | array | type | meaning |
    | --- | --- | --- |
    | `positions` | i32[tokens] | place of each token in its own sequence |
    | `starts` | i32[sequences + 1] | first token of each sequence; the last entry is the number of tokens |
    | `contexts` | i32[sequences] | tokens of the sequence after this step, in cache and new |
    | `pages` | i32[sequences, pagesPerSequence] | pages of the KV cache, in order; the same for all layers |
    | `draws` | f32[sequences] | one uniform number in [0, 1) for sampling |

    In a decode step every sequence has one token, so `starts` is 0, 1, 2, ...
  }];
}

def Model_CacheType : Model_Type<"Cache", "cache"> {
  let summary = "the KV cache of one layer";
  let description = [{
    Keys and values of all sequences in pages of `page` tokens; K and V each are
    `[pages * page, kv_heads, head_dim]` of the element type, row-major: slot s
    of page p is row `p * page + s`. `page` is 0 (not printed) until `model-bind`
    sets it. With an 8-bit element type the numbers have a scale, see
    `model.cache`.

    With `latent N` there are no values: those of a token are the first N columns
    of its one key, which all heads of queries share (latent attention).
  }];
  let parameters = (ins "int64_t":$kvHeads, "int64_t":$headDim,
      "::mlir::Type":$elementType, OptionalParameter<"int64_t">:$page,
      OptionalParameter<"int64_t">:$latent);
  let assemblyFormat = [{
    `<` `kv_heads` `=` $kvHeads `,` `head_dim` `=` $headDim
    (`latent` $latent^)? `,` $elementType (`,` `page` `=` $page^)? `>`
  }];
  let builders = [TypeBuilder<(ins "int64_t":$kvHeads, "int64_t":$headDim,
      "::mlir::Type":$elementType, "int64_t":$page), [{
    return $_get($_ctxt, kvHeads, headDim, elementType, page, /*latent=*/0);
  }]>];
  let extraClassDeclaration = [{
    /// Bytes of keys and values that one token takes in this layer.
    int64_t getBytesPerToken() const;
    /// That of 8 bits and the scales beside them; null: numbers have more.
    FormatAttr getFormat() const;
  }];
  let genVerifyDecl = 1;
}

class Model_Attr<string name, string attrMnemonic>
    : AttrDef<Model_Dialect, name> {
  let mnemonic = attrMnemonic;
}

class Model_Enum<string name, string text, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::modelc::model";
}

/// Prints as a word in the op or attribute that has it.
def Model_Axis : Model_Enum<"Axis", "a direction of the mesh", [
    I32EnumAttrCase<"Tensor", 0, "tp">, I32EnumAttrCase<"Expert", 1, "ep">,
    I32EnumAttrCase<"Data", 2, "dp">, I32EnumAttrCase<"Pipeline", 3, "pp">,
    I32EnumAttrCase<"Context", 4, "cp">]>;

def Model_MeshAttr : Model_Attr<"Mesh", "mesh"> {
  let summary = "the ranks that run a graph, along named axes";
  let description = [{
    `<tp = 8, dp = 2>` is 16 ranks. Along `tp` they share the tensors of every
    layer and have the same tokens, along `ep` the experts, along `dp` nothing:
    ranks along `ep` and `dp` have sequences of their own. Along `pp` they share
    the layers, along `cp` the tokens of a sequence. An axis that is not named
    has one rank. Neighbours differ along `tp`, then `ep`, `dp`, `pp`, `cp`:
    rank r is r % tp along `tp`, r / tp % ep along `ep`, and so on.
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "1">:$tp,
      DefaultValuedParameter<"int64_t", "1">:$ep,
      DefaultValuedParameter<"int64_t", "1">:$dp,
      DefaultValuedParameter<"int64_t", "1">:$pp,
      DefaultValuedParameter<"int64_t", "1">:$cp);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// Ranks along an axis.
    int64_t getSize(Axis axis) const;
    /// The same mesh with so many ranks along an axis.
    MeshAttr with(Axis axis, int64_t size) const;
    int64_t getRanks() const {
      return getTp() * getEp() * getDp() * getPp() * getCp();
    }
  }];
  let genVerifyDecl = 1;
}

def Model_CutAttr : Model_Attr<"Cut", "cut"> {
  let summary = "the part of a tensor that a rank of an axis holds";
  let description = [{
    `split 0 of 4` cuts dimension 0 in 4 equal parts: rank r of `tp` holds part r.
    `split 0 of 8 copies 2` is for 16 ranks of which neighbours hold the same
    part: rank r holds part r / 2. `split 0 of 4 over ep` is of the ranks of that
    axis.
  }];
  let parameters = (ins "int64_t":$dim, "int64_t":$parts,
      DefaultValuedParameter<"int64_t", "1">:$copies,
      DefaultValuedParameter<"Axis", "Axis::Tensor">:$axis);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Model_SourceAttr : Model_Attr<"Source", "source"> {
  let summary = "one tensor of the checkpoint, or a rank's part of it";
  let description = [{
    `"name"` is the whole tensor; `{layer}` in the name stands for the number of
    the layer. Cuts follow it, one for each axis that cuts it: `"name" split 0 of
    4`. `"name" first rank` is whole on rank 0 of `tp` and zero on the others (a
    bias that is added before an all-reduce). `"name" padded 64` has 64 rows of
    zeros behind its own, before any cut.
  }];
  let parameters = (ins "::mlir::StringAttr":$name,
      OptionalArrayRefParameter<"CutAttr">:$cuts,
      DefaultValuedParameter<"bool", "false">:$firstRank,
      DefaultValuedParameter<"int64_t", "0">:$padding);
  let builders = [AttrBuilder<(ins "::mlir::StringRef":$name), [{
    return $_get($_ctxt, ::mlir::StringAttr::get($_ctxt, name),
                 ::llvm::ArrayRef<CutAttr>(), false, 0);
  }]>];
  let extraClassDeclaration = [{
    /// Parts in which a dimension is cut, over all axes.
    int64_t getParts(int64_t dim) const;
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Model_SourcesAttr
    : ArrayOfAttr<Model_Dialect, "Sources", "sources", "SourceAttr"> {
  let summary = "tensors of the checkpoint, joined along dimension 0";
}

def Model_FormatAttr : Model_Attr<"Format", "format"> {
  let summary = "numbers of 8 bits or fewer, and what scales they have";
  let description = [{
    A weight of a linear, its scales and its second scales have the same format:
    `<f8E4M3FN>` is numbers with a scale for each row, or one for all,
    `<f4E2M1FN blocks f8E8M0FNU>` is numbers with scales of that type for each
    block. `parts 2`: the rows are two equal parts, gate and up, one below the
    other, which are read side by side: scales of each part are laid out by
    themselves.
  }];
  let parameters = (ins "::mlir::Type":$numbers,
      OptionalParameter<"::mlir::Type">:$blocks,
      DefaultValuedParameter<"int64_t", "1">:$parts);
  let assemblyFormat = [{
    `<` $numbers (`blocks` $blocks^)? (`parts` $parts^)? `>`
  }];
  let extraClassDeclaration = [{
    /// Whether scales of f32 are those of blocks, by which kernels multiply.
    bool hasGroups() const { return getBlocks() && getBlocks().isF32(); }
  }];
}

def Model_Llama3ScalingAttr : Model_Attr<"Llama3Scaling", "llama3_scaling"> {
  let summary = "how Llama 3 stretches RoPE to long contexts";
  let description = [{
    Of the frequency `f` of a pair, with wavelength `w = 2 pi / f`: kept where
    `w < original_context / high_freq_factor`, divided by `factor` where
    `w > original_context / low_freq_factor`, blended linearly in
    `original_context / w` between.
  }];
  let parameters = (ins APFloatParameter<"">:$factor,
      APFloatParameter<"">:$lowFreqFactor, APFloatParameter<"">:$highFreqFactor,
      "int64_t":$originalContext);
  let assemblyFormat = [{
    `<` `factor` `=` $factor `,` `low_freq_factor` `=` $lowFreqFactor `,`
    `high_freq_factor` `=` $highFreqFactor `,` `original_context` `=`
    $originalContext `>`
  }];
  let builders = [AttrBuilder<(ins "double":$factor, "double":$lowFreqFactor,
      "double":$highFreqFactor, "int64_t":$originalContext), [{
    return $_get($_ctxt, ::llvm::APFloat(factor), ::llvm::APFloat(lowFreqFactor),
                 ::llvm::APFloat(highFreqFactor), originalContext);
  }]>];
  let genVerifyDecl = 1;
}

def Model_YarnAttr : Model_Attr<"Yarn", "yarn"> {
  let summary = "how YaRN stretches RoPE to long contexts";
  let description = [{
    A pair that turns more than `beta_fast` times in `original_context` tokens
    keeps its frequency, one that turns less than `beta_slow` times has it divided
    by `factor`; between the two the blend is linear in the number of the pair.
    With `truncate` the ends of that range are rounded outwards to whole pairs.
    Sines and cosines are multiplied by `magnitude`.
  }];
  let parameters = (ins APFloatParameter<"">:$factor,
      APFloatParameter<"">:$betaFast, APFloatParameter<"">:$betaSlow,
      "int64_t":$originalContext, APFloatParameter<"">:$magnitude,
      "::mlir::BoolAttr":$truncate);
  let assemblyFormat = [{
    `<` `factor` `=` $factor `,` `beta_fast` `=` $betaFast `,` `beta_slow` `=`
    $betaSlow `,` `original_context` `=` $originalContext `,` `magnitude` `=`
    $magnitude `,` `truncate` `=` $truncate `>`
  }];
  let builders = [AttrBuilder<(ins "double":$factor, "double":$betaFast,
      "double":$betaSlow, "int64_t":$originalContext, "double":$magnitude,
      "bool":$truncate), [{
    return $_get($_ctxt, ::llvm::APFloat(factor), ::llvm::APFloat(betaFast),
                 ::llvm::APFloat(betaSlow), originalContext,
                 ::llvm::APFloat(magnitude),
                 ::mlir::BoolAttr::get($_ctxt, truncate));
  }]>];
  let genVerifyDecl = 1;
}

def Model_TemperatureAttr : Model_Attr<"Temperature", "temperature"> {
  let summary = "scores that grow sharper along the context";
  let description = [{
    A query at position p is multiplied by `1 + scale * ln(1 + floor((p + 1) /
    every))`.
  }];
  let parameters = (ins APFloatParameter<"">:$scale, "int64_t":$every);
  let assemblyFormat = "`<` `scale` `=` $scale `,` `every` `=` $every `>`";
  let builders = [AttrBuilder<(ins "double":$scale, "int64_t":$every), [{
    return $_get($_ctxt, ::llvm::APFloat(scale), every);
  }]>];
  let genVerifyDecl = 1;
}

def Model_HeldAttr : Model_Attr<"Held", "held"> {
  let summary = "how a checkpoint holds a quantised tensor";
  let description = [{
    `format` is the word of `--weights` for it, or one of its own where numbers
    are converted when they are loaded ("int4"). `data` and `scale` end the names
    of the tensors that hold numbers and scales, in place of ".weight" or behind a
    name without that. `tensor_scale` is the same of a second scale, of the whole
    tensor, by which numbers are multiplied, or divided where it says
    `tensor_divisor`.
  }];
  let parameters = (ins "::mlir::StringAttr":$format, "::mlir::StringAttr":$data,
      "::mlir::StringAttr":$scale,
      OptionalParameter<"::mlir::StringAttr">:$tensorScale,
      OptionalParameter<"::mlir::StringAttr">:$tensorDivisor);
  let assemblyFormat = [{
    `<` $format `,` `data` `=` $data `,` `scale` `=` $scale
    (`tensor_scale` $tensorScale^)? (`tensor_divisor` $tensorDivisor^)? `>`
  }];
}

def Model_Phase : Model_Enum<"Phase", "what a step does", [
    I32EnumAttrCase<"Prefill", 0, "prefill">,
    I32EnumAttrCase<"Decode", 1, "decode">]> {
  let genSpecializedAttr = 0;
}
def Model_PhaseAttr : EnumAttr<Model_Dialect, Model_Phase, "phase"> {
  let assemblyFormat = "`<` $value `>`";
}

/// Prints as a word in the op that has it; in the generic form a number.
def Model_Sampling : Model_Enum<"Sampling", "how a token is chosen", [
    I32EnumAttrCase<"Greedy", 0, "greedy">,
    I32EnumAttrCase<"Random", 1, "random">]>;

def Model_Role : Model_Enum<"Role", "how ranks of `tp` share a linear", [
    I32EnumAttrCase<"Replicated", 0, "replicated">,
    I32EnumAttrCase<"Column", 1, "column">, I32EnumAttrCase<"Row", 2, "row">,
    I32EnumAttrCase<"Heads", 3, "heads">,
    I32EnumAttrCase<"KvHeads", 4, "kv_heads">,
    I32EnumAttrCase<"Vocabulary", 5, "vocabulary">]>;

def Model_Gating : Model_Enum<"Gating", "what a gate is put through", [
    I32EnumAttrCase<"Silu", 0, "silu">,
    I32EnumAttrCase<"GeluTanh", 1, "gelu_tanh">,
    I32EnumAttrCase<"ClampedSilu", 2, "clamped_silu">]>;

def Model_Scoring : Model_Enum<"Scoring", "what a router makes of its logits", [
    I32EnumAttrCase<"Softmax", 0, "softmax">,
    I32EnumAttrCase<"SoftmaxOfChosen", 1, "softmax_of_chosen">,
    I32EnumAttrCase<"Sigmoid", 2, "sigmoid">]>;

def Model_GroupScore : Model_Enum<"GroupScore", "what a group of experts is chosen by", [
    I32EnumAttrCase<"Max", 0, "max">,
    I32EnumAttrCase<"TopTwo", 1, "top_two">]> {
  let genSpecializedAttr = 0;
}

def Model_GroupMask : Model_Enum<"GroupMask", "what experts outside of the groups score", [
    I32EnumAttrCase<"Zero", 0, "zero">,
    I32EnumAttrCase<"MinusInfinity", 1, "minus_infinity">]> {
  let genSpecializedAttr = 0;
}

def Model_GroupsAttr : Model_Attr<"Groups", "groups"> {
  let summary = "experts are chosen in some groups only";
  let description = [{
    Experts in order make `count` groups of one size. A group scores the largest
    of its experts (`max`) or the sum of its two largest (`top_two`); the `kept`
    groups that score most are kept, and experts of the others score 0 or minus
    infinity (`mask`).
  }];
  let parameters = (ins "int64_t":$count, "int64_t":$kept,
      EnumParameter<Model_GroupScore>:$score, EnumParameter<Model_GroupMask>:$mask);
  let assemblyFormat = [{
    `<` `count` `=` $count `,` `kept` `=` $kept `,` `score` `=` $score `,`
    `mask` `=` $mask `>`
  }];
  let genVerifyDecl = 1;
}

#endif // DIALECTS_MODEL_MODELTYPES_TD
