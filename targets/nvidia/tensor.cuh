//===- tensor.cuh - Matrix multiplication into tensor memory --------------===//
//
// Included by instructions.cuh, whose head lists the names. sm_100a and later.
//
// Tensor memory is 128 lanes x 512 columns of 32 bits; an address is
// lane << 16 | column. An accumulator of 128 rows has row r in lane r, one of 64
// rows has row r in lane 32 (r / 16) + r % 16; column n in column n. Wave w
// reaches lanes 32 (w % 4) .. + 31 only.
//
//===----------------------------------------------------------------------===//
#ifndef TARGETS_NVIDIA_TENSOR_CUH
#define TARGETS_NVIDIA_TENSOR_CUH

namespace modelc {

#define MODELC_TENSOR_COLUMNS(suffix, group)                                                                           \
  template <int Columns>                                                                                               \
  DEV void tensorAlloc##suffix(uint32_t *result) {                                                                     \
    asm volatile("tcgen05.alloc.cta_group::" group                                                                     \
                 ".sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(sharedAddress(result)),                               \
                 "n"(Columns)                                                                                          \
                 : "memory");                                                                                          \
  }                                                                                                                    \
  DEV void tensorRelinquish##suffix() {                                                                                \
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::" group ".sync.aligned;" ::: "memory");                   \
  }                                                                                                                    \
  template <int Columns>                                                                                               \
  DEV void tensorFree##suffix(uint32_t address) {                                                                      \
    asm volatile("tcgen05.dealloc.cta_group::" group ".sync.aligned.b32 %0, %1;" ::"r"(address), "n"(Columns)          \
                 : "memory");                                                                                          \
  }
/// Alloc: one wave takes `Columns` (a power of two from 32 to 512) columns; their address lands in shared memory.
/// Relinquish: this workgroup takes no more columns, the next workgroup on the unit may. Free: the wave that took the
/// columns gives them back, before the kernel ends.
MODELC_TENSOR_COLUMNS(, "1")
/// The same, by one wave of each workgroup of a pair.
MODELC_TENSOR_COLUMNS(OfPair, "2")
#undef MODELC_TENSOR_COLUMNS

/// Orders this thread's tensor instructions before a barrier or a sync.
DEV void tensorFenceBefore() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
/// Orders this thread's tensor instructions after a barrier or a sync.
DEV void tensorFenceAfter() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }

#define MODELC_TENSOR_MMA(name, group, kind, TypeA, a_text, a_constraint)                                              \
  DEV void name(uint32_t d, TypeA a, uint64_t b, uint32_t instruction, bool add) {                                     \
    asm volatile("{.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\t"                                                         \
                 "tcgen05.mma.cta_group::" group ".kind::" kind " [%0], " a_text ", %2, %3, p;}" ::"r"(d),             \
                 a_constraint(a), "l"(b), "r"(instruction), "r"(int(add))                                              \
                 : "memory");                                                                                          \
  }
/// d[M, N] = a[M, 16] b[16, N] (+ d where `add`) in tensor memory, issued by one thread.
MODELC_TENSOR_MMA(tensorMmaBf16, "1", "f16", uint64_t, "%1", "l")
/// The same with A in tensor memory: lane = row, four bytes of it a column.
MODELC_TENSOR_MMA(tensorMmaBf16FromTensor, "1", "f16", uint32_t, "[%1]", "r")
/// d[M, N] = a[M, 32] b[32, N] (+ d where `add`), issued by one thread.
MODELC_TENSOR_MMA(tensorMmaFp8, "1", "f8f6f4", uint64_t, "%1", "l")
MODELC_TENSOR_MMA(tensorMmaFp8FromTensor, "1", "f8f6f4", uint32_t, "[%1]", "r")
/// The same by a pair of workgroups with descriptors that hold in both: each has 128 rows of a and of d, and the first
/// one the first half of the columns of b. One thread of the first workgroup issues.
MODELC_TENSOR_MMA(tensorMmaBf16OfPair, "2", "f16", uint64_t, "%1", "l")
MODELC_TENSOR_MMA(tensorMmaFp8OfPair, "2", "f8f6f4", uint64_t, "%1", "l")
#undef MODELC_TENSOR_MMA

#define MODELC_TENSOR_MMA_SCALED(name, group, kind)                                                                    \
  DEV void name(uint32_t d, uint64_t a, uint64_t b, uint32_t instruction, uint32_t scalesOfA, uint32_t scalesOfB,      \
                bool add) {                                                                                            \
    asm volatile("{.reg .pred p;\n\tsetp.ne.b32 p, %6, 0;\n\t"                                                         \
                 "tcgen05.mma.cta_group::" group ".kind::" kind " [%0], %1, %2, %3, [%4], [%5], p;}" ::"r"(d),         \
                 "l"(a), "l"(b), "r"(instruction), "r"(scalesOfA), "r"(scalesOfB), "r"(int(add))                       \
                 : "memory");                                                                                          \
  }
