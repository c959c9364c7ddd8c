#include "lib/Kernels/BlockScales.h"

#include "dialects/Model/Model.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

Type BlockScales::wordType() const { return packedType(type); }

BlockScales kernels::blockScalesOf(Type number) {
  if (!isa<Float4E2M1FNType>(number)) {
    return {};
  }
  return {Float8E8M0FNUType::get(number.getContext()), model::kScaledBlock};
}

Type kernels::packedType(Type number) {
  if (isa<Float8E8M0FNUType>(number)) {
    return VectorType::get({schedule::kScalesPerWord}, number);
  }
  return isa<Float4E2M1FNType>(number) ? VectorType::get({2}, number) : number;
}

SmallVector<int64_t> kernels::scaleShape(const BlockScales &scales,
                                         int64_t rows, int64_t inputs) {
  bool isOfRun = ShapedType::isDynamic(rows);
  return {isOfRun ? rows : int64_t(llvm::divideCeil(rows, kScaleRows)),
          scales.words(inputs), kScaleRows};
}

SmallVector<int64_t> kernels::storedShape(RankedTensorType tensor) {
  SmallVector<int64_t> shape(tensor.getShape());
  Type element = tensor.getElementType();
  if (isa<Float8E8M0FNUType>(element)) {
    BlockScales scales = {element, model::kScaledBlock};
    return scaleShape(scales, shape[0], shape[1] * scales.block);
  }
  shape.back() /= schedule::packedNumbers(packedType(element));
  return shape;
}

Place kernels::scalesAt(Value buffer, Scalar row, Scalar word) {
  double group = kScaleRows;
  return at(buffer, {row / group, word, row % kScaleRows}).walks(1, 2);
}
