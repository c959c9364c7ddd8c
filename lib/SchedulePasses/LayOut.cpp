//===- LayOut.cpp - Swizzles of shared tiles ------------------------------===//
//
// A shared tile is row major but for an exchange of 16-byte units inside each
// line of 128 bytes: unit ^= F(line number), F linear over bits. That is all
// that a direct copy allows (the lanes of a line still fetch one line) and what
// box copies do for three fixed F. Candidates are tried in order of their
// number of ones, the identity of boxes first among equals.
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

namespace {
/// F as the image of each bit of the line number on the three unit bits.
using Swizzle = SmallVector<int32_t, 4>;

/// One access of a wave: lane to (row, column), and how the target serves it.
struct Access {
  Layout lanes;
  const SharedAccess *phases;
};
} // namespace

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Row major, or columns of atoms of 128 bytes where a box wants them so, then
/// swizzled.
static Layout sharedLayout(TileType tile, bool box, const Swizzle &swizzle) {
  int64_t bits = tile.getElementBits();
  int64_t rowBytes = tile.getColumns() * bits / 8;
  int64_t atomBytes = box ? std::min(rowBytes, kLineBytes) : rowBytes;
  auto swizzled = [&](int64_t byte) {
    for (auto [bit, image] : llvm::enumerate(swizzle)) {
      byte ^= (byte / kLineBytes >> bit & 1) * image * kUnitBytes;
    }
    return static_cast<int32_t>(byte);
  };
  Layout::Input row{"row", {}}, column{"column", {}};
  for (int64_t step = 1; step < tile.getRows(); step *= 2) {
    row.bits.push_back({swizzled(step * atomBytes)});
  }
  for (int64_t step = 1; step < tile.getColumns(); step *= 2) {
    int64_t byte = step * bits / 8;
    int64_t atom = byte / atomBytes;
    column.bits.push_back(
        {swizzled(atom ? atom * atomBytes * tile.getRows() : byte)});
  }
  return Layout({row, column},
                {{"byte", static_cast<int32_t>(tile.getBytes())}});
}

/// All F of up to four line bits: none, the one that boxes know, then those
/// with the fewest ones.
static std::vector<Swizzle> candidates(unsigned lineBits) {
  lineBits = std::min(lineBits, 4u);
  unsigned ofBoxes = lineBits < 3 ? 0 : 1 | 2 << 3 | 4 << 6;
  std::vector<std::pair<unsigned, unsigned>> codes;
  for (unsigned code = 0; code < 1u << (3 * lineBits); ++code) {
    codes.push_back({code == ofBoxes ? 0 : llvm::popcount(code), code});
  }
  llvm::sort(codes);
  std::vector<Swizzle> list;
  for (auto [ones, code] : codes) {
    Swizzle &swizzle = list.emplace_back();
    for (unsigned bit = 0; bit < lineBits; ++bit) {
      swizzle.push_back(code >> (3 * bit) & 7);
    }
  }
  return list;
}

/// The F that the copy unit knows for rows of that many bytes, widest first.
static std::vector<Swizzle> boxCandidates(TileType tile, const Target &target) {
  int64_t rowBytes = std::min<int64_t>(
      tile.getColumns() * tile.getElementBits() / 8, kLineBytes);
  std::vector<Swizzle> list;
  if (llvm::is_contained(target.copy.boxSwizzleBytes, rowBytes)) {
    // unit bits [0, b) ^= line bits [0, b), b = log2(row bytes / 16).
    Swizzle swizzle;
    for (int64_t unit = 1; unit * kUnitBytes < rowBytes; unit *= 2) {
      swizzle.push_back(static_cast<int32_t>(unit));
    }
    list.push_back(swizzle);
  }
  list.push_back({});
  return list;
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

static void layOutTile(AllocOp alloc, const Target &target) {
  auto tile = cast<TileType>(alloc.getResult().getType());
  bool box = isFilledByBox(alloc);
  std::vector<Access> accesses = accessesOf(alloc, target);
  int64_t lines = std::max<int64_t>(tile.getBytes() / kLineBytes, 1);
  unsigned best = 0;
  Layout chosen;
  for (const Swizzle &swizzle :
       box ? boxCandidates(tile, target) : candidates(llvm::Log2_64(lines))) {
    Layout layout = sharedLayout(tile, box, swizzle);
    unsigned degree = degreeOf(layout, accesses, target);
    if (!best || degree < best) {
      best = degree;
      chosen = layout;
    }
    if (best == 1) {
      break;
    }
  }
  OpBuilder builder(alloc);
  alloc.getResult().setType(
      tile.with(Space::Shared, LayoutAttr::get(alloc.getContext(), chosen),
                tile.getSlots()));
  alloc->setAttr("conflict_degree", builder.getI64IntegerAttr(best));
}

static LogicalResult layOut(KernelOp kernel, const Target &target) {
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
