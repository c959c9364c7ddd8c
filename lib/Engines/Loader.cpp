//===- Loader.cpp - From the files of engines to rows ---------------------===//
//
// A row may hold what several have in common, and [[<section>.case]] below it
// what each has of its own:
//
//   [[linear]]
//   library = "cutlass"
//   [[linear.case]]
//   most_rows = 16
//   tiles = [[16, 64, 256, 4]]
//
//===----------------------------------------------------------------------===//

#include "lib/Engines/Fields.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {
/// Reads one file. Its rows go in front of those of libraries, or to these.
class EngineLoader : public FactReader {
public:
  explicit EngineLoader(llvm::raw_ostream &errors) : FactReader(errors) {}
  void readFile(SourceFile file, Engines &engines, Engines &libraries);

private:
  bool readKind(const SourceFile &file, const Node &root);
  template <typename Row>
  void readRows(llvm::StringRef section, const Node &rows,
                std::vector<Row> &list);
  template <typename Row>
  void readOne(llvm::StringRef section, const Node &table,
               std::vector<Row> &list);
  std::string checkScope(EngineScope &scope) const;

  std::string name; ///< of the file
  bool isLibrary = false;
};
} // namespace

/// The keys by which rows of a section are told apart, in messages.
static std::string labelOf(llvm::StringRef section, const Node &table) {
  std::string label = section.str();
  char separator = '.';
  for (llvm::StringRef key : {"library", "engines", "versions", "architectures",
                              "types", "phase", "caches"}) {
    const Node *value = table.find(key);
    if (!value) {
      continue;
    }
    std::string words;
    for (const Node &item : value->items) {
      words += (words.empty() ? "" : "+") + item.string;
    }
    label += separator + (value->isArray() ? words : value->string);
    separator = ' ';
  }
  return label;
}

/// The table with what only `other` says.
static Node with(Node table, const Node &other) {
  for (const Member &member : other.members) {
    if (!table.find(member.key)) {
      table.members.push_back(member);
    }
  }
  return table;
}

/// Makes names of engines of the versions of the file's own; what is wrong.
std::string EngineLoader::checkScope(EngineScope &scope) const {
  if (isLibrary) {
    return scope.versions.empty() ? ""
                                  : "expected \"engines\" of a library, got "
                                    "\"versions\"";
  }
  if (!scope.engines.empty()) {
    return "expected \"versions\" of the engine, got \"engines\"";
  }
  for (const std::string &version : scope.versions) {
    scope.engines.push_back(name + " " + version);
  }
  if (scope.engines.empty()) {
    scope.engines.push_back(name);
  }
  return "";
}

template <typename Row>
void EngineLoader::readOne(llvm::StringRef section, const Node &table,
                           std::vector<Row> &list) {
  std::string label = labelOf(section.split('.').first, table);
  Row row;
  if (!readRow(*current, section, label, engineFields<Row>(), table, row)) {
    return;
  }
  std::string wrong = checkScope(row.scope);
  wrong = wrong.empty() ? checkRow(row) : wrong;
  if (!wrong.empty()) {
    error(*current, table.place, label + ": " + wrong);
  }
  if constexpr (std::is_same_v<Row, EngineLinear>) {
    row.cut.copiesFirst = !row.interleaves;
    row.said = {current, table.place};
  }
  list.push_back(std::move(row));
}

template <typename Row>
void EngineLoader::readRows(llvm::StringRef section, const Node &rows,
                            std::vector<Row> &list) {
  if (!checkRows(*current, section, rows)) {
    return;
  }
  std::string caseSection = (section + ".case").str();
  for (Node shared : rows.items) {
    const Member *cases = shared.member("case");
    if (!cases) {
      readOne(section, shared, list);
      continue;
    }
    Node own = cases->value;
    llvm::erase_if(shared.members,
                   [](const Member &member) { return member.key == "case"; });
    Row ignored;
    Origin origin = {"the cases", Grade::Assumed};
    // What is wrong with what they share is said once.
    if (readKeys(*current, labelOf(section, shared), engineFields<Row>(),
                 shared, origin, ignored, Need::Optional) &&
        checkRows(*current, caseSection, own)) {
      for (const Node &table : own.items) {
        readOne(caseSection, with(table, shared), list);
      }
    }
  }
}

