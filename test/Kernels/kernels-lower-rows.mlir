// RUN: modelc-opt %s --kernels-lower=target=mi355x | FileCheck %s
// RUN: sed -e 's/-> tensor<?x256xbf16> loc("heads")/-> tensor<?x256xf8E4M3FN> scale tensor<?xf32>/' -e 's/%heads = model.norm/%heads, %factor = model.norm/' -e 's/model.norm %heads .* loc("weightless")/model.norm %x, %n256 eps 1.0e-6 : tensor<?x256xbf16>, tensor<256xbf16> -> tensor<?x256xbf16>/' %s | not modelc-opt --kernels-lower=target=mi355x 2>&1 | FileCheck %s --check-prefix=NARROW
// Ops on rows, each by a launch of its own: tables times a number of their own type, norms of heads and of some columns,
// gates, columns side by side.

// NARROW: error: no kernel computes a norm of a part of a row in few bits yet, as 'model.norm' asks for

// CHECK-DAG: schedule.kernel @norm_64_bf16_bf16_heads4_one_plus(%{{.*}}: !schedule.buffer<?x4x64xbf16>, %{{.*}}: !schedule.buffer<64xbf16>, %{{.*}}: !schedule.buffer<?x4x64xbf16>, %{{.*}}: index)
// CHECK-DAG: arith.constant 7.250000e+00 : f32
// CHECK-LABEL: func.func @decode(
// CHECK: schedule.launch [@embed_times_256_bf16](ids = %{{.*}}, table = %{{.*}}, out = %[[X:.*]], m = %{{.*}})
// CHECK: schedule.launch [@norm_64_bf16_bf16_heads4_one_plus](x = %[[X]], weight = %{{.*}}, out = %[[H:.*]], m = %{{.*}}) "n64"
// CHECK: schedule.launch [@norm_64_bf16_bf16_heads4_weightless](x = %[[H]], out = %[[W:.*]], m = %{{.*}}) "norm"
// CHECK: schedule.launch [@norm_256_bf16_bf16_first192](x = %[[W]], weight = %{{.*}}, out = %[[F:.*]], m = %{{.*}})
// CHECK: schedule.launch [@geglu_256_bf16](gate = %[[F]], up = %[[X]], out = %[[G:.*]], m = %{{.*}})
// CHECK: schedule.launch [@gate_256_bf16](x = %[[G]], gate = %[[F]], out = %[[A:.*]], m = %{{.*}})
// CHECK: schedule.launch [@copy_256_bf16](x = %[[A]], out = %[[C:.*]], m = %{{.*}})
// CHECK: schedule.launch [@copy_256_bf16_v2](x = %[[X]], out = %[[C]], m = %{{.*}})

model.graph @decode(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?x512xbf16> attributes {phase = #model.phase<decode>} {
  %table = model.weight ["table"] : tensor<320x256xbf16>
  %n64 = model.weight ["n64"] : tensor<64xbf16>
  %n192 = model.weight ["n192"] : tensor<192xbf16>
  %n256 = model.weight ["n256"] : tensor<256xbf16>
  %x = model.embed %tokens, %table times 7.26 : tensor<?xi32>, tensor<320x256xbf16> -> tensor<?x256xbf16>
  %heads = model.norm %x, %n64 eps 1.0e-6 head_dim 64 one_plus : tensor<?x256xbf16>, tensor<64xbf16> -> tensor<?x256xbf16> loc("heads")
  %weightless = model.norm %heads eps 1.0e-6 head_dim 64 : tensor<?x256xbf16> -> tensor<?x256xbf16> loc("weightless")
  %first = model.norm %weightless, %n192 eps 1.0e-6 first 192 : tensor<?x256xbf16>, tensor<192xbf16> -> tensor<?x256xbf16>
  %g = model.swiglu %first, %x gelu_tanh : tensor<?x256xbf16> -> tensor<?x256xbf16>
  %a = model.gate %g, %first : tensor<?x256xbf16>, tensor<?x256xbf16>
  %c = model.concat %a, %x : tensor<?x256xbf16>, tensor<?x256xbf16> -> tensor<?x512xbf16>
  model.return %c : tensor<?x512xbf16>
}
