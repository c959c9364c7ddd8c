// The emulator as a driver: a C interface with the shape of the vendors' own,
// so that a host library launches kernels by name and pointers to arguments.
// Include it in the one source that includes the kernels' text, and name each:
//
//   #include "k.hip"
//   #include "emulator/driver.h"
//   EMULATOR_KERNEL(modelc, k)          namespace and name
//
// Device memory is host memory. Nothing runs before emulatorSynchronize or
// emulatorCopy; then all devices run side by side, each in the order of its
// launches. A fault in a kernel ends the process with code 3 and a message.
#ifndef TARGETS_EMULATOR_DRIVER_H
#define TARGETS_EMULATOR_DRIVER_H

#include "emulator.h"

#include <map>

namespace emulator {

/// Makes what a thread runs from pointers to the arguments, which it copies.
using Binder = std::function<std::function<void()>(void *const *)>;

/// The kernels that the driver can launch, by name.
inline std::map<std::string, Binder> &kernels() {
  static std::map<std::string, Binder> known;
  return known;
}
/// The devices that the driver offers.
inline std::vector<std::unique_ptr<Device>> &devices() {
  static std::vector<std::unique_ptr<Device>> all;
  return all;
}

/// A call of `kernel` with a copy of each argument.
template <typename... Parameters, size_t... Index>
std::function<void()> bindArguments(void (*kernel)(Parameters...),
                                    void *const *arguments,
                                    std::index_sequence<Index...>) {
  std::tuple<Parameters...> copied(
      *static_cast<std::remove_reference_t<Parameters> *>(arguments[Index])...);
  return [kernel, copied] { std::apply(kernel, copied); };
}

/// Makes a kernel known while it is constructed.
struct Registration {
  template <typename... Parameters>
  Registration(const char *name, void (*kernel)(Parameters...)) {
    kernels()[name] = [kernel](void *const *arguments) {
      return bindArguments(kernel, arguments,
                           std::index_sequence_for<Parameters...>());
    };
  }
};
#define EMULATOR_KERNEL(space, kernel)                                         \
  static emulator::Registration kernel##Registration(#kernel, space::kernel);

} // namespace emulator

#define EMULATOR_API                                                           \
  extern "C" __attribute__((used, visibility("default"))) inline

/// Makes `count` devices; forgets earlier ones, which must be idle.
EMULATOR_API void emulatorOpen(int count, int waveSize, size_t sharedBytes) {
  emulator::state.devices.clear();
  emulator::devices().clear();
  for (int i = 0; i < count; ++i) {
    auto device = std::make_unique<emulator::Device>();
    device->waveSize = waveSize;
    device->sharedBytes = sharedBytes;
    emulator::devices().push_back(std::move(device));
  }
}

/// Memory of a device, poison at first.
EMULATOR_API void *emulatorAllocate(size_t bytes) {
  void *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(memory, 0xFF, (bytes + 255) / 256 * 256);
  return memory;
}
EMULATOR_API void emulatorFree(void *memory) { std::free(memory); }

/// Launches a kernel by name. 0: done; 1: no such kernel; 2: no such device.
EMULATOR_API int emulatorLaunch(int device, const char *kernel,
                                const unsigned grid[3], const unsigned block[3],
                                const unsigned cluster[3], size_t sharedBytes,
                                void **arguments) {
  auto found = emulator::kernels().find(kernel);
  if (found == emulator::kernels().end()) {
    return 1;
  }
  if (device < 0 || device >= int(emulator::devices().size())) {
    return 2;
  }
  emulator::Shape shape;
  shape.kernel = kernel;
  shape.grid = {grid[0], grid[1], grid[2]};
  shape.block = {block[0], block[1], block[2]};
  shape.cluster = {cluster[0], cluster[1], cluster[2]};
  shape.sharedBytes = sharedBytes;
  shape.startsEarly = modelc::kStartsEarly;
  emulator::launchBody(*emulator::devices()[device], shape,
                       found->second(arguments));
  return 0;
}

/// Runs all that was launched.
EMULATOR_API void emulatorSynchronize() { emulator::synchronize(); }

/// Copies after all that was launched.
EMULATOR_API void emulatorCopy(void *to, const void *from, size_t bytes) {
  emulator::synchronize();
  std::memcpy(to, from, bytes);
}

#endif // TARGETS_EMULATOR_DRIVER_H
