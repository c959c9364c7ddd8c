//===- driver_hip.h - Launching through the HIP runtime -------------------===//
//
// libamdhip64 is opened at run time, so that this builds and loads without it.
// Its functions are declared here as hip_runtime_api.h declares them.
//
//===----------------------------------------------------------------------===//
#ifndef MODELC_HOST_DRIVER_HIP_H
#define MODELC_HOST_DRIVER_HIP_H

#include "collective.h"
#include "launch.h"
#include "open.h"

namespace modelc_host::driver {

using Module = void *;
using Function = void *;

struct Api {
  int (*hipGetDevice)(int *);
  int (*hipModuleLoadData)(Module *, const void *);
  int (*hipModuleUnload)(Module);
  int (*hipModuleGetFunction)(Function *, Module, const char *);
  int (*hipModuleLaunchKernel)(Function, unsigned, unsigned, unsigned, unsigned,
                               unsigned, unsigned, unsigned, void *, void **,
                               void **);
  const char *(*hipGetErrorString)(int);
  int status = MC_OK;
  std::string why;

  Api() {
    SharedLibrary library({"libamdhip64.so", "libamdhip64.so.7",
                           "libamdhip64.so.6", "libamdhip64.so.5"});
    library.find(hipGetDevice, "hipGetDevice");
    library.find(hipModuleLoadData, "hipModuleLoadData");
    library.find(hipModuleUnload, "hipModuleUnload");
    library.find(hipModuleGetFunction, "hipModuleGetFunction");
    library.find(hipModuleLaunchKernel, "hipModuleLaunchKernel");
    library.find(hipGetErrorString, "hipGetErrorString");
    why = library.why;
    status = why.empty() ? MC_OK : MC_DRIVER;
  }
};

/// The runtime, opened at the first use.
inline const Api &api() {
  static const Api opened;
  return opened;
}

inline int check(int code, const char *call, const char *what) {
  if (!code) {
    return MC_OK;
  }
  return fail(MC_DRIVER, "%s of %s: error %d, %s", call, what, code,
              api().hipGetErrorString(code));
}

inline int currentDevice(int &device) {
  if (api().status) {
    return fail(MC_DRIVER, "%s", api().why.c_str());
  }
  return check(api().hipGetDevice(&device), "hipGetDevice", "this thread");
}

inline int load(const std::string &path, Module &module) {
  std::string binary;
  if (int status = readFile(path, binary)) {
    return status;
  }
  return check(api().hipModuleLoadData(&module, binary.data()),
               "hipModuleLoadData", path.c_str());
}

inline void unload(Module module) { api().hipModuleUnload(module); }

inline int find(Module module, const Kernel &kernel, Function &function) {
  return check(api().hipModuleGetFunction(&function, module, kernel.symbol),
               "hipModuleGetFunction", kernel.symbol);
}

inline int launch(Function function, const Kernel &kernel, unsigned grid,
                  void *stream, void **arguments) {
  return check(api().hipModuleLaunchKernel(function, grid, 1, 1, kernel.threads,
                                           1, 1, kernel.sharedBytes, stream,
                                           arguments, nullptr),
               "hipModuleLaunchKernel", kernel.symbol);
}

/// Its kernels copy no boxes.
inline int encode(TensorMap &, const Box &) {
  return fail(MC_DRIVER, "this machine has no tensor maps");
}

inline int allReduce(void *data, int32_t type, int64_t count,
                     void *communicator, void *stream) {
  static const Collectives library({"librccl.so", "librccl.so.1"});
  return library.allReduce(data, type, count, communicator, stream);
}

} // namespace modelc_host::driver

#endif // MODELC_HOST_DRIVER_HIP_H
