//===- Control.cpp - Branches, barriers and waits -------------------------===//

#include "lib/Check/Machine/Lanes.h"

using namespace modelc::check;

template <auto Taken>
static void branch(Wave &wave, const Instruction &i) {
  if (!Taken(wave)) {
    return;
  }
  if (i.target == ~0u) {
    return wave.fail("branches out of the kernel");
  }
  wave.next = i.target;
}

/// The immediate has vmcnt in bits 0 to 3 and 14 to 15, lgkmcnt in 8 to 11.
static void wait(Wave &wave, const Instruction &i) {
  unsigned bits = unsigned(i.immediate);
  unsigned vector = (bits & 0xF) | (bits >> 14 & 3) << 4;
  bool outstanding = false;
  for (const Pending &pending : wave.pending) {
    outstanding |= pending.onVector;
  }
  if (vector == 0 && outstanding) {
    ++wave.group->launch->drained[size_t(&i - wave.group->launch->code.data())];
  }
  waitFor(wave, Counter::Vector, vector);
  waitFor(wave, Counter::Local, bits >> 8 & 0xF);
}

static void end(Wave &wave, const Instruction &i) {
  for (const Pending &pending : wave.pending) {
    if (pending.copies) {
      return wave.fail("the wave ends while " + describe(pending));
    }
  }
  wave.state = Wave::State::Ended;
}

static void nothing(Wave &, const Instruction &) {}

void modelc::check::addControlMeanings(Meanings &to) {
  auto add = [&](llvm::StringRef name, Kind kind, Handler run) {
    to[name] = {run, kind, {}};
  };
  add("s_branch", Kind::Branch, branch<[](Wave &) { return true; }>);
  add("s_cbranch_scc0", Kind::Branch, branch<[](Wave &w) { return !w.scc; }>);
  add("s_cbranch_scc1", Kind::Branch, branch<[](Wave &w) { return w.scc; }>);
  add("s_cbranch_vccz", Kind::Branch,
      branch<[](Wave &w) { return w.pair(kVcc) == 0; }>);
  add("s_cbranch_vccnz", Kind::Branch,
      branch<[](Wave &w) { return w.pair(kVcc) != 0; }>);
  add("s_cbranch_execz", Kind::Branch,
      branch<[](Wave &w) { return w.exec() == 0; }>);
  add("s_cbranch_execnz", Kind::Branch,
      branch<[](Wave &w) { return w.exec() != 0; }>);
  // The address of the next instruction, to find constants by.
  add("s_getpc_b64", Kind::Scalar, [](Wave &w, const Instruction &i) {
    setScalar64(w, i.operands[0], i.address + i.bytes);
  });
  add("s_waitcnt", Kind::Wait, wait);
  add("s_endpgm", Kind::Other, end);
  add("s_barrier", Kind::Barrier,
      [](Wave &w, const Instruction &) { w.state = Wave::State::AtBarrier; });
  add("s_sleep", Kind::Other,
      [](Wave &w, const Instruction &) { w.state = Wave::State::Asleep; });
  for (llvm::StringRef name :
       {"s_nop", "s_setprio", "s_inst_prefetch", "s_sethalt", "s_ttracedata"}) {
    add(name, Kind::Other, nothing);
  }
  // Caches change no value here: all waves see memory at once.
  for (llvm::StringRef name : {"buffer_wbl2", "buffer_inv", "s_dcache_inv",
                               "s_dcache_wb", "s_icache_inv"}) {
    add(name, Kind::Other, nothing);
  }
  // A write-back of the cache counts like a store.
  add("buffer_wbl2", Kind::Other,
      [](Wave &w, const Instruction &) { issue(w).onVector = true; });
}
