//===- Targets.cpp - modelc targets ---------------------------------------===//

#include "lib/Driver/Driver.h"

#include "lib/Hardware/Hardware.h"
#include "lib/Support/Support.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace modelc;

static void printTarget(const Target &target, raw_ostream &out) {
  out << target.identity.name << ": " << target.identity.product << ", "
      << target.identity.family << ", " << target.identity.isa << "\n\n";
  size_t keyWidth = 0, textWidth = 0;
  for (const auto &[key, fact] : target.facts) {
    keyWidth = std::max(keyWidth, key.size());
    textWidth = std::max(textWidth, std::min<size_t>(fact.text.size(), 28));
  }
  for (const auto &[key, fact] : target.facts) {
    out << left_justify(key, keyWidth + 2) << left_justify(fact.text, textWidth)
        << "  " << left_justify(gradeName(fact.grade), 11) << fact.source
        << "  [" << sys::path::filename(fact.file) << ":" << fact.line << "]\n";
  }
}

int modelc::showTargets(StringRef name, ArrayRef<std::string> overrides,
                        StringRef directory, raw_ostream &out,
                        raw_ostream &errors) {
  std::vector<std::string> directories = {directory.str()};
  if (name.empty()) {
    std::vector<TargetFile> files = listTargets(directories);
    if (files.empty()) {
      sayError(errors) << "expected target files in '" << directory
                       << "', got none; try --targets-dir=FOLDER\n";
      return kExitInput;
    }
    size_t width = 0;
    for (const TargetFile &file : files) {
      width = std::max(width, file.name.size());
    }
    for (const TargetFile &file : files) {
      out << left_justify(file.name, width + 2) << file.product << "\n";
    }
    return kExitOk;
  }
  FailureOr<Target> target = loadTarget(name, overrides, directories, errors);
  if (failed(target)) {
    return kExitInput;
  }
  printTarget(*target, out);
  return kExitOk;
}
