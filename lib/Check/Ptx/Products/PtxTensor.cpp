//===- PtxTensor.cpp - Tensor memory: loads, stores, columns (tcgen05) ----===//
//
// Operations on tensor memory of two threads are in order only with a fence on
// each side of what synchronises them. Products are in PtxProduct.cpp.
//
//===----------------------------------------------------------------------===//

#include "lib/Check/Ptx/Products/PtxTensor.h"

using namespace modelc::ptx;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;

/// Fails unless the columns have been allocated.
static bool areTaken(Warp &warp, unsigned rank, uint32_t column,
                     uint32_t columns) {
  const auto &taken = warp.block->tensors[rank].taken;
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

bool modelc::ptx::touchTensor(Warp &warp, const Parts &parts, uint32_t column,
                              uint32_t columns, bool writes, Stamp stamp) {
  TensorMemory &tensor = warp.block->tensors[parts.rank];
  if (!areTaken(warp, parts.rank, column, columns)) {
    return false;
  }
  // What a wave has queued itself is done in order.
  warp.tensor.learn(warp.actor(Queue::Tensor),
                    warp.groups[unsigned(Queue::Tensor)].time);
  Touch touch{writes, stamp, &warp.tensor, &warp.tensor};
  for (unsigned part = parts.first; part < parts.first + parts.count; ++part) {
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

/// What a wave reaches.
static Parts ownPart(const Warp &warp) {
  return {warp.rank, warp.number % 4, 1};
}

/// {r...}, [address]
static void load(Warp &warp, const Instruction &i) {
  uint32_t column = 0;
  const std::vector<Operand> &to = i.operands[0].parts;
  Stamp stamp = warp.stamp(Queue::TensorLoads);
  if (!readAddress(warp, i.operands[1], column) ||
      !touchTensor(warp, ownPart(warp), column, uint32_t(to.size()), false,
                   stamp)) {
    return;
  }
  for (unsigned n = 0; n < to.size(); ++n) {
    auto *d = warp.row<uint32_t>(to[n]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      d[lane] = warp.block->tensors[warp.rank].at(
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
      !touchTensor(warp, ownPart(warp), column, uint32_t(from.size()), true,
                   stamp)) {
    return;
  }
  for (unsigned n = 0; n < from.size(); ++n) {
    const auto *a = warp.row<uint32_t>(from[n]);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      warp.block->tensors[warp.rank].at(
          warp.number % 4 * TensorMemory::kPart + lane, column + n) = a[lane];
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
  TensorMemory &tensor = warp.block->tensors[warp.rank];
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
  tensor.workgroups = i.how;
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
  auto &taken = warp.block->tensors[warp.rank].taken;
  auto first = uint32_t(warp.value(i.operands[0], 0));
  auto columns = uint32_t(warp.value(i.operands[1], 0));
  auto found = taken.find(first);
  if (found == taken.end() || found->second != columns) {
    return warp.fail("frees " + Twine(columns) + " columns at " + Twine(first) +
                     " of tensor memory, which were not allocated");
  }
  warp.tensor.join(warp.knowledge.all); // no fence is asked for
  if (touchTensor(warp, {warp.rank}, first, columns, true,
                  warp.stamp(Queue::Tensor))) {
    taken.erase(found);
  }
}

static void relinquish(Warp &warp, const Instruction &) {
  warp.block->tensors[warp.rank].relinquished = true;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// A product of blocks with scales; `shape[1]`: numbers of a block, `shape[2]`:
/// along K.
static Handler scaledHandlerOf(Instruction &i, ArrayRef<StringRef> modifiers) {
  bool isFine =
      has(modifiers, "kind::mxf4nvf4") && has(modifiers, "scale_vec::4X");
  bool isEight =
      has(modifiers, "kind::mxf8f6f4") && has(modifiers, "scale_vec::1X");
  bool known =
      isFine || isEight ||
      (has(modifiers, "kind::mxf4") && has(modifiers, "scale_vec::2X"));
  i.shape[1] = isFine ? 16 : 32;
  i.shape[2] = isEight ? 32 : 64;
  return known && i.operands.size() == 7 ? issueScaledProduct : nullptr;
}

static Handler handlerOf(Instruction &i, ArrayRef<StringRef> modifiers) {
  StringRef what = modifiers.front();
  bool usual = has(modifiers, "32x32b") && !has(modifiers, "pack::16b");
  i.kind = check::Kind::Wait;
  i.convergent = has(modifiers, "sync");
  if (what == "mma") {
    i.kind = check::Kind::Matrix;
    if (has(modifiers, "block_scale")) {
      return scaledHandlerOf(i, modifiers);
    }
    bool wide = has(modifiers, "kind::f16");
    i.shape[2] = wide ? 16 : 32;
    bool known = wide || has(modifiers, "kind::f8f6f4");
    return known && i.operands.size() == 5 ? issueProduct : nullptr;
  }
  if (what == "ld" || what == "st") {
    i.kind = check::Kind::Shared;
    return !usual ? nullptr : what == "ld" ? load : store;
  }
  if (what == "cp") {
    bool ofScales = has(modifiers, "32x128b") && has(modifiers, "warpx4");
    return ofScales && i.operands.size() == 2 ? copyScales : nullptr;
  }
  return what == "commit"                      ? commitProducts
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
  if (modifiers.empty()) {
    return false;
  }
  i.how = has(modifiers, "cta_group::2") ? 2 : 1; // workgroups together
  i.handler = handlerOf(i, modifiers);
  return i.handler;
}

void modelc::ptx::addTensor(Decoders &to) { to["tcgen05"] = decodeTensor; }
