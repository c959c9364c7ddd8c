#include "dialects/Schedule/Schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

#include "dialects/Schedule/WorkOpInterface.cpp.inc"

using WorkList = SmallVector<Work>;

static Space spaceOf(Type type) {
  if (isa<BufferType>(type)) {
    return Space::Global;
  }
  auto tile = dyn_cast<TileType>(type);
  // A value that has no place yet will be one of registers.
  return tile && tile.getSpace() != Space::None ? tile.getSpace()
                                                : Space::Register;
}

static double bytesOf(Type type) {
  auto tile = dyn_cast<TileType>(type);
  return tile ? tile.getBytes()
              : (type.isIndex() ? 4 : type.getIntOrFloatBitWidth() / 8.0);
}

/// How often each element of a register value is held by the workgroup: lanes
/// and waves that replicate it read it each.
static double replication(Type type) {
  auto tile = dyn_cast<TileType>(type);
  if (!tile || !tile.getLayout() || tile.getSpace() != Space::Register) {
    return 1;
  }
  const Layout &layout = tile.getLayout().getLayout();
  double held = 1;
  for (const Layout::Input &input : layout.inputs()) {
    held *= input.size();
  }
  return held / tile.getNumElements();
}

static WorkList move(Type from, Type to, Type valueType) {
  Work work;
  work.kind = Work::Kind::Move;
  work.from = spaceOf(from);
  work.to = spaceOf(to);
  work.amount = bytesOf(valueType);
  // Shared memory serves every reader; global reads of one line are merged
  // within a wave and served by the first-level cache across waves.
  if (work.from == Space::Shared || work.to == Space::Shared) {
    work.amount *= replication(valueType);
  }
  return {work};
}

WorkList LoadOp::getWork() {
  Type value = getResult().getType();
  return move(getSource().getType(), value, value);
}

WorkList StoreOp::getWork() {
  Type value = getValue().getType();
  return move(value, getDestination().getType(), value);
}

WorkList CopyOp::getWork() {
  Type source = getSource().getType(), destination = getDestination().getType();
  Type tile = isa<TileType>(destination) ? destination : source;
  return move(source, destination, tile);
}

WorkList MmaOp::getWork() {
  TileType c = getAccumulator().getType(), a = getA().getType(),
           b = getB().getType();
  Work work;
  work.kind = Work::Kind::Matrix;
  Type ofA = a.getElementType(), ofB = b.getElementType();
  work.amount = 2.0 * c.getNumElements() * a.getColumns() * packedNumbers(ofA);
  bool aIsWider = a.getElementBits() * packedNumbers(ofB) >=
                  b.getElementBits() * packedNumbers(ofA);
  work.element = numberType(aIsWider ? ofA : ofB);
  work.unit = getInstruction().value_or("");
  WorkList list = {work};
  for (TileType operand : {a, b}) {
    if (operand.getSpace() == Space::Shared) {
      Work read;
      read.kind = Work::Kind::Move;
      read.from = Space::Shared;
      read.to = Space::None; // straight into the matrix unit
      read.amount = operand.getBytes();
      list.push_back(read);
    }
  }
  return list;
}

/// The unit that executes a scalar op of a map region.
static StringRef unitOf(Operation &op) {
  if (isa<math::Exp2Op, math::ExpOp, math::LogOp, math::Log2Op, math::RsqrtOp,
          math::SqrtOp, math::SinOp, math::CosOp, math::TanhOp, arith::DivFOp>(
          op)) {
    return "exp2";
  }
  if (isa<arith::TruncFOp, arith::ExtFOp, arith::SIToFPOp, arith::FPToSIOp,
          arith::UIToFPOp>(op)) {
    return "convert";
  }
  if (isa<arith::ConstantOp, arith::BitcastOp, arith::IndexCastOp, YieldOp>(
          op) ||
      op.getDialect()->getNamespace() == "vector") {
    return "";
  }
  bool isFloat = llvm::any_of(op.getOperandTypes(),
                              [](Type type) { return isa<FloatType>(type); });
  return isFloat ? "fma" : "integer";
}

/// Instructions of the vector units for one exponential: two of the clamped
/// argument and its floor, two of the fraction, three of the polynomial, two of
/// the power of two, the product.
static constexpr double kFmaExponential = 10;

