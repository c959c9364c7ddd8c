//===- open.h - Shared libraries and files --------------------------------===//
#ifndef MODELC_HOST_OPEN_H
#define MODELC_HOST_OPEN_H

#include "launch.h"

#include <dlfcn.h>
#include <memory>

namespace modelc_host {

/// The first of some shared libraries that is there. It stays open.
class SharedLibrary {
public:
  SharedLibrary(std::initializer_list<const char *> names) {
    for (const char *name : names) {
      if (!handle) {
        handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      }
    }
    if (!handle) {
      why = std::string("expected ") + *names.begin() +
            " on the library path, got: " + dlerror();
    }
  }

  /// Sets a function pointer, or `why`.
  template <class F>
  void find(F *&function, const char *name) {
    void *symbol = handle ? dlsym(handle, name) : nullptr;
    if (handle && !symbol && why.empty()) {
      why = std::string("expected a newer driver, this one has no ") + name;
    }
    function = reinterpret_cast<F *>(symbol);
  }

  std::string why; // empty: all was found

private:
  void *handle = nullptr;
};

inline int readFile(const std::string &path, std::string &contents) {
  std::unique_ptr<FILE, int (*)(FILE *)> file(std::fopen(path.c_str(), "rb"),
                                              std::fclose);
  if (!file) {
    return fail(
        MC_NO_FILE,
        "expected the binary %s; compile the sources with --emit=binary",
        path.c_str());
  }
  char block[1 << 16];
  contents.clear();
  for (size_t n; (n = std::fread(block, 1, sizeof block, file.get())) > 0;) {
    contents.append(block, n);
  }
  return MC_OK;
}

} // namespace modelc_host

#endif // MODELC_HOST_OPEN_H
