#include "lib/Kernels/Exchange/Peers.h"

#include "lib/Kernels/Rows/Blocks.h"
#include "lib/Kernels/Rows/Rows.h"

#include <numeric>

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

/// Devices that are written to, or read from, side by side.
static constexpr int64_t kMostAtOnce = 8;

/// A number of a stored element, which may be one.
static Scalar partOf(Scalar stored, int64_t index) {
  return isa<VectorType>(stored.type()) ? numberOf(stored, index) : stored;
}

PeerTiles kernels::tilesOf(const RowWriter &rows, Type element) {
  PeerTiles tiles;
  tiles.units = rows.tile.columns;
  tiles.rowUnits = rows.columns;
  tiles.peers = rows.tile.peers;
  tiles.element = element;
  tiles.extents = [](int64_t units) { return SmallVector<int64_t>{units}; };
  tiles.shape = [height = rows.tile.rows](int64_t units) {
    return Shape{height, units};
  };
  tiles.place = [&rows](Value buffer, ArrayRef<Scalar> lead, Scalar row,
                        Scalar unit, int64_t) {
    return rows.tileAt(buffer, row, unit, lead);
  };
  return tiles;
}

PeerTiles kernels::tilesOf(const BlockWriter &blocks, const RowTile &tile,
                           Type number) {
  PeerTiles tiles;
  int64_t elements = blocks.scales.block / blocks.together();
  tiles.count = blocks.scales.scalesPerWord();
  tiles.units = blocks.words;
  tiles.rowUnits = blocks.scales.words(blocks.columns);
  tiles.peers = tile.peers;
  tiles.element = blocks.stored(number);
  tiles.extents = [count = tiles.count, elements](int64_t units) {
    return SmallVector<int64_t>{units, count, elements};
  };
  tiles.shape = [elements](int64_t units) { return Shape{units, elements}; };
  tiles.place = [&blocks](Value buffer, ArrayRef<Scalar> lead, Scalar row,
                          Scalar unit, int64_t block) {
    return blocks.blocksAt(buffer, row, unit, block, lead);
  };
  return tiles;
}

void Exchanger::declare() {
  auto buffer = [&](StringRef name, SmallVector<int64_t> lead, int64_t units) {
    llvm::append_range(lead, tiles.extents(units));
    return k.buffer(name, lead, tiles.element);
  };
  bool isReduce = shape.kind != Exchange::Gather;
  int64_t rows = shape.stagingRows;
  int64_t pieces = llvm::divideCeil(tiles.rowUnits, tiles.units);
  if (isReduce) {
    staging = buffer("staging", {2, shape.ranks, rows},
                     isInTwo() ? pieces * sliceUnits() : tiles.rowUnits);
  }
  if (isInTwo()) {
    sums = buffer("sums", {2, rows}, tiles.rowUnits);
  }
  flags = k.buffer("flags", {kDynamic, shape.ranks}, k.i32());
  if (isInTwo()) {
    ready = k.buffer("ready", {kDynamic, shape.ranks}, k.i32());
  }
  epochs = k.buffer("epochs", {kDynamic}, k.i32());
}

void Exchanger::begin(Scalar tile) {
  number = tile;
  call = k.name("call", k.loadIndex("done", at(epochs, {number})) + 1.0);
  half = k.name("half", call % 2);
}

void Exchanger::end() { k.store(convert(call, k.i32()), at(epochs, {number})); }

/// Devices by number, in groups of at most eight: what a group asks for is on
/// its way at once.
KernelBuilder::Values Exchanger::forPeers(ArrayRef<Carried> carried,
                                          OfPeers body) {
  // One group where they are few: its first is the own device, see of().
  int64_t size = shape.ranks <= kMostAtOnce
                     ? shape.ranks
                     : std::gcd(shape.ranks, kMostAtOnce);
  auto group = [&](Scalar first, ValueRange values) {
    SmallVector<Scalar> peers;
    for (int64_t i = 0; i < size; ++i) {
      peers.push_back(i == 0 ? first : first + static_cast<double>(i));
    }
    return body(peers, values);
  };
  if (size == shape.ranks) {
    SmallVector<Value> first;
    for (const Carried &one : carried) {
      first.push_back(one.init);
    }
    return group(k.constant(0), first);
  }
  return k.loop("group", k.constant(shape.ranks / size), "", carried,
                [&](Scalar number, ValueRange values) {
                  Scalar first = number * static_cast<double>(size);
                  return group(k.name("first", first), values);
                });
}

