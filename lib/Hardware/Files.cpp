//===- Files.cpp - Finding target files and what they inherit -------------===//

#include "lib/Hardware/Loader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// An empty folder stands for the installed one, and so do none.
static std::vector<std::string>
foldersOf(llvm::ArrayRef<std::string> searchDirs) {
  if (searchDirs.empty()) {
    return {targetsFolder("")};
  }
  std::vector<std::string> folders;
  for (const std::string &given : searchDirs) {
    folders.push_back(targetsFolder(given));
  }
  return folders;
}

/// The TOML files of machines in a folder and in the folders below it, by name.
static std::vector<TargetFile> listFiles(llvm::StringRef dir) {
  std::vector<TargetFile> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(dir, error), end;
       it != end && !error; it.increment(error)) {
    llvm::StringRef file = it->path();
    if (path::filename(file) == kEnginesFolder) {
      it.no_push();
    } else if (path::extension(file) == ".toml") {
      files.push_back({path::stem(file).str(), file.str(), ""});
    }
  }
  llvm::sort(files, [](const TargetFile &a, const TargetFile &b) {
    return std::tie(a.name, a.path) < std::tie(b.name, b.path);
  });
  return files;
}

std::vector<TargetFile> listTargets(llvm::ArrayRef<std::string> searchDirs) {
  std::vector<TargetFile> products;
  for (const std::string &dir : foldersOf(searchDirs)) {
    for (TargetFile &file : listFiles(dir)) {
      std::string ignored;
      llvm::raw_string_ostream os(ignored);
      llvm::FailureOr<SourceFile> text = SourceFile::read(file.path, os);
      if (failed(text)) {
        continue;
      }
      llvm::FailureOr<Node> root = parseToml(*text, os);
      const Node *identity = succeeded(root) ? root->find("target") : nullptr;
      const Node *product = identity ? identity->find("product") : nullptr;
      if (product && product->isString()) {
        file.product = product->string;
        products.push_back(std::move(file));
      }
    }
  }
  llvm::sort(products, [](const TargetFile &a, const TargetFile &b) {
    return a.name < b.name;
  });
  return products;
}

/// The path of a file named `name`, or empty.
static std::string findByName(llvm::StringRef name,
                              llvm::ArrayRef<std::string> dirs) {
  for (const std::string &dir : dirs) {
    for (const TargetFile &file : listFiles(dir)) {
      if (file.name == name) {
        return file.path;
      }
    }
  }
  return "";
}

static std::vector<std::string> namesIn(llvm::ArrayRef<std::string> dirs) {
  std::vector<std::string> names;
  for (const std::string &dir : dirs) {
    for (const TargetFile &file : listFiles(dir)) {
      names.push_back(file.name);
    }
  }
  return names;
}

static std::vector<llvm::StringRef>
views(const std::vector<std::string> &strings) {
  return {strings.begin(), strings.end()};
}

namespace {
/// A parsed file of a chain of inheritance.
struct ParsedFile {
  SourceFile file;
  Node root;
};
} // namespace

static llvm::FailureOr<ParsedFile> parseFile(llvm::StringRef file,
                                             llvm::raw_ostream &errors) {
  llvm::FailureOr<SourceFile> text = SourceFile::read(file, errors);
  if (failed(text)) {
    return llvm::failure();
  }
  llvm::FailureOr<Node> root = parseToml(*text, errors);
  if (failed(root)) {
    return llvm::failure();
  }
  return ParsedFile{std::move(*text), std::move(*root)};
}

