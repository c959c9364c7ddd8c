//===- tables.h - Constants of a plan -------------------------------------===//
//
// A binding's `source` says what a table holds, see README.md: words, and a
// number behind each.
//
//===----------------------------------------------------------------------===//
#ifndef MODELC_HOST_TABLES_H
#define MODELC_HOST_TABLES_H

#include "launch.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <vector>

namespace modelc_host {

class Table {
public:
  explicit Table(const std::string &source) {
    std::istringstream words(source);
    words >> kind;
    std::string word;
    for (double value; words >> word >> value;) {
      said[word] = value;
    }
  }

  /// Numbers of one position.
  int64_t width() const { return kind == "rope" ? 2 * pairs() : 1; }
  bool isPossible() const {
    return (kind == "rope" && pairs() > 0 && of("theta") > 0) ||
           (kind == "temperature" && of("every") > 0);
  }
  void fill(int64_t positions, float *out) const {
    if (kind == "rope") {
      return fillRope(positions, out);
    }
    for (int64_t position = 0; position < positions; ++position) {
      const double period = std::floor(double(position + 1) / of("every"));
      out[position] = float(1 + of("scale") * std::log(1 + period));
    }
  }

private:
  bool has(const char *word) const { return said.count(word) > 0; }
  double of(const char *word) const {
    const auto found = said.find(word);
    return found == said.end() ? 0 : found->second;
  }
  int64_t pairs() const { return int64_t(of("columns")) / 2; }

  /// Cosines, then sines, of the angle of each pair.
  void fillRope(int64_t positions, float *out) const {
    const double magnitude = has("magnitude") ? of("magnitude") : 1;
    std::vector<double> frequencies;
    for (int64_t pair = 0; pair < pairs(); ++pair) {
      frequencies.push_back(frequencyOf(pair));
    }
    for (int64_t position = 0; position < positions; ++position) {
      for (const double frequency : frequencies) {
        const double angle = double(position) * frequency;
        out[0] = float(std::cos(angle) * magnitude);
        out++ [pairs()] = float(std::sin(angle) * magnitude);
      }
      out += pairs();
    }
  }

  double frequencyOf(int64_t pair) const {
    const double plain =
        std::pow(of("theta"), -2 * double(pair) / of("columns"));
    if (has("beta_fast")) {
      const double slowed = slowedByYarn(pair);
      return plain / of("factor") * slowed + plain * (1 - slowed);
    }
    return has("low_freq_factor") ? asLlama3(plain)
           : has("stretched")     ? plain / of("stretched")
                                  : plain;
  }

  /// How far a pair is slowed down, from 0 to 1.
  double slowedByYarn(int64_t pair) const {
    double first = pairThatTurns(of("beta_fast"));
    double last = pairThatTurns(of("beta_slow"));
    if (of("truncate") > 0) {
      first = std::floor(first);
      last = std::ceil(last);
    }
    first = std::max(first, 0.0);
    last = std::min(last, of("columns") - 1);
    const double range = last == first ? 0.001 : last - first;
    return std::clamp((double(pair) - first) / range, 0.0, 1.0);
  }

  /// The pair, between two, that turns so many times in the original context.
  double pairThatTurns(double times) const {
    constexpr double kTwoPi = 6.283185307179586;
    return of("columns") * std::log(of("original_context") / (times * kTwoPi)) /
           (2 * std::log(of("theta")));
  }

  double asLlama3(double plain) const {
    constexpr double kTwoPi = 6.283185307179586;
    const double turns = of("original_context") * plain / kTwoPi;
    if (turns > of("high_freq_factor")) {
      return plain;
    }
    if (turns < of("low_freq_factor")) {
      return plain / of("factor");
    }
    const double kept = (turns - of("low_freq_factor")) /
                        (of("high_freq_factor") - of("low_freq_factor"));
    return (1 - kept) * plain / of("factor") + kept * plain;
  }

  std::string kind;
  std::map<std::string, double> said;
};

inline int fillTable(const mc_binding *constant, void *out) {
  if (!constant || constant->role != MC_CONSTANT || !constant->source) {
    return fail(MC_BAD_ARGUMENT, "expected the binding of a constant");
  }
  const Table table(constant->source);
  int64_t width = 1;
  for (int i = 1; i < constant->rank; ++i) {
    width *= constant->shape[i];
  }
  if (!table.isPossible() || constant->type != MC_F32 || constant->rank < 1 ||
      constant->shape[0] < 0 || width != table.width()) {
    return fail(MC_BAD_ARGUMENT, "%s: expected the source of a table, got %s",
                constant->name, constant->source);
  }
  table.fill(constant->shape[0], static_cast<float *>(out));
  return MC_OK;
}

} // namespace modelc_host

#endif // MODELC_HOST_TABLES_H
