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

int main(int argc, char **argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 2 && arguments[0] == "all") {
    return loadAll({arguments[1]});
  }
  if (arguments.size() < 3) {
    llvm::errs() << "usage: modelc-hardware-test all|facts|rates ...\n";
    return 2;
  }
  std::vector<std::string> overrides(arguments.begin() + 3, arguments.end());
  llvm::FailureOr<Target> target =
      loadTarget(arguments[1], overrides, {arguments[2]}, llvm::errs());
  if (failed(target)) {
    return 1;
  }
  arguments[0] == "facts" ? printFacts(*target) : printRates(*target);
  return 0;
}
