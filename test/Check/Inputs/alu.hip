// What compilers make of plain arithmetic: every value has a place in the
// output.
#include "amd/instructions.hip.h"

namespace modelc {

KERNEL(256, 1) add(const float *x, const float *y, float *z, int n) {
  int i = workgroupId() * 256 + threadId();
  if (i < n) {
    z[i] = x[i] + y[i];
  }
}

KERNEL(64, 1) integers(const int *x, int *out, int d, int64_t q, uint64_t r) {
  int i = workgroupId() * 64 + threadId(), *to = out + i * 24;
  int a = x[2 * i], b = x[2 * i + 1];
  int64_t wide = (int64_t)a << 32 | (uint32_t)b;
  to[0] = a / d;
  to[1] = a % d;
  to[2] = (int)((unsigned)a / (unsigned)(b | 1));
  to[3] = (int)(wide / q);
  to[4] = (int)(wide % q >> 3);
  to[5] = __builtin_popcount(a) + __builtin_popcountll(wide);
  to[6] = __builtin_clz(a | 1) + __builtin_ctz(b | 256);
  to[7] = (int)((int64_t)a * b >> 32);
  to[8] = (int)((uint64_t)(uint32_t)a * (uint32_t)b >> 32);
  to[9] = q < wide ? (int)(r >> (a & 63)) : (int)(r << (a & 63));
  to[10] = (int)(wide >> (b & 63));
  to[11] = (a & 0xFF00) | (b >> 16 & 0xFF) | (a >> 31);
  to[12] = (short)a * (short)b + (signed char)(a >> 8);
  to[13] = a < b ? a : b;
  to[14] = (unsigned)a > (unsigned)b ? a : b;
  to[15] = __builtin_bitreverse32(a) ^ ~b;
  to[16] = __builtin_rotateleft32(a, 7) + __builtin_bswap32(b);
  to[17] = (unsigned short)((unsigned short)a + (unsigned short)b) >> 3;
  to[18] = (short)((short)a >> 2) - (short)(b << 3);
  to[19] = __builtin_abs(a >> 1) + (a > b) + (a == b) * 3 + (wide > 0);
  to[20] = (a & 0xFFF) * (b & 0xFFFFF) + 17;
  to[21] = (int)(wide + q) ^ (int)((wide - q) >> 32);
  to[22] = a < 0 ? (b < 0 ? 1 : a) : (b >> 7 & 0x1F);
  to[23] = (int)(r * (uint64_t)wide >> 40);
}

KERNEL(64, 1) floats(const float *x, float *out) {
  int i = workgroupId() * 64 + threadId();
  float a = x[2 * i], b = x[2 * i + 1], *to = out + i * 24;
  to[0] = a / b;
  to[1] = __builtin_sqrtf(__builtin_fabsf(a));
  to[2] = __builtin_floorf(a) + __builtin_ceilf(b);
  to[3] = __builtin_rintf(a) - __builtin_truncf(b);
  to[4] = __builtin_copysignf(a, b);
  to[5] = (float)(int)a + (float)(unsigned)__builtin_fabsf(b);
  to[6] = __builtin_fmaf(a, b, -a);
  to[7] = __builtin_fmaxf(a, b) * __builtin_fminf(a, 1.5f);
  to[8] = a < b ? -a : __builtin_fabsf(b);
  to[9] = (float)((double)a * b + 0.1);
  to[10] = (float)((double)a / 3.0);
  to[11] = (float)(f16)a + (float)((f16)a * (f16)b);
  to[12] = (float)(bf16)(a * b) + (float)(bf16)a;
  to[13] = __builtin_ldexpf(a, (int)b & 7);
  to[14] = (float)(int64_t)(a * 1e9f);
  to[15] = a != b && !(a <= b) ? 1.0f : 2.0f;
  to[16] = b / 3.0f + 1.0f / a;
  to[17] = (a - b) * (a + b) - a * b;
  f16x4 h = {(f16)a, (f16)b, (f16)(a + b), (f16)1};
  f16x4 squares = h * h; // rounded: the host computes in floats between
  h = squares + h;
  to[18] = (float)h[0] + (float)h[2];
  to[19] = (float)(h[1] < h[3] ? h[1] : h[3]);
  f32x2 p = {a, b}, q = {b, -a};
  p = p * q + f32x2{b, b};
  to[20] = p[0];
  to[21] = p[1];
  to[22] = (float)(uint8_t)(int)__builtin_fabsf(a) + (float)(b > 0);
  to[23] = a * 0x1p-130f;
}

/// y = softmax of x, as attention does it, and the sum behind it.
KERNEL(256, 1) softmax(const float *x, float *y, int n, float scale) {
  SHARED(float, most, 4);
  SHARED(float, sums, 4);
  float m = -__builtin_inff();
  for (int i = threadId(); i < n; i += 256) {
    m = max(m, x[i] * scale);
  }
  m = max(m, shuffleXor<1>(m));
  m = max(m, shuffleXor<2>(m));
  m = max(m, shuffleXor<4>(m));
  m = max(m, shuffleXor<8>(m));
  m = max(m, shuffleXor<16>(m));
  m = max(m, shuffleXor<32>(m));
  if (laneId() == 0) {
    most[waveId()] = m;
  }
  sync();
  m = max(max(most[0], most[1]), max(most[2], most[3]));
  float sum = 0;
  for (int i = threadId(); i < n; i += 256) {
    sum += exp2(x[i] * scale - m);
  }
  for (int mask = 1; mask < 64; mask *= 2) {
    sum += shuffleXor(sum, mask);
  }
  if (laneId() == 0) {
    sums[waveId()] = sum;
  }
  sync();
  sum = sums[0] + sums[1] + sums[2] + sums[3];
  for (int i = threadId(); i < n; i += 256) {
    y[i] = exp2(x[i] * scale - m) * rcp(sum);
  }
  if (threadId() == 0) {
    y[n] = sum;
  }
}

/// An array in private memory, indexed by data.
KERNEL(64, 1) privateArray(const int *x, int *out) {
  volatile int mine[12];
  for (int i = 0; i < 12; ++i) {
    mine[i] = x[threadId() * 12 + i];
  }
  out[threadId()] = mine[(unsigned)x[threadId()] % 12] + mine[threadId() % 12];
}

/// A pointer that is shared or global memory, as the wave has it; atomics of
/// shared memory.
KERNEL(128, 1) anywhere(int *out, int chosen) {
  SHARED(int, local, 128);
  SHARED(int, count, 1);
  local[threadId()] = threadId() * 3;
  if (threadId() == 0) {
    count[0] = 5;
  }
  sync();
  volatile int *p = waveId() == chosen ? local : out + 128;
  p[threadId()] = p[threadId()] + 7;
  __atomic_fetch_add(count, threadId(), __ATOMIC_RELAXED);
  sync();
  out[threadId()] = local[threadId()] + count[0];
}

} // namespace modelc
