#include "lib/Kernels/Rows/BlockScales.h"

#include "dialects/Model/Model.h"
#include "lib/Kernels/Rows/Formats.h"
#include "lib/Kernels/Rows/SixBits.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

Type BlockScales::wordType() const {
  if (isByKernel()) {
    return type;
  }
  return VectorType::get({schedule::kScalesPerWord}, type);
}

Scalar BlockScales::placeOf(Scalar row) const {
  auto together = static_cast<double>(int64_t(1) << order.size());
  Scalar group = row % kScaleRows;
  if (order.empty()) {
    return group;
  }
  Scalar place = group / together * together;
  // Neighbouring bits that stay neighbours move as one.
  for (size_t from = 0, to; from < order.size(); from = to) {
    for (to = from + 1;
         to < order.size() && order[to] == order[from] << (to - from); ++to) {
    }
    Scalar bits = group / static_cast<double>(int64_t(1) << from) %
                  (int64_t(1) << (to - from));
    place = place + bits * static_cast<double>(order[from]);
  }
  return place;
}

schedule::LayoutAttr BlockScales::packing() const {
  if (order.empty()) {
    return {};
  }
  Layout::Input row{"row", {}}, column{"column", {}};
  for (int64_t words : order) {
    column.bits.push_back(
        {static_cast<int32_t>(words * schedule::kScalesPerWord)});
  }
  auto bytes = static_cast<int32_t>(schedule::kScalesPerWord << order.size());
  return schedule::LayoutAttr::get(type.getContext(),
                                   Layout({row, column}, {{"byte", bytes}}));
}

BlockScales kernels::blockScalesOf(Type number, Type scale,
                                   const Target *target) {
  if (number.getIntOrFloatBitWidth() == 8 && scale && scale.isF32()) {
    return {scale, kGroup};
  }
  // Eight bits have scales of blocks where these are given.
  bool isMx8 = number.getIntOrFloatBitWidth() == 8 &&
               isa_and_nonnull<Float8E8M0FNUType>(scale);
  if (!isa<Float4E2M1FNType>(number) && !hasTails(number) && !isMx8) {
    return {};
  }
  BlockScales scales;
  scales.type = scale ? scale : Float8E8M0FNUType::get(number.getContext());
  scales.block = model::getScaledBlock(scales.type);
  for (const MmaRow &row :
       target ? ArrayRef(target->mma) : ArrayRef<MmaRow>()) {
    if (row.scaleBlock == scales.block && row.aType == spelling(number)) {
      scales.order = row.scaleOrder();
    }
  }
  return scales;
}

Type kernels::packedType(Type number) {
  if (hasTails(number)) {
    return blockOfSixBits(number);
  }
  return isa<Float4E2M1FNType>(number) ? VectorType::get({2}, number) : number;
}

SmallVector<int64_t> kernels::scaleShape(const BlockScales &scales,
                                         int64_t rows, int64_t inputs) {
  bool isOfRun = ShapedType::isDynamic(rows);
  return {isOfRun ? rows : int64_t(llvm::divideCeil(rows, kScaleRows)),
          scales.words(inputs), kScaleRows};
}

SmallVector<int64_t> kernels::weightScaleShape(const BlockScales &scales,
                                               int64_t rows, int64_t inputs) {
  return {int64_t(llvm::divideCeil(rows, kGroup)), scales.words(inputs)};
}

Place kernels::scalesOfRow(Value buffer, const BlockScales &scales, Scalar row,
                           Scalar word) {
  double group = kScaleRows;
  return at(buffer, {row / group, word, scales.placeOf(row)}).walks(1, 2);
}

Place kernels::scalesAt(Value buffer, Scalar row, Scalar word) {
  double group = kScaleRows;
  return at(buffer, {row / group, word, row % kScaleRows}).walks(1, 2);
}
