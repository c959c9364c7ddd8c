#include "lib/Kernels/Attention/RopeSource.h"
#include "lib/Kernels/Linear/LinearWriter.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

void RopeSource::declare(const HeadShape &shape) {
  int64_t all = shape.heads + 2 * shape.kvHeads;
  if (!sums) {
    numbers = k.buffer("qkv", {kDynamic, all, shape.headDim}, shape.element);
    return;
  }
  numbers =
      k.buffer("partial", {kDynamic, sums.count, all, shape.headDim}, k.f32());
  if (sums.hasInputScale) {
    inputScale =
        k.buffer("a_scale", {sums.isTensorScaled ? 1 : kDynamic}, k.f32());
  }
  if (sums.hasWeightScale) {
    weightScale = k.buffer("w_scale", {all, shape.headDim}, k.f32());
  }
  if (sums.biasType) {
    bias = k.buffer("bias", {all, shape.headDim}, sums.biasType);
  }
}

Place RopeSource::at(Scalar row, Scalar head, bool areHeads,
                     Scalar limit) const {
  SmallVector<Scalar> offsets = {row, head, k.constant(0)};
  if (sums) {
    offsets.insert(offsets.begin() + 1, k.constant(0));
  }
  int64_t columns = sums ? 3 : 2;
  return kernels::at(numbers, offsets)
      .walks(areHeads ? columns - 1 : 0, columns)
      .valid({limit});
}

/// More than a few at once would exceed the registers: the first are added.
RopeSource::Asked RopeSource::loadParts(Shape shape, Place &from) {
  constexpr size_t kAtOnce = 16;
  Asked parts;
  for (int64_t number = 0; number < sums.count; ++number) {
    if (parts.size() == kAtOnce) {
      parts = {k.map("sum", k.f32(), parts,
                     [](Element e) { return sumOf(e.inputs); })};
    }
    from.offsets[1] = k.constant(number);
    parts.push_back(k.load("part_sum", shape, from));
  }
  return parts;
}

RopeSource::Asked RopeSource::load(StringRef name, Shape shape, Place from,
                                   int64_t column) {
  from.offsets.back() = k.constant(column);
  if (!sums) {
    return {k.load(name, shape, from)};
  }
  Asked asked = loadParts(shape, from);
  Scalar row = {&k, from.offsets[0]}, head = {&k, from.offsets[2]};
  if (inputScale) {
    Scalar of = sums.isTensorScaled ? k.constant(0) : row;
    asked.push_back(
        k.load("a_scale", {1, 1}, kernels::at(inputScale, {of}).walks(0, 0)));
  }
  for (Value perColumn : {weightScale, bias}) {
    if (perColumn) {
      Place own =
          kernels::at(perColumn, {head, k.constant(column)}).walks(0, 1);
      StringRef what = perColumn == bias ? "biases" : "w_scales";
      asked.push_back(
          k.load(what, shape, shape.rows > 1 ? own.valid(from.limits) : own));
    }
  }
  return asked;
}

Value RopeSource::finished(StringRef name, const Asked &asked) {
  if (asked.size() == 1) {
    return asked[0];
  }
  return k.map(name, k.f32(), asked, [&](Element e) {
    auto epilogue = static_cast<size_t>(!!inputScale + !!weightScale + !!bias);
    size_t next = asked.size() - epilogue;
    auto take = [&](Value buffer) { return buffer ? e[next++] : Scalar(); };
    Scalar ofInput = take(inputScale), ofWeight = take(weightScale);
    return finishedSum(sumOf(ArrayRef(e.inputs).drop_back(epilogue)), ofInput,
                       ofWeight, take(bias));
  });
}
