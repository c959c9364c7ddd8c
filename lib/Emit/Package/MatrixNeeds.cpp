//===- MatrixNeeds.cpp - Matrix instructions that the IR asks for ---------===//
//
// From the tiles of each product and the shape of its instruction alone, not
// from how the prelude walks them: what is compared must not share a mistake.
//
//===----------------------------------------------------------------------===//

#include "lib/Emit/Kernel/Printer.h"
#include "lib/Emit/Package/MachineCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <optional>

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;
using llvm::divideCeil;

static const MmaRow *rowOf(MmaOp mma, const Target &target) {
  return target.instruction(mma.getInstruction().value_or(""));
}

/// Instructions of one issuer: tiles of its part of the result times steps
/// along K, each as wide as the row allows.
int64_t modelc::matrixInstructionsOf(MmaOp mma, const Target &target) {
  const MmaRow *row = rowOf(mma, target);
  if (!row) {
    return 0;
  }
  TileType a = mma.getA().getType(), c = mma.getAccumulator().getType();
  ArrayRef<int64_t> grid = mma.getGrid().value_or(ArrayRef<int64_t>{1, 1});
  int64_t rows = divideCeil(c.getRows(), grid[0]);
  int64_t columns = divideCeil(c.getColumns(), grid[1]);
  if (mma.getExchanged()) {
    std::swap(rows, columns);
  }
  int64_t numbers = a.getColumns() * packedNumbers(a.getElementType());
  return divideCeil(rows, row->m) * divideCeil(columns, row->nMax) *
         divideCeil(numbers, row->k);
}

/// The trips of a loop whose bounds are constants.
static std::optional<int64_t> tripsOf(LoopOp loop) {
  IntegerAttr lower, upper, step;
  if (loop.getUpperBounds().size() != 1 ||
      !matchPattern(loop.getLowerBounds()[0], m_Constant(&lower)) ||
      !matchPattern(loop.getUpperBounds()[0], m_Constant(&upper))) {
    return std::nullopt;
  }
  int64_t by = 1;
  if (!loop.getSteps().empty() &&
      matchPattern(loop.getSteps()[0], m_Constant(&step))) {
    by = step.getInt();
  }
  return divideCeil(std::max<int64_t>(upper.getInt() - lower.getInt(), 0), by);
}

/// The most that a bound can be: a constant, or the smaller or larger of
/// others.
static std::optional<int64_t> mostOf(Value bound) {
  IntegerAttr constant;
  if (matchPattern(bound, m_Constant(&constant))) {
    return constant.getInt();
  }
  Operation *op = bound.getDefiningOp();
  if (!isa_and_nonnull<arith::MinSIOp, arith::MaxSIOp>(op)) {
    return std::nullopt;
  }
  std::optional<int64_t> a = mostOf(op->getOperand(0));
  std::optional<int64_t> b = mostOf(op->getOperand(1));
  if (isa<arith::MaxSIOp>(op)) {
    return a && b ? std::optional(std::max(*a, *b)) : std::nullopt;
  }
  return a && b ? std::optional(std::min(*a, *b)) : a ? a : b;
}

static std::optional<int64_t> mostTripsOf(LoopOp loop) {
  bool counts = loop.getUpperBounds().size() == 1 && loop.getSteps().empty() &&
                matchPattern(loop.getLowerBounds()[0], m_Zero());
  return counts ? mostOf(loop.getUpperBounds()[0]) : std::nullopt;
}

/// A loop of 0 or 1 trips.
static bool isCondition(LoopOp loop) {
  if (std::optional<int64_t> trips = tripsOf(loop)) {
    return *trips <= 1;
  }
  auto select = loop.getUpperBounds()[0].getDefiningOp<arith::SelectOp>();
  return select && matchPattern(select.getTrueValue(), m_One()) &&
         matchPattern(select.getFalseValue(), m_Zero());
}

static bool isLoopOfCode(LoopOp loop) {
  return loop.getKind() == LoopKind::Workgroups ? loop.getPersistent()
                                                : !isCondition(loop);
}

static std::string indexName(LoopOp loop) {
  auto name = dyn_cast<NameLoc>(loop.getInductionVars().front().getLoc());
  return name ? name.getName().str() : "";
}

/// Loops that are code, with their names and copies.
static std::vector<std::pair<LoopOp, LoopNeed>> loopsOf(KernelOp kernel,
                                                        const Target &target) {
  std::vector<std::pair<LoopOp, LoopNeed>> loops;
  kernel.walk<WalkOrder::PreOrder>([&](LoopOp loop) {
    if (isLoopOfCode(loop)) {
      LoopNeed need;
      need.index = indexName(loop);
      need.copies = tripsWrittenOut(loop, target);
      need.mostTrips = mostTripsOf(loop);
      loops.push_back({loop, need});
    }
  });
  return loops;
}

