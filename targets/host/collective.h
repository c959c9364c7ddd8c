//===- collective.h - Sums over devices by the vendor's library -----------===//
//
// NCCL and RCCL have the same functions. Found at run time, as the drivers are.
//
//===----------------------------------------------------------------------===//
#ifndef MODELC_HOST_COLLECTIVE_H
#define MODELC_HOST_COLLECTIVE_H

#include "open.h"

namespace modelc_host {

class Collectives {
public:
  Collectives(std::initializer_list<const char *> names) : library(names) {
    library.find(ncclAllReduce, "ncclAllReduce");
    library.find(ncclGetErrorString, "ncclGetErrorString");
  }

  int allReduce(void *data, int32_t type, int64_t count, void *communicator,
                void *stream) const {
    constexpr int sum = 0;
    if (!library.why.empty()) {
      return fail(MC_DRIVER, "%s", library.why.c_str());
    }
    int code = ncclAllReduce(data, data, size_t(count), dataType(type), sum,
                             communicator, stream);
    return code ? fail(MC_DRIVER, "ncclAllReduce: error %d, %s", code,
                       ncclGetErrorString(code))
                : MC_OK;
  }

private:
  /// ncclDataType_t.
  static int dataType(int32_t type) {
    return type == MC_BF16 ? 9 : type == MC_F16 ? 6 : 7;
  }

  SharedLibrary library;
  int (*ncclAllReduce)(const void *, void *, size_t, int, int, void *, void *);
  const char *(*ncclGetErrorString)(int);
};

} // namespace modelc_host

#endif // MODELC_HOST_COLLECTIVE_H
