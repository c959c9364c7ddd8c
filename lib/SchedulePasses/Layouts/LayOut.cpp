//===- LayOut.cpp - Swizzles of shared tiles ------------------------------===//
//
// A shared tile is row major but for an exchange of units inside the span of
// all banks: address bits of the unit number ^= F(higher address bits), F
// linear. A direct copy allows that (lanes that fill a line of 128 bytes still
// fetch one line), and box copies do it for three fixed F. Candidates are tried
// in order of their number of ones, none and that of boxes first.
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Layouts/MmaLayouts.h"
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

/// Where `byte` lies once swizzled; linear over the bits of `byte`.
static uint64_t swizzled(uint64_t byte, const Swizzle &swizzle) {
  uint64_t result = byte;
  for (Term term : swizzle) {
    result ^= (byte >> term.from & 1) << term.to;
  }
  return result;
}

/// Row major, or columns of atoms of 128 bytes where a box wants them so, then
/// swizzled. Rows that are no power of two are the first ones of the next.
static Layout sharedLayout(TileType tile, bool box, const Swizzle &swizzle) {
  int64_t rowBytes = rowBytesOf(tile);
  int64_t atomBytes = box ? std::min(rowBytes, kLineBytes) : rowBytes;
  auto place = [&](int64_t byte) {
    return static_cast<int32_t>(swizzled(byte, swizzle));
  };
  Layout::Input row{"row", {}}, column{"column", {}};
  for (int64_t step = 1; step < tile.getRows(); step *= 2) {
    row.bits.push_back({place(step * atomBytes)});
  }
  for (int64_t step = 1; step < tile.getColumns(); step *= 2) {
    int64_t byte = step * tile.getElementBits() / 8;
    int64_t atom = byte / atomBytes;
    column.bits.push_back(
        {place(atom ? atom * atomBytes * tile.getRows() : byte)});
  }
  auto bytes = static_cast<int32_t>(llvm::PowerOf2Ceil(tile.getBytes()));
  return Layout({row, column}, {{"byte", bytes}});
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

/// The terms that F may have. A unit is never split, and at most the words of
/// all banks are exchanged.
static std::vector<Term> termsFor(TileType tile, int64_t unitBytes,
                                  const Target &target) {
  unsigned tileBits = llvm::Log2_64(tile.getBytes());
  unsigned bankBits =
      llvm::Log2_64(target.shared.banks * target.shared.bankBytes);
  std::vector<Term> terms;
  for (unsigned to = llvm::Log2_64(unitBytes); to < bankBits; ++to) {
    for (unsigned from = std::max(to + 1, 7u);
         from < std::min(tileBits, kHighestBit); ++from) {
      terms.push_back({to, from});
    }
  }
  return terms;
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

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

namespace {
/// Addresses that one phase of an access asks for at once, before a swizzle.
struct Served {
  SmallVector<uint64_t> bytes;
  unsigned banks;
};

/// Looks for the swizzle of the least degree, the first of equals.
class Search {
public:
  Search(const Layout &plain, ArrayRef<Access> accesses, const Target &target);
  /// Whether no other swizzle can be better.
  bool consider(const Swizzle &swizzle);
  /// Considers `swizzle` with every choice of `left` of the `terms`, until no
  /// other can be better.
  bool extend(ArrayRef<Term> terms, unsigned left, Swizzle &swizzle);

  unsigned best = 0;
  Swizzle chosen;

private:
  unsigned degreeOf(const Swizzle &swizzle) const;

  SmallVector<Served> all;
  unsigned bankBytes;
};
} // namespace

Search::Search(const Layout &plain, ArrayRef<Access> accesses,
               const Target &target)
    : bankBytes(target.shared.bankBytes) {
  for (const Access &access : accesses) {
    Layout::Input lane{"lane", {}};
    int32_t phases = 1;
    for (int64_t phase : access.phases->phaseOfLaneBit) {
      lane.bits.push_back({static_cast<int32_t>(phase)});
      phases = std::max<int32_t>(phases, llvm::NextPowerOf2(phase));
    }
    all.push_back({servedTogether(access.lanes.then(plain),
                                  Layout({lane}, {{"phase", phases}})),
                   static_cast<unsigned>(access.phases->banks)});
  }
}

unsigned Search::degreeOf(const Swizzle &swizzle) const {
  unsigned worst = 1;
  for (const Served &served : all) {
    SmallVector<uint64_t> bytes;
    for (uint64_t byte : served.bytes) {
      bytes.push_back(swizzled(byte, swizzle));
    }
    worst = std::max(worst, bankConflictDegree(bytes, served.banks, bankBytes));
  }
  return worst;
}

bool Search::consider(const Swizzle &swizzle) {
  unsigned degree = degreeOf(swizzle);
  if (!best || degree < best) {
    best = degree;
    chosen = swizzle;
  }
  return best == 1;
}

bool Search::extend(ArrayRef<Term> terms, unsigned left, Swizzle &swizzle) {
  if (left == 0) {
    return consider(swizzle);
  }
  // A term changes the rank of the bank bits by one, so halves the degree at
  // most.
  if (degreeOf(swizzle) >> left >= best) {
    return false;
  }
  for (size_t i = 0; i + left <= terms.size(); ++i) {
    swizzle.push_back(terms[i]);
    if (extend(terms.drop_front(i + 1), left - 1, swizzle)) {
      return true;
    }
    swizzle.pop_back();
  }
  return false;
}

/// None, that of boxes, then fewest terms first.
static void searchAll(Search &search, TileType tile, int64_t unitBytes,
                      const Target &target) {
  Swizzle ofBoxes = boxSwizzle(kLineBytes);
  bool fits = ofBoxes.back().from < llvm::Log2_64(tile.getBytes());
  if (search.consider({}) ||
      (fits && unitBytes <= kUnitBytes && search.consider(ofBoxes))) {
    return;
  }
  std::vector<Term> terms = termsFor(tile, unitBytes, target);
  for (unsigned count = 1; count <= kMostTerms; ++count) {
    Swizzle swizzle;
    if (search.extend(terms, count, swizzle)) {
      return;
    }
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Whether boxes fill the place or a matrix unit reads it: both know the same
/// layouts.
static bool isLaidOutAsBox(AllocOp alloc) {
  return llvm::any_of(alloc.getResult().getUsers(), [](Operation *user) {
    auto copy = dyn_cast<CopyOp>(user);
    return isa<MmaOp>(user) || (copy && copy.getBox());
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

/// The row of the product for which scales go from the place to tensor memory;
/// null where none do.
static const MmaRow *rowOfScales(AllocOp alloc, const Target &target) {
  for (Operation *user : alloc.getResult().getUsers()) {
    auto copy = dyn_cast<CopyOp>(user);
    if (!copy || copy.getSource() != alloc.getResult()) {
      continue;
    }
    for (Operation *reader : copy.getDestination().getUsers()) {
      if (auto mma = dyn_cast<MmaOp>(reader)) {
        return target.instruction(mma.getInstruction().value_or(""));
      }
    }
  }
  return nullptr;
}

/// Rows end inside of a power of two only where all of them are one piece.
static LogicalResult checkRows(AllocOp alloc) {
  auto tile = cast<TileType>(alloc.getResult().getType());
  bool isOnePiece = llvm::isPowerOf2_64(tile.getColumns()) &&
                    rowBytesOf(tile) <= kLineBytes && isLaidOutAsBox(alloc);
  if (llvm::isPowerOf2_64(tile.getNumElements()) || isOnePiece) {
    return success();
  }
  return alloc.emitOpError("expected a power of two as the rows of a tile that "
                           "is not copied in boxes of rows of at most ")
         << kLineBytes << " bytes, got " << tile;
}

static void layOutTile(AllocOp alloc, const Target &target) {
  auto tile = cast<TileType>(alloc.getResult().getType());
  if (const MmaRow *row = rowOfScales(alloc, target)) {
    auto layout =
        LayoutAttr::get(alloc.getContext(), scalesPlaceLayout(*row, tile));
    alloc.getResult().setType(
        tile.with(Space::Shared, layout, tile.getSlots()));
    return;
  }
  bool box = isLaidOutAsBox(alloc);
  std::vector<Access> accesses = accessesOf(alloc, target);
  Search search(sharedLayout(tile, box, {}), accesses, target);
  if (box) {
    // What the matrix unit reads: the swizzle of the row's width.
    search.consider(boxSwizzle(std::min(rowBytesOf(tile), kLineBytes)));
  } else {
    searchAll(search, tile, unitOf(alloc, accesses, target), target);
  }
  Layout chosen = sharedLayout(tile, box, search.chosen);
  alloc.getResult().setType(
      tile.with(Space::Shared, LayoutAttr::get(alloc.getContext(), chosen),
                tile.getSlots()));
  alloc.setConflictDegree(search.best);
}

LogicalResult modelc::layOut(KernelOp kernel, const Target &target) {
  WalkResult result = kernel.walk([&](AllocOp alloc) {
    auto tile = dyn_cast<TileType>(alloc.getResult().getType());
    if (tile && tile.getSpace() == Space::Shared && !tile.getLayout()) {
      if (failed(checkRows(alloc))) {
        return WalkResult::interrupt();
      }
      layOutTile(alloc, target);
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
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
