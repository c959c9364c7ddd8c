#include "lib/Check/Ptx/PtxMachine.h"
#include "llvm/Support/JSON.h"

using namespace modelc::ptx;

void modelc::ptx::printReport(const KernelRun &launch, llvm::raw_ostream &os) {
  llvm::json::OStream json(os, 2);
  const Program &program = *launch.program;
  std::vector<check::Executed> executed;
  for (size_t i = 0; i < program.code.size(); ++i) {
    executed.push_back(
        {program.code[i].name, program.code[i].kind, launch.executed[i]});
  }
  json.object([&] {
    json.attribute("kernel", program.name);
    json.attribute("processor", program.processor);
    json.attribute("waves", int64_t(launch.counts.waves));
    json.attributeObject("resources", [&] {
      json.attribute("shared_bytes", launch.sharedBytes);
      json.attribute("scratch_bytes", program.localBytes);
    });
    check::printInstructions(executed, json);
    check::printMemory(launch.counts, json);
  });
  os << "\n";
}
