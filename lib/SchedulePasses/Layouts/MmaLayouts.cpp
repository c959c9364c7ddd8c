#include "lib/SchedulePasses/Layouts/MmaLayouts.h"
#include "lib/SchedulePasses/Machine.h"

#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace modelc;
using namespace modelc::schedule;
using llvm::SmallVector;

namespace {
/// A map of (register, lane, wave) to (row, column) that grows from one element
/// by copies of itself.
struct Growing {
  using Bits = SmallVector<Layout::Image, 8>;
  Bits registers = {}, lanes = {}, waves = {};
  int64_t rows = 1, columns = 1;

  /// Copies side by side along the rows or columns, for the next values of an
  /// input.
  void copyRows(Bits Growing::*input, int64_t count) {
    for (int64_t step = 1; step < count; step *= 2) {
      (this->*input).push_back({static_cast<int32_t>(step * rows), 0});
    }
    rows *= count;
  }
  void copyColumns(Bits Growing::*input, int64_t count) {
    for (int64_t step = 1; step < count; step *= 2) {
      (this->*input).push_back({0, static_cast<int32_t>(step * columns)});
    }
    columns *= count;
  }
  /// `count` values of an input that all hold the same elements.
  void replicate(Bits Growing::*input, int64_t count) {
    for (int64_t done = 1; done < count; done *= 2) {
      (this->*input).push_back({0, 0});
    }
  }
  /// Groups of `count` neighbouring columns become one.
  void pack(int64_t count) {
    llvm::erase_if(registers, [&](const Layout::Image &image) {
      return image[0] == 0 && image[1] < count;
    });
    for (auto input : {&Growing::registers, &Growing::lanes, &Growing::waves}) {
      for (Layout::Image &image : this->*input) {
        image[1] /= count;
      }
    }
    columns /= count;
  }
  void transpose() {
    for (auto input : {&Growing::registers, &Growing::lanes, &Growing::waves}) {
      for (Layout::Image &image : this->*input) {
        std::swap(image[0], image[1]);
      }
    }
    std::swap(rows, columns);
  }
  Layout finish() {
    return Layout({{"register", std::move(registers)},
                   {"lane", std::move(lanes)},
                   {"wave", std::move(waves)}},
                  {{"row", static_cast<int32_t>(rows)},
                   {"column", static_cast<int32_t>(columns)}});
  }
};
} // namespace

/// One fragment. Lanes beyond a wave are waves of the group of four; bits that
/// lie beyond the tile (a narrower instruction) are absent.
static Growing fragment(const FragmentLayout &fragment, int64_t rows,
                        int64_t columns, int64_t waveSize) {
  Growing layout;
  layout.rows = rows;
  layout.columns = columns;
  auto image = [](std::pair<int64_t, int64_t> at) {
    return Layout::Image{static_cast<int32_t>(at.first),
                         static_cast<int32_t>(at.second)};
  };
  for (std::pair<int64_t, int64_t> at : fragment.reg) {
    if (at.first < rows && at.second < columns) {
      layout.registers.push_back(image(at));
    }
  }
  for (std::pair<int64_t, int64_t> at : fragment.lane) {
    bool inWave = (int64_t(1) << layout.lanes.size()) < waveSize;
    (inWave ? layout.lanes : layout.waves).push_back(image(at));
  }
  return layout;
}

int64_t modelc::issuers(const MmaRow &row, int64_t waves) {
  switch (row.scope) {
  case MmaScope::Wave:
    return waves;
  case MmaScope::Group4:
    return waves / 4;
  case MmaScope::Single:
    return 1;
  }
  return 1;
}

int64_t MmaSplit::width() const { return std::min(n / gridN, row->nMax); }

