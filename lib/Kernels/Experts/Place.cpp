//===- Place.cpp - The slots of pairs, and the expert of each tile --------===//
//
// A workgroup owns a chunk of the pairs in order and walks it in steps. How
// many pairs of each chunk go to each expert is counted before, by a kernel of
// its own, or where one workgroup owns all by itself. From the counts follow,
// in every workgroup alike, the first tile of each expert and how many of its
// pairs lie in chunks before; in a step a pair stands behind as many others as
// it finds of its expert.
//
// Experts are columns, pairs or tiles rows of what is compared: a sum over
// experts of what belongs to one of them is a choice of it. Of a chunk comes a
// share of the tiles too: their experts, and the slots that nobody fills. No
// slot is written twice, and the same pairs always take the same slots.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Experts/Pairs.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

/// Experts whose counts are rows while those of the others are columns, pairs
/// that these are compared with, and chunks that are read at a time.
static constexpr int64_t kExpertsTogether = 32, kPairsTogether = 256,
                         kChunksTogether = 8;

namespace {
/// What a kernel knows of all pairs.
struct Placing : Pairs {
  Value counts = {};              ///< buffer; null: one workgroup counts all
  Scalar chunk = {}, chunks = {}; ///< of this workgroup, and how many there are
  Value totals = {}, firstTiles = {}; ///< of each expert, 1 x experts
  Value firstSlots = {};              ///< of its pairs of this chunk

  Value zeros(int64_t rows, int64_t columns);
  Value countsOf(Scalar firstExpert);
  void readCounts();
  void countAll();
  void findFirstTiles();
  Value tilesOf(Value counts);
  void placePairs(Value pairSlots, Value slotTokens);
  void placeTiles(Value tileExperts, Value slotTokens);
  void fillTiles(Scalar first, Value left, Value slotTokens);
  Value storeExperts(Scalar first, Value tileExperts);
  Value numbersOf(StringRef name, Scalar first);
};
} // namespace

Value Placing::zeros(int64_t rows, int64_t columns) {
  return k.fillInteger("zero", {rows, columns}, k.i32(), 0);
}

/// Of all chunks and of those before, of each expert.
void Placing::readCounts() {
  Value zero = zeros(1, columns());
  Scalar trips = ceilDiv(chunks, kChunksTogether);
  auto body = [&](Scalar trip, ValueRange sums) -> KernelBuilder::Values {
    Scalar first = trip * static_cast<double>(kChunksTogether);
    Value part = k.load("part", {kChunksTogether, columns()},
                        at(counts, {first, k.constant(0)})
                            .walks(0, 1)
                            .valid({chunks, k.constant(experts())}));
    Value before = k.map("before", k.i32(), part, [&](Element e) {
      return select(first + e.row < chunk, e[0], k.integer(k.i32(), 0));
    });
    auto add = [&](StringRef name, Value sum, Value more) {
      return k.map(name, k.i32(), {sum, k.reduce(name, Combiner::Add, more, 0)},
                   [](Element e) { return e[0] + e[1]; });
    };
    return {add("totals", sums[0], part), add("before", sums[1], before)};
  };
  auto sums =
      k.loop("chunks", trips, "", {{"totals", zero}, {"before", zero}}, body);
  totals = sums[0];
  firstSlots = sums[1];
}

/// The same of one workgroup that owns all pairs.
void Placing::countAll() {
  totals = countIn(k.constant(0));
  firstSlots = zeros(1, columns());
}

/// Of some experts, as rows.
Value Placing::countsOf(Scalar firstExpert) {
  Value zero = zeros(kExpertsTogether, 1);
  auto add = [&](Value sum, Value more) -> KernelBuilder::Values {
    return {k.map("counts", k.i32(),
                  {sum, k.reduce("counts", Combiner::Add, more, 1)},
                  [](Element e) { return e[0] + e[1]; })};
  };
  if (!counts) {
    int64_t together = std::min(tile.chunk, kPairsTogether);
    return k.loop("step", steps(together), "", {{"counts", zero}},
                  [&](Scalar step, ValueRange sums) {
                    Scalar pair = step * static_cast<double>(together);
                    Value row = expertsBeside(pair, together);
                    Value spread = zeros(kExpertsTogether, 1);
                    Value is =
                        k.map("is", k.i32(), {row, spread}, [&](Element e) {
                          Scalar expert = convert(firstExpert + e.row, k.i32());
                          return isEqual(e[0], expert);
                        });
                    return add(sums[0], is);
                  })[0];
  }
  return k.loop("chunks", ceilDiv(chunks, kChunksTogether), "",
                {{"counts", zero}}, [&](Scalar trip, ValueRange sums) {
                  Scalar first = trip * static_cast<double>(kChunksTogether);
                  Value part =
                      k.load("part", {kExpertsTogether, kChunksTogether},
                             at(counts, {first, firstExpert})
                                 .walks(1, 0)
                                 .valid({k.constant(experts()), chunks}));
                  return add(sums[0], part);
                })[0];
}

