// facts: measures on the GPU present what targets/nvidia/hopper.toml states of
// Hopper: what instructions, memories and launches take. Prints a table in
// Markdown. Built for sm_90a with -I of the folder `targets`.
//
// Clocks are those of one unit (clock64), times those of CUDA events; each row
// is the best of five.
#include "machine.h"
#include "nvidia/tiles.cuh"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

using namespace modelc;

namespace {

constexpr int kRepeats = 5;

void row(const char *fact, double value, const char *unit) {
  std::printf("| %s | %.4g | %s |\n", fact, value, unit);
}

/// The best of some runs of launch(clocks), which leaves clocks of workgroup 0.
template <class F>
double bestClocks(F launch) {
  long long *clocks;
  check(cudaMalloc(&clocks, sizeof(long long)), "cudaMalloc");
  long long best = 1LL << 60;
  for (int i = 0; i < kRepeats; ++i) {
    launch(clocks);
    check(cudaGetLastError(), "a launch");
    long long own;
    check(cudaMemcpy(&own, clocks, sizeof own, cudaMemcpyDeviceToHost),
          "a kernel");
    best = std::min(best, own);
  }
  check(cudaFree(clocks), "cudaFree");
  return double(best);
}

//===- Matrix units -------------------------------------------------------===//

constexpr int kProducts = 8, kRounds = 256;

/// Groups of four waves multiply m64 n`N` k16 from shared memory; the address
/// of B of each group, and of A of each product, differ.
template <int N, bool FromRegister>
__global__ void wgmmas(long long *clocks, float *out) {
  extern __shared__ __attribute__((aligned(1024))) char shared[];
  const int group = threadIdx.x / 128;
#pragma unroll 1
  for (int i = threadIdx.x; i < 160 * 256; i += blockDim.x) {
    ((uint32_t *)shared)[i] = 0x3C003C00u + i * 2654435761u % 0x00400040u;
  }
  fenceAsyncShared();
  __syncthreads();
  float sum[N / 2] = {};
  uint32_t a[4] = {0x3C003C00, 0x3C003C00, 0x3C003C00, 0x3C003C00};
  const uint64_t ofA =
      sharedDescriptorHopper(sharedAddress(shared + group * 32768));
  const uint64_t ofB = sharedDescriptorHopper(sharedAddress(shared + 65536));
  const long long start = clock64();
  for (int round = 0; round < kRounds; ++round) {
    wgmmaFence();
#pragma unroll
    for (int i = 0; i < kProducts; ++i) {
      const uint64_t from =
          advanceDescriptor(ofA, i % 4 * 32 + i / 4 % 4 * 8192);
      const uint64_t b = advanceDescriptor(ofB, i % 4 * 32 + i / 4 % 2 * 32768);
      if constexpr (FromRegister) {
        wgmmaBf16<N>(sum, a, b, true);
      } else {
        wgmmaBf16<N>(sum, from, b, true);
      }
    }
    wgmmaCommit();
    wgmmaWait<0>(sum);
  }
  const long long taken = clock64() - start;
  float total = 0;
  for (float x : sum) {
    total += x;
  }
  if (total == 1) {
    *out = total;
  }
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    *clocks = taken;
  }
}

template <int N, bool FromRegister>
void printWgmma(int groups) {
  check(cudaFuncSetAttribute(wgmmas<N, FromRegister>,
                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                             160 * 1024),
        "cudaFuncSetAttribute");
  double clocks = bestClocks([&](long long *to) {
    wgmmas<N, FromRegister><<<132, 128 * groups, 160 * 1024>>>(to, nullptr);
  });
  double each = clocks / kRounds / kProducts / groups;
  char text[128];
  std::snprintf(text, sizeof text,
                "wgmma m64 n%d k16 bf16, A from %s, %d group%s: of %d clocks "
                "at the full rate",
                N, FromRegister ? "registers" : "shared memory", groups,
                groups > 1 ? "s" : "", N / 2);
  row(text, each, "clk");
}

__global__ void mmas(long long *clocks, float *out) {
  float sum[8][4] = {};
  uint32_t a[4] = {1, 2, 3, threadIdx.x}, b[2] = {5, 6};
  const long long start = clock64();
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      mmaBf16(sum[i], a, b);
    }
  }
  const long long taken = clock64() - start;
  float total = 0;
  for (auto &part : sum) {
    total += part[0] + part[1] + part[2] + part[3];
  }
  if (total == 1) {
    *out = total;
  }
  if (threadIdx.x == 0) {
    *clocks = taken;
  }
}

__global__ void exponentials(long long *clocks, float *out) {
  float x[8];
  for (int i = 0; i < 8; ++i) {
    x[i] = threadIdx.x * -0.001f * i;
  }
  const long long start = clock64();
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (float &one : x) {
      one = modelc::exp2(one);
    }
  }
  const long long taken = clock64() - start;
  float total = 0;
  for (float one : x) {
    total += one;
  }
  if (total == 1) {
    *out = total;
  }
  if (threadIdx.x == 0) {
    *clocks = taken;
  }
}

