//===- WritePackage.cpp - A folder, all of it or nothing ------------------===//
//
// Everything is written to a temporary folder beside the one that was asked
// for, which then takes its name. Of what was there before, only a package is
// replaced, and only where it holds nothing but what modelc wrote: files.txt
// names that, in the form of sha256sum, so that an edited file is known too.
//
//===----------------------------------------------------------------------===//

#include "lib/Emit/Emit.h"

#include "lib/Emit/Package/Files.h"
#include "lib/Support/Support.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <csignal>

using namespace mlir;
using namespace modelc;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr StringLiteral kFileList = "files.txt";

//===----------------------------------------------------------------------===//
// Interrupts
//===----------------------------------------------------------------------===//

/// A handler of signals can reach nothing else.
static std::atomic<bool> interrupted = false;

bool modelc::wasInterrupted() { return interrupted; }

namespace {
/// While it lives, interrupts are noted, so that the writer can clean up. Not
/// by LLVM's handlers: they end the program on the second signal, and each
/// compiler that is stopped may send one.
class NotedInterrupts {
public:
  NotedInterrupts() {
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupted = true; };
    action.sa_flags = SA_RESTART;
    for (size_t i = 0; i < std::size(kSignals); ++i) {
      sigaction(kSignals[i], &action, &before[i]);
    }
  }
  ~NotedInterrupts() {
    for (size_t i = 0; i < std::size(kSignals); ++i) {
      sigaction(kSignals[i], &before[i], nullptr);
    }
  }

private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction before[std::size(kSignals)];
};
} // namespace

//===----------------------------------------------------------------------===//
// What was there before
//===----------------------------------------------------------------------===//

/// Files below a folder, by their path in it.
static std::vector<std::string> filesBelow(StringRef folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error,
                                           /*follow_symlinks=*/false),
       end;
       it != end && !error; it.increment(error)) {
    if (it->type() != fs::file_type::directory_file) {
      files.push_back(
          StringRef(it->path()).drop_front(folder.size() + 1).str());
    }
  }
  llvm::sort(files);
  return files;
}

static bool isPackage(StringRef folder) {
  llvm::raw_null_ostream quiet;
  FailureOr<SourceFile> file =
      SourceFile::read((folder + "/manifest.json").str(), quiet);
  FailureOr<Node> root =
      failed(file) ? FailureOr<Node>(failure()) : parseJson(*file, quiet);
  if (failed(root)) {
    return false;
  }
  const Node *isa = root->find("isa"), *kernels = root->find("kernels");
  return isa && isa->isString() && kernels && kernels->isArray() &&
         fs::is_regular_file(folder + "/" + kFileList);
}

/// Empty if there is no such file that can be read.
static std::string digestOf(StringRef folder, StringRef file) {
  std::string whole = (folder + "/" + file).str();
  if (!fs::is_regular_file(whole)) {
    return "";
  }
  auto text = llvm::MemoryBuffer::getFile(whole);
  return text ? sha256((*text)->getBuffer()) : "";
}

/// A line of files.txt: digest, two spaces, path.
static constexpr StringLiteral kBetween = "  ";

/// The digest of each file that modelc wrote to a package, by its path.
static llvm::StringMap<std::string> writtenFiles(StringRef folder) {
  llvm::StringMap<std::string> written;
  written[kFileList] = "";
  auto list = llvm::MemoryBuffer::getFile(folder + "/" + kFileList);
  SmallVector<StringRef> lines;
  if (list) {
    (*list)->getBuffer().split(lines, '\n');
  }
  for (StringRef line : lines) {
    auto [digest, file] = line.split(kBetween);
    written[file] = digest;
  }
  return written;
}

/// Fails if a file in `folder` would be lost that is not as modelc wrote it.
static LogicalResult checkReplaceable(StringRef folder,
                                      llvm::raw_ostream &errors) {
  if (!fs::exists(folder)) {
    return success();
  }
  if (!fs::is_directory(folder)) {
    sayError(errors) << "expected '" << folder
                     << "' to be a folder, got a file; name another with -o\n";
    return failure();
  }
  std::vector<std::string> files = filesBelow(folder);
  if (files.empty()) {
    return success();
  }
  if (!isPackage(folder)) {
    sayError(errors) << "expected '" << folder
                     << "' to be new, empty or an earlier package, got a "
                        "folder with '"
                     << files.front() << "'; name another with -o\n";
    return failure();
  }
  llvm::StringMap<std::string> written = writtenFiles(folder);
  for (const std::string &file : files) {
    auto known = written.find(file);
    if (known == written.end()) {
      sayError(errors) << "expected '" << folder
                       << "' to hold an earlier package only, got '" << file
                       << "' too; move it, or name another folder with -o\n";
      return failure();
    }
    if (file != kFileList && known->second != digestOf(folder, file)) {
      sayError(errors) << "expected '" << folder << "/" << file
                       << "' as modelc wrote it, got an edited file; move it, "
                          "or name another folder with -o\n";
      return failure();
    }
  }
  return success();
}

