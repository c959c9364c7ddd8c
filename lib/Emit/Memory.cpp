//===- Memory.cpp - Loads, stores and copies ------------------------------===//

#include "lib/Emit/Printer.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// Bytes of the widest access of one lane.
static constexpr int64_t kVectorBytes = 16;

static bool isZero(Value value) { return matchPattern(value, m_Zero()); }

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// The size argument that binds a `?`, or null.
static Value boundExtent(KernelOp kernel, Value buffer, int64_t dimension) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  if (!kernel.getExtents()) {
    return {};
  }
  ArrayAttr extents = *kernel.getExtents();
  for (Attribute attribute : extents) {
    auto triple = cast<DenseI64ArrayAttr>(attribute).asArrayRef();
    if (argument && triple[0] == argument.getArgNumber() &&
        triple[1] == dimension) {
      return kernel.getEntry().getArgument(triple[2]);
    }
  }
  return {};
}

std::string KernelPrinter::extent(Value buffer, int64_t dimension) {
  int64_t size = cast<BufferType>(buffer.getType()).getShape()[dimension];
  if (!ShapedType::isDynamic(size)) {
    return std::to_string(size);
  }
  Value bound = boundExtent(kernel, buffer, dimension);
  return bound ? text(bound, 14) : "";
}

std::string KernelPrinter::stride(Value buffer, int64_t dimension) {
  auto type = cast<BufferType>(buffer.getType());
  int64_t constant = 1;
  std::string factors;
  for (int64_t i = dimension + 1; i < type.getRank(); ++i) {
    if (ShapedType::isDynamic(type.getShape()[i])) {
      factors += (factors.empty() ? "" : " * ") + extent(buffer, i);
    } else {
      constant *= type.getShape()[i];
    }
  }
  if (factors.empty()) {
    return std::to_string(constant);
  }
  return constant == 1 ? factors : std::to_string(constant) + " * " + factors;
}

/// A buffer, or that of a peer.
std::string KernelPrinter::bufferText(Value buffer, Value peer) {
  if (!peer) {
    return text(buffer);
  }
  unsigned index = cast<BlockArgument>(buffer).getArgNumber();
  return lowerCamel(kernel.getArgumentName(index)) + "OfPeers[" + text(peer) +
         "]";
}

std::string KernelPrinter::originText(const Access &access) {
  std::string base = bufferText(access.buffer, access.peer);
  std::string indices;
  for (auto [i, offset] : llvm::enumerate(access.offsets)) {
    bool isPaged =
        access.pageTable && static_cast<int64_t>(i) == access.rowDimension;
    std::string index = isPaged ? "0" : text(offset);
    if (indices.empty()) {
      indices = isPaged || isZero(offset) ? "" : index;
    } else {
      indices += ", " + extent(access.buffer, i) + ", " + index;
    }
  }
  return indices.empty() ? base : base + " + offset(" + indices + ")";
}

/// The limit of rows (0) or columns (1), counted from the tile's first.
std::string KernelPrinter::limitText(const Access &access, unsigned which) {
  int64_t dimension = which == 0 ? access.rowDimension : access.columnDimension;
  // A buffer of one dimension has one coordinate and one limit.
  if (dimension < 0) {
    return "";
  }
  Value limit = access.valid[access.rowDimension < 0 ? 0 : which];
  Value offset = access.offsets[dimension];
  bool isAbsolute = which == 0 && access.rows;
  if (isAbsolute || isZero(offset)) {
    return text(limit);
  }
  return text(limit, 12) + " - " + text(offset, 13);
}

/// What is known to divide the limit of columns, up to a vector.
int64_t KernelPrinter::limitDivisor(const Access &access) {
  Value limit = access.valid[access.rowDimension < 0 ? 0 : 1];
  int64_t divisor =
      std::min(knownDivisor(limit),
               knownDivisor(access.offsets[access.columnDimension]));
  return std::min(divisor, kVectorBytes);
}

/// Whether one page holds all rows of a tile.
bool KernelPrinter::isInPage(const Access &access) {
  int64_t rows = access.tile ? access.tile.getRows() : 0;
  return rows > 0 && access.pageSize % rows == 0 &&
         knownDivisor(access.offsets[access.rowDimension]) % rows == 0;
}

