//===- Exchange.cpp - All-reduce and all-gather between peers -------------===//
//
// A workgroup owns one tile on every device. It stores it to all devices, then
// raises its flag on all, then waits for the flags of all: one step over the
// fabric. To reduce, it then adds the tiles of all devices in the order of
// their ranks, so that all have the same bits.
//
// In two steps each device gets only its slice of the tile from all, adds, and
// stores the sums to all: with g devices 2 (g - 1) / g of the bytes instead of
// g - 1 times them, for the latency of a second step.
//
// Flags hold the number of the call, which every tile counts in `epochs`; calls
// alternate between two halves of the staging buffer. A device can be one call
// ahead of another, not two: it waits for the flag that the other raises after
// it has read the call before.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Families.h"
#include "lib/Kernels/KernelBuilder.h"
#include "lib/Kernels/Rows.h"

#include <numeric>

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

/// Devices that are written to, or read from, side by side.
static constexpr int64_t kMostAtOnce = 8;

namespace {
struct Exchanger {
  KernelBuilder &k;
  const ExchangeShape &shape;
  const RowTile &tile;
  RowWriter rowsOf;
  Value x, staging, sums, flags, ready, epochs, out;
  Scalar rank, m;

  Place staged(Scalar half, Scalar from, Scalar row, Scalar column) const;
  Place gathered(Scalar row, Scalar column) const;
  KernelBuilder::Values forPeers(
      ArrayRef<Carried> carried,
      function_ref<KernelBuilder::Values(ArrayRef<Scalar>, ValueRange)> body);
  Scalar receiver(Scalar i) const;
  Place of(Place place, size_t i, Scalar receiver) const;
  void meet(Value where, Scalar number, Scalar call);
  Value addAll(Scalar half, Scalar row, Scalar column, int64_t width);
  void sliceTile(Scalar half, Scalar row, Scalar column, Scalar slice,
                 Scalar number, Scalar call);
  void ownTile(Scalar number, Scalar row, Scalar column, Scalar slice);
};
} // namespace

/// The tile of device `from` in the staging buffer.
Place Exchanger::staged(Scalar half, Scalar from, Scalar row,
                        Scalar column) const {
  Place place = at(staging, {half, from, row, column}).walks(2, 3);
  bool isRagged = shape.columns % tile.columns != 0;
  return isRagged ? place.valid({m, k.constant(shape.columns)})
                  : place.valid({m});
}

/// This device's tile among the columns of all.
Place Exchanger::gathered(Scalar row, Scalar column) const {
  Scalar base = rank * static_cast<double>(shape.columns);
  Place place = at(out, {row, base + column}).walks(0, 1);
  bool isRagged = shape.columns % tile.columns != 0;
  return isRagged ? place.valid({m, base + static_cast<double>(shape.columns)})
                  : place.valid({m});
}

