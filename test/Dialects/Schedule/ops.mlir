// RUN: %modelc-opt %s | %modelc-opt | FileCheck %s
// RUN: %modelc-opt %s --mlir-print-op-generic | %modelc-opt | FileCheck %s
// Every op of a kernel and of a plan survives both spellings.

#a = #schedule.layout<(register = [0:1, 0:2, 0:4], lane = [1:0, 2:0, 4:0, 8:0, 0:8, 0:16], wave = [0:0]) -> (row = 16, column = 32)>
#b = #schedule.layout<(register = [0:1, 0:2, 0:4], lane = [1:0, 2:0, 4:0, 0:16, 8:0, 0:8], wave = [0:0]) -> (row = 16, column = 32)>
#sw = #schedule.layout<(row = [64, 144], column = [2, 4, 8, 16, 32]) -> (byte = 256)>

// CHECK: #layout = #schedule.layout<(row = [64, 144], column = [2, 4, 8, 16, 32]) -> (byte = 256)>
// CHECK-LABEL: schedule.kernel @memory(
// CHECK-SAME: %{{.*}}: !schedule.buffer<?x32xbf16>
// CHECK-SAME: guard [#schedule.range<"m", 1 to 64 by 4>, #schedule.range<"n", 1 to 2>]
// CHECK-SAME: arg_names = ["a", "ids", "pages", "d", "m", "n"]
schedule.kernel @memory(%a: !schedule.buffer<?x32xbf16>, %ids: !schedule.buffer<?xi32>, %pages: !schedule.buffer<?x?xi32>, %d: !schedule.buffer<?x32xbf16>, %m: index, %n: index)
    guard [#schedule.range<"m", 1 to 64 by 4>, #schedule.range<"n", 1 to 2>] attributes {waves = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: schedule.alloc at 0 : !schedule.tile<16x32xbf16, shared, slots = 3>
  %ring = schedule.alloc at 0 : !schedule.tile<16x32xbf16, shared, slots = 3>
  // CHECK: schedule.alloc : !schedule.barrier<1, slots = 3>
  %full = schedule.alloc : !schedule.barrier<1, slots = 3>
  // CHECK: schedule.alloc : !schedule.barrier<2>
  %one = schedule.alloc : !schedule.barrier<2>
  // CHECK: schedule.loop (%{{.*}}, %{{.*}}) = (%{{.*}}, %{{.*}}) to (%{{.*}}, %{{.*}}) on workgroups attributes {order = array<i64: 8, 4>}
  schedule.loop (%i, %j) = (%c0, %c0) to (%m, %n) on workgroups attributes {order = array<i64: 8, 4>} {
    // CHECK: schedule.load %{{.*}}[%{{.*}}] : !schedule.buffer<?xi32> -> i32
    %count = schedule.load %ids[%i] : !schedule.buffer<?xi32> -> i32
    %rows = schedule.load %ids[%i] {dims = array<i64: 0, 0>} : !schedule.buffer<?xi32> -> !schedule.tile<16x1xi32>
    // CHECK: rows(%{{.*}} : !schedule.tile<16x1xi32>) valid(%{{.*}})
    %x = schedule.load %a[%i, %c0] rows(%rows : !schedule.tile<16x1xi32>) valid(%m) : !schedule.buffer<?x32xbf16> -> !schedule.tile<16x32xbf16>
    // CHECK: pages(%{{.*}}, %{{.*}} : !schedule.buffer<?x?xi32>) valid(%{{.*}}) {page_size = 16 : i64, stream}
    %y = schedule.load %a[%i, %c0] pages(%pages, %j : !schedule.buffer<?x?xi32>) valid(%m) {page_size = 16 : i64, stream} : !schedule.buffer<?x32xbf16> -> !schedule.tile<16x32xbf16>
    // CHECK: schedule.copy %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}}[%{{.*}}] valid(%{{.*}}) :
    %t0 = schedule.copy %a[%i, %c0] to %ring[%i] valid(%m) : !schedule.buffer<?x32xbf16>, !schedule.tile<16x32xbf16, shared, slots = 3>
    // CHECK: arrives(%{{.*}} : !schedule.barrier<1, slots = 3>) {box}
    %t1 = schedule.copy %a[%i, %c0] to %ring[%i] arrives(%full : !schedule.barrier<1, slots = 3>) {box} : !schedule.buffer<?x32xbf16>, !schedule.tile<16x32xbf16, shared, slots = 3>
    // CHECK: schedule.wait %{{.*}}, %{{.*}}{{$}}
    schedule.wait %t0, %t1
    // CHECK: schedule.wait {pending = 6 : i64, queue = #schedule<queue copies>}
    schedule.wait {pending = 6 : i64, queue = #schedule<queue copies>}
    // CHECK: schedule.wait on %{{.*}}[%{{.*}}] : !schedule.barrier<1, slots = 3>
    schedule.wait on %full[%i] : !schedule.barrier<1, slots = 3>
    // CHECK: schedule.sync{{ +}}workgroup
    schedule.sync workgroup
    // CHECK: schedule.arrive %{{.*}}[%{{.*}}] after(%{{.*}}) {bytes = 1024 : i64} : !schedule.barrier<1, slots = 3>
    schedule.arrive %full[%i] after(%t0) {bytes = 1024 : i64} : !schedule.barrier<1, slots = 3>
    // CHECK: -> !schedule.tile<32x16xbf16>
    %z = schedule.load %ring[%i] {transposed} : !schedule.tile<16x32xbf16, shared, slots = 3> -> !schedule.tile<32x16xbf16>
    // CHECK: -> !schedule.tile<16x32xbf16>, !schedule.token
    %w, %t2 = schedule.load %ring[%i] : !schedule.tile<16x32xbf16, shared, slots = 3> -> !schedule.tile<16x32xbf16>, !schedule.token
    // CHECK: schedule.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] valid(%{{.*}}) {add}
    schedule.store %x, %d[%i, %c0] valid(%m) {add} : !schedule.tile<16x32xbf16>, !schedule.buffer<?x32xbf16>
    schedule.store %w, %ring[%i] : !schedule.tile<16x32xbf16>, !schedule.tile<16x32xbf16, shared, slots = 3>
  }
}

// CHECK-LABEL: schedule.kernel @flags(
schedule.kernel @flags(%flags: !schedule.buffer<?x8xi32>, %m: index) guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    // CHECK: schedule.arrive %[[F:.*]][%[[I:.*]], %[[Z:.*]], %[[M:.*]]] peer(%[[Z]]) {scope = #schedule<scope system>} : !schedule.buffer<?x8xi32>
    schedule.arrive %flags[%i, %c0, %m] peer(%c0) {scope = #schedule<scope system>} : !schedule.buffer<?x8xi32>
    // CHECK: schedule.wait on %[[F]][%[[I]], %[[Z]], %[[M]]] : !schedule.buffer<?x8xi32>
    schedule.wait on %flags[%i, %c0, %m] : !schedule.buffer<?x8xi32>
  }
}

