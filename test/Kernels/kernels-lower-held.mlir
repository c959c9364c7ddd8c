// RUN: modelc-opt %s --model-state-formats --kernels-lower=target=b200 | FileCheck %s
// RUN: sed s/mxfp4/int4/ %s > %t.mlir
// RUN: not modelc-opt %t.mlir --model-state-formats --kernels-lower=target=b200 2>&1 | FileCheck %s --check-prefix=OTHER
// The loader is told by which names a checkpoint holds numbers, and that they are
// multiplied by their scales where the weight has more bits; integers it does not read.

// OTHER: error: no loader reads tensors in this format yet, #model.held<"int4", data = ".weight", scale = ".weight_scale">
// CHECK-DAG: weight "[\22q.weight\22] stored bf16 blocks 16 of f4E2M1FN scaled f8E4M3FN held .weight_packed by .weight_scale over .weight_global_scale"
// CHECK-DAG: weight "[\22q.weight\22] blocks 16 of f4E2M1FN scaled f8E4M3FN block_scale held .weight_packed by .weight_scale over .weight_global_scale"
// CHECK-DAG: weight "[\22o.weight\22] held .weight by .weight_scale dequantised f4E2M1FN/f8E8M0FNU"
model.graph @f(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?x512xbf16> attributes {phase = #model.phase<decode>} {
  %table = model.weight ["table"] : tensor<8x512xbf16>
  %x = model.embed %tokens, %table : tensor<?xi32>, tensor<8x512xbf16> -> tensor<?x512xbf16>
  %q, %s = model.quantise %x : tensor<?x512xbf16> -> tensor<?x512xf4E2M1FN> scale tensor<?x32xf8E4M3FN>
  %w = model.weight ["q.weight"] stored bf16 held <"nvfp4", data = ".weight_packed", scale = ".weight_scale" tensor_divisor ".weight_global_scale"> : tensor<512x512xf4E2M1FN>
  %ws = model.weight ["q.weight"] block_scale held <"nvfp4", data = ".weight_packed", scale = ".weight_scale" tensor_divisor ".weight_global_scale"> : tensor<512x32xf8E4M3FN>
  %y = model.linear %q, %w scaled %s, %ws : tensor<?x512xf4E2M1FN>, tensor<512x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>, tensor<512x32xf8E4M3FN> -> tensor<?x512xbf16>
  %o = model.weight ["o.weight"] held <"mxfp4", data = ".weight", scale = ".weight_scale"> : tensor<512x512xbf16>
  %z = model.linear %y, %o : tensor<?x512xbf16>, tensor<512x512xbf16> -> tensor<?x512xbf16>
  model.return %z : tensor<?x512xbf16>
}