std::string MmaSplit::reasonAgainst() const {
  auto divides = [](const char *name, int64_t step, int64_t size) {
    return "its " + std::string(name) + " = " + std::to_string(step) +
           " does not divide the " + std::to_string(size) + " of an issuer";
  };
  if (m / gridM % row->m) {
    return divides("m", row->m, m / gridM);
  }
  if (width() < row->nMin || width() % row->nStep || n / gridN % width()) {
    return divides("n", row->nMin, n / gridN);
  }
  if (k % row->k) {
    return divides("k", row->k, k);
  }
  if (row->scaled && k % (row->scaleBlock * kScalesPerWord)) {
    return "its scales do not fill words along the " + std::to_string(k) +
           " of an issuer";
  }
  return "";
}

/// Neighbouring rows of one fragment of the accumulator that a lane owns.
static int64_t runOf(const MmaRow &row) {
  int64_t run = 1;
  while (llvm::is_contained(row.cLayout.reg, std::pair(run, int64_t(0)))) {
    run *= 2;
  }
  return run;
}

int64_t MmaSplit::mostExchanged() const {
  auto same = [](const FragmentLayout &a, const FragmentLayout &b) {
    return a.reg == b.reg && a.lane == b.lane;
  };
  bool inRegisters = row->aSpace == OperandSpace::Register &&
                     row->bSpace == OperandSpace::Register &&
                     row->cSpace == OperandSpace::Register;
  bool alike = row->m == row->n && row->nMin == row->nMax &&
               same(row->aLayout, row->bLayout) &&
               same(row->aScaleLayout, row->bScaleLayout);
  if (row->scope != MmaScope::Wave || !inRegisters || !alike) {
    return 0;
  }
  int64_t runs = row->m * row->n / waveSize / runOf(*row);
  return runs * (n / gridN / row->n);
}

int64_t MmaSplit::mostInterleaved() const {
  bool isWaves =
      row->scope == MmaScope::Wave && row->cSpace == OperandSpace::Register;
  return isWaves && packedB == 1 ? n / gridN / row->n : 0;
}

MmaSplit modelc::splitOf(MmaOp mma, const Target &target) {
  MmaSplit split;
  split.row = target.instruction(mma.getInstruction().value_or(""));
  assert(split.row && "the instruction was chosen from this target");
  split.m = mma.getAccumulator().getType().getRows();
  split.n = mma.getAccumulator().getType().getColumns();
  split.packedA = packedNumbers(mma.getA().getType().getElementType());
  split.packedB = packedNumbers(mma.getB().getType().getElementType());
  split.k = mma.getA().getType().getColumns() * split.packedA;
  split.gridM = (*mma.getGrid())[0];
  split.gridN = (*mma.getGrid())[1];
  split.waves = wavesOf(mma);
  split.waveSize = target.execution.waveSize;
  split.exchanged = mma.getExchanged().value_or(0);
  split.interleaved = mma.getInterleaved().value_or(0);
  return split;
}

/// Bits of the columns of an accumulator in the order of the columns
/// that they are: of fragments that interleave one by one; where operands are
/// exchanged of the registers of a lane, as many as become neighbours; then of
/// the lanes, and of all else.
static SmallVector<int64_t> orderOfColumns(const MmaSplit &split) {
  SmallVector<int64_t> order, owned, lanes;
  int64_t width = split.row->n, columns = split.n;
  int64_t together = width * std::max<int64_t>(split.interleaved, 1);
  for (int64_t bit = width; bit < together; bit *= 2) {
    order.push_back(bit);
  }
  if (!split.exchanged) {
    for (int64_t bit = 1; bit < columns;
         bit = bit * 2 == width ? together : bit * 2) {
      order.push_back(bit);
    }
    return order;
  }
  for (auto [row, column] : split.row->cLayout.reg) {
    owned.push_back(row);
  }
  for (auto [row, column] : split.row->cLayout.lane) {
    lanes.push_back(row);
  }
  llvm::erase(owned, 0);
  llvm::erase(lanes, 0);
  for (int64_t bit = together; bit < columns; bit *= 2) {
    owned.push_back(bit);
  }
  size_t most = llvm::Log2_64(runOf(*split.row) * split.exchanged);
  auto *neighbours = owned.begin() + std::min(most, owned.size());
  order.append(owned.begin(), neighbours);
  order.append(lanes);
  order.append(neighbours, owned.end());
  return order;
}

