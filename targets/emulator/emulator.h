// A GPU on the CPU, so that the very text of a kernel can be executed, checked
// and searched for races where there is no GPU.
//
// Every GPU thread is a fiber. A device header (amd.h, nvidia.h) gives a kernel
// the names of its instructions; each is built from these parts:
//
//   self()                      the running Thread: id, lane, wave, block
//   self().block->index         also ->rank, ->launch->shape.grid, .cluster
//   self().block->extension     memory that only one target has
//   collective<Out>(op, in, f)  operation of a wave: f(in[], out[]) once
//   collective<Out>(Scope::FourWaves, op, in, f)
//   syncBlock()  syncNamed(id, threads)  arriveNamed(id, threads)
//   syncCluster()  syncWave()
//   waitUntil(channel, what, condition)  notify(channel)  poll()
//   startCopy(to, from, bytes)  countOperation()  waitCopies(pending)
//   commitCopies()  waitCopyGroups(pending)    groups of copies of a thread
//   defer(block, queue, what, action)          work of another engine
//   drainDeferred(block, queue)
//   sharedObject(key, bytes)  dynamicShared()
//   sharedOffset(address)  sharedAddress(rank, offset)     32-bit addresses
//   copyNow(copy)  noteRead(p, n)  noteWrite(p, n)         for the sanitizers
//   acquire(p)  release(p)  Unseen                         for the race
//   detector noteUniform(value)          must be the same in all lanes of the
//   wave fail(format, ...)           an error with its place; ends with code 3
//
// A test or a host library runs kernels with
//
//   emulator::Device device{.waveSize = 64, .sharedBytes = 160 << 10};
//   emulator::Allocation<float> x(n);     poisoned, its ends watched
//   emulator::launch(device, {.kernel = "k", .grid = {8}, .block = {256}},
//                    k, x.data(), n);
//   emulator::synchronize();    runs all launches of all devices, side by side
//   emulator::run(...)          launch and synchronize
//   emulator::requireTurns()    rings were filled more than once around
//   emulator::state.options     seed, lazy, stackBytes: EMULATOR_SEED,
//                               EMULATOR_COPIES=lazy|eager, EMULATOR_STACK_KIB
//
// or through the C interface of driver.h.
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
#include "launch.h"
#include "meeting.h"
#include "memory.h"
#include "rings.h"
#include "scheduler.h"

#endif // TARGETS_EMULATOR_EMULATOR_H
