//===- LayOut.cpp - Swizzles of shared tiles ------------------------------===//
//
// A shared tile is row major but for an exchange of units inside the span of
// all banks: address bits of the unit number ^= F(higher address bits), F
// linear. A direct copy allows that (lanes that fill a line of 128 bytes still
// fetch one line), and box copies do it for three fixed F. Candidates are tried
// in order of their number of ones, none and that of boxes first.
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Machine.h"
#include "lib/SchedulePasses/SchedulePasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

constexpr int64_t kLineBytes = 128, kUnitBytes = 16;
constexpr unsigned kHighestBit = 12, kMostTerms = 4;

namespace {
/// One term of F: byte address bit `to` ^= bit `from`, from > to.
struct Term {
  unsigned to, from;
  auto operator<=>(const Term &) const = default;
};
using Swizzle = std::vector<Term>;

/// One access of a wave: lane to (row, column), and how the target serves it.
struct Access {
  Layout lanes;
  const SharedAccess *phases;
};
} // namespace

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

static int64_t rowBytesOf(TileType tile) {
  return tile.getColumns() * tile.getElementBits() / 8;
}

/// Row major, or columns of atoms of 128 bytes where a box wants them so, then
/// swizzled.
static Layout sharedLayout(TileType tile, bool box, const Swizzle &swizzle) {
  int64_t rowBytes = rowBytesOf(tile);
  int64_t atomBytes = box ? std::min(rowBytes, kLineBytes) : rowBytes;
  auto swizzled = [&](int64_t byte) {
    int64_t result = byte;
    for (Term term : swizzle) {
      result ^= (byte >> term.from & 1) << term.to;
    }
    return static_cast<int32_t>(result);
  };
  Layout::Input row{"row", {}}, column{"column", {}};
  for (int64_t step = 1; step < tile.getRows(); step *= 2) {
    row.bits.push_back({swizzled(step * atomBytes)});
  }
  for (int64_t step = 1; step < tile.getColumns(); step *= 2) {
    int64_t byte = step * tile.getElementBits() / 8;
    int64_t atom = byte / atomBytes;
    column.bits.push_back(
        {swizzled(atom ? atom * atomBytes * tile.getRows() : byte)});
  }
  return Layout({row, column},
                {{"byte", static_cast<int32_t>(tile.getBytes())}});
}

/// The F of a box copy for rows of `rowBytes`: address bits [4, 4 + b) ^= bits
/// [7, 7 + b), b = log2(rowBytes / 16).
static Swizzle boxSwizzle(int64_t rowBytes) {
  Swizzle swizzle;
  for (unsigned bit = 0; kUnitBytes << bit < rowBytes; ++bit) {
    swizzle.push_back({4 + bit, 7 + bit});
  }
  return swizzle;
}

/// Calls `visit` on every choice of at most `left` terms, until it is content.
static bool chooseTerms(ArrayRef<Term> terms, unsigned left, Swizzle &chosen,
                        llvm::function_ref<bool(const Swizzle &)> visit) {
  if (left == 0) {
    return visit(chosen);
  }
  for (size_t i = 0; i + left <= terms.size(); ++i) {
    chosen.push_back(terms[i]);
    if (chooseTerms(terms.drop_front(i + 1), left - 1, chosen, visit)) {
      return true;
    }
    chosen.pop_back();
  }
  return false;
}

