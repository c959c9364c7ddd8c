#include "lib/Kernels/Rows/Blocks.h"

#include "lib/Kernels/Rows/Formats.h"
#include "lib/Kernels/Rows/SixBits.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;
/// Of an f32: bits of the fraction, and what its exponent is more than that of
/// the number. E8M0 has the same exponents.
static constexpr int64_t kFractionBits = 23, kBias = 127;

int64_t BlockWriter::together() const {
  return packedNumbers(packedType(result));
}

Type BlockWriter::stored(Type number) const {
  return together() == 1 ? number : VectorType::get({together()}, number);
}

Scalar BlockWriter::numberIn(Scalar element, int64_t index) const {
  return convert(together() == 1 ? element : numberOf(element, index), k.f32());
}

SmallVector<int64_t> BlockWriter::matrixShape() const {
  SmallVector<int64_t> shape = vectorShape();
  shape.insert(shape.begin(), kDynamic);
  return shape;
}

void BlockWriter::declareResults() {
  if (hasTails(result)) {
    Views views =
        declareViews(k, "out", kDynamic, columns, {kScalesPerWord, 1});
    out = views.heads;
    tails = views.tails;
  } else {
    out = k.buffer("out", matrixShape(), packedType(result));
  }
  scale = k.buffer("scale", scaleShape(scales, kDynamic, columns),
                   scales.wordType());
}

void BlockWriter::loadTensorScale(Value buffer) {
  tensorScale =
      k.load("tensor_scale", {1, 1}, at(buffer, {k.constant(0)}).walks(0, 0));
}

/// Words beyond the row, whose first is `first`, do not exist.
Place BlockWriter::limited(Place place, int64_t first) const {
  int64_t all = scales.words(columns);
  return all % words == 0 ? place : place.valid({k.constant(first + all)});
}

Place BlockWriter::blocksAt(Value buffer, Scalar row, Scalar word,
                            int64_t block, ArrayRef<Scalar> lead) const {
  SmallVector<Scalar> offsets(lead);
  if (row) {
    offsets.push_back(row);
  }
  auto first = static_cast<int64_t>(offsets.size());
  offsets.append({word, k.constant(block), k.constant(0)});
  return limited(at(buffer, offsets).walks(first, first + 2));
}

Value BlockWriter::load(StringRef name, Value buffer, Scalar row, Scalar word,
                        int64_t block) const {
  return k.load(name, tile(), blocksAt(buffer, row, word, block));
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

/// A scale in f32.
Value BlockWriter::wholeOver(Value largest) const {
  return k.map("block_scale", k.f32(), largest,
               [&](Element e) { return scaleOver(e[0], result); });
}

/// One over the scale of a block, times that of the tensor if there is one.
Scalar BlockWriter::inverseOf(Scalar scale, Scalar ofTensor) const {
  if (scales.isByKernel()) {
    return k.number(k.f32(), 1) / scale;
  }
  if (isPower()) {
    Scalar exponent = k.integer(k.i32(), 2 * kBias) - scale;
    return bitcast(shiftLeft(exponent, kFractionBits), k.f32());
  }
  // A block whose scale rounds to zero is zero.
  Scalar zero = k.number(k.f32(), 0), one = k.number(k.f32(), 1);
  return select(scale > zero, one / (tensorScale ? scale * ofTensor : scale),
                zero);
}

Value BlockWriter::quantise(ValueRange numbers, Scalar row, Scalar word,
                            int64_t block) const {
  size_t count = numbers.size();
  Value magnitude = k.map("magnitude", k.f32(), numbers, [&](Element e) {
    Scalar most = absolute(e[0]);
    for (size_t i = 1; i < count; ++i) {
      most = maximum(most, absolute(e[i]));
    }
    return most;
  });
  Value largest = tile().columns == 1
                      ? magnitude
                      : k.reduce("largest", Combiner::Max, magnitude, 1);
  // As bits of powers of two, or as numbers.
  Value scale = scales.isByKernel() ? wholeOver(largest)
                : isPower()         ? powerOver(largest)
                                    : fractionOver(largest);
  SmallVector<Value> inputs(numbers);
  inputs.push_back(scale);
  if (tensorScale) {
    inputs.push_back(tensorScale);
  }
  Type element = stored(result);
  Value quantised = k.map("quantised", element, inputs, [&](Element e) {
    Scalar inverse = inverseOf(e[count], tensorScale ? e[count + 1] : Scalar());
    auto scaled = llvm::map_to_vector(ArrayRef(e.inputs).take_front(count),
                                      [&](Scalar x) { return x * inverse; });
    return count == 1 ? convertSaturated(scaled[0], result)
                      : packed(scaled, element);
  });
  store(quantised, row, word, block);
  return scale;
}

void BlockWriter::store(Value quantised, Scalar row, Scalar word,
                        int64_t block) const {
  Place place = blocksAt(out, row, word, block);
  if (!tails) {
    return k.store(quantised, place);
  }
  Views parts = separate(k, quantised);
  k.store(parts.heads, place);
  int64_t first = firstTail(columns) / kScalesPerWord;
  Place behind = at(tails, {row, word + static_cast<double>(first),
                            k.constant(block), k.constant(0)});
  k.store(parts.tails, limited(behind.walks(1, 3), first));
}

void BlockWriter::storeScales(ValueRange ofBlocks, Scalar row,
                              Scalar word) const {
  if (scales.isByKernel()) {
    return k.store(ofBlocks[0], limited(scalesOfRow(scale, scales, row, word)));
  }
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
