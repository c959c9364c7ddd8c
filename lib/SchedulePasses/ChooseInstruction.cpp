//===- ChooseInstruction.cpp - A row of [[mma]] for every mma -------------===//

#include "lib/SchedulePasses/Layouts/MmaLayouts.h"
#include "lib/SchedulePasses/Machine.h"
#include "lib/SchedulePasses/Placement/OperandSource.h"
#include "lib/SchedulePasses/SchedulePasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

namespace {
/// An mma, seen from what an instruction may demand.
struct Product {
  MmaOp op;
  MmaSplit split; ///< without row and grid
  std::string aType, bType, cType;
  /// The accumulator starts at zero and is carried by the loop around.
  bool carried = false;
  /// Boxes can fetch both operands.
  bool boxed = false;
  /// Lanes can copy the operand to where a matrix unit reads it.
  bool copiesA = false, copiesB = false;
  /// Waves can store the operand, which they have computed, to where it is
  /// read.
  bool storesA = false, storesB = false;
  /// Waves can read the sums in tensor memory when they are needed.
  bool drained = false;
  /// Rows of the result are reduced or multiplied again: keep them in a wave.
  bool prefersRows = false;
  /// Blocks along K have scales: their type, empty if there are none, and the
  /// numbers of a block.
  std::string scaleType;
  int64_t scaleBlock = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// What the kernel offers
//===----------------------------------------------------------------------===//

/// Whether a value is reduced along its columns or multiplied again.
static bool feedsRows(Value value, unsigned depth = 0) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (auto reduce = dyn_cast<ReduceOp>(user)) {
      return reduce.getDimension() == 1;
    }
    if (auto mma = dyn_cast<MmaOp>(user)) {
      return mma.getA() == value;
    }
    if (auto loop = dyn_cast<LoopOp>(user); loop && depth < 8) {
      auto changed = llvm::find(loop.getInits(), value);
      return changed != loop.getInits().end() &&
             feedsRows(loop.getResult(changed - loop.getInits().begin()),
                       depth + 1);
    }
    auto map = dyn_cast<MapOp>(user);
    return map && depth < 8 &&
           llvm::any_of(
               map.getResults(),
               [&](Value result) { return feedsRows(result, depth + 1); });
  });
}

/// The product that a value is computed from, or null.
static MmaOp productOf(Value value, unsigned depth = 0) {
  if (auto mma = value.getDefiningOp<MmaOp>()) {
    return mma;
  }
  if (auto loop = value.getDefiningOp<LoopOp>(); loop && depth < 8) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    return productOf(loop.getInits()[number], depth + 1);
  }
  if (auto map = value.getDefiningOp<MapOp>(); map && depth < 8) {
    for (Value input : map.getInputs()) {
      if (MmaOp mma = productOf(input, depth + 1)) {
        return mma;
      }
    }
  }
  return MmaOp();
}

/// Whether some statistic of its rows scales the accumulator, before or after.
static bool isScaledByRows(MmaOp mma) {
  auto map = mma.getAccumulator().getDefiningOp<MapOp>();
  if (Operation *after = map ? nullptr : changedAfter(mma)) {
    map = changeOf(after);
  }
  return map && llvm::any_of(map.getInputs(), [](Value input) {
           return cast<TileType>(input.getType()).getColumns() == 1;
         });
}

static Product describe(MmaOp mma, const Target &target) {
  Product product;
  product.op = mma;
  TileType a = mma.getA().getType(), c = mma.getAccumulator().getType();
  product.split.m = c.getRows();
  product.split.n = c.getColumns();
  product.split.packedA = packedNumbers(a.getElementType());
  product.split.k = a.getColumns() * product.split.packedA;
  if (Value scales = mma.getAScales()) {
    auto words = cast<TileType>(scales.getType());
    product.scaleType = targetSpelling(numberType(words.getElementType()));
    product.scaleBlock = product.split.k / (words.getRows() * kScalesPerWord);
  }
  product.split.waves = mma->getParentOfType<KernelOp>().getWaves();
  product.split.waveSize = target.execution.waveSize;
  product.aType = targetSpelling(numberType(a.getElementType()));
  product.bType =
      targetSpelling(numberType(mma.getB().getType().getElementType()));
  product.cType = targetSpelling(c.getElementType());
  product.carried = isCarriedFromZero(mma);
  product.boxed = isFedByBoxes(mma, target);
  product.copiesA = isCopiedByLanes(mma.getA(), target);
  product.copiesB = isCopiedByLanes(mma.getB(), target);
  product.storesA = isStoredByWaves(mma, mma.getA(), target);
  product.storesB = isStoredByWaves(mma, mma.getB(), target);
  product.drained = isDrained(mma);
  product.prefersRows = feedsRows(mma.getResult()) || isScaledByRows(mma) ||
                        productOf(handedOn(mma.getA(), mma->getBlock()));
  return product;
}

//===----------------------------------------------------------------------===//
// What a row demands
//===----------------------------------------------------------------------===//

