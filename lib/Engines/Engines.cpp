//===- Engines.cpp - Which rows of engines hold for a layer ---------------===//

#include "lib/Engines/Engines.h"

namespace modelc {

/// Whether "sglang 0.5.14" is one of "sglang", "sglang 0.5", not of "sgl" or
/// "sglang 0.5.1".
static bool isOf(llvm::StringRef software, llvm::StringRef name) {
  return software.consume_front(name) &&
         (software.empty() || software.front() == ' ' ||
          (software.front() == '.' && name.contains(' ')));
}

bool EngineScope::holds(llvm::StringRef software, llvm::StringRef architecture,
                        llvm::StringRef type) const {
  auto isAmong = [](const std::vector<std::string> &names,
                    llvm::StringRef name) {
    return names.empty() || llvm::is_contained(names, name);
  };
  bool isCalled =
      engines.empty() || llvm::any_of(engines, [&](llvm::StringRef name) {
        return isOf(software, name);
      });
  return isCalled && isAmong(architectures, architecture) &&
         isAmong(types, type);
}

Engines Engines::withOwnKernels() const {
  Engines ours = *this;
  ours.linears.clear();
  ours.attentions.clear();
  for (EngineLaunch &launch : ours.launches) {
    launch.pulls = false;
  }
  return ours;
}

llvm::LogicalResult
Engines::checkInstructions(const Target &target,
                           llvm::raw_ostream &errors) const {
  bool areKnown = true;
  for (const EngineLinear &row : linears) {
    const std::vector<std::string> &families = row.scope.architectures;
    if (!families.empty() &&
        !llvm::is_contained(families, target.identity.family)) {
      continue;
    }
    for (const std::string &name : row.instructions) {
      if (!target.instruction(name)) {
        row.said.file->error(errors, row.said.place,
                             "expected the name of a row of [[mma]] of " +
                                 target.identity.name + ", got \"" + name +
                                 "\"");
        areKnown = false;
      }
    }
  }
  return llvm::success(areKnown);
}

} // namespace modelc
