#include "lib/Cost/ReadKernel.h"

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

double bankConflicts(TileType place, TileType value, StringRef kind,
                     const Target &target) {
  if (!value.getLayout() || place.getElementBits() < 8 ||
      place.getShape() != value.getShape()) {
    return 1;
  }
  const Layout &registers = value.getLayout().getLayout();
  Layout bytes =
      place.getLayout() ? place.getLayout().getLayout() : rowMajor(place);
  // The widest access whose elements lie together in registers and in memory.
  Layout elements =
      Layout({registers.input("register")}, registers.outputs()).then(bytes);
  int64_t width = value.getElementBits() / 8;
  for (const Layout::Image &image : elements.inputs()[0].bits) {
    if (image[0] != width) {
      break;
    }
    width *= 2;
  }
  const SharedAccess *access = nullptr;
  for (; width > 0 && !access; width /= 2) {
    access = target.shared.access(kind, width);
  }
  if (!access || target.shared.bankBytes == 0) {
    return 1;
  }
  return bankConflictDegree(laneToByte(registers, bytes), phaseLayout(*access),
                            access->banks, target.shared.bankBytes);
}

} // namespace modelc
