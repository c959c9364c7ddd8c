#include "dialects/Schedule/Schedule.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

//===----------------------------------------------------------------------===//
// Memory ops
//===----------------------------------------------------------------------===//

/// A ring takes its logical trip; loads and stores of tensor memory also their
/// first column.
template <typename Op>
static bool takesColumn(Op op, Type place) {
  auto tile = dyn_cast<TileType>(place);
  return tile && tile.getSpace() == Space::Tensor && !isa<CopyOp>(op) &&
         op.getOffsets().size() == 2;
}

/// The dimensions of the buffer that rows and columns of a tile walk.
template <typename Op>
static LogicalResult verifyDims(Op op, Type placeType) {
  std::optional<ArrayRef<int64_t>> dims = op.getDims();
  if (!dims) {
    return success();
  }
  if (dims->size() != 2) {
    return op.emitOpError("expected two dimensions in 'dims', those that rows "
                          "and columns walk");
  }
  auto buffer = dyn_cast<BufferType>(placeType);
  int64_t rank = buffer ? buffer.getRank() : 0;
  for (int64_t dim : *dims) {
    if (dim < 0 || dim >= rank) {
      return op.emitOpError("expected dimensions of the buffer in 'dims', 0 "
                            "to ")
             << rank - 1 << ", got " << dim;
    }
  }
  return success();
}

template <typename Op>
static LogicalResult verifyAddress(Op op, Type placeType, Type valueType) {
  if (auto buffer = dyn_cast<BufferType>(placeType)) {
    if (static_cast<int64_t>(op.getOffsets().size()) != buffer.getRank()) {
      return op.emitOpError("expected one offset for each of the ")
             << buffer.getRank() << " dimensions of the buffer, got "
             << op.getOffsets().size();
    }
  } else if (op.getOffsets().size() > 1 && !takesColumn(op, placeType)) {
    return op.emitOpError("expected at most one offset, the logical trip of a "
                          "ring, got ")
           << op.getOffsets().size();
  }
  if (op.getPageTable() && !op.getPageSize()) {
    return op.emitOpError("expected 'page_size' beside 'pages'");
  }
  if (op.getPageSize().value_or(1) < 1) {
    return op.emitOpError("expected a row or more as 'page_size', got ")
           << *op.getPageSize();
  }
  if (op.getValid().size() > 2) {
    return op.emitOpError("expected limits for rows and columns at most");
  }
  auto tile = dyn_cast<TileType>(valueType);
  if (failed(verifyDims(op, placeType))) {
    return failure();
  }
  if (tile && isa<TileType>(placeType)) {
    auto place = cast<TileType>(placeType);
    if (place.isPlace() && tile.getElementBits() != place.getElementBits()) {
      return op.emitOpError("expected equal element widths, got ")
             << tile << " and " << place;
    }
  }
  return success();
}

LogicalResult LoadOp::verify() {
  if (failed(
          verifyAddress(*this, getSource().getType(), getResult().getType()))) {
    return failure();
  }
  auto place = dyn_cast<TileType>(getSource().getType());
  auto tile = dyn_cast<TileType>(getResult().getType());
  if (std::optional<int64_t> ahead = getAhead();
      ahead && (*ahead < 1 || place || !tile)) {
    return emitOpError("expected a trip or more as 'ahead', of a tile of a "
                       "buffer, got ")
           << *ahead << " of " << getResult().getType() << " from "
           << getSource().getType();
  }
  if (tile && getExpect()) {
    return emitOpError("expected a scalar beside 'expect', got ") << tile;
  }
  if (getDistinct() && (tile || place)) {
    return emitOpError("expected a scalar of a buffer beside 'distinct', got ")
           << getResult().getType() << " from " << getSource().getType();
  }
  if (place && tile) {
    int64_t rows = getTransposed() ? tile.getColumns() : tile.getRows();
    int64_t columns = getTransposed() ? tile.getRows() : tile.getColumns();
    bool isPart = getOffsets().size() == 2 && columns < place.getColumns();
    if (rows != place.getRows() || (columns != place.getColumns() && !isPart)) {
      return emitOpError("expected a value of the extents of the place, got ")
             << tile << " of " << place;
    }
  }
  return success();
}

LogicalResult StoreOp::verify() {
  return verifyAddress(*this, getDestination().getType(), getValue().getType());
}

/// Workgroups that do something together belong to one cluster.
static LogicalResult verifyTogether(Operation *op, int64_t together) {
  auto kernel = op->getParentOfType<KernelOp>();
  int64_t cluster = kernel ? kernel.getCluster().value_or(1) : 1;
  if (cluster % together == 0) {
    return success();
  }
  return op->emitOpError("expected workgroups of one cluster together, got ")
         << together << " of a cluster of " << cluster;
}

