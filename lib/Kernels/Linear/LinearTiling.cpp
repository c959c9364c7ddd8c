//===- LinearTiling.cpp - Which tiles of linears a target can run ---------===//
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Linear/LinearPieces.h"
#include "lib/Kernels/Rows/Formats.h"
#include "lib/Kernels/Rows/SixBits.h"
#include "lib/Kernels/Tiling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

/// Trips that pay for a part of the sum, at least.
static constexpr int64_t kMinTrips = 4;

/// Rows and columns of products as the instruction sees them.
static std::pair<int64_t, int64_t> orient(const LinearTile &tile) {
  return tile.isSwapped ? std::pair(tile.n, tile.m) : std::pair(tile.m, tile.n);
}

static int64_t products(const LinearShape &shape) {
  return shape.isSwiglu ? 2 : 1;
}

/// Whether `waves` waves can share an m x n tile by a row of the table.
static bool canShare(const MmaRow &row, int64_t m, int64_t n, int64_t waves) {
  int64_t width = std::max<int64_t>(row.nStep, 1);
  switch (row.scope) {
  case MmaScope::Wave:
    return m % row.m == 0 && n % row.n == 0 &&
           (m / row.m) * (n / row.n) >= waves;
  case MmaScope::Group4:
    return waves % 4 == 0 && m % (row.m * (waves / 4)) == 0 && n % width == 0 &&
           n >= row.nMin && n <= row.nMax;
  case MmaScope::Single:
    return waves % 4 == 0 && m % row.m == 0 && n % width == 0 &&
           n >= row.nMin && n <= row.nMax;
  }
  return false;
}

Tiling::MmaRows Tiling::rowsFor(const LinearShape &shape) const {
  std::string type = spelling(shape.element);
  std::string ofWeight = spelling(shape.weightElement());
  MmaRows rows;
  for (const MmaRow &row : target.mma) {
    const BlockScales &scales = shape.blockScales;
    bool isSwapped = row.aType == ofWeight && row.bType == type;
    bool reads = (isSwapped || (row.aType == type && row.bType == ofWeight)) &&
                 row.scaleBlock == (scales.isByKernel() ? 0 : scales.block) &&
                 row.scaleOrder() == scales.order;
    bool fed = row.aSpace == row.bSpace && row.aSpace != OperandSpace::Tensor;
    if (reads && fed) {
      rows.push_back(&row);
    }
  }
  // Without conversions, which take a register for two numbers, and time, where
  // another instruction leaves its sums in registers too.
  bool canDoWithout = llvm::any_of(rows, [](const MmaRow *row) {
    return row->computeType.empty() && row->cSpace == OperandSpace::Register;
  });
  if (canDoWithout) {
    llvm::erase_if(rows,
                   [](const MmaRow *row) { return !row->computeType.empty(); });
  }
  return rows;
}

bool Tiling::multiplies(const LinearShape &shape) const {
  return !rowsFor(shape).empty();
}

SmallVector<std::string> Tiling::multiplied() const {
  SmallVector<std::string> types;
  for (const MmaRow &row : target.mma) {
    if (!llvm::is_contained(types, row.aType)) {
      types.push_back(row.aType);
    }
  }
  return types;
}

const MmaRow *Tiling::rowFor(ArrayRef<const MmaRow *> rows,
                             const LinearShape &shape, const LinearTile &tile) {
  // An instruction for some parts only would leave others to read a shared
  // operand in another manner.
  auto sharedParts = [&](const MmaRow &row) {
    size_t count = 0;
    for (int64_t m : tile.rowParts()) {
      for (int64_t n : tile.columnParts(shape)) {
        count += tile.isSwapped ? canShare(row, n, m, tile.waves)
                                : canShare(row, m, n, tile.waves);
      }
    }
    return count;
  };
  auto isFirst = [&](const MmaRow &row) {
    Type first = tile.isSwapped ? shape.weightElement() : shape.element;
    return row.aType == row.bType || row.aType == spelling(first);
  };
  size_t all = tile.rowParts().size() * tile.columnParts(shape).size();
  for (const MmaRow *row : rows) {
    // Workgroups that multiply together do so with all rows of an instruction.
    bool isTogether = row->workgroups == tile.cluster &&
                      (tile.cluster == 1 || orient(tile).first == row->m);
    if (isTogether && tile.k % row->k == 0 && isFirst(*row)) {
      if (size_t shared = sharedParts(*row)) {
        return shared == all ? row : nullptr;
      }
    }
  }
  return nullptr;
}