// CHECK-LABEL: schedule.kernel @values(
schedule.kernel @values(%m: index) guard [] attributes {waves = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  // CHECK: !schedule.tile<64x2xf32, shared>
  %scratch = schedule.alloc : !schedule.tile<64x2xf32, shared>
  // CHECK: !schedule.tile<2x32xbf16, shared, #layout{{[0-9]*}}>
  %swizzled = schedule.alloc : !schedule.tile<2x32xbf16, shared, #sw>
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %x = schedule.map () {
    ^bb0(%r: index, %c: index):
      %z = arith.constant 1.0 : bf16
      schedule.yield %z : bf16
    } : () -> (!schedule.tile<16x32xbf16, register, #a>)
    // CHECK: schedule.relayout %{{.*}} through %{{.*}} : !schedule.tile<64x2xf32, shared> : <16x32xbf16, register, #layout{{.*}}> -> <16x32xbf16
    %y = schedule.relayout %x through %scratch : !schedule.tile<64x2xf32, shared> : !schedule.tile<16x32xbf16, register, #a> -> !schedule.tile<16x32xbf16, register, #b>
    // CHECK: schedule.any %{{.*}} : !schedule.tile<16x32xbf16, register, #layout{{.*}}>
    %some = schedule.any %y : !schedule.tile<16x32xbf16, register, #b>
    %acc = schedule.map () {
    ^bb0(%r: index, %c: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<16x16xf32>)
    // CHECK: schedule.loop (%{{.*}}) = (%{{.*}}) to (%{{.*}}) step (%{{.*}}) on sequence carry(%{{.*}} = %{{.*}}) : !schedule.tile<16x16xf32> attributes {stagger = 2 : i64, unroll = 2 : i64}
    %s = schedule.loop (%t) = (%c0) to (%m) step (%c4) on sequence carry(%c = %acc) : !schedule.tile<16x16xf32> attributes {stagger = 2 : i64, unroll = 2 : i64} {
      // CHECK: schedule.mma %{{.*}}, %{{.*}}, %{{.*}} {grid = array<i64: 1, 2>, instruction = "mfma"}
      %n = schedule.mma %c, %x, %y {instruction = "mfma", grid = array<i64: 1, 2>} : !schedule.tile<16x16xf32>, !schedule.tile<16x32xbf16, register, #a>, !schedule.tile<16x32xbf16, register, #b> -> !schedule.tile<16x16xf32>
      schedule.yield %n : !schedule.tile<16x16xf32>
    }
    // CHECK: schedule.reduce{{ +}}max %{{.*}} along 1 : <16x16xf32> -> <16x1xf32>
    %max = schedule.reduce max %s along 1 : !schedule.tile<16x16xf32> -> !schedule.tile<16x1xf32>
    // CHECK: schedule.reduce{{ +}}add %{{.*}} along 0 through %{{.*}} : !schedule.tile<64x2xf32, shared> :
    %sum = schedule.reduce add %s along 0 through %scratch : !schedule.tile<64x2xf32, shared> : !schedule.tile<16x16xf32> -> !schedule.tile<1x16xf32>
    %e = schedule.map (%s, %max) {
    ^bb0(%v: f32, %k: f32, %r: index, %c: index):
      %d = arith.subf %v, %k : f32
      schedule.yield %d : f32
    } : (!schedule.tile<16x16xf32>, !schedule.tile<16x1xf32>) -> (!schedule.tile<16x16xf32>)
  }
}

// CHECK-LABEL: schedule.kernel @scaled(
schedule.kernel @scaled(%a: !schedule.buffer<?x64xvector<2xf4E2M1FN>>, %s: !schedule.buffer<?x1x256xvector<4xf8E8M0FNU>>, %m: index) guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %x = schedule.load %a[%i, %c0] : !schedule.buffer<?x64xvector<2xf4E2M1FN>> -> !schedule.tile<16x64xvector<2xf4E2M1FN>>
    %w = schedule.load %s[%c0, %c0, %i] {dims = array<i64: 1, 2>} : !schedule.buffer<?x1x256xvector<4xf8E8M0FNU>> -> !schedule.tile<1x16xvector<4xf8E8M0FNU>>
    %zero = schedule.map () { ^bb0(%row: index, %column: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<16x16xf32>)
    // CHECK: schedule.mma %{{.*}}, %{{.*}}, %{{.*}} scaled(%[[W:.*]], %[[W]] : !schedule.tile<1x16xvector<4xf8E8M0FNU>>, !schedule.tile<1x16xvector<4xf8E8M0FNU>>) :
    %c = schedule.mma %zero, %x, %x scaled(%w, %w : !schedule.tile<1x16xvector<4xf8E8M0FNU>>, !schedule.tile<1x16xvector<4xf8E8M0FNU>>) : !schedule.tile<16x16xf32>, !schedule.tile<16x64xvector<2xf4E2M1FN>>, !schedule.tile<16x64xvector<2xf4E2M1FN>> -> !schedule.tile<16x16xf32>
  }
}