/// The full path of the folder; none that holds the one where we are.
static FailureOr<std::string> fullPath(StringRef folder,
                                       llvm::raw_ostream &errors) {
  SmallString<128> full(folder), here;
  if (fs::exists(folder)) {
    full.clear();
    fs::real_path(folder, full);
  }
  fs::make_absolute(full);
  path::remove_dots(full, /*remove_dot_dot=*/true);
  StringRef result = StringRef(full).rtrim('/');
  fs::current_path(here);
  here += "/";
  if (StringRef(here).starts_with((result + "/").str())) {
    sayError(errors) << "expected a folder that is not the one where you are, "
                        "got '"
                     << folder << "'; name another with -o\n";
    return failure();
  }
  return result.str();
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static LogicalResult complain(llvm::raw_ostream &errors, const Twine &path,
                              std::error_code error) {
  sayError(errors) << "cannot write '" << path << "': " << error.message()
                   << "; nothing was written, name another folder with -o\n";
  return failure();
}

/// Writes a file below `made`, which messages call `folder`.
static LogicalResult writeFile(const PackageFile &file, StringRef made,
                               StringRef folder, llvm::raw_ostream &errors) {
  SmallString<128> full(made);
  path::append(full, file.path);
  std::error_code error = createFolders(path::parent_path(full));
  if (!error) {
    llvm::raw_fd_ostream os(full, error);
    if (!error) {
      os << file.text;
      os.close();
      error = os.error();
      os.clear_error();
    }
  }
  return error ? complain(errors, folder + "/" + file.path, error) : success();
}

static LogicalResult fill(ArrayRef<PackageFile> files, StringRef made,
                          StringRef folder, llvm::raw_ostream &errors,
                          llvm::function_ref<LogicalResult(StringRef)> finish) {
  for (const PackageFile &file : files) {
    if (interrupted || failed(writeFile(file, made, folder, errors))) {
      return failure();
    }
  }
  if (finish && failed(finish(made))) {
    return failure();
  }
  PackageFile list = {kFileList.str(), ""};
  for (const std::string &file : filesBelow(made)) {
    list.text += digestOf(made, file) + kBetween.str() + file + "\n";
  }
  return writeFile(list, made, folder, errors);
}

/// Puts `made` where `folder` is; the old one goes only once the new is there.
static std::error_code replaceFolder(StringRef made, StringRef folder) {
  if (!fs::exists(folder)) {
    return fs::rename(made, folder);
  }
  std::string old = made.str() + ".old";
  if (std::error_code error = fs::rename(folder, old)) {
    return error;
  }
  if (std::error_code error = fs::rename(made, folder)) {
    fs::rename(old, folder);
    return error;
  }
  return fs::remove_directories(old);
}

/// Removes folders that were made above the package, while they are empty.
static void removeAbove(StringRef folder, StringRef existing) {
  for (StringRef above = path::parent_path(folder);
       above.size() > existing.size() && !fs::remove(above);
       above = path::parent_path(above)) {
  }
}

LogicalResult
modelc::writePackage(ArrayRef<PackageFile> files, StringRef folder,
                     llvm::raw_ostream &errors,
                     llvm::function_ref<LogicalResult(StringRef)> finish) {
  FailureOr<std::string> target = fullPath(folder, errors);
  if (failed(target) || failed(checkReplaceable(*target, errors))) {
    return failure();
  }
  StringRef existing = path::parent_path(*target);
  while (!existing.empty() && !fs::exists(existing)) {
    existing = path::parent_path(existing);
  }
  NotedInterrupts noted;
  LogicalResult result = success();
  if (std::error_code error = createFolders(path::parent_path(*target))) {
    result = complain(errors, *target, error);
  }
  SmallString<128> made;
  fs::createUniquePath(*target + ".%%%%%%", made, /*MakeAbsolute=*/false);
  if (succeeded(result)) {
    result = fill(files, made, *target, errors, finish);
  }
  // Compiling takes long: somebody may have put a file there meanwhile.
  if (succeeded(result) && !interrupted) {
    result = checkReplaceable(*target, errors);
  }
  if (succeeded(result) && !interrupted) {
    if (std::error_code error = replaceFolder(made, *target)) {
      result = complain(errors, *target, error);
    }
  }
  if (failed(result) || interrupted) {
    fs::remove_directories(made);
    removeAbove(*target, existing);
    result = failure();
  }
  if (interrupted) {
    sayError(errors) << "interrupted, nothing was written\n";
  }
  return result;
}