bool Tiling::multipliesBeside(const LinearShape &shape,
                              const LinearTile &tile) const {
  const MmaRow *row = rowFor(rowsFor(shape), shape, tile);
  return row && row->scope != MmaScope::Wave;
}

/// Registers of a lane for addresses where groups of waves multiply: of 8
/// bytes, of what is read and of what is written of each of its rows (PTX ISA,
/// wgmma fragments: two of 64), and of the loop. 256 x 64 on 4 waves, a
/// residual beside 128 sums, spilled 12.
static int64_t addresses(const LinearTile &tile, const MmaRow &row) {
  constexpr int64_t kRowsOfLane = 2, kLoop = 32;
  int64_t groups = llvm::divideCeil(tile.waves, kWavesOfGroup);
  int64_t instructions = llvm::divideCeil(tile.m, row.m * groups);
  return kLoop + (tile.isSwapped ? 0 : 2 * 2 * kRowsOfLane * instructions);
}

/// A quarter of the registers is left to operands and addresses, and where
/// waves of their own copy, to those. Where waves multiply from registers, a
/// residual arrives in a register for each element while the sums are still
/// there, and SwiGLU makes an exponential and a product of each pair; else
/// SwiGLU replaces sums one by one, and a residual arrives in pairs, from an
/// address for each row of a lane, or where the weight comes first, whose
/// neighbours lie in other lanes, one by one: 256 x 128 on 8 waves spilled 8.
/// Sums in tensor memory pass through registers in chunks of columns, as many
/// as there is room for.
bool Tiling::holdsSums(const LinearShape &shape, const LinearTile &tile,
                       const MmaRow &row) const {
  int64_t accumulator = tile.m * tile.n * products(shape);
  int64_t lanes = tile.waves * target.execution.waveSize;
  int64_t registers = target.execution.registersOf(tile.waves) * lanes;
  if (shape.blockScales.isByKernel()) {
    return holdsProducts(shape, tile, row);
  }
  // Sums in half of what a lane can have leave too few to blocks that are
  // joined: 256 x 256 on 4 waves spilled 49. In half of what it has, too few to
  // scales of blocks and of rows: eight bits by four on 8 waves, three.
  int64_t most = target.execution.maxRegistersPerThread * lanes;
  bool isScaledTwice = shape.blockScales && shape.isScaled;
  if ((hasTails(shape.weightElement()) && 2 * accumulator >= most) ||
      (isScaledTwice && 2 * accumulator >= registers)) {
    return false;
  }
  int64_t piece = tile.rowParts().front() * tile.columnParts(shape).front();
  if (row.scope == MmaScope::Wave) {
    int64_t epilogue =
        piece * ((shape.hasResidual ? 1 : 0) + (shape.isSwiglu ? 2 : 0));
    int64_t held = std::max(epilogue, registersAhead(shape, tile, lanes));
    return 4 * accumulator <= 3 * registers && accumulator + held < registers;
  }
  // Scales of rows, of gate and of up stand beside their sums: 160 of a lane
  // with roles, 2 x 128 x 160 on 8 waves, spilled 18.
  if (tile.hasRoles && shape.isSwiglu && shape.isScaled &&
      8 * accumulator >= 5 * registers) {
    return false;
  }
  int64_t residual = tile.isSwapped ? piece : piece / 2;
  int64_t all = accumulator + (shape.hasResidual ? residual : 0);
  return 4 * accumulator <= 3 * registers &&
         (tile.hasRoles ? 4 * all < 3 * registers
                        : all + lanes * addresses(tile, row) < registers);
}