/// Where column `column` of the accumulator's fragments side by side lies.
static int64_t placeOfColumn(int64_t column, const MmaSplit &split) {
  int64_t place = 0;
  for (auto [i, bit] : llvm::enumerate(orderOfColumns(split))) {
    place |= column & bit ? int64_t(1) << i : 0;
  }
  return place;
}

/// The columns (1) of the accumulator, or the rows (0) of B, in the order in
/// which the product interleaves them.
static void interleave(Growing &layout, unsigned dimension,
                       const MmaSplit &split) {
  if (split.exchanged == 0 && split.interleaved == 0) {
    return;
  }
  for (auto input : {&Growing::registers, &Growing::lanes, &Growing::waves}) {
    for (Layout::Image &image : layout.*input) {
      image[dimension] =
          static_cast<int32_t>(placeOfColumn(image[dimension], split));
    }
  }
}

/// Fills up the waves of the workgroup by others that hold the same.
static Layout filled(Growing layout, const MmaSplit &split) {
  layout.replicate(&Growing::waves, split.waves >> layout.waves.size());
  return layout.finish();
}

/// The whole of A, or its scales, of which a fragment has `columns` along K.
static Growing wholeOfA(const FragmentLayout &one, int64_t columns,
                        const MmaSplit &split) {
  const MmaRow &row = *split.row;
  Growing layout = fragment(one, row.m, columns, split.waveSize);
  layout.copyColumns(&Growing::registers, split.k / row.k);
  layout.copyRows(&Growing::registers, split.m / split.gridM / row.m);
  layout.replicate(&Growing::waves, split.gridN);
  layout.copyRows(&Growing::waves, split.gridM);
  return layout;
}

/// The same of B.
static Growing wholeOfB(const FragmentLayout &one, int64_t columns,
                        const MmaSplit &split) {
  int64_t width = split.width();
  Growing layout = fragment(one, width, columns, split.waveSize);
  layout.copyColumns(&Growing::registers, split.k / split.row->k);
  layout.copyRows(&Growing::registers, split.n / split.gridN / width);
  layout.copyRows(&Growing::waves, split.gridN);
  layout.replicate(&Growing::waves, split.gridM);
  interleave(layout, 0, split);
  return layout;
}

Layout modelc::operandALayout(const MmaSplit &split) {
  Growing layout = wholeOfA(split.row->aLayout, split.row->k, split);
  layout.pack(split.packedA);
  return filled(std::move(layout), split);
}

Layout modelc::operandBLayout(const MmaSplit &split) {
  Growing layout = wholeOfB(split.row->bLayout, split.row->k, split);
  layout.pack(split.packedB);
  return filled(std::move(layout), split);
}

static Layout inWords(Growing scales, const MmaSplit &split) {
  scales.pack(kScalesPerWord);
  scales.transpose();
  for (Layout::Image &lane : scales.lanes) {
    auto *ofRows = llvm::find_if(
        scales.registers, [](const Layout::Image &r) { return r[1] != 0; });
    if (lane == Layout::Image{0, 0} && ofRows != scales.registers.end()) {
      lane = *ofRows;
      scales.registers.erase(ofRows);
    }
  }
  return filled(std::move(scales), split);
}

Layout modelc::scalesALayout(const MmaSplit &split) {
  int64_t blocks = split.row->k / split.row->scaleBlock;
  return inWords(wholeOfA(split.row->aScaleLayout, blocks, split), split);
}

Layout modelc::scalesBLayout(const MmaSplit &split) {
  int64_t blocks = split.row->k / split.row->scaleBlock;
  return inWords(wholeOfB(split.row->bScaleLayout, blocks, split), split);
}

