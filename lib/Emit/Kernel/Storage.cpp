//===- Storage.cpp - Shared memory, barriers, tensor memory, the grid -----===//

#include "lib/Emit/Kernel/Printer.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

namespace {
/// A piece of shared memory: one tile or ring, or several that overlap.
struct Piece {
  int64_t begin, end;
  SmallVector<AllocOp> allocs;
};
} // namespace

static int64_t bytesOf(AllocOp alloc) {
  auto tile = cast<TileType>(alloc.getType());
  return tile.getBytes() * tile.getSlots();
}

static SmallVector<AllocOp> allocsIn(KernelOp kernel, Space space) {
  SmallVector<AllocOp> result;
  kernel.walk([&](AllocOp alloc) {
    auto tile = dyn_cast<TileType>(alloc.getType());
    if (tile && tile.getSpace() == space) {
      result.push_back(alloc);
    }
  });
  return result;
}

/// Pieces in the order of their bytes.
static SmallVector<Piece> piecesOf(ArrayRef<AllocOp> allocs) {
  SmallVector<std::pair<int64_t, unsigned>> sorted;
  for (auto [i, alloc] : llvm::enumerate(allocs)) {
    sorted.push_back({AllocOp(alloc).getAt().value_or(0), i});
  }
  llvm::sort(sorted);
  SmallVector<Piece> pieces;
  for (auto [begin, i] : sorted) {
    AllocOp alloc = allocs[i];
    int64_t end = begin + bytesOf(alloc);
    if (pieces.empty() || begin >= pieces.back().end) {
      pieces.push_back({begin, end, {}});
    }
    pieces.back().end = std::max(pieces.back().end, end);
    pieces.back().allocs.push_back(alloc);
  }
  return pieces;
}

/// "Place<S>" or "Ring<S, 3>".
static std::string handleType(TileType tile, StringRef type, StringRef ring) {
  return tile.getSlots() == 1
             ? ("Place<" + type + ">").str()
             : (ring + "<" + type + ", " + Twine(tile.getSlots()) + ">").str();
}

/// Every slot an object of its own; what overlaps shares one.
void KernelPrinter::printSharedPlaces() {
  SmallVector<AllocOp> allocs = allocsIn(kernel, Space::Shared);
  if (!slotsLieApart(target)) {
    if (kernel.getSharedBytes().value_or(0) > 0) {
      line("DYNAMIC_SHARED(shared);");
    }
    for (AllocOp alloc : allocs) {
      auto tile = cast<TileType>(alloc.getType());
      std::string name = nameOf(alloc.getResult(), wishFor(alloc.getResult()));
      std::string type = placeTypeName(tile, name);
      line("const " + handleType(tile, type, "Ring") + " " + name +
           "{shared + " + Twine(alloc.getAt().value_or(0)) + "};");
    }
    return;
  }
  for (const Piece &piece : piecesOf(allocs)) {
    auto first = cast<TileType>(AllocOp(piece.allocs[0]).getType());
    bool isRing = piece.allocs.size() == 1 && first.getSlots() > 1;
    std::string objects;
    std::string base =
        names.fresh(wishFor(AllocOp(piece.allocs[0]).getResult()) + "Bytes");
    for (int64_t slot = 0; slot < (isRing ? first.getSlots() : 1); ++slot) {
      std::string object =
          isRing ? names.fresh(base + std::to_string(slot)) : base;
      objects += (slot ? ", " : "") + object;
      line("SHARED_OBJECT(" + object + ", " +
           Twine(isRing ? first.getBytes() : piece.end - piece.begin) + ");");
    }
    for (AllocOp alloc : piece.allocs) {
      auto tile = cast<TileType>(alloc.getType());
      std::string name = nameOf(alloc.getResult(), wishFor(alloc.getResult()));
      std::string type = placeTypeName(tile, name);
      int64_t at = alloc.getAt().value_or(0) - piece.begin;
      line("const " + handleType(tile, type, isRing ? "ApartRing" : "Ring") +
           " " + name +
           (isRing ? "{{" + objects + "}};"
                   : "{" + objects + (at ? " + " + std::to_string(at) : "") +
                         "};"));
    }
  }
}

static StringRef reachText(Reach reach) {
  switch (reach) {
  case Reach::Own:
    return "";
  case Reach::Leader:
    return ", Reach::Leader";
  case Reach::All:
    return ", Reach::All";
  }
  llvm_unreachable("all reaches are listed");
}

