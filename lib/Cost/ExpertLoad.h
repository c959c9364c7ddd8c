//===- ExpertLoad.h - How the tokens of a step fall on experts ------------===//
//
// Which experts a token goes to is known when it runs. What a step costs
// follows from counts: of experts that have any token, whose weights are read;
// of rows in whole tiles, which are multiplied; of the rows of the rank that
// has most, which the others await. All three follow from one statement of the
// workload.
//
//   uniform    each token picks any of the experts, as if by lot
//   balanced   tokens are dealt out: experts differ by one row at most
//   power      popularity is drawn from x^-exponent, bounded as aiconfigurator
//              bounds it (collector/helper.py), by a fixed sequence of numbers
//
//===----------------------------------------------------------------------===//

#ifndef LIB_COST_EXPERTLOAD_H
#define LIB_COST_EXPERTLOAD_H

#include "lib/Cost/StepShape.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <set>

namespace modelc {

/// What a workload says of experts.
struct ExpertLoad {
  enum class Kind { Uniform, Balanced, Power };
  Kind kind = Kind::Uniform;
  double exponent = 0; ///< of a power law

  /// "uniform", "balanced" or "power:1.2"; none of anything else.
  static std::optional<ExpertLoad> parse(llvm::StringRef text);
  /// As symbols of a workload, and what they say.
  Bindings symbols() const;
  static ExpertLoad of(const Bindings &bindings);
  /// The names of all such symbols.
  static void addNames(std::set<std::string> &names);
};

/// Tokens that choose `topK` of the experts each. Experts in order are shared
/// by ranks.
struct ExpertStep {
  double experts = 1, topK = 1, tokens = 1;
  double ranks = 1;
};

/// Experts that have a row, of the rank that has most rows.
double expertsHit(const ExpertLoad &load, const ExpertStep &step);
/// Rows, pairs of a token and an expert, of the rank that has most.
double mostRows(const ExpertLoad &load, const ExpertStep &step);
/// The same where the rows of each expert fill tiles of `tileRows`.
double mostFilledRows(const ExpertLoad &load, const ExpertStep &step,
                      double tileRows);

} // namespace modelc

#endif // LIB_COST_EXPERTLOAD_H
