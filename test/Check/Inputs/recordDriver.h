// Included before a host library for the emulator: the first launch of every
// kernel is written down for modelc-check, see record.h. CHECK_CODE names the
// folder with a file of code for each kernel. Ends the program when all kernels
// have been launched.
#ifndef TEST_CHECK_INPUTS_RECORDDRIVER_H
#define TEST_CHECK_INPUTS_RECORDDRIVER_H

#define RECORD_DRIVER
#include "record.h"

#define emulatorLaunch emulatorLaunchUnrecorded
#define emulatorAllocate emulatorAllocateUnrecorded
#include "emulator/driver.h"
#undef emulatorLaunch
#undef emulatorAllocate

#include <set>

namespace recording {

using Describe = std::function<void(Case &, void *const *)>;

/// How to write down the arguments of each kernel.
inline std::map<std::string, Describe> &descriptions() {
  static std::map<std::string, Describe> all;
  return all;
}

template <typename... Parameters, size_t... Index>
void describe(Case &to, void *const *arguments, std::index_sequence<Index...>) {
  (to.argument(
       *static_cast<std::remove_reference_t<Parameters> *>(arguments[Index])),
   ...);
}

struct Description {
  template <typename... Parameters>
  Description(const char *name, void (*)(Parameters...)) {
    descriptions()[name] = [](Case &to, void *const *arguments) {
      describe<Parameters...>(to, arguments,
                              std::index_sequence_for<Parameters...>());
    };
  }
};

} // namespace recording

#undef EMULATOR_KERNEL
#define EMULATOR_KERNEL(space, kernel)                                         \
  static emulator::Registration kernel##Registration(#kernel, space::kernel);  \
  static recording::Description kernel##Description(#kernel, space::kernel);

EMULATOR_API void *emulatorAllocate(size_t bytes) {
  void *memory = emulatorAllocateUnrecorded(bytes);
  recording::buffers()[memory] = bytes;
  return memory;
}

EMULATOR_API int emulatorLaunch(int device, const char *kernel,
                                const unsigned grid[3], const unsigned block[3],
                                const unsigned cluster[3], size_t sharedBytes,
                                void **arguments) {
  static std::set<std::string> seen;
  auto launch = [&] {
    return emulatorLaunchUnrecorded(device, kernel, grid, block, cluster,
                                    sharedBytes, arguments);
  };
  if (!seen.insert(kernel).second) {
    return launch();
  }
  emulatorSynchronize();
  emulator::Shape shape;
  shape.kernel = kernel;
  shape.grid = {grid[0], grid[1], grid[2]};
  shape.block = {block[0], block[1], block[2]};
  shape.cluster = {cluster[0], cluster[1], cluster[2]};
  shape.sharedBytes = sharedBytes;
  recording::Case written(shape);
  recording::descriptions().at(kernel)(written, arguments);
  written.finish(std::string(std::getenv("CHECK_CODE")) + "/" + kernel + ".ptx",
                 shape);
  int error = launch();
  emulatorSynchronize();
  written.expect();
  if (seen.size() == recording::descriptions().size()) {
    std::exit(0); // there is nothing left to record
  }
  return error;
}

#endif // TEST_CHECK_INPUTS_RECORDDRIVER_H