/// Devices by number, in groups of at most eight: what a group asks for is on
/// its way at once.
KernelBuilder::Values Exchanger::forPeers(
    ArrayRef<Carried> carried,
    function_ref<KernelBuilder::Values(ArrayRef<Scalar>, ValueRange)> body) {
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

/// Raises the flag of a tile on all devices and waits for those of all.
void Exchanger::meet(Value where, Scalar number, Scalar call) {
  forPeers({}, [&](ArrayRef<Scalar> peers, ValueRange) {
    for (Scalar peer : peers) {
      k.arrive(at(where, {number, rank}).peer(receiver(peer)), call);
    }
    return KernelBuilder::Values();
  });
  forPeers({}, [&](ArrayRef<Scalar> peers, ValueRange) {
    for (Scalar peer : peers) {
      k.wait(at(where, {number, peer}), call);
    }
    return KernelBuilder::Values();
  });
}

/// The sums of what all devices sent.
Value Exchanger::addAll(Scalar half, Scalar row, Scalar column, int64_t width) {
  Shape whole = {tile.rows, width};
  Value zero = k.fill("zero", whole, k.f32(), 0);
  auto add = [&](ArrayRef<Scalar> peers, ValueRange carried) {
    KernelBuilder::Values theirs = {carried[0]};
    for (Scalar peer : peers) {
      theirs.push_back(
          k.load("theirs", whole, staged(half, peer, row, column)));
    }
    Value sum = k.map("sum", k.f32(), theirs, [&](Element e) {
      Scalar value = e[0];
      for (size_t i = 1; i < theirs.size(); ++i) {
        value = value + convert(e[i], k.f32());
      }
      return value;
    });
    return KernelBuilder::Values{sum};
  };
  Value sum = forPeers({{"sum", zero}}, add)[0];
  return k.map("result", shape.element, sum,
               [&](Element e) { return convert(e[0], shape.element); });
}

/// Sends each device its slice, adds the own one, sends the sums to all.
void Exchanger::sliceTile(Scalar half, Scalar row, Scalar column, Scalar slice,
                          Scalar number, Scalar call) {
  int64_t width = tile.columns / shape.ranks;
  Shape part = {tile.rows, width};
  auto columnOf = [&](Scalar peer) {
    return column + peer * static_cast<double>(width);
  };
  forPeers({}, [&](ArrayRef<Scalar> peers, ValueRange) {
    KernelBuilder::Values mine;
    SmallVector<Scalar> receivers;
    for (Scalar peer : peers) {
      receivers.push_back(receiver(peer));
      mine.push_back(k.load("mine", part,
                            rowsOf.tileAt(x, row, columnOf(receivers.back()))));
    }
    for (auto [i, own] : llvm::enumerate(mine)) {
      k.store(own, of(staged(half, rank, row, slice), i, receivers[i]));
    }
    return KernelBuilder::Values();
  });
  meet(flags, number, call);
  Value result = addAll(half, row, slice, width);
  auto summed = [&](Scalar first) {
    return at(sums, {half, row, first}).walks(1, 2).valid({m});
  };
  forPeers({}, [&](ArrayRef<Scalar> peers, ValueRange) {
    for (auto [i, peer] : llvm::enumerate(peers)) {
      k.store(result, of(summed(columnOf(rank)), i, receiver(peer)));
    }
    return KernelBuilder::Values();
  });
  meet(ready, number, call);
  Value all = k.load("all", {tile.rows, tile.columns}, summed(column));
  k.store(all, rowsOf.tileAt(out, row, column));
}

void Exchanger::ownTile(Scalar number, Scalar row, Scalar column,
                        Scalar slice) {
  Scalar call = k.name("call", k.loadIndex("done", at(epochs, {number})) + 1.0);
  Scalar half = k.name("half", call % 2);
  if (shape.kind == Exchange::ReduceInTwo) {
    sliceTile(half, row, column, slice, number, call);
  } else {
    bool isReduce = shape.kind == Exchange::Reduce;
    Value mine = k.load("mine", {tile.rows, tile.columns},
                        rowsOf.tileAt(x, row, column));
    forPeers({}, [&](ArrayRef<Scalar> peers, ValueRange) {
      for (auto [i, peer] : llvm::enumerate(peers)) {
        Place place =
            isReduce ? staged(half, rank, row, column) : gathered(row, column);
        k.store(mine, of(place, i, receiver(peer)));
      }
      return KernelBuilder::Values();
    });
    meet(flags, number, call);
    if (isReduce) {
      k.store(addAll(half, row, column, tile.columns),
              rowsOf.tileAt(out, row, column));
    }
  }
  k.store(convert(call, k.i32()), at(epochs, {number}));
}

KernelOp kernels::buildExchange(OpBuilder &builder, const Label &label,
                                const ExchangeShape &shape, const RowTile &tile,
                                Range rows) {
  KernelBuilder k(builder, label.symbol, label.op, tile.waves);
  bool isReduce = shape.kind != Exchange::Gather;
  bool isInTwo = shape.kind == Exchange::ReduceInTwo;
  Value x = k.buffer("x", {kDynamic, shape.columns}, shape.element);
  Value staging, sums, ready;
  if (isReduce) {
    staging = k.buffer("staging",
                       {2, shape.ranks, shape.stagingRows,
                        isInTwo ? shape.columns / shape.ranks : shape.columns},
                       shape.element);
  }
  if (isInTwo) {
    sums =
        k.buffer("sums", {2, shape.stagingRows, shape.columns}, shape.element);
  }
  Value flags = k.buffer("flags", {kDynamic, shape.ranks}, k.i32());
  if (isInTwo) {
    ready = k.buffer("ready", {kDynamic, shape.ranks}, k.i32());
  }
  Value epochs = k.buffer("epochs", {kDynamic}, k.i32());
  int64_t width = isReduce ? shape.columns : shape.columns * shape.ranks;
  Value out = k.buffer("out", {kDynamic, width}, shape.element);
  Scalar rank = k.size("rank", 0, shape.ranks - 1);
  Scalar m = k.size("m", rows.minimum, rows.maximum);
  Exchanger exchanger = {k,     shape,   tile, {k, shape.columns, tile, m},
                         x,     staging, sums, flags,
                         ready, epochs,  out,  rank,
                         m};
  Scalar rowTiles = k.name("row_tiles", ceilDiv(m, tile.rows));
  Scalar columnTiles =
      k.constant(llvm::divideCeil(shape.columns, tile.columns));
  k.grid({{"row_tile", rowTiles}, {"column_tile", columnTiles}},
         [&](ArrayRef<Scalar> index) {
           Scalar number = k.name("number", index[0] * columnTiles + index[1]);
           Scalar row =
               k.name("row", index[0] * static_cast<double>(tile.rows));
           Scalar column =
               k.name("column", index[1] * static_cast<double>(tile.columns));
           Scalar slice = column;
           if (isInTwo) {
             auto own = static_cast<double>(tile.columns / shape.ranks);
             slice = k.name("slice", index[1] * own);
           }
           exchanger.ownTile(number, row, column, slice);
         });
  return k.finish(label.note);
}
