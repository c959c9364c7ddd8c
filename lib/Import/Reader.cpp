//===- Reader.cpp - One table of a file, key by key -----------------------===//

#include "lib/Import/Reader.h"

#include "llvm/ADT/StringSwitch.h"
#include <charconv>
#include <cmath>

using namespace mlir;
using namespace modelc;

void Source::error(Place place, const Twine &message) {
  file.error(notes, place, message);
  failed = true;
}

Location Source::location(Place place) const {
  return FileLineColLoc::get(context, file.name(), place.line, place.column);
}

const Node *TableReader::find(StringRef key) {
  asked.push_back(key);
  const Node *node = table.find(key);
  return node && !node->isNull() ? node : nullptr;
}

Place TableReader::place(StringRef key) {
  const Node *node = find(key);
  return node ? node->place : table.place;
}

std::optional<Location> TableReader::location(StringRef key) {
  if (!has(key)) {
    return std::nullopt;
  }
  return source.location(place(key));
}

void TableReader::error(StringRef key, const Twine &message) {
  source.error(place(key), message);
}

const Node *TableReader::findKind(StringRef key, bool (Node::*isKind)() const,
                                  StringRef expected) {
  const Node *node = find(key);
  if (!node) {
    return nullptr;
  }
  if (!(node->*isKind)()) {
    error(key, "expected " + expected + " for \"" + key + "\", got " +
                   node->kindName());
    return nullptr;
  }
  return node;
}

std::optional<int64_t> TableReader::positive(StringRef key) {
  const Node *node = findKind(key, &Node::isInteger, "an integer");
  if (!node) {
    return std::nullopt;
  }
  if (node->integer <= 0) {
    error(key,
          "expected a positive \"" + key + "\", got " + Twine(node->integer));
    return std::nullopt;
  }
  if (node->integer > model::kLargestSize) {
    error(key, "expected \"" + key + "\" of at most " +
                   Twine(model::kLargestSize) + ", got " +
                   Twine(node->integer));
    return std::nullopt;
  }
  return node->integer;
}

std::optional<double> TableReader::number(StringRef key) {
  const Node *node = findKind(key, &Node::isNumber, "a number");
  if (!node) {
    return std::nullopt;
  }
  if (!std::isfinite(node->number) || node->number <= 0) {
    error(key,
          "expected a finite \"" + key + "\" above 0, got " + node->print());
    return std::nullopt;
  }
  return node->number;
}

std::optional<bool> TableReader::boolean(StringRef key) {
  const Node *node = findKind(key, &Node::isBoolean, "true or false");
  return node ? std::optional(node->boolean) : std::nullopt;
}

std::optional<std::string> TableReader::string(StringRef key) {
  const Node *node = findKind(key, &Node::isString, "a string");
  return node ? std::optional(node->string) : std::nullopt;
}

std::optional<size_t> TableReader::choice(StringRef key,
                                          ArrayRef<StringRef> choices) {
  std::optional<std::string> word = string(key);
  if (!word) {
    return std::nullopt;
  }
  const auto *found = llvm::find(choices, *word);
  if (found == choices.end()) {
    error(key, "expected " + listWords(choices) + " for \"" + key +
                   "\", got \"" + *word + "\"" + didYouMean(*word, choices));
    return std::nullopt;
  }
  return found - choices.begin();
}

void TableReader::missing(StringRef key) {
  SmallVector<StringRef> others;
  for (const Member &member : table.members) {
    if (!llvm::is_contained(asked, member.key)) {
      others.push_back(member.key);
    }
  }
  StringRef found = nearest(key, others);
  if (found.empty()) {
    error(key, "expected the key \"" + key + "\" in " + what);
    return;
  }
  source.error(table.member(found)->place, "unknown key \"" + found + "\" in " +
                                               what + ", did you mean \"" +
                                               key + "\"");
  asked.push_back(found); // one mistake, one message
}

int64_t TableReader::requirePositive(StringRef key) {
  if (!has(key)) {
    missing(key);
    return 1;
  }
  return positive(key).value_or(1);
}

double TableReader::requireNumber(StringRef key) {
  if (!has(key)) {
    missing(key);
    return 1;
  }
  return number(key).value_or(1);
}

std::string TableReader::requireString(StringRef key) {
  if (!has(key)) {
    missing(key);
    return "";
  }
  return string(key).value_or("");
}

void TableReader::assume(StringRef key, StringRef tomlKey, std::string value,
                         StringRef why) {
  source.assumptions.push_back(
      {key.str(), tomlKey.str(), std::move(value), why.str()});
}

int64_t TableReader::positiveOr(StringRef key,
                                const Default<int64_t> &otherwise) {
  if (has(key)) {
    return positive(key).value_or(otherwise.value);
  }
  assume(key, otherwise.tomlKey, std::to_string(otherwise.value),
         otherwise.why);
  return otherwise.value;
}

double TableReader::numberOr(StringRef key, const Default<double> &otherwise) {
  if (has(key)) {
    return number(key).value_or(otherwise.value);
  }
  assume(key, otherwise.tomlKey, printNumber(otherwise.value), otherwise.why);
  return otherwise.value;
}

bool TableReader::booleanOr(StringRef key, const Default<bool> &otherwise) {
  if (has(key)) {
    return boolean(key).value_or(otherwise.value);
  }
  assume(key, otherwise.tomlKey, otherwise.value ? "true" : "false",
         otherwise.why);
  return otherwise.value;
}

void TableReader::rejectOthers() {
  for (const Member &member : table.members) {
    if (!llvm::is_contained(asked, member.key)) {
      source.error(member.place, "unknown key \"" + member.key + "\" in " +
                                     what + didYouMean(member.key, asked));
    }
  }
}

Type modelc::parseElementType(MLIRContext *context, StringRef name) {
  return llvm::StringSwitch<Type>(name)
      .Cases({"bf16", "bfloat16"}, BFloat16Type::get(context))
      .Cases({"f16", "float16"}, Float16Type::get(context))
      .Cases({"f32", "float32"}, Float32Type::get(context))
      .Default(Type());
}

std::string modelc::printElementType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string modelc::printNumber(double value) {
  char buffer[64];
  const double magnitude = std::abs(value);
  const bool plain = magnitude >= 1e-3 && magnitude < 1e15;
  auto format =
      plain ? std::chars_format::fixed : std::chars_format::scientific;
  std::to_chars_result end =
      std::to_chars(buffer, buffer + sizeof(buffer), value, format);
  std::string text(buffer, end.ptr);
  if (text.find_first_of(".e") == std::string::npos) {
    text += ".0";
  }
  return text;
}
