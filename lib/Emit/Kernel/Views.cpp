//===- Views.cpp - Where accesses lie in global memory --------------------===//

#include "lib/Emit/Kernel/Printer.h"

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

std::string KernelPrinter::extent(Value buffer, int64_t dimension) {
  int64_t size = cast<BufferType>(buffer.getType()).getShape()[dimension];
  if (!ShapedType::isDynamic(size)) {
    return std::to_string(size);
  }
  Value bound = kernel.getExtent(buffer, dimension);
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

/// Whether the rows that a copy asks for fill pages.
bool KernelPrinter::fillsPages(const Access &access) {
  return isa<CopyOp>(access.op) &&
         access.tile.getRows() % access.pageSize == 0 &&
         knownDivisor(access.offsets[access.rowDimension]) % access.pageSize ==
             0;
}

/// Where the page table of a sequence begins.
std::string KernelPrinter::tableText(const Access &access) {
  std::string table = text(access.pageTable);
  if (!isZero(access.sequence)) {
    table += " + offset(" + text(access.sequence) +
             (cast<BufferType>(access.pageTable.getType()).getRank() > 1
                  ? ", " + extent(access.pageTable, 1) + ", 0)"
                  : ")");
  }
  return table;
}

/// The pages of a sequence, their size and the first row of a tile.
std::string KernelPrinter::pageText(const Access &access) {
  return tableText(access) + ", " + std::to_string(access.pageSize) + ", " +
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
    view += fillsPages(access)
                ? ".wholePages<" + std::to_string(access.pageSize) + ">(" +
                      tableText(access) + ", " +
                      text(access.offsets[access.rowDimension]) + ")"
                : ".paged(" + pageText(access) + ")";
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
    Value bound = kernel.getExtent(access.buffer, last);
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
LogicalResult KernelPrinter::verifyExtents(const Access &access) {
  auto type = cast<BufferType>(access.buffer.getType());
  for (int64_t i = 1; i < type.getRank(); ++i) {
    if (ShapedType::isDynamic(type.getShape()[i]) &&
        !kernel.getExtent(access.buffer, i)) {
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
