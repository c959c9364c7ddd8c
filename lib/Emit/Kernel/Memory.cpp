//===- Memory.cpp - Loads, stores and copies ------------------------------===//

#include "lib/Emit/Kernel/Printer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// Whether lanes load an operand ahead, and the op in front does not.
static bool isFirstAhead(LoadOp op) {
  Operation *before = op->getPrevNode();
  while (isa_and_nonnull<arith::ArithDialect>(before ? before->getDialect()
                                                     : nullptr)) {
    before = before->getPrevNode();
  }
  auto load = dyn_cast_or_null<LoadOp>(before);
  return op.getAhead() && !(load && load.getAhead());
}

LogicalResult KernelPrinter::printLoad(LoadOp op) {
  auto tile = dyn_cast<TileType>(op.getResult().getType());
  if (!isa<BufferType>(op.getSource().getType())) {
    if (!tile || !tile.getLayout()) {
      return op.emitOpError("expected a register tile with a layout; run the "
                            "passes to the final form first");
    }
    auto place = cast<TileType>(op.getSource().getType());
    Value trip = op.getOffsets().empty() ? Value() : op.getOffsets()[0];
    std::string from = placeText(op.getSource(), trip);
    if (place.getSpace() == Space::Shared && isReadByProduct(op)) {
      inPlace.insert(op.getResult());
      spelled[op.getResult()] =
          "fragments<" + layoutName(tile, wishFor(op.getResult())) +
          (op.getTransposed() ? ", Transposed" : "") + ">(" + from + ")";
      return success();
    }
    std::string name = declareTile(op.getResult(), wishFor(op.getResult()));
    line((place.getSpace() == Space::Tensor ? "loadTensor"
          : op.getTransposed()              ? "loadShared<Transposed>"
                                            : "loadShared") +
         Twine("(") + name + ", " + from +
         (op.getOffsets().size() > 1 ? ", " + text(op.getOffsets()[1]) : "") +
         ");");
    if (op.getToken() && isStaggered(op)) {
      // Waits count reads in this order.
      line("scheduleFence();");
    }
    return success();
  }
  Access access = Access::of(op);
  if (failed(verifyExtents(access))) {
    return failure();
  }
  if (!tile) {
    std::string type = elementName(op.getResult().getType());
    std::string name = nameOf(op.getResult(), wishFor(op.getResult()));
    line("const " + type + " " + name + " = loadScalar(" + originText(access) +
         ");");
    return success();
  }
  if (!tile.getLayout()) {
    return op.emitOpError("expected a register tile with a layout; run the "
                          "passes to the final form first");
  }
  std::string name = declareTile(op.getResult(), wishFor(op.getResult()));
  std::string arguments = vectorText(access);
  if (op.getStream()) {
    arguments +=
        StringRef(arguments).contains("Row") ? "" : ", Dimension::Column";
    arguments += ", Reuse::Never";
  }
  if (isFirstAhead(op) && target.copy.completion == Completion::Counted) {
    // Waits count copies and loads in this order.
    line("scheduleFence();");
  }
  line("loadTile<" + arguments + ">(" + name + ", " + viewText(access) + ");");
  return success();
}

LogicalResult KernelPrinter::printStore(StoreOp op) {
  if (!isa<BufferType>(op.getDestination().getType())) {
    auto place = cast<TileType>(op.getDestination().getType());
    if (place.getSpace() == Space::Tensor) {
      line("storeTensor(" + text(op.getValue()) + ", " +
           placeText(op.getDestination(), {}) +
           (op.getOffsets().size() > 1 ? ", " + text(op.getOffsets()[1]) : "") +
           ");");
      return success();
    }
    Value trip = op.getOffsets().empty() ? Value() : op.getOffsets()[0];
    line((op.getTransposed() ? "storeShared<Transposed>(" : "storeShared(") +
         text(op.getValue()) + ", " + placeText(op.getDestination(), trip) +
         ");");
    bool isOperand =
        llvm::any_of(op.getDestination().getUsers(),
                     [](Operation *user) { return isa<MmaOp>(user); });
    if (isOperand) {
      line("publishShared();");
    }
    return success();
  }
  Access access = Access::of(op);
  if (failed(verifyExtents(access))) {
    return failure();
  }
  startNextKernel();
  if (!access.tile) {
    line((op.getAdd() ? "addScalar(" : "storeScalar(") + originText(access) +
         ", " + text(op.getValue()) + ");");
    return success();
  }
  std::string function =
      op.getAdd() ? "addTile" : "storeTile<" + vectorText(access) + ">";
  line(function + "(" + text(op.getValue()) + ", " + viewText(access) + ");");
  return success();
}

