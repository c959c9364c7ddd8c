//===- library.h - What generated launchers call --------------------------===//
//
// Included once, by modelc_kernels.cpp, behind one of the drivers:
//
//   driver_<language>.h     the vendor's driver, found at run time
//   driver_emulator.h       targets/emulator, with -DMODELC_EMULATOR
//
// A driver defines, in namespace modelc_host::driver, with mc_status results:
//
//   Function, Module                          handles
//   currentDevice(int &)
//   load(path, Module &)   find(Module, const Kernel &, Function &)
//   unload(Module)
//   launch(Function, const Kernel &, unsigned grid, stream, void **arguments)
//   encode(TensorMap &, const Box &)
//   allReduce(data, type, count, communicator, stream)    a sum, in place
//
//===----------------------------------------------------------------------===//
#ifndef MODELC_HOST_LIBRARY_H
#define MODELC_HOST_LIBRARY_H

#include "launch.h"

#include <atomic>
#include <mutex>
#include <vector>

namespace modelc_host {

/// The kernels of this compilation; defined by the generated source.
struct KernelTable {
  const Kernel *kernels;
  int count;
};
KernelTable kernelTable();

/// What was loaded on one device.
struct Loaded {
  std::atomic<bool> isOpen{false};
  void *communicator = nullptr;
  std::vector<driver::Module> modules;
  std::vector<driver::Function> functions;
};

constexpr int kMaxDevices = 64;
inline Loaded loadedDevices[kMaxDevices];
inline std::mutex loading;

/// Loads one binary for each kernel.
inline int loadAll(const std::string &folder, Loaded &loaded) {
  const KernelTable table = kernelTable();
  loaded.functions.assign(size_t(table.count), {});
  for (int i = 0; i < table.count; ++i) {
    const std::string path = folder + "/" + table.kernels[i].file;
    driver::Module module{};
    if (int status = driver::load(path, module)) {
      return status;
    }
    loaded.modules.push_back(module);
    if (int status =
            driver::find(module, table.kernels[i], loaded.functions[i])) {
      return status;
    }
  }
  return MC_OK;
}

inline void unloadAll(Loaded &loaded) {
  loaded.isOpen = false;
  for (driver::Module module : loaded.modules) {
    driver::unload(module);
  }
  loaded.modules.clear();
  loaded.functions.clear();
}

inline int open(const char *folder) {
  int device = 0;
  if (int status = driver::currentDevice(device)) {
    return status;
  }
  if (device < 0 || device >= kMaxDevices) {
    return fail(MC_DRIVER, "expected a device below %d, got %d", kMaxDevices,
                device);
  }
  std::lock_guard<std::mutex> lock(loading);
  Loaded &loaded = loadedDevices[device];
  if (loaded.isOpen) {
    return MC_OK;
  }
  if (int status = loadAll(folder, loaded)) {
    unloadAll(loaded);
    return status;
  }
  loaded.isOpen = true;
  return MC_OK;
}

inline int setCommunicator(void *communicator) {
  int device = 0;
  if (int status = driver::currentDevice(device)) {
    return status;
  }
  if (device < 0 || device >= kMaxDevices) {
    return fail(MC_DRIVER, "expected a device below %d, got %d", kMaxDevices,
                device);
  }
  std::lock_guard<std::mutex> lock(loading);
  loadedDevices[device].communicator = communicator;
  return MC_OK;
}

inline void closeAll() {
  std::lock_guard<std::mutex> lock(loading);
  for (Loaded &loaded : loadedDevices) {
    unloadAll(loaded);
  }
}

/// One call of a generated function: where its kernels go, and the first thing
/// that went wrong. After that it launches nothing more.
class Run {
public:
  Run(const char *function, void *stream) : function(function), stream(stream) {
    int device = 0;
    status = driver::currentDevice(device);
    if (!status && (device < 0 || device >= kMaxDevices ||
                    !loadedDevices[device].isOpen)) {
      fail(MC_NOT_OPEN, "expected modelc_open on device %d before", device);
    } else if (!status) {
      functions = loadedDevices[device].functions.data();
      communicator = loadedDevices[device].communicator;
    }
  }

  /// What comes next, for messages.
  void step(const char *label, int64_t layerNumber = -1) {
    now = label;
    layer = layerNumber;
  }

