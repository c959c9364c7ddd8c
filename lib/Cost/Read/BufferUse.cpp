//===- BufferUse.cpp - Which bytes of a buffer a memory op touches --------===//

#include "lib/Cost/Read/ReadKernel.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/TypeSwitch.h"
#include <set>

using namespace mlir;
using namespace modelc::schedule;

namespace modelc {

SmallVector<Value> BufferUse::address() const {
  SmallVector<Value> values(offsets.begin(), offsets.end());
  for (Value value : {rows, pageTable, sequence}) {
    if (value) {
      values.push_back(value);
    }
  }
  return values;
}

template <typename Op>
static BufferUse describe(Op op, Value buffer, Type value) {
  BufferUse use;
  use.op = op;
  use.buffer = buffer;
  use.offsets = op.getOffsets();
  use.valid = op.getValid();
  use.value = value;
  use.rows = op.getRows();
  use.pageTable = op.getPageTable();
  use.sequence = op.getSequence();
  int64_t rank = cast<BufferType>(buffer.getType()).getRank();
  if (std::optional<ArrayRef<int64_t>> dims = op.getDims()) {
    use.dims.assign(dims->begin(), dims->end());
  } else {
    use.dims = {std::max<int64_t>(rank - 2, 0), rank - 1};
  }
  return use;
}

std::optional<BufferUse> bufferUse(Operation *op) {
  using Result = std::optional<BufferUse>;
  return TypeSwitch<Operation *, Result>(op)
      .Case([](LoadOp load) -> Result {
        if (!isa<BufferType>(load.getSource().getType())) {
          return std::nullopt;
        }
        BufferUse use =
            describe(load, load.getSource(), load.getResult().getType());
        use.peer = bool(load.getPeer());
        return use;
      })
      .Case([](StoreOp store) -> Result {
        if (!isa<BufferType>(store.getDestination().getType())) {
          return std::nullopt;
        }
        BufferUse use =
            describe(store, store.getDestination(), store.getValue().getType());
        use.peer = bool(store.getPeer());
        use.writes = true;
        return use;
      })
      .Case([](CopyOp copy) -> Result {
        bool writes = isa<BufferType>(copy.getDestination().getType());
        Value buffer = writes ? copy.getDestination() : copy.getSource();
        Value tile = writes ? copy.getSource() : copy.getDestination();
        if (!isa<BufferType>(buffer.getType())) {
          return std::nullopt;
        }
        BufferUse use = describe(copy, buffer, tile.getType());
        use.writes = writes;
        return use;
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// Indices of two loops over the same numbers are the same, as is what two ops
/// alike make of the same.
static bool isSame(Value one, Value other) {
  if (one == other) {
    return true;
  }
  if (!one || !other || one.getType() != other.getType()) {
    return false;
  }
  auto allSame = [](OperandRange some, OperandRange others) {
    return some.size() == others.size() &&
           llvm::all_of(llvm::zip_equal(some, others), [](auto pair) {
             return isSame(std::get<0>(pair), std::get<1>(pair));
           });
  };
  if (Operation *op = one.getDefiningOp()) {
    Operation *twin = other.getDefiningOp();
    return twin && isPure(op) &&
           cast<OpResult>(one).getResultNumber() ==
               cast<OpResult>(other).getResultNumber() &&
           OperationEquivalence::isEquivalentTo(
               op, twin, OperationEquivalence::ignoreValueEquivalence, nullptr,
               OperationEquivalence::IgnoreLocations) &&
           allSame(op->getOperands(), twin->getOperands());
  }
  auto index = cast<BlockArgument>(one), twin = dyn_cast<BlockArgument>(other);
  auto loop = dyn_cast<LoopOp>(index.getOwner()->getParentOp());
  auto second =
      twin ? dyn_cast<LoopOp>(twin.getOwner()->getParentOp()) : LoopOp();
  return loop && second && index.getArgNumber() == twin.getArgNumber() &&
         index.getArgNumber() < loop.getInductionVars().size() &&
         allSame(loop.getLowerBounds(), second.getLowerBounds()) &&
         allSame(loop.getUpperBounds(), second.getUpperBounds()) &&
         allSame(loop.getSteps(), second.getSteps());
}

bool readSameBytes(const BufferUse &one, const BufferUse &other) {
  auto extents = [](const BufferUse &use) {
    auto tile = dyn_cast<TileType>(use.value);
    return tile ? tile.getShape() : ArrayRef<int64_t>();
  };
  return !one.writes && !other.writes && !one.peer && !other.peer &&
         one.buffer == other.buffer && one.dims == other.dims &&
         extents(one) == extents(other) && one.rows == other.rows &&
         one.pageTable == other.pageTable && one.sequence == other.sequence &&
         llvm::all_of(llvm::zip_equal(one.offsets, other.offsets),
                      [](auto pair) {
                        return isSame(std::get<0>(pair), std::get<1>(pair));
                      });
}

ValidPart::ValidPart(const BufferUse &use, const IndexValues &sizes,
                     IndexPrograms &programs) {
  auto tile = dyn_cast<TileType>(use.value);
  if (!tile) {
    return;
  }
  // One row of a vector: its one limit is that of the columns.
  bool isVector = tile.getRows() == 1 && use.valid.size() == 1 &&
                  cast<BufferType>(use.buffer.getType()).getRank() == 1;
  for (auto [position, end] : llvm::enumerate(use.valid)) {
    unsigned side = isVector ? 1 : std::min<unsigned>(position, 1);
    Value begin = use.offsets[use.dims[side]];
    Limit limit{&programs.of(begin), &programs.of(end),
                double(tile.getShape()[side])};
    if (limit.begin->isKnown(sizes) && limit.end->isKnown(sizes)) {
      limits.push_back(limit);
    } else {
      isOpen = true;
    }
  }
}

/// Values of one grid index that are looked at one by one.
constexpr int64_t kMostClasses = 4096;

/// Numbers the different addresses along one index, the others at their start.
static std::vector<uint32_t>
addressClasses(ArrayRef<const IndexProgram *> offsets, const Level &level,
               const Trips &trips, IndexValues values) {
  std::vector<uint32_t> classes;
  std::map<SmallVector<int64_t, 4>, uint32_t> numbers;
  int64_t count = std::min<int64_t>(trips.count, kMostClasses);
  for (int64_t i = 0; i < count; ++i) {
    values[level.index] = trips.first + i * trips.step;
    SmallVector<int64_t, 4> address;
    for (const IndexProgram *offset : offsets) {
      std::optional<int64_t> value = offset->run(values);
      if (!value) {
        return {}; // looked up on the device: taken as different
      }
      address.push_back(*value);
    }
    classes.push_back(
        numbers.try_emplace(address, numbers.size()).first->second);
  }
  return classes;
}

std::vector<uint32_t> classesOfDistinct(const BufferUse &use,
                                        const Level &level, int64_t extent,
                                        const IndexValues &distinct) {
  SmallVector<Value> loaded;
  SmallVector<Value> indices = indicesBehind(use.address(), [&](Value value) {
    bool isKnown = distinct.contains(value);
    if (isKnown) {
      loaded.push_back(value);
    }
    return isKnown;
  });
  if (llvm::is_contained(indices, level.index)) {
    return {};
  }
  for (Value scalar : loaded) {
    if (!llvm::is_contained(indicesBehind(scalar), level.index)) {
      continue;
    }
    int64_t count = std::clamp<int64_t>(distinct.lookup(scalar), 1, extent);
    std::vector<uint32_t> classes(extent);
    for (int64_t i = 0; i < extent; ++i) {
      classes[i] = static_cast<uint32_t>(i * count / extent);
    }
    return classes;
  }
  return {};
}

std::vector<GridUse> gridUses(const BufferUse &use, ArrayRef<Level> grid,
                              const Iterations &iterations,
                              const IndexValues &atStart,
                              IndexPrograms &programs) {
  SmallVector<Value> indices = indicesBehind(use.address());
  SmallVector<const IndexProgram *, 4> offsets;
  bool folds = false;
  for (Value offset : use.offsets) {
    offsets.push_back(&programs.of(offset));
    folds |= !offsets.back()->isLinear();
  }
  std::vector<GridUse> uses;
  for (const Level &level : grid) {
    GridUse one{llvm::is_contained(indices, level.index), {}};
    if (one.depends && folds) {
      FailureOr<Trips> trips = iterations.trips(level, atStart);
      if (succeeded(trips)) {
        one.classes = addressClasses(offsets, level, *trips, atStart);
      }
    }
    uses.push_back(std::move(one));
  }
  return uses;
}

} // namespace modelc
