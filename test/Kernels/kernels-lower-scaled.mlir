// RUN: modelc-opt %s --model-state-formats --kernels-lower=target=b200 | FileCheck %s
// RUN: not modelc-opt %s --model-state-formats --kernels-lower=target=mi355x 2>&1 | FileCheck %s --check-prefix=OTHER
// NVFP4: scales of E4M3 for each block of 16, in words of four in the order in which the
// machine copies them to its tensor memory.

// OTHER: error: expected operands of a type that 'mi355x' multiplies, {{.*}}, got 'f4E2M1FN' with a scale for each block of 16
// CHECK: #[[PACKED:.*]] = #schedule.layout<(row = [], column = [16, 32, 64, 128, 256, 4, 8]) -> (byte = 512)>
// CHECK: schedule.kernel @quantise_512_f4e2m1fn_f8e4m3fn({{.*}}: !schedule.buffer<?x8x256xvector<4xf8E4M3FN>>
// CHECK: schedule.kernel @linear_1024x512_f4e2m1fn_bf16_f8e4m3fn_{{[0-9]+x[0-9a-z_]+}}({{.*}}: !schedule.buffer<?x8x256xvector<4xf8E4M3FN>, #[[PACKED]]>, {{.*}}: !schedule.buffer<4x8x256xvector<4xf8E4M3FN>, #[[PACKED]]>
// CHECK: schedule.load {{.*}}#[[PACKED]]> -> !schedule.tile<{{[0-9]+}}x128xvector<4xf8E4M3FN>>
model.graph @f(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?x1024xbf16> attributes {phase = #model.phase<decode>} {
  %table = model.weight ["table"] : tensor<8x512xbf16>
  %x = model.embed %tokens, %table : tensor<?xi32>, tensor<8x512xbf16> -> tensor<?x512xbf16>
  %q, %s = model.quantise %x : tensor<?x512xbf16> -> tensor<?x512xf4E2M1FN> scale tensor<?x32xf8E4M3FN>
  %w = model.weight ["w"] : tensor<1024x512xf4E2M1FN>
  %ws = model.weight ["w_scale"] : tensor<1024x32xf8E4M3FN>
  %y = model.linear %q, %w scaled %s, %ws : tensor<?x512xf4E2M1FN>, tensor<1024x512xf4E2M1FN>, tensor<?x32xf8E4M3FN>, tensor<1024x32xf8E4M3FN> -> tensor<?x1024xbf16>
  model.return %y : tensor<?x1024xbf16>
}
