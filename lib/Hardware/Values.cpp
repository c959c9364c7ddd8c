#include "lib/Hardware/Fields.h"

namespace modelc {

static llvm::LogicalResult expected(const llvm::Twine &what, const Node &node,
                                    std::string &why) {
  why = ("expected " + what + ", got " + node.print()).str();
  return llvm::failure();
}

static llvm::LogicalResult
readImages(const Node &node, std::vector<std::pair<int64_t, int64_t>> &images,
           std::string &why) {
  if (!node.isArray()) {
    return expected("an array of [row, column]", node, why);
  }
  images.clear();
  for (const Node &pair : node.items) {
    if (!pair.isArray() || pair.items.size() != 2 ||
        !pair.items[0].isInteger() || !pair.items[1].isInteger()) {
      return expected("[row, column]", pair, why);
    }
    images.emplace_back(pair.items[0].integer, pair.items[1].integer);
  }
  return llvm::success();
}

llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              FragmentLayout &value, std::string &why) {
  const Node *reg = node.find("register");
  const Node *lane = node.find("lane");
  if (!reg || !lane || node.members.size() != 2) {
    return expected("{ register = [...], lane = [...] }", node, why);
  }
  if (failed(readImages(*reg, value.reg, why))) {
    return llvm::failure();
  }
  return readImages(*lane, value.lane, why);
}

/// One of a list of words, in the order of the enum.
template <typename Enum>
static llvm::LogicalResult readWord(const Node &node,
                                    llvm::ArrayRef<llvm::StringRef> words,
                                    Enum &value, std::string &why) {
  llvm::FailureOr<size_t> choice = readChoice(node, words, why);
  value = llvm::succeeded(choice) ? Enum(*choice) : value;
  return choice;
}

llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              Completion &value, std::string &why) {
  return readWord(node, {"counted", "barrier"}, value, why);
}

llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              MmaScope &value, std::string &why) {
  return readWord(node, {"wave", "group4", "single"}, value, why);
}

llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              OperandSpace &value, std::string &why) {
  return readWord(node, {"register", "shared", "tensor"}, value, why);
}

} // namespace modelc
