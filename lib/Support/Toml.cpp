#include "lib/Support/Support.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace modelc {

static Place placeOf(const toml::source_region &region) {
  unsigned length = 1;
  if (region.end.line == region.begin.line &&
      region.end.column > region.begin.column) {
    length = region.end.column - region.begin.column;
  }
  return {region.begin.line, region.begin.column, length};
}

static Node convert(const toml::node &node);

static Node convertTable(const toml::table &table) {
  Node result;
  result.kind = Node::Kind::Table;
  for (auto &&[key, value] : table) {
    result.members.push_back(
        {std::string(key.str()), placeOf(key.source()), convert(value)});
  }
  // The library keeps keys sorted; users expect the order that they wrote.
  llvm::sort(result.members, [](const Member &a, const Member &b) {
    return std::tie(a.place.line, a.place.column) <
           std::tie(b.place.line, b.place.column);
  });
  return result;
}

static Node convert(const toml::node &node) {
  Node result;
  if (const toml::table *table = node.as_table()) {
    result = convertTable(*table);
  } else if (const toml::array *array = node.as_array()) {
    result.kind = Node::Kind::Array;
    for (const toml::node &item : *array) {
      result.items.push_back(convert(item));
    }
  } else if (std::optional<int64_t> integer = node.value_exact<int64_t>()) {
    result.kind = Node::Kind::Integer;
    result.integer = *integer;
    result.number = double(*integer);
  } else if (std::optional<double> number = node.value_exact<double>()) {
    result.kind = Node::Kind::Float;
    result.number = *number;
  } else if (std::optional<bool> boolean = node.value_exact<bool>()) {
    result.kind = Node::Kind::Boolean;
    result.boolean = *boolean;
  } else {
    // Strings, and dates in their own spelling.
    result.kind = Node::Kind::String;
    if (std::optional<std::string> string = node.value<std::string>()) {
      result.string = *string;
    } else if (const auto *date = node.as_date()) {
      std::ostringstream text;
      text << date->get();
      result.string = text.str();
    }
  }
  result.place = placeOf(node.source());
  return result;
}

/// "Error while parsing string: encountered end-of-file" in our words.
static std::string inOurWords(llvm::StringRef description) {
  llvm::StringRef text = description;
  if (!text.consume_front("Error while parsing ")) {
    return llvm::toLower(text.front()) + text.drop_front().str();
  }
  auto [what, why] = text.split(": ");
  if (why.starts_with("encountered end-of-file")) {
    return ("expected the rest of a " + what + ", got the end of the file")
        .str();
  }
  auto [wanted, seen] = why.split(", saw ");
  std::string got = seen.empty() ? "" : (", got " + seen).str();
  bool saysExpected = wanted.contains("expected");
  return ((saysExpected ? "" : "expected a " + what + ": ") + wanted +
          (saysExpected ? " in a " + what : "") + got)
      .str();
}

llvm::FailureOr<Node> parseToml(const SourceFile &file, llvm::raw_ostream &os) {
  if (failed(checkBounds(file, Syntax::Toml, os))) {
    return llvm::failure();
  }
  toml::parse_result result =
      toml::parse(std::string_view(file.text().data(), file.text().size()));
  if (!result) {
    const toml::parse_error &error = result.error();
    file.error(os, placeOf(error.source()),
               inOurWords(llvm::StringRef(error.description().data(),
                                          error.description().size())));
    return llvm::failure();
  }
  return convert(result.table());
}

} // namespace modelc
