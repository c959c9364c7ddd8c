// DEFINE: %{chip} = mi355x
// DEFINE: %{prelude} = amd/tiles.hip.h
// DEFINE: %{threads} = 128
// DEFINE: %{waves} = 2
// DEFINE: %{build} = --kernels-build=target=%{chip}
// DEFINE: %{few} = tile=chunk:64,step:16,waves:%{waves} shape=experts:8,top_k:2,tile_rows:16
// DEFINE: %{rank} = tile=chunk:128,step:32,waves:%{waves} shape=experts:96,top_k:8,tile_rows:32,first_expert:288
// DEFINE: %{kernels} = rm -rf %t && mkdir -p %t/place && \
// DEFINE:   modelc-opt %s "%{build} symbol=few family=place %{few},whole:1" --schedule-finish | %emit -o %t/place/few.h && \
// DEFINE:   modelc-opt %s "%{build} symbol=count family=count-pairs %{few}" --schedule-finish | %emit -o %t/place/count.h && \
// DEFINE:   modelc-opt %s "%{build} symbol=chunks family=place %{few}" --schedule-finish | %emit -o %t/place/chunks.h && \
// DEFINE:   modelc-opt %s "%{build} symbol=many family=place tile=chunk:512,step:32,waves:%{waves} shape=experts:256,top_k:8,tile_rows:16,whole:1" --schedule-finish | %emit -o %t/place/many.h && \
// DEFINE:   modelc-opt %s "%{build} symbol=rank_count family=count-pairs %{rank}" --schedule-finish | %emit -o %t/place/rank_count.h && \
// DEFINE:   modelc-opt %s "%{build} symbol=rank family=place %{rank}" --schedule-finish | %emit -o %t/place/rank.h && \
// DEFINE:   echo '#include "%{prelude}"' > %t/place/prelude.h
// DEFINE: %{run} = %emulate -I%t -DTHREADS=%{threads} -DDYNAMIC_BYTES=4096 %S/Inputs/place.cpp -o %t/run && \
// DEFINE:   env EMULATOR_COPIES=lazy %t/run | FileCheck %s
// RUN: %{kernels}
// RUN: %{run}
// REDEFINE: %{chip} = h200
// REDEFINE: %{prelude} = nvidia/tiles.cuh
// REDEFINE: %{threads} = 64
// RUN: %{kernels}
// RUN: %{run}
// By one workgroup or in chunks; experts without rows; more tiles than are used;
// pairs that do not fill tiles or chunks; experts of other ranks, all of them and
// none.

// CHECK-COUNT-9: few: right
// CHECK-COUNT-3: few, two experts: right
// CHECK-COUNT-3: chunks: right
// CHECK-COUNT-3: chunks, two experts: right
// CHECK-COUNT-6: many: right
// CHECK-COUNT-3: rank: right
// CHECK-COUNT-3: rank with all: right
// CHECK-COUNT-3: rank with none: right