/// d[M, N] = a[M, 64] b[64, N] (+ d where `add`), issued by one thread. Each block of 16 or 32 along K of every row of
/// a and column of b has a scale in tensor memory: that of row r in lane r % 32 and column r / 32, four bytes in all.
MODELC_TENSOR_MMA_SCALED(tensorMmaNvf4, "1", "mxf4nvf4.block_scale.scale_vec::4X")
MODELC_TENSOR_MMA_SCALED(tensorMmaMxf4, "1", "mxf4.block_scale.scale_vec::2X")
/// d[M, N] = a[M, 32] b[32, N], numbers of 8 bits with one scale for each row of 32.
MODELC_TENSOR_MMA_SCALED(tensorMmaMx8, "1", "mxf8f6f4.block_scale.scale_vec::1X")
/// The same by a pair of workgroups: each has the scales of its 128 rows of a and of all columns of b.
MODELC_TENSOR_MMA_SCALED(tensorMmaNvf4OfPair, "2", "mxf4nvf4.block_scale.scale_vec::4X")
MODELC_TENSOR_MMA_SCALED(tensorMmaMxf4OfPair, "2", "mxf4.block_scale.scale_vec::2X")
MODELC_TENSOR_MMA_SCALED(tensorMmaMx8OfPair, "2", "mxf8f6f4.block_scale.scale_vec::1X")
#undef MODELC_TENSOR_MMA_SCALED

/// 32 rows of 16 bytes in shared memory, as the descriptor says, to lanes 0 .. 31 of four columns, and the same to the
/// other lanes. One thread issues; done before the products that it issues afterwards, and behind those it has issued.
DEV void tensorCopyScales(uint32_t d, uint64_t from) {
  asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(d), "l"(from) : "memory");
}
/// The same in both workgroups of a pair, from the shared memory of each to its own tensor memory.
DEV void tensorCopyScalesOfPair(uint32_t d, uint64_t from) {
  asm volatile("tcgen05.cp.cta_group::2.32x128b.warpx4 [%0], %1;" ::"r"(d), "l"(from) : "memory");
}

/// `barrier` gets one arrival when all tensor multiplications of this thread so far are done.
DEV void tensorCommit(Barrier &barrier) {
  asm volatile(
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(sharedAddress(&barrier))
      : "memory");
}

/// The same for products of a pair: at the barriers of the workgroups of the cluster whose bits of `ranks` are set.
DEV void tensorCommitOfPair(Barrier &barrier, int ranks) {
  asm volatile(
      "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(
          sharedAddress(&barrier)),
      "h"(uint16_t(ranks))
      : "memory");
}

// The operand after the registers: 0 = address.
#define MODELC_LOAD_TAIL(address, ...) "}, [" address "];"
#define MODELC_STORE_HEAD(address, ...) " [" address "], {"
#define MODELC_TENSOR_LOAD(n, constraint)                                                                              \
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x" #n ".b32 {" MODELC_LIST_##n MODELC_AFTER_##n(MODELC_LOAD_TAIL)       \
               : MODELC_ARRAY_##n("=" constraint, r, 0)                                                                \
               : "r"(address)                                                                                          \
               : "memory");
#define MODELC_TENSOR_STORE(n, constraint)                                                                             \
  asm volatile("tcgen05.st.sync.aligned.32x32b.x" #n ".b32" MODELC_AFTER_##n(MODELC_STORE_HEAD) MODELC_LIST_##n        \
               "};" ::MODELC_ARRAY_##n(constraint, r, 0),                                                              \
               "r"(address)                                                                                            \
               : "memory");
#define MODELC_TENSOR_ANY(instruction, constraint)                                                                     \
  static_assert(N == 8 || N == 16 || N == 32 || N == 64, "expected 8, 16, 32 or 64 columns");                          \
  if constexpr (N == 8) {                                                                                              \
    instruction(8, constraint)                                                                                         \
  } else if constexpr (N == 16) {                                                                                      \
    instruction(16, constraint)                                                                                        \
  } else if constexpr (N == 32) {                                                                                      \
    instruction(32, constraint)                                                                                        \
  } else {                                                                                                             \
    instruction(64, constraint)                                                                                        \
  }

/// Lane l of the wave reads columns 0 .. N - 1 of lane (address >> 16) + l; readable after tensorWaitLoads.
template <int N>
DEV void tensorLoad(float (&r)[N], uint32_t address) {
  MODELC_TENSOR_ANY(MODELC_TENSOR_LOAD, "f")
}
template <int N>
DEV void tensorLoad(uint32_t (&r)[N], uint32_t address) {
  MODELC_TENSOR_ANY(MODELC_TENSOR_LOAD, "r")
}
/// The opposite direction; in tensor memory after tensorWaitStores.
template <int N>
DEV void tensorStore(uint32_t address, const float (&r)[N]) {
  MODELC_TENSOR_ANY(MODELC_TENSOR_STORE, "f")
}
template <int N>
DEV void tensorStore(uint32_t address, const uint32_t (&r)[N]) {
  MODELC_TENSOR_ANY(MODELC_TENSOR_STORE, "r")
}
#undef MODELC_LOAD_TAIL
#undef MODELC_STORE_HEAD
#undef MODELC_TENSOR_LOAD
#undef MODELC_TENSOR_STORE
#undef MODELC_TENSOR_ANY

/// Waits for this thread's tensorLoads; names the arrays that become readable.
template <class... Arrays>
DEV void tensorWaitLoads(Arrays &...results) {
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
  (keep(results), ...);
}
/// Waits for this thread's tensorStores.
DEV void tensorWaitStores() { asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory"); }

} // namespace modelc

#endif // TARGETS_NVIDIA_TENSOR_CUH
