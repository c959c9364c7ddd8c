//===- Targets.cpp - Where the target files lie ---------------------------===//

#include "lib/Support/Support.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr char kVariable[] = "MODELC_TARGETS";

/// The prefix that the running program is installed below; a build tree is one
/// too.
static llvm::SmallString<128> prefixOfProgram() {
  void *here = reinterpret_cast<void *>(&prefixOfProgram);
  std::string program = fs::getMainExecutable("modelc", here);
  return path::parent_path(path::parent_path(program));
}

std::string targetsFolder(llvm::StringRef given) {
  if (!given.empty()) {
    return given.str();
  }
  std::optional<std::string> named = llvm::sys::Process::GetEnv(kVariable);
  if (named && !named->empty()) {
    return *named;
  }
  llvm::SmallString<128> folder = prefixOfProgram(), whole;
  path::append(folder, "share", "modelc", "targets");
  // Messages name the files themselves, which a build tree only links to.
  return fs::real_path(folder, whole) ? folder.str().str() : whole.str().str();
}

void sayNoTargets(llvm::StringRef folder, llvm::raw_ostream &errors) {
  sayError(errors) << "expected target files in '" << folder
                   << "', got none; try --targets-dir=FOLDER or the "
                      "environment variable "
                   << kVariable << "\n";
}

} // namespace modelc
