// Ops that hold a model together: graph, layers, weights, cache.

#ifndef DIALECTS_MODEL_MODELSTRUCTURE_TD
#define DIALECTS_MODEL_MODELSTRUCTURE_TD

include "dialects/Model/ModelSharding.td"
include "dialects/Model/ModelTypes.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"

def Model_Tokens : 1DTensorOf<[I32]>;
def Model_Rows : 2DTensorOf<[BF16, F16, F32, F8E4M3FN, F6E2M3FN, F6E3M2FN, F4E2M1FN]>;
/// Of tokens, or of the experts that are chosen for them.
def Model_RowsOrChoices
    : 2DTensorOf<[BF16, F16, F32, F8E4M3FN, F6E2M3FN, F6E3M2FN, F4E2M1FN, I32]>;
def Model_Matrix : 2DTensorOf<[BF16, F16, F32, F8E4M3FN, F6E2M3FN, F6E3M2FN, F4E2M1FN]>;
/// Of rows or blocks of 8 bits; of blocks of rows of 6 or 4 bits.
def Model_LinearScales
    : AnyTypeOf<[1DTensorOf<[F32]>, 2DTensorOf<[F32, F8E8M0FNU, F8E4M3FN]>]>;
def Model_Vector : 1DTensorOf<[BF16, F16, F32]>;
def Model_Scales : 1DTensorOf<[F32]>;

class Model_Op<string mnemonic, list<Trait> traits = []>
    : Op<Model_Dialect, mnemonic, traits>;

/// From 1 to kLargestSize.
def Model_Positive : ConfinedAttr<I64Attr, [IntPositive, IntMaxValue<268435456>]>;