/// Number `i` of the devices that this one sends to: itself, then the next, so
/// that not all send to one at a time.
Scalar Exchanger::receiver(Scalar i) const {
  return k.name("receiver", (rank + i) % static_cast<double>(shape.ranks));
}

/// A place of that device. The first of a group that is all devices is the own.
Place Exchanger::of(Place place, size_t i, Scalar receiver) const {
  bool isOwn = i == 0 && shape.ranks <= kMostAtOnce;
  return isOwn ? place : place.peer(receiver);
}

/// Where in the staging buffer device `from` puts the piece, or its slice.
Place Exchanger::staged(Scalar from, Piece piece, int64_t tile) const {
  return tiles.place(staging, {half, from}, piece.row,
                     isInTwo() ? piece.slice : piece.unit, tile);
}

KernelBuilder::Values Exchanger::load(StringRef name, Value buffer,
                                      ArrayRef<Scalar> lead, Scalar row,
                                      Scalar unit, int64_t units) {
  Values values;
  for (int64_t tile = 0; tile < tiles.count; ++tile) {
    values.push_back(k.load(name, tiles.shape(units),
                            tiles.place(buffer, lead, row, unit, tile)));
  }
  return values;
}

/// Raises the flag of a tile on all devices and waits for those of all.
void Exchanger::meet(Value where) {
  // One after the other: they are one rendezvous.
  forPeers({}, [&](ArrayRef<Scalar> peers, ValueRange) {
    SmallVector<Scalar> receivers =
        llvm::map_to_vector(peers, [&](Scalar peer) { return receiver(peer); });
    for (Scalar receiver : receivers) {
      k.arrive(at(where, {number, rank}).peer(receiver), call);
    }
    return Values();
  });
  forPeers({}, [&](ArrayRef<Scalar> peers, ValueRange) {
    for (Scalar peer : peers) {
      k.wait(at(where, {number, peer}), call);
    }
    return Values();
  });
}

/// The numbers of tiles in f32: first those of all tiles, then, of pairs, the
/// second ones. No tiles: zeros.
KernelBuilder::Values Exchanger::widened(ValueRange parts) {
  int64_t numbers = isa<VectorType>(tiles.element) ? 2 : 1;
  Values wide;
  for (int64_t index = 0; index < numbers; ++index) {
    for (int64_t tile = 0; tile < tiles.count; ++tile) {
      wide.push_back(
          parts.empty()
              ? k.fill("zero", tiles.shape(sliceUnits()), k.f32(), 0)
              : k.map("residual", k.f32(), parts[tile], [&](Element e) {
                  return convert(partOf(e[0], index), k.f32());
                }));
    }
  }
  return wide;
}

/// Sums, in f32, and what those devices sent.
KernelBuilder::Values Exchanger::add(ArrayRef<Scalar> peers, ValueRange before,
                                     Piece piece) {
  auto count = static_cast<size_t>(tiles.count);
  SmallVector<Values> theirs(count);
  for (Scalar peer : peers) {
    for (size_t tile = 0; tile < count; ++tile) {
      theirs[tile].push_back(k.load("theirs", tiles.shape(sliceUnits()),
                                    staged(peer, piece, tile)));
    }
  }
  Values after;
  for (auto [i, value] : llvm::enumerate(before)) {
    Values inputs = {value};
    llvm::append_range(inputs, theirs[i % count]);
    after.push_back(k.map("sum", k.f32(), inputs, [&](Element e) {
      Scalar total = e[0];
      for (Scalar other : ArrayRef(e.inputs).drop_front()) {
        total = total + convert(partOf(other, i / count), k.f32());
      }
      return total;
    }));
  }
  return after;
}

