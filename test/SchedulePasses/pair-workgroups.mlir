// RUN: split-file %s %t
// RUN: sed -e s/machine/b200/ %t/kernels.mlir | %modelc-opt --schedule-pair-workgroups | FileCheck %s
// RUN: sed -e s/machine/h200/ %t/kernels.mlir | %modelc-opt --schedule-pair-workgroups | FileCheck %s --check-prefix=BOX
// The workgroups of a cluster share b where an instruction multiplies for them, and where
// none does but boxes can land in all of them, its load.
// BOX-LABEL: @shared
// BOX-SAME: cluster = 2
// BOX: schedule.load %{{.*}} {multicast}
// BOX-NOT: workgroups =
// BOX-LABEL: @open
// BOX-NOT: cluster
// BOX-NOT: multicast
// BOX-LABEL: @other
// BOX: schedule.load {{.*}} valid(%{{.*}}) {multicast} : !schedule.buffer<?x256xbf16>

//--- kernels.mlir
module attributes {schedule.target = "machine"} {
// CHECK-LABEL: @shared
// CHECK-SAME: cluster = 2
// CHECK: %[[TILES:.*]] = arith.ceildivsi %{{.*}}, %c128
// CHECK: %[[CLUSTERS:.*]] = arith.ceildivsi %[[TILES]], %[[TWO:[^ ]*]] :
// CHECK: %[[ROWS:.*]] = arith.muli %[[CLUSTERS]], %[[TWO]]
// CHECK: schedule.loop (%[[I:.*]], %{{.*}}) = ({{.*}}) to (%[[ROWS]], %{{.*}})
// CHECK: %[[RANK:.*]] = arith.remsi %[[I]], %[[TWO]]
// CHECK: %[[COLUMN:.*]] = arith.muli %{{.*}}, %c256
// CHECK: %[[HALF:.*]] = arith.constant 128 : index
// CHECK-NEXT: %[[PART:.*]] = arith.muli %[[RANK]], %[[HALF]]
// CHECK-NEXT: %[[OWN:.*]] = arith.addi %[[COLUMN]], %[[PART]]
// CHECK: schedule.load %{{.*}} valid(%{{.*}}) : !schedule.buffer<?x256xbf16> -> !schedule.tile<128x64xbf16>
// CHECK: schedule.load %{{.*}}[%[[OWN]], %{{.*}}] : !schedule.buffer<512x256xbf16> -> !schedule.tile<128x64xbf16>
// CHECK: schedule.mma {{.*}} {workgroups = 2 : i64} : <128x256xf32>, <128x64xbf16>, <128x64xbf16>
schedule.kernel @shared(%a: !schedule.buffer<?x256xbf16>, %w: !schedule.buffer<512x256xbf16>, %d: !schedule.buffer<?x512xf32>, %m: index)
    guard [#schedule.range<"m", 1 to 16384>] attributes {waves = 4 : i64, roles, cluster = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %rows = arith.ceildivsi %m, %c128 : index
  %columns = arith.constant 2 : index
  %steps = arith.constant 4 : index
  schedule.loop (%i, %j) = (%c0, %c0) to (%rows, %columns) on workgroups {
    %row = arith.muli %i, %c128 : index
    %column = arith.muli %j, %c256 : index
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128x256xf32>)
    %c = schedule.loop (%t) = (%c0) to (%steps) on sequence carry(%acc = %zero) : !schedule.tile<128x256xf32> {
      %k = arith.muli %t, %c64 : index
      %x = schedule.load %a[%row, %k] valid(%m) : !schedule.buffer<?x256xbf16> -> !schedule.tile<128x64xbf16>
      %y = schedule.load %w[%column, %k] : !schedule.buffer<512x256xbf16> -> !schedule.tile<256x64xbf16>
      %r = schedule.mma %acc, %x, %y : !schedule.tile<128x256xf32>, !schedule.tile<128x64xbf16>, !schedule.tile<256x64xbf16> -> !schedule.tile<128x256xf32>
      schedule.yield %r : !schedule.tile<128x256xf32>
    }
    schedule.store %c, %d[%row, %column] valid(%m) : !schedule.tile<128x256xf32>, !schedule.buffer<?x512xf32>
  }
}

