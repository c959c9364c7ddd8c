// RUN: modelc-opt %s "--kernels-build=target=h200 family=exchange shape=columns:512,ranks:4,staging:5,kind:reduce_in_two tile=n:256,waves:1 range=max:5" --schedule-finish | %emit -o %t.two.h
// RUN: %emulate -DKERNEL='"%t.two.h"' -DIN_TWO -DRANKS=4 -DCOLUMNS=512 -DTILE_COLUMNS=256 -DTHREADS=32 -DDYNAMIC_BYTES=0 %S/Inputs/exchange.cpp -o %t.two
// RUN: %t.two | FileCheck %s
// RUN: env EMULATOR_SEED=7 %t.two | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=mi355x family=exchange shape=columns:512,ranks:16,staging:5,kind:reduce_in_two tile=n:512,waves:1 range=max:5" --schedule-finish | %emit -o %t.many.h
// RUN: %emulate -DKERNEL='"%t.many.h"' -DIN_TWO -DRANKS=16 -DCOLUMNS=512 -DTILE_COLUMNS=512 -DTHREADS=64 -DDYNAMIC_BYTES=0 %S/Inputs/exchange.cpp -o %t.many
// RUN: %t.many | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=exchange shape=columns:512,ranks:4,staging:5 tile=n:256,waves:1 range=max:5" --schedule-finish | %emit -o %t.one.h
// RUN: %emulate -DKERNEL='"%t.one.h"' -DRANKS=4 -DCOLUMNS=512 -DTILE_COLUMNS=256 -DTHREADS=32 -DDYNAMIC_BYTES=0 %S/Inputs/exchange.cpp -o %t.one
// RUN: %t.one | FileCheck %s
// RUN: modelc-opt %s "--kernels-build=target=h200 family=exchange shape=columns:256,ranks:6,staging:5 tile=n:256,waves:1 range=max:5" --schedule-finish | %emit -o %t.six.h
// RUN: %emulate -DKERNEL='"%t.six.h"' -DRANKS=6 -DCOLUMNS=256 -DTILE_COLUMNS=256 -DTHREADS=32 -DDYNAMIC_BYTES=0 %S/Inputs/exchange.cpp -o %t.six
// RUN: %t.six | FileCheck %s
// All-reduce between devices, in one step and in two, several calls on the same
// buffers; every device has the same sums.

// CHECK: call 0 on device 0: right
// CHECK: call 2 on device 3: right
// CHECK-NOT: wrong
// A device that adds before the others have sent, or hands on before it has added,
// has other sums.
// RUN: sed 's/waitForFlags([a-z0-9]*, flags[^;]*;//' %t.one.h > %t.early.h
// RUN: %emulate -DKERNEL='"%t.early.h"' -DRANKS=4 -DCOLUMNS=512 -DTILE_COLUMNS=256 -DTHREADS=32 -DDYNAMIC_BYTES=0 %S/Inputs/exchange.cpp -o %t.early
// RUN: not %t.early | FileCheck %s --check-prefix=EARLY
// RUN: sed 's/waitForFlags([a-z0-9]*, ready[^;]*;//' %t.two.h > %t.open.h
// RUN: %emulate -DKERNEL='"%t.open.h"' -DIN_TWO -DRANKS=4 -DCOLUMNS=512 -DTILE_COLUMNS=256 -DTHREADS=32 -DDYNAMIC_BYTES=0 %S/Inputs/exchange.cpp -o %t.open
// RUN: not %t.open | FileCheck %s --check-prefix=EARLY
// EARLY: wrong
// All flags are raised behind one fence. What is stored behind the flags races
// with who reads it.
// RUN: FileCheck %s --check-prefix=FLAGS --input-file=%t.one.h
// FLAGS-COUNT-1: raiseFlags(
// FLAGS-NOT: raiseFlags(
// RUN: awk '/storeTile<8>\(xTile/{held = held $0 "\n"; next} {print} /raiseFlags/{printf "%%s", held}' %t.one.h > %t.late.h
// RUN: %emulate -g -fsanitize=thread -fsanitize-ignorelist=%targets/emulator/tsan.ignore -DKERNEL='"%t.late.h"' -DRANKS=4 -DCOLUMNS=512 -DTILE_COLUMNS=256 -DTHREADS=32 -DDYNAMIC_BYTES=0 %S/Inputs/exchange.cpp -o %t.late
// RUN: not %t.late 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: ThreadSanitizer: data race

module {}
