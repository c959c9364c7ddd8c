#include "lib/SchedulePasses/Pipeline/Rings.h"
#include "lib/SchedulePasses/Pipeline/Trips.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include <algorithm>

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

static TileType placeOf(CopyOp copy) {
  return cast<TileType>(copy.getDestination().getType());
}

int64_t Ring::slotBytes() const {
  int64_t bytes = 0;
  for (CopyOp copy : copies) {
    bytes += placeOf(copy).getBytes();
  }
  return bytes;
}

std::optional<Ring> modelc::findRing(LoopOp loop) {
  Ring ring;
  ring.loop = loop;
  for (Operation &op : loop.getBody().front()) {
    if (auto copy = dyn_cast<CopyOp>(op)) {
      if (isa<TileType>(copy.getSource().getType()) && !ring.reader) {
        ring.reader = copy;
      }
      // A place without trips is filled once.
      if (isa<TileType>(copy.getDestination().getType()) &&
          !copy.getSlot().empty()) {
        ring.copies.push_back(copy);
        ring.full = copy.getArrives();
      }
    } else if (auto mma = dyn_cast<MmaOp>(op)) {
      if (mma.getAsynchronous()) {
        ring.mmas.push_back(mma);
        ring.reader = ring.reader ? ring.reader : mma;
      }
    } else if (auto arrive = dyn_cast<ArriveOp>(op)) {
      if (arrive.getBytes()) {
        ring.announce = arrive;
      }
    }
  }
  if (ring.copies.empty() || loop.getKind() != LoopKind::Sequence) {
    return std::nullopt;
  }
  return ring;
}

bool modelc::canRunAhead(const Ring &ring) {
  return llvm::all_of(ring.copies, [&](CopyOp copy) {
    return llvm::all_of(copy->getOperands(), [&](Value operand) {
      return isFunctionOfTrip(operand, ring.loop);
    });
  });
}

/// The last product that reads the place of a copy, where only products into
/// tensor memory do; else null.
static MmaOp lastReader(CopyOp copy) {
  MmaOp last;
  for (Operation *user : copy.getDestination().getUsers()) {
    auto mma = dyn_cast<MmaOp>(user);
    bool reads = mma && mma->getBlock() == copy->getBlock() &&
                 isa<TokenType>(mma.getResult().getType());
    if (user != copy && !reads) {
      return MmaOp();
    }
    if (mma && (!last || last->isBeforeInBlock(mma))) {
      last = mma;
    }
  }
  return last;
}

/// The first wait of a trip that says that the place of a copy has been read:
/// behind its own wait every lane may fill it again. Null where none says it. A
/// barrier counts all products that were begun before it was asked to.
static WaitOp whenRead(CopyOp copy) {
  SmallVector<Value> signalled;
  Operation *op = lastReader(copy);
  for (; op; op = op->getNextNode()) {
    auto arrive = dyn_cast<ArriveOp>(op);
    auto wait = dyn_cast<WaitOp>(op);
    if (arrive && !arrive.getAfter().empty()) {
      signalled.push_back(arrive.getBarrier());
    } else if (wait && llvm::is_contained(signalled, wait.getBarrier())) {
      return wait;
    }
  }
  return WaitOp();
}

SmallVector<WaitOp> modelc::waitsOfReads(const Ring &ring) {
  SmallVector<WaitOp> waits;
  for (CopyOp copy : ring.copies) {
    waits.push_back(whenRead(copy));
    if (!waits.back()) {
      return {};
    }
  }
  return waits;
}

int64_t modelc::chooseSlots(const Ring &ring, const Target &target,
                            int64_t takenBytes) {
  if (!canRunAhead(ring)) {
    return 1;
  }
  LoopOp loop = ring.loop;
  std::optional<int64_t> asked = loop->getParentOfType<KernelOp>().getSlots();
  int64_t freeBytes = target.shared.maxBytesPerWorkgroup - takenBytes;
  if (asked) {
    int64_t fits = freeBytes / ring.slotBytes();
    return std::max<int64_t>(1, std::min(*asked, fits));
  }
  return target.ringSlots(ring.slotBytes(), freeBytes, bool(ring.full));
}

