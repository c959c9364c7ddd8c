//===- PtxProduct.cpp - Multiplication into tensor memory (tcgen05) -------===//
//
// A multiplication happens when no wave of the workgroup can go on. What it
// reads and writes is poison from its issue until somebody has waited for a
// barrier where a commit behind it arrived. Of a pair of workgroups each has
// its rows of A and of the result, and half of the columns of B.
//
//===----------------------------------------------------------------------===//

#include "lib/Check/Ptx/Products/PtxTensor.h"
#include "lib/Check/Ptx/PtxBarriers.h"
#include "lib/Check/Ptx/PtxOperand.h"

using namespace modelc::ptx;
using check::Format;
using llvm::Twine;
using Place = Operand::Place;

namespace {
/// One multiplication, decoded; rows and operands of the first workgroup.
struct Product {
  unsigned workgroups = 1;
  unsigned rows = 0, columns = 0, depth = 0, column = 0;
  bool aInTensor = false, adds = false;
  unsigned columnA = 0;
  SharedOperand a, b;
};
} // namespace

/// Lane of a row: 64 rows use the first half of each wave's 32 lanes.
static unsigned laneOfRow(unsigned rows, unsigned row) {
  return rows == 128 ? row : row / 16 * 32 + row % 16;
}

/// The instruction descriptor of f32 results.
static bool decodeShape(Warp &warp, uint32_t word, const Instruction &i,
                        Product &to) {
  uint32_t format = i.shape[2] == 16 ? 1 : 0; // bf16, e4m3
  to.workgroups = i.how;
  to.rows = ((word >> 24 & 31) << 4) / to.workgroups;
  to.columns = (word >> 17 & 63) << 3;
  to.depth = i.shape[2];
  to.a.major = word >> 15 & 1 ? Major::Rows : Major::Depth;
  to.b.major = word >> 16 & 1 ? Major::Rows : Major::Depth;
  to.a.format = to.b.format = format ? Format::Bf16 : Format::E4M3;
  to.a.elementBytes = to.b.elementBytes = format ? 2 : 1;
  std::string name =
      ("instruction descriptor 0x" + Twine::utohexstr(word) + ": ").str();
  if ((word >> 4 & 3) != 1 || (word >> 7 & 7) != format ||
      (word >> 10 & 7) != format || word & 0xE080'604F) {
    warp.fail(name + "expected f32 results of " + (format ? "bf16" : "e4m3") +
              " operands and no other bits");
    return false;
  }
  if ((to.rows != 64 && to.rows != 128) || to.columns < 8 || to.columns > 256 ||
      (to.rows == 128 && to.columns % (16 * to.workgroups)) ||
      (to.workgroups == 2 && to.rows != 128)) {
    warp.fail(Twine(name) + "no instruction of " +
              Twine(to.rows * to.workgroups) + " x " + Twine(to.columns));
    return false;
  }
  return true;
}

/// [d], A or [A], B, descriptor, adds
static bool readProduct(Warp &warp, const Instruction &i, unsigned lane,
                        Product &to) {
  const std::vector<Operand> &all = i.operands;
  auto d =
      uint32_t(warp.value(all[0].parts[0], lane) + uint64_t(all[0].offset));
  to.column = d & 0xFFFF;
  to.adds = warp.predicate(all[4]) >> lane & 1;
  to.aInTensor = all[1].place == Place::Address;
  if (!decodeShape(warp, uint32_t(warp.value(all[3], lane)), i, to)) {
    return false;
  }
  if (d >> 16) {
    warp.fail("an accumulator begins at lane " + Twine(d >> 16) +
              ", expected 0");
    return false;
  }
  if (to.aInTensor) {
    to.columnA = uint32_t(warp.value(all[1].parts[0], lane)) & 0xFFFF;
  } else if (!decodeDescriptor(warp, warp.value(all[1], lane),
                               Generation::Tensor, to.a)) {
    return false;
  }
  return decodeDescriptor(warp, warp.value(all[2], lane), Generation::Tensor,
                          to.b);
}

/// The first operand from tensor memory: lane = row, four bytes of it a column.
static void readTensorA(TensorMemory &tensor, const Product &product,
                        float *a) {
  const float *values = check::valuesOf(product.a.format);
  unsigned bytes = product.a.elementBytes, perWord = 4 / bytes;
  uint32_t mask = bytes == 2 ? 0xFFFF : 0xFF;
  for (unsigned row = 0; row < product.rows; ++row) {
    for (unsigned k = 0; k < product.depth; ++k) {
      uint32_t word = tensor.at(laneOfRow(product.rows, row),
                                product.columnA + k / perWord) >>
                      k % perWord * 8 * bytes;
      *a++ = values[word & mask];
    }
  }
}

