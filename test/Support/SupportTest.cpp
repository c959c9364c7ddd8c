//===- SupportTest.cpp - Quantities and files with places -----------------===//
//
// modelc-support-test quantity TEXT [UNIT]     value and how it prints
// modelc-support-test tree FILE                each value with its place
//
//===----------------------------------------------------------------------===//

#include "lib/Support/Support.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace modelc;

static int printQuantity(llvm::StringRef text, llvm::StringRef unit) {
  std::string why;
  llvm::FailureOr<double> value = parseQuantityIn(text, unit, why);
  if (failed(value)) {
    llvm::errs() << why << "\n";
    return 1;
  }
  llvm::outs() << llvm::format("%.10g", *value) << " " << unit << " = "
               << formatQuantity(*value, unit) << "\n";
  return 0;
}

static void printTree(const Node &node, const std::string &path) {
  for (const Member &member : node.members) {
    printTree(member.value, path + "." + member.key);
  }
  for (size_t i = 0; i < node.items.size(); ++i) {
    printTree(node.items[i], path + "[" + std::to_string(i) + "]");
  }
  if (!node.isTable() && !node.isArray()) {
    llvm::outs() << path << " " << node.place.line << ":" << node.place.column
                 << "+" << node.place.length << " " << node.kindName() << " "
                 << node.print() << "\n";
  }
}

int main(int argc, char **argv) {
  if (argc >= 3 && llvm::StringRef(argv[1]) == "quantity") {
    return printQuantity(argv[2], argc > 3 ? argv[3] : "");
  }
  if (argc != 3 || llvm::StringRef(argv[1]) != "tree") {
    llvm::errs() << "usage: modelc-support-test quantity|tree ...\n";
    return 2;
  }
  llvm::FailureOr<SourceFile> file = SourceFile::read(argv[2], llvm::errs());
  if (failed(file)) {
    return 1;
  }
  bool isJson = file->name().ends_with(".json");
  llvm::FailureOr<Node> root =
      isJson ? parseJson(*file, llvm::errs()) : parseToml(*file, llvm::errs());
  if (failed(root)) {
    return 1;
  }
  printTree(*root, "");
  return 0;
}
