//===- matrix.cuh - Matrix multiplication into registers ------------------===//
//
// Included by instructions.cuh, whose head lists the names.
//
// mma m16n8: lane l holds, with row = l / 4 and pair = l % 4,
//   A k16 bf16: a[0] (row, 2 pair..), a[1] (row + 8, ..), a[2] (row, 8 + 2 pair..), a[3] (row + 8, 8 + ..)
//   A k32 e4m3: the same with 4 elements a register: k = 4 pair.., and 16 + 4 pair..
//   B: b[0] (k = 2 pair.. or 4 pair.., column = row), b[1] the upper half of k
//   D: d[0], d[1] (row, 2 pair..), d[2], d[3] (row + 8, 2 pair..)
// wgmma m64: wave w of the group of four holds rows 16 w .. 16 w + 15, as D above
// for every 8 columns: d[4 j ..] for columns 8 j ..; A from registers as above.
//
//===----------------------------------------------------------------------===//
#ifndef TARGETS_NVIDIA_MATRIX_CUH
#define TARGETS_NVIDIA_MATRIX_CUH

namespace modelc {

/// Four 8x8 matrices of 16-bit elements: lane l gives the address of row l % 8
/// of matrix l / 8 and receives elements (l / 4, 2 (l % 4)..) of each matrix.
DEV void loadMatrix4(uint32_t (&r)[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(sharedAddress(row))
               : "memory");
}
/// The same with each matrix transposed.
DEV void loadMatrix4Transposed(uint32_t (&r)[4], const void *row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(sharedAddress(row))
               : "memory");
}

/// d[16, 8] += a[16, 16] b[16, 8], one wave.
DEV void mmaBf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/// d[16, 8] += a[16, 32] b[32, 8], one wave.
DEV void mmaFp8(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// Orders register writes before the first wgmma that reads them.
DEV void wgmmaFence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
/// Closes the group of the wgmma issued so far.
DEV void wgmmaCommit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Waits until all but `Pending` groups are done; names the accumulators that become readable and the
/// operands that must have stayed in their registers.
template <int Pending, class... Arrays>
DEV void wgmmaWait(Arrays &...arrays) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
  (keep(arrays), ...);
}

// The operands after the accumulator: 0 = add, 1 = B, then A and the majors.
#define MODELC_HEAD(add, ...) "{.reg .pred p;\n\tsetp.ne.b32 p, " add ", 0;\n\twgmma.mma_async.sync.aligned.m64n"
#define MODELC_SHARED_BF16(add, b, a, majorA, majorB, ...) "}, " a ", " b ", p, 1, 1, " majorA ", " majorB ";}"
#define MODELC_SHARED_FP8(add, b, a, ...) "}, " a ", " b ", p, 1, 1;}"
#define MODELC_REGISTERS_BF16(add, b, a0, a1, a2, a3, majorB)                                                          \
  "}, {" a0 "," a1 "," a2 "," a3 "}, " b ", p, 1, 1, " majorB ";}"
#define MODELC_REGISTERS_FP8(add, b, a0, a1, a2, a3, ...) "}, {" a0 "," a1 "," a2 "," a3 "}, " b ", p, 1, 1;}"

#define MODELC_WGMMA(n, count, types, tail, ...)                                                                       \
  asm volatile(MODELC_AFTER_##count(MODELC_HEAD) #n types " {" MODELC_LIST_##count MODELC_AFTER_##count(tail)          \
               : MODELC_ARRAY_##count("+f", d, 0)                                                                      \
               : "r"(int(add)), "l"(b), __VA_ARGS__);
#define MODELC_WGMMA_ANY(types, tail, ...)                                                                             \
  static_assert(N == 8 || N == 16 || N == 32 || N == 64 || N == 128 || N == 256,                                       \
                "expected 8, 16, 32, 64, 128 or 256 columns");                                                         \
  if constexpr (N == 8) {                                                                                              \
    MODELC_WGMMA(8, 4, types, tail, __VA_ARGS__)                                                                       \
  } else if constexpr (N == 16) {                                                                                      \
    MODELC_WGMMA(16, 8, types, tail, __VA_ARGS__)                                                                      \
  } else if constexpr (N == 32) {                                                                                      \
    MODELC_WGMMA(32, 16, types, tail, __VA_ARGS__)                                                                     \
  } else if constexpr (N == 64) {                                                                                      \
    MODELC_WGMMA(64, 32, types, tail, __VA_ARGS__)                                                                     \
  } else if constexpr (N == 128) {                                                                                     \
    MODELC_WGMMA(128, 64, types, tail, __VA_ARGS__)                                                                    \
  } else {                                                                                                             \
    MODELC_WGMMA(256, 128, types, tail, __VA_ARGS__)                                                                   \
  }
#define MODELC_FRAGMENT_A "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])

/// d[64, N] = a[64, 16] b[16, N] (+ d where `add`), four waves; both operands in shared memory.
template <int N, Major MajorA = Major::K, Major MajorB = Major::K>
DEV void wgmmaBf16(float (&d)[N / 2], uint64_t a, uint64_t b, bool add) {
  MODELC_WGMMA_ANY("k16.f32.bf16.bf16", MODELC_SHARED_BF16, "l"(a), "n"(int(MajorA)), "n"(int(MajorB)))
}
/// The same with the wave's 16 rows of A in registers.
template <int N, Major MajorB = Major::K>
DEV void wgmmaBf16(float (&d)[N / 2], const uint32_t (&a)[4], uint64_t b, bool add) {
  MODELC_WGMMA_ANY("k16.f32.bf16.bf16", MODELC_REGISTERS_BF16, MODELC_FRAGMENT_A, "n"(int(MajorB)))
}
/// d[64, N] = a[64, 32] b[32, N] (+ d where `add`), four waves; both operands in shared memory.
template <int N>
DEV void wgmmaFp8(float (&d)[N / 2], uint64_t a, uint64_t b, bool add) {
  MODELC_WGMMA_ANY("k32.f32.e4m3.e4m3", MODELC_SHARED_FP8, "l"(a))
}
template <int N>
DEV void wgmmaFp8(float (&d)[N / 2], const uint32_t (&a)[4], uint64_t b, bool add) {
  MODELC_WGMMA_ANY("k32.f32.e4m3.e4m3", MODELC_REGISTERS_FP8, MODELC_FRAGMENT_A)
}

#undef MODELC_HEAD
#undef MODELC_SHARED_BF16
#undef MODELC_SHARED_FP8
#undef MODELC_REGISTERS_BF16
#undef MODELC_REGISTERS_FP8
#undef MODELC_WGMMA
#undef MODELC_WGMMA_ANY
#undef MODELC_FRAGMENT_A

} // namespace modelc

#endif // TARGETS_NVIDIA_MATRIX_CUH
