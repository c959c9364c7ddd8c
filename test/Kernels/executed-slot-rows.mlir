// DEFINE: %{chip} = mi355x
// DEFINE: %{prelude} = amd/tiles.hip.h
// DEFINE: %{threads} = 64
// DEFINE: %{build} = --kernels-build=target=%{chip} tile=n:128,waves:1
// DEFINE: %{shape} = shape=experts:4,top_k:3,tile_rows:4,columns:200
// DEFINE: %{kernels} = rm -rf %t && mkdir -p %t/slots && \
// DEFINE:   modelc-opt %s "%{build} symbol=expand family=expand %{shape}" --schedule-finish | %emit -o %t/slots/expand.h && \
// DEFINE:   modelc-opt %s "%{build} symbol=weighed family=expand %{shape},weighed:1" --schedule-finish | %emit -o %t/slots/weighed.h && \
// DEFINE:   modelc-opt %s "%{build} symbol=combine family=combine %{shape},weighed:1" --schedule-finish | %emit -o %t/slots/combine.h && \
// DEFINE:   modelc-opt %s "%{build} symbol=sum family=combine %{shape}" --schedule-finish | %emit -o %t/slots/sum.h && \
// DEFINE:   echo '#include "%{prelude}"' > %t/slots/prelude.h
// DEFINE: %{run} = %emulate -I%t -DTHREADS=%{threads} -DDYNAMIC_BYTES=4096 %S/Inputs/slotRows.cpp -o %t/run && \
// DEFINE:   env EMULATOR_COPIES=lazy %t/run | FileCheck %s
// RUN: %{kernels}
// RUN: %{run}
// REDEFINE: %{chip} = h200
// REDEFINE: %{prelude} = nvidia/tiles.cuh
// REDEFINE: %{threads} = 32
// RUN: %{kernels}
// RUN: %{run}
// Slots that are filling are zeros; pairs of other ranks add nothing.

// CHECK: expanded: right
// CHECK: weighed: right
// CHECK: combined: right
// CHECK: summed: right