/// Workgroups that multiply together load a part of the second operand each,
/// and all of its scales. Weights in registers are in no ring.
static int64_t ringBytes(const LinearShape &shape, const LinearTile &tile) {
  auto bits = [](Type type) -> int64_t { return type.getIntOrFloatBitWidth(); };
  int64_t ofInput = tile.m;
  int64_t ofWeight = tile.weightsAhead ? 0 : products(shape) * tile.n;
  int64_t scaled = ofInput + ofWeight;
  (tile.isSwapped ? ofInput : ofWeight) /= tile.cluster;
  int64_t column =
      ofInput * bits(shape.element) + ofWeight * bits(shape.weightElement());
  int64_t scales =
      shape.blockScales.order.empty() ? 0 : tile.k / shape.blockScales.block;
  return tile.k * column / 8 + scaled * scales;
}

/// Columns of tensor memory that products and their scales take.
static int64_t tensorColumns(const LinearShape &shape, const LinearTile &tile,
                             const MmaRow &row, int64_t waveSize) {
  auto [m, n] = orient(tile);
  int64_t columns = m / row.m * n * products(shape);
  const BlockScales &scales = shape.blockScales;
  if (scales && !scales.isByKernel()) {
    // Words of 32 rows share a column; every product has its own.
    columns +=
        (m + n) / waveSize * products(shape) * (tile.k / scales.wordNumbers());
  } else if (scales && tile.hasRoles) {
    columns *= 2; // waves add one product while the next one is made
  }
  return columns;
}

/// Why lanes cannot load the weight into registers, or empty.
static std::string reasonAgainstAhead(const Target &target,
                                      const LinearShape &shape,
                                      const LinearTile &tile,
                                      const MmaRow &row) {
  bool inTurns = tile.hasPieces() && tile.groups > 1;
  bool isPlain = row.aSpace == OperandSpace::Register && !inTurns &&
                 target.copy.completion == Completion::Counted &&
                 !shape.blockScales.isByKernel();
  return tile.weightsAhead == 0 || (isPlain && !hasTails(shape.weightElement()))
             ? ""
             : "lanes load a weight whose products read registers, and do not "
               "take turns";
}

/// Why rows of several experts would meet one matrix, or empty.
static std::string reasonAgainstExperts(const LinearShape &shape,
                                        const LinearTile &tile) {
  if (!shape.isOfExperts()) {
    return "";
  }
  if (shape.expertRows % tile.m != 0) {
    return "rows of a tile have several experts";
  }
  // A cluster's own rows, or its shared matrix, are told by what they depend
  // on: here both depend on the row.
  if (tile.sharers > 1 || (tile.cluster > 1 && !tile.isTogetherAlongN())) {
    return "rows of workgroups that load together may have several experts";
  }
  if (shape.blockScales.isByKernel() && shape.weightRows() % kGroup != 0) {
    return "a scale of blocks has rows of two experts";
  }
  return shape.quantise ? "sums of experts are quantised by another kernel"
                        : "";
}

/// Why the sum cannot have so many parts, or empty.
static std::string reasonAgainstParts(const Target &target,
                                      const LinearShape &shape,
                                      const LinearTile &tile) {
  // The kernel that quantises sums loads four numbers of all parts at once.
  if (shape.quantise && tile.splits > 1 &&
      4 * 4 * tile.splits * products(shape) >
          3 * target.execution.maxRegistersPerThread) {
    return "so many parts exceed the registers of the kernel that adds them";
  }
  if (tile.inputsOfLastPart(shape.inputs) <= 0) {
    return "a part of the sum is empty";
  }
  int64_t steps = llvm::divideCeil(shape.inputs, tile.k);
  return tile.splits > 1 && steps / tile.splits < kMinTrips
             ? "a part of the sum is too short"
             : "";
}

