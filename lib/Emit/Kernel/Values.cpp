//===- Values.cpp - Maps, products, reductions, other layouts -------------===//

#include "lib/Emit/Kernel/Printer.h"
#include "lib/Emit/Package/MachineCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

std::string KernelPrinter::declareTile(Value value, StringRef wish) {
  auto tile = cast<TileType>(value.getType());
  std::string name = nameOf(value, wish);
  line("Tile<" + elementName(tile.getElementType()) + ", " +
       layoutName(tile, wish) + "> " + name + ";");
  return name;
}

/// Whether a value ends at an op of its own block, with the type of a result:
/// its variable then becomes the result's. All other uses come earlier.
bool KernelPrinter::handsOn(Value from, Operation *user, Type to) {
  if (from.getParentBlock() != user->getBlock() || from.getType() != to ||
      !spelled.contains(from) || inPlace.contains(from)) {
    return false;
  }
  unsigned usesHere = 0;
  for (Operation *other : from.getUsers()) {
    Operation *at = user->getBlock()->findAncestorOpInBlock(*other);
    if (other == user) {
      ++usesHere;
    } else if (!at || !at->isBeforeInBlock(user)) {
      return false;
    }
  }
  return usesHere == 1;
}

static LogicalResult verifyFinal(Operation *op, Value value) {
  auto tile = cast<TileType>(value.getType());
  if (tile.getSpace() == Space::Register && tile.getLayout() &&
      !elementName(tile.getElementType()).empty()) {
    return success();
  }
  return op->emitOpError("expected a register tile with a layout and an "
                         "element type of the device, got ")
         << tile << "; run the passes to the final form first";
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

/// The result that takes over an input's variable: input index by result, or
/// -1.
static SmallVector<int>
reusedInputs(MapOp op, llvm::function_ref<bool(Value, Value)> handsOn) {
  SmallVector<int> reused(op.getNumResults(), -1);
  llvm::SmallDenseSet<unsigned> taken;
  for (auto [r, result] : llvm::enumerate(op.getResults())) {
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      if (reused[r] < 0 && !taken.contains(i) && handsOn(input, result)) {
        reused[r] = i;
        taken.insert(i);
      }
    }
  }
  return reused;
}

/// A result with a name of its own keeps a variable of its own, unless it goes
/// on as an accumulator: products in flight need that to stay where it is.
static bool mayReplace(Value result) {
  return !isa<NameLoc>(result.getLoc()) ||
         llvm::any_of(result.getUsers(), [&](Operation *user) {
           auto mma = dyn_cast<MmaOp>(user);
           return isa<YieldOp>(user) || (mma && mma.getAccumulator() == result);
         });
}

/// A tile of one constant.
static bool isConstantMap(MapOp op) {
  Block &body = op.getBody().front();
  return op.getNumResults() == 1 &&
         matchPattern(body.getTerminator()->getOperand(0), m_Constant());
}

std::string modelc::functionOf(Operation *op, StringRef name) {
  auto map = op->getParentOfType<MapOp>();
  if (!isa<math::Exp2Op>(op) || !map || !map.getFmaExponentials()) {
    return name.str();
  }
  return llvm::formatv("exp2Split<{0}, i.value>", *map.getFmaExponentials());
}

/// The region as a lambda over the registers of the results.
LogicalResult KernelPrinter::printMapBody(MapOp op,
                                          ArrayRef<std::string> inputs,
                                          ArrayRef<std::string> results,
                                          ArrayRef<int> reused) {
  Block &body = op.getBody().front();
  names.enterScope();
  BlockArgument row = body.getArgument(inputs.size()),
                column = body.getArgument(inputs.size() + 1);
  auto coordinate = [&](BlockArgument value, StringRef wish) {
    return value.use_empty() ? std::string("int")
                             : "int " + nameOf(value, wish);
  };
  std::string parameters = "auto i, " + coordinate(row, "rowInTile") + ", " +
                           coordinate(column, "columnInTile");
  std::string layout =
      layoutName(cast<TileType>(op.getResult(0).getType()), results[0]);
  open("forEach<" + layout + ">([&](" + parameters + ") INLINE {");
  for (auto [argument, input] : llvm::zip(body.getArguments(), inputs)) {
    spelled[argument] = input + "[i]";
  }
  for (Operation &inner : body.without_terminator()) {
    if (failed(printScalar(&inner))) {
      return failure();
    }
  }
  // A result may lie where an input of another result is still read.
  SmallVector<std::string> values;
  bool needsCopies =
      results.size() > 1 && llvm::any_of(reused, [](int i) { return i >= 0; });
  for (Value value : body.getTerminator()->getOperands()) {
    values.push_back(text(value));
    if (needsCopies) {
      std::string copy = names.fresh("y");
      line("const auto " + copy + " = " + values.back() + ";");
      values.back() = copy;
    }
  }
  for (auto [result, value] : llvm::zip_equal(results, values)) {
    line(result + "[i] = " + value + ";");
  }
  close("});");
  names.leaveScope();
  return success();
}