/// The rows of the workgroup of a rank; `b` holds the columns of all.
static void multiplyRows(Block &block, const Product &product, unsigned rank,
                         const float *b) {
  static float a[128 * 32], d[128 * 256];
  TensorMemory &tensor = block.tensors[rank];
  unsigned rows = product.rows, columns = product.columns,
           depth = product.depth;
  if (product.aInTensor) {
    readTensorA(tensor, product, a);
  } else {
    readOperand(block, inWorkgroup(product.a, rank), 0, rows, depth, a, depth,
                1);
  }
  auto each = [&](auto visit) {
    for (unsigned row = 0; row < rows; ++row) {
      for (unsigned column = 0; column < columns; ++column) {
        visit(d[row * columns + column],
              tensor.at(laneOfRow(rows, row), product.column + column));
      }
    }
  };
  each([&](float &sum, uint32_t word) {
    sum = product.adds ? std::bit_cast<float>(word) : 0.0f;
  });
  multiply(d, a, b, rows, columns, depth);
  each([](float sum, uint32_t &word) { word = std::bit_cast<uint32_t>(sum); });
}

static void multiplyNow(Block &block, const Product &product, unsigned first) {
  static float b[32 * 256];
  unsigned part = product.columns / product.workgroups;
  for (unsigned i = 0; i < product.workgroups; ++i) {
    readOperand(block, inWorkgroup(product.b, first + i), 0, part,
                product.depth, b + i * part, 1, product.columns);
  }
  for (unsigned i = 0; i < product.workgroups; ++i) {
    multiplyRows(block, product, first + i, b);
  }
}

/// Notes what a product reads and writes in the workgroup of a rank.
static bool touchProduct(Warp &warp, const Product &product, unsigned rank,
                         Stamp stamp) {
  Parts all{rank};
  return touchTensor(warp, all, product.column, product.columns, true, stamp) &&
         (product.aInTensor
              ? touchTensor(warp, all, product.columnA,
                            product.depth * product.a.elementBytes / 4, false,
                            stamp)
              : touchOperand(warp, inWorkgroup(product.a, rank), 0,
                             product.rows, product.depth, stamp)) &&
         touchOperand(warp, inWorkgroup(product.b, rank), 0,
                      product.columns / product.workgroups, product.depth,
                      stamp);
}

bool modelc::ptx::areTogether(Warp &warp, unsigned workgroups) {
  Block &block = *warp.block;
  bool fits =
      warp.rank % workgroups == 0 && warp.rank + workgroups <= block.ranks();
  for (unsigned i = 0; fits && i < workgroups; ++i) {
    fits = block.tensors[warp.rank + i].workgroups == workgroups;
  }
  if (!fits) {
    warp.fail("expected the first of " + Twine(workgroups) +
              " workgroups that took their columns together");
  }
  return fits;
}

void modelc::ptx::issueProduct(Warp &warp, const Instruction &i) {
  forLanes(warp.active, [&](unsigned lane) {
    Product product;
    Stamp stamp = warp.stamp(Queue::Tensor);
    if (!readProduct(warp, i, lane, product) ||
        !areTogether(warp, product.workgroups)) {
      return;
    }
    for (unsigned part = 0; part < product.workgroups; ++part) {
      if (!touchProduct(warp, product, warp.rank + part, stamp)) {
        return;
      }
    }
    warp.groups[unsigned(Queue::Tensor)].any = true;
    doLater(warp, Order::Tensor,
            [&warp, product] { multiplyNow(*warp.block, product, warp.rank); });
  });
}

/// Whether there is a barrier at an address in all workgroups whose bits are
/// set.
static bool areBarriers(Warp &warp, uint32_t address, uint64_t ranks) {
  for (unsigned rank = 0; rank < warp.block->ranks(); ++rank) {
    if (ranks >> rank & 1 && !findBarrierOfUnit(warp, ofRank(address, rank))) {
      return false;
    }
  }
  return true;
}

void modelc::ptx::commitProducts(Warp &warp, const Instruction &i) {
  forLanes(warp.active, [&](unsigned lane) {
    uint32_t address = 0;
    uint64_t ranks = i.operands.size() > 1 ? warp.value(i.operands[1], lane)
                                           : uint64_t(1) << warp.rank;
    if (!sharedAddress(warp, i.operands[0], lane, address) ||
        !areBarriers(warp, address, ranks)) {
      return;
    }
    Groups &groups = warp.groups[unsigned(Queue::Tensor)];
    Knowledge with = warp.release();
    with.all.learn(warp.actor(Queue::Tensor), groups.time);
    groups.close();
    for (unsigned rank = 0; rank < warp.block->ranks(); ++rank) {
      uint32_t there = ofRank(address, rank);
      if (ranks >> rank & 1) {
        doLater(warp, Order::Tensor, [&warp, there, with] {
          arriveFrom(warp, there, {.arrivals = 1}, with);
        });
      }
    }
  });
}
