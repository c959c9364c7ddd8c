//===- driver_cuda.h - Launching through the CUDA driver ------------------===//
//
// libcuda is opened at run time, so that this builds and loads without it. Its
// functions and structs are declared here as cuda.h declares them.
//
//===----------------------------------------------------------------------===//
#ifndef MODELC_HOST_DRIVER_CUDA_H
#define MODELC_HOST_DRIVER_CUDA_H

#include "collective.h"
#include "launch.h"
#include "open.h"

namespace modelc_host::driver {

using Module = void *;
using Function = void *;

/// CUlaunchAttribute.
struct LaunchAttribute {
  static constexpr int kClusterDimension = 4, kProgrammaticSerialization = 6;
  int id;
  char padding[4] = {};
  union {
    struct {
      unsigned x, y, z;
    } cluster;
    int isAllowed;
    char bytes[64] = {};
  };
};

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned sharedBytes = 0;
  void *stream = nullptr;
  LaunchAttribute *attributes = nullptr;
  unsigned attributeCount = 0;
};

// CUfunction_attribute
constexpr int kMaxDynamicSharedBytes = 8;
constexpr int kPreferredSharedCarveout = 9; // percent

struct Api {
  int (*cuCtxGetDevice)(int *);
  int (*cuModuleLoadData)(Module *, const void *);
  int (*cuModuleUnload)(Module);
  int (*cuModuleGetFunction)(Function *, Module, const char *);
  int (*cuFuncSetAttribute)(Function, int, int);
  int (*cuLaunchKernelEx)(const LaunchConfig *, Function, void **, void **);
  int (*cuTensorMapEncodeTiled)(TensorMap *, int, uint32_t, void *,
                                const uint64_t *, const uint64_t *,
                                const uint32_t *, const uint32_t *, int, int,
                                int, int);
  int (*cuGetErrorString)(int, const char **);
  int status = MC_OK;
  std::string why;

  Api() {
    SharedLibrary library({"libcuda.so.1", "libcuda.so"});
    library.find(cuCtxGetDevice, "cuCtxGetDevice");
    library.find(cuModuleLoadData, "cuModuleLoadData");
    library.find(cuModuleUnload, "cuModuleUnload");
    library.find(cuModuleGetFunction, "cuModuleGetFunction");
    library.find(cuFuncSetAttribute, "cuFuncSetAttribute");
    library.find(cuLaunchKernelEx, "cuLaunchKernelEx");
    library.find(cuTensorMapEncodeTiled, "cuTensorMapEncodeTiled");
    library.find(cuGetErrorString, "cuGetErrorString");
    why = library.why;
    status = why.empty() ? MC_OK : MC_DRIVER;
  }
};

/// The driver, opened at the first use.
inline const Api &api() {
  static const Api opened;
  return opened;
}

inline int check(int code, const char *call, const char *what) {
  if (!code) {
    return MC_OK;
  }
  const char *text = "unknown";
  api().cuGetErrorString(code, &text);
  return fail(MC_DRIVER, "%s of %s: error %d, %s", call, what, code, text);
}

/// The device of the current context; a context must be current.
inline int currentDevice(int &device) {
  if (api().status) {
    return fail(MC_DRIVER, "%s", api().why.c_str());
  }
  return check(api().cuCtxGetDevice(&device), "cuCtxGetDevice", "this thread");
}

inline int load(const std::string &path, Module &module) {
  std::string binary;
  if (int status = readFile(path, binary)) {
    return status;
  }
  return check(api().cuModuleLoadData(&module, binary.data()),
               "cuModuleLoadData", path.c_str());
}

inline void unload(Module module) { api().cuModuleUnload(module); }

inline int find(Module module, const Kernel &kernel, Function &function) {
  if (int status =
          check(api().cuModuleGetFunction(&function, module, kernel.symbol),
                "cuModuleGetFunction", kernel.symbol)) {
    return status;
  }
  // A unit splits its memory into cache and shared memory anew only when it is
  // empty: one split for all lets the next kernel start beside this one.
  for (auto [attribute, value] :
       {std::pair(kMaxDynamicSharedBytes, int(kernel.sharedBytes)),
        std::pair(kPreferredSharedCarveout, 100)}) {
    if (int status = check(api().cuFuncSetAttribute(function, attribute, value),
                           "cuFuncSetAttribute", kernel.symbol)) {
      return status;
    }
  }
  return MC_OK;
}

/// The kernel may start while the one before it in the stream ends: it waits
/// for that one itself (followEarlierKernels) before it touches memory.
inline int launch(Function function, const Kernel &kernel, unsigned grid,
                  void *stream, void **arguments) {
  LaunchConfig config;
  config.grid[0] = grid;
  config.block[0] = kernel.threads;
  config.sharedBytes = kernel.sharedBytes;
  config.stream = stream;
  LaunchAttribute attributes[2] = {
      {LaunchAttribute::kProgrammaticSerialization},
      {LaunchAttribute::kClusterDimension}};
  attributes[0].isAllowed = 1;
  attributes[1].cluster = {kernel.cluster, 1, 1};
  config.attributes = attributes;
  config.attributeCount = kernel.cluster > 1 ? 2 : 1;
  return check(api().cuLaunchKernelEx(&config, function, arguments, nullptr),
               "cuLaunchKernelEx", kernel.symbol);
}

/// CUtensorMapDataType.
inline int dataType(int32_t type) {
  switch (type) {
  case MC_BF16:
    return 9;
  case MC_F16:
    return 6;
  case MC_F32:
    return 7;
  case MC_I32:
    return 3;
  case MC_I64:
    return 5;
  default:
    return 0; // bytes
  }
}

/// CUtensorMapSwizzle.
inline int swizzle(int span) {
  return span == 128 ? 3 : span == 64 ? 2 : span == 32 ? 1 : 0;
}

inline int encode(TensorMap &map, const Box &box) {
  constexpr int promoteTo256Bytes = 3;
  return check(api().cuTensorMapEncodeTiled(&map, dataType(box.type), box.rank,
                                            const_cast<void *>(box.data),
                                            box.sizes, box.strides, box.box,
                                            box.steps, 0, swizzle(box.span),
                                            promoteTo256Bytes, 0),
               "cuTensorMapEncodeTiled", "a tensor");
}

inline int allReduce(void *data, int32_t type, int64_t count,
                     void *communicator, void *stream) {
  static const Collectives library({"libnccl.so.2", "libnccl.so"});
  return library.allReduce(data, type, count, communicator, stream);
}

} // namespace modelc_host::driver

#endif // MODELC_HOST_DRIVER_CUDA_H
