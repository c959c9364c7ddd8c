// RUN: modelc-opt %s --kernels-lower="target=h200 max-tokens=64 max-sequences=4" | FileCheck %s
// Norms that differ in epsilon alone and samplers that differ in the fourth digit of top_p
// are kernels of their own; equal ones are one for both phases.
// CHECK-DAG: kernel @norm_128_bf16_bf16(
// CHECK-DAG: kernel @norm_128_bf16_bf16_v2(
// CHECK-DAG: kernel @sample_320_k0_p90_t100(
// CHECK-DAG: kernel @sample_320_k0_p90_t100_v2(
// CHECK-NOT: _v3
model.graph @decode(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?xi32>
    attributes {max_context = 4096 : i64, phase = #model.phase<decode>} {
  %t = model.weight ["t"] : tensor<320x128xbf16>
  %a = model.weight ["a"] : tensor<128xbf16>
  %b = model.weight ["b"] : tensor<128xbf16>
  %x = model.embed %tokens, %t : tensor<?xi32>, tensor<320x128xbf16> -> tensor<?x128xbf16>
  %n = model.norm %x, %a eps 1.0e-5 : tensor<?x128xbf16>, tensor<128xbf16> -> tensor<?x128xbf16>
  %m = model.norm %n, %b eps 1.0e-1 : tensor<?x128xbf16>, tensor<128xbf16> -> tensor<?x128xbf16>
  %l = model.last %m, %batch : tensor<?x128xbf16>
  %g = model.linear %l, %t : tensor<?x128xbf16>, tensor<320x128xbf16> -> tensor<?x320xbf16>
  %s = model.sample %g, %batch random top_p 0.9001 temperature 1.0 : tensor<?x320xbf16> -> tensor<?xi32>
  model.return %s : tensor<?xi32>
}
model.graph @prefill(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?xi32>
    attributes {max_context = 4096 : i64, phase = #model.phase<prefill>} {
  %t = model.weight ["t"] : tensor<320x128xbf16>
  %a = model.weight ["a"] : tensor<128xbf16>
  %b = model.weight ["b"] : tensor<128xbf16>
  %x = model.embed %tokens, %t : tensor<?xi32>, tensor<320x128xbf16> -> tensor<?x128xbf16>
  %n = model.norm %x, %a eps 1.0e-5 : tensor<?x128xbf16>, tensor<128xbf16> -> tensor<?x128xbf16>
  %m = model.norm %n, %b eps 1.0e-1 : tensor<?x128xbf16>, tensor<128xbf16> -> tensor<?x128xbf16>
  %l = model.last %m, %batch : tensor<?x128xbf16>
  %g = model.linear %l, %t : tensor<?x128xbf16>, tensor<320x128xbf16> -> tensor<?x320xbf16>
  %s = model.sample %g, %batch random top_p 0.9002 temperature 1.0 : tensor<?x320xbf16> -> tensor<?xi32>
  model.return %s : tensor<?xi32>
}