/// The path of the file that `child` inherits from: empty for none.
static llvm::FailureOr<std::string>
findBase(const ParsedFile &child, llvm::ArrayRef<std::string> searchDirs,
         llvm::raw_ostream &errors) {
  const Node *inherits = child.root.find("inherits");
  if (!inherits) {
    return std::string();
  }
  if (!inherits->isString()) {
    child.file.error(errors, inherits->place,
                     "expected the name of an architecture, got " +
                         inherits->print());
    return llvm::failure();
  }
  // A file of the same folder wins over the installed ones.
  std::vector<std::string> dirs = {path::parent_path(child.file.name()).str()};
  if (dirs.front().empty()) {
    dirs.front() = ".";
  }
  llvm::SmallString<128> sibling(dirs.front());
  path::append(sibling, inherits->string + ".toml");
  if (fs::exists(sibling)) {
    return sibling.str().str();
  }
  std::string base = findByName(inherits->string, searchDirs);
  if (base.empty()) {
    std::vector<std::string> names = namesIn(searchDirs);
    child.file.error(errors, inherits->place,
                     "no target file \"" + inherits->string +
                         "\" to inherit from" +
                         didYouMean(inherits->string, views(names)));
    return llvm::failure();
  }
  return base;
}

/// The file and all that it inherits from, base first.
static llvm::FailureOr<std::vector<ParsedFile>>
readChain(std::string file, llvm::ArrayRef<std::string> searchDirs,
          llvm::raw_ostream &errors) {
  std::vector<ParsedFile> chain;
  while (!file.empty()) {
    llvm::FailureOr<ParsedFile> parsed = parseFile(file, errors);
    if (failed(parsed)) {
      return llvm::failure();
    }
    bool isCycle = llvm::any_of(chain, [&](const ParsedFile &other) {
      return other.file.name() == file;
    });
    if (isCycle) {
      parsed->file.error(errors, parsed->root.find("inherits")->place,
                         "inherits from itself");
      return llvm::failure();
    }
    chain.push_back(std::move(*parsed));
    llvm::FailureOr<std::string> base =
        findBase(chain.back(), searchDirs, errors);
    if (failed(base)) {
      return llvm::failure();
    }
    file = *base;
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

static std::string pathOf(llvm::StringRef nameOrPath,
                          llvm::ArrayRef<std::string> searchDirs,
                          llvm::raw_ostream &errors) {
  if (nameOrPath.contains('/') || nameOrPath.ends_with(".toml")) {
    return nameOrPath.str();
  }
  std::string file = findByName(nameOrPath, searchDirs);
  if (file.empty()) {
    std::vector<std::string> names;
    for (const TargetFile &product : listTargets(searchDirs)) {
      names.push_back(product.name);
    }
    if (names.empty()) {
      sayNoTargets(searchDirs.front(), errors);
      return "";
    }
    sayError(errors) << "unknown target \"" << nameOrPath << "\""
                     << didYouMean(nameOrPath, views(names))
                     << ", expected a .toml file or one of "
                     << listWords(views(names)) << "\n";
  }
  return file;
}

/// Flags say {isa} where the name of the instruction set stands.
static void insertIsa(Target &target) {
  for (std::string &flag : target.compiler.flags) {
    size_t at = flag.find("{isa}");
    if (at != std::string::npos) {
      flag.replace(at, 5, target.identity.isa);
    }
  }
}

llvm::FailureOr<Target> loadTarget(llvm::StringRef nameOrPath,
                                   llvm::ArrayRef<std::string> overrides,
                                   llvm::ArrayRef<std::string> givenDirs,
                                   llvm::raw_ostream &errors) {
  std::vector<std::string> searchDirs = foldersOf(givenDirs);
  std::string file = pathOf(nameOrPath, searchDirs, errors);
  if (file.empty()) {
    return llvm::failure();
  }
  llvm::FailureOr<std::vector<ParsedFile>> chain =
      readChain(file, searchDirs, errors);
  if (failed(chain)) {
    return llvm::failure();
  }
  Target target;
  target.identity.name = path::stem(file).str();
  Loader loader(target, errors);
  for (const ParsedFile &parsed : *chain) {
    loader.readFile(parsed.file, parsed.root);
  }
  for (const std::string &text : overrides) {
    loader.readOverride(text);
  }
  // Missing keys only confuse where a key was misspelled.
  if (!loader.failed()) {
    loader.checkComplete(chain->back().file);
  }
  // Values that are absent contradict nothing.
  if (!loader.failed()) {
    loader.checkRelations();
  }
  if (loader.failed()) {
    return llvm::failure();
  }
  insertIsa(target);
  return target;
}

} // namespace modelc
