// RUN: modelc-opt %s --split-input-file --verify-diagnostics --model-state-formats --kernels-lower=target=mi355x | FileCheck %s
// RUN: modelc-opt %s --split-input-file --verify-diagnostics --model-state-formats --kernels-lower=target=b200 | FileCheck %s --check-prefix=ORDERED
// RUN: not modelc-opt %s --split-input-file --model-state-formats --kernels-lower=target=h200 2>&1 | FileCheck %s --check-prefix=OTHER
// Numbers of four bits lie in pairs, their scales in words of four, in groups of 256 rows.
// Where the matrix unit reads scales in an order of its own, buffers say it. A machine
// without such products says so.

// OTHER: error: expected operands of a type that 'h200' multiplies, bf16, f8E4M3FN, got 'f4E2M1FN' with a scale for each block of 32; try other types of weights

// ORDERED: #[[PACKED:.*]] = #schedule.layout<(row = [], column = [16, 32, 64, 128, 256, 4, 8]) -> (byte = 512)>
// ORDERED: schedule.alloc({{.*}}) as workspace : !schedule.buffer<?x4x256xvector<4xf8E8M0FNU>, #[[PACKED]]>
// ORDERED: schedule.alloc as weight "[\22w_scale\22] blocks 32 of f4E2M1FN scaled f8E8M0FNU" : !schedule.buffer<4x4x256xvector<4xf8E8M0FNU>, #[[PACKED]]>

// CHECK: schedule.kernel @quantise_512_f4e2m1fn
// CHECK: schedule.kernel @[[LINEAR:linear_1024x512_f4e2m1fn_bf16_swiglu_16x[0-9a-z_]+]](
// CHECK-LABEL: func.func @decode(
// CHECK: %[[X:.*]] = schedule.alloc(%{{.*}}) as workspace : !schedule.buffer<?x512xbf16>
// CHECK: %[[Q:.*]] = schedule.alloc(%{{.*}}) as workspace : !schedule.buffer<?x256xvector<2xf4E2M1FN>>
// CHECK: %[[GROUPS:.*]] = arith.ceildivsi %{{.*}}, %c256
// CHECK: %[[XS:.*]] = schedule.alloc(%[[GROUPS]]) as workspace : !schedule.buffer<?x4x256xvector<4xf8E8M0FNU>>
// CHECK: %[[W:.*]] = schedule.alloc as weight "[\22w\22] blocks 32 of f4E2M1FN scaled f8E8M0FNU" : !schedule.buffer<1024x256xvector<2xf4E2M1FN>>
// CHECK: %[[WS:.*]] = schedule.alloc as weight "[\22w_scale\22] blocks 32 of f4E2M1FN scaled f8E8M0FNU" : !schedule.buffer<4x4x256xvector<4xf8E8M0FNU>>
// CHECK: schedule.launch [@quantise_512_f4e2m1fn](x = %[[X]], out = %[[Q]], scale = %[[XS]],
// CHECK: schedule.launch [{{.*}}@[[LINEAR]]{{.*}}](a = %[[Q]], w = %[[W]], a_scales = %[[XS]], w_scales = %[[WS]],
model.graph @decode(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?x512xbf16> attributes {phase = #model.phase<decode>} {
  %table = model.weight ["table"] : tensor<2x512xbf16>
  %x = model.embed %tokens, %table : tensor<?xi32>, tensor<2x512xbf16> -> tensor<?x512xbf16>
  %q, %s = model.quantise %x : tensor<?x512xbf16> -> tensor<?x512xf4E2M1FN> scale tensor<?x16xf8E8M0FNU>
  %w = model.weight ["w"] : tensor<1024x512xf4E2M1FN>
  %ws = model.weight ["w_scale"] : tensor<1024x16xf8E8M0FNU>
  %y = model.linear %q, %w scaled %s, %ws swiglu : tensor<?x512xf4E2M1FN>, tensor<1024x512xf4E2M1FN>, tensor<?x16xf8E8M0FNU>, tensor<1024x16xf8E8M0FNU> -> tensor<?x512xbf16>
  model.return %y : tensor<?x512xbf16>
}

// -----

model.graph @decode(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?x96xf4E2M1FN> attributes {phase = #model.phase<decode>} {
  %table = model.weight ["table"] : tensor<2x96xbf16>
  %x = model.embed %tokens, %table : tensor<?xi32>, tensor<2x96xbf16> -> tensor<?x96xbf16>
  // expected-error @+1 {{expected rows of a multiple of 128 numbers with scales of blocks, got 96; try 128, or other types of weights}}
  %q, %s = model.quantise %x : tensor<?x96xbf16> -> tensor<?x96xf4E2M1FN> scale tensor<?x3xf8E8M0FNU>
  model.return %q : tensor<?x96xf4E2M1FN>
}

// -----

model.graph @decode(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?x192xf4E2M1FN> attributes {phase = #model.phase<decode>} {
  %table = model.weight ["table"] : tensor<2x192xbf16>
  %x = model.embed %tokens, %table : tensor<?xi32>, tensor<2x192xbf16> -> tensor<?x192xbf16>
  %n = model.weight ["norm"] : tensor<192xbf16>
  // expected-error @+1 {{expected rows of a multiple of 128 numbers with scales of blocks, got 192; try 128 or 256, or other types of weights}}
  %q, %s = model.norm %x, %n eps 1.0e-5 : tensor<?x192xbf16>, tensor<192xbf16> -> tensor<?x192xf4E2M1FN> scale tensor<?x6xf8E8M0FNU>
  model.return %q : tensor<?x192xf4E2M1FN>
}
