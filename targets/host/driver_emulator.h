//===- driver_emulator.h - Launching on the CPU ---------------------------===//
//
// With -DMODELC_EMULATOR the generated source includes the kernels' text, then
// this. A stream is the number of its device; modelcSetDevice chooses the
// current one, as the vendors' calls do.
//
//===----------------------------------------------------------------------===//
#ifndef MODELC_HOST_DRIVER_EMULATOR_H
#define MODELC_HOST_DRIVER_EMULATOR_H

#include "launch.h"

#include "emulator/driver.h"

namespace modelc_host::driver {

using Module = int;
using Function = const char *;

inline thread_local int device = 0;

inline int currentDevice(int &current) {
  current = device;
  return MC_OK;
}

inline int load(const std::string &, Module &) { return MC_OK; }
inline void unload(Module) {}

inline int find(Module, const Kernel &kernel, Function &function) {
  function = kernel.symbol;
  return MC_OK;
}

inline int launch(Function function, const Kernel &kernel, unsigned grid,
                  void *stream, void **arguments) {
  const unsigned grids[] = {grid, 1, 1}, block[] = {kernel.threads, 1, 1},
                 cluster[] = {kernel.cluster, 1, 1};
  const int on = int(reinterpret_cast<intptr_t>(stream));
  if (int error = emulatorLaunch(on, function, grids, block, cluster,
                                 kernel.sharedBytes, arguments)) {
    return fail(MC_DRIVER, "the emulator has no %s %s",
                error == 1 ? "kernel" : "device for", function);
  }
  return MC_OK;
}

inline int encode(TensorMap &map, const Box &box) {
#ifdef TARGETS_EMULATOR_NVIDIAMAP_H
  const int type = elementBytes(box.type) == 1   ? 0
                   : elementBytes(box.type) == 2 ? 9
                                                 : 7;
  const int swizzle = box.span == 128 ? 3 : box.span == 64 ? 2 : box.span / 32;
  if (!emulator::nvidia::encodeTensorMap(
          reinterpret_cast<modelc::TensorMap *>(&map), type, box.rank,
          const_cast<void *>(box.data), box.sizes, box.strides, box.box,
          box.steps, 0, swizzle, 2, 0)) {
    return MC_OK;
  }
#else
  static_cast<void>(map), static_cast<void>(box);
#endif
  return fail(MC_DRIVER, "the emulator refused a tensor map");
}

inline int allReduce(void *, int32_t, int64_t, void *, void *) {
  return fail(MC_DRIVER, "the emulator has no communication library; take "
                         "fewer rows");
}

} // namespace modelc_host::driver

/// Makes a device current for this thread.
extern "C" inline __attribute__((used)) void modelcSetDevice(int device) {
  modelc_host::driver::device = device;
}

#endif // MODELC_HOST_DRIVER_EMULATOR_H
