#include "lib/Report/Figures.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

namespace modelc {

void FigureList::add(std::string name, std::string key, Views value,
                     Term term) {
  if (!std::isfinite(value.bound) || !std::isfinite(value.expectation)) {
    addAbsent(std::move(name), std::move(key),
              "no finite number comes out of its sum");
    return;
  }
  term.name = name;
  std::string unit = term.unit;
  list.push_back({std::move(name), std::move(key), std::move(unit), value, "",
                  "", std::move(term)});
}

void FigureList::addAbsent(std::string name, std::string key,
                           std::string reason) {
  list.push_back({std::move(name), std::move(key), "", std::nullopt,
                  std::move(reason), "", Term()});
}

const Figure &FigureList::named(llvm::StringRef name) const {
  auto found = llvm::find_if(
      list, [&](const Figure &figure) { return figure.name == name; });
  assert(found != list.end() && "every report has every figure");
  return *found;
}

} // namespace modelc