// CHECK-LABEL: schedule.kernel @tensor(
schedule.kernel @tensor(%m: index) guard [] attributes {waves = 4 : i64, stage = #schedule<stage final>} {
  %c0 = arith.constant 0 : index
  %a = schedule.alloc : !schedule.tile<128x64xbf16, shared, slots = 4>
  // CHECK: !schedule.tile<128x128xf32, tensor>
  %acc = schedule.alloc at 0 : !schedule.tile<128x128xf32, tensor>
  %first = arith.constant true
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    // CHECK: schedule.mma %{{.*}}, %{{.*}}[%{{.*}}], %{{.*}}[%{{.*}}] init(%{{.*}} : i1) {asynchronous} : {{.*}} -> !schedule.token
    %t = schedule.mma %acc, %a[%i], %a[%i] init(%first : i1) {asynchronous} : !schedule.tile<128x128xf32, tensor>, !schedule.tile<128x64xbf16, shared, slots = 4>, !schedule.tile<128x64xbf16, shared, slots = 4> -> !schedule.token
    schedule.wait %t
    // CHECK: schedule.role "drain" waves(0, 4)
    schedule.role "drain" waves(0, 4) {
      %v = schedule.load %acc[] : !schedule.tile<128x128xf32, tensor> -> !schedule.tile<128x128xf32>
    }
  }
}

