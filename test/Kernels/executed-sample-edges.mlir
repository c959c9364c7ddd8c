// DEFINE: %{chip} = mi355x
// DEFINE: %{prelude} = amd/tiles.hip.h
// DEFINE: %{threads} = 128
// DEFINE: %{build} = --kernels-build=target=%{chip} family=sample types=element:bf16 tile=n:256,waves:2
// DEFINE: %{kernels} = rm -rf %t && mkdir -p %t/sample && \
// DEFINE:   modelc-opt %s "%{build} symbol=greedy shape=vocabulary:500" --schedule-finish | %emit -o %t/sample/greedy.h && \
// DEFINE:   modelc-opt %s "%{build} symbol=one shape=greedy:0,vocabulary:500,top_k:1" --schedule-finish | %emit -o %t/sample/one.h && \
// DEFINE:   modelc-opt %s "%{build} symbol=few shape=greedy:0,vocabulary:500,top_k:7,top_p:1" --schedule-finish | %emit -o %t/sample/few.h && \
// DEFINE:   modelc-opt %s "%{build} symbol=tiny shape=greedy:0,vocabulary:500,top_p:0.000001" --schedule-finish | %emit -o %t/sample/tiny.h && \
// DEFINE:   modelc-opt %s "%{build} symbol=most shape=greedy:0,vocabulary:500,top_k:500,top_p:0.9,temperature:0.5" --schedule-finish | %emit -o %t/sample/most.h && \
// DEFINE:   echo '#include "%{prelude}"' > %t/sample/prelude.h
// DEFINE: %{run} = %emulate -I%t -DTHREADS=%{threads} -DDYNAMIC_BYTES=4096 %S/Inputs/sampleEdges.cpp -o %t/run && \
// DEFINE:   env EMULATOR_COPIES=lazy %t/run | FileCheck %s
// RUN: %{kernels}
// RUN: %{run}
// REDEFINE: %{chip} = mi300x
// RUN: %{kernels}
// RUN: %{run}
// REDEFINE: %{chip} = h200
// REDEFINE: %{prelude} = nvidia/tiles.cuh
// REDEFINE: %{threads} = 64
// RUN: %{kernels}
// RUN: %{run}
// Of equals the first is taken, and kept, first; minus zero equals zero; k = 1 and
// a tiny p are greedy whatever is drawn; p = 1 keeps all of the k; k of the whole
// vocabulary keeps all; a low temperature sharpens what p then keeps.

// CHECK: greedy: right
// CHECK: k = 1: right
// CHECK: k = 7: right
// CHECK: p = 1e-6: right
// CHECK: p = 0.9, temperature 0.5: right
