#include "lib/Cost/Read/IterationSum.h"
#include <cmath>

using namespace mlir;

namespace modelc {

constexpr double kMostVisits = 1024; // of the innermost loop
constexpr unsigned kFewestPoints = 15;

/// Points for each of several loops in each other.
static unsigned pointsFor(size_t loops) {
  double each = std::pow(kMostVisits, 1.0 / double(std::max<size_t>(1, loops)));
  return std::max<unsigned>(kFewestPoints, std::floor(each));
}

bool Level::reads(Value outer) const {
  return known && (lower->reads(outer) || upper->reads(outer) ||
                   (step && step->reads(outer)));
}

std::vector<Level> Iterations::levels(ArrayRef<schedule::LoopOp> loops) const {
  std::vector<Level> result;
  for (schedule::LoopOp loop : loops) {
    for (auto [dimension, index] : llvm::enumerate(loop.getInductionVars())) {
      Level level{loop, index, &programs.of(loop.getLowerBounds()[dimension]),
                  &programs.of(loop.getUpperBounds()[dimension])};
      if (!loop.getSteps().empty()) {
        level.step = &programs.of(loop.getSteps()[dimension]);
      }
      level.known = level.lower->isKnown(sizes) &&
                    level.upper->isKnown(sizes) &&
                    (!level.step || level.step->isKnown(sizes));
      result.push_back(std::move(level));
    }
  }
  return result;
}

/// A bound without `expect` lacks the value of a size: the verifier has
/// demanded the rest.
static void reportMissing(schedule::LoopOp loop, Value missing) {
  auto argument = dyn_cast_or_null<BlockArgument>(missing);
  auto kernel = loop->getParentOfType<schedule::KernelOp>();
  bool isSize =
      argument && kernel && argument.getOwner() == &kernel.getBody().front();
  StringRef name =
      isSize ? kernel.getArgumentName(argument.getArgNumber()) : "";
  loop.emitOpError("expected a value for size '")
      << name << "' of the run, got none";
}

FailureOr<Trips> Iterations::trips(const Level &level,
                                   const IndexValues &outer) const {
  if (level.known) {
    int64_t lower = level.lower->run(outer).value_or(0);
    int64_t upper = level.upper->run(outer).value_or(0);
    int64_t step = level.step ? level.step->run(outer).value_or(1) : 1;
    step = std::max<int64_t>(1, step);
    double count = std::ceil(double(upper - lower) / double(step));
    return Trips{std::max(0.0, count), lower, step};
  }
  schedule::LoopOp loop = level.loop;
  if (!loop.getExpect()) {
    Value missing = level.lower->missing(outer);
    reportMissing(loop, missing ? missing : level.upper->missing(outer));
    return failure();
  }
  std::string why;
  FailureOr<double> count =
      evaluateExpression(*loop.getExpect(), bindings, why);
  if (failed(count)) {
    loop.emitOpError("in `expect`: ") << why;
    return failure();
  }
  return Trips{std::max(0.0, *count), 0, 1};
}

FailureOr<double> Iterations::sum(ArrayRef<Level> levels,
                                  ArrayRef<Limit> limits) const {
  IterationSum iterations(*this, levels, limits, sizes);
  return iterations.sum(pointsFor(iterations.sampled()));
}

FailureOr<double> Iterations::count(ArrayRef<Level> levels) const {
  return sum(levels, {});
}

LogicalResult Iterations::visit(ArrayRef<Level> outer, ArrayRef<Level> inner,
                                IndexValues &values, double &most) const {
  if (outer.empty()) {
    FailureOr<double> count =
        IterationSum(*this, inner, {}, values).sum(kFewestPoints);
    most = std::max(most, succeeded(count) ? *count : 0);
    return count;
  }
  const Level &level = outer.front();
  FailureOr<Trips> range = trips(level, values);
  if (failed(range)) {
    return failure();
  }
  bool matters = llvm::any_of(
      inner, [&](const Level &other) { return other.reads(level.index); });
  for (Sample point : samples(matters ? range->count : 1, kFewestPoints)) {
    values[level.index] = range->first + int64_t(point.trip) * range->step;
    if (failed(visit(outer.drop_front(), inner, values, most))) {
      return failure();
    }
  }
  values.erase(level.index);
  return success();
}

FailureOr<double> Iterations::largest(ArrayRef<Level> outer,
                                      ArrayRef<Level> inner) const {
  IndexValues values = sizes;
  double most = 0;
  if (failed(visit(outer, inner, values, most))) {
    return failure();
  }
  return most;
}

} // namespace modelc
