//===- Report.cpp - What was counted, as JSON -----------------------------===//

#include "lib/Check/Machine/Loops.h"
#include "lib/Check/Machine/Machine.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include <map>

using namespace modelc::check;
using llvm::json::OStream;

static Kind kindOf(const Instruction &instruction) {
  if (!instruction.meaning) {
    return Kind::Other;
  }
  return instruction.modifiers.lds ? Kind::Copy : instruction.meaning->kind;
}

static std::string hex(uint64_t value) {
  return "0x" + llvm::utohexstr(value, true);
}

/// A wait that leaves no vector memory operation in flight.
static bool drains(const Instruction &instruction) {
  return instruction.name == "s_waitcnt" &&
         (instruction.immediate & 0xC00F) == 0;
}

static void printLoops(const KernelRun &launch, OStream &json) {
  for (const Loop &loop : innermostLoops(launch.code)) {
    std::map<llvm::StringRef, uint64_t> kinds;
    for (uint32_t i : loop.body) {
      ++kinds[nameOf(kindOf(launch.code[i]))];
    }
    json.object([&] {
      json.attribute("address", hex(launch.code[loop.header].address));
      json.attribute("trips", int64_t(launch.executed[loop.header]));
      json.attributeObject("instructions", [&] {
        for (auto [name, count] : kinds) {
          json.attribute(name, int64_t(count));
        }
      });
      json.attributeArray("drained_waits", [&] {
        for (uint32_t i : loop.body) {
          if (drains(launch.code[i])) {
            json.object([&] {
              json.attribute("address", hex(launch.code[i].address));
              json.attribute("drained", int64_t(launch.drained[i]));
            });
          }
        }
      });
    });
  }
}

static std::vector<Executed> executedOf(const KernelRun &launch) {
  std::vector<Executed> result;
  for (size_t i = 0; i < launch.code.size(); ++i) {
    result.push_back(
        {launch.code[i].name, kindOf(launch.code[i]), launch.executed[i]});
  }
  return result;
}

void modelc::check::printReport(const KernelRun &launch,
                                llvm::raw_ostream &os) {
  OStream json(os, 2);
  const Kernel &kernel = *launch.kernel;
  json.object([&] {
    json.attribute("kernel", kernel.name);
    json.attribute("processor", kernel.processor);
    json.attribute("waves", int64_t(launch.counts.waves));
    json.attributeObject("resources", [&] {
      json.attribute("vector_registers", kernel.vectorRegisters);
      json.attribute("accumulation_registers", kernel.accumulationRegisters);
      json.attribute("scalar_registers", kernel.scalarRegisters);
      json.attribute("spilled_registers",
                     kernel.vectorSpills + kernel.scalarSpills);
      json.attribute("shared_bytes", launch.sharedBytes);
      json.attribute("scratch_bytes", kernel.scratchBytes);
    });
    printInstructions(executedOf(launch), json);
    printMemory(launch.counts, json);
    json.attributeArray("loops", [&] { printLoops(launch, json); });
  });
  os << "\n";
}
