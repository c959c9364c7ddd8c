//===- AssignStorage.cpp - Bytes and columns for every place --------------===//

#include "lib/SchedulePasses/Machine.h"
#include "lib/SchedulePasses/SchedulePasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

constexpr int64_t kSwizzledAlignment = 1024, kAlignment = 16, kBarrierBytes = 8;

//===----------------------------------------------------------------------===//
// Lives
//===----------------------------------------------------------------------===//

namespace {
/// One alloc with the part of the grid's body in which it is used.
struct Life {
  AllocOp alloc;
  int64_t bytes = 0, alignment = kAlignment;
  int64_t first = 0, last = INT64_MAX; ///< numbers of ops of the grid's body
  int64_t at = 0;
  unsigned number = 0; ///< in the order of the file

  bool meets(const Life &other) const {
    return first <= other.last && other.first <= last;
  }
  bool touches(const Life &other) const {
    return at < other.at + other.bytes && other.at < at + bytes;
  }
};
} // namespace

static void setSize(Life &life) {
  if (auto barrier = dyn_cast<BarrierType>(life.alloc.getResult().getType())) {
    life.bytes = kBarrierBytes * barrier.getSlots();
    return;
  }
  auto tile = cast<TileType>(life.alloc.getResult().getType());
  life.bytes = tile.getBytes() * tile.getSlots();
  if (tile.getLayout()) {
    life.alignment = std::min<int64_t>(kSwizzledAlignment,
                                       std::max(tile.getBytes(), kAlignment));
  }
}

/// From the first to the last op of the grid's body that uses the place. Words
/// of barriers, and places of a grid that repeats, live for the whole kernel.
static Life lifeOf(AllocOp alloc, LoopOp grid,
                   const DenseMap<Operation *, int64_t> &numbers) {
  Life life;
  life.alloc = alloc;
  setSize(life);
  Value place = alloc.getResult();
  if (isa<BarrierType>(place.getType()) || grid.getPersistent() ||
      place.use_empty()) {
    return life;
  }
  life.first = INT64_MAX;
  life.last = 0;
  for (Operation *user : place.getUsers()) {
    Operation *top = grid.getBody().findAncestorOpInRegion(*user);
    if (isa_and_nonnull<RoleOp>(top)) {
      // Roles run beside each other.
      life.first = 0;
      life.last = INT64_MAX;
      return life;
    }
    int64_t number = top ? numbers.lookup(top) : 0;
    life.first = std::min(life.first, number);
    life.last = std::max(life.last, number);
  }
  return life;
}

static std::string sizeText(int64_t bytes) {
  return bytes % 1024 ? std::to_string(bytes) + " B"
                      : std::to_string(bytes / 1024) + " KiB";
}

/// "3 x 32 KiB + 16 KiB".
static std::string sumText(ArrayRef<Life> lives) {
  std::string text;
  for (const Life &life : lives) {
    AllocOp alloc = life.alloc;
    auto tile = dyn_cast<TileType>(alloc.getResult().getType());
    text += text.empty() ? "" : " + ";
    if (tile && tile.getSlots() > 1) {
      text +=
          std::to_string(tile.getSlots()) + " x " + sizeText(tile.getBytes());
    } else {
      text += sizeText(life.bytes);
    }
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// The lowest place that meets no life it would touch.
static void placeLife(Life &life, ArrayRef<Life> placed) {
  life.at = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (const Life &other : placed) {
      if (life.meets(other) && life.touches(other)) {
        life.at = llvm::alignTo(other.at + other.bytes, life.alignment);
        moved = true;
      }
    }
  }
}

/// A rendezvous before the first use of bytes that others used before.
static void separate(const Life &life, ArrayRef<Life> placed, LoopOp grid) {
  bool reuses = llvm::any_of(placed, [&](const Life &other) {
    return life.touches(other) && other.last < life.first;
  });
  if (!reuses) {
    return;
  }
  Operation *before = &*std::next(grid.getBody().front().begin(), life.first);
  OpBuilder builder(before);
  SyncOp::create(builder, before->getLoc(), Scope::Workgroup);
}

static LogicalResult assignShared(KernelOp kernel, const Target &target) {
  LoopOp grid = kernel.getGrid();
  DenseMap<Operation *, int64_t> numbers;
  int64_t next = 0;
  for (Operation &op : grid.getBody().front()) {
    numbers[&op] = next++;
  }
  SmallVector<Life, 4> lives, placed;
  kernel.walk([&](AllocOp alloc) {
    auto tile = dyn_cast<TileType>(alloc.getResult().getType());
    if (!tile || tile.getSpace() == Space::Shared) {
      lives.push_back(lifeOf(alloc, grid, numbers));
      lives.back().number = lives.size();
    }
  });
  // Strict alignment first, so that it costs no holes; the order of the file
  // among equals.
  llvm::sort(lives, [](const Life &a, const Life &b) {
    return std::pair(-a.alignment, a.number) <
           std::pair(-b.alignment, b.number);
  });
  int64_t total = 0;
  for (Life &life : lives) {
    placeLife(life, placed);
    placed.push_back(life);
    total = std::max(total, life.at + life.bytes);
  }
  if (total > target.shared.maxBytesPerWorkgroup) {
    return kernel.emitOpError("needs ")
           << sumText(lives) << " = " << sizeText(total)
           << " of shared memory of the "
           << sizeText(target.shared.maxBytesPerWorkgroup)
           << " of a workgroup, try smaller tiles or fewer slots";
  }
  // From the last to the first, so that the numbers stay true.
  SmallVector<Life, 4> byStart(placed);
  llvm::sort(byStart, [](const Life &a, const Life &b) {
    return std::pair(a.first, a.number) > std::pair(b.first, b.number);
  });
  for (Life &life : byStart) {
    separate(life, placed, grid);
    life.alloc.setAt(life.at);
  }
  kernel.setSharedBytes(total);
  return success();
}

/// Accumulators and scales side by side.
static LogicalResult assignTensor(KernelOp kernel, const Target &target) {
  int64_t columns = 0;
  kernel.walk([&](AllocOp alloc) {
    auto tile = dyn_cast<TileType>(alloc.getResult().getType());
    if (!tile || tile.getSpace() != Space::Tensor) {
      return;
    }
    alloc.setAt(columns);
    columns += tile.getSlots() * tensorColumns(tile);
  });
  if (!columns) {
    return success();
  }
  int64_t taken = std::max<int64_t>(llvm::PowerOf2Ceil(columns),
                                    target.tensorMemory.columnGranule);
  if (taken > target.tensorMemory.columns) {
    return kernel.emitOpError("needs ")
           << taken << " columns of tensor memory of "
           << target.tensorMemory.columns << ", try smaller tiles";
  }
  kernel.setTensorColumns(taken);
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult modelc::assignStorage(KernelOp kernel, const Target &target) {
  if (failed(assignShared(kernel, target))) {
    return failure();
  }
  return assignTensor(kernel, target);
}

namespace modelc {
#define GEN_PASS_DEF_SCHEDULEASSIGNSTORAGE
#include "lib/SchedulePasses/Passes.h.inc"

namespace {
struct AssignStorage : impl::ScheduleAssignStorageBase<AssignStorage> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(runOnKernels(getOperation(), targetsDir, overrides,
                            assignStorage))) {
      signalPassFailure();
    }
  }
};
} // namespace
} // namespace modelc