LogicalResult CopyOp::verify() {
  auto place = dyn_cast<TileType>(getDestination().getType());
  if (place && !place.isPlace()) {
    return emitOpError("expected a shared or tensor tile as destination, got ")
           << place;
  }
  if (getBox() && !getArrives() && isa<BufferType>(getSource().getType())) {
    return emitOpError("expected the barrier that a box copy signals");
  }
  if (getWorkgroups() && (!place || place.getSpace() != Space::Tensor)) {
    return emitOpError("expected workgroups that copy together to tensor "
                       "memory, got a copy to ")
           << getDestination().getType();
  }
  return failure(failed(verifyTogether(*this, getWorkgroups().value_or(1))) ||
                 failed(verifyAddress(*this, getSource().getType(),
                                      getDestination().getType())));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Words of scales along K, a column for each row of the operand.
static LogicalResult verifyScales(MmaOp mma, StringRef name, TileType scales,
                                  int64_t rows) {
  bool isWord = packedNumbers(scales.getElementType()) == kScalesPerWord;
  if (isWord && scales.getColumns() == rows) {
    return success();
  }
  return mma.emitOpError("expected the scales of ")
         << name << " in words of " << kScalesPerWord
         << ", a column for each of its " << rows << " rows, got " << scales;
}

LogicalResult MmaOp::verify() {
  TileType c = getAccumulator().getType(), a = getA().getType(),
           b = getB().getType();
  int64_t n = (getBTransposed() ? b.getColumns() : b.getRows()) *
              static_cast<int64_t>(getWorkgroups().value_or(1));
  int64_t k = (getBTransposed() ? b.getRows() : b.getColumns()) *
              packedNumbers(b.getElementType());
  int64_t kOfA = a.getColumns() * packedNumbers(a.getElementType());
  if (a.getRows() != c.getRows() || n != c.getColumns() || kOfA != k) {
    return emitOpError("inner sizes differ: expected M x K, N x K and M x N, "
                       "got a = ")
           << a.getRows() << "x" << kOfA << ", b = " << n << "x" << k
           << ", accumulator = " << c.getRows() << "x" << c.getColumns();
  }
  if (failed(verifyTogether(*this, getWorkgroups().value_or(1)))) {
    return failure();
  }
  auto result = dyn_cast<TileType>(getResult().getType());
  if (result && result != c) {
    return emitOpError("expected a result of the accumulator's type, got ")
           << result << " for " << c;
  }
  if (!getAScales()) {
    return success();
  }
  if (getAScales().getType().getRows() != getBScales().getType().getRows()) {
    return emitOpError("expected as many words of scales of a as of b, got ")
           << getAScales().getType() << " and " << getBScales().getType();
  }
  return failure(
      failed(verifyScales(*this, "a", getAScales().getType(), c.getRows())) ||
      failed(verifyScales(*this, "b", getBScales().getType(), c.getColumns())));
}

/// The share of `fma_exponentials`, of what has it and fits into it.
static LogicalResult verifyFmaExponentials(MapOp op) {
  int64_t share = *op.getFmaExponentials();
  if (share < 1 || share > kExponentialsShared) {
    return op.emitOpError("expected 'fma_exponentials' from 1 to ")
           << kExponentialsShared << ", got " << share;
  }
  auto powers = op.getBody().front().getOps<math::Exp2Op>();
  if (powers.empty()) {
    return op.emitOpError("expected a 'math.exp2' beside 'fma_exponentials'");
  }
  for (math::Exp2Op power : powers) {
    if (!power.getType().isF32()) {
      return op.emitOpError("expected 'math.exp2' of f32 beside "
                            "'fma_exponentials', got ")
             << power.getType();
    }
  }
  auto tile = cast<TileType>(op.getResult(0).getType());
  int64_t held =
      tile.getLayout() ? tile.getLayout().getLayout().inputSize("register") : 0;
  if (held % kExponentialsShared) {
    return op.emitOpError("expected a multiple of ")
           << kExponentialsShared
           << " elements in a lane beside 'fma_exponentials', got " << held;
  }
  return success();
}

LogicalResult MapOp::verify() {
  if (getResults().empty()) {
    return emitOpError("expected at least one result");
  }
  auto shape = cast<TileType>(getResult(0).getType()).getShape();
  for (Type type : getResultTypes()) {
    if (cast<TileType>(type).getShape() != shape) {
      return emitOpError("expected results of one shape");
    }
  }
  for (Value input : getInputs()) {
    for (auto [size, own] :
         llvm::zip_equal(cast<TileType>(input.getType()).getShape(), shape)) {
      if (size != own && size != 1) {
        return emitOpError("expected inputs of the result's extents or 1, got ")
               << input.getType();
      }
    }
  }
  Block &body = getBody().front();
  if (body.getNumArguments() != getInputs().size() + 2) {
    return emitOpError("expected a scalar for each input, then row and column");
  }
  for (auto [input, argument] : llvm::zip(getInputs(), body.getArguments())) {
    if (cast<TileType>(input.getType()).getElementType() !=
        argument.getType()) {
      return emitOpError("expected a scalar of the input's element type, got ")
             << argument.getType() << " for " << input.getType();
    }
  }
  Operation *yield = body.getTerminator();
  if (yield->getNumOperands() != getNumResults()) {
    return emitOpError("expected one yielded scalar for each of the ")
           << getNumResults() << " results, got " << yield->getNumOperands();
  }
  for (auto [value, type] : llvm::zip(yield->getOperands(), getResultTypes())) {
    if (value.getType() != cast<TileType>(type).getElementType()) {
      return emitOpError("expected to yield ")
             << cast<TileType>(type).getElementType() << ", got "
             << value.getType();
    }
  }
  return getFmaExponentials() ? verifyFmaExponentials(*this) : success();
}

LogicalResult ReduceOp::verify() {
  int64_t dimension = getDimension();
  if (dimension != 0 && dimension != 1) {
    return emitOpError("expected dimension 0 or 1, got ") << dimension;
  }
  TileType value = getValue().getType(), result = getResult().getType();
  if (result.getShape()[dimension] != 1 ||
      result.getShape()[1 - dimension] != value.getShape()[1 - dimension]) {
    return emitOpError("expected extent 1 along the reduced dimension, got ")
           << result;
  }
  return success();
}

LogicalResult RelayoutOp::verify() {
  TileType from = getValue().getType(), to = getResult().getType();
  if (from.getShape() != to.getShape() ||
      from.getElementType() != to.getElementType()) {
    return emitOpError("expected the same elements, got ")
           << from << " and " << to;
  }
  if (from == to) {
    return emitOpError("expected another layout; this one changes nothing");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// A barrier takes its logical trip, a flag its coordinates and the value.
template <typename Op>
static LogicalResult verifySignal(Op op, Type place) {
  size_t expected = 1;
  if (auto flags = dyn_cast_or_null<BufferType>(place)) {
    if (!flags.getElementType().isInteger(32)) {
      return op.emitOpError("expected flags of i32, got ") << flags;
    }
    expected = flags.getRank() + 1;
  }
  if (place && op.getTrip().size() != expected) {
    return op.emitOpError("expected one trip of a barrier, or coordinates and "
                          "value of a flag (")
           << expected << "), got " << op.getTrip().size();
  }
  return success();
}

/// Flags that lanes of one wave can have one each, of any machine.
static constexpr size_t kMostFlags = 32;

/// Whether the op is a flag like the one given, of the same buffer and value.
template <typename Op>
static bool isFlagAs(Op op, Operation *other) {
  auto flag = dyn_cast_or_null<Op>(other);
  return flag && flag.getBarrier() == op.getBarrier() &&
         flag.getTrip().back() == op.getTrip().back();
}

template <typename Op>
static SmallVector<Operation *> flagsFrom(Op op) {
  SmallVector<Operation *> flags;
  if (!op.getBarrier() || !isa<BufferType>(op.getBarrier().getType())) {
    return flags;
  }
  size_t before = 0;
  for (Operation *other = op->getPrevNode(); isFlagAs(op, other);
       other = other->getPrevNode()) {
    ++before;
  }
  if (before % kMostFlags != 0) {
    return flags;
  }
  for (Operation *other = op; isFlagAs(op, other) && flags.size() < kMostFlags;
       other = other->getNextNode()) {
    flags.push_back(other);
  }
  return flags;
}

SmallVector<Operation *> WaitOp::getFlags() { return flagsFrom(*this); }
SmallVector<Operation *> ArriveOp::getFlags() { return flagsFrom(*this); }

LogicalResult WaitOp::verify() {
  return verifySignal(*this, getBarrier() ? getBarrier().getType() : Type());
}

LogicalResult ArriveOp::verify() {
  return verifySignal(*this, getBarrier().getType());
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

/// "x = %0, m = %tokens": values by the names of a kernel's arguments.
static ParseResult
parseNamedArguments(OpAsmParser &parser,
                    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &values,
                    ArrayAttr &names) {
  SmallVector<Attribute> list;
  std::string name;
  bool isNext = succeeded(parser.parseOptionalKeywordOrString(&name));
  while (isNext) {
    list.push_back(parser.getBuilder().getStringAttr(name));
    if (parser.parseEqual() || parser.parseOperand(values.emplace_back())) {
      return failure();
    }
    isNext = succeeded(parser.parseOptionalComma());
    if (isNext && parser.parseKeywordOrString(&name)) {
      return failure();
    }
  }
  names = parser.getBuilder().getArrayAttr(list);
  return success();
}

static void printNamedArguments(OpAsmPrinter &printer, LaunchOp launch,
                                OperandRange, ArrayAttr) {
  llvm::interleaveComma(launch.getNamedArguments(), printer, [&](auto named) {
    printer.printKeywordOrString(named.first);
    printer << " = " << named.second;
  });
}

#define GET_OP_CLASSES
#include "dialects/Schedule/ScheduleOps.cpp.inc"
