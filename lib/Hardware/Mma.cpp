#include "lib/Hardware/Loader.h"
#include "llvm/Support/MathExtras.h"

namespace modelc {

/// One number per (row, column), so that images can be joined by xor.
static uint64_t pack(std::pair<int64_t, int64_t> image) {
  return uint64_t(image.first) << 32 | uint64_t(image.second);
}

/// Whether the images of all bits name every element of rows x columns once:
/// they are independent, inside, and as many as the tile has bits.
static bool isBijective(const FragmentLayout &layout, int64_t rows,
                        int64_t columns) {
  std::vector<uint64_t> basis;
  for (const auto &images : {layout.reg, layout.lane}) {
    for (std::pair<int64_t, int64_t> image : images) {
      if (image.first < 0 || image.first >= rows || image.second < 0 ||
          image.second >= columns) {
        return false;
      }
      uint64_t rest = pack(image);
      for (uint64_t other : basis) {
        rest = std::min(rest, rest ^ other);
      }
      if (rest == 0) {
        return false;
      }
      basis.push_back(rest);
    }
  }
  return (uint64_t(1) << basis.size()) == uint64_t(rows * columns);
}

static std::string checkLayout(llvm::StringRef operand,
                               const FragmentLayout &layout, int64_t rows,
                               int64_t columns, unsigned lanes) {
  std::string name = operand.str() + "_layout";
  if (lanes == 0) {
    return layout.empty() ? "" : name + " is for operands in registers";
  }
  unsigned bits = llvm::Log2_64(lanes);
  if (layout.lane.size() != bits) {
    return name + ": expected " + std::to_string(bits) + " lane bits, got " +
           std::to_string(layout.lane.size());
  }
  if (!isBijective(layout, rows, columns)) {
    return name + " does not name each of the " + std::to_string(rows) + " x " +
           std::to_string(columns) + " elements once";
  }
  return "";
}

/// Lanes over which scales are spread; those in tensor memory lie in as many as
/// a wave has, and again in those of the others.
static unsigned lanesOfScales(const Execution &execution, const MmaRow &row) {
  bool isWave = row.scope == MmaScope::Wave;
  return row.scaleSpace == OperandSpace::Tensor || isWave ? execution.waveSize
                                                          : 0;
}

/// Lanes over which an operand is spread; 0 for one that is not in registers.
/// Accumulators in tensor memory are read by four waves.
static unsigned lanesOf(const Execution &execution, MmaScope scope,
                        OperandSpace space) {
  bool byFourWaves = scope == MmaScope::Group4 || space == OperandSpace::Tensor;
  return space == OperandSpace::Shared
             ? 0
             : execution.waveSize * (byFourWaves ? 4 : 1);
}

std::string finishMmaRow(const Execution &execution, MmaRow &row) {
  // An n that was taken from a range before stays one of it.
  if (row.n && row.nMin == row.nMax) {
    row.nMin = row.nMax = row.nStep = row.n;
  }
  row.n = row.nMax;
  row.scaled = row.scaleBlock > 0;
  if (row.m <= 0 || row.k <= 0 || row.nMin <= 0 || row.nMax < row.nMin ||
      row.nStep <= 0) {
    return "expected m, k and either n or n_min, n_max and n_step, all "
           "positive";
  }
  if (execution.waveSize == 0) {
    return "execution.wave_size must stand before the rows of [[mma]]";
  }
  if (!llvm::isPowerOf2_64(execution.waveSize)) {
    return "execution.wave_size must be a power of two";
  }
  if (row.scaled && row.k % row.scaleBlock != 0) {
    return "expected scale_block to divide k, " + std::to_string(row.k) +
           ", got " + std::to_string(row.scaleBlock);
  }
  if (row.scaled && row.scaleType.empty()) {
    return "expected the type of a scale beside scale_block";
  }
  struct Operand {
    llvm::StringRef name;
    unsigned lanes;
    const FragmentLayout &layout;
    int64_t rows, columns;
  };
  auto lanes = [&](OperandSpace space) {
    return lanesOf(execution, row.scope, space);
  };
  // An instruction with a free n has the accumulator layout of its largest n.
  llvm::SmallVector<Operand> operands = {
      {"a", lanes(row.aSpace), row.aLayout, row.m, row.k},
      {"b", lanes(row.bSpace), row.bLayout, row.n, row.k},
      {"c", lanes(row.cSpace), row.cLayout, row.m, row.n}};
  if (row.scaled) {
    int64_t blocks = row.k / row.scaleBlock;
    unsigned ofScales = lanesOfScales(execution, row);
    operands.push_back({"a_scale", ofScales, row.aScaleLayout, row.m, blocks});
    operands.push_back({"b_scale", ofScales, row.bScaleLayout, row.n, blocks});
  }
  std::string wrong;
  for (const Operand &operand : operands) {
    if (wrong.empty()) {
      wrong = checkLayout(operand.name, operand.layout, operand.rows,
                          operand.columns, operand.lanes);
    }
  }
  return wrong;
}

std::vector<int64_t> MmaRow::scaleOrder() const {
  if (scaleSpace != OperandSpace::Tensor) {
    return {};
  }
  // A lane has the words of some rows side by side, of four bytes each.
  std::vector<int64_t> order;
  int64_t wordsOfLane = m >> aScaleLayout.lane.size();
  for (int64_t row = 1; row < m; row *= 2) {
    std::pair<int64_t, int64_t> image = {row, 0};
    auto lane = llvm::find(aScaleLayout.lane, image);
    int64_t words = 0;
    if (lane != aScaleLayout.lane.end()) {
      words = wordsOfLane << (lane - aScaleLayout.lane.begin());
    } else {
      int64_t before = llvm::count_if(aScaleLayout.reg, [&](auto other) {
        return other.second == 0 && other.first < row;
      });
      words = int64_t(1) << before;
    }
    order.push_back(words);
  }
  return order;
}

} // namespace modelc
