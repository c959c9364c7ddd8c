#include "lib/Hardware/Fields.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

namespace modelc {

static llvm::LogicalResult expected(const llvm::Twine &what, const Node &node,
                                    std::string &why) {
  why = ("expected " + what + ", got " + node.print()).str();
  return llvm::failure();
}

static llvm::LogicalResult readNumber(const Node &node, llvm::StringRef unit,
                                      double &value, std::string &why) {
  if (unit.empty()) {
    value = node.number;
    return node.isNumber() ? llvm::success() : expected("a number", node, why);
  }
  if (node.isNumber()) {
    return expected("a quantity with its unit such as \"" + node.print() + " " +
                        unit + "\"",
                    node, why);
  }
  if (!node.isString()) {
    return expected("a quantity in " + unit, node, why);
  }
  llvm::FailureOr<double> number = parseQuantityIn(node.string, unit, why);
  if (failed(number)) {
    return llvm::failure();
  }
  value = *number;
  return llvm::success();
}

llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              double &value, std::string &why) {
  // No machine is beyond, and products of a dozen facts stay finite.
  constexpr double kMost = 1e24;
  if (failed(readNumber(node, unit, value, why))) {
    return llvm::failure();
  }
  double size = std::fabs(value);
  if (size != 0 && !(size >= 1 / kMost && size <= kMost)) {
    return expected("0, or a number from 1e-24 to 1e24", node, why);
  }
  return llvm::success();
}

llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              int64_t &value, std::string &why) {
  constexpr int64_t kMostOfACount = 1 << 20;
  if (unit.empty()) {
    value = node.integer;
    if (node.isInteger() && value > kMostOfACount) {
      return expected("at most " + llvm::Twine(kMostOfACount), node, why);
    }
    return node.isInteger() ? llvm::success()
                            : expected("an integer", node, why);
  }
  double number = 0;
  if (failed(readValue(node, unit, number, why))) {
    return llvm::failure();
  }
  constexpr double kMostWhole = 0x1p53; // all below are exact
  bool isInRange = std::abs(number) <= kMostWhole;
  value = isInRange ? std::llround(number) : 0;
  if (!isInRange || double(value) != number) {
    return expected("a whole number of " + unit, node, why);
  }
  return llvm::success();
}

llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              bool &value, std::string &why) {
  value = node.boolean;
  return node.isBoolean() ? llvm::success()
                          : expected("true or false", node, why);
}

llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              std::string &value, std::string &why) {
  value = node.string;
  return node.isString() ? llvm::success() : expected("a string", node, why);
}

bool isPlainText(llvm::StringRef text) {
  return !text.contains("..") && llvm::all_of(text, [](char c) {
    return llvm::isAlnum(c) || llvm::StringRef(" _.,:+-/").contains(c);
  });
}

std::string printNumber(double value) {
  Node node;
  node.kind = Node::Kind::Float;
  node.number = value;
  return node.print();
}

/// "0.001 to 1000000000 B/clk"
std::string checkBound(double value, Bound bound, llvm::StringRef unit) {
  if (value >= bound.least && value <= bound.most) { // a NaN is neither
    return "";
  }
  return "expected " + printNumber(bound.least) + " to " +
         printNumber(bound.most) + (unit.empty() ? "" : " ") + unit.str();
}

template <typename T>
static llvm::LogicalResult readList(const Node &node, llvm::StringRef unit,
                                    std::vector<T> &value, std::string &why) {
  if (!node.isArray()) {
    return expected("an array", node, why);
  }
  value.clear();
  for (const Node &item : node.items) {
    if (failed(readValue(item, unit, value.emplace_back(), why))) {
      return llvm::failure();
    }
  }
  return llvm::success();
}

llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              std::vector<std::string> &value,
                              std::string &why) {
  return readList(node, unit, value, why);
}

llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              std::vector<int64_t> &value, std::string &why) {
  return readList(node, unit, value, why);
}

llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              std::vector<std::vector<int64_t>> &value,
                              std::string &why) {
  return readList(node, unit, value, why);
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
static llvm::LogicalResult readChoice(const Node &node,
                                      llvm::ArrayRef<llvm::StringRef> words,
                                      Enum &value, std::string &why) {
  for (size_t i = 0; node.isString() && i < words.size(); ++i) {
    if (node.string == words[i]) {
      value = Enum(i);
      return llvm::success();
    }
  }
  return expected(listWords(words), node, why);
}

llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              Completion &value, std::string &why) {
  return readChoice(node, {"counted", "barrier"}, value, why);
}

llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              MmaScope &value, std::string &why) {
  return readChoice(node, {"wave", "group4", "single"}, value, why);
}

llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              OperandSpace &value, std::string &why) {
  return readChoice(node, {"register", "shared", "tensor"}, value, why);
}

llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              Grade &value, std::string &why) {
  return readChoice(node, {"datasheet", "measured", "derived", "assumed"},
                    value, why);
}

} // namespace modelc