/// What the file describes.
bool EngineLoader::readKind(const SourceFile &file, const Node &root) {
  const Node *kind = root.find("kind");
  std::string why = "expected kind = \"engine\" or \"library\"";
  if (kind) {
    llvm::FailureOr<size_t> choice =
        readChoice(*kind, {"engine", "library"}, why);
    isLibrary = llvm::succeeded(choice) && *choice == 1;
    if (llvm::succeeded(choice)) {
      return true;
    }
  }
  error(file, kind ? kind->place : Place(), kind ? "kind: " + why : why);
  return false;
}

void EngineLoader::readFile(SourceFile file, Engines &engines,
                            Engines &libraries) {
  llvm::FailureOr<Node> root = parseToml(file, errors);
  hasFailed |= llvm::failed(root);
  name = path::stem(file.name()).str();
  current = std::make_shared<const SourceFile>(std::move(file));
  if (llvm::failed(root) || !readKind(*current, *root)) {
    return;
  }
  Engines &into = isLibrary ? libraries : engines;
  for (const Member &member : root->members) {
    if (member.key == "launch") {
      readRows(member.key, member.value, into.launches);
    } else if (member.key == "layer") {
      readRows(member.key, member.value, into.layers);
    } else if (member.key == "step") {
      readRows(member.key, member.value, into.steps);
    } else if (member.key == "linear") {
      readRows(member.key, member.value, into.linears);
    } else if (member.key == "attention") {
      readRows(member.key, member.value, into.attentions);
    } else if (member.key == "collector") {
      readRows(member.key, member.value, into.collectors);
    } else if (member.key == "correction") {
      readRows(member.key, member.value, into.corrections);
    } else if (member.key != "kind") {
      error(*current, member.place,
            "unknown section [" + member.key + "]" +
                didYouMean(member.key,
                           {"kind", "launch", "layer", "step", "linear",
                            "attention", "collector", "correction"}));
    }
  }
}

/// All of `last` behind all of `rows`.
template <typename Row>
static void append(std::vector<Row> &rows, std::vector<Row> last) {
  rows.insert(rows.end(), std::make_move_iterator(last.begin()),
              std::make_move_iterator(last.end()));
}

llvm::FailureOr<Engines> loadEngines(llvm::StringRef targetsDirectory,
                                     llvm::raw_ostream &errors) {
  llvm::SmallString<128> folder(targetsFolder(targetsDirectory));
  path::append(folder, kEnginesFolder);
  std::vector<std::string> files;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; it != end && !code;
       it.increment(code)) {
    if (path::extension(it->path()) == ".toml") {
      files.push_back(it->path());
    }
  }
  llvm::sort(files);
  Engines engines, libraries;
  bool hasFailed = false;
  for (const std::string &name : files) {
    llvm::FailureOr<SourceFile> file = SourceFile::read(name, errors);
    EngineLoader loader(errors);
    if (llvm::succeeded(file)) {
      loader.readFile(std::move(*file), engines, libraries);
    }
    hasFailed |= llvm::failed(file) || loader.failed();
  }
  if (hasFailed) {
    return llvm::failure();
  }
  append(engines.launches, std::move(libraries.launches));
  append(engines.layers, std::move(libraries.layers));
  append(engines.steps, std::move(libraries.steps));
  append(engines.linears, std::move(libraries.linears));
  append(engines.attentions, std::move(libraries.attentions));
  append(engines.collectors, std::move(libraries.collectors));
  append(engines.corrections, std::move(libraries.corrections));
  return engines;
}

} // namespace modelc