void KernelPrinter::printBarriers() {
  bool any = false;
  kernel.walk([&](AllocOp alloc) {
    auto barrier = dyn_cast<BarrierType>(alloc.getType());
    if (!barrier) {
      return;
    }
    any = true;
    std::string name = nameOf(alloc.getResult(), wishFor(alloc.getResult()));
    line("const Barriers<" + Twine(barrier.getSlots()) +
         reachText(barrier.getReach()) + "> " + name +
         "{(Barrier *)(shared + " + Twine(alloc.getAt().value_or(0)) + ")};");
    line("startBarriers(" + name + ", " + Twine(barrier.getCount()) + ");");
  });
  if (any) {
    line(kernel.getCluster()
             ? "barriersAreReady<" + Twine(*kernel.getCluster()) + ">();"
             : "barriersAreReady();");
  }
}

/// Whether two workgroups multiply together.
bool KernelPrinter::multipliesInPairs() {
  return kernel
      .walk([](MmaOp mma) {
        return WalkResult(failure(mma.getWorkgroups().value_or(1) == 2));
      })
      .wasInterrupted();
}

/// Columns of tensor memory, and whether a pair takes them together.
std::string KernelPrinter::columnsText() {
  return std::to_string(*kernel.getTensorColumns()) +
         (multipliesInPairs() ? ", Pair" : "");
}

void KernelPrinter::printTensorPlaces() {
  if (!kernel.getTensorColumns()) {
    return;
  }
  line("const uint32_t tensor = allocTensor<" + columnsText() + ">(shared);");
  for (AllocOp alloc : allocsIn(kernel, Space::Tensor)) {
    auto tile = cast<TileType>(alloc.getType());
    std::string name = nameOf(alloc.getResult(), wishFor(alloc.getResult()));
    bool isRing = tile.getSlots() > 1;
    if (holdsScales(tile)) {
      line("const ScalesPlace<" + Twine(tile.getRows()) + ", " +
           Twine(tile.getColumns()) + "> " + name + "{tensor + " +
           Twine(alloc.getAt().value_or(0)) + "};");
      continue;
    }
    // A column holds a word.
    int64_t columns = tile.getColumns() * tile.getElementBits() / 32;
    line((isRing ? "const TensorRing<" : "const TensorPlace<") +
         Twine(tile.getRows()) + ", " + Twine(columns) +
         (isRing ? ", " + std::to_string(tile.getSlots()) : "") + "> " + name +
         "{tensor + " + Twine(alloc.getAt().value_or(0)) + "};");
  }
}

/// Before tensor memory, which an earlier kernel may still ask for.
void KernelPrinter::followEarlierKernels() {
  line(startsNextAtStore() ? "awaitEarlierKernels();"
                           : "followEarlierKernels();");
  printTensorPlaces();
}

bool KernelPrinter::startsNextAtStore() {
  return target.launch.startsEarly && startsNextLate(kernel);
}

/// In front of the first store: the next kernel may come. A persistent
/// workgroup leaves it no unit before it ends.
void KernelPrinter::startNextKernel() {
  if (startsNextAtStore() && !nextIsStarted &&
      !kernel.getGrid().getPersistent()) {
    line("startNextKernel();");
    nextIsStarted = true;
  }
}

void KernelPrinter::printStorage() {
  printSharedPlaces();
  printBarriers();
  if (kernel.getGrid().getBody().getOps<PrefetchOp>().empty()) {
    followEarlierKernels();
  }
}

//===----------------------------------------------------------------------===//
// Grid
//===----------------------------------------------------------------------===//

/// Workgroups along one index of the grid.
static std::string countText(const std::string &upper, const std::string &lower,
                             bool fromZero) {
  return fromZero ? upper : "(" + upper + " - " + lower + ")";
}

