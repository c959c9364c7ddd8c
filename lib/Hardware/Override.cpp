//===- Override.cpp - key=value of the command line -----------------------===//

#include "lib/Hardware/Loader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

/// A shell eats the quotes of "9 TB/s", so what is not TOML is a string.
static Node parseValue(llvm::StringRef text) {
  std::string ignored;
  llvm::raw_string_ostream os(ignored);
  SourceFile toml("--set", "value = " + text.str());
  llvm::FailureOr<Node> root = parseToml(toml, os);
  if (llvm::succeeded(root) && root->members.size() == 1) {
    return root->members.front().value;
  }
  Node node;
  node.kind = Node::Kind::String;
  node.string = text.str();
  return node;
}

void Loader::readOverride(llvm::StringRef text) {
  SourceFile file("--set", text.str());
  current = std::make_shared<const SourceFile>(file);
  auto [key, value] = text.split('=');
  key = key.trim();
  if (!text.contains('=') || key.empty()) {
    error(file, {1, 1, unsigned(text.size())},
          "expected key=value, such as memory.bandwidth=\"9 TB/s\"");
    return;
  }
  Node node = parseValue(value.trim());
  node.place = {1, unsigned(text.find('=')) + 2, unsigned(value.size())};
  Origin origin{"the command line", Grade::Assumed};
  llvm::StringRef entry = key.rsplit('.').second;
  std::vector<llvm::StringRef> names;
  for (const Field<Target> &field : targetFields()) {
    names.push_back(field.name);
    bool isEntry = key == field.name + "." + entry.str() &&
                   llvm::is_contained(field.entries, entry);
    if (isEntry || (key == field.name && field.entries.empty())) {
      readField(file, key.str(), field, entry, node, origin, target);
      return;
    }
  }
  for (MmaRow &row : target.mma) {
    for (const Field<MmaRow> &field : mmaFields()) {
      if (key == "mma." + row.name + "." + field.name) {
        readField(file, key.str(), field, "", node, origin, row);
        // What is wrong with the whole row is said with all contradictions.
        (void)finishMmaRow(target.execution, row);
        return;
      }
    }
  }
  error(file, {1, 1, unsigned(key.size())},
        "unknown key \"" + key + "\"" + didYouMean(key, names));
}

} // namespace modelc
