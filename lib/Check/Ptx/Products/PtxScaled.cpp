//===- PtxScaled.cpp - Products of blocks with scales (tcgen05) -----------===//
//
// Numbers of four bits (in pairs) or eight lie in shared memory, the scales of
// their blocks in tensor memory: those of row r in lane r % 32 of the column r
// / 32, four bytes, and again in the lanes of the other waves. A copy brings
// them there from shared memory, 128 rows at once, in the order of the
// products. Of a pair of workgroups each has its rows of A, half of the rows of
// B, and the scales of its rows of A and of all of B.
//
//===----------------------------------------------------------------------===//

#include "lib/Check/Ptx/Products/PtxTensor.h"
#include "lib/Check/Ptx/PtxBarriers.h"
#include "lib/Check/Ptx/PtxOperand.h"

using namespace modelc::ptx;
using check::Format;
using llvm::Twine;

namespace {
constexpr unsigned kMostDepth = 64, kDepthBytes = 32;
constexpr unsigned kCopiedRows = 32, kCopiedBytes = 16, kCopiedColumns = 4;
constexpr unsigned kRowsOfColumn = 32;

/// An operand with the first column and the first byte of its scales.
struct ScaledOperand {
  SharedOperand numbers;
  unsigned rows = 0, column = 0, firstScale = 0;
};

/// One multiplication, decoded; rows of A and operands of the first workgroup.
struct ScaledProduct {
  unsigned workgroups = 1, column = 0, block = 0, depth = 0;
  bool adds = false;
  ScaledOperand a, b;
};
} // namespace

/// The column of an operand in brackets; its lane must be the first.
static bool readColumn(Warp &warp, const Operand &operand, unsigned lane,
                       unsigned &column) {
  auto address =
      uint32_t(warp.value(operand.parts[0], lane) + uint64_t(operand.offset));
  column = address & 0xFFFF;
  if (address >> 16) {
    warp.fail("expected lane 0 of tensor memory, got " + Twine(address >> 16));
  }
  return address >> 16 == 0;
}