/// The pages of a sequence, their size and the first row of a tile.
std::string KernelPrinter::pageText(const Access &access) {
  std::string table = text(access.pageTable);
  if (!isZero(access.sequence)) {
    table += " + offset(" + text(access.sequence) +
             (cast<BufferType>(access.pageTable.getType()).getRank() > 1
                  ? ", " + extent(access.pageTable, 1) + ", 0)"
                  : ")");
  }
  return table + ", " + std::to_string(access.pageSize) + ", " +
         text(access.offsets[access.rowDimension]);
}

std::string KernelPrinter::viewText(const Access &access) {
  std::string rowStride = access.rowDimension < 0
                              ? "0"
                              : stride(access.buffer, access.rowDimension);
  std::string view = "view(" + originText(access) + ", " + rowStride;
  if (access.columnDimension < 0) {
    view += ", 0";
  } else if (std::string columns =
                 stride(access.buffer, access.columnDimension);
             columns != "1") {
    view += ", " + columns;
  }
  view += ")";
  if (access.rows) {
    view += ".gather(" + text(access.rows) + ")";
  }
  if (access.pageTable && !isInPage(access)) {
    view += ".paged(" + pageText(access) + ")";
  }
  bool oneDimension = access.rowDimension < 0;
  if (!access.valid.empty() && !oneDimension) {
    view += ".limitRows(" + limitText(access, 0) + ")";
  }
  if (access.valid.size() > 1 || (oneDimension && !access.valid.empty())) {
    int64_t multiple = limitDivisor(access);
    view += ".limitColumns(" + limitText(access, 1) +
            (multiple > 1 ? ", multipleOf<" + std::to_string(multiple) + ">)"
                          : ")");
  }
  if (access.pageTable && isInPage(access)) {
    view += ".inPage(" + pageText(access) + ")";
  }
  return view;
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

/// Neighbouring elements that are known to start at a multiple of their bytes:
/// what divides the offset along the fastest dimension and all other strides.
int64_t KernelPrinter::vectorElements(const Access &access) {
  auto type = cast<BufferType>(access.buffer.getType());
  int64_t last = type.getRank() - 1;
  int64_t elements =
      std::max<int64_t>(1, kVectorBytes / type.getElementBytes());
  if (last != access.rowDimension && last != access.columnDimension) {
    return 1;
  }
  elements = std::min(elements, knownDivisor(access.offsets[last]));
  if (access.rows && last == access.rowDimension) {
    return 1;
  }
  if (last > 0) {
    int64_t size = type.getShape()[last];
    Value bound = boundExtent(kernel, access.buffer, last);
    int64_t divisor = ShapedType::isDynamic(size)
                          ? (bound ? knownDivisor(bound) : 1)
                          : size & -size;
    elements = std::min(elements, divisor);
  }
  return elements;
}

/// The template arguments of a tile access.
std::string KernelPrinter::vectorText(const Access &access) {
  int64_t last = cast<BufferType>(access.buffer.getType()).getRank() - 1;
  std::string text = std::to_string(vectorElements(access));
  if (last == access.rowDimension && last != access.columnDimension) {
    text += ", Dimension::Row";
  }
  return text;
}

/// Every extent in an address is known.
static LogicalResult verifyExtents(KernelOp kernel, const Access &access) {
  auto type = cast<BufferType>(access.buffer.getType());
  for (int64_t i = 1; i < type.getRank(); ++i) {
    if (ShapedType::isDynamic(type.getShape()[i]) &&
        !boundExtent(kernel, access.buffer, i)) {
      return access.op->emitOpError("expected 'extents' of the kernel to bind "
                                    "dimension ")
             << i << " of " << type;
    }
  }
  if (type.getPacked()) {
    return access.op->emitOpError("expected a row-major buffer, got ") << type;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

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
  if (failed(verifyExtents(kernel, access))) {
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
  if (failed(verifyExtents(kernel, access))) {
    return failure();
  }
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
  if (failed(verifyExtents(kernel, access))) {
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
  line("copyTile<" + Twine(kernel.getWaves()) + ">(" + place + ", " +
       viewText(access) + ");");
  return success();
}