/// The coordinates of a box: columns, rows, then what is left.
static SmallVector<Value> boxCoordinates(const Access &access,
                                         const BoxMap &map) {
  SmallVector<Value> result = {access.offsets[map.columnDimension],
                               access.offsets[map.rowDimension]};
  if (map.otherDimension >= 0) {
    result.push_back(access.offsets[map.otherDimension]);
  }
  return result;
}

/// Words of scales on their way to tensor memory.
LogicalResult KernelPrinter::printCopyOfScales(CopyOp op) {
  auto from = cast<TileType>(op.getSource().getType());
  auto to = dyn_cast<TileType>(op.getDestination().getType());
  if (!to || to.getSpace() != Space::Tensor || !holdsScales(to)) {
    return op.emitOpError("expected a copy from a buffer, or one of scales to "
                          "tensor memory, got one from ")
           << from;
  }
  Value trip = op.getOffsets().empty() ? Value() : op.getOffsets()[0];
  std::string pair = op.getWorkgroups().value_or(1) > 1 ? "Pair" : "";
  line("copyScales" + caller(pair) + "(" + text(op.getDestination()) + ", " +
       placeText(op.getSource(), trip) + ");");
  return success();
}

LogicalResult KernelPrinter::printCopy(CopyOp op) {
  if (!isa<BufferType>(op.getSource().getType())) {
    return printCopyOfScales(op);
  }
  Access access = Access::of(op);
  Value trip = op.getSlot().empty() ? Value() : op.getSlot()[0];
  std::string place = placeText(op.getDestination(), trip);
  if (op.getBox()) {
    const BoxMap &map = interface.maps[interface.mapOfCopy.lookup(op)];
    std::string at;
    for (Value coordinate : boxCoordinates(access, map)) {
      at += ", " + text(coordinate);
    }
    auto buffer = cast<BufferType>(op.getSource().getType());
    std::string cluster = std::to_string(kernel.getCluster().value_or(1));
    line((buffer.getPacked()  ? "copyPackedBox" + caller()
          : op.getMulticast() ? "copyBoxToAll" + caller(cluster)
                              : "copyBox" + caller()) +
         "(" + place + ", " + map.name + at + ", " +
         placeText(op.getArrives(), trip) + ");");
    return success();
  }
  if (failed(verifyExtents(access))) {
    return failure();
  }
  auto type = cast<BufferType>(access.buffer.getType());
  int64_t bytes = vectorElements(access) * type.getElementBytes();
  if (access.columnDimension != type.getRank() - 1 ||
      bytes < target.copy.bytesPerLane) {
    return op.emitOpError("expected rows that start at multiples of ")
           << target.copy.bytesPerLane << " bytes in an asynchronous copy, got "
           << bytes << "; load and store through registers instead";
  }
  if (access.valid.size() > 1 &&
      knownDivisor(access.valid[1]) * type.getElementBytes() <
          target.copy.bytesPerLane) {
    return op.emitOpError("expected a limit of columns that is a multiple of ")
           << target.copy.bytesPerLane << " bytes in an asynchronous copy";
  }
  line("copyTile<" + Twine(wavesOf(op)) + ">(" + place + ", " +
       viewText(access) + ");");
  return success();
}
