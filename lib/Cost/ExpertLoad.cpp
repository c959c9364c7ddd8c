#include "lib/Cost/ExpertLoad.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace modelc {

static constexpr const char *kBalanced = "experts_balanced";
static constexpr const char *kExponent = "experts_exponent";
/// Of popularities, whose mean is taken.
static constexpr int kDraws = 200;

//===----------------------------------------------------------------------===//
// What a workload says
//===----------------------------------------------------------------------===//

std::optional<ExpertLoad> ExpertLoad::parse(llvm::StringRef text) {
  if (text == "uniform") {
    return ExpertLoad();
  }
  if (text == "balanced") {
    return ExpertLoad{Kind::Balanced, 0};
  }
  ExpertLoad power = {Kind::Power, 0};
  const bool isPower = text.consume_front("power:") &&
                       llvm::to_float(text, power.exponent) &&
                       power.exponent > 0 && power.exponent <= 8;
  return isPower ? std::optional(power) : std::nullopt;
}

Bindings ExpertLoad::symbols() const {
  switch (kind) {
  case Kind::Uniform:
    return {};
  case Kind::Balanced:
    return {{kBalanced, 1}};
  case Kind::Power:
    return {{kExponent, exponent}};
  }
  return {};
}

ExpertLoad ExpertLoad::of(const Bindings &bindings) {
  if (auto found = bindings.find(kExponent); found != bindings.end()) {
    return {Kind::Power, found->second};
  }
  return {bindings.count(kBalanced) ? Kind::Balanced : Kind::Uniform, 0};
}

void ExpertLoad::addNames(std::set<std::string> &names) {
  names.insert({kBalanced, kExponent});
}

//===----------------------------------------------------------------------===//
// Power law
//===----------------------------------------------------------------------===//

namespace {
/// The rows of each expert of one rank.
using Rows = std::vector<double>;

/// Steps of a power law, one after the other.
class PowerDraws {
public:
  PowerDraws(const ExpertLoad &load, const ExpertStep &step)
      : load(load), step(step), generator(1) {}

  /// The rows of the rank that has most, in one draw.
  Rows next();

private:
  double popularity(double share) const;
  void deal(Rows &rows) const;

  const ExpertLoad &load;
  const ExpertStep &step;
  std::mt19937_64 generator; ///< the same numbers everywhere
};
} // namespace

static double pairsOf(const ExpertStep &step) {
  return step.tokens * step.topK;
}

/// That which `share` of all experts stay below.
double PowerDraws::popularity(double share) const {
  const bool areMany = pairsOf(step) > step.experts;
  const double least = areMany ? 1 : 0.01;
  const double most = areMany ? std::max(0.8 * step.tokens, 1.0) : 2;
  const double rest = 1 - load.exponent;
  if (std::fabs(rest) < 1e-9) {
    return least * std::pow(most / least, share);
  }
  const double from = std::pow(least, rest), to = std::pow(most, rest);
  return std::pow(from + (to - from) * share, 1 / rest);
}

/// What rounding has left over or made too much goes to or from the ranks in
/// turn: to the smallest of a rank's experts, from the largest.
void PowerDraws::deal(Rows &rows) const {
  const auto ranks = static_cast<size_t>(step.ranks);
  const size_t members = rows.size() / ranks;
  double left = pairsOf(step) - std::accumulate(rows.begin(), rows.end(), 0.0);
  size_t idle = 0;
  for (size_t rank = 0; std::fabs(left) >= 0.5 && idle <= ranks;
       rank = (rank + 1) % ranks, ++idle) {
    const auto begin = rows.begin() + static_cast<long>(rank * members);
    const auto end = begin + static_cast<long>(members);
    const auto changed =
        left > 0 ? std::min_element(begin, end) : std::max_element(begin, end);
    if (left > 0 ? *changed < step.tokens : *changed > 0) {
      *changed += left > 0 ? 1 : -1;
      left += left > 0 ? -1 : 1;
      idle = 0;
    }
  }
}

