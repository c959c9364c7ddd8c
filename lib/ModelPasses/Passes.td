// Passes over the model dialect. The order in which they run is the driver's:
// quantise, pad, shard, rotate, fuse, bind, join, state formats.

#ifndef LIB_MODELPASSES_PASSES_TD
#define LIB_MODELPASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

class ModelPass<string flag> : Pass<flag, "::modelc::model::GraphOp"> {
  let dependentDialects = ["::modelc::model::ModelDialect"];
}

def ModelQuantise : ModelPass<"model-quantise"> {
  let summary = "compute linears in 8, 6 or 4 bits, keep the KV cache in 8 bits";
  let description = [{
    `weights=fp8`: every linear but the head takes f8E4M3FN weights with a scale
    for each output channel, and its input quantised with a scale for each token.
    An input that several linears share is quantised once. The embedding, the
    norms and the head stay as they are.

    ```mlir
    model.graph @before(%x: tensor<?x64xbf16>) -> tensor<?x96xbf16> {
      %w = model.weight ["w"] : tensor<96x64xbf16>
      %y = model.linear %x, %w : tensor<?x64xbf16>, tensor<96x64xbf16> -> tensor<?x96xbf16>
      model.return %y : tensor<?x96xbf16>
    }
    ```
    becomes
    ```mlir
    model.graph @after(%x: tensor<?x64xbf16>) -> tensor<?x96xbf16> {
      %q, %s = model.quantise %x : tensor<?x64xbf16> -> tensor<?x64xf8E4M3FN> scale tensor<?xf32>
      %w = model.weight ["w"] stored bf16 : tensor<96x64xf8E4M3FN>
      %ws = model.weight ["w"] channel_scale : tensor<96xf32>
      %y = model.linear %q, %w scaled %s, %ws : tensor<?x64xf8E4M3FN>,
          tensor<96x64xf8E4M3FN>, tensor<?xf32>, tensor<96xf32> -> tensor<?x96xbf16>
      model.return %y : tensor<?x96xbf16>
    }
    ```
    `weights=mxfp4`: the same linears take f4E2M1FN weights and inputs, both
    with a power of two for each block of 32 neighbours along the inputs (OCP
    MXFP4). `weights=mxfp6`, `weights=mxfp8`: the same of f6E2M3FN, f8E4M3FN.

    ```mlir
    model.graph @blocks(%x: tensor<?x64xbf16>) -> tensor<?x96xbf16> {
      %q, %s = model.quantise %x : tensor<?x64xbf16> -> tensor<?x64xf4E2M1FN> scale tensor<?x2xf8E8M0FNU>
      %w = model.weight ["w"] stored bf16 : tensor<96x64xf4E2M1FN>
      %ws = model.weight ["w"] block_scale : tensor<96x2xf8E8M0FNU>
      %y = model.linear %q, %w scaled %s, %ws : tensor<?x64xf4E2M1FN>,
          tensor<96x64xf4E2M1FN>, tensor<?x2xf8E8M0FNU>, tensor<96x2xf8E8M0FNU> -> tensor<?x96xbf16>
      model.return %y : tensor<?x96xbf16>
    }
    ```
    With `inputs=fp8` the inputs have 8 bits and a scale for each token, as with
    `weights=fp8`.

    `weights=nvfp4`: both take a scale of f8E4M3FN for each block of 16, and a
    second one in f32: of a weight that of its tensor, of an input the largest that
    the checkpoint states for the linears that read it, or 1.

    ```mlir
    model.graph @fine(%x: tensor<?x64xbf16>) -> tensor<?x96xbf16> {
      %xt = model.weight ["w.input_scale"] largest default 1.0 : tensor<1xf32>
      %q, %s = model.quantise %x tensor_scaled %xt : tensor<?x64xbf16>, tensor<1xf32>
          -> tensor<?x64xf4E2M1FN> scale tensor<?x4xf8E4M3FN>
      %w = model.weight ["w"] stored bf16 : tensor<96x64xf4E2M1FN>
      %ws = model.weight ["w"] block_scale : tensor<96x4xf8E4M3FN>
      %wt = model.weight ["w"] tensor_scale : tensor<96xf32>
      %y = model.linear %q, %w scaled %s, %ws tensor_scaled %xt, %wt
          : tensor<?x64xf4E2M1FN>, tensor<96x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>,
            tensor<96x4xf8E4M3FN>, tensor<1xf32>, tensor<96xf32> -> tensor<?x96xbf16>
      model.return %y : tensor<?x96xbf16>
    }
    ```

    `weights=fp8_block`: both have 8 bits, with a scale of f32 for each block of
    128 inputs of a token and for each 128 x 128 of a weight, which has whole
    blocks.

    ```mlir
    model.graph @groups(%x: tensor<?x256xbf16>) -> tensor<?x384xbf16> {
      %q, %s = model.quantise %x : tensor<?x256xbf16> -> tensor<?x256xf8E4M3FN> scale tensor<?x2xf32>
      %w = model.weight ["w"] stored bf16 : tensor<384x256xf8E4M3FN>
      %ws = model.weight ["w"] block_scale : tensor<3x2xf32>
      %y = model.linear %q, %w scaled %s, %ws : tensor<?x256xf8E4M3FN>,
          tensor<384x256xf8E4M3FN>, tensor<?x2xf32>, tensor<3x2xf32> -> tensor<?x384xbf16>
      model.return %y : tensor<?x384xbf16>
    }
    ```

    `kv=fp8` makes the caches f8E4M3FN, with a `k_scale` and a `v_scale` for each
    layer. They are weights beside those of the layer's keys, by the name that
    calibrated checkpoints use (`model.layers.0.self_attn.k_scale`, or
    `model.layers.0.self_attn.k_proj.k_scale`), and 1 where
    the checkpoint has none. `queries=fp8` beside it has attention multiply numbers
    of 8 bits: queries over a `q_scale`, found in the same way.
  }];
  let options = [
    Option<"weights", "weights", "const ::modelc::model::NumberFormat *",
           "::modelc::model::findFormat(\"bf16\")", "type of the weights of linears",
           "::modelc::model::FormatValues{::modelc::model::kWeights}">,
    Option<"inputs", "inputs", "const ::modelc::model::NumberFormat *",
           "nullptr", "type of the inputs of linears",
           "::modelc::model::FormatValues{::modelc::model::kInputs}">,
    Option<"kv", "kv", "const ::modelc::model::NumberFormat *",
           "::modelc::model::findFormat(\"bf16\")", "type of the KV cache",
           "::modelc::model::FormatValues{::modelc::model::kCache}">,
    Option<"queries", "queries", "const ::modelc::model::NumberFormat *",
           "::modelc::model::findFormat(\"bf16\")", "type of the queries that meet the cache",
           "::modelc::model::FormatValues{::modelc::model::kCache}">];
}