/// Adds so many operations of a unit.
static void addVector(WorkList &list, StringRef unit, double amount) {
  auto *same =
      llvm::find_if(list, [&](const Work &work) { return work.unit == unit; });
  if (same == list.end()) {
    Work work;
    work.kind = Work::Kind::Vector;
    work.unit = unit;
    list.push_back(work);
    same = &list.back();
  }
  same->amount += amount;
}

WorkList MapOp::getWork() {
  auto tile = cast<TileType>(getResult(0).getType());
  double elements = tile.getNumElements() * replication(tile);
  double share = double(getFmaExponentials().value_or(0)) / kExponentialsShared;
  WorkList list;
  for (Operation &op : getBody().front()) {
    StringRef unit = unitOf(op);
    if (unit.empty()) {
      continue;
    }
    bool isSplit = share > 0 && isa<math::Exp2Op>(op);
    addVector(list, unit, isSplit ? (1 - share) * elements : elements);
    if (isSplit) {
      addVector(list, "fma", share * kFmaExponential * elements);
    }
  }
  return list;
}

WorkList ReduceOp::getWork() {
  TileType value = getValue().getType(), result = getResult().getType();
  Work combine;
  combine.kind = Work::Kind::Vector;
  combine.unit = "fma";
  combine.amount = value.getNumElements() * replication(value);
  WorkList list = {combine};
  if (!value.getLayout()) {
    return list;
  }
  StringRef dimension = getDimension() == 0 ? "row" : "column";
  const Layout &layout = value.getLayout().getLayout();
  unsigned index = layout.outputIndex(dimension);
  auto steps = [&](StringRef input) {
    return llvm::count_if(
        layout.input(input).bits,
        [&](const Layout::Image &image) { return image[index] != 0; });
  };
  double held = result.getBytes() * replication(result);
  if (unsigned lanes = steps("lane")) {
    Work exchange;
    exchange.kind = Work::Kind::Exchange;
    exchange.amount = lanes * held;
    list.push_back(exchange);
  }
  if (steps("wave")) {
    for (bool write : {true, false}) {
      Work shared;
      shared.kind = Work::Kind::Move;
      shared.from = write ? Space::Register : Space::Shared;
      shared.to = write ? Space::Shared : Space::Register;
      shared.amount = held;
      list.push_back(shared);
    }
    Work sync;
    sync.kind = Work::Kind::Sync;
    sync.amount = 2;
    list.push_back(sync);
  }
  return list;
}

WorkList AnyOp::getWork() {
  TileType value = getValue().getType();
  Work combine;
  combine.kind = Work::Kind::Vector;
  combine.unit = "integer";
  combine.amount = value.getNumElements() * replication(value);
  return {combine};
}

WorkList RelayoutOp::getWork() {
  Work exchange;
  exchange.kind = Work::Kind::Exchange;
  exchange.amount = getValue().getType().getBytes();
  if (!getScratch()) {
    return {};
  }
  WorkList list;
  for (bool write : {true, false}) {
    Work shared;
    shared.kind = Work::Kind::Move;
    shared.from = write ? Space::Register : Space::Shared;
    shared.to = write ? Space::Shared : Space::Register;
    TileType type = write ? getValue().getType() : getResult().getType();
    shared.amount = type.getBytes() * replication(type);
    list.push_back(shared);
  }
  Work sync;
  sync.kind = Work::Kind::Sync;
  sync.amount = 2;
  list.push_back(sync);
  return list;
}

static WorkList one(Work::Kind kind, Scope scope = Scope::Workgroup) {
  Work work;
  work.kind = kind;
  work.amount = 1;
  work.scope = scope;
  return {work};
}

/// Flags that are raised or awaited together are one rendezvous.
static WorkList withRendezvous(WorkList work, bool isFlag) {
  WorkList list = isFlag ? one(Work::Kind::Sync) : WorkList();
  list.append(work);
  return list;
}

WorkList WaitOp::getWork() {
  return withRendezvous(one(Work::Kind::Wait), !getFlags().empty());
}

WorkList ArriveOp::getWork() {
  return withRendezvous(one(Work::Kind::Message, getScope()),
                        !getFlags().empty());
}

WorkList SyncOp::getWork() { return one(Work::Kind::Sync, getScope()); }

WorkList LaunchOp::getWork() { return one(Work::Kind::Launch); }

WorkList CollectiveOp::getWork() {
  return one(Work::Kind::Message, Scope::System);
}