/// Those that so many pairs fill.
Value Placing::tilesOf(Value counts) {
  const int64_t rows = shape.slots.tileRows;
  return k.map("tiles", k.i32(), counts, [&](Element e) {
    return shiftRight(e[0] + static_cast<double>(rows - 1),
                      llvm::Log2_64(rows));
  });
}

/// Of each expert: the tiles of all before it.
void Placing::findFirstTiles() {
  Scalar trips = k.constant(llvm::divideCeil(experts(), kExpertsTogether));
  auto body = [&](Scalar trip, ValueRange sums) -> KernelBuilder::Values {
    Scalar first = trip * static_cast<double>(kExpertsTogether);
    Value tiles = tilesOf(countsOf(first));
    Value before = k.map("before", k.i32(), {tiles, numbers}, [&](Element e) {
      return select(first + e.row < e.column, e[0], k.integer(k.i32(), 0));
    });
    Value more = k.reduce("before", Combiner::Add, before, 0);
    return {k.map("first_tiles", k.i32(), {sums[0], more},
                  [](Element e) { return e[0] + e[1]; })};
  };
  firstTiles = k.loop("experts", trips, "",
                      {{"first_tiles", zeros(1, columns())}}, body)[0];
  const auto rows = static_cast<double>(shape.slots.tileRows);
  firstSlots = k.map("first_slots", k.i32(), {firstTiles, firstSlots},
                     [&](Element e) { return e[0] * rows + e[1]; });
}

/// So many from the first on, as rows.
Value Placing::numbersOf(StringRef name, Scalar first) {
  return k.map(name, k.i32(), zeros(tile.step, 1),
               [&](Element e) { return convert(first + e.row, k.i32()); });
}

void Placing::placePairs(Value pairSlots, Value slotTokens) {
  auto body = [&](Scalar step, ValueRange carried) -> KernelBuilder::Values {
    Scalar pair = k.name("pair", firstPair(chunk) +
                                     step * static_cast<double>(tile.step));
    Value of = expertsBelow(pair);
    Value is = isOf(of);
    Value start = k.map("start", k.i32(), {is, carried[0]},
                        [](Element e) { return e[0] * e[1]; });
    Value earlier = k.map("earlier", k.i32(),
                          {of, expertsBeside(pair, tile.step)}, [&](Element e) {
                            return select(e.column < e.row, isEqual(e[0], e[1]),
                                          k.integer(k.i32(), 0));
                          });
    Value slots = k.map("slots", k.i32(),
                        {k.reduce("start", Combiner::Add, start, 1),
                         k.reduce("earlier", Combiner::Add, earlier, 1), of},
                        [&](Element e) {
                          Scalar isHere = e[2] >= k.integer(k.i32(), 0);
                          return select(isHere, e[0] + e[1],
                                        convert(sizes.slots, k.i32()));
                        });
    k.store(slots, pairsAt(pairSlots, pair).valid({sizes.pairs}));
    Value tokens = k.map("tokens", k.i32(), slots, [&](Element e) {
      return convert((pair + e.row) / static_cast<double>(shape.slots.topK),
                     k.i32());
    });
    // Of pairs that do not exist or are not here no slot is.
    k.store(tokens, at(slotTokens, {k.constant(0)})
                        .walks(0, 0)
                        .rows(slots)
                        .valid({sizes.slots}));
    return {k.map("next", k.i32(),
                  {carried[0], k.reduce("more", Combiner::Add, is, 0)},
                  [](Element e) { return e[0] + e[1]; })};
  };
  k.loop("step", steps(tile.step), "", {{"next", firstSlots}}, body);
}