/// Whether a map hands on its one input, only to where maps compute.
static bool handsOnOnly(MapOp op) {
  Block &body = op.getBody().front();
  return op.getInputs().size() == 1 && op.getNumResults() == 1 &&
         body.getTerminator()->getOperand(0) == body.getArgument(0);
}

/// What rounds a whole tile, where a map does nothing but round f32 to numbers
/// of which a machine makes several at once; else empty.
static StringRef roundingOf(MapOp op) {
  Block &body = op.getBody().front();
  auto round = dyn_cast<arith::TruncFOp>(body.front());
  bool roundsOnly =
      round && op.getInputs().size() == 1 && op.getNumResults() == 1 &&
      round.getIn() == body.getArgument(0) && round.getIn().getType().isF32() &&
      body.getTerminator() == round->getNextNode() &&
      body.getTerminator()->getOperand(0) == round.getResult() &&
      cast<TileType>(op.getInputs()[0].getType()).getLayout() ==
          cast<TileType>(op.getResult(0).getType()).getLayout();
  if (!roundsOnly) {
    return "";
  }
  return round.getType().isBF16()                                     ? "toBf16"
         : isa<Float8E4M3FNType, Float8E4M3FNUZType>(round.getType()) ? "toF8"
                                                                      : "";
}

LogicalResult KernelPrinter::printMap(MapOp op) {
  for (Value result : op.getResults()) {
    if (failed(verifyFinal(op, result))) {
      return failure();
    }
    if (cast<TileType>(result.getType()).getLayout() !=
        cast<TileType>(op.getResult(0).getType()).getLayout()) {
      return op.emitOpError("expected results of one layout");
    }
  }
  if (op.getFmaExponentials() && !target.execution.addsRoundingDown) {
    return op.emitOpError("expected a target that adds rounding down beside "
                          "'fma_exponentials', or no such attribute");
  }
  Block &body = op.getBody().front();
  SmallVector<int> reused = reusedInputs(op, [&](Value input, Value result) {
    return mayReplace(result) && handsOn(input, op, result.getType());
  });
  SmallVector<std::string> inputs, results;
  for (Value input : op.getInputs()) {
    inputs.push_back(text(input));
  }
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    if (reused[i] >= 0) {
      spelled[result] = inputs[reused[i]];
      results.push_back(inputs[reused[i]]);
    } else {
      results.push_back(declareTile(result, wishFor(result)));
    }
  }
  if (handsOnOnly(op) && results[0] == inputs[0]) {
    return success();
  }
  if (isConstantMap(op)) {
    line("fill(" + results[0] + ", " +
         text(body.getTerminator()->getOperand(0)) + ");");
    return success();
  }
  if (StringRef rounding = roundingOf(op); !rounding.empty()) {
    line(rounding + "(" + results[0] + ", " + inputs[0] + ");");
    return success();
  }
  return printMapBody(op, inputs, results, reused);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Whether a product of one wave may read an operand from its place as it goes:
/// the load has no other use, and nothing in between orders or writes memory.
bool KernelPrinter::isReadByProduct(LoadOp load) {
  auto mma = load.getResult().hasOneUse()
                 ? dyn_cast<MmaOp>(*load.getResult().getUsers().begin())
                 : MmaOp();
  if (!mma || load.getToken() || mma->getBlock() != load->getBlock() ||
      mma.getAccumulator() == load.getResult() ||
      mma.getAScales() == load.getResult() ||
      mma.getBScales() == load.getResult() || !mma.getInstruction()) {
    return false;
  }
  const MmaRow *row = target.instruction(*mma.getInstruction());
  if (!row || row->scope != MmaScope::Wave) {
    return false;
  }
  for (Operation *op = load->getNextNode(); op != mma; op = op->getNextNode()) {
    if (!isa<LoadOp, MapOp, MmaOp>(op) &&
        !isa<arith::ArithDialect, math::MathDialect>(op->getDialect())) {
      return false;
    }
  }
  return true;
}

/// Reads of a wave since the last product.
static int64_t readsBefore(MmaOp op) {
  constexpr int64_t kReadBits = 128;
  int64_t reads = 0;
  for (Operation *before = op->getPrevNode(); before && !isa<MmaOp>(before);
       before = before->getPrevNode()) {
    if (auto load = dyn_cast<LoadOp>(before)) {
      auto tile = cast<TileType>(load.getResult().getType());
      int64_t registers = tile.getLayout().getLayout().inputSize("register");
      reads += llvm::divideCeil(registers * tile.getElementBits(), kReadBits);
    }
  }
  return reads;
}