/// The instruction descriptor of numbers of e2m1, or e4m3 of which 32 lie along
/// K, with scales of `block` of them.
static bool decodeShape(Warp &warp, uint32_t word, ScaledProduct &to) {
  to.a.rows = ((word >> 24 & 31) << 4) / to.workgroups;
  to.b.rows = (word >> 17 & 63) << 3;
  to.a.firstScale = word >> 29 & 3;
  to.b.firstScale = word >> 4 & 3;
  bool ofPowers = word >> 23 & 1;
  unsigned scales = to.depth / to.block, type = to.depth == 32 ? 0 : 1;
  bool known = (word >> 7 & 7) == type && (word >> 10 & 3) == type &&
               !(word & 0x8001'F04F) && ofPowers == (to.block == 32) &&
               to.a.firstScale % scales == 0 && to.b.firstScale % scales == 0;
  bool fits = to.a.rows == 128 && to.b.rows >= 8 && to.b.rows <= 256;
  if (!known || !fits) {
    warp.fail(
        "instruction descriptor 0x" + Twine::utohexstr(word) +
        ": expected e2m1 or e4m3 operands of 128 rows in each workgroup and "
        "up to 256 columns, their type of scales and no other bits");
  }
  return known && fits;
}

/// [d], A, B, descriptor, [scales of A], [scales of B], adds
static bool readProduct(Warp &warp, const Instruction &i, unsigned lane,
                        ScaledProduct &to) {
  const std::vector<Operand> &all = i.operands;
  to.workgroups = i.how;
  to.block = i.shape[1];
  to.depth = i.shape[2];
  to.adds = warp.predicate(all[6]) >> lane & 1;
  for (ScaledOperand *operand : {&to.a, &to.b}) {
    operand->numbers.elementBytes = 1;
    operand->numbers.format = to.depth == 32 ? Format::E4M3 : Format::E2M1;
  }
  return readColumn(warp, all[0], lane, to.column) &&
         decodeShape(warp, uint32_t(warp.value(all[3], lane)), to) &&
         decodeDescriptor(warp, warp.value(all[1], lane), Generation::Tensor,
                          to.a.numbers) &&
         decodeDescriptor(warp, warp.value(all[2], lane), Generation::Tensor,
                          to.b.numbers) &&
         readColumn(warp, all[4], lane, to.a.column) &&
         readColumn(warp, all[5], lane, to.b.column);
}

/// The scale of a block of a row: a power of two, or e4m3 without sign.
static float scaleAt(TensorMemory &tensor, const ScaledOperand &operand,
                     unsigned row, unsigned k, unsigned block) {
  uint32_t word =
      tensor.at(row % kRowsOfColumn, operand.column + row / kRowsOfColumn);
  uint32_t bits = word >> 8 * (operand.firstScale + k / block) & 0xFF;
  return block == 16   ? check::valuesOf(Format::E4M3)[bits & 0x7F]
         : bits == 255 ? std::nanf("")
                       : std::ldexp(1.0f, int(bits) - 127);
}

/// Numbers times their scales, as the workgroup of a rank has them.
static void scaleNumbers(Block &block, unsigned rank,
                         const ScaledOperand &operand,
                         const ScaledProduct &product, const float *numbers,
                         float *out, unsigned rowStep, unsigned depthStep) {
  for (unsigned row = 0; row < operand.rows; ++row) {
    for (unsigned k = 0; k < product.depth; ++k) {
      unsigned at = row * rowStep + k * depthStep;
      out[at] = numbers[at] *
                scaleAt(block.tensors[rank], operand, row, k, product.block);
    }
  }
}

/// The rows of the workgroup of a rank; `numbers` of B are of all.
static void multiplyRows(Block &block, unsigned rank,
                         const ScaledProduct &product, const float *numbers) {
  static float a[128 * kMostDepth], b[kMostDepth * 256], d[128 * 256];
  unsigned rows = product.a.rows, columns = product.b.rows;
  readOperand(block, inWorkgroup(product.a.numbers, rank), 0, rows, kDepthBytes,
              a, product.depth, 1);
  scaleNumbers(block, rank, product.a, product, a, a, product.depth, 1);
  scaleNumbers(block, rank, product.b, product, numbers, b, 1, columns);
  TensorMemory &tensor = block.tensors[rank];
  auto each = [&](auto visit) {
    for (unsigned i = 0; i < rows * columns; ++i) {
      visit(d[i], tensor.at(i / columns, product.column + i % columns));
    }
  };
  each([&](float &sum, uint32_t word) {
    sum = product.adds ? std::bit_cast<float>(word) : 0.0f;
  });
  multiply(d, a, b, rows, columns, product.depth);
  each([](float sum, uint32_t &word) { word = std::bit_cast<uint32_t>(sum); });
}

static void multiplyNow(Block &block, unsigned first,
                        const ScaledProduct &product) {
  static float numbers[kMostDepth * 256];
  unsigned columns = product.b.rows, part = columns / product.workgroups;
  for (unsigned i = 0; i < product.workgroups; ++i) {
    readOperand(block, inWorkgroup(product.b.numbers, first + i), 0, part,
                kDepthBytes, numbers + i * part, 1, columns);
  }
  for (unsigned i = 0; i < product.workgroups; ++i) {
    multiplyRows(block, first + i, product, numbers);
  }
}

/// Notes what the workgroup of a rank reads of an operand: rows of numbers, and
/// their scales.
static bool touchScaled(Warp &warp, unsigned rank, const ScaledOperand &operand,
                        unsigned rows, Stamp stamp) {
  return touchOperand(warp, inWorkgroup(operand.numbers, rank), 0, rows,
                      kDepthBytes, stamp) &&
         touchTensor(warp, {rank}, operand.column,
                     (operand.rows + kRowsOfColumn - 1) / kRowsOfColumn, false,
                     stamp);
}

/// Notes what it reads and writes.
static bool touchProduct(Warp &warp, unsigned rank,
                         const ScaledProduct &product, Stamp stamp) {
  return touchTensor(warp, {rank}, product.column, product.b.rows, true,
                     stamp) &&
         touchScaled(warp, rank, product.a, product.a.rows, stamp) &&
         touchScaled(warp, rank, product.b, product.b.rows / product.workgroups,
                     stamp);
}

void modelc::ptx::issueScaledProduct(Warp &warp, const Instruction &i) {
  forLanes(warp.active, [&](unsigned lane) {
    ScaledProduct product;
    Stamp stamp = warp.stamp(Queue::Tensor);
    if (!readProduct(warp, i, lane, product) ||
        !areTogether(warp, product.workgroups)) {
      return;
    }
    for (unsigned part = 0; part < product.workgroups; ++part) {
      if (!touchProduct(warp, warp.rank + part, product, stamp)) {
        return;
      }
    }
    warp.groups[unsigned(Queue::Tensor)].any = true;
    doLater(warp, Order::Tensor,
            [&warp, product] { multiplyNow(*warp.block, warp.rank, product); });
  });
}

static void copyNow(Block &block, unsigned rank, const SharedOperand &from,
                    unsigned column) {
  TensorMemory &tensor = block.tensors[rank];
  for (unsigned row = 0; row < kCopiedRows; ++row) {
    uint32_t address =
        from.address + row / 8 * from.strideBytes + row % 8 * kCopiedBytes;
    const uint8_t *bytes = &block.shared[block.placeOf(address)];
    for (unsigned lane = row; lane < 4 * kCopiedRows; lane += kCopiedRows) {
      std::memcpy(&tensor.at(lane, column), bytes, kCopiedBytes);
    }
  }
}

void modelc::ptx::copyScales(Warp &warp, const Instruction &i) {
  forLanes(warp.active, [&](unsigned lane) {
    unsigned column = 0;
    SharedOperand from;
    from.elementBytes = 1;
    Stamp stamp = warp.stamp(Queue::Tensor);
    if (!readColumn(warp, i.operands[0], lane, column) ||
        !decodeDescriptor(warp, warp.value(i.operands[1], lane),
                          Generation::Tensor, from) ||
        !areTogether(warp, i.how)) {
      return;
    }
    if (from.swizzleBytes) {
      warp.fail("expected scales of blocks without a swizzle");
      return;
    }
    unsigned first = warp.rank, last = first + i.how;
    for (unsigned rank = first; rank < last; ++rank) {
      if (!touchOperand(warp, inWorkgroup(from, rank), 0, kCopiedRows,
                        kCopiedBytes, stamp) ||
          !touchTensor(warp, {rank}, column, kCopiedColumns, true, stamp)) {
        return;
      }
    }
    warp.groups[unsigned(Queue::Tensor)].any = true;
    doLater(warp, Order::Tensor, [&warp, from, column, first, last] {
      for (unsigned rank = first; rank < last; ++rank) {
        copyNow(*warp.block, rank, inWorkgroup(from, rank), column);
      }
    });
  });
}