// CHECK-LABEL: schedule.kernel @pair(
// CHECK-SAME: cluster = 2
schedule.kernel @pair(%m: index) guard [] attributes {waves = 4 : i64, cluster = 2 : i64, stage = #schedule<stage final>} {
  %c0 = arith.constant 0 : index
  %a = schedule.alloc : !schedule.tile<128x64xbf16, shared, slots = 4>
  %b = schedule.alloc : !schedule.tile<64x64xbf16, shared, slots = 4>
  %acc = schedule.alloc at 0 : !schedule.tile<128x128xf32, tensor>
  // CHECK: schedule.alloc : !schedule.barrier<2, slots = 4 to leader>
  %full = schedule.alloc : !schedule.barrier<2, slots = 4 to leader>
  // CHECK: schedule.alloc : !schedule.barrier<1 to all>
  %done = schedule.alloc : !schedule.barrier<1 to all>
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    // CHECK: schedule.role "matrix" waves(0, 1) elect leader {
    schedule.role "matrix" waves(0, 1) elect leader {
      // CHECK: {asynchronous, workgroups = 2 : i64}
      %t = schedule.mma %acc, %a[%i], %b[%i] {asynchronous, workgroups = 2 : i64} : !schedule.tile<128x128xf32, tensor>, !schedule.tile<128x64xbf16, shared, slots = 4>, !schedule.tile<64x64xbf16, shared, slots = 4> -> !schedule.token
      schedule.arrive %done[%c0] after(%t) : !schedule.barrier<1 to all>
    }
  }
}

// CHECK-LABEL: schedule.kernel @early
schedule.kernel @early(%w: !schedule.buffer<100x64xbf16>, %m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c100 = arith.constant 100 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %row = arith.muli %i, %c16 : index
    // CHECK: schedule.prefetch %{{.*}}[%{{.*}}, %c0] valid(%c100) {columns = 64 : i64, rows = 16 : i64} : <100x64xbf16>
    schedule.prefetch %w[%row, %c0] valid(%c100) {rows = 16 : i64, columns = 64 : i64} : !schedule.buffer<100x64xbf16>
  }
}

schedule.kernel @few(%x: !schedule.buffer<?x64xf32>, %m: index) guard [#schedule.range<"m", 1 to 16>] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
  }
}

// The order in which a kernel declares its arguments binds no launch.
schedule.kernel @many(%m: index, %x: !schedule.buffer<?x16xvector<4xf32>>) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
  }
}

// CHECK-LABEL: func.func @plan
// CHECK-SAME: attributes {arg_names = ["tokens"], schedule.plan}
func.func @plan(%tokens: index) attributes {schedule.plan, arg_names = ["tokens"]} {
  // CHECK: schedule.alloc(%{{.*}}) as{{ +}}workspace : !schedule.buffer<?x64xf32>
  %x = schedule.alloc(%tokens) as workspace : !schedule.buffer<?x64xf32>
  // CHECK: schedule.alloc(%{{.*}}) as{{ +}}weight "w.{layer}" : !schedule.buffer<64x64xf32>
  %w = schedule.alloc(%tokens) as weight "w.{layer}" : !schedule.buffer<64x64xf32>
  // CHECK: schedule.launch [@few, @many](x = %[[X:.*]], m = %[[M:.*]]) "qkv" : !schedule.buffer<?x64xf32>, index
  schedule.launch [@few, @many] (x = %x, m = %tokens) "qkv" : !schedule.buffer<?x64xf32>, index
  // CHECK: schedule.launch [@few](m = %[[M]], x = %[[X]]) : index, !schedule.buffer<?x64xf32>
  schedule.launch [@few] (m = %tokens, x = %x) : index, !schedule.buffer<?x64xf32>
  // CHECK: schedule.collective "all-reduce" %{{.*}}(%{{.*}}) group 8 : <?x64xf32>
  schedule.collective "all-reduce" %x(%tokens) group 8 : !schedule.buffer<?x64xf32>
  return
}
