//===- WidenAccesses.cpp - Lanes exchange what they store -----------------===//
//
// Fragments of a product give neighbouring lanes a few neighbours of a row, and
// an access of all lanes touches many rows, of each a part of what memory moves
// at once. Bits of the lane that hold neighbours take the place of bits of the
// register that hold those further on: of 16 bits
//
//   registers columns 1 | 8 16 ...   lanes columns 2 4, rows 1 2 4     16 bytes
//   registers columns 1 2 4 | ...    lanes columns 8 16, rows 1 2 4    64 bytes
//
// of each of 8 rows. Results are exchanged in front of their store, what they
// are added to behind its load.
//
//===----------------------------------------------------------------------===//

#include "lib/SchedulePasses/Layouts/Inference.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

namespace {
/// The bits of lanes and registers of a layout along the columns of a tile.
struct Columns {
  Layout::Input registers, lanes;
  unsigned row, column;

  explicit Columns(const Layout &layout)
      : registers(layout.input("register")), lanes(layout.input("lane")),
        row(layout.outputIndex("row")), column(layout.outputIndex("column")) {}

  /// The bit whose image is that column of the same row, or null.
  Layout::Image *find(Layout::Input &input, int64_t step) const {
    auto *it = llvm::find_if(input.bits, [&](const Layout::Image &image) {
      return image[column] == step && image[row] == 0;
    });
    return it == input.bits.end() ? nullptr : it;
  }
  /// Neighbours from `step` on that the input holds.
  int64_t neighbours(Layout::Input &input, int64_t step) const {
    while (find(input, step)) {
      step *= 2;
    }
    return step;
  }
};
} // namespace

/// The layout in which lanes move up to 16 bytes of a row at once, where theirs
/// makes all of them together move less of it than a sector of L2.
static std::optional<Layout> widened(const Layout &layout, TileType tile,
                                     const Target &target) {
  constexpr int64_t kAccessBits = 128, kWordBits = 32;
  int64_t bits = tile.getElementBits();
  Columns columns(layout);
  int64_t own = columns.neighbours(columns.registers, 1);
  int64_t together = columns.neighbours(columns.lanes, own);
  if (own * bits < kWordBits || own * bits >= kAccessBits ||
      together * bits >= 8 * target.cache.sectorBytes) {
    return std::nullopt;
  }
  bool changes = false;
  for (int64_t step = own; step < together && step * bits < kAccessBits;
       step *= 2, together *= 2) {
    Layout::Image *lane = columns.find(columns.lanes, step);
    Layout::Image *further = columns.find(columns.registers, together);
    if (!further) {
      break;
    }
    std::swap(*lane, *further);
    changes = true;
  }
  if (!changes) {
    return std::nullopt;
  }
  // Neighbours first, then all others as they were.
  Layout::Input registers{"register", {}};
  for (bool isNear : {true, false}) {
    llvm::copy_if(columns.registers.bits, std::back_inserter(registers.bits),
                  [&](const Layout::Image &image) {
                    return isNear ==
                           (image[columns.row] == 0 &&
                            image[columns.column] * bits < kAccessBits);
                  });
  }
  return Layout({registers, columns.lanes, layout.input("wave")},
                layout.outputs());
}

/// Whether the columns of the tile lie side by side in memory.
template <typename Op>
static bool movesRows(Op op, Type memory) {
  auto buffer = dyn_cast<BufferType>(memory);
  return buffer &&
         (!op.getDims() || (*op.getDims())[1] == buffer.getRank() - 1);
}

void Inference::widenStore(StoreOp store) {
  Value value = store.getValue();
  if (store.getAdd() || !isRegisterValue(value) ||
      !movesRows(store, store.getDestination().getType())) {
    return;
  }
  auto tile = cast<TileType>(value.getType());
  if (auto layout = widened(layouts.lookup(value).getLayout(), tile, target)) {
    demand(store.getValueMutable(), attribute(*layout));
  }
}

void Inference::widenLoad(LoadOp load) {
  Value result = load.getResult();
  bool isComputedWith = isRegisterValue(result) &&
                        llvm::all_of(result.getUsers(), llvm::IsaPred<MapOp>);
  if (!isComputedWith || !movesRows(load, load.getSource().getType())) {
    return;
  }
  auto tile = cast<TileType>(result.getType());
  LayoutAttr wanted = layouts.lookup(result);
  if (auto layout = widened(wanted.getLayout(), tile, target)) {
    OpBuilder builder(load->getContext());
    builder.setInsertionPointAfter(load);
    auto moved =
        RelayoutOp::create(builder, load.getLoc(),
                           tile.with(Space::Register, wanted), result, Value());
    result.replaceAllUsesExcept(moved, moved);
    layouts[moved.getResult()] = wanted;
    layouts[result] = attribute(*layout);
  }
}