Rows PowerDraws::next() {
  const auto experts = static_cast<size_t>(step.experts);
  Rows rows(experts);
  for (double &count : rows) {
    count = popularity(static_cast<double>(generator() >> 11) * 0x1p-53);
  }
  const double sum = std::accumulate(rows.begin(), rows.end(), 0.0);
  for (double &count : rows) {
    count = std::min(std::nearbyint(count / sum * pairsOf(step)), step.tokens);
  }
  deal(rows);
  const auto members = static_cast<long>(step.experts / step.ranks);
  Rows most;
  double mostRows = -1;
  for (auto begin = rows.begin(); begin != rows.end(); begin += members) {
    const double ofRank = std::accumulate(begin, begin + members, 0.0);
    if (ofRank > mostRows) {
      mostRows = ofRank;
      most.assign(begin, begin + members);
    }
  }
  return most;
}

/// The mean of what `measure` says of a rank's rows.
static double meanOfDraws(const ExpertLoad &load, const ExpertStep &step,
                          llvm::function_ref<double(const Rows &)> measure) {
  PowerDraws draws(load, step);
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) {
    sum += measure(draws.next());
  }
  return sum / kDraws;
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

double expertsHit(const ExpertLoad &load, const ExpertStep &step) {
  switch (load.kind) {
  case ExpertLoad::Kind::Uniform: {
    const double missed =
        std::pow(std::max(1 - step.topK / step.experts, 0.0), step.tokens);
    return step.experts / step.ranks * (1 - missed);
  }
  case ExpertLoad::Kind::Balanced:
    return std::min(step.experts, pairsOf(step)) / step.ranks;
  case ExpertLoad::Kind::Power:
    return meanOfDraws(load, step, [](const Rows &rows) {
      return static_cast<double>(
          llvm::count_if(rows, [](double count) { return count > 0; }));
    });
  }
  return 0;
}

double mostRows(const ExpertLoad &load, const ExpertStep &step) {
  const double mean = pairsOf(step) / step.ranks;
  switch (load.kind) {
  case ExpertLoad::Kind::Uniform:
    return mean +
           std::sqrt(2 * std::log(step.ranks) * mean * (1 - 1 / step.ranks));
  case ExpertLoad::Kind::Balanced:
    return mean;
  case ExpertLoad::Kind::Power:
    return meanOfDraws(load, step, [](const Rows &rows) {
      return std::accumulate(rows.begin(), rows.end(), 0.0);
    });
  }
  return 0;
}

static double filled(double rows, double tileRows) {
  return std::ceil(rows / tileRows) * tileRows;
}

/// The mean of an expert's rows in whole tiles, where each token takes it with
/// the same chance.
static double filledByLot(const ExpertStep &step, double tileRows) {
  const double chance = std::min(step.topK / step.experts, 1.0);
  if (chance == 1) {
    return filled(step.tokens, tileRows);
  }
  const double mean = step.tokens * chance;
  const double most =
      std::min(step.tokens, std::ceil(mean + 12 * std::sqrt(mean) + 12));
  const double first =
      std::max(0.0, std::floor(mean - 12 * std::sqrt(mean) - 12));
  double sum = 0;
  for (double rows = first; rows <= most; ++rows) {
    const double ways = std::lgamma(step.tokens + 1) - std::lgamma(rows + 1) -
                        std::lgamma(step.tokens - rows + 1);
    sum += filled(rows, tileRows) *
           std::exp(ways + rows * std::log(chance) +
                    (step.tokens - rows) * std::log1p(-chance));
  }
  return sum;
}

double mostFilledRows(const ExpertLoad &load, const ExpertStep &step,
                      double tileRows) {
  const double ofRank = step.experts / step.ranks;
  switch (load.kind) {
  case ExpertLoad::Kind::Uniform:
    return ofRank * filledByLot(step, tileRows);
  case ExpertLoad::Kind::Balanced: {
    const double least = std::floor(pairsOf(step) / step.experts);
    const double more = pairsOf(step) - least * step.experts;
    return (more * filled(least + 1, tileRows) +
            (step.experts - more) * filled(least, tileRows)) /
           step.ranks;
  }
  case ExpertLoad::Kind::Power:
    return meanOfDraws(load, step, [&](const Rows &rows) {
      return std::accumulate(rows.begin(), rows.end(), 0.0,
                             [&](double sum, double count) {
                               return sum + filled(count, tileRows);
                             });
    });
  }
  return 0;
}

} // namespace modelc
