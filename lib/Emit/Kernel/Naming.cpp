//===- Naming.cpp - Names that a reader would have chosen -----------------===//
//
// A NameLoc is taken as it is. Other values are named by their role: where they
// come from and what they are used for.
//
//===----------------------------------------------------------------------===//

#include "lib/Emit/Kernel/Printer.h"
#include "lib/Text/Text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// What the emitted text calls.
static constexpr StringLiteral kReserved =
    "absolute addTile arrive awaitEarlierKernels bf16 bf16x2 bf16x32 bitsAs "
    "ceil ceilDiv chipletOrder columns computeFirst copyBox copySign copyTile "
    "cos e2m3x32 e3m2x32 e4m3x4 e8m0x4 erf exp exp2 f16 f32x2 f32x32 f4x2 f8 "
    "fill floor floorDiv fma forEach groupedOrder i i64x2 i64x3 int64_t isAny "
    "kInfinity kNaN laneId loadScalar loadShared loadTensor loadTile log log2 "
    "lookup maximum minimum mma offset power reduce relayout roundEven rows "
    "rsqrt shared sin sqrt startNextKernel storeScalar storeShared storeTile "
    "sync tanhOf tensor threadId toBf16 toE2m3x32 toE3m2x32 toF16 toF4x2 toF8 "
    "toFloat uniformWaveId unroll view waveId workgroupCount workgroupId";

Names::Names() {
  for (StringRef word : llvm::split(kReserved, ' ')) {
    taken.insert(word);
  }
}

std::string Names::fresh(StringRef wish) {
  std::string base = lowerCamel(wish);
  if (base.empty() || llvm::isDigit(base[0])) {
    base = "value" + base;
  }
  std::string name = base;
  for (unsigned i = 2; !isName(name) || !taken.insert(name).second; ++i) {
    name = base + std::to_string(i);
  }
  if (!scopes.empty()) {
    scopes.back().push_back(name);
  }
  return name;
}

std::string Names::freshOfKernel(StringRef wish) {
  std::string name = fresh(wish);
  if (scopes.size() > 1) {
    scopes.front().push_back(scopes.back().pop_back_val());
  }
  return name;
}

void Names::leaveScope() {
  for (const std::string &name : scopes.pop_back_val()) {
    taken.erase(name);
  }
}

std::string KernelPrinter::nameOf(Value value, StringRef wish) {
  std::string name = names.fresh(wish);
  spelled[value] = name;
  return name;
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

static std::string gridName(unsigned index, unsigned count) {
  if (count == 1) {
    return "tile";
  }
  if (index + 2 >= count) {
    return index + 1 == count ? "tileColumn" : "tileRow";
  }
  return index + 3 == count ? "batch" : "outer";
}

static bool dependsOnSequence(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<LoopOp>(argument.getOwner()->getParentOp());
    return loop && loop.getKind() == LoopKind::Sequence;
  }
  Operation *op = value.getDefiningOp();
  return isa_and_nonnull<arith::ArithDialect>(op->getDialect()) &&
         llvm::any_of(op->getOperands(), dependsOnSequence);
}

/// "row", "column", "depth": what a value says in a memory op.
static StringRef roleIn(const Access &access, Value value) {
  for (auto [i, offset] : llvm::enumerate(access.offsets)) {
    if (offset != value) {
      continue;
    }
    if (static_cast<int64_t>(i) == access.rowDimension) {
      return "row";
    }
    if (static_cast<int64_t>(i) == access.columnDimension) {
      return dependsOnSequence(value) ? "depth" : "column";
    }
  }
  return {};
}

static std::string roleIn(LoopOp loop, Value value) {
  for (auto [i, bound] : llvm::enumerate(loop.getUpperBounds())) {
    if (bound == value) {
      return loop.getKind() == LoopKind::Sequence
                 ? "steps"
                 : gridName(i, loop.getUpperBounds().size()) + "s";
    }
  }
  return {};
}

static StringRef roleOfUse(Operation *user, Value value) {
  if (auto load = dyn_cast<LoadOp>(user)) {
    return isa<BufferType>(load.getSource().getType())
               ? roleIn(Access::of(load), value)
               : StringRef();
  }
  if (auto store = dyn_cast<StoreOp>(user)) {
    return isa<BufferType>(store.getDestination().getType())
               ? roleIn(Access::of(store), value)
               : StringRef();
  }
  if (auto copy = dyn_cast<CopyOp>(user)) {
    return roleIn(Access::of(copy), value);
  }
  return {};
}

static std::string scalarRole(Value value) {
  for (Operation *user : value.getUsers()) {
    if (StringRef role = roleOfUse(user, value); !role.empty()) {
      return role.str();
    }
    if (auto loop = dyn_cast<LoopOp>(user)) {
      if (std::string role = roleIn(loop, value); !role.empty()) {
        return role;
      }
    }
  }
  if (value.getType().isInteger(1)) {
    return "holds";
  }
  return isa<FloatType>(value.getType()) ? "value" : "index";
}

/// The name of the argument that a buffer is.
static std::string bufferName(Value buffer) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto kernel = argument
                    ? dyn_cast<KernelOp>(argument.getOwner()->getParentOp())
                    : KernelOp();
  return kernel ? kernel.getArgumentName(argument.getArgNumber()).str()
                : "buffer";
}

/// Filled by copies: "full". Freed for them by products: "empty", or once, or
/// for those who read an accumulator: "done". Read by them: "drained".
/// Whether the waves that signal copy in the same block.
static bool followsCopies(Operation *op) {
  auto role = op->getParentOfType<RoleOp>();
  return isa<ArriveOp>(op) && role && !role.getElect() &&
         !op->getBlock()->getOps<CopyOp>().empty();
}

