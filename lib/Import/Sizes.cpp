//===- Sizes.cpp - Numbers by name, and products of them ------------------===//

#include "lib/Import/Reader.h"

using namespace mlir;
using namespace modelc;

LogicalResult Sizes::readTable(Source &source, const Node &table) {
  TableReader reader(source, table, "[sizes]");
  for (const Member &member : table.members) {
    known[member.key] = reader.requirePositive(member.key);
  }
  return failure(source.failed);
}

std::optional<int64_t> Sizes::evaluate(TableReader &reader, StringRef key,
                                       StringRef term) const {
  int64_t value;
  if (!term.getAsInteger(10, value)) {
    return value;
  }
  auto size = known.find(term.str());
  if (size != known.end()) {
    return size->second;
  }
  SmallVector<StringRef> names;
  for (const auto &entry : known) {
    names.push_back(entry.first);
  }
  reader.error(key, "expected a number or a name of [sizes], got \"" + term +
                        "\"" + didYouMean(term, names));
  return std::nullopt;
}

int64_t Sizes::read(TableReader &reader, StringRef key) const {
  const Node *node = reader.find(key);
  if (!node || node->isInteger()) {
    return reader.requirePositive(key);
  }
  std::optional<std::string> text = reader.string(key);
  if (!text) {
    return 1;
  }
  int64_t product = 1;
  SmallVector<StringRef> terms;
  StringRef(*text).split(terms, '*');
  for (StringRef term : terms) {
    int64_t factor = evaluate(reader, key, term.trim()).value_or(1);
    if (factor < 1 || llvm::MulOverflow(product, factor, product) ||
        product > model::kLargestSize) {
      reader.error(key, "expected a size from 1 to " +
                            Twine(model::kLargestSize) + " for \"" + key +
                            "\", got \"" + *text + "\"");
      return 1;
    }
  }
  return product;
}
