// DEFINE: %{chip} = mi355x
// DEFINE: %{prelude} = amd/tiles.hip.h
// DEFINE: %{threads} = 64
// DEFINE: %{build} = --kernels-build=target=%{chip} family=route
// DEFINE: %{v3} = shape=experts:256,top_k:8,scoring:sigmoid,groups:8,kept_groups:4,group_score:top_two,renormalised:1,epsilon:1e-20,scale:2.5
// DEFINE: %{kernels} = rm -rf %t && mkdir -p %t/route && \
// DEFINE:   modelc-opt %s "%{build} symbol=mixtral shape=experts:8,top_k:2,renormalised:1" --schedule-finish | %emit -o %t/route/mixtral.h && \
// DEFINE:   modelc-opt %s "%{build} symbol=deepseek2 types=element:bf16 shape=experts:160,top_k:6,groups:8,kept_groups:3,group_mask:zero,scale:16" --schedule-finish | %emit -o %t/route/deepseek2.h && \
// DEFINE:   modelc-opt %s "%{build} symbol=deepseek3 types=correction:f32 %{v3}" --schedule-finish | %emit -o %t/route/deepseek3.h && \
// DEFINE:   modelc-opt %s "%{build} symbol=zeroed types=correction:f32 %{v3},group_mask:zero" --schedule-finish | %emit -o %t/route/zeroed.h && \
// DEFINE:   modelc-opt %s "%{build} symbol=kimi types=correction:f32 shape=experts:384,top_k:8,scoring:sigmoid,renormalised:1,scale:2.827" --schedule-finish | %emit -o %t/route/kimi.h && \
// DEFINE:   modelc-opt %s "%{build} symbol=gptoss types=element:bf16 shape=experts:128,top_k:4,scoring:softmax_of_chosen" --schedule-finish | %emit -o %t/route/gptoss.h && \
// DEFINE:   modelc-opt %s "%{build} symbol=llama4 types=element:bf16 shape=experts:16,top_k:1,scoring:sigmoid" --schedule-finish | %emit -o %t/route/llama4.h && \
// DEFINE:   modelc-opt %s "%{build} symbol=all types=element:bf16,correction:f32 shape=experts:6,top_k:6,groups:2,kept_groups:2,group_score:top_two,group_mask:zero,renormalised:1,epsilon:0.5" --schedule-finish | %emit -o %t/route/all.h && \
// DEFINE:   echo '#include "%{prelude}"' > %t/route/prelude.h
// DEFINE: %{run} = %emulate -I%t -DTHREADS=%{threads} -DDYNAMIC_BYTES=4096 %S/Inputs/route.cpp -o %t/run && \
// DEFINE:   env EMULATOR_COPIES=lazy %t/run | FileCheck %s
// RUN: %{kernels}
// RUN: %{run}
// REDEFINE: %{chip} = h200
// REDEFINE: %{prelude} = nvidia/tiles.cuh
// REDEFINE: %{threads} = 32
// RUN: %{kernels}
// RUN: %{run}
// Of equals the lower expert is chosen, first; minus zero equals zero; what is
// added counts for the choice alone; groups that are not kept score zero, which
// wins over what is negative, or never; all experts may be chosen.

// CHECK: mixtral experts: right
// CHECK: mixtral weights: right
// CHECK: deepseek2 experts: right
// CHECK: deepseek2 weights: right
// CHECK: deepseek3 experts: right
// CHECK: deepseek3 weights: right
// CHECK: zeroed experts: right
// CHECK: zeroed weights: right
// CHECK: kimi experts: right
// CHECK: kimi weights: right
// CHECK: gptoss experts: right
// CHECK: gptoss weights: right
// CHECK: llama4 experts: right
// CHECK: llama4 weights: right
// CHECK: all experts: right
// CHECK: all weights: right