static std::string barrierRole(AllocOp alloc) {
  bool isSignalled = false, betweenRoles = false;
  for (Operation *user : alloc->getUsers()) {
    if (isa<CopyOp>(user) || followsCopies(user)) {
      return "full";
    }
    isSignalled |= isa<ArriveOp>(user);
    betweenRoles |= !!user->getParentOfType<RoleOp>();
    auto wait = dyn_cast<WaitOp>(user);
    if (wait && wait.getEmpty() && betweenRoles) {
      auto copies = wait->getBlock()->getOps<CopyOp>();
      return copies.empty() ? "drained" : "empty";
    }
  }
  bool isOne = cast<BarrierType>(alloc.getType()).getSlots() == 1;
  return !isSignalled ? "barrier" : isOne || betweenRoles ? "done" : "empty";
}

/// A place is called after what is copied or stored into it.
static std::string placeRole(AllocOp alloc) {
  bool isRing = false;
  if (auto tile = dyn_cast<TileType>(alloc.getType())) {
    isRing = tile.getSlots() > 1;
    if (tile.getSpace() == Space::Tensor && tile.getElementBits() == 32 &&
        !holdsScales(tile)) {
      return "product";
    }
  } else {
    return barrierRole(alloc);
  }
  for (Operation *user : alloc->getUsers()) {
    auto copy = dyn_cast<CopyOp>(user);
    if (copy && isa<BufferType>(copy.getSource().getType())) {
      return bufferName(copy.getSource()) + (isRing ? "Ring" : "Place");
    }
    auto from = copy ? copy.getSource().getDefiningOp<AllocOp>() : AllocOp();
    if (from && from != alloc) {
      std::string name = placeRole(from);
      return name.substr(0, name.rfind("Ring")) + "InTensor";
    }
  }
  return isRing ? "ring" : "scratch";
}

/// How a place holds the tile that it is named after.
static StringRef storedAs(AllocOp alloc, StringRef name) {
  auto tile = dyn_cast<TileType>(alloc.getType());
  if (!tile || !tile.isPlace() || name.ends_with("scratch")) {
    return "";
  }
  return tile.getSlots() > 1                ? "_ring"
         : tile.getSpace() == Space::Tensor ? "_in_tensor"
                                            : "_in_shared";
}

/// The product that a tile is the start of, or null.
static MmaOp startedProduct(Value value) {
  for (Operation *user : value.getUsers()) {
    if (auto mma = dyn_cast<MmaOp>(user);
        mma && mma.getAccumulator() == value) {
      return mma;
    }
  }
  return {};
}

static std::string tileRole(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    return startedProduct(value) ? "accumulator" : "carried";
  }
  Operation *op = value.getDefiningOp();
  if (auto load = dyn_cast<LoadOp>(op)) {
    if (isa<BufferType>(load.getSource().getType())) {
      return bufferName(load.getSource()) + "Tile";
    }
    auto alloc = load.getSource().getDefiningOp<AllocOp>();
    std::string role = alloc ? placeRole(alloc) : "stored";
    StringRef place = role;
    if (!place.consume_back("Ring")) {
      place.consume_back("Place");
    }
    return place.str() + "Tile";
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    StringRef what = reduce.getCombiner() == Combiner::Add   ? "Sum"
                     : reduce.getCombiner() == Combiner::Max ? "Max"
                                                             : "Min";
    return ((reduce.getDimension() == 1 ? "row" : "column") + what).str();
  }
  if (isa<MmaOp>(op)) {
    return "product";
  }
  return llvm::any_of(value.getUsers(),
                      [](Operation *user) { return isa<StoreOp>(user); })
             ? "result"
             : "values";
}

/// The carried value that a tile starts, if it has a name or a role of its own.
static Value startedCarried(Value value) {
  auto loop = value.hasOneUse() ? dyn_cast<LoopOp>(*value.getUsers().begin())
                                : LoopOp();
  if (!loop || !isa<TileType>(value.getType())) {
    return {};
  }
  for (auto [init, carried] :
       llvm::zip_equal(loop.getInits(), loop.getCarried())) {
    if (init == value &&
        (isa<NameLoc>(carried.getLoc()) || startedProduct(carried))) {
      return carried;
    }
  }
  return {};
}

/// The index that a loaded number is: the text does not tell the two apart.
static Value asIndex(Value value) {
  auto cast = value.hasOneUse()
                  ? dyn_cast<arith::IndexCastOp>(*value.getUsers().begin())
                  : arith::IndexCastOp();
  return cast && isa<NameLoc>(cast.getLoc()) ? cast.getResult() : Value();
}

std::string KernelPrinter::wishFor(Value value) {
  if (Value index = asIndex(value)) {
    return wishFor(index);
  }
  if (Value carried = startedCarried(value)) {
    return wishFor(carried);
  }
  if (auto map = value.getDefiningOp<MapOp>(); map && map.getInputs().empty()) {
    MmaOp mma = startedProduct(value);
    if (mma && isa<NameLoc>(mma.getResult().getLoc())) {
      return wishFor(mma.getResult());
    }
  }
  auto alloc = value.getDefiningOp<AllocOp>();
  if (auto name = dyn_cast<NameLoc>(value.getLoc())) {
    StringRef text = name.getName();
    return (text + (alloc ? storedAs(alloc, text) : "")).str();
  }
  if (alloc) {
    return placeRole(alloc);
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<LoopOp>(argument.getOwner()->getParentOp());
    if (loop && argument.getArgNumber() < loop.getUpperBounds().size()) {
      return loop.getKind() == LoopKind::Sequence
                 ? "step"
                 : gridName(argument.getArgNumber(),
                            loop.getUpperBounds().size());
    }
  }
  return isa<TileType>(value.getType()) ? tileRole(value) : scalarRole(value);
}
