#include "lib/Kernels/Blocks.h"

#include "lib/Kernels/Formats.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;
/// Of an f32: bits of the fraction, and what its exponent is more than that of
/// the number. E8M0 has the same exponents.
static constexpr int64_t kFractionBits = 23, kBias = 127;

SmallVector<int64_t> BlockWriter::matrixShape() const {
  SmallVector<int64_t> shape = vectorShape();
  shape.insert(shape.begin(), kDynamic);
  return shape;
}

void BlockWriter::declareResults() {
  out = k.buffer("out", matrixShape(), packedType(result));
  scale = k.buffer("scale", scaleShape(scales, kDynamic, columns),
                   scales.wordType());
}

void BlockWriter::loadTensorScale(Value buffer) {
  tensorScale =
      k.load("tensor_scale", {1, 1}, at(buffer, {k.constant(0)}).walks(0, 0));
}

/// Words beyond the row do not exist.
Place BlockWriter::limited(Place place) const {
  int64_t all = scales.words(columns);
  return all % words == 0 ? place : place.valid({k.constant(all)});
}

Place BlockWriter::blocksAt(Value buffer, Scalar row, Scalar word,
                            int64_t block) const {
  Scalar number = k.constant(block), first = k.constant(0);
  return limited(row ? at(buffer, {row, word, number, first}).walks(1, 3)
                     : at(buffer, {word, number, first}).walks(0, 2));
}

Value BlockWriter::load(StringRef name, Value buffer, Scalar row, Scalar word,
                        int64_t block) const {
  return k.load(name, {words, scales.block / 2},
                blocksAt(buffer, row, word, block));
}

bool BlockWriter::isPower() const {
  return isa<Float8E8M0FNUType>(scales.type);
}

/// The exponent of a scale that is a power of two, as E8M0 has it.
Value BlockWriter::powerOver(Value largest) const {
  int64_t most =
      llvm::Log2_64(static_cast<uint64_t>(quantisedLimit(numberType(result))));
  return k.map("block_scale", k.i32(), largest, [&](Element e) {
    Scalar exponent = shiftRight(bitcast(e[0], k.i32()), kFractionBits);
    return maximum(exponent - static_cast<double>(most), k.integer(k.i32(), 0));
  });
}

/// A scale with a fraction, as it is rounded.
Value BlockWriter::fractionOver(Value largest) const {
  double most = quantisedLimit(numberType(result));
  SmallVector<Value> inputs = {largest};
  if (tensorScale) {
    inputs.push_back(tensorScale);
  }
  return k.map("block_scale", k.f32(), inputs, [&](Element e) {
    Scalar scale = e[0] * (1 / most);
    scale = tensorScale ? scale / e[1] : scale;
    return convert(convertSaturated(scale, scales.type), k.f32());
  });
}

/// One over the scale e[2] of a block, times that of the tensor, e[3].
Scalar BlockWriter::inverseOf(Element e) const {
  Scalar scale = e[2];
  if (isPower()) {
    Scalar exponent = k.integer(k.i32(), 2 * kBias) - scale;
    return bitcast(shiftLeft(exponent, kFractionBits), k.f32());
  }
  // A block whose scale rounds to zero is zero.
  Scalar zero = k.number(k.f32(), 0), one = k.number(k.f32(), 1);
  return select(scale > zero, one / (tensorScale ? scale * e[3] : scale), zero);
}

Value BlockWriter::quantise(Value first, Value second, Scalar row, Scalar word,
                            int64_t block) const {
  Value magnitude = k.map("magnitude", k.f32(), {first, second}, [](Element e) {
    return maximum(absolute(e[0]), absolute(e[1]));
  });
  Value largest = k.reduce("largest", Combiner::Max, magnitude, 1);
  // As bits of powers of two, or as numbers.
  Value scale = isPower() ? powerOver(largest) : fractionOver(largest);
  Type pair = packedType(result);
  SmallVector<Value> inputs = {first, second, scale};
  if (tensorScale) {
    inputs.push_back(tensorScale);
  }
  Value numbers = k.map("quantised", pair, inputs, [&](Element e) {
    Scalar inverse = inverseOf(e);
    return packed({e[0] * inverse, e[1] * inverse}, pair);
  });
  k.store(numbers, blocksAt(out, row, word, block));
  return scale;
}

void BlockWriter::storeScales(ValueRange ofBlocks, Scalar row,
                              Scalar word) const {
  Value stored = k.map("scales", scales.wordType(), ofBlocks, [&](Element e) {
    if (!isPower()) {
      return packed({e[0], e[1], e[2], e[3]}, scales.wordType());
    }
    Scalar bits = e[0];
    for (int64_t block = 1; block < kScalesPerWord; ++block) {
      bits = bits + shiftLeft(e[block], 8 * block);
    }
    return bitsAsPacked(bits, scales.wordType());
  });
  k.store(stored, limited(scalesOfRow(scale, scales, row, word)));
}
