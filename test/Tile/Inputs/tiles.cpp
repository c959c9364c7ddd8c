// Runs tile functions on the emulator, each as a kernel of 128 threads over a
// 64 x 32 tile whose element (r, c) is 100 r + c, and compares with plain
// loops.
#include PRELUDE

#include "../../Emulator/Inputs/compare.h"

#include <set>

using emulator::Allocation;

namespace modelc {

constexpr int kRows = 64, kColumns = 32;

/// The images of the 7 bits of a thread's number, as lanes and waves.
template <int R, int C, class Registers, int B0, int B1, int B2, int B3, int B4,
          int B5, int B6>
struct Threads {
  using Type = SelectType<
      kWaveSize == 64,
      Layout<R, C, Registers, Lane<B0, B1, B2, B3, B4, B5>, Wave<B6>>,
      Layout<R, C, Registers, Lane<B0, B1, B2, B3, B4>, Wave<B5, B6>>>;
};
/// Four lanes a row, 8 neighbours each; 32 rows in threads, 2 in registers.
using Blocked =
    Threads<64, 32, Register<columns(1), columns(2), columns(4), rows(32)>,
            columns(8), columns(16), rows(1), rows(2), rows(4), rows(8),
            rows(16)>::Type;
/// As a matrix result: a lane has 4 rows of one column.
using Result =
    Threads<64, 32, Register<rows(1), rows(2), columns(16), rows(32)>,
            columns(1), columns(2), columns(4), columns(8), rows(4), rows(8),
            rows(16)>::Type;
/// The lanes of Blocked in another order.
using Turned =
    Threads<64, 32, Register<columns(1), columns(2), columns(4), rows(32)>,
            rows(2), columns(16), rows(1), columns(8), rows(4), rows(8),
            rows(16)>::Type;
/// As a matrix result: a lane has 2 neighbours of a row, four times.
using Narrow =
    Threads<64, 32, Register<columns(1), rows(32), columns(8), columns(16)>,
            columns(2), columns(4), rows(1), rows(2), rows(4), rows(8),
            rows(16)>::Type;
/// A transposed fragment: 8 rows in registers, 16 columns in lanes.
using Fragment =
    Threads<64, 32, Register<rows(1), rows(2), rows(4), columns(16)>,
            columns(1), columns(2), columns(4), columns(8), rows(8), rows(16),
            rows(32)>::Type;
using FragmentOf32 =
    Threads<64, 32, Register<rows(1), rows(8), columns(8), columns(16)>,
            rows(2), rows(4), columns(1), columns(2), columns(4), rows(16),
            rows(32)>::Type;
/// One number for each row, in every wave.
using Numbers =
    Threads<64, 1, SelectType<kWaveSize == 64, Register<>, Register<rows(32)>>,
            rows(1), rows(2), rows(4), rows(8), rows(16),
            kWaveSize == 64 ? rows(32) : 0, 0>::Type;
/// Of every row, those of a wave: in both layouts each wave has what it needs.
using NumbersOfWaves = Threads<64, 1, Register<rows(32)>, rows(1), rows(2),
                               rows(4), rows(8), 0, 0, rows(16)>::Type;

using Plain = Shared<float, Row<128, 256, 512, 1024, 2048, 4096>,
                     Column<4, 8, 16, 32, 64>>;
using Swizzled = Shared<bf16, Row<64 + 16, 128 + 32, 256, 512, 1024, 2048>,
                        Column<2, 4, 8, 16, 32>>;

float valueAt(int r, int c) { return 100 * r + c; }
bf16 asBf16(float x) { return __builtin_bit_cast(bf16, emulator::toBf16(x)); }
double asDouble(bf16 x) {
  return emulator::fromBf16(__builtin_bit_cast(uint16_t, x));
}
double asDouble(float x) { return x; }

template <class Kernel, class... Arguments>
void runKernel(Kernel kernel, Arguments... arguments) {
  static emulator::Device device{.waveSize = kWaveSize,
                                 .sharedBytes = 64 << 10};
  emulator::run(device, {.kernel = "tiles", .grid = {1}, .block = {128}},
                kernel, arguments...);
}

/// Runs a kernel from `in` to `out` of 64 x 32 and compares with f(r, c).
template <class T, class F, class Kernel>
void check(const char *name, Kernel kernel, F expected) {
  Allocation<T> in(kRows * kColumns), out(kRows * kColumns);
  for (int i = 0; i < kRows * kColumns; ++i) {
    if constexpr (__is_same(T, float)) {
      in[i] = valueAt(i / kColumns, i % kColumns);
      out[i] = -1;
    } else {
      in[i] = asBf16(i % 256);
      out[i] = asBf16(-1);
    }
  }
  runKernel(kernel, in.data(), out.data());
  std::vector<double> reference, values;
  for (int i = 0; i < kRows * kColumns; ++i) {
    reference.push_back(expected(i / kColumns, i % kColumns));
    values.push_back(asDouble(out[i]));
  }
  compare(name, values, reference, 0);
}

//===- Kernels ------------------------------------------------------------===//

void limited(const float *in, float *out) {
  Tile<float, Blocked> x;
  loadTile<4>(x, view(in, 32).limitRows(37).limitColumns(29));
  storeTile<4>(x, view(out, 32));
}
void limitedByVectors(const float *in, float *out) {
  Tile<float, Blocked> x;
  loadTile<4>(x, view(in, 32).limitRows(37).limitColumns(28, multipleOf<4>));
  forEach<Blocked>([&](auto i, int, int) INLINE { x[i] += 1.0f; });
  storeTile<4>(x, view(out, 32).limitRows(35).limitColumns(24, multipleOf<8>));
}
void alongRows(const float *in, float *out) {
  Tile<float, Result> x;
  loadTile<4, Dimension::Row>(x, view(in, 1, 64).limitRows(61));
  storeTile<1>(x, view(out, 32));
}
void gathered(const float *in, float *out) {
  Tile<int, Numbers> ids;
  forEach<Numbers>([&](auto i, int row, int)
                       INLINE { ids[i] = row % 7 == 3 ? -1 : 63 - row; });
  Tile<float, Blocked> x;
  loadTile<4>(x, view(in, 32).gather(ids).limitRows(60));
  storeTile<4>(x, view(out, 32));
}
const int kPages[] = {3, 0, 2, 1};
void paged(const float *in, float *out) {
  Tile<float, Blocked> x;
  loadTile<4>(x, view(in, 32).paged(kPages, 16, 4).limitRows(50));
  storeTile<4>(x, view(out, 32));
}
/// Of rows that there are none of no table is asked.
void inPage(const float *in, float *out) {
  const int first[] = {3, 0, 1, 2};
  Tile<float, Blocked> x, none;
  loadTile<4>(x, view(in, 32).limitRows(14).inPage(first, 16, 32));
  loadTile<4>(none, view(in, 32).limitRows(-3).inPage(nullptr, 16, 64));
  forEach<Blocked>([&](auto i, int, int) INLINE { x[i] += none[i]; });
  storeTile<4>(x, view(out, 32));
}
void swizzled(const bf16 *in, bf16 *out) {
  SHARED(char, bytes, 4096);
  const Place<Swizzled> place{bytes};
  Tile<bf16, Blocked> x;
  Tile<bf16, Result> y;
  loadTile<8>(x, view(in, 32));
  storeShared(x, place);
  sync();
  loadShared(y, place);
  storeTile<8>(y, view(out, 32));
}
template <class L>
void transposed(const bf16 *in, bf16 *out) {
  using Place32 = Shared<bf16, Row<128 + 16, 256 + 32, 512, 1024, 2048>,
                         Column<2, 4, 8, 16, 32, 64>>;
  SHARED(char, bytes, 4096);
  Tile<bf16, Blocked> x;
  Tile<bf16, L> y;
  loadTile<8>(x, view(in, 32));
  storeShared<Transposed>(x, Place<Place32>{bytes});
  sync();
  loadShared<Transposed>(y, Place<Place32>{bytes});
  storeTile<8>(y, view(out, 32));
}
/// Fragments whose neighbours are rows, of memory whose neighbours are columns.
template <class L>
void fragmentsOf(const bf16 *in, bf16 *out) {
  SHARED(char, bytes, 4096);
  const Place<Swizzled> place{bytes};
  Tile<bf16, Blocked> x;
  Tile<bf16, L> y;
  loadTile<8>(x, view(in, 32));
  storeShared(x, place);
  sync();
  loadShared(y, place);
  storeTile<8>(y, view(out, 32));
}
void sums(const float *in, float *out) {
  Tile<float, Result> x, y;
  Tile<float, Reduced<1, Result>> sum;
  loadTile<4>(x, view(in, 32));
  reduce<Add, 1>(sum, x);
  forEach<Result>([&](auto i, int, int) INLINE { y[i] = sum[i]; });
  storeTile<4>(y, view(out, 32));
}
void largest(const float *in, float *out) {
  SHARED(char, scratch, 4096);
  Tile<float, Result> x, y;
  Tile<float, Reduced<0, Result>> most;
  loadTile<4>(x, view(in, 32));
  forEach<Result>([&](auto i, int row, int)
                      INLINE { x[i] = row == 17 ? x[i] + 10000 : x[i]; });
  reduce<Max, 0>(most, x, scratch);
  forEach<Result>([&](auto i, int, int) INLINE { y[i] = most[i]; });
  storeTile<4>(y, view(out, 32));
}
void otherLanes(const bf16 *in, bf16 *out) {
  Tile<bf16, Blocked> x;
  Tile<bf16, Turned> y;
  loadTile<8>(x, view(in, 32));
  relayout(y, x);
  storeTile<8>(y, view(out, 32));
}
/// Lanes exchange bits, in words of two numbers and of one, there and back.
void exchanged(const bf16 *in, bf16 *out) {
  static_assert(LaneExchange<bf16, Blocked, Narrow>::isPossible() &&
                LaneExchange<float, Narrow, Blocked>::isPossible() &&
                !LaneExchange<bf16, Turned, Blocked>::isPossible());
  Tile<bf16, Narrow> x, result;
  Tile<bf16, Blocked> wide;
  Tile<float, Blocked> numbers;
  Tile<float, Narrow> back;
  loadTile<2>(x, view(in, 32));
  relayout(wide, x);
  forEach<Blocked>([&](auto i, int, int)
                       INLINE { numbers[i] = toFloat(wide[i]); });
  relayout(back, numbers);
  toBf16(result, back);
  storeTile<2>(result, view(out, 32));
}
void parts(const float *, float *out) {
  Tile<int, Numbers> all;
  Tile<int, NumbersOfWaves> some;
  Tile<float, NumbersOfWaves> y;
  forEach<Numbers>([&](auto i, int row, int) INLINE { all[i] = row; });
  relayout(some, all);
  forEach<NumbersOfWaves>([&](auto i, int, int)
                              INLINE { y[i] = float(some[i]); });
  storeTile<1>(y, view(out, 32));
}
/// Of each wave, all 0 but for one number of one: its rows get 1.
void any(const float *, float *out) {
  Tile<float, Blocked> x, y;
  fill(x, 0.0f);
  forEach<Blocked>([&](auto i, int row, int column) INLINE {
    x[i] = row == 20 && column == 3 ? 1.0f : 0.0f;
  });
  fill(y, isAny(x) ? 1.0f : 0.0f);
  storeTile<4>(y, view(out, 32));
}
void otherWaves(const float *in, float *out) {
  SHARED(char, scratch, 8192);
  Tile<float, Blocked> x;
  Tile<float, Result> y;
  loadTile<4>(x, view(in, 32));
  relayout(y, x, Place<Plain>{scratch});
  storeTile<1>(y, view(out, 32));
}
template <class V>
void copyThrough(const V &from, bf16 *out) {
  SHARED(char, bytes, 4096);
  const Place<Swizzled> place{bytes};
  copyTile<128 / kWaveSize>(place, from);
  waitCopies<0>();
  sync();
  Tile<bf16, Blocked> x;
  loadShared(x, place);
  storeTile<8>(x, view(out, 32));
}
void copied(const bf16 *in, bf16 *out) {
  copyThrough(view(in, 32).limitRows(37).limitColumns(24), out);
}
void copiedRows(const bf16 *in, bf16 *out) {
  Tile<int, Numbers> ids;
  forEach<Numbers>([&](auto i, int row, int) INLINE { ids[i] = 63 - row; });
  copyThrough(view(in, 32).gather(ids).limitRows(60), out);
}
void added(const float *in, float *out) {
  Tile<float, Reduced<1, Result>> x;
  fill(x, 2.0f);
  addTile(x, view(out, 32));
}

//===- Grid ---------------------------------------------------------------===//

template <int Chiplets, int Group>
bool isOrder(int rows, int columns) {
  std::set<std::pair<int, int>> seen;
  for (int id = 0; id < rows * columns; ++id) {
    const GridPosition at = groupedOrder<Group>(
        chipletOrder<Chiplets>(id, rows * columns), rows, columns);
    seen.insert({at.row, at.column});
  }
  return int(seen.size()) == rows * columns && seen.begin()->first == 0 &&
         seen.rbegin()->first == rows - 1;
}
void checkOrders() {
  bool right = true;
  for (int rows = 1; rows < 20; ++rows) {
    for (int columns = 1; columns < 20; ++columns) {
      right = right && isOrder<8, 4>(rows, columns) &&
              isOrder<1, 3>(rows, columns) && isOrder<6, 1>(rows, columns);
    }
  }
  std::printf("orders of the grid: %s\n", right ? "right" : "wrong");
  wrongResults += !right;
}

} // namespace modelc

