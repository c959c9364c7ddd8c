//===- FactValues.cpp - Reading one value of a file of facts --------------===//

#include "lib/Support/Support.h"

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

llvm::FailureOr<size_t> readChoice(const Node &node,
                                   llvm::ArrayRef<llvm::StringRef> words,
                                   std::string &why) {
  const auto *found = llvm::find(words, node.string);
  if (node.isString() && found != words.end()) {
    return found - words.begin();
  }
  return expected(listWords(words), node, why);
}

static constexpr llvm::StringRef kGrades[] = {"datasheet", "measured",
                                              "derived", "assumed"};

llvm::StringRef gradeName(Grade grade) { return kGrades[unsigned(grade)]; }

llvm::LogicalResult readValue(const Node &node, llvm::StringRef unit,
                              Grade &value, std::string &why) {
  llvm::FailureOr<size_t> choice = readChoice(node, kGrades, why);
  value = llvm::succeeded(choice) ? Grade(*choice) : value;
  return choice;
}

} // namespace modelc