def ModelPad : ModelPass<"model-pad"> {
  let summary = "fill up the vocabulary as engines do";
  let description = [{
    A linear whose role is `vocabulary` gets rows of zeros behind its own, so that
    they are a multiple of 64 and of `tp`; what samples from its logits takes none
    of these.

    ```mlir
    model.graph @before(%x: tensor<?x64xbf16>, %batch: !model.batch) -> tensor<?xi32> {
      %w = model.weight ["head"] : tensor<310x64xbf16>
      %y = model.linear %x, %w role vocabulary : tensor<?x64xbf16>, tensor<310x64xbf16> -> tensor<?x310xbf16>
      %t = model.sample %y, %batch greedy : tensor<?x310xbf16> -> tensor<?xi32>
      model.return %t : tensor<?xi32>
    }
    ```
    becomes
    ```mlir
    model.graph @after(%x: tensor<?x64xbf16>, %batch: !model.batch) -> tensor<?xi32> {
      %w = model.weight ["head" padded 10] : tensor<320x64xbf16>
      %y = model.linear %x, %w role vocabulary : tensor<?x64xbf16>, tensor<320x64xbf16> -> tensor<?x320xbf16>
      %t = model.sample %y, %batch greedy words 310 : tensor<?x320xbf16> -> tensor<?xi32>
      model.return %t : tensor<?xi32>
    }
    ```
  }];
  let options = [Option<"tp", "tp", "int64_t", "1", "ranks that share tensors">];
}

