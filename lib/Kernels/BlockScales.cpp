#include "lib/Kernels/BlockScales.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

/// OCP MX: blocks of 32 with a power of two.
static constexpr int64_t kMxBlock = 32;

Type BlockScales::wordType() const {
  return VectorType::get({schedule::kScalesPerWord}, type);
}

BlockScales kernels::blockScalesOf(Type number) {
  if (!isa<Float4E2M1FNType>(number)) {
    return {};
  }
  return {Float8E8M0FNUType::get(number.getContext()), kMxBlock};
}

Type kernels::packedType(Type number) {
  return isa<Float4E2M1FNType>(number) ? VectorType::get({2}, number) : number;
}

SmallVector<int64_t> kernels::scaleShape(const BlockScales &scales,
                                         int64_t rows, int64_t inputs) {
  bool isOfRun = ShapedType::isDynamic(rows);
  return {isOfRun ? rows : int64_t(llvm::divideCeil(rows, kScaleRows)),
          scales.words(inputs), kScaleRows};
}

Place kernels::scalesAt(Value buffer, Scalar row, Scalar word) {
  double group = kScaleRows;
  return at(buffer, {row / group, word, row % kScaleRows}).walks(1, 2);
}