std::string Tiling::reasonAgainst(const LinearShape &shape,
                                  const LinearTile &tile) const {
  return reasonAgainst(shape, tile, rowFor(rowsFor(shape), shape, tile));
}

int64_t Tiling::earlyColumns(const LinearShape &shape, const LinearTile &tile,
                             Range rows) const {
  // Beside one kernel's and the next one's activations: 20 to 35 MB of 128 MB
  // served best (github.com/local-inference-lab/vllm, pull 576).
  constexpr int64_t kShareOfCache = 4;
  // With more, products or activations take as long as the weight.
  constexpr int64_t kFewRows = 128;
  bool isPlain = !tile.hasRoles && tile.cluster == 1 && !shape.isOfExperts();
  if (!target.launch.startsEarly || !isPlain || rows.maximum > kFewRows) {
    return 0;
  }
  Type number = shape.weightElement();
  int64_t together = schedule::packedNumbers(packedType(number));
  int64_t bytes = number.getIntOrFloatBitWidth() * together / 8;
  if (hasTails(number) ||
      shape.inputs / together * bytes % schedule::PrefetchOp::kGranule != 0) {
    return 0;
  }
  int64_t budget = target.cache.l2Bytes / kShareOfCache /
                   (shape.weightRows() * tile.splits * bytes);
  int64_t shortest = std::min(tile.inputsOfLastPart(shape.inputs),
                              tile.stepsOfPart(shape.inputs) * tile.k);
  int64_t step = tile.k / together;
  return std::min(budget, shortest / together) / step * step;
}

std::string Tiling::reasonAgainst(const LinearShape &shape,
                                  const LinearTile &tile,
                                  const MmaRow *row) const {
  bool isAskedFor = !options.cut || tile.splits <= options.cut->mostParts;
  if (!row || !isAskedFor) {
    return row ? "fewer parts are asked for"
               : "no matrix instruction has such a shape";
  }
  // A place of boxes ends inside of a power of two where a row is one piece.
  int64_t rowBytes = tile.k * shape.element.getIntOrFloatBitWidth() / 8;
  if (tile.isOneProduct &&
      (tile.isPowerOfTwo() || row->cSpace != OperandSpace::Tensor ||
       !llvm::is_contained(target.copy.boxSwizzleBytes, rowBytes))) {
    return "only one product into tensor memory ends inside of a power of two";
  }
  bool areAlike = row->aType == row->bType;
  if (tile.isSwapped && areAlike && row->scope == MmaScope::Wave) {
    return "both orders are alike where operands lie in registers";
  }
  if (tile.isSwapped && areAlike && tile.m == tile.n && tile.cluster == 1) {
    return "both orders are alike where tiles are square";
  }
  int64_t waveSize = target.execution.waveSize;
  if (row->cSpace == OperandSpace::Tensor &&
      tensorColumns(shape, tile, *row, waveSize) >
          target.tensorMemory.columns) {
    return "the accumulators exceed tensor memory";
  }
  bool isInRegisters =
      row->cSpace != OperandSpace::Tensor || shape.blockScales.isByKernel();
  // Tiles that are asked for have been built by somebody.
  if (isInRegisters && !options.tiled() && !holdsSums(shape, tile, *row)) {
    return "the accumulators exceed the registers";
  }
  if (kMinSlots * ringBytes(shape, tile) > target.shared.maxBytesPerWorkgroup) {
    return "two slots of operands exceed shared memory";
  }
  for (const std::string &reason :
       {reasonAgainstPieces(target, shape, tile, *row),
        reasonAgainstAhead(target, shape, tile, *row),
        reasonAgainstScales(shape, tile), reasonAgainstExperts(shape, tile)}) {
    if (!reason.empty()) {
      return reason;
    }
  }
  if (shape.blockScales && !tile.isPowerOfTwo()) {
    return "scales of blocks lie in groups of 256 rows";
  }
  return reasonAgainstParts(target, shape, tile);
}
