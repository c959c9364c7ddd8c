#include "lib/Cost/Cost.h"
#include "lib/Support/Support.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

namespace modelc {

static std::string valueText(const Term &term) {
  return formatQuantity(term.value, term.unit, 4);
}

/// Depth first without recursion: (term, depth), the next one last.
static std::vector<std::pair<const Term *, unsigned>>
inOrder(const Term &root) {
  std::vector<std::pair<const Term *, unsigned>> order, pending = {{&root, 0}};
  while (!pending.empty()) {
    auto [term, depth] = pending.back();
    pending.pop_back();
    order.push_back({term, depth});
    for (size_t i = term->children.size(); i > 0; --i) {
      pending.push_back({&term->children[i - 1], depth + 1});
    }
  }
  return order;
}

/// The keys behind a line; of many only some, all stand with their sources
/// below.
static void printKeys(llvm::ArrayRef<std::string> facts, const Target &target,
                      llvm::raw_ostream &os) {
  constexpr unsigned kMost = 5;
  unsigned printed = 0;
  for (const std::string &key : facts) {
    if (target.fact(key) && ++printed <= kMost) {
      os << (printed == 1 ? " [" : ", ") << key;
    }
  }
  os << (printed > kMost ? ", ..." : "") << (printed > 0 ? "]" : "");
}

void printTerm(const Term &term, const Target &target, llvm::raw_ostream &os) {
  std::set<std::string> keys;
  for (auto [line, depth] : inOrder(term)) {
    os.indent(2 * depth) << line->name << ": " << valueText(*line);
    if (!line->formula.empty()) {
      os << " = " << line->formula;
    }
    printKeys(line->facts, target, os);
    os << "\n";
    keys.insert(line->facts.begin(), line->facts.end());
  }
  std::erase_if(keys,
                [&](const std::string &key) { return !target.fact(key); });
  if (!keys.empty()) {
    os << "facts:\n";
  }
  for (const std::string &key : keys) {
    const Fact &fact = *target.fact(key);
    os << "  " << key << " = " << fact.text << " (" << gradeName(fact.grade)
       << ": " << fact.source << ")\n";
  }
}

} // namespace modelc
