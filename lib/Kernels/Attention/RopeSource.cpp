#include "lib/Kernels/Attention/RopeSource.h"
#include "lib/Kernels/Linear/LinearWriter.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

void RopeSource::declare() {
  int64_t all = shape.heads + 2 * shape.kvHeads;
  auto heads = [&](ArrayRef<int64_t> lead) {
    return headExtents(shape, lead, shape.headDim);
  };
  if (!sums) {
    numbers = k.buffer("qkv", heads({kDynamic, all}), shape.element);
    return;
  }
  numbers = k.buffer("partial", heads({kDynamic, sums.count, all}), k.f32());
  if (sums.hasInputScale) {
    inputScale =
        k.buffer("a_scale", {sums.isTensorScaled ? 1 : kDynamic}, k.f32());
  }
  if (sums.hasWeightScale) {
    weightScale = k.buffer("w_scale", heads({all}), k.f32());
  }
  if (sums.biasType) {
    bias = k.buffer("bias", heads({all}), sums.biasType);
  }
}

Place RopeSource::at(Scalar row, Scalar head, bool areHeads,
                     Scalar limit) const {
  SmallVector<Scalar> lead = {row, head};
  if (sums) {
    lead.insert(lead.begin() + 1, k.constant(0));
  }
  int64_t columns = sums ? 3 : 2;
  return headsAt(k, shape, numbers, lead)
      .walks(areHeads ? columns - 1 : 0, columns)
      .valid({limit});
}

/// More than a few at once would exceed the registers: the first are added.
RopeSource::Asked RopeSource::loadParts(Shape tile, Place &from) {
  constexpr size_t kAtOnce = 16;
  Asked parts;
  for (int64_t number = 0; number < sums.count; ++number) {
    if (parts.size() == kAtOnce) {
      parts = {k.map("sum", k.f32(), parts,
                     [](Element e) { return sumOf(e.inputs); })};
    }
    from.offsets[1] = k.constant(number);
    parts.push_back(k.load("part_sum", tile, from));
  }
  return parts;
}

RopeSource::Asked RopeSource::load(StringRef name, Shape tile, Place from,
                                   HeadColumn column) {
  from = fromColumn(k, shape, from, column);
  if (!sums) {
    return {k.load(name, tile, from)};
  }
  Asked asked = loadParts(tile, from);
  Scalar row = {&k, from.offsets[0]}, head = {&k, from.offsets[2]};
  if (inputScale) {
    Scalar of = sums.isTensorScaled ? k.constant(0) : row;
    asked.push_back(
        k.load("a_scale", {1, 1}, kernels::at(inputScale, {of}).walks(0, 0)));
  }
  for (Value perColumn : {weightScale, bias}) {
    if (perColumn) {
      Place own =
          fromColumn(k, shape, headsAt(k, shape, perColumn, {head}), column)
              .walks(0, 1);
      StringRef what = perColumn == bias ? "biases" : "w_scales";
      asked.push_back(
          k.load(what, tile, tile.rows > 1 ? own.valid(from.limits) : own));
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
