// DEFINE: %{build} = family=sample types=element:bf16 tile=n:256,waves:2
// RUN: modelc-opt %s "--kernels-build=target=mi355x %{build} symbol=greedy shape=vocabulary:500" --schedule-finish | %emit -o %t.greedy.h
// RUN: modelc-opt %s "--kernels-build=target=mi355x %{build} symbol=one shape=random:1,vocabulary:500,top_k:1" --schedule-finish | %emit -o %t.one.h
// RUN: modelc-opt %s "--kernels-build=target=mi355x %{build} symbol=few shape=random:1,vocabulary:500,top_k:7,top_p:1" --schedule-finish | %emit -o %t.few.h
// RUN: modelc-opt %s "--kernels-build=target=mi355x %{build} symbol=tiny shape=random:1,vocabulary:500,top_p:0.000001" --schedule-finish | %emit -o %t.tiny.h
// RUN: modelc-opt %s "--kernels-build=target=mi355x %{build} symbol=most shape=random:1,vocabulary:500,top_p:0.9" --schedule-finish | %emit -o %t.most.h
// RUN: echo '#include "amd/tiles.hip.h"' > %t.prelude.h
// RUN: %emulate -DKERNELS=%t -DTHREADS=128 -DDYNAMIC_BYTES=0 %S/Inputs/sampleEdges.cpp -o %t.run
// RUN: env EMULATOR_COPIES=lazy %t.run | FileCheck %s
// Of equals the first is taken, and kept, first; minus zero equals zero; k = 1 and
// a tiny p are greedy whatever is drawn; p = 1 keeps all of the k.

// CHECK: greedy: right
// CHECK: k = 1: right
// CHECK: k = 7: right
// CHECK: p = 1e-6: right
// CHECK: p = 0.9: right
