// Every instruction function once, so that the assembly can be searched.
#include "amd/instructions.hip.h"
namespace modelc {

KERNEL(256, 2) order(float *x) {
  SHARED(float, s, 256);
  s[threadId()] = x[threadId()];
  sync();
  float v = s[255 - threadId()];
  syncOnly();
  s[threadId()] = v + workgroupId() + workgroupId<1>() + workgroupCount() +
                  waveId() + laneId();
  syncWave();
  priority<1>();
  scheduleFence();
  interleave<2, 1, 1>();
  priority<0>();
  waitReads<3>();
  x[threadId()] = s[threadId() ^ 1];
}
KERNEL(64, 1) lanes(float *x, double *y) {
  float v = x[laneId()];
  v += shuffleXor<1>(v);
  v += shuffleXor<2>(v);
  v += shuffleXor<4>(v);
  v += shuffleXor<8>(v);
  v += shuffleXor<16>(v);
  v += shuffleXor<32>(v);
  v += shuffleXor(v, (int)x[100]);
  v += shuffle(v, (int)x[101]);
  y[laneId()] = shuffleXor<32>(y[laneId()]);
  x[laneId()] = v * uniform(v) * readFirstLane(x[3]);
}
KERNEL(64, 1) copies(const char *g, char *out) {
  SHARED(char, s, 4096);
  copyToShared<4>(g + laneId() * 4, s);
  Buffer b = buffer(g, 1000);
  copyBufferToShared<4>(b, s + 1024, laneId() * 4, 16);
#if MODELC_CHIP >= 950
  copyToShared<16>(g + laneId() * 16, s + 2048);
  copyBufferToShared<16>(b, s + 3072, laneId() * 16);
#endif
  waitCopies<1>();
  storeGlobal(out + laneId(), s[laneId()]);
  i32x4 w = loadBuffer<i32x4>(b, laneId() * 16);
  w[0] += loadBuffer<int>(b, laneId() * 4) + loadBuffer<int8_t>(b, laneId()) +
          loadBuffer<int16_t>(b, laneId() * 2);
  i32x2 t = loadBuffer<i32x2>(b, laneId() * 8);
#if MODELC_CHIP >= 950
  t += readTransposed16(s + laneId() * 8);
  t += readTransposed8(s + laneId() * 8);
#endif
  Buffer o = buffer(out, 4000);
  storeBuffer(o, w, laneId() * 16);
  storeBuffer(o, t, laneId() * 8, 1024);
  storeBuffer(o, t[0], laneId() * 4, 2048);
  storeBuffer(o, (int16_t)t[1], laneId() * 2, 3072);
  storeBuffer(o, (int8_t)t[1], laneId(), 3500);
  storeNontemporal((int *)out + laneId() + 2000,
                   loadNontemporal((const int *)g + laneId()));
}
KERNEL(64, 1) matrix(const i32x8 *in, f32x4 *out, f32x16 *wide) {
  i32x8 a = in[laneId()], b = in[laneId() + 64];
  i32x4 ha = a.lo, hb = b.lo;
  i32x2 qa = ha.lo, qb = hb.lo;
  f32x4 c = {};
  f32x16 d = {};
  c = mfma16x16x16(__builtin_bit_cast(bf16x4, qa),
                   __builtin_bit_cast(bf16x4, qb), c);
  c = mfma16x16x16(__builtin_bit_cast(f16x4, qa), __builtin_bit_cast(f16x4, qb),
                   c);
  d = mfma32x32x8(__builtin_bit_cast(bf16x4, qa),
                  __builtin_bit_cast(bf16x4, qb), d);
  d = mfma32x32x8(__builtin_bit_cast(f16x4, qa), __builtin_bit_cast(f16x4, qb),
                  d);
  c = mfma16x16x32Fp8(qa, qb, c);
  c = mfma16x16x32Fp8<kFp8, kBf8>(qa, qb, c);
  c = mfma16x16x32Fp8<kBf8, kFp8>(qa, qb, c);
  d = mfma32x32x16Fp8<kBf8, kBf8>(qa, qb, d);
#if MODELC_CHIP >= 950
  c = mfma16x16x32(__builtin_bit_cast(bf16x8, ha),
                   __builtin_bit_cast(bf16x8, hb), c);
  c = mfma16x16x32(__builtin_bit_cast(f16x8, ha), __builtin_bit_cast(f16x8, hb),
                   c);
  d = mfma32x32x16(__builtin_bit_cast(bf16x8, ha),
                   __builtin_bit_cast(bf16x8, hb), d);
  d = mfma32x32x16(__builtin_bit_cast(f16x8, ha), __builtin_bit_cast(f16x8, hb),
                   d);
  c = mfmaScaled16x16x128<kFp8, kFp8>(a, b, c, a[0], b[0]);
  c = mfmaScaled16x16x128<kFp4, kFp4, 2, 3>(ha, hb, c, a[1], b[1]);
  d = mfmaScaled32x32x64<kFp8, kFp4>(a, hb, d, a[1], b[1]);
  d = mfmaScaled32x32x64<kFp6, kFp4>(a, hb, d, kScaleOne, kScaleOne);
#endif
  out[laneId()] = c;
  wide[laneId()] = d;
}
KERNEL(64, 1) numbers(const float *x, float *y, uint32_t *z) {
  float v = x[threadId()];
  y[0] = exp2(v);
  y[1] = log2(v);
  y[2] = rcp(v);
  y[3] = rsqrt(v);
  y[4] = sqrt(v);
  y[5] = fma(v, x[1], x[2]);
  y[6] = max(v, x[1]);
  y[7] = min(v, abs(x[1]));
  z[0] = packBf16(v, x[1]);
  z[1] = packFp8(f32x4{v, x[1], x[2], x[3]});
  z[2] = packBf8(f32x4{v, x[1], x[2], x[3]});
  f32x4 u = unpackFp8(z[3]) + unpackBf8(z[4]) + unpackFp4<1>(z[5], v);
#if MODELC_CHIP >= 950
  z[6] = packFp4(u, u, v);
#endif
  y[8] = u[0] + u[1] + u[2] + u[3] + toFloat(toBf16(v)) + unpackBf16(z[7])[1];
}
KERNEL(64, 1) across(float *f, int *i, uint64_t *l, uint32_t *flags) {
  atomicAdd(f, 2.0f);
  atomicAdd(i, 2);
  atomicMax(l, uint64_t(7));
  atomicAddBf16(flags + 9, packBf16(1, 2));
  fenceDevice();
  storeRelease(flags, 3);
  waitForFlag(flags + 1, 3);
}
} // namespace modelc
