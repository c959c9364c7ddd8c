//===- registers.cuh - Lists of registers for asm statements --------------===//
//
// Included by instructions.cuh. MODELC_LIST_n is the text "%0,...,%n-1";
// MODELC_ARRAY_n(constraint, array, first) the n operands of an array;
// keep() tells the compiler that an asynchronous instruction wrote an array;
// holdBack() that what it computes comes first; makeHere() that a word is whole.
//
//===----------------------------------------------------------------------===//
#ifndef TARGETS_NVIDIA_REGISTERS_CUH
#define TARGETS_NVIDIA_REGISTERS_CUH

// clang-format off
#define MODELC_LIST_4 "%0,%1,%2,%3"
#define MODELC_LIST_8 MODELC_LIST_4 \
  ",%4,%5,%6,%7"
#define MODELC_LIST_16 MODELC_LIST_8 \
  ",%8,%9,%10,%11,%12,%13,%14,%15"
#define MODELC_LIST_32 MODELC_LIST_16 \
  ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define MODELC_LIST_64 MODELC_LIST_32 \
  ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47" \
  ",%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define MODELC_LIST_128 MODELC_LIST_64 \
  ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79" \
  ",%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95" \
  ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111" \
  ",%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"

#define MODELC_ARRAY_4(c, v, i) c((v)[i]), c((v)[(i) + 1]), c((v)[(i) + 2]), c((v)[(i) + 3])
#define MODELC_ARRAY_8(c, v, i) MODELC_ARRAY_4(c, v, i), MODELC_ARRAY_4(c, v, (i) + 4)
#define MODELC_ARRAY_16(c, v, i) MODELC_ARRAY_8(c, v, i), MODELC_ARRAY_8(c, v, (i) + 8)
#define MODELC_ARRAY_32(c, v, i) MODELC_ARRAY_16(c, v, i), MODELC_ARRAY_16(c, v, (i) + 16)
#define MODELC_ARRAY_64(c, v, i) MODELC_ARRAY_32(c, v, i), MODELC_ARRAY_32(c, v, (i) + 32)
#define MODELC_ARRAY_128(c, v, i) MODELC_ARRAY_64(c, v, i), MODELC_ARRAY_64(c, v, (i) + 64)

// MODELC_AFTER_n(text): text(x0, ..., x6) with the operands that follow n registers.
#define MODELC_AFTER_4(text) text("%4", "%5", "%6", "%7", "%8", "%9", "%10")
#define MODELC_AFTER_8(text) text("%8", "%9", "%10", "%11", "%12", "%13", "%14")
#define MODELC_AFTER_16(text) text("%16", "%17", "%18", "%19", "%20", "%21", "%22")
#define MODELC_AFTER_32(text) text("%32", "%33", "%34", "%35", "%36", "%37", "%38")
#define MODELC_AFTER_64(text) text("%64", "%65", "%66", "%67", "%68", "%69", "%70")
#define MODELC_AFTER_128(text) text("%128", "%129", "%130", "%131", "%132", "%133", "%134")
// clang-format on

namespace modelc {

/// The array changes here: nothing that reads it moves above this point.
template <int N>
DEV void keep(float (&values)[N]) {
#pragma unroll
  for (int i = 0; i < N; i++) {
    asm volatile("" : "+f"(values[i])::"memory");
  }
}
template <int N>
DEV void keep(uint32_t (&values)[N]) {
#pragma unroll
  for (int i = 0; i < N; i++) {
    asm volatile("" : "+r"(values[i])::"memory");
  }
}

/// The register holds the word from here on: what packs it stands above.
DEV void makeHere(uint32_t &word) { asm volatile("" : "+r"(word)); }
DEV void makeHere(float &word) { asm volatile("" : "+f"(word)); }

/// Nothing that `value` is made of sinks below this point: ptxas moves a wait for products up, in front of all that
/// could run beside them, but not over an instruction that may take time. This one takes none, and only of no number.
DEV void holdBack(float value) {
  asm volatile("{.reg .pred p;\n\tsetp.nan.f32 p, %0, %0;\n\t@p nanosleep.u32 0;}" ::"f"(value) : "memory");
}

} // namespace modelc

#endif // TARGETS_NVIDIA_REGISTERS_CUH
