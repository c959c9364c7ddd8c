// What the suite asks of a machine, once for a GPU and once for the emulator:
// memory, a function for each number of a range, the time of launches.
#ifndef TEST_GPU_MACHINE_H
#define TEST_GPU_MACHINE_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#ifdef MODELC_EMULATOR

#define BOTH inline
constexpr bool kHasClock = false;

extern "C" {
void emulatorOpen(int count, int waveSize, size_t sharedBytes);
void *emulatorAllocate(size_t bytes);
void emulatorFree(void *memory);
void emulatorSynchronize();
}

inline void openMachine() {
  emulatorOpen(1, WAVE_SIZE, size_t(SHARED_KIB) << 10);
}
inline std::string machineName() { return "the emulator"; }
inline size_t cacheBytes() { return 1; }
inline void *allocate(size_t bytes) { return emulatorAllocate(bytes); }
inline void release(void *memory) { emulatorFree(memory); }
inline void synchronize() { emulatorSynchronize(); }
inline void fetch(void *to, const void *from, size_t bytes) {
  std::memcpy(to, from, bytes);
}
inline void put(void *to, const void *from, size_t bytes) {
  std::memcpy(to, from, bytes);
}
inline void poison(void *memory, size_t bytes) {
  std::memset(memory, 0xFF, bytes);
}

template <typename F>
void forEach(int64_t count, F f, void * /*stream*/ = nullptr) {
  for (int64_t i = 0; i < count; ++i) {
    f(i);
  }
}

template <typename F>
double secondsOf(int, F) {
  return 0;
}

#else

#include <cuda_runtime.h>

#define BOTH __host__ __device__ inline
constexpr bool kHasClock = true;

inline void check(cudaError_t error, const char *what) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    std::exit(2);
  }
}

inline void openMachine() { check(cudaFree(nullptr), "no GPU"); }

inline cudaDeviceProp properties() {
  cudaDeviceProp found;
  check(cudaGetDeviceProperties(&found, 0), "properties");
  return found;
}
inline std::string machineName() {
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver), "driver");
  check(cudaRuntimeGetVersion(&runtime), "runtime");
  return std::string(properties().name) + ", driver for CUDA " +
         std::to_string(driver / 1000) + "." +
         std::to_string(driver / 10 % 100) + ", built with " +
         std::to_string(runtime / 1000) + "." +
         std::to_string(runtime / 10 % 100);
}
inline size_t cacheBytes() { return size_t(properties().l2CacheSize); }

inline void *allocate(size_t bytes) {
  void *memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  return memory;
}
inline void release(void *memory) { check(cudaFree(memory), "cudaFree"); }
inline void synchronize() { check(cudaDeviceSynchronize(), "a kernel"); }
inline void fetch(void *to, const void *from, size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
}
inline void put(void *to, const void *from, size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
}
inline void poison(void *memory, size_t bytes) {
  check(cudaMemset(memory, 0xFF, bytes), "cudaMemset");
}

template <typename F>
__global__ void forEachKernel(int64_t count, F f) {
  int64_t step = int64_t(gridDim.x) * blockDim.x;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    f(i);
  }
}
template <typename F>
void forEach(int64_t count, F f, void *stream = nullptr) {
  constexpr int64_t kThreads = 128, kMostBlocks = 65536;
  int64_t blocks = (count + kThreads - 1) / kThreads;
  forEachKernel<<<unsigned(blocks < kMostBlocks ? blocks : kMostBlocks),
                  unsigned(kThreads), 0, static_cast<cudaStream_t>(stream)>>>(
      count, f);
  check(cudaGetLastError(), "a launch");
}

/// Mean seconds of launch(i, stream) for i from 0, as they follow one another
/// in a captured graph: the best of some replays of `count`.
template <typename F>
double secondsOf(int count, F launch) {
  constexpr int kReplays = 5;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t replayed;
  cudaEvent_t first, last;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
        "cudaStreamBeginCapture");
  for (int i = 0; i < count; ++i) {
    launch(i, stream);
  }
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&replayed, graph, 0), "cudaGraphInstantiate");
  check(cudaEventCreate(&first), "cudaEventCreate");
  check(cudaEventCreate(&last), "cudaEventCreate");
  double best = 1e9;
  for (int replay = 0; replay <= kReplays; ++replay) { // the first one warms up
    check(cudaEventRecord(first, stream), "cudaEventRecord");
    check(cudaGraphLaunch(replayed, stream), "cudaGraphLaunch");
    check(cudaEventRecord(last, stream), "cudaEventRecord");
    check(cudaEventSynchronize(last), "a kernel");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, first, last),
          "cudaEventElapsedTime");
    best = replay && milliseconds < best ? milliseconds : best;
  }
  check(cudaEventDestroy(first), "cudaEventDestroy");
  check(cudaEventDestroy(last), "cudaEventDestroy");
  check(cudaGraphExecDestroy(replayed), "cudaGraphExecDestroy");
  check(cudaGraphDestroy(graph), "cudaGraphDestroy");
  check(cudaStreamDestroy(stream), "cudaStreamDestroy");
  return best * 1e-3 / count;
}

#endif

#endif // TEST_GPU_MACHINE_H
