//===- HardwareTest.cpp - Prints what the reader of targets understood ----===//
//
// modelc-hardware-test all DIR                    loads every product below DIR
// modelc-hardware-test facts NAME DIR [key=value ...]    one line for each fact
// modelc-hardware-test rates NAME DIR             peak rates of the
// instructions
//
//===----------------------------------------------------------------------===//

#include "lib/Hardware/Hardware.h"
#include "lib/Support/Support.h"
#include "llvm/Support/raw_ostream.h"

using namespace modelc;

static int loadAll(const std::vector<std::string> &dirs) {
  int failures = 0;
  for (const TargetFile &file : listTargets(dirs)) {
    bool loads = succeeded(loadTarget(file.name, {}, dirs, llvm::errs()));
    llvm::outs() << (loads ? "ok " : "failed ") << file.name << "\n";
    failures += !loads;
  }
  return failures ? 1 : 0;
}

static void printFacts(const Target &target) {
  for (const auto &[key, fact] : target.facts) {
    llvm::outs() << key << " = " << fact.text << " (" << fact.meaning << ") "
                 << gradeName(fact.grade) << " " << fact.file << ":"
                 << fact.line << " " << fact.source << "\n";
  }
}

static void printRates(const Target &target) {
  for (const MmaRow &row : target.mma) {
    llvm::outs() << row.name << " "
                 << formatQuantity(target.flopPerSecond(row), "flop/s", 4)
                 << ", "
                 << formatQuantity(target.clocksPerInstruction(row), "clk")
                 << " each\n";
  }
  for (const std::string &flag : target.compiler.flags) {
    llvm::outs() << "flag " << flag << "\n";
  }
}

static void printLayout(const MmaRow &row, llvm::StringRef operand,
                        const FragmentLayout &layout) {
  size_t bits = layout.reg.size() + layout.lane.size();
  for (size_t i = 0; !layout.empty() && i < size_t(1) << bits; ++i) {
    int64_t rowIndex = 0, column = 0;
    for (size_t bit = 0; bit < bits; ++bit) {
      bool isRegister = bit < layout.reg.size();
      auto image =
          isRegister ? layout.reg[bit] : layout.lane[bit - layout.reg.size()];
      rowIndex ^= i >> bit & 1 ? image.first : 0;
      column ^= i >> bit & 1 ? image.second : 0;
    }
    llvm::outs() << row.name << " " << operand << " "
                 << (i >> layout.reg.size()) << " "
                 << i % (size_t(1) << layout.reg.size()) << " " << rowIndex
                 << " " << column << "\n";
  }
}

static void printLayouts(const Target &target) {
  for (const MmaRow &row : target.mma) {
    printLayout(row, "a", row.aLayout);
    printLayout(row, "b", row.bLayout);
    printLayout(row, "c", row.cLayout);
    printLayout(row, "a_scale", row.aScaleLayout);
    printLayout(row, "b_scale", row.bScaleLayout);
  }
  for (const SharedAccess &access : target.shared.accesses) {
    for (int64_t lane = 0; lane < target.execution.waveSize; ++lane) {
      int64_t phase = 0;
      for (size_t bit = 0; bit < access.phaseOfLaneBit.size(); ++bit) {
        phase ^= lane >> bit & 1 ? access.phaseOfLaneBit[bit] : 0;
      }
      llvm::outs() << access.kind << " " << access.bytes << " " << lane << " "
                   << phase << "\n";
    }
  }
}

int main(int argc, char **argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 2 && arguments[0] == "all") {
    return loadAll({arguments[1]});
  }
  if (arguments.size() < 3) {
    llvm::errs() << "usage: modelc-hardware-test all|facts|rates|layouts ...\n";
    return 2;
  }
  std::vector<std::string> overrides(arguments.begin() + 3, arguments.end());
  llvm::FailureOr<Target> target =
      loadTarget(arguments[1], overrides, {arguments[2]}, llvm::errs());
  if (failed(target)) {
    return 1;
  }
  if (arguments[0] == "facts") {
    printFacts(*target);
  } else if (arguments[0] == "layouts") {
    printLayouts(*target);
  } else {
    printRates(*target);
  }
  return 0;
}
