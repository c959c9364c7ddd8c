// RUN: modelc-opt %s --kernels-lower=target=h200 | FileCheck %s
// RUN: modelc-opt %s --kernels-lower=target=b200 | FileCheck %s
// RUN: modelc %src_root/examples/llama-3.1-8b.toml --target=h200 --emit=schedule | FileCheck %s --check-prefix=GATED

// Long sums of few columns are cut, also of many rows, while the parts stay in
// the last cache; where the grid fills the machine nothing is.
// CHECK-DAG: schedule.kernel @linear_64x16384_bf16_16x{{.*}} guard [#schedule.range<"m", 1 to {{.*}}note = "{{[^"]*}}, {{[1-9][0-9]}} parts of the sum
// CHECK-DAG: schedule.kernel @linear_64x16384_bf16_{{.*}} to 8192>{{.*}}note = "{{[^"]*}} parts of the sum
// CHECK-DAG: schedule.kernel @linear_16384x64_bf16_{{.*}} to 16384>] {{.*}}note = "{{[0-9x]+}}, {{[48]}} waves{{(, weight first)?}}: best preview

// Where every workgroup has a unit of its own, its ring takes all there is. Many
// rows are four pieces of 4 waves, whose reads lie under products.
// RUN: modelc %src_root/examples/llama-3.1-8b.toml --target=mi355x --emit=schedule | FileCheck %s --check-prefix=ALONE
// ALONE-LABEL: schedule.kernel @linear_4096x4096_bf16_residual_16x{{.*}} slots = 8 : i64
// ALONE-LABEL: schedule.kernel @linear_28672x4096_bf16_swiglu_256x128x32_in2x1_groups1(
// ALONE-NOT: slots = {{[0-9]+}} : i64
// ALONE: schedule.loop

// Gate and up of 128 columns each: products of operands in shared memory leave
// the registers to the sums, and so they do beside a residual.
// GATED-DAG: schedule.kernel @linear_28672x4096_bf16_swiglu_128x128x64_waves8({{.*}} to 16384>]
// Where rounds of 128 x 256 leave units idle, 192 columns are two products.
// GATED-DAG: schedule.kernel @linear_6144x4096_bf16_128x192x64_waves8_slots8({{.*}} to 448>] {{.*}}note = "128x192x64, 8 waves: {{.*}} us at
// GATED-DAG: schedule.kernel @linear_4096x14336_bf16_residual_256x128x64_waves8({{.*}} to 16384>]

// Eight bits of few rows come second: a wave that multiplies them would convert both to 16
// bits first. A residual that arrives number by number has no room beside 128 sums.
// RUN: modelc %src_root/examples/llama-3.3-70b.toml --target=h200 --weights=fp8 --emit=schedule | FileCheck %s --check-prefix=READ --implicit-check-not=MmaSync16x8x32F8
// READ: schedule.kernel @linear_8192x8192_f8e4m3fn_bf16_scaled_residual_16x128x128_swapped_{{.*}}"m", 1 to 16>
// RUN: modelc %src_root/examples/llama-3.3-70b.toml --target=h200 --set=memory.capacity=100TB --isl=32768 --osl=1 --batch=256 --emit=schedule | FileCheck %s --check-prefix=ROOM --implicit-check-not=residual_256x128x64_waves8_swapped
// ROOM: schedule.kernel @linear_8192x8192_bf16_residual_128x256x64_waves8

// What L2 bounds is loaded by two workgroups together.
// RUN: modelc %src_root/examples/llama-3.3-70b.toml --target=h200 --tp=8 --emit=schedule | FileCheck %s --check-prefix=SHARED
// SHARED: schedule.kernel @linear_1280x8192_bf16_128x128x64_roles_sharers2_slots8({{.*}}note = "128x128x64, 4 waves, roles, 2 workgroups load together: {{.*}} us at

// One row above whole tiles: pairs along the weight, whose rows are whole tiles, and as many
// columns as waste least; one product makes 192 of them.
// RUN: modelc %src_root/examples/llama-3.3-70b.toml --target=b200 --emit=schedule | FileCheck %s --check-prefix=TURNED
// TURNED-DAG: schedule.kernel @linear_{{.*}}_bf16_{{(residual_)?}}192x128x64_swapped_roles_cluster2{{.*}} guard {{.*}}"m", {{.*}}note = "192x128x64, 4 waves, roles, 2 workgroups together, weight first: {{.*}} us at

// Where waves add products, pairs multiply 256 columns in two products, gate and up of 128
// each; few rows are columns, 32 of them, as the scales of more would not fit beside them.
// RUN: modelc %src_root/examples/llama-3.1-8b.toml --target=b200 --weights=fp8_block --emit=schedule | FileCheck %s --check-prefix=ADDED
// ADDED-DAG: schedule.kernel @linear_6144x4096_f8e4m3fn_bf16_f32_128x256x128_waves8_roles_cluster2_slots8({{.*}} to 16384>]
// ADDED-DAG: schedule.kernel @linear_28672x4096_f8e4m3fn_bf16_f32_swiglu_to_f8e4m3fn_f32_128x128x128_waves8_roles_cluster2_slots8({{.*}} to 16384>]
// ADDED-DAG: schedule.kernel @linear_4096x14336_f8e4m3fn_bf16_f32_residual_32x256x128_waves8_parts4_swapped_roles({{.*}}"m", 17 to 64>]
model.graph @f(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?x64xbf16> attributes {phase = #model.phase<prefill>} {
  %table = model.weight ["table"] : tensor<8x64xbf16>
  %x = model.embed %tokens, %table : tensor<?xi32>, tensor<8x64xbf16> -> tensor<?x64xbf16>
  %up = model.weight ["up"] : tensor<16384x64xbf16>
  %y = model.linear %x, %up : tensor<?x64xbf16>, tensor<16384x64xbf16> -> tensor<?x16384xbf16>
  %down = model.weight ["down"] : tensor<64x16384xbf16>
  %z = model.linear %y, %down : tensor<?x16384xbf16>, tensor<64x16384xbf16> -> tensor<?x64xbf16>
  model.return %z : tensor<?x64xbf16>
}