/// Copies in front of a product go between its instructions: lanes wait where
/// they ask for more than their unit takes in. So do reads in a loop whose
/// waves read ahead.
void KernelPrinter::printInterleave(MmaOp op) {
  const MmaRow &row = *target.instruction(*op.getInstruction());
  if (row.scope != MmaScope::Wave ||
      target.copy.completion != Completion::Counted) {
    return;
  }
  int64_t lanes = kernel.getWaves() * target.execution.waveSize;
  auto loop = dyn_cast<LoopOp>(op->getParentOp());
  bool readsAhead = loop && loop.getStagger() == 1;
  int64_t reads = readsAhead ? readsBefore(op) : 0, copies = 0;
  for (Operation *asked : askedBefore(op)) {
    auto copy = dyn_cast<CopyOp>(asked);
    Type type =
        copy ? copy.getDestination().getType() : asked->getResult(0).getType();
    copies += llvm::divideCeil(cast<TileType>(type).getBytes(),
                               lanes * target.copy.bytesPerLane);
  }
  if (!readsAhead && copies == 0) {
    return;
  }
  line(llvm::formatv("interleave<{0}, {1}, {2}>();",
                     matrixInstructionsOf(op, target), reads, copies)
           .str());
}

LogicalResult KernelPrinter::printMma(MmaOp op) {
  if (!op.getInstruction()) {
    return op.emitOpError("expected an instruction of the target's [[mma]] "
                          "table; run the passes to the final form first");
  }
  if (!target.instruction(*op.getInstruction())) {
    return op.emitOpError("expected an instruction of target '")
           << target.identity.name << "', got '" << *op.getInstruction() << "'";
  }
  Type result = op.getResult().getType();
  if (isa<TileType>(result) && result != op.getAccumulator().getType()) {
    return op.emitOpError("expected a result of the accumulator's layout");
  }
  std::string accumulator = op.getAccumulator().getType().isPlace()
                                ? placeText(op.getAccumulator(), op.getCSlot())
                                : text(op.getAccumulator());
  if (isa<TileType>(op.getResult().getType())) {
    if (handsOn(op.getAccumulator(), op, op.getResult().getType())) {
      spelled[op.getResult()] = accumulator;
    } else {
      std::string copy = declareTile(op.getResult(), wishFor(op.getResult()));
      line(copy + " = " + accumulator + ";");
      accumulator = copy;
    }
  }
  auto operand = [&](Value value, Value slot) {
    return cast<TileType>(value.getType()).isPlace() ? placeText(value, slot)
                                                     : text(value);
  };
  std::string call = "mma" +
                     caller(op.getInstruction()->str() +
                            (op.getBTransposed() ? ", Transposed" : "")) +
                     "(" + accumulator + ", " +
                     operand(op.getA(), op.getASlot()) + ", " +
                     operand(op.getB(), op.getBSlot());
  if (op.getAScales()) {
    call += ", " + operand(op.getAScales(), {}) + ", " +
            operand(op.getBScales(), {});
  }
  if (op.getInit()) {
    call += ", " + text(op.getInit());
  }
  // The group that multiplies goes first; the other one only issues moves.
  if (isStaggered(op)) {
    line("priority<1>();");
  }
  line(call + ");");
  if (isStaggered(op)) {
    line("priority<0>();");
  }
  printInterleave(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions and layouts
//===----------------------------------------------------------------------===//

LogicalResult KernelPrinter::printReduce(ReduceOp op) {
  if (failed(verifyFinal(op, op.getResult()))) {
    return failure();
  }
  std::string result = declareTile(op.getResult(), wishFor(op.getResult()));
  StringRef combiner = op.getCombiner() == Combiner::Add   ? "Add"
                       : op.getCombiner() == Combiner::Max ? "Max"
                                                           : "Min";
  std::string call = ("reduce<" + combiner + ", ").str() +
                     std::to_string(op.getDimension()) + ">(" + result + ", " +
                     text(op.getValue());
  if (op.getScratch()) {
    call += ", " + placeText(op.getScratch(), {});
  }
  line(call + ");");
  return success();
}

LogicalResult KernelPrinter::printAny(AnyOp op) {
  std::string name = nameOf(op.getResult(), wishFor(op.getResult()));
  line("const bool " + name + " = isAny(" + text(op.getValue()) + ");");
  return success();
}

LogicalResult KernelPrinter::printRelayout(RelayoutOp op) {
  if (failed(verifyFinal(op, op.getResult()))) {
    return failure();
  }
  std::string result = declareTile(op.getResult(), wishFor(op.getResult()));
  std::string call = "relayout(" + result + ", " + text(op.getValue());
  if (op.getScratch()) {
    call += ", " + placeText(op.getScratch(), {});
  }
  line(call + ");");
  return success();
}