def Model_GraphOp : Model_Op<"graph",
    [FunctionOpInterface, IsolatedFromAbove, Symbol,
     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "one step of a model";
  let description = [{
    Takes the packed tokens of the step and its batch, returns the next token of
    each sequence. `mesh` says which devices run it; all of them run this graph,
    each with its parts of weights and values. `phase` is absent until
    `model-bind` sets it. `max_context` is the longest sequence that the model
    was trained for.

    Rows of values are the tokens of the step, behind `model.last` its sequences;
    an op reads rows of one kind. A tensor of the checkpoint has one shape.

    ```mlir
    model.graph @copy(%tokens: tensor<?xi32>, %batch: !model.batch)
        -> tensor<?xi32> attributes {max_context = 4096 : i64} {
      model.return %tokens : tensor<?xi32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
      TypeAttrOf<FunctionType>:$function_type,
      OptionalAttr<DictArrayAttr>:$arg_attrs,
      OptionalAttr<DictArrayAttr>:$res_attrs,
      OptionalAttr<Model_MeshAttr>:$mesh,
      OptionalAttr<Model_PhaseAttr>:$phase,
      OptionalAttr<Model_Positive>:$max_context);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::mlir::StringRef":$name,
      "::mlir::FunctionType":$type)>];
  let extraClassDeclaration = [{
    mlir::ArrayRef<mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    mlir::ArrayRef<mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    mlir::Region *getCallableRegion() { return &getBody(); }
    /// Ranks along an axis, 1 without a mesh.
    int64_t getRanks(Axis axis) {
      return getMesh() ? getMesh()->getSize(axis) : 1;
    }
    /// All of them.
    int64_t getRanks() { return getMesh() ? getMesh()->getRanks() : 1; }
  }];
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def Model_ReturnOp : Model_Op<"return",
    [HasParent<"GraphOp">, Pure, Terminator]> {
  let summary = "what a graph returns";
  let description = [{
    ```mlir
    model.graph @copy(%tokens: tensor<?xi32>) -> tensor<?xi32> {
      model.return %tokens : tensor<?xi32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let hasVerifier = 1;
}

def Model_LayersOp : Model_Op<"layers",
    [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "identical layers, stated once";
  let description = [{
    Runs the body `count` times. The carried values enter the first layer, what
    a layer yields enters the next, and the last layer's are the results. The
    layers are numbered `first`, `first + 1`, ...; a weight in the body names
    its tensor with `{layer}`.

    With `step N` the body is N layers of several kinds, of which the first has
    number `{layer}`, the second `{layer+1}`, and so on; `count` such groups follow
    one another. Every layer may have a cache of its own type.

    ```mlir
    model.graph @norms(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
      %y = model.layers 3 carry (%h = %x : tensor<?x64xbf16>) {
        %w = model.weight ["layers.{layer}.norm"] : tensor<64xbf16>
        %n = model.norm %h, %w eps 1.0e-5
            : tensor<?x64xbf16>, tensor<64xbf16> -> tensor<?x64xbf16>
        model.yield %n : tensor<?x64xbf16>
      }
      model.return %y : tensor<?x64xbf16>
    }
    model.graph @in_turn(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
      %y = model.layers 3 step 2 carry (%h = %x : tensor<?x64xbf16>) {
        %a = model.weight ["layers.{layer}.norm"] : tensor<64xbf16>
        %n = model.norm %h, %a eps 1.0e-5
            : tensor<?x64xbf16>, tensor<64xbf16> -> tensor<?x64xbf16>
        %b = model.weight ["layers.{layer+1}.norm"] : tensor<64xbf16>
        %m = model.norm %n, %b eps 1.0e-5 one_plus
            : tensor<?x64xbf16>, tensor<64xbf16> -> tensor<?x64xbf16>
        model.yield %m : tensor<?x64xbf16>
      }
      model.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins Model_Positive:$count,
      ConfinedAttr<DefaultValuedAttr<I64Attr, "0">, [IntNonNegative]>:$first,
      ConfinedAttr<DefaultValuedAttr<I64Attr, "1">, [IntPositive]>:$step,
      Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$outs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $count (`from` $first^)? (`step` $step^)? `carry`
    custom<Carried>($body, $inits, type($inits), type($outs)) attr-dict
  }];
  let extraClassDeclaration = [{
    /// Layers in all: those of the body, as often as it runs.
    int64_t getLayerCount() {
      return static_cast<int64_t>(getCount()) * static_cast<int64_t>(getStep());
    }
    /// The op that ends the body.
    YieldOp getYield();
  }];
  let hasRegionVerifier = 1;
}

def Model_JoinedOp : Model_Op<"joined", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "two ops that are computed by one kernel where there is one";
  let description = [{
    The second op reads what the first makes, and nobody else does: that need not
    be stored. The results are those of the second. Four pairs can be joined:
    a linear or attention and the `quantise` of its result, a linear and the
    `rope_append` of its result, an `all_reduce` and the norm of the sum.

    For which sizes one kernel computes both is left to the machine's kernels:
    one that adds up parts of a sum can do more with it, one that has all of it
    in one place cannot always. Elsewhere both are computed one after the other.

    ```mlir
    model.graph @joined(%x: tensor<?x64xbf16>, %w: tensor<96x64xbf16>)
        -> tensor<?x96xf4E2M1FN> {
      %q, %s = model.joined {
        %y = model.linear %x, %w : tensor<?x64xbf16>, tensor<96x64xbf16> -> tensor<?x96xbf16>
        %a, %b = model.quantise %y : tensor<?x96xbf16>
            -> tensor<?x96xf4E2M1FN> scale tensor<?x3xf8E8M0FNU>
        model.yield %a, %b : tensor<?x96xf4E2M1FN>, tensor<?x3xf8E8M0FNU>
      } : tensor<?x96xf4E2M1FN>, tensor<?x3xf8E8M0FNU>
      model.return %q : tensor<?x96xf4E2M1FN>
    }
    ```
  }];
  let results = (outs Variadic<AnyType>:$outs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict `:` type($outs)";
  let extraClassDeclaration = [{
    /// The op whose result only the second reads, and that.
    mlir::Operation *getFirst() { return &getBody().front().front(); }
    mlir::Operation *getSecond() { return getFirst()->getNextNode(); }
    /// Whether two such ops can be joined.
    static bool canJoin(mlir::Operation *first, mlir::Operation *second);
  }];
  let hasRegionVerifier = 1;
}

def Model_YieldOp : Model_Op<"yield",
    [ParentOneOf<["LayersOp", "JoinedOp"]>, Pure, Terminator]> {
  let summary = "what a layer hands to the next, or joined ops make";
  let description = [{
    ```mlir
    model.graph @nothing(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
      %y = model.layers 3 carry (%h = %x : tensor<?x64xbf16>) {
        model.yield %h : tensor<?x64xbf16>
      }
      model.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let builders = [OpBuilder<(ins), "build($_builder, $_state, ::mlir::ValueRange());">];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Model_WeightOp : Model_Op<"weight",
    [Pure, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a tensor of the checkpoint, without its data";
  let description = [{
    The type is what *one* rank holds of *one* layer. Several sources are joined
    along dimension 0, each below the one before it. `stored` is the element type in the checkpoint where it differs: the loader
    converts, to 8 bits with one scale for each row, to 6 or 4 bits with one for each
    block of neighbours. `channel_scale` makes the
    weight those scales of rows: of each row of the whole tensor, whatever part of it
    this rank holds, the largest magnitude over the largest finite number of
    the 8-bit type. `block_scale` makes it those of blocks, as `model.quantise`
    states them. `tensor_scale` makes it the second scale of NVFP4, for each row
    that of its whole tensor: the largest magnitude over the largest numbers of
    both types, 6 x 448, or the checkpoint's own. `largest` makes it one number,
    the largest of all sources. `default x` is for a tensor that a checkpoint may
    lack: then each element is x. `format` says which numbers with which scales
    the tensor is, is part of or scales, where there are some (`model-state-formats`).

    `{expert}` in a name stands for the number of an expert: the tensors of all,
    each joined of its sources, are stacked along a first dimension. `transposed`
    says that the checkpoint has the last two dimensions in the other order. `held`
    is how it holds numbers that are quantised already.

    ```mlir
    model.graph @weights() -> tensor<192x64xbf16> {
      %q = model.weight ["q.weight"] stored f16 : tensor<64x64xbf16>
      %s = model.weight ["q.weight"] channel_scale : tensor<64xf32>
      %b = model.weight ["q.weight" split 1 of 2] block_scale : tensor<64x1xf8E8M0FNU>
      %gu = model.weight ["gate.weight" split 0 of 2, "up.weight" split 0 of 2]
          : tensor<192x64xbf16>
      %ks = model.weight ["k_scale"] default 1.0 : tensor<1xf32>
      %ts = model.weight ["gate.weight", "up.weight"] tensor_scale : tensor<192xf32>
      %xs = model.weight ["gate.input_scale", "up.input_scale"] largest default 1.0 : tensor<1xf32>
      %n = model.weight ["o.weight"] stored bf16 format <f4E2M1FN blocks f8E8M0FNU>
          : tensor<64x64xf4E2M1FN>
      %experts = model.weight ["experts.{expert}.gate.weight", "experts.{expert}.up.weight"]
          held <"nvfp4", data = ".weight", scale = ".weight_scale" tensor_scale ".weight_scale_2">
          : tensor<8x192x64xbf16>
      %stacked = model.weight ["experts.down"] transposed : tensor<8x64x96xbf16>
      model.return %gu : tensor<192x64xbf16>
    }
    ```
  }];
  let arguments = (ins Model_SourcesAttr:$sources,
      OptionalAttr<TypeAttr>:$stored, UnitAttr:$channel_scale,
      UnitAttr:$block_scale, UnitAttr:$tensor_scale, UnitAttr:$largest,
      OptionalAttr<F64Attr>:$absent, UnitAttr:$transposed,
      OptionalAttr<Model_HeldAttr>:$held, OptionalAttr<Model_FormatAttr>:$format);
  let results = (outs AnyRankedTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::RankedTensorType":$type,
      "::llvm::ArrayRef<::modelc::model::SourceAttr>":$sources), [{
    $_state.getOrAddProperties<Properties>().sources =
        SourcesAttr::get($_builder.getContext(), sources);
    $_state.addTypes(type);
  }]>];
  let assemblyFormat = [{
    $sources (`stored` $stored^)? (`channel_scale` $channel_scale^)?
    (`block_scale` $block_scale^)? (`tensor_scale` $tensor_scale^)?
    (`largest` $largest^)? (`default` $absent^)? (`transposed` $transposed^)?
    (`held` $held^)? (`format` $format^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Model_CacheOp : Model_Op<"cache",
    [HasParent<"LayersOp">, Pure, AttrSizedOperandSegments]> {
  let summary = "the KV cache of this layer, as earlier steps left it";
  let description = [{
    A layer has one; of layers that take turns, `layer` N says that it is that of
    `{layer+N}`. `model.append` writes to it. Of an 8-bit cache `k_scale` and
    `v_scale` are the scales, one number each for the layer: what is stored is
    key / k_scale and value / v_scale, rounded to nearest even and saturated.

    ```mlir
    model.graph @caches(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
      %y = model.layers 3 carry (%h = %x : tensor<?x64xbf16>) {
        %ks = model.weight ["layers.{layer}.k_scale"] default 1.0 : tensor<1xf32>
        %vs = model.weight ["layers.{layer}.v_scale"] default 1.0 : tensor<1xf32>
        %cache = model.cache scaled %ks, %vs
            : !model.cache<kv_heads = 2, head_dim = 32, f8E4M3FN>,
              tensor<1xf32>, tensor<1xf32>
        model.yield %h : tensor<?x64xbf16>
      }
      model.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins
      ConfinedAttr<DefaultValuedAttr<I64Attr, "0">, [IntNonNegative]>:$layer,
      Optional<Model_Scales>:$k_scale, Optional<Model_Scales>:$v_scale);
  let results = (outs Model_CacheType:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "int64_t":$layer), [{
    build($_builder, $_state, type, static_cast<uint64_t>(layer),
          ::mlir::Value(), ::mlir::Value());
  }]>];
  let assemblyFormat = [{
    (`layer` $layer^)? (`scaled` $k_scale^ `,` $v_scale)? attr-dict `:` qualified(type($result))
    (`,` type($k_scale)^ `,` type($v_scale))?
  }];
  let hasVerifier = 1;
}

#endif // DIALECTS_MODEL_MODELSTRUCTURE_TD
