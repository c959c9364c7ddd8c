//===- Waits.cpp - What a wave has in flight ------------------------------===//
//
// Vector memory returns in order and is counted by vmcnt. Shared memory returns
// in order, scalar loads out of order, and both are counted by lgkmcnt: of n
// that may be left, all may be shared memory's youngest, or any scalar load.
// Flat accesses count in both, out of order in the second.
//
//===----------------------------------------------------------------------===//

#include "lib/Check/Machine/Machine.h"
#include "llvm/ADT/STLExtras.h"

using namespace modelc::check;

Pending &modelc::check::issue(Wave &wave) {
  // The counters have an end: the machine stalls there by itself.
  constexpr unsigned kMostVector = 63, kMostLocal = 15;
  auto count = [&](auto counts) {
    return unsigned(llvm::count_if(wave.pending, counts));
  };
  if (count([](const Pending &p) { return p.onVector; }) >= kMostVector) {
    waitFor(wave, Counter::Vector, kMostVector - 1);
  }
  if (count([](const Pending &p) { return p.onLocal && !p.unordered; }) >=
      kMostLocal) {
    waitFor(wave, Counter::Local, kMostLocal - 1);
  }
  Pending &pending = wave.pending.emplace_back();
  pending.id = ++wave.group->lastId;
  pending.from = wave.current;
  return pending;
}

void modelc::check::ownRegisters(Wave &wave, Pending &pending, unsigned first,
                                 unsigned count) {
  pending.firstRegister = uint16_t(first);
  pending.registers = uint16_t(count);
  for (unsigned r = first; r < first + count; ++r) {
    wave.ownedRegisters += wave.owner[r] == 0;
    wave.owner[r] = pending.id;
  }
}

static void retire(Wave &wave, const Pending &pending) {
  for (unsigned r = 0; r < pending.registers; ++r) {
    uint32_t &owner = wave.owner[pending.firstRegister + r];
    if (owner == pending.id) {
      owner = 0;
      --wave.ownedRegisters;
    }
  }
  retireShared(wave, pending);
}

void modelc::check::waitFor(Wave &wave, Counter counter, unsigned count) {
  bool vector = counter == Counter::Vector;
  auto counts = [&](const Pending &pending) {
    return vector ? pending.onVector : pending.onLocal && !pending.unordered;
  };
  unsigned left = unsigned(llvm::count_if(wave.pending, counts));
  for (Pending &pending : wave.pending) {
    if (counts(pending) && left > count) {
      --left;
      (vector ? pending.onVector : pending.onLocal) = false;
    } else if (!vector && pending.onLocal && pending.unordered && count == 0) {
      pending.onLocal = false;
    }
  }
  llvm::erase_if(wave.pending, [&](const Pending &pending) {
    bool done = !pending.onVector && !pending.onLocal;
    if (done) {
      retire(wave, pending);
    }
    return done;
  });
}

std::string modelc::check::describe(const Pending &pending) {
  llvm::StringRef counter = pending.onVector ? "vmcnt" : "lgkmcnt";
  return ("'" + llvm::Twine(pending.from->text) + "' at 0x" +
          llvm::Twine::utohexstr(pending.from->address) +
          " is still in flight (not waited for by " + counter + ")")
      .str();
}

/// The name of a register of a wave's table of owners.
static std::string registerName(unsigned index) {
  if (index < kAccumulation) {
    return "v" + std::to_string(index);
  }
  if (index < kVectorRegisters) {
    return "a" + std::to_string(index - kAccumulation);
  }
  index -= kVectorRegisters;
  return index == kVcc || index == kVcc + 1 ? "vcc"
                                            : "s" + std::to_string(index);
}

/// Loads of one counter that arrive in order may have the same destination.
static bool arrivesLater(const Instruction &instruction, size_t operand,
                         const Pending &pending) {
  return operand == 0 && instruction.meaning->kind == Kind::Global &&
         !instruction.modifiers.lds && pending.onVector && !pending.onLocal &&
         llvm::StringRef(instruction.name).contains("_load_");
}

void modelc::check::checkOperands(Wave &wave, const Instruction &instruction) {
  if (wave.ownedRegisters == 0) {
    return;
  }
  for (size_t o = 0; o < instruction.operands.size(); ++o) {
    const Operand &operand = instruction.operands[o];
    if (operand.place != Operand::Place::Vector &&
        operand.place != Operand::Place::Scalar) {
      continue;
    }
    unsigned base =
        operand.place == Operand::Place::Scalar ? kVectorRegisters : 0;
    for (unsigned r = 0; r < operand.words; ++r) {
      unsigned index = base + operand.index + r;
      if (wave.owner[index] == 0) {
        continue;
      }
      const Pending &pending =
          *llvm::find_if(wave.pending, [&](const Pending &p) {
            return p.id == wave.owner[index];
          });
      if (!arrivesLater(instruction, o, pending)) {
        return wave.fail("uses " + registerName(index) + ", but " +
                         describe(pending));
      }
    }
  }
}