/// The experts of so many tiles, counted: of the experts those that end before.
Value Placing::storeExperts(Scalar first, Value tileExperts) {
  Value tiles = numbersOf("tile", first);
  Value last = k.map("used", k.i32(), {totals, numbers}, [&](Element e) {
    Scalar zero = k.integer(k.i32(), 0);
    return select(e[0] > zero, e[1], zero);
  });
  Value ended = k.map(
      "ended", k.i32(), {tiles, firstTiles, tilesOf(totals)}, [&](Element e) {
        Scalar isExpert = e.column < k.constant(experts());
        Scalar hasEnded = e[1] + e[2] <= e[0];
        return select(isExpert & hasEnded, k.integer(k.i32(), 1),
                      k.integer(k.i32(), 0));
      });
  Value of = k.map("expert", k.i32(),
                   {k.reduce("ended", Combiner::Add, ended, 1),
                    k.reduce("last", Combiner::Max, last, 1)},
                   [](Element e) { return minimum(e[0], e[1]); });
  k.store(of, at(tileExperts, {first}).walks(0, 0).valid({sizes.tiles}));
  return of;
}

/// Row after row of the tiles: what lies behind the pairs that are left.
void Placing::fillTiles(Scalar first, Value left, Value slotTokens) {
  const int64_t rows = shape.slots.tileRows;
  Value nobody = k.map("nobody", k.i32(), zeros(tile.step, 1),
                       [&](Element) { return convert(tokens, k.i32()); });
  k.loop("row", k.constant(rows), "", [&](Scalar row) {
    Value slots = k.map("slots", k.i32(), left, [&](Element e) {
      Scalar number = first + e.row;
      Scalar slot = number * static_cast<double>(rows) + row;
      Scalar isFilling =
          (convert(row, k.i32()) >= e[0]) & (number < sizes.tiles);
      return convert(select(isFilling, slot, sizes.slots), k.i32());
    });
    k.store(nobody, at(slotTokens, {k.constant(0)})
                        .walks(0, 0)
                        .rows(slots)
                        .valid({sizes.slots}));
  });
}

void Placing::placeTiles(Value tileExperts, Value slotTokens) {
  const auto together = static_cast<double>(tile.step);
  Scalar steps = ceilDiv(sizes.tiles, tile.step);
  // Each workgroup has as many, but for the last ones.
  Scalar share = counts ? (steps + chunks - 1.0) / chunks : steps;
  k.loop("tile_step", share, "", [&](Scalar step) {
    Scalar first = k.name("first", (chunk * share + step) * together);
    Value of = storeExperts(first, tileExperts);
    Value left = k.map("left", k.i32(),
                       {isOf(of), numbersOf("tile", first), firstTiles, totals},
                       [&](Element e) {
                         const auto rows =
                             static_cast<double>(shape.slots.tileRows);
                         return e[0] * (e[3] - (e[1] - e[2]) * rows);
                       });
    fillTiles(first, k.reduce("left", Combiner::Add, left, 1), slotTokens);
  });
}

KernelOp kernels::buildPlace(OpBuilder &builder, const Label &label,
                             const PlaceShape &shape, const PlaceTile &tile,
                             Range tokens) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  constexpr int64_t kDynamic = ShapedType::kDynamic;
  const SlotShape &slots = shape.slots;
  Value chosen = k.buffer("chosen", {kDynamic, slots.topK}, k.i32());
  Value counts;
  if (!shape.isWhole) {
    counts = k.buffer("counts", {kDynamic, slots.experts}, k.i32());
  }
  Value slotTokens = k.buffer("slot_tokens", {kDynamic}, k.i32());
  Value tileExperts = k.buffer("tile_experts", {kDynamic}, k.i32());
  Value pairSlots = k.buffer("pair_slots", {kDynamic, slots.topK}, k.i32());
  Scalar count = k.size("tokens", tokens.minimum, tokens.maximum);
  Placing placing = {Pairs::of(k, shape, tile, chosen, count), counts};
  placing.chunks = shape.isWhole ? k.constant(1) : placing.chunkCount();
  k.grid({{"chunk", placing.chunks}}, [&](ArrayRef<Scalar> index) {
    placing.chunk = index[0];
    placing.numberExperts();
    if (counts) {
      placing.readCounts();
    } else {
      placing.countAll();
    }
    placing.findFirstTiles();
    placing.placePairs(pairSlots, slotTokens);
    placing.placeTiles(tileExperts, slotTokens);
  });
  return k.finish(label.note);
}