MatrixNeeds modelc::matrixNeeds(KernelOp kernel, const Target &target) {
  std::vector<std::pair<LoopOp, LoopNeed>> loops = loopsOf(kernel, target);
  MatrixNeeds needs;
  needs.total = 0;
  kernel.walk([&](MmaOp mma) {
    std::optional<int64_t> count = matrixInstructionsOf(mma, target);
    bool isInnermost = true;
    for (auto &[loop, need] : llvm::reverse(loops)) {
      if (!loop->isProperAncestor(mma)) {
        continue;
      }
      need.perTrip += isInnermost ? *count : 0;
      need.whole += count.value_or(0);
      isInnermost = false;
      std::optional<int64_t> trips = tripsOf(loop);
      count = count && trips ? std::optional(*count * *trips) : std::nullopt;
    }
    needs.total = needs.total && count ? std::optional(*needs.total + *count)
                                       : std::nullopt;
  });
  for (auto &[loop, need] : loops) {
    if (need.perTrip) {
      needs.loops.push_back(need);
    }
  }
  return needs;
}

const LoopNeed *modelc::mainLoopOf(ArrayRef<LoopNeed> loops) {
  auto most = std::max_element(loops.begin(), loops.end(),
                               [](const LoopNeed &a, const LoopNeed &b) {
                                 return a.perTrip < b.perTrip;
                               });
  return most == loops.end() ? nullptr : most;
}

Mnemonics modelc::mnemonicsOf(KernelOp kernel, const Target &target) {
  Mnemonics mnemonics;
  kernel.walk([&](MmaOp mma) {
    if (const MmaRow *row = rowOf(mma, target)) {
      mnemonics.demanded.insert(row->mnemonic);
      mnemonics.counted.insert(row->mnemonic);
      if (!row->plainMnemonic.empty()) {
        mnemonics.counted.insert(row->plainMnemonic);
      }
    }
  });
  return mnemonics;
}

int64_t modelc::copiesIn(const CodeLoop &loop, const LoopNeed &need) {
  for (int64_t each : {need.perTrip, need.whole}) {
    int64_t written = each * need.copies;
    // The compiler's copies come with all the waits of a trip.
    if (written > 0 && loop.matrix % written == 0 &&
        loop.copies % (loop.matrix / written) == 0) {
      return loop.matrix / each;
    }
  }
  return 0;
}

static std::string countsOf(ArrayRef<CodeLoop> loops) {
  auto text = [](const CodeLoop &loop) { return std::to_string(loop.matrix); };
  return loops.empty() ? "none"
                       : llvm::join(llvm::map_range(loops, text), ", ");
}

/// Whether the code has all trips of the only loop one behind the other: the
/// source has as many, and another round of them never comes.
static bool isWrittenOut(const MatrixNeeds &needs, const MatrixCode &code) {
  if (needs.loops.size() != 1 || !code.loops.empty()) {
    return false;
  }
  const LoopNeed &need = needs.loops.front();
  return need.mostTrips && *need.mostTrips < 2 * need.copies &&
         code.outside % need.perTrip == 0 &&
         code.outside >= *need.mostTrips * need.perTrip;
}

std::string modelc::reasonAgainst(const MatrixNeeds &needs,
                                  const MatrixCode &code) {
  if (code.loops.empty() && needs.total) {
    return code.outside == *needs.total
               ? ""
               : "expected " + std::to_string(*needs.total) +
                     " matrix instructions, got " +
                     std::to_string(code.outside);
  }
  if (isWrittenOut(needs, code)) {
    return "";
  }
  for (const LoopNeed &need : needs.loops) {
    if (llvm::none_of(code.loops, [&](const CodeLoop &loop) {
          return copiesIn(loop, need) > 0;
        })) {
      return "expected " + std::to_string(need.perTrip * need.copies) +
             " matrix instructions in the loop" +
             (need.index.empty() ? "" : " over '" + need.index + "'") +
             ", got " + countsOf(code.loops);
    }
  }
  for (const CodeLoop &loop : code.loops) {
    if (llvm::none_of(needs.loops, [&](const LoopNeed &need) {
          return copiesIn(loop, need) > 0;
        })) {
      return "expected no loop of " + std::to_string(loop.matrix) +
             " matrix instructions, got one";
    }
  }
  return "";
}
