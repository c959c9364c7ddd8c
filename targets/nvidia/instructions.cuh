//===- instructions.cuh - One function for each instruction ---------------===//
//
// The innermost layer of the device prelude: each function is one instruction
// (or one register read) of sm_90a, sm_100a or sm_103a. Tile functions are
// written on these names only, so that with -DMODELC_EMULATOR the same text
// runs on a CPU (emulator/nvidia.h defines the same names; -I must name the
// folder above this one). Compiles with nvcc, and with clang without any CUDA
// header. What other machines have too has the same name there.
//
// Shared memory is passed as ordinary pointers; sharedAddress() gives the
// 32-bit address that descriptors hold. A warp is called wave, as elsewhere.
//
// types.cuh, thread.cuh: kernel, lanes, arithmetic, global memory
//   KERNEL(threads, blocksPerUnit) name(...)   CLUSTER(n)   GRID_CONSTANT   DEV before functions
//   SHARED(type, name, count);   array in static shared memory, up to 48 KiB
//   DYNAMIC_SHARED(name);        char *name: what the launch asked for, 1024-byte aligned
//   laneId() waveId() uniformWaveId() threadId() workgroupId<axis>() workgroupCount<axis>() clusterRank()
//   sync()  syncGroup<Id, Threads>()  syncWave()  syncCluster()  elect()
//   shuffle(v, lane)  shuffleXor(v, mask)  shuffleXor<mask>(v)  readFirstLane(v)  uniform(v)
//   anyLane(b)
//   exp2 log2 rcp rsqrt sqrt tanh fma max min abs         f32, approximate except sqrt, fma
//   addDown(x, y)  maxOrNaN(x, y)                         rounded down; with what is not a number
//   u32 packBf16(first, second)  f32x2 unpackBf16(u32)  bf16 toBf16(float)  float toFloat(bf16)
//   u8 packFp4(first, second)                            sm_100a and later
//   u16 packFp8(first, second)  u32 packFp8(f32x4)  f32x2 unpackFp8(u16)  f32x4 unpackFp8(u32)
//   atomicAdd(T *, v)  atomicMax(u64 *, v)  atomicAddBf16(u32 *pair, packed)   T float, int, unsigned
//   fenceDevice()  storeRelease(u32 *, v)  u32 loadAcquire(u32 *)  waitForFlag(u32 *, v)
//   loadGlobal(T *) storeGlobal(T *, v)  loadNontemporal(T *) storeNontemporal(T *, v)  4, 8, 16 bytes
//   asBits(float) asFloat(u32)  sharedAddress(p)  waitPreviousKernel()  launchNextKernel()
//   raiseRegisters<n>()  lowerRegisters<n>()              whole wave group of 128 threads
//
// copy.cuh: barriers and copies
//   Barrier (8 bytes)  initBarrier(b, arrivals)  fenceBarrierInit()
//   arrive(b)  arriveExpect(b, bytes)  waitParity(b, parity)  fenceAsyncShared()
//   arriveAtRank(b, rank)  arriveExpectAtRank(b, rank, bytes)
//   TensorMap  prefetchMap(map)
//   prefetchToL2(global, bytes)                           16-byte multiples; a hint
//   loadBox(shared, map, x, y[, z], full)                 one thread; arrives as bytes on full
//   loadBoxOfPair(shared, map, x, y, full, rank)          the bytes arrive in another workgroup
//   loadBoxToRanks(shared, map, x, y, full, ranks)        the box in several workgroups of the cluster
//   loadBulk(shared, global, bytes, full)                 16-byte multiples, no map
//   storeBox(map, shared, x, y[, z])  commitStores()  waitStoresRead<pending>()  waitStores<pending>()
//   copyAsync16(shared, global[, valid])  commitCopies()  waitCopies<pending>()  arriveAfterCopies(b)
//
// matrix.cuh: multiplication from registers, and from shared memory into registers
//   loadMatrix4(u32 (&r)[4], p)  loadMatrix4Transposed(u32 (&r)[4], p)         ldmatrix
//   mmaBf16(float (&d)[4], a[4], b[2])  mmaFp8(...)      m16n8k16, m16n8k32: d += a b
//   wgmmaFence()  wgmmaCommit()  wgmmaWait<pending>(accumulators and operands...)
//   holdBack(x)  what x is made of stays in front of the wait that follows
//   makeHere(word)  its register holds it from here on
//   wgmmaBf16<N[, MajorA, MajorB]>(float (&d)[N/2], descriptorA, descriptorB, add)      m64 k16
//   wgmmaBf16<N[, MajorB]>(float (&d)[N/2], const u32 (&a)[4], descriptorB, add)
//   wgmmaFp8<N>(...)            the same two forms, m64 k32, K-major; N 8 16 32 64 128 256
//
// tensor.cuh: multiplication from shared memory into tensor memory
//   tensorAlloc<columns>(u32 *shared)  tensorRelinquish()  tensorFree<columns>(address)
//   tensorMmaBf16(d, descriptorA, descriptorB, instruction, add)  tensorMmaFp8(...)   one thread
//   tensorMmaBf16FromTensor(d, addressA, descriptorB, instruction, add)  tensorMmaFp8FromTensor(...)
//   tensorAllocOfPair tensorRelinquishOfPair tensorFreeOfPair tensorMmaBf16OfPair tensorMmaFp8OfPair
//   tensorCommitOfPair(b, ranks)                               two workgroups together
//   tensorMmaNvf4(d, descriptorA, descriptorB, instruction, scalesA, scalesB, add)  tensorMmaMxf4(...)
//   tensorMmaMx8(...)
//   tensorCopyScales(d, descriptor)                            scales of blocks, 128 rows
//   tensorCommit(b)  tensorFenceBefore()  tensorFenceAfter()
//   tensorLoad(T (&r)[N], address)  tensorWaitLoads(r...)      32 lanes x N columns, N 8 16 32 64
//   tensorStore(address, T (&r)[N])  tensorWaitStores()
//
// descriptors.cuh: sharedDescriptorHopper sharedDescriptorBlackwell advanceDescriptor
//   tensorInstructionBf16 tensorInstructionFp8 tensorInstructionFp4 tensorInstructionMx8
//
// Registers that an asynchronous instruction reads or writes (accumulators and A
// fragments of wgmma, results of tensorLoad) stay where they are until its wait:
// declare them in the scope that waits.
//
//===----------------------------------------------------------------------===//
#ifndef TARGETS_NVIDIA_INSTRUCTIONS_CUH
#define TARGETS_NVIDIA_INSTRUCTIONS_CUH

#ifdef MODELC_EMULATOR
#include "emulator/nvidia.h"
#else
// clang-format off: the later ones use the earlier ones.
#include "thread.cuh"
#include "descriptors.cuh"
#include "registers.cuh"
#include "copy.cuh"
#include "matrix.cuh"
#include "tensor.cuh"
// clang-format on
#endif

#endif // TARGETS_NVIDIA_INSTRUCTIONS_CUH
