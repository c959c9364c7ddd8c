// Included before a program of test/Emulator: every kernel that it runs on the
// emulator is written down for modelc-check as well, in the folder that
// CHECK_CASES names: inputs, what the outputs are, and the case.
#ifndef TEST_CHECK_INPUTS_RECORD_H
#define TEST_CHECK_INPUTS_RECORD_H

#ifdef MODELC_PTX
#include "nvidia/instructions.cuh"
#define CHECK_TARGET MODELC_PTX
#else
#include "amd/instructions.hip.h"
#define CHECK_TARGET (MODELC_CHIP >= 950 ? "mi355x" : "mi300x")
#endif

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace recording {

inline int cases = 0;

/// Sizes of the buffers that live, by address.
inline std::map<const void *, size_t> &buffers() {
  static std::map<const void *, size_t> all;
  return all;
}

inline void writeFile(const std::string &path, const void *bytes, size_t size) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char *>(bytes), std::streamsize(size));
}

/// One kernel's case while it is written.
struct Case {
  std::string stem, arguments, outputs;
  std::map<std::string, const void *> expected; // by path
  std::map<const void *, std::string> files;
  int count = 0;

  void add(const std::string &argument) {
    arguments += (count++ ? ", " : "") + argument;
  }
  /// Writes a buffer when it is first named; returns its file.
  std::string file(const void *pointer) {
    auto found = buffers().find(pointer);
    if (found == buffers().end()) {
      std::fprintf(stderr, "argument %d is no buffer\n", count);
      std::abort();
    }
    std::string &base = files[pointer];
    if (base.empty()) {
      base = stem + "." + std::to_string(count);
      writeFile(base + ".in", pointer, found->second);
      expected[base + ".expected"] = pointer;
      outputs += std::string(outputs.empty() ? "" : ", ") +
                 "{\"argument\": " + std::to_string(count) + ", \"file\": \"" +
                 base + ".out\"}";
    }
    return base + ".in";
  }
  template <typename T>
  void argument(T *pointer) {
    add("{\"buffer\": \"" + file(pointer) + "\"}");
  }
#ifdef MODELC_PTX
  template <typename T>
  static std::string list(const T *values, int size) {
    std::string text;
    for (int i = 0; i < size; ++i) {
      text += (i ? ", " : "") + std::to_string(values[i]);
    }
    return "[" + text + "]";
  }
  void argument(const modelc::TensorMap &encoded) {
    alignas(64) modelc::TensorMap copy = encoded;
    auto map = emulator::nvidia::MapFields::of(copy);
    auto base = buffers().upper_bound(reinterpret_cast<const void *>(map.base));
    const void *start =
        base == buffers().begin() ? nullptr : std::prev(base)->first;
    add("{\"map\": {\"buffer\": \"" + file(start) +
        "\", \"offset\": " + std::to_string(map.base - uint64_t(start)) +
        ", \"element_bytes\": " + std::to_string(map.elementBytes) +
        ", \"swizzle\": " + std::to_string(int(map.swizzle)) +
        ",\n  \"sizes\": " + list(map.sizes, map.rank) +
        ", \"strides\": " + list(map.strides, map.rank - 1) +
        ", \"box\": " + list(map.box, map.rank) + "}}");
  }
#endif
  void argument(int value) { add("{\"i32\": " + std::to_string(value) + "}"); }
  void argument(int64_t value) {
    add("{\"i64\": " + std::to_string(value) + "}");
  }
  void argument(uint64_t value) { argument(int64_t(value)); }
  void argument(unsigned value) { argument(int(value)); }
  void argument(float value) {
    std::ostringstream text;
    text.precision(9);
    text << value;
    add("{\"f32\": " + text.str() + "}");
  }
};

inline std::string extent(const emulator::Dim3 &d) {
  return "[" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " +
         std::to_string(d.z) + "]";
}

} // namespace recording

namespace emulator {

template <typename T>
struct RecordedAllocation : Allocation<T> {
  explicit RecordedAllocation(size_t count) : Allocation<T>(count) {
    recording::buffers()[this->data()] = count * sizeof(T);
  }
  ~RecordedAllocation() { recording::buffers().erase(this->data()); }
};

template <typename... Parameters, typename... Arguments>
void recordedRun(Device &device, const Shape &shape,
                 void (*kernel)(Parameters...), Arguments... arguments) {
  recording::Case written;
  written.stem = std::string(std::getenv("CHECK_CASES")) + "/" +
                 std::to_string(recording::cases++) + "." + shape.kernel;
  (written.argument(Parameters(arguments)), ...);
  std::ofstream(written.stem + ".json")
      << "{\"code\": \"" << std::getenv("CHECK_CODE") << "\", \"kernel\": \""
      << shape.kernel << "\", \"grid\": " << recording::extent(shape.grid)
      << ", \"block\": " << recording::extent(shape.block)
      << ", \"dynamic_shared_bytes\": " << shape.sharedBytes
      << ", \"target\": \"" << CHECK_TARGET << "\",\n \"arguments\": ["
      << written.arguments << "],\n \"outputs\": [" << written.outputs
      << "]}\n";
  run(device, shape, kernel, arguments...);
  for (auto &[path, pointer] : written.expected) {
    recording::writeFile(path, pointer, recording::buffers()[pointer]);
  }
}

} // namespace emulator

// Programs of test/Emit include what KERNEL names, which is a macro of ours
// too: RECORDED names it here.
#ifdef RECORDED
#ifdef MODELC_PTX
#include "nvidia/tiles.cuh"
#else
#include "amd/tiles.hip.h"
#endif
#undef WORKGROUP
#define WORKGROUP(threads, perUnit) extern "C" void
#undef KERNEL
#define KERNEL RECORDED
#endif

#define Allocation RecordedAllocation
#define run recordedRun

#endif // TEST_CHECK_INPUTS_RECORD_H
