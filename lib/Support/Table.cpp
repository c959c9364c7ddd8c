#include "lib/Support/Support.h"
#include "lib/Text/Text.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

void TextTable::add(const std::vector<std::string> &cells) {
  std::vector<std::string> &row = rows.emplace_back();
  for (const std::string &cell : cells) {
    row.push_back(oneLine(cell));
  }
}

void TextTable::print(llvm::raw_ostream &os) const {
  std::vector<size_t> widths;
  for (const std::vector<std::string> &row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  for (const std::vector<std::string> &row : rows) {
    std::string line = "  ";
    for (size_t i = 0; i < row.size(); ++i) {
      bool left = i < leftColumns || i + 1 == widths.size();
      std::string pad(widths[i] - row[i].size(), ' ');
      line += left ? row[i] + pad : pad + row[i];
      line += "  ";
    }
    os << llvm::StringRef(line).rtrim() << "\n";
  }
}

} // namespace modelc
