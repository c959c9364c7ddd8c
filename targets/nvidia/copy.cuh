//===- copy.cuh - Barriers in shared memory, asynchronous copies ----------===//
//
// Included by instructions.cuh, whose head lists the names.
//
//===----------------------------------------------------------------------===//
#ifndef TARGETS_NVIDIA_COPY_CUH
#define TARGETS_NVIDIA_COPY_CUH

namespace modelc {

/// Each phase of `barrier` ends after `arrivals` arrivals and all expected bytes.
DEV void initBarrier(Barrier &barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sharedAddress(&barrier)), "r"(arrivals) : "memory");
}
/// Makes initialised barriers visible to asynchronous copies and to the cluster.
DEV void fenceBarrierInit() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
DEV void arrive(Barrier &barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sharedAddress(&barrier)) : "memory");
}
/// Arrives, and holds the phase until `bytes` more have been copied.
DEV void arriveExpect(Barrier &barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sharedAddress(&barrier)), "r"(bytes)
               : "memory");
}
/// Waits until the phase of the given parity has ended. A new barrier is in
/// phase 0; waiting for parity 1 then returns at once.
DEV void waitParity(Barrier &barrier, uint32_t parity) {
  asm volatile("{.reg .pred done;\n\t"
               "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
               "@!done bra again;}" ::"r"(sharedAddress(&barrier)),
               "r"(parity)
               : "memory");
}
/// The address of what lies at `p` in the workgroup `rank` of the cluster.
DEV uint32_t clusterAddress(const void *p, int rank) {
  uint32_t address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(sharedAddress(p)), "r"(rank));
  return address;
}
/// Arrives at the barrier that the workgroup `rank` of the cluster has at the same address. Ordered within this
/// workgroup only: what others wait for are copies and products, which barriers count themselves; an order over the
/// cluster is a fence of the device.
DEV void arriveAtRank(Barrier &barrier, int rank) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(clusterAddress(&barrier, rank)) : "memory");
}
DEV void arriveExpectAtRank(Barrier &barrier, int rank, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cluster.b64 _, [%0], %1;" ::"r"(clusterAddress(&barrier, rank)),
               "r"(bytes)
               : "memory");
}
/// Orders ordinary writes to shared memory before asynchronous reads of it.
DEV void fenceAsyncShared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

DEV void prefetchMap(const TensorMap &map) { asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory"); }

/// Starts to bring so many bytes, a multiple of 16, into L2; nothing waits for them.
DEV void prefetchToL2(const void *from, int bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes));
}

/// Copies the box whose first element is (x, y) into shared memory; outside the tensor reads 0.
DEV void loadBox(void *shared, const TensorMap &map, int x, int y, Barrier &full) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
          "r"(sharedAddress(shared)),
      "l"(&map), "r"(x), "r"(y), "r"(sharedAddress(&full))
      : "memory");
}
DEV void loadBox(void *shared, const TensorMap &map, int x, int y, int z, Barrier &full) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, "
               "%4}], [%5];" ::"r"(sharedAddress(shared)),
               "l"(&map), "r"(x), "r"(y), "r"(z), "r"(sharedAddress(&full))
               : "memory");
}
/// The same into all workgroups of the cluster whose bits of `ranks` are set, at the same address, and to the barrier
/// that each has where this one has `full`.
DEV void loadBoxToRanks(void *shared, const TensorMap &map, int x, int y, Barrier &full, int ranks) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
               "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(sharedAddress(shared)),
               "l"(&map), "r"(x), "r"(y), "r"(sharedAddress(&full)), "h"((uint16_t)ranks)
               : "memory");
}
/// The same in a pair of workgroups; the bytes arrive at the barrier of the workgroup `rank` of the cluster.
DEV void loadBoxOfPair(void *shared, const TensorMap &map, int x, int y, Barrier &full, int rank) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [%0], "
               "[%1, {%2, %3}], [%4];" ::"r"(sharedAddress(shared)),
               "l"(&map), "r"(x), "r"(y), "r"(clusterAddress(&full, rank))
               : "memory");
}
DEV void loadBoxOfPair(void *shared, const TensorMap &map, int x, int y, int z, Barrier &full, int rank) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [%0], "
               "[%1, {%2, %3, %4}], [%5];" ::"r"(sharedAddress(shared)),
               "l"(&map), "r"(x), "r"(y), "r"(z), "r"(clusterAddress(&full, rank))
               : "memory");
}
/// Copies `bytes` (a multiple of 16, both sides 16-byte aligned) into shared memory.
DEV void loadBulk(void *shared, const void *global, int bytes, Barrier &full) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   sharedAddress(shared)),
               "l"(global), "r"(bytes), "r"(sharedAddress(&full))
               : "memory");
}
/// Copies a box from shared memory; what lies outside the tensor is not written.
DEV void storeBox(const TensorMap &map, const void *shared, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map),
               "r"(sharedAddress(shared)), "r"(x), "r"(y)
               : "memory");
}
DEV void storeBox(const TensorMap &map, const void *shared, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map),
               "r"(sharedAddress(shared)), "r"(x), "r"(y), "r"(z)
               : "memory");
}
/// Closes the group of this thread's box stores.
DEV void commitStores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
/// Waits until all but `Pending` groups have read their shared memory.
template <int Pending>
DEV void waitStoresRead() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}
/// Waits until all but `Pending` groups are written.
template <int Pending>
DEV void waitStores() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(Pending) : "memory");
}

/// Copies 16 bytes into shared memory, or zeros where not `valid` (nothing is read then).
DEV void copyAsync16(void *shared, const void *global, bool valid = true) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(sharedAddress(shared)), "l"(global),
               "r"(valid ? 16 : 0)
               : "memory");
}
/// Closes the group of this thread's 16-byte copies.
DEV void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits until all but `Pending` groups of this thread have landed.
template <int Pending>
DEV void waitCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}
/// Arrives once all earlier 16-byte copies of this thread have landed; counts as an arrival.
DEV void arriveAfterCopies(Barrier &barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(sharedAddress(&barrier)) : "memory");
}

} // namespace modelc

#endif // TARGETS_NVIDIA_COPY_CUH
