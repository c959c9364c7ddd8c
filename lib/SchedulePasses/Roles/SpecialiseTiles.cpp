#include "lib/SchedulePasses/Pipeline/Trips.h"
#include "lib/SchedulePasses/Roles/Specialise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// Whether tensor memory has room for so many of each accumulator, of whole
/// lanes.
bool Specialise::accumulatorsFit(int64_t times) {
  int64_t columns = 0;
  bool whole = true;
  kernel.walk([&](AllocOp alloc) {
    auto type = dyn_cast<TileType>(alloc.getResult().getType());
    if (type && type.getSpace() == Space::Tensor) {
      columns += (holdsScales(type) ? 1 : times) * tensorColumns(type);
      whole &= type.getRows() <= target.tensorMemory.lanes;
    }
  });
  return whole && columns <= target.tensorMemory.columns;
}

/// Accumulators that take turns: of the tile that waves store and of the next
/// one, or of as many products as the matrix unit may be ahead of additions.
int64_t Specialise::turns() { return isFresh() && accumulatorsFit(4) ? 4 : 2; }

bool Specialise::fillsUnit() {
  int64_t bytes = ring->slots * ring->slotBytes() + onceBytes();
  return 2 * bytes > target.shared.bytesPerUnit ||
         (isIntoTensor() && !accumulatorsFit(2 * turns()));
}

/// All tiles have the same trips, several that the loop's index counts, and
/// there is tensor memory for two of each accumulator. Waves that hold sums in
/// most of their registers have none for addresses that a compiler keeps from
/// tile to tile: 192 x 128 in 8 bits spilled 52.
bool Specialise::canPersist() {
  LoopOp loop = ring->loop, grid = kernel.getGrid();
  bool sameTrips = !copiesByLanes() &&
                   constantIndex(loop.getUpperBounds()[0]).value_or(1) > 1 &&
                   constantIndex(loop.getLowerBounds()[0]) == 0 &&
                   loop.getSteps().empty() &&
                   ring->announce.getTrip()[0] == loop.getInductionVars()[0];
  bool plainGrid =
      !condition && !grid.getPersistent() && grid.getInits().empty();
  return sameTrips && plainGrid && fillsUnit() &&
         (isIntoTensor() || !matrixRegisters) && accumulatorsFit(2);
}

/// The grid as a persistent one that carries the number of its tile.
void Specialise::carryTile() {
  LoopOp grid = kernel.getGrid();
  OpBuilder builder(grid);
  Location loc = grid.getLoc();
  Value zero = constantOf(builder, loc, 0);
  auto carrying =
      LoopOp::create(builder, loc, grid.getLowerBounds(), grid.getUpperBounds(),
                     grid.getSteps(), ValueRange(zero), LoopKind::Workgroups);
  carrying.setPersistent(true);
  carrying.setExpectAttr(grid.getExpectAttr());
  Block &from = grid.getBody().front(), &to = carrying.getBody().front();
  for (auto [old, now] :
       llvm::zip(grid.getInductionVars(), carrying.getInductionVars())) {
    old.replaceAllUsesWith(now);
    now.setLoc(old.getLoc());
  }
  from.getTerminator()->erase();
  to.getOperations().splice(to.end(), from.getOperations());
  grid.erase();
  BlockArgument number = carrying.getCarried()[0];
  number.setLoc(NameLoc::get(builder.getStringAttr("turn")));
  tile = number;
  builder.setInsertionPointToEnd(&to);
  Value one = constantOf(builder, loc, 1);
  Value next = arith::AddIOp::create(builder, loc, tile, one);
  YieldOp::create(builder, loc, next);
  setTurns();
}

void Specialise::setTurns() {
  int64_t slots = turns();
  kernel.walk([&](AllocOp alloc) {
    auto type = dyn_cast<TileType>(alloc.getResult().getType());
    if (type && type.getSpace() == Space::Tensor && !holdsScales(type)) {
      alloc.getResult().setType(
          type.with(type.getSpace(), type.getLayout(), slots));
    }
  });
}

/// Which of the accumulators products write and loads read.
void Specialise::numberProducts(Value number) {
  for (MmaOp mma : ring->mmas) {
    mma.getCSlotMutable().assign(number);
  }
  kernel.walk([&](LoadOp load) {
    auto place = dyn_cast<TileType>(load.getSource().getType());
    if (place && place.getSpace() == Space::Tensor) {
      SmallVector<Value> offsets(load.getOffsets());
      offsets.resize(std::max<size_t>(offsets.size(), 1));
      offsets[0] = number;
      load.getOffsetsMutable().assign(offsets);
    }
  });
}

/// Rings are indexed by all trips of the unit, accumulators by the tile, or
/// where each trip has its own product, by trips too.
void Specialise::numberTrips() {
  LoopOp loop = ring->loop;
  Value index = loop.getInductionVars()[0];
  OpBuilder builder = OpBuilder::atBlockBegin(&loop.getBody().front());
  Location loc = loop.getLoc();
  Value before =
      arith::MulIOp::create(builder, loc, tile, loop.getUpperBounds()[0]);
  Value trip = arith::AddIOp::create(
      builder, NameLoc::get(builder.getStringAttr("trip")), before, index);
  loop.getBody().walk([&](Operation *op) {
    if (auto arrive = dyn_cast<ArriveOp>(op)) {
      arrive.getTripMutable().assign(trip);
    } else if (auto wait = dyn_cast<WaitOp>(op)) {
      wait.getTripMutable().assign(trip);
    } else if (auto copy = dyn_cast<CopyOp>(op)) {
      bool fromRing = isa<TileType>(copy.getSource().getType());
      (fromRing ? copy.getOffsetsMutable() : copy.getSlotMutable())
          .assign(trip);
    } else if (auto mma = dyn_cast<MmaOp>(op)) {
      mma.getASlotMutable().assign(trip);
      mma.getBSlotMutable().assign(trip);
    }
  });
  if (isIntoTensor()) {
    numberProducts(isFresh() ? trip : tile);
  }
}