def ModelShard : ModelPass<"model-shard"> {
  let summary = "share every layer among ranks along axes of a mesh";
  let description = [{
    The graph becomes what each rank of a mesh runs, which it then names. Ops say
    how they are shared (`ShardingInterface`), linears by their `role`; the pass
    cuts weights and caches accordingly and inserts collectives.

    Along `tp` linears by heads, by columns and by words are cut along their
    outputs (KV heads are repeated on neighbouring ranks where there are fewer
    heads than ranks), those by rows along their inputs, with an all-reduce after;
    of words the logits are gathered. What has no role is on every rank. Along
    `ep` and `dp` every rank has sequences of its own; along `ep` ops with experts
    have a part of these, and rows go to them and back.

    ```mlir
    model.graph @before(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
      %wg = model.weight ["gate"] : tensor<96x64xbf16>
      %g = model.linear %x, %wg role column : tensor<?x64xbf16>, tensor<96x64xbf16> -> tensor<?x96xbf16>
      %s = model.swiglu %g, %g : tensor<?x96xbf16> -> tensor<?x96xbf16>
      %wd = model.weight ["down"] : tensor<64x96xbf16>
      %y = model.linear %s, %wd role row : tensor<?x96xbf16>, tensor<64x96xbf16> -> tensor<?x64xbf16>
      model.return %y : tensor<?x64xbf16>
    }
    ```
    becomes with `tp=2`
    ```mlir
    model.graph @after(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> attributes {mesh = #model.mesh<tp = 2>} {
      %wg = model.weight ["gate" split 0 of 2] : tensor<48x64xbf16>
      %g = model.linear %x, %wg role column : tensor<?x64xbf16>, tensor<48x64xbf16> -> tensor<?x48xbf16>
      %s = model.swiglu %g, %g : tensor<?x48xbf16> -> tensor<?x48xbf16>
      %wd = model.weight ["down" split 1 of 2] : tensor<64x48xbf16>
      %p = model.linear %s, %wd role row : tensor<?x48xbf16>, tensor<64x48xbf16> -> tensor<?x64xbf16>
      %y = model.all_reduce %p over tp : tensor<?x64xbf16>
      model.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let options = [
    Option<"tp", "tp", "int64_t", "1", "ranks that share tensors">,
    Option<"ep", "ep", "int64_t", "1", "ranks that share experts">,
    Option<"dp", "dp", "int64_t", "1", "ranks that share nothing">];
}

def ModelRotate : ModelPass<"model-rotate"> {
  let summary = "layers hand on parts, which the next one sums over the ranks";
  let description = [{
    Of a value that layers hand on as `x + all_reduce(p)` they hand on `x` and `p`,
    and each layer begins with the sum. There the norm that begins a layer takes
    it in, with the residual. The first layer adds zeros.

    ```mlir
    model.graph @before(%tokens: tensor<?xi32>, %x: tensor<?x64xbf16>)
        -> tensor<?x64xbf16> attributes {mesh = #model.mesh<tp = 2>} {
      %y = model.layers 3 carry (%h = %x : tensor<?x64xbf16>) {
        %w = model.weight ["layers.{layer}.w"] : tensor<64x64xbf16>
        %p = model.linear %h, %w : tensor<?x64xbf16>, tensor<64x64xbf16> -> tensor<?x64xbf16>
        %s = model.all_reduce %p over tp : tensor<?x64xbf16>
        %n = model.add %h, %s : tensor<?x64xbf16>
        model.yield %n : tensor<?x64xbf16>
      }
      model.return %y : tensor<?x64xbf16>
    }
    ```
    becomes
    ```mlir
    model.graph @after(%tokens: tensor<?xi32>, %x: tensor<?x64xbf16>)
        -> tensor<?x64xbf16> attributes {mesh = #model.mesh<tp = 2>} {
      %z = model.zeros %tokens : tensor<?xi32> -> tensor<?x64xbf16>
      %y, %q = model.layers 3 carry (%a = %x : tensor<?x64xbf16>, %b = %z : tensor<?x64xbf16>) {
        %s = model.all_reduce %b over tp : tensor<?x64xbf16>
        %h = model.add %a, %s : tensor<?x64xbf16>
        %w = model.weight ["layers.{layer}.w"] : tensor<64x64xbf16>
        %p = model.linear %h, %w : tensor<?x64xbf16>, tensor<64x64xbf16> -> tensor<?x64xbf16>
        model.yield %h, %p : tensor<?x64xbf16>, tensor<?x64xbf16>
      }
      %s = model.all_reduce %q over tp : tensor<?x64xbf16>
      %r = model.add %y, %s : tensor<?x64xbf16>
      model.return %r : tensor<?x64xbf16>
    }
    ```
  }];
}

def ModelFuse : ModelPass<"model-fuse"> {
  let summary = "fewer, larger ops, each of which one kernel computes";
  let description = [{
    In this order: q, k and v become one linear, followed by `rope_append`; gate
    and up become one linear with SwiGLU as its epilogue, the rows of gate above
    those of up; the residual goes into the epilogue of the linear before it, or, behind an all-reduce, into the norm after it; quantisation
    goes into the norm or SwiGLU before it. Queries that attention multiplies in 8 bits
    leave `rope_append` so.

    ```mlir
    model.graph @before(%x: tensor<?x64xbf16>, %r: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
      %wg = model.weight ["gate"] : tensor<96x64xbf16>
      %g = model.linear %x, %wg : tensor<?x64xbf16>, tensor<96x64xbf16> -> tensor<?x96xbf16>
      %wu = model.weight ["up"] : tensor<96x64xbf16>
      %u = model.linear %x, %wu : tensor<?x64xbf16>, tensor<96x64xbf16> -> tensor<?x96xbf16>
      %s = model.swiglu %g, %u : tensor<?x96xbf16> -> tensor<?x96xbf16>
      %wd = model.weight ["down"] : tensor<64x96xbf16>
      %d = model.linear %s, %wd : tensor<?x96xbf16>, tensor<64x96xbf16> -> tensor<?x64xbf16>
      %y = model.add %r, %d : tensor<?x64xbf16>
      model.return %y : tensor<?x64xbf16>
    }
    ```
    becomes
    ```mlir
    model.graph @after(%x: tensor<?x64xbf16>, %r: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
      %wgu = model.weight ["gate", "up"] : tensor<192x64xbf16>
      %s = model.linear %x, %wgu swiglu : tensor<?x64xbf16>, tensor<192x64xbf16> -> tensor<?x96xbf16>
      %wd = model.weight ["down"] : tensor<64x96xbf16>
      %y = model.linear %s, %wd residual %r
          : tensor<?x96xbf16>, tensor<64x96xbf16>, tensor<?x64xbf16> -> tensor<?x64xbf16>
      model.return %y : tensor<?x64xbf16>
    }
    ```
  }];
}

def ModelBind : ModelPass<"model-bind"> {
  let summary = "make the graph that of one phase";
  let description = [{
    Names the phase on the graph and sets the tokens in a page of the KV cache.
    In `decode` every sequence has one token, so `model.last` goes away; in
    `prefill` it must be there, before the head.

    ```mlir
    model.graph @before(%x: tensor<?x64xbf16>, %batch: !model.batch) -> tensor<?x64xbf16> {
      %y = model.last %x, %batch : tensor<?x64xbf16>
      model.return %y : tensor<?x64xbf16>
    }
    ```
    becomes with `phase=decode`
    ```mlir
    model.graph @after(%x: tensor<?x64xbf16>, %batch: !model.batch) -> tensor<?x64xbf16>
        attributes {phase = #model.phase<decode>} {
      model.return %x : tensor<?x64xbf16>
    }
    ```
  }];
  let options = [
    Option<"phase", "phase", "::modelc::model::Phase",
           "::modelc::model::Phase::Decode", "what a step does",
           "::llvm::cl::values(clEnumValN(::modelc::model::Phase::Prefill, \"prefill\", \"the prompts, packed\"), clEnumValN(::modelc::model::Phase::Decode, \"decode\", \"one token for each sequence\"))">,
    Option<"page", "page", "int64_t", "64", "tokens in a page of the KV cache">];
}

def ModelJoin : ModelPass<"model-join"> {
  let summary = "pairs of ops that one kernel computes where the first is made in parts";
  let description = [{
    Behind `model-bind`. Where sums are cut, or the keys of a sequence, the kernel
    that adds up the parts can do what comes next too: quantise the result of a
    linear or of attention in blocks; rotate and append the queries, keys and values
    of a decode step. The kernel of a norm can add up the rows of all ranks that it
    reads. Which sizes are made so, and whether a kernel takes these numbers,
    `kernels-lower` finds out: elsewhere the two are launches of their own.

    ```mlir
    model.graph @before(%x: tensor<?x64xbf16>, %w: tensor<96x64xbf16>) -> tensor<?x96xf4E2M1FN> {
      %y = model.linear %x, %w : tensor<?x64xbf16>, tensor<96x64xbf16> -> tensor<?x96xbf16>
      %q, %s = model.quantise %y : tensor<?x96xbf16> -> tensor<?x96xf4E2M1FN> scale tensor<?x3xf8E8M0FNU>
      model.return %q : tensor<?x96xf4E2M1FN>
    }
    ```
    becomes
    ```mlir
    model.graph @after(%x: tensor<?x64xbf16>, %w: tensor<96x64xbf16>) -> tensor<?x96xf4E2M1FN> {
      %q, %s = model.joined {
        %y = model.linear %x, %w : tensor<?x64xbf16>, tensor<96x64xbf16> -> tensor<?x96xbf16>
        %a, %b = model.quantise %y : tensor<?x96xbf16> -> tensor<?x96xf4E2M1FN> scale tensor<?x3xf8E8M0FNU>
        model.yield %a, %b : tensor<?x96xf4E2M1FN>, tensor<?x3xf8E8M0FNU>
      } : tensor<?x96xf4E2M1FN>, tensor<?x3xf8E8M0FNU>
      model.return %q : tensor<?x96xf4E2M1FN>
    }
    ```
  }];
}

def ModelStateFormats : ModelPass<"model-state-formats"> {
  let summary = "say of each weight which numbers and scales it is read as";
  let description = [{
    The weight of a linear, its scales and its second scales take the format that
    the linear multiplies; the scales of keys, values and queries that of the
    cache. A tensor that is read as two formats becomes two weights.

    ```mlir
    model.graph @before(%x: tensor<?x64xf4E2M1FN>, %xs: tensor<?x2xf8E8M0FNU>) -> tensor<?x48xbf16> {
      %w = model.weight ["gate", "up"] stored bf16 : tensor<96x64xf4E2M1FN>
      %ws = model.weight ["gate", "up"] block_scale : tensor<96x2xf8E8M0FNU>
      %y = model.linear %x, %w scaled %xs, %ws swiglu : tensor<?x64xf4E2M1FN>,
          tensor<96x64xf4E2M1FN>, tensor<?x2xf8E8M0FNU>, tensor<96x2xf8E8M0FNU> -> tensor<?x48xbf16>
      model.return %y : tensor<?x48xbf16>
    }
    ```
    becomes
    ```mlir
    model.graph @after(%x: tensor<?x64xf4E2M1FN>, %xs: tensor<?x2xf8E8M0FNU>) -> tensor<?x48xbf16> {
      %w = model.weight ["gate", "up"] stored bf16 format <f4E2M1FN blocks f8E8M0FNU parts 2> : tensor<96x64xf4E2M1FN>
      %ws = model.weight ["gate", "up"] block_scale format <f4E2M1FN blocks f8E8M0FNU parts 2> : tensor<96x2xf8E8M0FNU>
      %y = model.linear %x, %w scaled %xs, %ws swiglu : tensor<?x64xf4E2M1FN>,
          tensor<96x64xf4E2M1FN>, tensor<?x2xf8E8M0FNU>, tensor<96x2xf8E8M0FNU> -> tensor<?x48xbf16>
      model.return %y : tensor<?x48xbf16>
    }
    ```
  }];
}

def ModelSummary : ModelPass<"model-summary"> {
  let summary = "say how many weights and how much cache the model has";
  let description = [{
    A remark on the graph; changes nothing.

    ```mlir
    model.graph @tiny() -> tensor<96x64xbf16> {
      %w = model.weight ["w"] : tensor<96x64xbf16>
      model.return %w : tensor<96x64xbf16>
    }
    ```
    stays as it is.
  }];
}

#endif // LIB_MODELPASSES_PASSES_TD