void modelc::setSlots(const Ring &ring) {
  for (CopyOp copy : ring.copies) {
    TileType tile = placeOf(copy);
    copy.getDestination().setType(
        tile.with(tile.getSpace(), tile.getLayout(), ring.slots));
  }
  if (Value full = ring.full) {
    auto barrier = cast<BarrierType>(full.getType());
    full.setType(barrier.withSlots(ring.slots));
  }
}

//===----------------------------------------------------------------------===//
// The copies of another trip
//===----------------------------------------------------------------------===//

static Value constant(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value modelc::advanced(OpBuilder &builder, const Ring &ring, Value index,
                       int64_t trips) {
  LoopOp loop = ring.loop;
  Value distance = constant(builder, loop.getLoc(), trips);
  if (!loop.getSteps().empty()) {
    distance = arith::MulIOp::create(builder, loop.getLoc(), distance,
                                     loop.getSteps()[0]);
  }
  Location loc = NameLoc::get(builder.getStringAttr("next"));
  return arith::AddIOp::create(builder, loc, index, distance);
}

Value modelc::isTrip(OpBuilder &builder, const Ring &ring, Value index) {
  LoopOp loop = ring.loop;
  return arith::CmpIOp::create(
      builder, NameLoc::get(builder.getStringAttr("is_trip")),
      arith::CmpIPredicate::slt, index, loop.getUpperBounds()[0]);
}

/// A row limit that clips nothing of a copy without one.
static Value rowsEnd(OpBuilder &builder, CopyOp copy, ValueRange offsets) {
  Location loc = copy.getLoc();
  auto buffer = cast<BufferType>(copy.getSource().getType());
  int64_t dimension = copy.getDims()
                          ? (*copy.getDims())[0]
                          : std::max<int64_t>(buffer.getRank() - 2, 0);
  int64_t extent = buffer.getShape()[dimension];
  if (!ShapedType::isDynamic(extent)) {
    return constant(builder, loc, extent);
  }
  if (copy.getRows()) {
    return constant(builder, loc, INT32_MAX);
  }
  auto tile = cast<TileType>(copy.getDestination().getType());
  Value rows = constant(builder, loc, tile.getRows());
  return arith::AddIOp::create(builder, loc, offsets[dimension], rows);
}

void modelc::copyAt(OpBuilder &builder, const Ring &ring, CopyOp copy,
                    Value index, Value live) {
  LoopOp loop = ring.loop;
  IRMapping mapping;
  mapping.map(loop.getInductionVars()[0], index);
  auto there = [&](Value value) {
    return value ? atTrip(builder, value, loop, mapping) : Value();
  };
  SmallVector<Value> offsets, slots, valid;
  llvm::transform(copy.getOffsets(), std::back_inserter(offsets), there);
  llvm::transform(copy.getSlot(), std::back_inserter(slots), there);
  llvm::transform(copy.getValid(), std::back_inserter(valid), there);
  if (live) {
    if (valid.empty()) {
      valid.push_back(rowsEnd(builder, copy, offsets));
    }
    Value none = constant(builder, copy.getLoc(), 0);
    Location loc = NameLoc::get(builder.getStringAttr("rows_to_copy"));
    valid[0] = arith::SelectOp::create(builder, loc, live, valid[0], none);
  }
  CopyOp::create(builder, copy.getLoc(), copy.getToken().getType(),
                 copy.getSource(), offsets, copy.getDestination(), slots,
                 copy.getRows(), copy.getPageTable(), there(copy.getSequence()),
                 valid, copy.getArrives(), copy.getDimsAttr(),
                 copy.getPageSizeAttr(), copy.getBoxAttr(),
                 copy.getMulticastAttr(), copy.getWorkgroupsAttr());
}