//===- Memories -----------------------------------------------------------===//

/// Goes on where the run before ended: what it reads is in no cache, where the
/// chain is longer than that.
__global__ void chase(const uint32_t *next, int steps, long long *clocks,
                      uint32_t *place) {
  uint32_t at = *place;
  const long long start = clock64();
  for (int i = 0; i < steps; ++i) {
    at = __ldcg(next + at);
  }
  const long long taken = clock64() - start;
  *place = at;
  *clocks = taken / steps;
}
__global__ void chaseShared(long long *clocks, uint32_t *out) {
  __shared__ volatile uint32_t next[1024];
#pragma unroll 1
  for (int i = 0; i < 1024; ++i) {
    next[i] = (i + 33) % 1024;
  }
  uint32_t at = 0;
  const long long start = clock64();
  for (int i = 0; i < 1024; ++i) {
    at = next[at];
  }
  const long long taken = clock64() - start;
  if (at == 0xFFFFFFFF) {
    *out = at;
  }
  *clocks = taken / 1024;
}

/// A chain through the lines of `bytes` of memory in an order drawn at random.
double latency(size_t bytes) {
  constexpr size_t kMostWords = 1 << 22, kLine = 32;
  size_t step = std::max(bytes / 4 / kMostWords, kLine),
         count = bytes / 4 / step;
  std::vector<uint32_t> order(count), next(bytes / 4);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin() + 1, order.end(), std::mt19937(7));
  for (size_t i = 0; i < count; ++i) {
    next[order[i] * step] = uint32_t(order[(i + 1) % count] * step);
  }
  uint32_t *words, *place;
  check(cudaMalloc(&words, bytes), "cudaMalloc");
  check(cudaMalloc(&place, 4), "cudaMalloc");
  check(cudaMemset(place, 0, 4), "cudaMemset");
  check(cudaMemcpy(words, next.data(), bytes, cudaMemcpyHostToDevice),
        "cudaMemcpy");
  double clocks = bestClocks(
      [&](long long *to) { chase<<<1, 1>>>(words, 1 << 17, to, place); });
  check(cudaFree(words), "cudaFree");
  check(cudaFree(place), "cudaFree");
  return clocks;
}

/// Workgroups keep `Flying` words of 16 bytes a thread on their way to shared
/// memory.
template <int Flying>
__global__ void stream(const char *from, int64_t bytes) {
  extern __shared__ __attribute__((aligned(16))) char slots[];
  const int piece = blockDim.x * 16;
  const int64_t all = int64_t(gridDim.x) * piece;
  int64_t at = int64_t(blockIdx.x) * piece + threadIdx.x * 16;
  char *const own = slots + threadIdx.x * 16;
  int slot = 0;
  for (int i = 0; i < Flying - 1; ++i, at += all) {
    copyAsync16(own + i * piece, from + at, at < bytes);
    commitCopies();
  }
  for (; at < bytes + (Flying - 1) * all; at += all) {
    copyAsync16(own + (slot + Flying - 1) % Flying * piece,
                from + (at < bytes ? at : 0), at < bytes);
    commitCopies();
    waitCopies<Flying - 1>();
    slot = (slot + 1) % Flying;
  }
}
template <int Flying>
void printStream(const char *from, int64_t bytes, int perUnit) {
  double seconds = secondsOf(2, [&](int, cudaStream_t stream_) {
    stream<Flying><<<132 * perUnit, 128, Flying * 2048, stream_>>>(from, bytes);
  });
  char text[128];
  std::snprintf(text, sizeof text,
                "read rate with %d KiB in flight on a unit, %d workgroups",
                Flying * 2 * perUnit, perUnit);
  row(text, bytes / seconds * 1e-12, "TB/s");
}

/// By `units` workgroups, each alone on a unit.
template <int Flying>
void printAlone(const char *from, int64_t bytes, int units) {
  constexpr int kShared = 128 << 10, kWordBytes = 16;
  const int threads = kShared / kWordBytes / Flying;
  check(cudaFuncSetAttribute(stream<Flying>,
                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                             kShared),
        "shared memory");
  double seconds = secondsOf(2, [&](int, cudaStream_t stream_) {
    stream<Flying><<<units, threads, kShared, stream_>>>(from, bytes);
  });
  char text[128];
  std::snprintf(text, sizeof text,
                "read rate of one unit of %d, %d threads, 128 KiB in flight",
                units, threads);
  row(text, bytes / seconds / units * 1e-9, "GB/s");
}

