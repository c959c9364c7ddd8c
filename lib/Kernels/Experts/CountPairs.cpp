//===- CountPairs.cpp - How many pairs of a chunk each expert has ---------===//
//
// A workgroup owns a chunk and walks it in steps: pairs are rows, experts
// columns of what is compared and added up.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Experts/Pairs.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

void Pairs::numberExperts() {
  Value zero = k.fillInteger("zero", {1, columns()}, k.i32(), 0);
  numbers = k.map("numbers", k.i32(), zero,
                  [&](Element e) { return convert(e.column, k.i32()); });
}

Place Pairs::pairsAt(Value buffer, Scalar pair) const {
  return at(buffer, {k.constant(0), pair}).walks(1, 1);
}

Value Pairs::ofThisRank(Value loaded, Scalar pair, bool isBeside) const {
  return k.map("experts", k.i32(), loaded, [&](Element e) {
    auto number = [&](int64_t value) { return k.integer(k.i32(), value); };
    Scalar expert = e[0] - static_cast<double>(shape.firstExpert);
    Scalar isHere = (expert >= number(0)) & (expert < number(experts()));
    Scalar index = pair + (isBeside ? e.column : e.row);
    return select(isHere & (index < sizes.pairs), expert, number(-1));
  });
}

Value Pairs::expertsBelow(Scalar pair) const {
  Value loaded = k.load("chosen", {tile.step, 1},
                        pairsAt(chosen, pair).valid({sizes.pairs}));
  return ofThisRank(loaded, pair, false);
}

Value Pairs::expertsBeside(Scalar pair, int64_t count) const {
  Value loaded = k.load("chosen", {1, count},
                        at(chosen, {k.constant(0), pair})
                            .walks(0, 1)
                            .valid({k.constant(INT32_MAX), sizes.pairs}));
  return ofThisRank(loaded, pair, true);
}

Value Pairs::isOf(Value numberOfRow) const {
  return k.map("is", k.i32(), {numberOfRow, numbers},
               [](Element e) { return isEqual(e[0], e[1]); });
}

Value Pairs::countIn(Scalar chunk) const {
  Value zero = k.fillInteger("zero", {1, columns()}, k.i32(), 0);
  auto body = [&](Scalar step, ValueRange sums) -> KernelBuilder::Values {
    Scalar pair = k.name("pair", firstPair(chunk) +
                                     step * static_cast<double>(tile.step));
    Value more = k.reduce("counts", Combiner::Add, isOf(expertsBelow(pair)), 0);
    return {k.map("counts", k.i32(), {sums[0], more},
                  [](Element e) { return e[0] + e[1]; })};
  };
  return k.loop("step", steps(tile.step), "", {{"counts", zero}}, body)[0];
}

KernelOp kernels::buildCountPairs(OpBuilder &builder, const Label &label,
                                  const PlaceShape &shape,
                                  const PlaceTile &tile, Range tokens) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  constexpr int64_t kDynamic = ShapedType::kDynamic;
  const SlotShape &slots = shape.slots;
  Value chosen = k.buffer("chosen", {kDynamic, slots.topK}, k.i32());
  Value counts = k.buffer("counts", {kDynamic, slots.experts}, k.i32());
  Scalar count = k.size("tokens", tokens.minimum, tokens.maximum);
  Pairs pairs = Pairs::of(k, shape, tile, chosen, count);
  k.grid({{"chunk", pairs.chunkCount()}}, [&](ArrayRef<Scalar> index) {
    pairs.numberExperts();
    Place place = at(counts, {index[0], k.constant(0)}).walks(0, 1);
    if (pairs.columns() != pairs.experts()) {
      place = place.valid({k.constant(INT32_MAX), k.constant(pairs.experts())});
    }
    k.store(pairs.countIn(index[0]), place);
  });
  return k.finish(label.note);
}
