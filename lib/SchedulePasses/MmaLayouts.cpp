#include "lib/SchedulePasses/MmaLayouts.h"

#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace modelc;
using namespace modelc::schedule;
using llvm::SmallVector;

/// An empty map of (register, lane, wave) to one element.
static Layout unitLayout() {
  return Layout({{"register", {}}, {"lane", {}}, {"wave", {}}},
                {{"row", 1}, {"column", 1}});
}

/// Which input the copies of a tile run over, and along which dimension.
struct Repeat {
  const char *input;
  int64_t rows, columns; ///< one of them is 1
};

/// `layout` followed by copies of itself side by side.
static Layout repeat(const Layout &layout, Repeat by) {
  Layout copies = unitLayout();
  SmallVector<Layout::Input, 3> inputs(copies.inputs());
  for (Layout::Input &input : inputs) {
    for (int64_t step = 1; input.name == by.input && step < by.rows;
         step *= 2) {
      input.bits.push_back({static_cast<int32_t>(step), 0});
    }
    for (int64_t step = 1; input.name == by.input && step < by.columns;
         step *= 2) {
      input.bits.push_back({0, static_cast<int32_t>(step)});
    }
  }
  return layout.product(
      Layout(inputs, {{"row", static_cast<int32_t>(by.rows)},
                      {"column", static_cast<int32_t>(by.columns)}}));
}

/// `count` values of an input that all hold the same elements.
static Layout replicate(const Layout &layout, const char *name, int64_t count) {
  SmallVector<Layout::Input, 3> inputs(layout.inputs());
  for (Layout::Input &input : inputs) {
    for (int64_t done = 1; input.name == name && done < count; done *= 2) {
      input.bits.push_back({0, 0});
    }
  }
  return Layout(inputs, layout.outputs());
}

/// One fragment. Lanes beyond a wave are waves of the group of four; bits that
/// lie beyond the tile (a narrower instruction) are absent.
static Layout fragment(const FragmentLayout &fragment, int64_t rows,
                       int64_t columns, int64_t waveSize) {
  Layout::Input registers{"register", {}}, lanes{"lane", {}}, waves{"wave", {}};
  auto image = [](std::pair<int64_t, int64_t> at) {
    return Layout::Image{static_cast<int32_t>(at.first),
                         static_cast<int32_t>(at.second)};
  };
  for (std::pair<int64_t, int64_t> at : fragment.reg) {
    if (at.first < rows && at.second < columns) {
      registers.bits.push_back(image(at));
    }
  }
  for (std::pair<int64_t, int64_t> at : fragment.lane) {
    bool inWave = lanes.size() < waveSize;
    (inWave ? lanes : waves).bits.push_back(image(at));
  }
  return Layout({registers, lanes, waves},
                {{"row", static_cast<int32_t>(rows)},
                 {"column", static_cast<int32_t>(columns)}});
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
  return "";
}

MmaSplit modelc::splitOf(MmaOp mma, const Target &target) {
  MmaSplit split;
  split.row = target.instruction(mma.getInstruction().value_or(""));
  assert(split.row && "the instruction was chosen from this target");
  split.m = mma.getAccumulator().getType().getRows();
  split.n = mma.getAccumulator().getType().getColumns();
  split.k = mma.getA().getType().getColumns();
  split.gridM = (*mma.getGrid())[0];
  split.gridN = (*mma.getGrid())[1];
  split.waves = mma->getParentOfType<KernelOp>().getWaves();
  split.waveSize = target.execution.waveSize;
  return split;
}

/// Spreads over issuers along N and M (one of them replicates an operand) and
/// fills up the waves.
static Layout spread(Layout layout, const MmaSplit &split, bool alongM,
                     bool alongN) {
  int64_t gridM = split.gridM, gridN = split.gridN;
  if (alongM && alongN) {
    layout = repeat(layout, {"wave", 1, gridN});
    layout = repeat(layout, {"wave", gridM, 1});
  } else if (alongM) {
    layout = replicate(layout, "wave", gridN);
    layout = repeat(layout, {"wave", gridM, 1});
  } else {
    layout = repeat(layout, {"wave", gridN, 1});
    layout = replicate(layout, "wave", gridM);
  }
  return replicate(layout, "wave", split.waves / layout.inputSize("wave"));
}

Layout modelc::operandALayout(const MmaSplit &split) {
  const MmaRow &row = *split.row;
  Layout layout = fragment(row.aLayout, row.m, row.k, split.waveSize);
  layout = repeat(layout, {"register", 1, split.k / row.k});
  layout = repeat(layout, {"register", split.m / split.gridM / row.m, 1});
  return spread(layout, split, /*alongM=*/true, /*alongN=*/false);
}

Layout modelc::operandBLayout(const MmaSplit &split) {
  const MmaRow &row = *split.row;
  int64_t width = split.width();
  Layout layout = fragment(row.bLayout, width, row.k, split.waveSize);
  layout = repeat(layout, {"register", 1, split.k / row.k});
  layout = repeat(layout, {"register", split.n / split.gridN / width, 1});
  return spread(layout, split, /*alongM=*/false, /*alongN=*/true);
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
  Layout layout = fragment(row.cLayout, row.m, width, split.waveSize);
  layout = repeat(layout, {"register", 1, columns / fours / width});
  layout = repeat(layout, {"register", split.m / split.gridM / row.m, 1});
  layout = repeat(layout, {"wave", 1, fours});
  return spread(layout, split, /*alongM=*/true, /*alongN=*/true);
}

Layout modelc::blockedLayout(int64_t rows, int64_t columns, int64_t vector,
                             int64_t waveSize, int64_t waves) {
  vector = std::min(vector, columns);
  int64_t lanesWide = std::min(waveSize, columns / vector);
  int64_t lanesHigh = std::min(waveSize / lanesWide, rows);
  int64_t left = columns / vector / lanesWide;
  int64_t wavesHigh = std::min(waves, rows / lanesHigh);
  int64_t wavesWide = std::min(waves / wavesHigh, left);
  Layout layout = repeat(unitLayout(), {"register", 1, vector});
  layout = repeat(layout, {"lane", 1, lanesWide});
  layout = repeat(layout, {"lane", lanesHigh, 1});
  layout = replicate(layout, "lane", waveSize / lanesWide / lanesHigh);
  layout = repeat(layout, {"wave", 1, wavesWide});
  layout = repeat(layout, {"wave", wavesHigh, 1});
  layout = replicate(layout, "wave", waves / wavesWide / wavesHigh);
  layout = repeat(layout, {"register", 1, left / wavesWide});
  return repeat(layout, {"register", rows / lanesHigh / wavesHigh, 1});
}

Layout modelc::rowNumbersLayout(TileType numbers, int64_t waveSize,
                                int64_t waves) {
  Layout oneWave =
      blockedLayout(numbers.getRows(), numbers.getColumns(), 1, waveSize, 1);
  return replicate(oneWave, "wave", waves);
}
