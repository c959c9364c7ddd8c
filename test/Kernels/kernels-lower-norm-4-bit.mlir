// RUN: modelc-opt %s --model-state-formats --kernels-lower=target=mi355x | FileCheck %s
// RUN: modelc-opt %s --model-state-formats --kernels-lower=target=b200 | FileCheck %s --check-prefix=ORDERED
// A norm to four bits is one launch, that writes numbers in pairs and words of scales; its
// name says the type of the scales where a target knows several.

// CHECK: schedule.kernel @norm_512_bf16_f4e2m1fn(
// CHECK-LABEL: func.func @decode(
// CHECK: %[[W:.*]] = schedule.alloc as weight "[\22norm\22]" : !schedule.buffer<512xbf16>
// CHECK: %[[Q:.*]] = schedule.alloc(%{{.*}}) as {{.*}} : !schedule.buffer<?x256xvector<2xf4E2M1FN>>
// CHECK: %[[S:.*]] = schedule.alloc(%{{.*}}) as {{.*}} : !schedule.buffer<?x4x256xvector<4xf8E8M0FNU>>
// CHECK: schedule.launch [@norm_512_bf16_f4e2m1fn](x = %{{.*}}, weight = %[[W]], out = %[[Q]], scale = %[[S]],

// ORDERED: #[[PACKED:.*]] = #schedule.layout<
// ORDERED: schedule.kernel @norm_512_bf16_f4e2m1fn_f8e8m0fnu(
// ORDERED: !schedule.buffer<?x4x256xvector<4xf8E8M0FNU>, #[[PACKED]]>
// ORDERED: schedule.launch [@norm_512_bf16_f4e2m1fn_f8e8m0fnu](
model.graph @decode(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?x512xbf16> attributes {phase = #model.phase<decode>} {
  %table = model.weight ["table"] : tensor<2x512xbf16>
  %x = model.embed %tokens, %table : tensor<?xi32>, tensor<2x512xbf16> -> tensor<?x512xbf16>
  %n = model.weight ["norm"] : tensor<512xbf16>
  %q, %s = model.norm %x, %n eps 1.0e-5 : tensor<?x512xbf16>, tensor<512xbf16> -> tensor<?x512xf4E2M1FN> scale tensor<?x16xf8E8M0FNU>
  %w = model.weight ["w"] : tensor<1024x512xf4E2M1FN>
  %ws = model.weight ["w_scale"] : tensor<1024x16xf8E8M0FNU>
  %y = model.linear %q, %w scaled %s, %ws swiglu : tensor<?x512xf4E2M1FN>, tensor<1024x512xf4E2M1FN>, tensor<?x16xf8E8M0FNU>, tensor<1024x16xf8E8M0FNU> -> tensor<?x512xbf16>
  model.return %y : tensor<?x512xbf16>
}
