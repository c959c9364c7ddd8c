//===- Figures.h - The numbers of a report, each with its sum -------------===//

#ifndef LIB_REPORT_FIGURES_H
#define LIB_REPORT_FIGURES_H

#include "lib/Report/Report.h"
#include <optional>

namespace modelc {

/// Why a workload has no figure of decode.
inline constexpr llvm::StringLiteral kNoDecode =
    "prefill makes the only token out";

/// A number of the report that opens by its name and by its key in JSON.
struct Figure {
  std::string name; // "tpot"
  std::string key;  // "mean_tpot_ms"
  std::string unit;
  std::optional<Views> value; // finite, always
  std::string reason;         // why there is none
  std::string note;           // what a reader must know of the value
  Term term;                  // of the expectation
};

/// The figures of a report, in its order. Whoever prints takes them from here,
/// so that no number is printed that is none.
class FigureList {
public:
  /// A value that is not finite is left out.
  void add(std::string name, std::string key, Views value, Term term);
  /// A figure that this workload does not have.
  void addAbsent(std::string name, std::string key, std::string reason);
  llvm::ArrayRef<Figure> all() const { return list; }
  const Figure &named(llvm::StringRef name) const;
  /// Says something of the figure that was added last.
  void addNote(std::string note) { list.back().note = std::move(note); }

private:
  std::vector<Figure> list;
};

/// Those of the memory of one GPU.
void addMemoryFigures(const Report &report, FigureList &list);

/// All figures of a report.
FigureList figures(const Report &report, const Target &target);

} // namespace modelc

#endif // LIB_REPORT_FIGURES_H
