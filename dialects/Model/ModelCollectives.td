// Ops between ranks, and what sums that wait for them start from.

#ifndef DIALECTS_MODEL_MODELCOLLECTIVES_TD
#define DIALECTS_MODEL_MODELCOLLECTIVES_TD

include "dialects/Model/ModelStructure.td"

def Model_AllReduceOp : Model_Op<"all_reduce", [Pure, AllTypesMatch<["x", "out"]>]> {
  let summary = "sum over the ranks, on every rank";
  let description = [{
    ```mlir
    model.graph @all_reduce(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16>
        attributes {ranks = 4 : i64} {
      %y = model.all_reduce %x : tensor<?x64xbf16>
      model.return %y : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins Model_Rows:$x);
  let results = (outs Model_Rows:$out);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def Model_AllGatherOp : Model_Op<"all_gather", [Pure]> {
  let summary = "the ranks' columns side by side, on every rank";
  let description = [{
    ```mlir
    model.graph @all_gather(%x: tensor<?x80xbf16>) -> tensor<?x320xbf16>
        attributes {ranks = 4 : i64} {
      %y = model.all_gather %x : tensor<?x80xbf16> -> tensor<?x320xbf16>
      model.return %y : tensor<?x320xbf16>
    }
    ```
  }];
  let arguments = (ins Model_Rows:$x);
  let results = (outs Model_Rows:$out);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($out)";
  let hasVerifier = 1;
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
