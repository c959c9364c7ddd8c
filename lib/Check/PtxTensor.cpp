//===- PtxTensor.cpp - Multiplication into tensor memory (tcgen05) --------===//
//
// A multiplication happens when no wave of the workgroup can go on. What it
// reads and writes is poison from its issue until somebody has waited for a
// barrier where a commit behind it arrived. Operations on tensor memory of two
// threads are in order only with a fence on each side of what synchronises
// them.
//
//===----------------------------------------------------------------------===//

#include "lib/Check/PtxBarriers.h"
#include "lib/Check/PtxOperand.h"

using namespace modelc::ptx;
using check::Format;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;
using Place = Operand::Place;

namespace {
/// One multiplication, decoded.
struct Product {
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

/// Fails unless the columns have been allocated.
static bool areTaken(Warp &warp, uint32_t column, uint32_t columns) {
  const auto &taken = warp.block->tensor.taken;
  auto next = taken.upper_bound(column);
  if (next == taken.begin() ||
      std::prev(next)->first + std::prev(next)->second < column + columns) {
    warp.fail("columns " + Twine(column) + " to " +
              Twine(column + columns - 1) +
              " of tensor memory are not allocated");
    return false;
  }
  return true;
}

/// Notes an access to columns of some of the four parts of 32 lanes.
static bool touchTensor(Warp &warp, unsigned firstPart, unsigned parts,
                        uint32_t column, uint32_t columns, bool writes,
                        Stamp stamp) {
  TensorMemory &tensor = warp.block->tensor;
  if (!areTaken(warp, column, columns)) {
    return false;
  }
  // What a wave has queued itself is done in order.
  warp.tensor.learn(warp.actor(Queue::Tensor),
                    warp.groups[unsigned(Queue::Tensor)].time);
  Touch touch{writes, stamp, &warp.tensor, &warp.tensor};
  for (unsigned part = firstPart; part < firstPart + parts; ++part) {
    size_t first = part * TensorMemory::kColumns + column;
    if (auto conflict = tensor.cells.touch(first, columns, touch)) {
      bool known = warp.knowledge.all.knows(conflict->other);
      warp.fail(Twine(writes ? "writes" : "reads") + " column " +
                Twine(conflict->cell % TensorMemory::kColumns) +
                " of tensor memory that " +
                warp.block->describe(conflict->other) +
                (conflict->otherWrites ? " writes" : " reads") +
                (known ? ", without tcgen05.fence::after_thread_sync behind "
                         "the wait"
                       : ", which it has not waited for"));
      return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Multiplication
//===----------------------------------------------------------------------===//

/// The instruction descriptor of f32 results.
static bool decodeShape(Warp &warp, uint32_t word, const Instruction &i,
                        Product &to) {
  uint32_t format = i.shape[2] == 16 ? 1 : 0; // bf16, e4m3
  to.rows = (word >> 24 & 31) << 4;
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
      (to.rows == 128 && to.columns % 16)) {
    warp.fail(Twine(name) + "no instruction of " + Twine(to.rows) + " x " +
              Twine(to.columns));
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

static void multiplyNow(Block &block, const Product &product) {
  static float a[128 * 32], b[32 * 256], d[128 * 256];
  TensorMemory &tensor = block.tensor;
  unsigned rows = product.rows, columns = product.columns,
           depth = product.depth;
  if (product.aInTensor) {
    for (unsigned row = 0; row < rows; ++row) {
      for (unsigned k = 0; k < depth; ++k) {
        uint32_t word =
            tensor.at(laneOfRow(rows, row), product.columnA + k / 2);
        a[row * depth + k] = check::bf16ToFloat(uint16_t(word >> k % 2 * 16));
      }
    }
  } else {
    readOperand(block, product.a, 0, rows, depth, a, depth, 1);
  }
  readOperand(block, product.b, 0, columns, depth, b, 1, columns);
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

static void issue(Warp &warp, const Instruction &i) {
  forLanes(warp.active, [&](unsigned lane) {
    Product product;
    Stamp stamp = warp.stamp(Queue::Tensor);
    if (!readProduct(warp, i, lane, product) ||
        !touchTensor(warp, 0, 4, product.column, product.columns, true,
                     stamp) ||
        (product.aInTensor ? !touchTensor(warp, 0, 4, product.columnA,
                                          product.depth / 2, false, stamp)
                           : !touchOperand(warp, product.a, 0, product.rows,
                                           product.depth, stamp)) ||
        !touchOperand(warp, product.b, 0, product.columns, product.depth,
                      stamp)) {
      return;
    }
    warp.groups[unsigned(Queue::Tensor)].any = true;
    doLater(warp, Order::Tensor,
            [&warp, product] { multiplyNow(*warp.block, product); });
  });
}

/// [barrier]: one arrival when all that the wave has queued is done.
static void commit(Warp &warp, const Instruction &i) {
  forLanes(warp.active, [&](unsigned lane) {
    uint32_t address = 0;
    if (!sharedAddress(warp, i.operands[0], lane, address) ||
        !findBarrier(warp, address)) {
      return;
    }
    Groups &groups = warp.groups[unsigned(Queue::Tensor)];
    Knowledge with = warp.release();
    with.all.learn(warp.actor(Queue::Tensor), groups.time);
    groups.close();
    doLater(warp, Order::Tensor, [&warp, address, with] {
      arriveAt(warp, warp.block->barriers[address], {.arrivals = 1}, with);
    });
  });
}

//===----------------------------------------------------------------------===//
// Loads, stores, fences
//===----------------------------------------------------------------------===//

/// The address of a wave's access, the same in all lanes and to its own part.
static bool readAddress(Warp &warp, const Operand &operand, uint32_t &column) {
  const auto *row = warp.row<uint32_t>(operand.parts[0]);
  uint32_t address = row[0] + uint32_t(operand.offset);
  for (unsigned lane = 1; lane < kLanes; ++lane) {
    if (row[lane] != row[0]) {
      warp.fail("addresses of tensor memory differ between lanes of a wave");
      return false;
    }
  }
  uint32_t lane = warp.number % 4 * TensorMemory::kPart;
  if (address >> 16 != lane) {
    warp.fail("reaches lanes " + Twine(lane) + " to " + Twine(lane + 31) +
              " of tensor memory, not lane " + Twine(address >> 16));
    return false;
  }
  column = address & 0xFFFF;
  return true;
}

/// {r...}, [address]
static void load(Warp &warp, const Instruction &i) {
  uint32_t column = 0;
  const std::vector<Operand> &to = i.operands[0].parts;
  Stamp stamp = warp.stamp(Queue::TensorLoads);
  if (!readAddress(warp, i.operands[1], column) ||
      !touchTensor(warp, warp.number % 4, 1, column, uint32_t(to.size()), false,
                   stamp)) {
    return;
  }
  for (unsigned n = 0; n < to.size(); ++n) {
    auto *d = warp.row<uint32_t>(to[n]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      d[lane] = warp.block->tensor.at(
          warp.number % 4 * TensorMemory::kPart + lane, column + n);
    }
    warp.incoming[to[n].row / kLanes] = stamp;
  }
  warp.hasInFlight = true;
  warp.groups[unsigned(Queue::TensorLoads)].any = true;
}

/// [address], {r...}
static void store(Warp &warp, const Instruction &i) {
  uint32_t column = 0;
  const std::vector<Operand> &from = i.operands[1].parts;
  Stamp stamp = warp.stamp(Queue::TensorStores);
  if (!readAddress(warp, i.operands[0], column) ||
      !touchTensor(warp, warp.number % 4, 1, column, uint32_t(from.size()),
                   true, stamp)) {
    return;
  }
  for (unsigned n = 0; n < from.size(); ++n) {
    const auto *a = warp.row<uint32_t>(from[n]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      warp.block->tensor.at(warp.number % 4 * TensorMemory::kPart + lane,
                            column + n) = a[lane];
    }
  }
  warp.groups[unsigned(Queue::TensorStores)].any = true;
}

template <Queue Which>
static void wait(Warp &warp, const Instruction &) {
  Groups &groups = warp.groups[unsigned(Which)];
  warp.knowledge.all.learn(warp.actor(Which), groups.time);
  warp.tensor.learn(warp.actor(Which), groups.time);
  groups.close();
}

static void fenceBefore(Warp &warp, const Instruction &) {
  warp.publishedLoads =
      warp.knowledge.all.timeOf(warp.actor(Queue::TensorLoads));
  warp.publishedStores =
      warp.knowledge.all.timeOf(warp.actor(Queue::TensorStores));
}
static void fenceAfter(Warp &warp, const Instruction &) {
  warp.tensor.join(warp.knowledge.all);
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

/// The first gap that is wide enough; none if there is no such gap.
static uint32_t findGap(const TensorMemory &tensor, uint32_t columns) {
  uint32_t first = 0;
  for (auto [column, count] : tensor.taken) {
    if (column - first >= columns) {
      break;
    }
    first = column + count;
  }
  return first;
}

/// [shared], columns
static void allocate(Warp &warp, const Instruction &i) {
  TensorMemory &tensor = warp.block->tensor;
  auto columns = uint32_t(warp.value(i.operands[1], 0));
  uint32_t address = 0, first = findGap(tensor, columns);
  if (tensor.relinquished || first + columns > TensorMemory::kColumns ||
      columns < 32 || !std::has_single_bit(columns)) {
    return warp.fail("cannot allocate " + Twine(columns) +
                     " columns of tensor memory: too many, no power of two "
                     "from 32 on, or relinquished");
  }
  if (tensor.words.empty()) {
    tensor.words.assign(TensorMemory::kRows * TensorMemory::kColumns, ~0u);
    tensor.cells.reset(4 * TensorMemory::kColumns, 0);
  }
  tensor.taken[first] = columns;
  if (!sharedAddress(warp, i.operands[0], 0, address)) {
    return;
  }
  uint8_t *to = touchShared(warp, address, 4, {true, false, warp.now()});
  for (unsigned byte = 0; to && byte < 4; ++byte) {
    to[byte] = uint8_t(first >> 8 * byte);
  }
}

/// address, columns
static void release(Warp &warp, const Instruction &i) {
  auto &taken = warp.block->tensor.taken;
  auto first = uint32_t(warp.value(i.operands[0], 0));
  auto columns = uint32_t(warp.value(i.operands[1], 0));
  auto found = taken.find(first);
  if (found == taken.end() || found->second != columns) {
    return warp.fail("frees " + Twine(columns) + " columns at " + Twine(first) +
                     " of tensor memory, which were not allocated");
  }
  warp.tensor.join(warp.knowledge.all); // no fence is asked for
  if (touchTensor(warp, 0, 4, first, columns, true,
                  warp.stamp(Queue::Tensor))) {
    taken.erase(found);
  }
}

static void relinquish(Warp &warp, const Instruction &) {
  warp.block->tensor.relinquished = true;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static Handler handlerOf(Instruction &i, ArrayRef<StringRef> modifiers) {
  StringRef what = modifiers.front();
  bool usual = has(modifiers, "32x32b") && !has(modifiers, "pack::16b");
  i.kind = check::Kind::Wait;
  i.convergent = has(modifiers, "sync");
  if (what == "mma") {
    i.kind = check::Kind::Matrix;
    bool wide = has(modifiers, "kind::f16");
    i.shape[2] = wide ? 16 : 32;
    bool known = wide || has(modifiers, "kind::f8f6f4");
    return known && i.operands.size() == 5 ? issue : nullptr;
  }
  if (what == "ld" || what == "st") {
    i.kind = check::Kind::Shared;
    return !usual ? nullptr : what == "ld" ? load : store;
  }
  return what == "commit"                      ? commit
         : what == "alloc"                     ? allocate
         : what == "dealloc"                   ? release
         : what == "relinquish_alloc_permit"   ? relinquish
         : what == "wait::ld"                  ? wait<Queue::TensorLoads>
         : what == "wait::st"                  ? wait<Queue::TensorStores>
         : what == "fence::before_thread_sync" ? fenceBefore
         : what == "fence::after_thread_sync"  ? fenceAfter
                                               : nullptr;
}

static bool decodeTensor(Instruction &i, ArrayRef<StringRef> modifiers) {
  if (modifiers.empty() || has(modifiers, "cta_group::2")) {
    return false;
  }
  i.handler = handlerOf(i, modifiers);
  return i.handler;
}

void modelc::ptx::addTensor(Decoders &to) { to["tcgen05"] = decodeTensor; }
