// A GPU on the CPU, so that the very text of a kernel can be executed, checked
// and searched for races where there is no GPU.
//
// Every GPU thread is a fiber. A device header (amd.h, nvidia.h) gives a kernel
// the names of its instructions; each is built from these parts:
//
//   self()                          the running Thread: id, lane, wave, block
//   self().block->index, ->rank, ->launch->shape.{grid,block,cluster}
//   collective<Out>(op, in, f)      operation of a whole wave: f(in[], out[])
//   once collective<Out>(Scope::FourWaves, op, in, f) syncBlock() syncNamed(id,
//   n)  arriveNamed(id, n)  syncCluster()  syncWave() waitUntil(channel, what,
//   condition)   notify(channel)   poll() startCopy(to, from, bytes)
//   countOperation()  waitCopies(pending) commitCopies()
//   waitCopyGroups(pending)        groups of copies of a thread defer(block,
//   queue, what, action)  drainDeferred(block, queue)   other engines
//   sharedObject(key, bytes)  dynamicShared()
//   sharedOffset(address)  sharedAddress(rank, offset)         32-bit addresses
//   copyNow(copy)  noteRead(p, n)  noteWrite(p, n)  acquire(p)  release(p)
//   noteUniform(value)              must be the same in all lanes of the wave
//   block->extension                memory that only one target has
//   fail(format, ...)               an error with its place; ends with code 3
//
// and a test or a host library runs kernels with
//
//   emulator::Device device{.waveSize = 64, .sharedBytes = 160 << 10};
//   emulator::Allocation<float> x(n);         poisoned, its ends watched
//   emulator::launch(device, {.kernel = "k", .grid = {8}, .block = {256}}, k,
//   x.data(), n); emulator::synchronize();    runs all launches of all devices,
//   side by side emulator::state.options     {seed, lazy, stackBytes};
//   EMULATOR_SEED,
//                               EMULATOR_COPIES=lazy|eager, EMULATOR_STACK_KIB
//
// What is found: wrong values (run lazy and eager, with several seeds); races
// (compile with -fsanitize=thread -fsanitize-ignorelist=tsan.ignore); overruns
// (-fsanitize=address,undefined; shared memory also without); divergent
// barriers and collectives; deadlock; copies still in flight at the end; values
// that must be uniform and are not. What is not: the memory model beyond
// happens-before, and time.
#ifndef TARGETS_EMULATOR_EMULATOR_H
#define TARGETS_EMULATOR_EMULATOR_H

#include "asynchronous.h"
#include "fiber.h"
#include "grid.h"
#include "meeting.h"
#include "memory.h"
#include "scheduler.h"

#endif // TARGETS_EMULATOR_EMULATOR_H
