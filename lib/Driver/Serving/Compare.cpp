//===- Compare.cpp - modelc compare: machines at equal speed --------------===//

#include "lib/Driver/Serving/Serving.h"
#include "lib/Driver/Usage.h"
#include "lib/Support/Support.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace modelc;
using llvm::raw_ostream;

int modelc::compareModel(const CompileOptions &options,
                         const ServeOptions &asked, raw_ostream &out,
                         raw_ostream &errors) {
  std::vector<Plan> plans;
  int code = makePlans(options, asked, plans, errors);
  if (code != kExitOk) {
    return code;
  }
  std::vector<Contender> contenders;
  for (Plan &plan : plans) {
    if (plan.code != kExitOk) {
      errors << "modelc: note: " << plan.name() << " is left out: " << plan.said
             << "\n";
      continue;
    }
    auto known = llvm::find_if(contenders, [&](const Contender &contender) {
      return contender.machine == plan.curve.machine;
    });
    if (known == contenders.end()) {
      known = contenders.insert(known, {plan.curve.machine, {}});
    }
    known->plans.push_back(std::move(plan.curve));
  }
  return writeText(
      options.output,
      [&](raw_ostream &os) { printComparison(contenders, options.format, os); },
      out, errors);
}