/// Why operands do not come to where the row reads them, or empty.
static std::string reasonAgainstOperands(const Product &product,
                                         const MmaRow &row) {
  MmaOp mma = product.op;
  if (row.bSpace != OperandSpace::Shared) {
    return "it reads an operand from another place than the other";
  }
  if (mma.getBTransposed() && !row.bTransposed) {
    return "it reads an operand along K only";
  }
  // One thread cannot read what waves hold.
  bool stores = product.storesA && row.cSpace == OperandSpace::Tensor;
  bool copies = product.copiesA && row.aSpace == OperandSpace::Shared;
  bool fed = row.aSpace == OperandSpace::Register || copies || stores;
  return fed && (product.copiesB || product.storesB)
             ? ""
             : "it reads a place that an operand cannot be brought to";
}

/// Why the places that the row reads and writes cannot be had, or empty.
static std::string reasonAgainstPlaces(const Product &product,
                                       const MmaRow &row) {
  bool inRegisters = row.aSpace == OperandSpace::Register &&
                     row.bSpace == OperandSpace::Register;
  if (row.scope == MmaScope::Wave) {
    return inRegisters ? "" : "a wave reads its operands from registers";
  }
  if (product.split.waves % 4) {
    return "it needs a multiple of four waves";
  }
  bool reads =
      row.aSpace == OperandSpace::Shared && row.bSpace == OperandSpace::Shared;
  if (reads && product.carried && product.boxed) {
    return "";
  }
  if (row.scaleSpace == OperandSpace::Tensor) {
    return "boxes cannot fetch its operands and the scales of their blocks";
  }
  if (row.cSpace == OperandSpace::Tensor && !product.drained) {
    return "it is asynchronous, and the accumulator neither starts from zero "
           "nor is carried from zero by a loop that runs once";
  }
  return reasonAgainstOperands(product, row);
}

/// Bits of shared memory or L1 that all issuers read for one step along K.
static int64_t traffic(const Product &product, const MmaSplit &split) {
  auto bits = [](TileType type) { return int64_t(type.getElementBits()); };
  MmaOp mma = product.op;
  const MmaRow &row = *split.row;
  int64_t readsOfA = split.gridN * row.readsOfA(split.n / split.gridN);
  int64_t readsOfB = split.gridM * row.readsOfB(split.m / split.gridM);
  return split.m * readsOfA * bits(mma.getA().getType()) +
         split.n * readsOfB * bits(mma.getB().getType());
}

/// How often issuers load an operand that does not pass through shared memory.
static int64_t loadsAhead(const Product &product, const MmaSplit &split) {
  auto isAhead = [](Value operand) {
    auto load = operand.getDefiningOp<LoadOp>();
    return load && load.getAhead();
  };
  MmaOp mma = product.op;
  return (isAhead(mma.getA()) ? split.gridN : 0) +
         (isAhead(mma.getB()) ? split.gridM : 0);
}

/// The best grid for a row: most issuers at work, rows in one wave where they
/// are reduced, fewest loads of the same, least traffic. Sets `reason` where
/// none is possible.
static FailureOr<MmaSplit> chooseGrid(const Product &product, const MmaRow &row,
                                      std::string &reason) {
  FailureOr<MmaSplit> best = failure();
  auto rank = [&](const MmaSplit &split) {
    int64_t rows = product.prefersRows ? split.gridM : 0;
    return std::tuple(split.gridM * split.gridN, rows,
                      -loadsAhead(product, split), -traffic(product, split));
  };
  int64_t count = issuers(row, product.split.waves);
  for (int64_t gridM = 1; gridM <= count; gridM *= 2) {
    for (int64_t gridN = 1; gridM * gridN <= count; gridN *= 2) {
      MmaSplit split = product.split;
      split.row = &row;
      split.gridM = gridM;
      split.gridN = gridN;
      std::string against = split.reasonAgainst();
      if (against.empty() && (failed(best) || rank(split) > rank(*best))) {
        best = split;
      }
      reason = reason.empty() ? against : reason;
    }
  }
  return best;
}

