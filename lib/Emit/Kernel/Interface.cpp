#include "lib/Emit/Kernel/Interface.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

//===----------------------------------------------------------------------===//
// Divisibility
//===----------------------------------------------------------------------===//

static constexpr int64_t kDivisorLimit = 1 << 20;

static int64_t powerIn(int64_t value) {
  return value == 0 ? kDivisorLimit
                    : std::min<int64_t>(value & -value, kDivisorLimit);
}

/// Of a size argument: the multiple that the guard promises.
static int64_t divisorOfArgument(BlockArgument argument) {
  if (auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp())) {
    int64_t multiple = 0;
    for (auto range : kernel.getGuard().getAsRange<RangeAttr>()) {
      if (range.getArgument() ==
          kernel.getArgumentName(argument.getArgNumber())) {
        multiple = std::gcd(multiple, range.getMultiple());
      }
    }
    return multiple ? powerIn(multiple) : 1;
  }
  auto loop = dyn_cast<LoopOp>(argument.getOwner()->getParentOp());
  if (!loop || argument.getArgNumber() >= loop.getUpperBounds().size()) {
    return 1;
  }
  unsigned i = argument.getArgNumber();
  int64_t step = loop.getSteps().empty() ? 1 : knownDivisor(loop.getSteps()[i]);
  return std::min(step, knownDivisor(loop.getLowerBounds()[i]));
}

int64_t modelc::knownDivisor(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    return powerIn(constant.getSExtValue());
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    return divisorOfArgument(argument);
  }
  Operation *op = value.getDefiningOp();
  auto operand = [&](unsigned i) { return knownDivisor(op->getOperand(i)); };
  if (isa<arith::MulIOp>(op)) {
    return std::min(operand(0) * operand(1), kDivisorLimit);
  }
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp,
          arith::RemSIOp, arith::RemUIOp>(op)) {
    return std::min(operand(0), operand(1));
  }
  if (isa<arith::SelectOp>(op)) {
    return std::min(operand(1), operand(2));
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp>(op)) {
    return operand(0);
  }
  return 1;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

template <typename Op>
static Access accessOf(Op op, Value buffer, Type tile) {
  Access access;
  access.op = op;
  access.buffer = buffer;
  access.offsets = op.getOffsets();
  access.valid = op.getValid();
  access.rows = op.getRows();
  access.pageTable = op.getPageTable();
  access.sequence = op.getSequence();
  access.pageSize = op.getPageSize().value_or(0);
  access.tile = dyn_cast<TileType>(tile);
  int64_t rank = cast<BufferType>(buffer.getType()).getRank();
  if (op.getDims()) {
    access.rowDimension = (*op.getDims())[0];
    access.columnDimension = (*op.getDims())[1];
  } else if (rank >= 2) {
    access.rowDimension = rank - 2;
    access.columnDimension = rank - 1;
  } else if (access.tile && access.tile.getColumns() == 1 &&
             access.tile.getRows() > 1) {
    access.rowDimension = 0;
  } else {
    access.columnDimension = 0;
  }
  return access;
}

Access Access::of(LoadOp op) {
  Access access = accessOf(op, op.getSource(), op.getResult().getType());
  access.peer = op.getPeer();
  return access;
}

Access Access::of(StoreOp op) {
  Access access = accessOf(op, op.getDestination(), op.getValue().getType());
  access.peer = op.getPeer();
  return access;
}