Layout modelc::scalesPlaceLayout(const MmaRow &row, TileType scales) {
  constexpr int32_t kWordBytes = kScalesPerWord;
  std::vector<int64_t> order = row.scaleOrder();
  auto columns = static_cast<int32_t>(scales.getColumns());
  Layout::Input words{"row", {}}, rows{"column", {}};
  for (int32_t word = 1; word < scales.getRows(); word *= 2) {
    words.bits.push_back({word * columns * kWordBytes});
  }
  for (int32_t bit = 0; 1 << bit < columns; ++bit) {
    int64_t at = bit < int32_t(order.size()) ? order[bit] : int64_t(1) << bit;
    rows.bits.push_back({static_cast<int32_t>(at) * kWordBytes});
  }
  return Layout({words, rows},
                {{"byte", static_cast<int32_t>(scales.getBytes())}});
}

Layout modelc::accumulatorLayout(const MmaSplit &split) {
  const MmaRow &row = *split.row;
  int64_t columns = split.n / split.gridN;
  // Tensor memory is read by all fours of waves, each its part of the columns.
  int64_t fours = 1;
  if (row.cSpace == OperandSpace::Tensor) {
    fours = std::min<int64_t>(std::max<int64_t>(split.waves / 4, 1), columns);
  }
  int64_t width = std::min(split.width(), columns / fours);
  Growing layout = fragment(row.cLayout, row.m, width, split.waveSize);
  if (split.exchanged != 0) {
    layout.transpose();
  }
  layout.copyColumns(&Growing::registers, columns / fours / width);
  layout.copyRows(&Growing::registers, split.m / split.gridM / row.m);
  layout.copyColumns(&Growing::waves, fours);
  layout.copyColumns(&Growing::waves, split.gridN);
  layout.copyRows(&Growing::waves, split.gridM);
  interleave(layout, 1, split);
  return filled(std::move(layout), split);
}

Layout modelc::drainLayout(MmaSplit split, TileType part) {
  split.n = part.getColumns();
  return accumulatorLayout(split);
}

static Growing blocked(int64_t rows, int64_t columns, int64_t vector,
                       int64_t waveSize, int64_t waves) {
  vector = std::min(vector, columns);
  int64_t lanesWide = std::min(waveSize, columns / vector);
  int64_t lanesHigh = std::min(waveSize / lanesWide, rows);
  int64_t left = columns / vector / lanesWide;
  int64_t wavesHigh = std::min(waves, rows / lanesHigh);
  int64_t wavesWide = std::min(waves / wavesHigh, left);
  Growing layout;
  layout.copyColumns(&Growing::registers, vector);
  layout.copyColumns(&Growing::lanes, lanesWide);
  layout.copyRows(&Growing::lanes, lanesHigh);
  layout.replicate(&Growing::lanes, waveSize / lanesWide / lanesHigh);
  layout.copyColumns(&Growing::waves, wavesWide);
  layout.copyRows(&Growing::waves, wavesHigh);
  layout.replicate(&Growing::waves, waves / wavesWide / wavesHigh);
  layout.copyColumns(&Growing::registers, left / wavesWide);
  layout.copyRows(&Growing::registers, rows / lanesHigh / wavesHigh);
  return layout;
}

Layout modelc::blockedLayout(int64_t rows, int64_t columns, int64_t vector,
                             int64_t waveSize, int64_t waves) {
  return blocked(rows, columns, vector, waveSize, waves).finish();
}

Layout modelc::rowNumbersLayout(TileType numbers, int64_t waveSize,
                                int64_t waves) {
  Growing layout =
      blocked(numbers.getRows(), numbers.getColumns(), 1, waveSize, 1);
  layout.replicate(&Growing::waves, waves);
  return layout.finish();
}

Layout modelc::layoutOfInput(const Layout &layout, TileType input,
                             TileType result) {
  Layout own = layout;
  if (input.getRows() != result.getRows()) {
    own = own.reduced("row");
  }
  if (input.getColumns() != result.getColumns()) {
    own = own.reduced("column");
  }
  return own;
}
