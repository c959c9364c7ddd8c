//===- ExpectExpression.cpp - The language of `expect` --------------------===//
//
//   sum     = product { ("+" | "-") product }
//   product = power { ("*" | "/") power }
//   power   = atom [ "^" power ]
//   atom    = number | name | name "(" sum { "," sum } ")" | "(" sum ")"
//           | "-" atom
//
// Functions are min, max, ceildiv and floordiv of two numbers, and
// experts_hit(experts, top_k, tokens), as the workload loads experts.
//
//===----------------------------------------------------------------------===//

#include "lib/Cost/ExpertLoad.h"
#include "lib/Cost/Read/ReadKernel.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

namespace modelc {

static constexpr llvm::StringLiteral kExpertsHit = "experts_hit";

namespace {
class ExpectParser {
public:
  ExpectParser(llvm::StringRef text, const Bindings &bindings)
      : text(text), bindings(bindings) {}

  double readAll();
  /// The first mistake; empty if there is none.
  std::string mistake;

private:
  double readSum();
  double readProduct();
  double readPower();
  double readAtom();
  double readNumber();
  double readNamed();
  double call(llvm::StringRef name, llvm::ArrayRef<double> of, size_t nameAt);
  double lookUp(llvm::StringRef name, size_t nameAt);
  void skipSpace() {
    at = std::min(text.find_first_not_of(" \t", at), text.size());
  }
  bool consume(char c);
  double fail(const llvm::Twine &message, size_t where);

  llvm::StringRef text;
  const Bindings &bindings;
  size_t at = 0;
};
} // namespace

double ExpectParser::fail(const llvm::Twine &message, size_t where) {
  if (mistake.empty()) {
    mistake = (message + " at column " + llvm::Twine(where + 1) + " of '" +
               text + "'")
                  .str();
  }
  at = text.size(); // nothing after the first mistake is read
  return 0;
}

bool ExpectParser::consume(char c) {
  skipSpace();
  if (at < text.size() && text[at] == c) {
    ++at;
    return true;
  }
  return false;
}

double ExpectParser::readSum() {
  double sum = readProduct();
  while (true) {
    if (consume('+')) {
      sum += readProduct();
    } else if (consume('-')) {
      sum -= readProduct();
    } else {
      return sum;
    }
  }
}

double ExpectParser::readProduct() {
  double product = readPower();
  while (true) {
    if (consume('*')) {
      product *= readPower();
    } else if (consume('/')) {
      product /= readPower();
    } else {
      return product;
    }
  }
}

double ExpectParser::readPower() {
  double base = readAtom();
  return consume('^') ? std::pow(base, readPower()) : base;
}

double ExpectParser::readNumber() {
  size_t end = std::min(text.find_first_not_of("0123456789.", at), text.size());
  double number = 0;
  if (!llvm::to_float(text.slice(at, end), number)) {
    return fail("expected a number", at);
  }
  at = end;
  return number;
}

double ExpectParser::call(llvm::StringRef name, llvm::ArrayRef<double> of,
                          size_t nameAt) {
  const size_t wanted = name == kExpertsHit ? 3 : 2;
  if (of.size() != wanted) {
    return fail("expected " + llvm::Twine(wanted) + " arguments of '" + name +
                    "', got " + llvm::Twine(of.size()),
                nameAt);
  }
  if (name == "min") {
    return std::min(of[0], of[1]);
  }
  if (name == "max") {
    return std::max(of[0], of[1]);
  }
  if (name == "ceildiv") {
    return std::ceil(of[0] / of[1]);
  }
  if (name == "floordiv") {
    return std::floor(of[0] / of[1]);
  }
  if (name == kExpertsHit) {
    return expertsHit(ExpertLoad::of(bindings), {of[0], of[1], of[2]});
  }
  return fail("expected min, max, ceildiv, floordiv or experts_hit, got '" +
                  name + "'",
              nameAt);
}

double ExpectParser::lookUp(llvm::StringRef name, size_t nameAt) {
  auto found = bindings.find(name.str());
  if (found != bindings.end()) {
    return found->second;
  }
  std::string known;
  for (const auto &[symbol, value] : bindings) {
    known += (known.empty() ? "" : ", ") + symbol;
  }
  return fail("unknown name '" + name + "', expected one of " + known, nameAt);
}

double ExpectParser::readNamed() {
  size_t nameAt = at;
  llvm::StringRef name = text.substr(at).take_while(
      [](char c) { return llvm::isAlnum(c) || c == '_'; });
  at += name.size();
  if (!consume('(')) {
    return lookUp(name, nameAt);
  }
  llvm::SmallVector<double, 3> arguments = {readSum()};
  if (!consume(',')) {
    return fail("expected ',' and a second argument", at);
  }
  do {
    arguments.push_back(readSum());
  } while (consume(','));
  if (!consume(')')) {
    return fail("expected ')'", at);
  }
  return call(name, arguments, nameAt);
}

double ExpectParser::readAtom() {
  if (consume('-')) {
    return -readAtom();
  }
  if (consume('(')) {
    double value = readSum();
    return consume(')') ? value : fail("expected ')'", at);
  }
  if (at < text.size() && (llvm::isDigit(text[at]) || text[at] == '.')) {
    return readNumber();
  }
  if (at < text.size() && (llvm::isAlpha(text[at]) || text[at] == '_')) {
    return readNamed();
  }
  return fail("expected a number, a name or '('", at);
}

double ExpectParser::readAll() {
  double value = readSum();
  skipSpace();
  if (at < text.size()) {
    return fail("expected an operator", at);
  }
  if (!std::isfinite(value)) {
    return fail("expected a finite value", 0);
  }
  return value;
}

void addNamesOf(llvm::StringRef expression, std::set<std::string> &names) {
  while (!expression.empty()) {
    llvm::StringRef word = expression.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_'; });
    expression = expression.drop_front(std::max<size_t>(word.size(), 1));
    bool isCall = expression.ltrim().starts_with("(");
    if (word == kExpertsHit) {
      ExpertLoad::addNames(names);
    } else if (!word.empty() && !llvm::isDigit(word.front()) && !isCall) {
      names.insert(word.str());
    }
  }
}

llvm::FailureOr<double> evaluateExpression(llvm::StringRef text,
                                           const Bindings &bindings,
                                           std::string &why) {
  ExpectParser parser(text, bindings);
  double value = parser.readAll();
  why = parser.mistake;
  if (!why.empty()) {
    return llvm::failure();
  }
  return value;
}

} // namespace modelc
