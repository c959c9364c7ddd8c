// Products by the vendor's library, opened at run time; without it there is
// nothing to compare with.
#ifndef TEST_GPU_LIBRARY_H
#define TEST_GPU_LIBRARY_H

#include "machine.h"
#include "modelc.h"

#if !defined(MODELC_EMULATOR) && __has_include(<cublasLt.h>)
#include <cublasLt.h>
#include <dlfcn.h>
#define HAS_LIBRARY 1
#endif

#include <memory>

/// d = a * w^T (+ residual) in row-major order: a is M x K, w is N x K, in bf16
/// or in 8 bits; d and the residual are in bf16. Sums of 8 bits are accumulated
/// fast, as the kernels do and serving engines ask for.
struct Product {
  int32_t type;
  int64_t m, n, k;
};

#ifdef HAS_LIBRARY

class Library {
public:
  Library() {
    for (const char *name :
         {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}) {
      handle = handle ? handle : dlopen(name, RTLD_NOW);
    }
    if (handle && find(create, "cublasLtCreate") &&
        find(describe, "cublasLtMatmulDescCreate") &&
        find(set, "cublasLtMatmulDescSetAttribute") &&
        find(layout, "cublasLtMatrixLayoutCreate") &&
        find(preference, "cublasLtMatmulPreferenceCreate") &&
        find(setPreference, "cublasLtMatmulPreferenceSetAttribute") &&
        find(heuristic, "cublasLtMatmulAlgoGetHeuristic") &&
        find(multiply, "cublasLtMatmul") &&
        create(&library) == CUBLAS_STATUS_SUCCESS) {
      workspace = allocate(kWorkspaceBytes);
    }
  }
  bool isThere() const { return workspace != nullptr; }

  /// A product that can be run again and again; `isReady` says whether there is
  /// one.
  class Plan {
  public:
    bool isReady = false;
    void run(const void *a, const void *w, const void *residual, void *d,
             void *stream) const {
      const float one = 1, beta = residual ? 1 : 0;
      owner->multiply(owner->library, operation, &one, w, left, a, right, &beta,
                      residual ? residual : d, result, d, result, &algorithm,
                      owner->workspace, kWorkspaceBytes,
                      static_cast<cudaStream_t>(stream));
    }

  private:
    friend class Library;
    const Library *owner = nullptr;
    cublasLtMatmulDesc_t operation = nullptr;
    cublasLtMatrixLayout_t left = nullptr, right = nullptr, result = nullptr;
    cublasLtMatmulAlgo_t algorithm = {};
  };

  Plan plan(const Product &product) const {
    Plan made;
    made.owner = this;
    const cudaDataType_t type =
        product.type == MC_BF16 ? CUDA_R_16BF : CUDA_R_8F_E4M3;
    const cublasOperation_t transposed = CUBLAS_OP_T;
    const int8_t isFast = product.type == MC_F8E4M3FN;
    size_t bytes = kWorkspaceBytes;
    cublasLtMatmulPreference_t wishes = nullptr;
    if (!isThere() ||
        describe(&made.operation, CUBLAS_COMPUTE_32F, CUDA_R_32F) ||
        set(made.operation, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
            sizeof transposed) ||
        set(made.operation, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &isFast,
            sizeof isFast) ||
        layout(&made.left, type, product.k, product.n, product.k) ||
        layout(&made.right, type, product.k, product.m, product.k) ||
        layout(&made.result, CUDA_R_16BF, product.n, product.m, product.n) ||
        preference(&wishes) ||
        setPreference(wishes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                      sizeof bytes)) {
      return made;
    }
    cublasLtMatmulHeuristicResult_t best = {};
    int found = 0;
    made.isReady =
        !heuristic(library, made.operation, made.left, made.right, made.result,
                   made.result, wishes, 1, &best, &found) &&
        found == 1;
    made.algorithm = best.algo;
    return made;
  }

private:
  static constexpr size_t kWorkspaceBytes = size_t(64) << 20;
  template <typename F>
  bool find(F *&function, const char *name) {
    function = reinterpret_cast<F *>(dlsym(handle, name));
    return function;
  }

  void *handle = nullptr, *workspace = nullptr;
  cublasLtHandle_t library = nullptr;
  decltype(cublasLtCreate) *create = nullptr;
  decltype(cublasLtMatmulDescCreate) *describe = nullptr;
  decltype(cublasLtMatmulDescSetAttribute) *set = nullptr;
  decltype(cublasLtMatrixLayoutCreate) *layout = nullptr;
  decltype(cublasLtMatmulPreferenceCreate) *preference = nullptr;
  decltype(cublasLtMatmulPreferenceSetAttribute) *setPreference = nullptr;
  decltype(cublasLtMatmulAlgoGetHeuristic) *heuristic = nullptr;
  decltype(cublasLtMatmul) *multiply = nullptr;
};

#else

class Library {
public:
  bool isThere() const { return false; }
  struct Plan {
    bool isReady = false;
    void run(const void *, const void *, const void *, void *, void *) const {}
  };
  Plan plan(const Product &) const { return {}; }
};

#endif

#endif // TEST_GPU_LIBRARY_H
