// Ops between ranks, and what sums that wait for them start from.

#ifndef DIALECTS_MODEL_MODELCOLLECTIVES_TD
#define DIALECTS_MODEL_MODELCOLLECTIVES_TD

include "dialects/Model/ModelStructure.td"

/// Between the ranks along one axis of the graph's mesh.
class Model_Collective<string mnemonic, list<Trait> traits = []>
    : Model_Op<mnemonic, !listconcat([Pure], traits)> {
  let arguments = (ins Model_Rows:$x, Model_Axis:$axis);
  let results = (outs Model_Rows:$out);
  let extraClassDeclaration = [{
    /// Ranks that take part.
    int64_t getRanks();
  }];
  let hasVerifier = 1;
}

def Model_AllReduceOp : Model_Collective<"all_reduce",
    [AllTypesMatch<["x", "out"]>]> {
  let summary = "sum over the ranks, on every rank";
  let description = [{
    ```mlir
    model.graph @all_reduce(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16>
        attributes {mesh = #model.mesh<tp = 4>} {
      %y = model.all_reduce %x over tp : tensor<?x64xbf16>
      model.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let assemblyFormat = "$x `over` $axis attr-dict `:` type($x)";
}

def Model_AllGatherOp : Model_Collective<"all_gather"> {
  let summary = "the ranks' columns side by side, on every rank";
  let description = [{
    ```mlir
    model.graph @all_gather(%x: tensor<?x80xbf16>) -> tensor<?x320xbf16>
        attributes {mesh = #model.mesh<tp = 4>} {
      %y = model.all_gather %x over tp : tensor<?x80xbf16> -> tensor<?x320xbf16>
      model.return %y : tensor<?x320xbf16>
    }
    ```
  }];
  let assemblyFormat = "$x `over` $axis attr-dict `:` type($x) `->` type($out)";
}

def Model_GatherRowsOp : Model_Collective<"gather_rows",
    [AllTypesMatch<["x", "out"]>]> {
  let arguments = (ins Model_RowsOrChoices:$x, Model_Axis:$axis);
  let results = (outs Model_RowsOrChoices:$out);
  let summary = "the ranks' rows below one another, on every rank";
  let description = [{
    Ranks have rows of their own sequences, as many as they have tokens: rank 0's
    come first. `model.scatter_rows` is the way back.

    ```mlir
    model.graph @gather_rows(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16>
        attributes {mesh = #model.mesh<ep = 4>} {
      %y = model.gather_rows %x over ep : tensor<?x64xbf16>
      %z = model.scatter_rows %y over ep : tensor<?x64xbf16>
      model.return %z : tensor<?x64xbf16>
    }
    ```
  }];
  let assemblyFormat = "$x `over` $axis attr-dict `:` type($x)";
}

def Model_ScatterRowsOp : Model_Collective<"scatter_rows",
    [AllTypesMatch<["x", "out"]>]> {
  let summary = "sum over the ranks, of which each gets the rows that are its own";
  let description = [{
    `x` has rows of all ranks, in the order of `model.gather_rows`. Engines call it
    a reduce-scatter.

    ```mlir
    model.graph @scatter_rows(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16>
        attributes {mesh = #model.mesh<ep = 4>} {
      %y = model.scatter_rows %x over ep : tensor<?x64xbf16>
      model.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let assemblyFormat = "$x `over` $axis attr-dict `:` type($x)";
}

def Model_ZerosOp : Model_Op<"zeros", [Pure]> {
  let summary = "as many rows of zeros as there are tokens";
  let description = [{
    What layers are given that add to their first value, where it is whole.

    ```mlir
    model.graph @zeros(%tokens: tensor<?xi32>) -> tensor<?x64xbf16> {
      %z = model.zeros %tokens : tensor<?xi32> -> tensor<?x64xbf16>
      model.return %z : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins Model_Tokens:$tokens);
  let results = (outs Model_Rows:$out);
  let assemblyFormat = "$tokens attr-dict `:` type($tokens) `->` type($out)";
}

#endif // DIALECTS_MODEL_MODELCOLLECTIVES_TD