/// The sums of what all devices sent, and of the residual.
KernelBuilder::Values Exchanger::addAll(Piece piece, Value residual) {
  Scalar first = isInTwo() ? sliceOf(rank, piece) : piece.unit;
  Values sums = widened(
      residual ? load("residuals", residual, {}, piece.row, first, sliceUnits())
               : Values());
  SmallVector<Carried> carried = llvm::map_to_vector(
      sums, [](Value value) { return Carried{"sum", value}; });
  sums = forPeers(carried, [&](ArrayRef<Scalar> peers, ValueRange before) {
    Values after(before);
    for (; !peers.empty(); peers = peers.drop_front(
                               std::min<size_t>(peers.size(), tiles.peers))) {
      after = add(peers.take_front(tiles.peers), after, piece);
    }
    return after;
  });
  auto count = static_cast<size_t>(tiles.count);
  Values results;
  for (size_t tile = 0; tile < count; ++tile) {
    Values inputs = {sums[tile]};
    if (sums.size() > count) {
      inputs.push_back(sums[count + tile]);
    }
    results.push_back(k.map("result", tiles.element, inputs, [&](Element e) {
      return inputs.size() > 1 ? packed({e[0], e[1]}, tiles.element)
                               : convert(e[0], tiles.element);
    }));
  }
  return results;
}

/// Where the slice of a device begins in the row.
Scalar Exchanger::sliceOf(Scalar device, Piece piece) const {
  return piece.unit + device * static_cast<double>(sliceUnits());
}

/// Sends each device its slice.
void Exchanger::sendSlices(Value x, Piece piece) {
  forPeers({}, [&](ArrayRef<Scalar> peers, ValueRange) {
    SmallVector<Values> mine;
    SmallVector<Scalar> receivers;
    for (Scalar peer : peers) {
      receivers.push_back(receiver(peer));
      mine.push_back(load("mine", x, {}, piece.row,
                          sliceOf(receivers.back(), piece), sliceUnits()));
    }
    for (auto [i, own] : llvm::enumerate(mine)) {
      for (auto [tile, value] : llvm::enumerate(own)) {
        k.store(value, of(staged(rank, piece, tile), i, receivers[i]));
      }
    }
    return Values();
  });
}

/// Sends the sums of the own slice to all; those of all slices.
KernelBuilder::Values Exchanger::shareSums(const Values &results, Piece piece) {
  forPeers({}, [&](ArrayRef<Scalar> peers, ValueRange) {
    for (auto [i, peer] : llvm::enumerate(peers)) {
      Scalar to = receiver(peer);
      for (auto [tile, value] : llvm::enumerate(results)) {
        Place place =
            tiles.place(sums, {half}, piece.row, sliceOf(rank, piece), tile);
        k.store(value, of(place, i, to));
      }
    }
    return Values();
  });
  meet(ready);
  return load("all", sums, {half}, piece.row, piece.unit, tiles.units);
}

KernelBuilder::Values Exchanger::sum(Value x, Value residual, Piece piece) {
  if (isInTwo()) {
    sendSlices(x, piece);
    meet(flags);
    return shareSums(addAll(piece, residual), piece);
  }
  Values mine = load("mine", x, {}, piece.row, piece.unit, tiles.units);
  forPeers({}, [&](ArrayRef<Scalar> peers, ValueRange) {
    for (auto [i, peer] : llvm::enumerate(peers)) {
      Scalar to = receiver(peer);
      for (auto [tile, value] : llvm::enumerate(mine)) {
        k.store(value, of(staged(rank, piece, tile), i, to));
      }
    }
    return Values();
  });
  meet(flags);
  return addAll(piece, residual);
}

void Exchanger::gather(const RowWriter &rows, Value x, Value out, Piece piece) {
  Value mine = load("mine", x, {}, piece.row, piece.unit, tiles.units)[0];
  Scalar base = rank * static_cast<double>(shape.columns);
  Place place = at(out, {piece.row, base + piece.unit}).walks(0, 1);
  bool isRagged = shape.columns % tiles.units != 0;
  place = isRagged
              ? place.valid({rows.m, base + static_cast<double>(shape.columns)})
              : place.valid({rows.m});
  forPeers({}, [&](ArrayRef<Scalar> peers, ValueRange) {
    for (auto [i, peer] : llvm::enumerate(peers)) {
      k.store(mine, of(place, i, receiver(peer)));
    }
    return Values();
  });
  meet(flags);
}
