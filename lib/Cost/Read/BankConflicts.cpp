#include "lib/Cost/Read/ReadKernel.h"

using namespace mlir;
using namespace modelc::schedule;

namespace modelc {

/// Lane to phase, as the target file states it.
static Layout phaseLayout(const SharedAccess &access) {
  Layout::Input lane{"lane", {}};
  int64_t phases = 1;
  for (int64_t phase : access.phaseOfLaneBit) {
    lane.bits.push_back({int32_t(phase)});
    while (phases <= phase) {
      phases *= 2;
    }
  }
  return Layout({lane}, {{"phase", int32_t(phases)}});
}

/// (row, column) to byte of a tile without a layout: row major.
static Layout rowMajor(TileType tile) {
  Layout::Input row{"row", {}}, column{"column", {}};
  int32_t byte = tile.getElementBits() / 8;
  for (int64_t i = 1; i < tile.getColumns(); i *= 2) {
    column.bits.push_back({byte});
    byte *= 2;
  }
  for (int64_t i = 1; i < tile.getRows(); i *= 2) {
    row.bits.push_back({byte});
    byte *= 2;
  }
  return Layout({row, column}, {{"byte", byte}});
}

/// The bytes that lane bits choose, the register and wave at 0.
static Layout laneToByte(const Layout &value, const Layout &place) {
  return Layout({value.input("lane")}, value.outputs()).then(place);
}

double accessDegree(TileType place, TileType value, StringRef kind,
                    bool isTransposed, const Target &target) {
  const SharedMemory &shared = target.shared;
  SmallVector<int64_t, 2> shape(value.getShape());
  if (isTransposed) {
    std::swap(shape[0], shape[1]);
  }
  if (!value.getLayout() || place.getElementBits() < 8 ||
      place.getShape() != ArrayRef(shape) || shared.bankBytes == 0) {
    return 1;
  }
  Layout registers = value.getLayout().getLayout();
  if (isTransposed) {
    registers = registers.transposed();
  }
  Layout bytes =
      place.getLayout() ? place.getLayout().getLayout() : rowMajor(place);
  // The widest access whose elements lie together in memory, in any registers.
  Layout elements =
      Layout({registers.input("register")}, registers.outputs()).then(bytes);
  constexpr int64_t kWidest = 16;
  auto isOwned = [&](int64_t step) {
    return llvm::any_of(
        elements.inputs()[0].bits,
        [&](const Layout::Image &image) { return image[0] == step; });
  };
  int64_t width = value.getElementBits() / 8;
  while (width < kWidest && isOwned(width)) {
    width *= 2;
  }
  // The hardware gives lanes that own neighbours of a row what others read.
  int64_t lanes = shared.transposedReadLanes;
  bool ownsNeighbours =
      lanes > 0 ? registers.lanesOwnNeighbours("column", lanes) : isTransposed;
  if (kind == "read" && width < shared.bankBytes && ownsNeighbours &&
      llvm::is_contained(shared.transposedReadBits, value.getElementBits())) {
    return 1;
  }
  double perWord =
      std::max<double>(1, double(shared.bankBytes) / double(width));
  const SharedAccess *access = nullptr;
  for (int64_t asked = std::max(width, shared.bankBytes); asked > 0 && !access;
       asked /= 2) {
    access = shared.access(kind, asked);
  }
  return !access
             ? perWord
             : perWord * bankConflictDegree(laneToByte(registers, bytes),
                                            phaseLayout(*access), access->banks,
                                            shared.bankBytes);
}

} // namespace modelc