static FailureOr<MmaSplit> tryRow(const Product &product, const MmaRow &row,
                                  std::string &reason) {
  if (row.aType != product.aType || row.bType != product.bType ||
      row.cType != product.cType) {
    reason =
        "it multiplies " + row.aType + " x " + row.bType + " into " + row.cType;
    return failure();
  }
  if (row.scaleType != product.scaleType ||
      row.scaleBlock != product.scaleBlock) {
    reason = row.scaled ? "it takes " + row.scaleType + " for each block of " +
                              std::to_string(row.scaleBlock)
                        : "it takes no block scales";
    return failure();
  }
  MmaOp mma = product.op;
  int64_t together = mma.getWorkgroups().value_or(1);
  if (row.workgroups != together) {
    reason = "it multiplies for " + std::to_string(row.workgroups) +
             " workgroups, not " + std::to_string(together);
    return failure();
  }
  reason = reasonAgainstPlaces(product, row);
  if (!reason.empty()) {
    return failure();
  }
  return chooseGrid(product, row, reason);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The names that the kernel allows; empty = all.
static SmallVector<StringRef> hints(KernelOp kernel) {
  std::optional<ArrayAttr> names = kernel.getInstructions();
  return names ? SmallVector<StringRef>(names->getAsValueRange<StringAttr>())
               : SmallVector<StringRef>();
}

static LogicalResult choose(MmaOp mma, const Target &target,
                            ArrayRef<StringRef> allowed) {
  Product product = describe(mma, target);
  SmallVector<std::pair<StringRef, std::string>> refused;
  for (const MmaRow &row : target.mma) {
    std::string reason;
    if (!allowed.empty() && !llvm::is_contained(allowed, row.name)) {
      refused.push_back({row.name, "the kernel's 'instructions' leave it out"});
      continue;
    }
    FailureOr<MmaSplit> split = tryRow(product, row, reason);
    if (failed(split)) {
      refused.push_back({row.name, reason});
    } else if (!mma.getInstruction() || row.aSpace == OperandSpace::Tensor) {
      // What waves make need not pass through shared memory.
      mma.setInstruction(row.name);
      mma.setGrid(ArrayRef<int64_t>{split->gridM, split->gridN});
    }
  }
  if (mma.getInstruction()) {
    return success();
  }
  InFlightDiagnostic error =
      mma.emitOpError("expected an instruction of '")
      << target.identity.name << "' for " << product.aType << " x "
      << product.bType << " into " << product.cType << " of " << product.split.m
      << " x " << product.split.n << " x " << product.split.k << " on "
      << product.split.waves << " waves, got none that fits";
  for (auto &[name, reason] : refused) {
    error.attachNote() << name << ": " << reason;
  }
  return error;
}

/// Gives the product that `mma` reads an instruction of its shape where one is
/// as fast: what it leaves lies in the lanes that read it then.
static void matchSource(MmaOp mma, const Target &target,
                        ArrayRef<StringRef> allowed) {
  MmaOp source = productOf(handedOn(mma.getA(), mma->getBlock()));
  const MmaRow *wanted = target.instruction(*mma.getInstruction());
  const MmaRow *now =
      source ? target.instruction(*source.getInstruction()) : nullptr;
  if (!now || now->scope != wanted->scope || now->m == wanted->m) {
    return;
  }
  Product product = describe(source, target);
  for (const MmaRow &row : target.mma) {
    std::string reason;
    bool matches = row.scope == wanted->scope && row.m == wanted->m &&
                   row.flopPerClock == now->flopPerClock &&
                   (allowed.empty() || llvm::is_contained(allowed, row.name));
    FailureOr<MmaSplit> split = failure();
    if (matches && succeeded(split = tryRow(product, row, reason))) {
      source.setInstruction(row.name);
      source.setGrid(ArrayRef<int64_t>{split->gridM, split->gridN});
      return;
    }
  }
}

/// An operand has one place, which all its products must be able to read.
static LogicalResult checkSharedOperands(MmaOp mma, const Target &target) {
  MmaScope scope = target.instruction(*mma.getInstruction())->scope;
  for (Value operand : {mma.getA(), mma.getB()}) {
    for (Operation *user : operand.getUsers()) {
      auto other = dyn_cast<MmaOp>(user);
      if (!other ||
          target.instruction(*other.getInstruction())->scope == scope) {
        continue;
      }
      InFlightDiagnostic error =
          mma.emitOpError("expected an instruction of as many waves as that of "
                          "the product which shares an operand, got '")
          << *mma.getInstruction() << "': take another tile";
      error.attachNote(other.getLoc())
          << "this one got '" << *other.getInstruction() << "'";
      return error;
    }
  }
  return success();
}

LogicalResult modelc::chooseInstructions(KernelOp kernel,
                                         const Target &target) {
  if (!llvm::isPowerOf2_64(kernel.getWaves())) {
    return kernel.emitOpError("expected a power of two as 'waves', got ")
           << kernel.getWaves();
  }
  SmallVector<StringRef> allowed = hints(kernel);
  SmallVector<MmaOp> open;
  kernel.walk([&](MmaOp mma) {
    if (!mma.getInstruction() || !mma.getGrid()) {
      open.push_back(mma);
    }
  });
  for (MmaOp mma : open) {
    if (failed(choose(mma, target, allowed))) {
      return failure();
    }
  }
  for (MmaOp mma : open) {
    matchSource(mma, target, allowed);
  }
  WalkResult result = kernel.walk(
      [&](MmaOp mma) { return WalkResult(checkSharedOperands(mma, target)); });
  return failure(result.wasInterrupted());
}

namespace modelc {
#define GEN_PASS_DEF_SCHEDULECHOOSEINSTRUCTION
#include "lib/SchedulePasses/Passes.h.inc"

namespace {
struct ChooseInstruction
    : impl::ScheduleChooseInstructionBase<ChooseInstruction> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(runOnKernels(getOperation(), targetsDir, overrides,
                            chooseInstructions))) {
      signalPassFailure();
    }
  }
};
} // namespace
} // namespace modelc
