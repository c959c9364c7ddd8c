// Included before a program of test/Emulator: every kernel that it runs on the
// emulator is written down for modelc-check as well, in the folder that
// CHECK_CASES names: inputs, what the outputs are, and the case.
#ifndef TEST_CHECK_INPUTS_RECORD_H
#define TEST_CHECK_INPUTS_RECORD_H

// Rings turn in the tests of the emulator alone: the machine code is compared
// with it, and its trips are dear.
#define FEW_TRIPS

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

// Host libraries start what modelc has emitted for these machines while earlier
// kernels may still run; products written by hand are alone.
#if defined(MODELC_PTX) && (defined(RECORDED) || defined(RECORD_DRIVER))
constexpr bool kStartsEarly = true;
#else
constexpr bool kStartsEarly = false;
#endif

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

inline std::string extent(const emulator::Dim3 &d) {
  return "[" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " +
         std::to_string(d.z) + "]";
}

/// One kernel's case while it is written.
struct Case {
  std::string stem, arguments, outputs;
  std::map<std::string, const void *> expected; // by path
  std::map<const void *, std::string> files;
  int count = 0;

  explicit Case(const emulator::Shape &shape)
      : stem(std::string(std::getenv("CHECK_CASES")) + "/" +
             std::to_string(cases++) + "." + shape.kernel) {}
  void add(const std::string &argument) {
    arguments += (count++ ? ", " : "") + argument;
  }
  /// Writes a buffer when it is first named; returns its file and where in it
  /// `pointer` is, as members of a table.
  std::string place(const void *pointer) {
    auto [base, offset] = fileOf(pointer);
    return "\"buffer\": \"" + base + ".in\"" +
           (offset ? ", \"offset\": " + std::to_string(offset) : "");
  }
  std::pair<std::string, long> fileOf(const void *pointer) {
    auto next = buffers().upper_bound(pointer);
    auto found = next == buffers().begin() ? buffers().end() : std::prev(next);
    if (found == buffers().end() ||
        (const char *)pointer > (const char *)found->first + found->second) {
      std::fprintf(stderr, "argument %d is no buffer\n", count);
      std::abort();
    }
    std::string &base = files[found->first];
    if (base.empty()) {
      base = stem + "." + std::to_string(count);
      writeFile(base + ".in", found->first, found->second);
      expected[base + ".expected"] = found->first;
      outputs += std::string(outputs.empty() ? "" : ", ") + "{\"buffer\": \"" +
                 base + ".in\", \"file\": \"" + base + ".out\"}";
    }
    return {base, (const char *)pointer - (const char *)found->first};
  }
  /// A table of buffers, as a device has of its peers.
  template <typename T>
  void argument(T *const *table) {
    std::string list;
    size_t count = buffers()[table] / sizeof(T *);
    for (size_t i = 0; i < count; ++i) {
      list += (i ? ", \"" : "\"") + fileOf(table[i]).first + ".in\"";
    }
    add("{\"addresses\": [" + list + "]}");
  }
  template <typename T>
  void argument(T *pointer) {
    add(pointer ? "{" + place(pointer) + "}" : "{\"i64\": 0}");
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
    add("{\"map\": {" + place(reinterpret_cast<const void *>(map.base)) +
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

  /// Writes the case, when all arguments are known.
  void finish(const std::string &code, const emulator::Shape &shape) {
    std::ofstream(stem + ".json")
        << "{\"code\": \"" << code << "\", \"kernel\": \"" << shape.kernel
        << "\", \"grid\": " << extent(shape.grid)
        << ", \"block\": " << extent(shape.block)
        << ", \"cluster\": " << shape.cluster.count()
        << ", \"dynamic_shared_bytes\": " << shape.sharedBytes
        << (kStartsEarly ? ", \"starts_early\": true" : "")
        << ", \"target\": \"" << CHECK_TARGET << "\",\n \"arguments\": ["
        << arguments << "],\n \"outputs\": [" << outputs << "]}\n";
  }
  /// Writes what the kernel has left in its buffers.
  void expect() {
    for (auto &[path, pointer] : expected) {
      writeFile(path, pointer, buffers()[pointer]);
    }
  }
};

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
  recording::Case written(shape);
  (written.argument(Parameters(arguments)), ...);
  written.finish(std::getenv("CHECK_CODE"), shape);
  run(device, shape, kernel, arguments...);
  written.expect();
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

#ifndef RECORD_DRIVER
#define Allocation RecordedAllocation
#define run recordedRun
#endif

#endif // TEST_CHECK_INPUTS_RECORD_H