__global__ void readAgain(const uint4 *from, int count, int rounds,
                          uint32_t *out) {
  uint32_t own = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma unroll 8
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x) {
      const uint4 word = __ldcg(from + (i + round * 7919 * 32) % count);
      own += word.x ^ word.y ^ word.z ^ word.w;
    }
  }
  if (own == 0xDEADBEEF) {
    *out = own;
  }
}

__global__ void nothing() {}
/// Seconds of empty workgroups of which each fills a unit, so many on each.
double fillingUnits(int rounds) {
  constexpr int kShared = 227 << 10;
  check(cudaFuncSetAttribute(
            nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared),
        "shared memory");
  return secondsOf(20, [=](int, cudaStream_t s) {
    nothing<<<132 * rounds, 384, kShared, s>>>();
  });
}
__global__ void oneWord(const uint32_t *from, uint32_t *to) {
  to[blockIdx.x * blockDim.x + threadIdx.x] =
      from[blockIdx.x * blockDim.x + threadIdx.x] + 1;
}

} // namespace

int main() {
  cudaDeviceProp found;
  check(cudaGetDeviceProperties(&found, 0), "no GPU");
  std::printf("%s, %d units.\n\n| fact | measured | |\n|---|---|---|\n",
              found.name, found.multiProcessorCount);
  for (int groups : {1, 2}) {
    printWgmma<64, false>(groups);
    printWgmma<256, false>(groups);
    printWgmma<256, true>(groups);
  }
  for (int waves : {4, 8, 16}) {
    char text[96];
    double clocks = bestClocks(
        [&](long long *to) { mmas<<<1, 32 * waves>>>(to, nullptr); });
    std::snprintf(text, sizeof text,
                  "mma.sync m16n8k16 bf16, %d waves: flop a clock", waves);
    row(text, 4096.0 * 8 * kRounds * waves / clocks, "flop/clk");
  }
  row("ex2, 16 waves", 8.0 * kRounds * 512 / bestClocks([&](long long *to) {
                         exponentials<<<1, 512>>>(to, nullptr);
                       }),
      "op/clk");
  row("latency of shared memory",
      bestClocks([&](long long *to) { chaseShared<<<1, 1>>>(to, nullptr); }),
      "clk");
  row("latency of L2, 4 MiB", latency(size_t(4) << 20), "clk");
  row("latency of L2, 20 MiB", latency(size_t(20) << 20), "clk");
  row("latency of device memory, 1 GiB", latency(size_t(1) << 30), "clk");
  char *memory;
  const int64_t bytes = int64_t(1) << 30;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  check(cudaMemset(memory, 1, bytes), "cudaMemset");
  printStream<4>(memory, bytes, 1);
  printStream<8>(memory, bytes, 1);
  printStream<16>(memory, bytes, 1);
  printStream<4>(memory, bytes, 4);
  printStream<8>(memory, bytes, 4);
  printStream<12>(memory, bytes, 4);
  printStream<16>(memory, bytes, 4);
  printStream<20>(memory, bytes, 4);
  printStream<8>(memory, bytes, 8);
  printStream<8>(memory, bytes, 12);
  for (int units : {16, 66, 80, 100, 132}) {
    printAlone<64>(memory, bytes, units);
    printAlone<16>(memory, bytes, units);
  }
  for (int mebi : {8, 24, 36}) {
    char text[96];
    int count = mebi << 16, rounds = 16;
    double seconds = secondsOf(2, [&](int, cudaStream_t s) {
      readAgain<<<132 * 8, 256, 0, s>>>((const uint4 *)memory, count, rounds,
                                        nullptr);
    });
    std::snprintf(text, sizeof text, "L2 read rate over %d MiB", mebi);
    row(text, 16.0 * count * rounds / seconds * 1e-12, "TB/s");
  }
  row("empty kernel of 1 workgroup after another in a graph",
      secondsOf(200, [](int, cudaStream_t s) { nothing<<<1, 128, 0, s>>>(); }) *
          1e6,
      "us");
  row("empty kernel of 132 workgroups",
      secondsOf(200,
                [](int, cudaStream_t s) { nothing<<<132, 128, 0, s>>>(); }) *
          1e6,
      "us");
  row("empty kernel of 1056 workgroups",
      secondsOf(200,
                [](int, cudaStream_t s) { nothing<<<1056, 128, 0, s>>>(); }) *
          1e6,
      "us");
  row("empty workgroup that fills its unit, behind another one",
      (fillingUnits(33) - fillingUnits(1)) / 32 * 1e6, "us");
  row("kernel of 132 workgroups that reads and writes a word of L2",
      secondsOf(200,
                [&](int, cudaStream_t s) {
                  oneWord<<<132, 128, 0, s>>>((uint32_t *)memory,
                                              (uint32_t *)memory + (1 << 20));
                }) *
          1e6,
      "us");
  return 0;
}
