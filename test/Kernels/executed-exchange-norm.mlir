// DEFINE: %{target} =
// DEFINE: %{shape} =
// DEFINE: %{types} = result:bf16
// DEFINE: %{tile} =
// DEFINE: %{flags} =
// DEFINE: %{build} = modelc-opt %s "--kernels-build=target=%{target} family=norm shape=residual:1,sum:1,staging:5,%{shape} types=%{types} tile=%{tile} range=max:5" --schedule-finish | %emit -o %t.h
// DEFINE: %{compile} = %emulate %{flags} -DDYNAMIC_BYTES=0 %S/Inputs/exchangeNorm.cpp
// DEFINE: %{run} = %{build} && %{compile} -DKERNEL='"%t.h"' -o %t.run && env EMULATOR_SEED=7 %t.run
// Devices add their parts and a residual and norm the sum, in one step and in two, to
// bf16, to 8 bits with a scale for each row, to 4 bits with scales of blocks; several calls
// on the same buffers.

// REDEFINE: %{target} = h200
// REDEFINE: %{shape} = columns:512,ranks:2
// REDEFINE: %{tile} = n:512,waves:1
// REDEFINE: %{flags} = -DRANKS=2 -DCOLUMNS=512 -DTILE_COLUMNS=512 -DTHREADS=32 -DRESULT=16
// RUN: %{run} | FileCheck %s
// REDEFINE: %{target} = mi355x
// REDEFINE: %{shape} = columns:640,ranks:8,kind:reduce_in_two
// REDEFINE: %{tile} = n:1024,waves:1
// REDEFINE: %{flags} = -DRANKS=8 -DCOLUMNS=640 -DTILE_COLUMNS=1024 -DTHREADS=64 -DRESULT=16 -DIN_TWO
// RUN: %{run} | FileCheck %s
// REDEFINE: %{types} = result:f8E4M3FN
// REDEFINE: %{shape} = columns:512,ranks:6
// REDEFINE: %{tile} = n:512,waves:1,peers:4
// REDEFINE: %{flags} = -DRANKS=6 -DCOLUMNS=512 -DTILE_COLUMNS=512 -DTHREADS=64 -DRESULT=8
// RUN: %{run} | FileCheck %s
// REDEFINE: %{types} = result:f4E2M1FN
// REDEFINE: %{shape} = columns:2048,ranks:16,kind:reduce_in_two
// REDEFINE: %{tile} = n:2048,waves:1
// REDEFINE: %{flags} = -DRANKS=16 -DCOLUMNS=2048 -DTILE_COLUMNS=2048 -DTHREADS=64 -DRESULT=4 -DBLOCK=32 -DIN_TWO
// RUN: %{run} | FileCheck %s
// REDEFINE: %{target} = b200
// REDEFINE: %{types} = result:f4E2M1FN,scale:f8E4M3FN
// REDEFINE: %{shape} = columns:512,ranks:8,tensor_scaled:1
// REDEFINE: %{tile} = n:512,waves:2
// REDEFINE: %{flags} = -DRANKS=8 -DCOLUMNS=512 -DTILE_COLUMNS=512 -DTHREADS=64 -DRESULT=4 -DBLOCK=16 -DORDERED -DTENSOR_SCALE=0.0021f -DTENSOR_SCALE_ARGUMENT
// RUN: %{run} | FileCheck %s
// REDEFINE: %{types} = result:f8E4M3FN
// REDEFINE: %{shape} = columns:512,ranks:4,kind:reduce_in_two
// REDEFINE: %{tile} = n:512,waves:1
// REDEFINE: %{flags} = -DRANKS=4 -DCOLUMNS=512 -DTILE_COLUMNS=512 -DTHREADS=32 -DRESULT=8 -DIN_TWO
// RUN: %{run} | FileCheck %s
// CHECK: call 0 on device 0: right
// CHECK: call 2 on device 1: right
// CHECK-NOT: wrong

// Who does not wait for parts, or for sums, or takes another's slice, norms other rows.
// RUN: sed 's/waitForFlags([a-z0-9]*, flags[^;]*;//' %t.h > %t.early.h
// RUN: %{compile} -DKERNEL='"%t.early.h"' -o %t.early && not %t.early | FileCheck %s --check-prefix=WRONG
// RUN: sed 's/waitForFlags([a-z0-9]*, ready[^;]*;//' %t.h > %t.open.h
// RUN: %{compile} -DKERNEL='"%t.open.h"' -o %t.open && not %t.open | FileCheck %s --check-prefix=WRONG
// RUN: sed 's/rank \* 128/(rank ^ 1) * 128/' %t.h > %t.other.h
// RUN: %{compile} -DKERNEL='"%t.other.h"' -o %t.other && not %t.other | FileCheck %s --check-prefix=WRONG
// WRONG: wrong
// What is stored behind its flag races with who reads it; a flag that nobody raises is
// waited for for ever.
// RUN: awk '/storeTile.*view\(staging/{held = held $0 "\n"; next} {print} /raiseFlags.*flagsOfPeers/{printf "%%s", held}' %t.h > %t.late.h
// RUN: %{compile} -g -fsanitize=thread -fsanitize-ignorelist=%targets/emulator/tsan.ignore -DKERNEL='"%t.late.h"' -o %t.late
// RUN: not %t.late 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: ThreadSanitizer: data race
// RUN: sed 's/raiseFlags([a-z0-9]*, readyOfPeers[^;]*;//' %t.h > %t.never.h
// RUN: %{compile} -DKERNEL='"%t.never.h"' -o %t.never && not %t.never 2>&1 | FileCheck %s --check-prefix=NEVER
// NEVER: emulator: deadlock

module {}