// What is stored in the added rows would have no limit.
// CHECK-LABEL: @open
// CHECK-NOT: cluster
// CHECK-NOT: workgroups =
schedule.kernel @open(%a: !schedule.buffer<?x256xbf16>, %w: !schedule.buffer<512x256xbf16>, %d: !schedule.buffer<?x512xf32>, %m: index)
    guard [#schedule.range<"m", 128 to 16384 by 128>] attributes {waves = 4 : i64, roles, cluster = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %rows = arith.ceildivsi %m, %c128 : index
  %columns = arith.constant 2 : index
  %steps = arith.constant 4 : index
  schedule.loop (%i, %j) = (%c0, %c0) to (%rows, %columns) on workgroups {
    %row = arith.muli %i, %c128 : index
    %column = arith.muli %j, %c256 : index
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128x256xf32>)
    %c = schedule.loop (%t) = (%c0) to (%steps) on sequence carry(%acc = %zero) : !schedule.tile<128x256xf32> {
      %k = arith.muli %t, %c64 : index
      %x = schedule.load %a[%row, %k] : !schedule.buffer<?x256xbf16> -> !schedule.tile<128x64xbf16>
      %y = schedule.load %w[%column, %k] : !schedule.buffer<512x256xbf16> -> !schedule.tile<256x64xbf16>
      %r = schedule.mma %acc, %x, %y : !schedule.tile<128x256xf32>, !schedule.tile<128x64xbf16>, !schedule.tile<256x64xbf16> -> !schedule.tile<128x256xf32>
      schedule.yield %r : !schedule.tile<128x256xf32>
    }
    schedule.store %c, %d[%row, %column] : !schedule.tile<128x256xf32>, !schedule.buffer<?x512xf32>
  }
}

// Along the first axis, whose tiles are whole clusters, b differs and a is alike: no
// instruction shares a, a box can land in all.
// CHECK-LABEL: @other
// CHECK-NOT: cluster
// CHECK-NOT: workgroups =
schedule.kernel @other(%a: !schedule.buffer<?x256xbf16>, %w: !schedule.buffer<512x256xbf16>, %d: !schedule.buffer<?x512xf32>, %m: index)
    guard [#schedule.range<"m", 1 to 16384>] attributes {waves = 4 : i64, roles, cluster = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %rows = arith.ceildivsi %m, %c128 : index
  %columns = arith.constant 2 : index
  %steps = arith.constant 4 : index
  schedule.loop (%j, %i) = (%c0, %c0) to (%columns, %rows) on workgroups {
    %row = arith.muli %i, %c128 : index
    %column = arith.muli %j, %c256 : index
    %zero = schedule.map () {
    ^bb0(%r: index, %q: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<128x256xf32>)
    %c = schedule.loop (%t) = (%c0) to (%steps) on sequence carry(%acc = %zero) : !schedule.tile<128x256xf32> {
      %k = arith.muli %t, %c64 : index
      %x = schedule.load %a[%row, %k] valid(%m) : !schedule.buffer<?x256xbf16> -> !schedule.tile<128x64xbf16>
      %y = schedule.load %w[%column, %k] : !schedule.buffer<512x256xbf16> -> !schedule.tile<256x64xbf16>
      %r = schedule.mma %acc, %x, %y : !schedule.tile<128x256xf32>, !schedule.tile<128x64xbf16>, !schedule.tile<256x64xbf16> -> !schedule.tile<128x256xf32>
      schedule.yield %r : !schedule.tile<128x256xf32>
    }
    schedule.store %c, %d[%row, %column] valid(%m) : !schedule.tile<128x256xf32>, !schedule.buffer<?x512xf32>
  }
}
}