void KernelPrinter::printGridIndices(LoopOp grid, StringRef id) {
  unsigned count = grid.getUpperBounds().size();
  SmallVector<std::string> counts, wishes;
  for (unsigned i = 0; i < count; ++i) {
    Value lower = grid.getLowerBounds()[i];
    counts.push_back(countText(text(grid.getUpperBounds()[i], 14), text(lower),
                               matchPattern(lower, m_Zero())));
    wishes.push_back(wishFor(grid.getInductionVars()[i]));
  }
  ArrayRef<int64_t> order = grid.getOrder().value_or(ArrayRef<int64_t>());
  int64_t group = order.size() > 1 ? order[1] : 1;
  auto define = [&](unsigned i, const std::string &index) {
    Value lower = grid.getLowerBounds()[i];
    std::string value = index;
    if (!grid.getSteps().empty() &&
        !matchPattern(grid.getSteps()[i], m_One())) {
      value = "(" + value + ") * " + text(grid.getSteps()[i], 14);
    }
    if (!matchPattern(lower, m_Zero())) {
      value = text(lower, 12) + " + " + value;
    }
    std::string name = nameOf(grid.getInductionVars()[i], wishes[i]);
    line("const int " + name + " = " + value + ";");
  };
  if (count == 1) {
    define(0, id.str());
    return;
  }
  std::string rest = id.str(),
              inner = counts[count - 2] + " * " + counts[count - 1];
  std::string outer = id.str() + " / (" + inner + ")";
  for (unsigned i = count - 2; i-- > 0;) {
    define(i, i == 0 ? outer : outer + " % " + counts[i]);
    outer = "(" + outer + ") / " + counts[i];
  }
  if (count > 2) {
    rest += " % (" + inner + ")";
  }
  std::string position = names.fresh("gridPosition");
  line("const GridPosition " + position + " = groupedOrder<" + Twine(group) +
       ">(" + rest + ", " + counts[count - 2] + ", " + counts[count - 1] +
       ");");
  define(count - 2, position + ".row");
  define(count - 1, position + ".column");
}

LogicalResult KernelPrinter::printGrid(LoopOp grid) {
  ArrayRef<int64_t> order = grid.getOrder().value_or(ArrayRef<int64_t>());
  int64_t chiplets = order.empty() ? 1 : order[0];
  for (Value upper : grid.getUpperBounds()) {
    if (!spelled.contains(upper) && !matchPattern(upper, m_Constant())) {
      std::string value = text(upper);
      line("const int " + nameOf(upper, wishFor(upper)) + " = " + value + ";");
    }
  }
  SmallVector<std::string> counts;
  for (auto [upper, lower] :
       llvm::zip_equal(grid.getUpperBounds(), grid.getLowerBounds())) {
    counts.push_back(
        countText(text(upper, 13), text(lower), matchPattern(lower, m_Zero())));
  }
  std::string total = llvm::join(counts, " * ");
  if (!grid.getPersistent()) {
    std::string id = names.fresh("workgroup");
    names.enterScope();
    line("const int " + id + " = " +
         (chiplets > 1 ? "chipletOrder<" + Twine(chiplets) +
                             ">(workgroupId(), " + total + ")"
                       : Twine("workgroupId()")) +
         ";");
    printGridIndices(grid, id);
    LogicalResult result = printBlock(grid.getBody().front());
    names.leaveScope();
    return result;
  }
  bool hasBarriers =
      kernel
          .walk([](AllocOp alloc) {
            return WalkResult(failure(isa<BarrierType>(alloc.getType())));
          })
          .wasInterrupted();
  if (hasBarriers && grid.getCarried().empty()) {
    return grid.emitOpError("expected a persistent kernel with barriers to "
                            "carry the number of its tile: their trips would "
                            "start again at each");
  }
  declareCarried(grid);
  auto roles = grid.getBody().getOps<RoleOp>();
  if (roles.empty()) {
    return printTiles(grid, total);
  }
  for (RoleOp role : roles) {
    walking = role;
    if (failed(printRole(role, [&] { return printTiles(grid, total); }))) {
      return failure();
    }
  }
  walking = {};
  return success();
}

/// The loop of a persistent workgroup over its tiles, or of one role of it:
/// each goes on to the next tile by itself.
LogicalResult KernelPrinter::printTiles(LoopOp grid, StringRef total) {
  ArrayRef<int64_t> order = grid.getOrder().value_or(ArrayRef<int64_t>());
  names.enterScope();
  std::string id = names.fresh("workgroup"), next = names.fresh("next");
  open("for (int " + next + " = workgroupId(); " + next + " < " + total + "; " +
       next + " += workgroupCount()) {");
  line("const int " + id + " = chipletOrder<" +
       Twine(order.empty() ? 1 : order[0]) + ">(" + next + ", " + total + ");");
  printGridIndices(grid, id);
  LogicalResult result = printBlock(grid.getBody().front());
  printYield(grid);
  if (!walking) {
    line("sync();");
  }
  close();
  names.leaveScope();
  return result;
}