Access Access::of(CopyOp op) {
  return accessOf(op, op.getSource(), op.getDestination().getType());
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

/// Elements of one row of the box, and the swizzle of the rows, from where the
/// columns of the place lie: side by side up to the span of the swizzle.
static void boxShape(TileType place, BoxMap &map) {
  int64_t elementBytes = place.getElementBits() / 8;
  map.boxRows = place.getRows();
  map.boxColumns = place.getColumns();
  if (!place.getLayout()) {
    return;
  }
  const Layout &layout = place.getLayout().getLayout();
  int64_t columns = 1;
  for (const Layout::Image &image : layout.input("column").bits) {
    if (image[0] != columns * elementBytes) {
      break;
    }
    columns *= 2;
  }
  map.boxColumns = columns;
  const auto &rows = layout.input("row").bits;
  int64_t span = columns * elementBytes;
  // The first row that a swizzle moves: 128, 256 or 512 bytes behind the start.
  for (auto [bit, image] : llvm::enumerate(rows)) {
    if (image[0] != (span << bit)) {
      map.swizzleBytes = span;
      break;
    }
  }
}

static FailureOr<BoxMap> boxMapOf(CopyOp copy) {
  Access access = Access::of(copy);
  auto buffer = cast<BufferType>(access.buffer.getType());
  if (access.rows || access.pageTable) {
    return copy.emitOpError("expected straight rows in a box copy, got rows "
                            "that are gathered; copy without 'box'");
  }
  BoxMap map;
  map.argument = cast<BlockArgument>(access.buffer).getArgNumber();
  map.rowDimension = access.rowDimension;
  map.columnDimension = access.columnDimension;
  for (int64_t i = 0; i < buffer.getRank(); ++i) {
    if (i == map.rowDimension || i == map.columnDimension) {
      continue;
    }
    if (map.otherDimension >= 0) {
      return copy.emitOpError("expected a buffer of at most 3 dimensions in a "
                              "box copy, got ")
             << buffer;
    }
    map.otherDimension = i;
  }
  if (map.columnDimension != buffer.getRank() - 1) {
    return copy.emitOpError("expected columns along the last dimension in a "
                            "box copy");
  }
  auto place = cast<TileType>(copy.getDestination().getType());
  if (buffer.getPacked()) {
    // Blocks lie in the place as they do in the buffer.
    map.boxRows = place.getRows();
    map.boxColumns = place.getColumns();
  } else {
    boxShape(place, map);
  }
  if (copy.getMulticast()) {
    map.boxRows /= copy->getParentOfType<KernelOp>().getCluster().value_or(1);
  }
  if (!access.valid.empty()) {
    map.rowEnd = access.valid[0];
  }
  return map;
}

static bool sameMap(const BoxMap &a, const BoxMap &b) {
  return a.argument == b.argument && a.rowDimension == b.rowDimension &&
         a.columnDimension == b.columnDimension && a.boxRows == b.boxRows &&
         a.boxColumns == b.boxColumns && a.swizzleBytes == b.swizzleBytes &&
         a.rowEnd == b.rowEnd;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

namespace {
/// The buffers that the body of a kernel reaches by a pointer of its device.
struct PointedBuffers {
  llvm::SmallDenseSet<Value> places;

  void note(Value place, Value peer = {}) {
    if (place && isa<BufferType>(place.getType()) && !peer) {
      places.insert(place);
    }
  }

  void note(Operation *op) {
    TypeSwitch<Operation *>(op)
        .Case<LoadOp>([&](LoadOp load) {
          note(load.getSource(), load.getPeer());
          note(load.getPageTable());
        })
        .Case<StoreOp>([&](StoreOp store) {
          note(store.getDestination(), store.getPeer());
          note(store.getPageTable());
        })
        .Case<CopyOp>([&](CopyOp copy) {
          note(copy.getBox() ? Value() : copy.getSource());
          note(copy.getPageTable());
        })
        .Case<PrefetchOp>(
            [&](PrefetchOp prefetch) { note(prefetch.getSource()); })
        .Case<ArriveOp>([&](ArriveOp arrive) {
          note(arrive.getBarrier(), arrive.getPeer());
        })
        .Case<WaitOp>([&](WaitOp wait) { note(wait.getBarrier()); });
  }
};
} // namespace

static LogicalResult collectMaps(KernelOp kernel, KernelInterface &result) {
  WalkResult walk = kernel.walk([&](CopyOp copy) {
    if (!copy.getBox()) {
      return WalkResult::advance();
    }
    FailureOr<BoxMap> map = boxMapOf(copy);
    if (failed(map)) {
      return WalkResult::interrupt();
    }
    auto *known = llvm::find_if(
        result.maps, [&](const BoxMap &other) { return sameMap(*map, other); });
    result.mapOfCopy[copy] = known - result.maps.begin();
    if (known == result.maps.end()) {
      result.maps.push_back(*map);
    }
    return WalkResult::advance();
  });
  for (auto [i, map] : llvm::enumerate(result.maps)) {
    map.name = lowerCamel(kernel.getArgumentName(map.argument)) + "Map";
    if (llvm::any_of(ArrayRef(result.maps).take_front(i),
                     [&](const BoxMap &m) { return m.name == map.name; })) {
      map.name += std::to_string(i);
    }
  }
  return failure(walk.wasInterrupted());
}

std::string modelc::lowerCamel(StringRef wish) {
  std::string name;
  bool startsWord = false;
  for (char c : wish) {
    if (!llvm::isAlnum(c)) {
      startsWord = !name.empty();
      continue;
    }
    name += startsWord ? llvm::toUpper(c) : c;
    startsWord = false;
  }
  return name;
}

FailureOr<KernelInterface> KernelInterface::of(KernelOp kernel) {
  KernelInterface result;
  PointedBuffers pointed;
  kernel.walk([&](Operation *op) { pointed.note(op); });
  if (failed(collectMaps(kernel, result))) {
    return failure();
  }
  for (BlockArgument argument : kernel.getEntry().getArguments()) {
    unsigned index = argument.getArgNumber();
    std::string name = kernel.getArgumentName(index).str();
    if (!isa<BufferType>(argument.getType())) {
      result.parameters.push_back({Parameter::Kind::Size, index, name});
      continue;
    }
    BufferRole role = kernel.getRole(argument);
    if (pointed.places.contains(argument)) {
      result.parameters.push_back(
          {Parameter::Kind::Buffer, index, name, role.isWritten});
    }
    if (role.reachesPeers) {
      result.parameters.push_back({Parameter::Kind::Peers, index,
                                   lowerCamel(name) + "OfPeers",
                                   role.isWritten});
    }
  }
  for (auto [i, map] : llvm::enumerate(result.maps)) {
    result.parameters.push_back(
        {Parameter::Kind::Map, static_cast<unsigned>(i), map.name});
  }
  return result;
}
