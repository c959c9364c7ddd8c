//===- PtxGroupMatrix.cpp - Multiplication by four waves (wgmma) ----------===//
//
// Each of the four waves has 16 of the 64 rows. The result stands in the
// registers at once, but it is poison until its group has been waited for, and
// so are changes of what the operation still reads.
//
//===----------------------------------------------------------------------===//

#include "lib/Check/Ptx/PtxOperand.h"

using namespace modelc::ptx;
using check::Format;
using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;
using Place = Operand::Place;

namespace {
/// What follows the accumulator of an instruction.
struct Sources {
  bool aInRegisters = false;
  SharedOperand a, b;
  bool adds = false;
};
} // namespace

static bool areReady(Warp &warp, const Operand &registers, bool mayBeMatrix) {
  for (const Operand &part : registers.parts) {
    Stamp stamp = warp.incoming[part.row / kLanes];
    bool own = whoOf(stamp) == warp.actor(Queue::Matrix) && mayBeMatrix;
    if (stamp && !own && !warp.knowledge.all.knows(stamp)) {
      warp.fail("uses a register that " + warp.block->describe(stamp) +
                " writes, which it has not waited for");
      return false;
    }
  }
  return true;
}

/// The value of an operand that must be the same in all lanes.
static bool uniform(Warp &warp, const Operand &operand, uint64_t &value) {
  const auto *row = warp.row<uint64_t>(operand);
  value = row[0];
  for (unsigned lane = 1; lane < kLanes; ++lane) {
    if (row[lane] != value) {
      warp.fail("descriptors differ between lanes of a wave");
      return false;
    }
  }
  return true;
}

/// Operands behind the accumulator: A, B, predicate, signs, majors.
static bool readSources(Warp &warp, const Instruction &i, Sources &to,
                        uint64_t (&descriptors)[2]) {
  const std::vector<Operand> &all = i.operands;
  to.aInRegisters = all[1].place == Place::Tuple;
  to.a.elementBytes = to.b.elementBytes = i.shape[2] == 16 ? 2 : 1;
  to.a.format = to.b.format = Format(i.how);
  auto majorAt = [&](size_t at) {
    return all.size() > at && all[at].offset ? Major::Rows : Major::Depth;
  };
  to.a.major = to.aInRegisters ? Major::Depth : majorAt(6);
  to.b.major = majorAt(to.aInRegisters ? 6 : 7);
  if (all[4].offset != 1 || all[5].offset != 1) {
    warp.fail("negated operands are not modelled");
    return false;
  }
  Mask adds = warp.predicate(all[3]);
  if (adds != 0 && adds != kAllLanes) {
    warp.fail("lanes of a wave differ in whether they add");
    return false;
  }
  to.adds = adds != 0;
  return (to.aInRegisters ||
          (uniform(warp, all[1], descriptors[0]) &&
           decodeDescriptor(warp, descriptors[0], Generation::Group, to.a))) &&
         uniform(warp, all[2], descriptors[1]) &&
         decodeDescriptor(warp, descriptors[1], Generation::Group, to.b);
}

/// All four waves of a group must issue the same operations.
static bool agreesWithGroup(Warp &warp, const Instruction &i,
                            const uint64_t (&descriptors)[2], bool adds) {
  // Of the first wave of the four.
  std::vector<uint64_t> &log = warp.block->matrixLog[warp.id - warp.number % 4];
  uint64_t hash = 0;
  for (uint64_t part : {descriptors[0], descriptors[1], uint64_t(i.shape[1]),
                        uint64_t(i.how), uint64_t(adds)}) {
    hash = (hash ^ part) * 0x9E3779B97F4A7C15ull + 1;
  }
  if (warp.matrixIssued == log.size()) {
    log.push_back(hash);
  } else if (log[warp.matrixIssued] != hash) {
    warp.fail("the waves of a group issue different matrix operations "
              "(descriptors, shape, whether they add)");
    return false;
  }
  ++warp.matrixIssued;
  return true;
}