int main() {
  using namespace modelc;
  const auto input = [](int r, int c) { return (r * 32 + c) % 256; };
  check<float>("rows of 37, columns of 29", limited, [](int r, int c) {
    return r < 37 && c < 29 ? valueAt(r, c) : 0;
  });
  check<float>("whole vectors", limitedByVectors, [](int r, int c) {
    const bool isStored = r < 35 && c < 24;
    return isStored ? valueAt(r, c) + 1 : -1;
  });
  check<float>("vectors along rows", alongRows, [](int r, int c) {
    const int at = c * 64 + r;
    return r < 61 ? valueAt(at / 32, at % 32) : 0;
  });
  check<float>("gathered rows", gathered, [](int r, int c) {
    return r % 7 == 3 || 63 - r >= 60 ? 0 : valueAt(63 - r, c);
  });
  check<float>("rows of pages", paged, [](int r, int c) {
    return r < 50 ? valueAt(kPages[(r + 4) / 16] * 16 + (r + 4) % 16, c) : 0;
  });
  check<float>("rows of one page", inPage,
               [](int r, int c) { return r < 14 ? valueAt(r + 16, c) : 0; });
  check<bf16>("swizzled and back", swizzled, input);
  check<bf16>("read transposed, elements", transposed<Result>, input);
  check<bf16>("read transposed, fragments",
              fragmentsOf<SelectType<kWaveSize == 64, Fragment, FragmentOf32>>,
              input);
  check<float>("sum over columns", sums,
               [](int r, int) { return 3200 * r + 496; });
  check<float>("largest over rows", largest,
               [](int, int c) { return valueAt(17, c) + 10000; });
  check<bf16>("other lanes", otherLanes, input);
  check<bf16>("exchanged lanes", exchanged, input);
  check<float>("parts of waves", parts,
               [](int r, int c) { return c == 0 ? r : -1; });
  constexpr int kRowsOfWave = kWaveSize / 4; // and those 32 behind them
  check<float>("any of a wave", any, [](int r, int) {
    return r % 32 / kRowsOfWave == 20 / kRowsOfWave ? 1.0 : 0.0;
  });
  check<float>("other waves", otherWaves, valueAt);
  check<bf16>("copies with limits", copied,
              [&](int r, int c) { return r < 37 && c < 24 ? input(r, c) : 0; });
  check<bf16>("copies of gathered rows", copiedRows,
              [&](int r, int c) { return r < 4 ? 0 : input(63 - r, c); });
  check<float>("added once", added, [](int, int c) { return c == 0 ? 1 : -1; });
  checkOrders();
  return wrongResults;
}
