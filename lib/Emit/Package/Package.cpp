//===- Package.cpp - A compilation as one folder --------------------------===//

#include "lib/Emit/Emit.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <deque>

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// Headers of the host library that do not depend on the compilation; the
/// driver's is named by the target's language.
static constexpr StringLiteral kHostHeaders[] = {
    "modelc.h",  "launch.h",      "library.h", "open.h",   "collective.h",
    "numbers.h", "groups.h",      "source.h",  "cut.h",    "blocks.h",
    "view.h",    "preparation.h", "prepare.h", "tables.h", "driver_emulator.h"};

/// What prepares weights for hosts in Python.
static constexpr StringLiteral kPythonFiles[] = {
    "prepack/__init__.py", "prepack/checkpoint.py",  "prepack/few_bits.py",
    "prepack/manifest.py", "prepack/preparation.py", "prepack/tables.py",
    "prepack/view.py"};

/// Kernels include this folder only where they run on the CPU.
static constexpr StringLiteral kEmulatorFolder = "emulator/";

static FailureOr<std::string> readText(ModuleOp module, StringRef folder,
                                       StringRef path) {
  SmallString<128> full(folder);
  llvm::sys::path::append(full, path);
  auto buffer = llvm::MemoryBuffer::getFile(full);
  if (!buffer) {
    return module.emitError("expected the file '")
           << full
           << "' of the device prelude, got: " << buffer.getError().message();
  }
  return (*buffer)->getBuffer().str();
}

/// What follows `#include "`.
static SmallVector<StringRef> includesOf(StringRef text) {
  SmallVector<StringRef> lines, names;
  text.split(lines, '\n');
  for (StringRef line : lines) {
    line = line.trim();
    if (line.consume_front("#include \"")) {
      names.push_back(line.take_until([](char c) { return c == '"'; }));
    }
  }
  return names;
}

/// `name` as seen from the file at `path`: beside it, else below the root.
static std::string resolve(StringRef folder, StringRef path, StringRef name) {
  SmallString<128> beside(llvm::sys::path::parent_path(path));
  llvm::sys::path::append(beside, name);
  llvm::sys::path::remove_dots(beside, /*remove_dot_dot=*/true);
  SmallString<128> full(folder);
  llvm::sys::path::append(full, beside);
  return llvm::sys::fs::exists(full) ? beside.str().str() : name.str();
}

/// The prelude and all that it includes, with their paths kept.
static LogicalResult addPreludes(ModuleOp module, const Target &target,
                                 StringRef folder,
                                 std::vector<PackageFile> &files) {
  std::deque<std::string> wanted = {target.identity.prelude};
  llvm::StringSet<> known;
  known.insert(target.identity.prelude);
  for (; !wanted.empty(); wanted.pop_front()) {
    std::string path = wanted.front();
    FailureOr<std::string> text = readText(module, folder, path);
    if (failed(text)) {
      return failure();
    }
    for (StringRef name : includesOf(*text)) {
      std::string other = resolve(folder, path, name);
      if (!StringRef(other).starts_with(kEmulatorFolder) &&
          known.insert(other).second) {
        wanted.push_back(other);
      }
    }
    files.push_back({"include/" + path, std::move(*text)});
  }
  return success();
}

static LogicalResult addHostFiles(ModuleOp module, const Target &target,
                                  StringRef folder,
                                  std::vector<PackageFile> &files) {
  auto add = [&](StringRef below, StringRef name) -> LogicalResult {
    FailureOr<std::string> text =
        readText(module, folder, ("host/" + name).str());
    if (failed(text)) {
      return failure();
    }
    files.push_back({(below + name).str(), std::move(*text)});
    return success();
  };
  for (StringRef name : kHostHeaders) {
    if (failed(add("host/", name))) {
      return failure();
    }
  }
  for (StringRef name : kPythonFiles) {
    if (failed(add("python/", name))) {
      return failure();
    }
  }
  return add("host/", "driver_" + target.identity.language + ".h");
}

static std::string predictionText(const PackageOptions &options,
                                  StringRef symbol) {
  auto found = options.predictions.find(symbol.str());
  if (found == options.predictions.end()) {
    return "";
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format("%.4g us, %.4g mJ", found->second.seconds * 1e6,
                     found->second.joules * 1e3);
  return text;
}

FailureOr<std::vector<PackageFile>>
modelc::emitPackage(ModuleOp module, const Target &target,
                    const PackageOptions &options) {
  std::vector<PackageFile> files;
  for (KernelOp kernel : module.getOps<KernelOp>()) {
    EmitOptions emit;
    emit.prediction = predictionText(options, kernel.getSymName());
    FailureOr<std::string> text = emitKernel(kernel, target, emit);
    if (failed(text)) {
      return failure();
    }
    files.push_back(
        {("src/" + kernel.getSymName() + sourceSuffix(target)).str(),
         std::move(*text)});
  }
  FailureOr<std::string> manifest =
      emitManifest(module, target, files, options);
  if (failed(manifest)) {
    return failure();
  }
  FailureOr<std::vector<PackageFile>> host = emitHostLibrary(module, target);
  if (failed(host) ||
      failed(addPreludes(module, target, options.targetsFolder, files)) ||
      failed(addHostFiles(module, target, options.targetsFolder, files))) {
    return failure();
  }
  llvm::move(*host, std::back_inserter(files));
  files.push_back({"manifest.json", std::move(*manifest)});
  return files;
}
