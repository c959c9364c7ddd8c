// RUN: modelc-opt %s --model-join --model-state-formats --kernels-lower=target=b200 --mlir-use-nameloc-as-prefix | FileCheck %s
// RUN: modelc-opt %s --model-join --model-state-formats --kernels-lower=target=b200 --mlir-use-nameloc-as-prefix | FileCheck %s --check-prefix=WHOLE
// Where sums are split, the kernel that adds their parts quantises what SwiGLU leaves; elsewhere
// it is stored and a kernel of its own does.

// CHECK: schedule.kernel @[[LINEAR:linear_7168x8192_f4e2m1fn_bf16_f8e4m3fn_tensor_scaled_swiglu_to_f4e2m1fn_f8e4m3fn_tensor_scaled_[0-9]+x[0-9]+x[0-9a-z_]+]](
// CHECK: schedule.kernel @[[LINEAR]]_reduce(%partial: {{.*}}vector<2xf32>>, %a_tensor_scale: {{.*}}, %w_tensor_scale: {{.*}}, %tensor_scale: {{.*}}, %out: !schedule.buffer<?x56x4x8xvector<2xf4E2M1FN>>, %scale: !schedule.buffer<?x56x256xvector<4xf8E4M3FN>>, %m: index)
// CHECK-LABEL: func.func @prefill(
// CHECK: %[[T:.*]] = schedule.alloc as weight "[\22down_scale\22]" : !schedule.buffer<1xf32>
// CHECK: schedule.launch [@[[LINEAR]]]({{.*}}, partial = %[[PARTS:[^,]*]], m = %tokens)
// CHECK-NEXT: schedule.launch [@[[LINEAR]]_reduce](partial = %[[PARTS]], a_tensor_scale = %{{.*}}, w_tensor_scale = %{{.*}}, tensor_scale = %[[T]], out = %[[OUT:[^,]*]], scale = %[[SCALE:[^,]*]], m = %tokens)
// CHECK-NEXT: }

// WHOLE: func.func @prefill(
// WHOLE: schedule.launch [{{.*}}_tensor_scaled_{{[0-9]+}}x{{.*}}, {{.*}}]({{.*}}, d = %[[D:[^,]*]], m = %tokens) "w"
// WHOLE-NEXT: schedule.launch [@quantise_3584_f4e2m1fn_f8e4m3fn_tensor_scaled](x = %[[D]],
model.graph @prefill(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?x8192xbf16> attributes {phase = #model.phase<prefill>} {
  %table = model.weight ["table"] : tensor<2x8192xbf16>
  %x = model.embed %tokens, %table : tensor<?xi32>, tensor<2x8192xbf16> -> tensor<?x8192xbf16>
  %t = model.weight ["x_scale"] : tensor<1xf32>
  %q, %s = model.quantise %x tensor_scaled %t : tensor<?x8192xbf16>, tensor<1xf32> -> tensor<?x8192xf4E2M1FN> scale tensor<?x512xf8E4M3FN>
  %w = model.weight ["w"] : tensor<7168x8192xf4E2M1FN>
  %ws = model.weight ["w_scales"] : tensor<7168x512xf8E4M3FN>
  %wt = model.weight ["w_scale"] : tensor<7168xf32>
  %td = model.weight ["down_scale"] : tensor<1xf32>
  %y = model.linear %q, %w scaled %s, %ws tensor_scaled %t, %wt swiglu : tensor<?x8192xf4E2M1FN>, tensor<7168x8192xf4E2M1FN>, tensor<?x512xf8E4M3FN>, tensor<7168x512xf8E4M3FN>, tensor<1xf32>, tensor<7168xf32> -> tensor<?x3584xbf16>
  %qd, %sd = model.quantise %y tensor_scaled %td : tensor<?x3584xbf16>, tensor<1xf32> -> tensor<?x3584xf4E2M1FN> scale tensor<?x224xf8E4M3FN>
  %d = model.weight ["d"] : tensor<8192x3584xf4E2M1FN>
  %ds = model.weight ["d_scales"] : tensor<8192x224xf8E4M3FN>
  %dt = model.weight ["d_scale"] : tensor<8192xf32>
  %z = model.linear %qd, %d scaled %sd, %ds tensor_scaled %td, %dt : tensor<?x3584xf4E2M1FN>, tensor<8192x3584xf4E2M1FN>, tensor<?x224xf8E4M3FN>, tensor<8192x224xf8E4M3FN>, tensor<1xf32>, tensor<8192xf32> -> tensor<?x8192xbf16>
  model.return %z : tensor<?x8192xbf16>
}