  /// Launches a kernel on `grid` workgroups. Arguments are as the kernel
  /// declares them: pointers, int, TensorMap.
  template <class... Arguments>
  void launch(int kernel, int64_t grid, const Arguments &...arguments) {
    if (status || grid == 0) {
      return;
    }
    if (grid < 0 || grid > INT32_MAX) {
      fail(MC_BAD_ARGUMENT, "expected 1 to 2^31 - 1 workgroups of %s, got %lld",
           kernelTable().kernels[kernel].symbol, (long long)grid);
      return;
    }
    void *pointers[] = {
        const_cast<void *>(static_cast<const void *>(&arguments))...};
    status = driver::launch(functions[kernel], kernelTable().kernels[kernel],
                            unsigned(grid), stream, pointers);
    if (status) {
      fail(status, "%s", std::string(lastError).c_str());
    }
  }

  /// How a kernel copies boxes of a tensor.
  TensorMap boxes(const Box &box) {
    TensorMap map{};
    if (!status) {
      status = driver::encode(map, box);
    }
    return map;
  }

  /// Sums a buffer over the devices, in place, by the vendor's library.
  void allReduce(void *data, int32_t type, int64_t count) {
    if (status || count == 0) {
      return;
    }
    if (!communicator) {
      fail(MC_NOT_OPEN, "expected modelc_communicator on this device before");
      return;
    }
    status = driver::allReduce(data, type, count, communicator, stream);
    if (status) {
      fail(status, "%s", std::string(lastError).c_str());
    }
  }

  /// No kernel of an op has a guard that these sizes meet.
  void noKernel(const char *op, std::initializer_list<NamedSize> sizes) {
    if (status) {
      return;
    }
    std::string text;
    for (const NamedSize &size : sizes) {
      text += (text.empty() ? "" : ", ") + std::string(size.name) + " = " +
              std::to_string(size.value);
    }
    fail(MC_NO_KERNEL, "no kernel of %s serves %s", op, text.c_str());
  }

  /// Fails unless the caller gave as many tensors and sizes as there are.
  bool hasCounts(int tensors, int tensorsWanted, int sizes, int sizesWanted) {
    if (!status && (tensors != tensorsWanted || sizes != sizesWanted)) {
      fail(MC_BAD_ARGUMENT, "expected %d tensors and %d sizes, got %d and %d",
           tensorsWanted, sizesWanted, tensors, sizes);
    }
    return !status;
  }

  /// Fails unless the tensors are what the plan binds.
  bool hasBindings(const mc_tensor *tensors, const mc_binding *bindings,
                   int count) {
    for (int i = 0; !status && i < count; ++i) {
      for (int j = 0; !status && j < bindings[i].count; ++j) {
        std::string why;
        if (!isLike(tensors[bindings[i].first + j], bindings[i].type,
                    bindings[i].rank, bindings[i].shape, why)) {
          fail(MC_BAD_ARGUMENT, "tensor %d, %s: %s", bindings[i].first + j,
               bindings[i].name, why.c_str());
        }
      }
    }
    return !status;
  }

  /// Whether an op has kernels with such arguments.
  template <int Count>
  bool matches(const mc_tensor *tensors, int count,
               const mc_binding (&arguments)[Count], int sizes,
               int sizesWanted) {
    bool isMatch = !status && count == Count && sizes == sizesWanted;
    std::string why;
    for (int i = 0; isMatch && i < Count; ++i) {
      isMatch = isLike(tensors[i], arguments[i].type, arguments[i].rank,
                       arguments[i].shape, why);
      if (!isMatch) {
        difference = std::string(arguments[i].name) + ": " + why;
      }
    }
    return isMatch;
  }

  /// After `matches` was false for all kernels of an op.
  int noMatch() {
    if (!status) {
      fail(MC_BAD_ARGUMENT,
           "expected the arguments of one of its kernels, "
           "see the header; %s",
           difference.empty() ? "another number of tensors or sizes"
                              : difference.c_str());
    }
    return status;
  }

  /// Records an error with the place in the plan.
#if defined(__GNUC__)
  __attribute__((format(printf, 3, 4)))
#endif
  void fail(int code, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    std::string place = std::string("modelc_") + function;
    if (now) {
      place += std::string(", ") + now;
    }
    if (layer >= 0) {
      place += ", layer " + std::to_string(layer);
    }
    status = modelc_host::fail(code, "%s: %s", place.c_str(), text);
  }

  int result() const { return status; }

private:
  const char *function;
  void *stream;
  int status = MC_OK;
  std::string difference; // of the last kernel that did not match
  const char *now = nullptr;
  int64_t layer = -1;
  const driver::Function *functions = nullptr;
  void *communicator = nullptr;
};

} // namespace modelc_host

#endif // MODELC_HOST_LIBRARY_H