/// d += a b of the wave's 16 rows.
static void compute(Warp &warp, const Instruction &i, const Sources &from) {
  static float a[kFragmentRows * 32], b[32 * 256], d[kFragmentRows * 256];
  unsigned columns = i.shape[1], depth = i.shape[2];
  if (from.aInRegisters) {
    readFragment(warp, i.operands[1].parts, from.a.format, from.a.elementBytes,
                 a);
  } else {
    readOperand(*warp.block, from.a, warp.number % 4 * kFragmentRows,
                kFragmentRows, depth, a, depth, 1);
  }
  readOperand(*warp.block, from.b, 0, columns, depth, b, 1, columns);
  auto each = [&](auto visit) {
    forAccumulator(
        columns, [&](unsigned lane, unsigned r, unsigned row, unsigned column) {
          visit(warp.row<uint32_t>(i.operands[0].parts[r])[lane],
                d[row * columns + column]);
        });
  };
  each([&](uint32_t word, float &sum) {
    sum = from.adds ? std::bit_cast<float>(word) : 0.0f;
  });
  multiply(d, a, b, kFragmentRows, columns, depth);
  each([](uint32_t &word, float sum) { word = std::bit_cast<uint32_t>(sum); });
}

/// {d...}, A, B, adds, 1, 1[, majors]
static void issue(Warp &warp, const Instruction &i) {
  Sources from;
  uint64_t descriptors[2] = {};
  if (!warp.matrixFenced) {
    return warp.fail("no wgmma.fence since the last wait");
  }
  if (!readSources(warp, i, from, descriptors) ||
      !areReady(warp, i.operands[0], true) ||
      (from.aInRegisters && !areReady(warp, i.operands[1], false)) ||
      !agreesWithGroup(warp, i, descriptors, from.adds)) {
    return;
  }
  Stamp stamp = warp.stamp(Queue::Matrix);
  unsigned depth = i.shape[2];
  if ((!from.aInRegisters &&
       !touchOperand(warp, from.a, warp.number % 4 * kFragmentRows,
                     kFragmentRows, depth, stamp)) ||
      !touchOperand(warp, from.b, 0, i.shape[1], depth, stamp)) {
    return;
  }
  compute(warp, i, from);
  for (const Operand &part : i.operands[0].parts) {
    warp.incoming[part.row / kLanes] = stamp;
  }
  for (const Operand &part : i.operands[1].parts) {
    warp.outgoing[part.row / kLanes] = stamp;
  }
  warp.hasInFlight = true;
  warp.groups[unsigned(Queue::Matrix)].any = true;
  ++warp.block->launch->progress;
}

static void fence(Warp &warp, const Instruction &) { warp.matrixFenced = true; }
static void commit(Warp &warp, const Instruction &) {
  warp.groups[unsigned(Queue::Matrix)].close();
}
/// groups that may be left
static void wait(Warp &warp, const Instruction &i) {
  warp.matrixFenced = false;
  warp.knowledge.all.learn(warp.actor(Queue::Matrix),
                           warp.groups[unsigned(Queue::Matrix)].waitedFor(
                               uint64_t(i.operands[0].offset)));
}

/// m64n128k16: columns and depth.
static bool readShape(StringRef text, Instruction &i) {
  unsigned columns = 0, depth = 0;
  if (!text.consume_front("m64n") || text.consumeInteger(10, columns) ||
      !text.consume_front("k") || text.consumeInteger(10, depth)) {
    return false;
  }
  i.shape[1] = uint16_t(columns);
  i.shape[2] = uint16_t(depth);
  return columns % 8 == 0 && columns <= 256 &&
         i.operands[0].parts.size() == columns / 2;
}

static bool decodeGroup(Instruction &i, ArrayRef<StringRef> modifiers) {
  i.convergent = true;
  i.kind = check::Kind::Wait;
  StringRef what = modifiers.empty() ? "" : modifiers.front();
  if (what != "mma_async") {
    i.handler = what == "fence"          ? fence
                : what == "commit_group" ? commit
                : what == "wait_group"   ? wait
                                         : nullptr;
    return i.handler;
  }
  // mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
  i.kind = check::Kind::Matrix;
  i.rows.clear(); // its accumulator may be in flight
  Format format = Format::F32;
  if (modifiers.size() != 7 || !readShape(modifiers[3], i) ||
      modifiers[4] != "f32" || modifiers[5] != modifiers[6] ||
      !formatNamed(modifiers[5], format) || i.operands.size() < 6) {
    return false;
  }
  i.how = uint8_t(format);
  i.handler = issue;
  return i.shape[2] == 256 / check::bitsOf(format);
}

void modelc::ptx::addGroupMatrix(Decoders &to) { to["wgmma"] = decodeGroup; }