/// All F for a tile, none and that of boxes first, then fewest terms first. A
/// unit is never split, and at most the words of all banks are exchanged.
static void forEachSwizzle(TileType tile, int64_t unitBytes,
                           const Target &target,
                           llvm::function_ref<bool(const Swizzle &)> visit) {
  unsigned tileBits = llvm::Log2_64(tile.getBytes());
  unsigned bankBits =
      llvm::Log2_64(target.shared.banks * target.shared.bankBytes);
  Swizzle ofBoxes = boxSwizzle(kLineBytes);
  bool fits = ofBoxes.back().from < tileBits;
  if (visit({}) || (fits && unitBytes <= kUnitBytes && visit(ofBoxes))) {
    return;
  }
  std::vector<Term> terms;
  for (unsigned to = llvm::Log2_64(unitBytes); to < bankBits; ++to) {
    for (unsigned from = std::max(to + 1, 7u);
         from < std::min(tileBits, kHighestBit); ++from) {
      terms.push_back({to, from});
    }
  }
  for (unsigned count = 1; count <= kMostTerms; ++count) {
    Swizzle chosen;
    if (chooseTerms(terms, count, chosen, visit)) {
      return;
    }
  }
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// The access by which a register value moves to or from its place.
static std::optional<Access> accessOf(TileType value, StringRef kind,
                                      StringRef along, const Target &target) {
  if (!value.getLayout()) {
    return std::nullopt;
  }
  const Layout &layout = value.getLayout().getLayout();
  int64_t bits = value.getElementBits();
  int64_t bytes =
      layout.contiguous(along, std::max<int64_t>(128 / bits, 1)) * bits / 8;
  const SharedAccess *phases = nullptr;
  for (; bytes >= 1 && !phases; bytes /= 2) {
    phases = target.shared.access(kind, bytes);
  }
  if (!phases) {
    phases = target.shared.access(kind, 4);
  }
  if (!phases) {
    return std::nullopt;
  }
  return Access{Layout({layout.input("lane")}, layout.outputs()), phases};
}

/// Lanes that fetch rows of 16 bytes of a K x N place, to be transposed by the
/// hardware: eight rows side by side.
static std::optional<Access> transposingAccess(TileType place,
                                               const Target &target) {
  const SharedAccess *phases = target.shared.access("read", kUnitBytes);
  if (!phases) {
    return std::nullopt;
  }
  Layout::Input lane{"lane", {}};
  for (size_t bit = 0; bit < phases->phaseOfLaneBit.size(); ++bit) {
    int32_t row = bit < 3 ? 1 << bit : 0;
    lane.bits.push_back({row < place.getRows() ? row : 0, 0});
  }
  return Access{Layout({lane}, {{"row", int32_t(place.getRows())},
                                {"column", int32_t(place.getColumns())}}),
                phases};
}

static std::vector<Access> accessesOf(AllocOp alloc, const Target &target) {
  std::vector<Access> list;
  auto add = [&](std::optional<Access> access) {
    if (access) {
      list.push_back(*access);
    }
  };
  auto place = cast<TileType>(alloc.getResult().getType());
  bool transposes = llvm::is_contained(target.shared.transposedReadBits,
                                       place.getElementBits());
  for (Operation *user : alloc.getResult().getUsers()) {
    if (auto load = dyn_cast<LoadOp>(user)) {
      auto value = cast<TileType>(load.getResult().getType());
      if (!load.getTransposed()) {
        add(accessOf(value, "read", "column", target));
      } else if (transposes) {
        add(transposingAccess(place, target));
      } else if (value.getLayout()) {
        const Layout &layout = value.getLayout().getLayout();
        add(accessOf(TileType::get(place.getContext(), place.getShape(),
                                   place.getElementType(), Space::Register,
                                   LayoutAttr::get(place.getContext(),
                                                   layout.transposed()),
                                   1),
                     "read", "column", target));
      }
    } else if (auto store = dyn_cast<StoreOp>(user)) {
      add(accessOf(cast<TileType>(store.getValue().getType()), "write",
                   "column", target));
    }
  }
  return list;
}

static unsigned degreeOf(const Layout &shared, ArrayRef<Access> accesses,
                         const Target &target) {
  unsigned worst = 1;
  for (const Access &access : accesses) {
    Layout::Input lane{"lane", {}};
    int32_t phases = 1;
    for (int64_t phase : access.phases->phaseOfLaneBit) {
      lane.bits.push_back({static_cast<int32_t>(phase)});
      phases = std::max<int32_t>(phases, llvm::NextPowerOf2(phase));
    }
    worst = std::max(worst, bankConflictDegree(
                                access.lanes.then(shared),
                                Layout({lane}, {{"phase", phases}}),
                                access.phases->banks, target.shared.bankBytes));
  }
  return worst;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static bool isFilledByBox(AllocOp alloc) {
  return llvm::any_of(alloc.getResult().getUsers(), [](Operation *user) {
    auto copy = dyn_cast<CopyOp>(user);
    return copy && copy.getBox();
  });
}

/// The smallest piece that may not be torn: of a copy, or of an access.
static int64_t unitOf(AllocOp alloc, ArrayRef<Access> accesses,
                      const Target &target) {
  bool copied =
      llvm::any_of(alloc.getResult().getUsers(), llvm::IsaPred<CopyOp>);
  int64_t bytes = copied ? target.copy.bytesPerLane : 4;
  for (const Access &access : accesses) {
    bytes = std::max(bytes, access.phases->bytes);
  }
  return bytes;
}

static void layOutTile(AllocOp alloc, const Target &target) {
  auto tile = cast<TileType>(alloc.getResult().getType());
  bool box = isFilledByBox(alloc);
  std::vector<Access> accesses = accessesOf(alloc, target);
  unsigned best = 0;
  Layout chosen;
  auto tryOne = [&](const Swizzle &swizzle) {
    Layout layout = sharedLayout(tile, box, swizzle);
    unsigned degree = degreeOf(layout, accesses, target);
    if (!best || degree < best) {
      best = degree;
      chosen = layout;
    }
    return best == 1;
  };
  if (box) {
    // What the matrix unit reads: the swizzle of the row's width.
    tryOne(boxSwizzle(std::min(rowBytesOf(tile), kLineBytes)));
  } else {
    forEachSwizzle(tile, unitOf(alloc, accesses, target), target, tryOne);
  }
  OpBuilder builder(alloc);
  alloc.getResult().setType(
      tile.with(Space::Shared, LayoutAttr::get(alloc.getContext(), chosen),
                tile.getSlots()));
  alloc->setAttr("conflict_degree", builder.getI64IntegerAttr(best));
}

LogicalResult modelc::layOut(KernelOp kernel, const Target &target) {
  kernel.walk([&](AllocOp alloc) {
    auto tile = dyn_cast<TileType>(alloc.getResult().getType());
    if (tile && tile.getSpace() == Space::Shared && !tile.getLayout()) {
      layOutTile(alloc, target);
    }
  });
  return success();
}

namespace modelc {
#define GEN_PASS_DEF_SCHEDULELAYOUT
#include "lib/SchedulePasses/Passes.h.inc"

namespace {
struct LayOut : impl::ScheduleLayOutBase<LayOut> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(runOnKernels(getOperation(), targetsDir, overrides, layOut))) {
      signalPassFailure();
    }
  }
};
} // namespace
} // namespace modelc
