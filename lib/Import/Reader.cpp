//===- Reader.cpp - One table of a file, key by key -----------------------===//

#include "lib/Import/Reader.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace modelc;

/// A table of other things altogether is not worth a message for each key.
static constexpr size_t kMostUnknown = 12;

void Source::error(Place place, const Twine &message) {
  file.error(notes, place, message);
  failed = true;
}

Location Source::location(Place place) const {
  return FileLineColLoc::get(context, file.name(), place.line, place.column);
}

const Node *TableReader::find(StringRef key) {
  know(key);
  const Node *node = root.find(key);
  return node && !node->isNull() ? node : nullptr;
}

Place TableReader::place(StringRef key) {
  know(key);
  const Node *node = root.find(key);
  return node ? node->place : root.place;
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

std::optional<int64_t> TableReader::integer(StringRef key, int64_t least) {
  const Node *node = findKind(key, &Node::isInteger, "an integer");
  if (!node) {
    return std::nullopt;
  }
  if (node->integer < least) {
    error(key,
          (least > 0 ? "expected a positive \"" : "expected no negative \"") +
              key + "\", got " + Twine(node->integer));
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

std::optional<int64_t> TableReader::positive(StringRef key) {
  return integer(key, 1);
}

std::optional<int64_t> TableReader::natural(StringRef key) {
  return integer(key, 0);
}

const Node *TableReader::table(StringRef key) {
  return findKind(key, &Node::isTable, "a table");
}

const Node *TableReader::array(StringRef key) {
  return findKind(key, &Node::isArray, "an array");
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
  if (root.find(key)) {
    error(key, "expected a value for \"" + key + "\", got null");
    return;
  }
  SmallVector<StringRef> words;
  for (const Member *member : others()) {
    words.push_back(member->key);
  }
  StringRef found = nearest(key, words);
  if (found.empty()) {
    error(key, "expected the key \"" + key + "\" in " + what);
    return;
  }
  source.error(root.member(found)->place, "unknown key \"" + found + "\" in " +
                                              what + ", did you mean \"" + key +
                                              "\"");
  know(found); // one mistake, one message
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

size_t TableReader::requireChoice(StringRef key, ArrayRef<StringRef> choices) {
  if (!has(key)) {
    missing(key);
    return 0;
  }
  return choice(key, choices).value_or(0);
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
  assume(key, otherwise.tomlKey, exactReal(otherwise.value), otherwise.why);
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

std::vector<const Member *> TableReader::others() const {
  std::vector<const Member *> members;
  for (const Member &member : root.members) {
    if (!asked.contains(member.key)) {
      members.push_back(&member);
    }
  }
  return members;
}

/// Whether keys stand together and none is like those that are known: the line
/// that began their table is gone, which is one mistake.
static bool areOfAnotherTable(ArrayRef<const Member *> keys,
                              ArrayRef<StringRef> known) {
  for (size_t i = 0; i < keys.size(); ++i) {
    bool isNext = i == 0 || keys[i]->place.line == keys[i - 1]->place.line + 1;
    if (!isNext || !nearest(keys[i]->key, known).empty()) {
      return false;
    }
  }
  return keys.size() > 1;
}

void TableReader::rejectOthers(StringRef remedy) {
  const std::vector<const Member *> unknown = others();
  if (what.front() == '[' && areOfAnotherTable(unknown, asked.getArrayRef())) {
    return source.error(unknown.front()->place,
                        "unknown keys in " + what + ", \"" +
                            unknown.front()->key + "\" and " +
                            Twine(unknown.size() - 1) +
                            " below; is the line missing that begins their "
                            "table?");
  }
  const ArrayRef<const Member *> shown =
      ArrayRef(unknown).take_front(kMostUnknown);
  for (const Member *member : shown) {
    source.error(member->place,
                 "unknown key \"" + member->key + "\" in " + what +
                     didYouMean(member->key, asked.getArrayRef()) + remedy);
  }
  if (shown.size() < unknown.size()) {
    source.error(unknown[shown.size()]->place,
                 Twine(unknown.size() - shown.size()) +
                     " more unknown keys in " + what);
  }
}

Type modelc::parseElementType(MLIRContext *context, StringRef name) {
  return llvm::StringSwitch<Type>(name)
      .Cases({"bf16", "bfloat16"}, BFloat16Type::get(context))
      .Cases({"f16", "float16"}, Float16Type::get(context))
      .Cases({"f32", "float32"}, Float32Type::get(context))
      .Default(Type());
}

void modelc::noteConversion(TableReader &reader, StringRef key, Type stored,
                            Type computed) {
  const Source &source = reader.getSource();
  if (stored && stored != computed && !source.failed) {
    source.file.note(source.notes, reader.place(key),
                     "the checkpoint holds " + printElementType(stored) +
                         "; its weights are converted to " +
                         printElementType(computed) + " when they are loaded");
  }
}

std::string modelc::printElementType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}
