// RUN: %modelc-opt %s --schedule-lay-out | FileCheck %s
// The first swizzle without conflicts: none where none is needed, that of boxes
// for rows of 128 bytes, one that reaches both halves for rows of 256.

#plain = #schedule.layout<(register = [0:1, 0:2, 0:4], lane = [0:8, 0:16, 0:32, 1:0, 2:0, 4:0], wave = []) -> (row = 8, column = 64)>
#operand = #schedule.layout<(register = [0:1, 0:2, 0:4, 0:32], lane = [1:0, 2:0, 4:0, 8:0, 0:8, 0:16], wave = []) -> (row = 16, column = 64)>
#wide = #schedule.layout<(register = [0:1, 0:2, 0:4, 0:32, 0:64], lane = [1:0, 2:0, 4:0, 8:0, 0:8, 0:16], wave = []) -> (row = 16, column = 128)>

module attributes {schedule.target = "mi355x"} {
// CHECK-DAG: #[[NONE:.*]] = #schedule.layout<(row = [128, 256, 512], column = [2, 4, 8, 16, 32, 64]) -> (byte = 1024)>
// CHECK-DAG: #[[BOX:.*]] = #schedule.layout<(row = [144, 288, 576, 1024], column = [2, 4, 8, 16, 32, 64]) -> (byte = 2048)>
// CHECK-DAG: #[[HALVES:.*]] = #schedule.layout<(row = [288, 576, 1152, 2048], column = [2, 4, 8, 16, 32, 64, 128]) -> (byte = 4096)>
schedule.kernel @reads(%m: index) guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  // CHECK: schedule.alloc {conflict_degree = 1 : i64} : !schedule.tile<8x64xbf16, shared, #[[NONE]]>
  %a = schedule.alloc : !schedule.tile<8x64xbf16, shared>
  // CHECK: schedule.alloc {conflict_degree = 1 : i64} : !schedule.tile<16x64xbf16, shared, #[[BOX]]>
  %b = schedule.alloc : !schedule.tile<16x64xbf16, shared>
  // CHECK: schedule.alloc {conflict_degree = 1 : i64} : !schedule.tile<16x128xbf16, shared, #[[HALVES]]>
  %c = schedule.alloc : !schedule.tile<16x128xbf16, shared>
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %x = schedule.load %a[] : !schedule.tile<8x64xbf16, shared> -> !schedule.tile<8x64xbf16, register, #plain>
    %y = schedule.load %b[] : !schedule.tile<16x64xbf16, shared> -> !schedule.tile<16x64xbf16, register, #operand>
    %z = schedule.load %c[] : !schedule.tile<16x128xbf16, shared> -> !schedule.tile<16x128xbf16, register, #wide>
  }
}
}
