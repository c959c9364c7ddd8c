//===- Scratch.cpp - Shared memory for exchanges across waves -------------===//

#include "lib/SchedulePasses/Layouts/Scratch.h"
#include "lib/SchedulePasses/Placement/Places.h"

#include <algorithm>

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// Whether `image` is a xor of images in `span`.
static bool isIn(uint64_t image, ArrayRef<uint64_t> span) {
  SmallVector<uint64_t> basis;
  auto reduce = [&](uint64_t value) {
    for (uint64_t other : basis) {
      value = std::min(value, value ^ other);
    }
    return value;
  };
  for (uint64_t value : span) {
    if (uint64_t rest = reduce(value)) {
      basis.push_back(rest);
    }
  }
  return reduce(image) == 0;
}

static uint64_t pack(const Layout::Image &image) {
  return uint64_t(image[0]) << 32 | uint32_t(image[1]);
}

/// Whether each wave holds in `from` what it needs in `to`.
static bool staysInWave(const Layout &from, const Layout &to) {
  SmallVector<uint64_t> held;
  for (StringRef name : {"register", "lane"}) {
    for (const Layout::Image &image : from.input(name).bits) {
      held.push_back(pack(image));
    }
  }
  for (StringRef name : {"register", "lane"}) {
    for (const Layout::Image &image : to.input(name).bits) {
      if (!isIn(pack(image), held)) {
        return false;
      }
    }
  }
  for (auto [a, b] :
       llvm::zip_equal(from.input("wave").bits, to.input("wave").bits)) {
    if (!isIn(pack(a) ^ pack(b), held)) {
      return false;
    }
  }
  return true;
}

static Value makeScratch(KernelOp kernel, Location loc, TileType tile) {
  OpBuilder builder(kernel.getGrid());
  return AllocOp::create(builder, locOfPart(loc, "scratch"), tile);
}

/// (parts x extent) elements, where waves hold different parts of the sum.
static void addScratch(KernelOp kernel, ReduceOp reduce) {
  TileType value = reduce.getValue().getType();
  TileType result = reduce.getResult().getType();
  int64_t parts = 1;
  for (const Layout::Image &image :
       value.getLayout().getLayout().input("wave").bits) {
    parts *= image[reduce.getDimension()] ? 2 : 1;
  }
  if (parts == 1 || reduce.getScratch()) {
    return;
  }
  auto tile =
      TileType::get({parts, result.getNumElements()}, result.getElementType());
  reduce.getScratchMutable().assign(
      makeScratch(kernel, reduce.getLoc(), tile.with(Space::Shared, {})));
}

static void addScratch(KernelOp kernel, RelayoutOp relayout) {
  TileType from = relayout.getValue().getType();
  TileType to = relayout.getResult().getType();
  if (relayout.getScratch() ||
      staysInWave(from.getLayout().getLayout(), to.getLayout().getLayout())) {
    return;
  }
  relayout.getScratchMutable().assign(
      makeScratch(kernel, relayout.getLoc(), from.with(Space::Shared, {})));
}

void modelc::addScratch(KernelOp kernel) {
  kernel.walk([&](ReduceOp reduce) { ::addScratch(kernel, reduce); });
  kernel.walk([&](RelayoutOp relayout) { ::addScratch(kernel, relayout); });
}
