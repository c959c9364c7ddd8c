// Prints how the tokens of steps fall on experts: in the order of the table in
// the engines' data sets, experts hit, rows of the rank that has most over the
// mean, rows in tiles of 16 and of 128 over its rows.
#include "lib/Cost/ExpertLoad.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace modelc;

/// Tells where a number is more than a part of it off.
static void check(llvm::StringRef what, double value, double expected,
                  double tolerance = 0.03) {
  if (!(std::abs(value - expected) <= tolerance * expected)) {
    llvm::outs() << what << ": expected " << expected << ", got " << value
                 << "\n";
  }
}

struct Line {
  ExpertStep step;
  double uniformHit, balancedHit;
  /// Of the exponents 1.01 and 1.2: hit, rows, rows in tiles of 16 and of 128.
  double first[4], second[4];
};

/// Means of 40 draws of aiconfigurator's collector.
// clang-format off: a line of the table is one.
static constexpr Line kLines[] = {
    {{256, 8, 16, 1}, 102.0, 128, {96.8, 1.00, 12.1, 96.8}, {85.1, 1.00, 10.6, 85.1}},
    {{256, 8, 128, 1}, 251.6, 256, {209.6, 1.00, 3.39, 26.2}, {208.6, 1.00, 3.48, 26.1}},
    {{256, 8, 128, 8}, 31.5, 32, {27.3, 1.33, 2.71, 20.5}, {27.6, 1.37, 2.82, 20.1}},
    {{256, 8, 128, 32}, 7.9, 8, {7.4, 2.00, 2.08, 14.8}, {7.2, 2.22, 2.02, 13.1}},
    {{256, 8, 8192, 1}, 256, 256, {247.9, 1.00, 1.04, 1.35}, {256, 1.00, 1.04, 1.39}},
    {{256, 8, 8192, 8}, 32, 32, {30.8, 1.48, 1.02, 1.23}, {32, 1.78, 1.02, 1.22}},
    {{256, 8, 8192, 32}, 8, 8, {7.8, 2.78, 1.01, 1.11}, {8, 3.87, 1.01, 1.09}},
    {{128, 4, 128, 1}, 125.8, 128, {105.4, 1.00, 3.40, 26.4}, {104.3, 1.00, 3.48, 26.1}},
    {{128, 4, 1024, 8}, 16, 16, {15.1, 1.60, 1.17, 2.79}, {15.6, 1.75, 1.19, 2.79}},
    {{8, 2, 1024, 8}, 1, 1, {1, 3.62, 1.00, 1.03}, {1, 3.65, 1.00, 1.03}}};
// clang-format on

static void checkPower(const ExpertStep &step, llvm::StringRef load,
                       const double (&power)[4]) {
  const ExpertLoad of = *ExpertLoad::parse(load);
  const double rows = mostRows(of, step);
  const std::string name =
      llvm::formatv("{0} of {1} experts, {2} tokens, {3} ranks: ", load,
                    step.experts, step.tokens, step.ranks);
  // The largest of several ranks scatters by a tenth from draw to draw, so that
  // the table's means are 1.5 percent off themselves.
  const double tolerance = step.ranks > 1 ? 0.05 : 0.03;
  check(name + "hit", expertsHit(of, step), power[0], tolerance);
  check(name + "rows", rows * step.ranks / (step.tokens * step.topK), power[1],
        tolerance);
  check(name + "tiles of 16", mostFilledRows(of, step, 16) / rows, power[2],
        tolerance);
  check(name + "tiles of 128", mostFilledRows(of, step, 128) / rows, power[3],
        tolerance);
}

/// Rows fill no less than they are, and no more than a tile for each expert
/// beyond; of one token each of its experts has a tile.
static void checkFilled(llvm::StringRef load) {
  const ExpertLoad of = *ExpertLoad::parse(load);
  for (double tokens : {1, 7, 64, 3000}) {
    const ExpertStep step = {64, 4, tokens, 1};
    const double filled = mostFilledRows(of, step, 16);
    const double pairs = 4 * tokens;
    if (filled < pairs || filled > pairs + 15.001 * expertsHit(of, step)) {
      llvm::outs() << load << ": " << filled << " rows in tiles of " << pairs
                   << "\n";
    }
  }
  check("one token", mostFilledRows(of, {64, 4, 1, 1}, 16), 64);
}

int main() {
  for (const Line &line : kLines) {
    check("uniform", expertsHit(*ExpertLoad::parse("uniform"), line.step),
          line.uniformHit);
    check("balanced", expertsHit(*ExpertLoad::parse("balanced"), line.step),
          line.balancedHit);
    checkPower(line.step, "power:1.01", line.first);
    checkPower(line.step, "power:1.2", line.second);
  }
  for (const char *load : {"uniform", "balanced", "power:1.2"}) {
    checkFilled(load);
  }
  for (const char *text : {"", "power", "power:", "power:0", "power:x",
                           "power:9", "power:1.2x", "Uniform"}) {
    if (ExpertLoad::parse(text)) {
      llvm::outs() << "'" << text << "' is no load\n";
    }
  }
  llvm::outs() << "done\n";
  return 0;
}
