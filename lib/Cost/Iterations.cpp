#include "lib/Cost/Iterations.h"
#include <cmath>

using namespace mlir;

namespace modelc {

namespace {
/// A value of an index and how many values it stands for.
struct Sample {
  double trip;
  double weight;
};
} // namespace

constexpr double kMostVisits = 1024; // of the innermost loop
constexpr unsigned kFewestPoints = 12;
constexpr unsigned kEnd = 4; // last trips: the ragged edge lies there

/// Points for each of several loops in each other.
static unsigned pointsFor(size_t loops) {
  double each = std::pow(kMostVisits, 1.0 / double(std::max<size_t>(1, loops)));
  return std::max<unsigned>(kFewestPoints, std::floor(each));
}

static SmallVector<Sample, kFewestPoints> samples(double trips, unsigned most) {
  SmallVector<Sample, kFewestPoints> points;
  double whole = std::ceil(trips);
  if (whole <= most) {
    for (double trip = 0; trip < whole; ++trip) {
      points.push_back({trip, trips / whole});
    }
    return points;
  }
  // One point in each stratum, at a place that keeps no step with conditions
  // on powers of two.
  constexpr double kGolden = 0.6180339887;
  unsigned strata = most - kEnd;
  double stratum = (trips - kEnd) / strata;
  for (unsigned i = 0; i < strata; ++i) {
    double place = std::fmod(0.5 + i * kGolden, 1.0);
    points.push_back({std::floor((i + place) * stratum), stratum});
  }
  for (unsigned i = kEnd; i > 0; --i) {
    points.push_back({whole - i, 1});
  }
  return points;
}

std::vector<Level> Iterations::levels(ArrayRef<schedule::LoopOp> loops) const {
  std::vector<Level> result;
  for (schedule::LoopOp loop : loops) {
    for (auto [dimension, index] : llvm::enumerate(loop.getInductionVars())) {
      SmallVector<Value, 3> bounds = {loop.getLowerBounds()[dimension],
                                      loop.getUpperBounds()[dimension]};
      std::optional<IndexProgram> step;
      if (!loop.getSteps().empty()) {
        bounds.push_back(loop.getSteps()[dimension]);
        step.emplace(bounds.back());
      }
      Level level{
          loop, index, IndexProgram(bounds[0]), IndexProgram(bounds[1]), step,
          true, {}};
      level.known = level.lower.isKnown(sizes) && level.upper.isKnown(sizes) &&
                    (!step || step->isKnown(sizes));
      if (level.known) {
        level.dependsOn = indicesBehind(bounds);
      }
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
    int64_t lower = level.lower.run(outer).value_or(0);
    int64_t upper = level.upper.run(outer).value_or(0);
    int64_t step = level.step ? level.step->run(outer).value_or(1) : 1;
    step = std::max<int64_t>(1, step);
    double count = std::ceil(double(upper - lower) / double(step));
    return Trips{std::max(0.0, count), lower, step};
  }
  schedule::LoopOp loop = level.loop;
  if (!loop.getExpect()) {
    Value missing = level.lower.missing(outer);
    reportMissing(loop, missing ? missing : level.upper.missing(outer));
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

FailureOr<double> Iterations::sumFrom(ArrayRef<Level> levels,
                                      ArrayRef<bool> sampled, unsigned most,
                                      Leaf leaf, IndexValues &values) const {
  if (levels.empty()) {
    return leaf(values);
  }
  const Level &level = levels.front();
  FailureOr<Trips> range = trips(level, values);
  if (failed(range)) {
    return failure();
  }
  double total = 0;
  SmallVector<Sample, kFewestPoints> points;
  if (sampled.front()) {
    points = samples(range->count, most);
  } else if (range->count > 0) {
    // Nothing inside depends on it: one trip stands for all.
    points.push_back({0, range->count});
  }
  for (Sample point : points) {
    values[level.index] = range->first + int64_t(point.trip) * range->step;
    FailureOr<double> inner =
        sumFrom(levels.drop_front(), sampled.drop_front(), most, leaf, values);
    if (failed(inner)) {
      return failure();
    }
    total += point.weight * *inner;
  }
  values.erase(level.index);
  return total;
}

/// For each level: does anything behind it depend on its index?
static SmallVector<bool> sampledLevels(ArrayRef<Level> levels,
                                       ArrayRef<Value> leafDependsOn) {
  SmallVector<bool> sampled;
  for (auto [position, level] : llvm::enumerate(levels)) {
    bool depends = llvm::is_contained(leafDependsOn, level.index);
    for (const Level &inner : levels.drop_front(position + 1)) {
      depends |= llvm::is_contained(inner.dependsOn, level.index);
    }
    sampled.push_back(depends);
  }
  return sampled;
}

FailureOr<double> Iterations::sum(ArrayRef<Level> levels,
                                  ArrayRef<Value> leafDependsOn,
                                  Leaf leaf) const {
  IndexValues values = sizes;
  SmallVector<bool> sampled = sampledLevels(levels, leafDependsOn);
  unsigned most = pointsFor(llvm::count(sampled, true));
  return sumFrom(levels, sampled, most, leaf, values);
}

FailureOr<double> Iterations::count(ArrayRef<Level> levels) const {
  return sum(levels, {}, [](const IndexValues &) { return 1.0; });
}

LogicalResult Iterations::visit(ArrayRef<Level> outer, ArrayRef<Level> inner,
                                IndexValues &values, double &most) const {
  if (outer.empty()) {
    FailureOr<double> count = sumFrom(
        inner, sampledLevels(inner, {}), kFewestPoints,
        [](const IndexValues &) { return 1.0; }, values);
    most = std::max(most, succeeded(count) ? *count : 0);
    return count;
  }
  const Level &level = outer.front();
  FailureOr<Trips> range = trips(level, values);
  if (failed(range)) {
    return failure();
  }
  bool matters = llvm::any_of(inner, [&](const Level &other) {
    return llvm::is_contained(other.dependsOn, level.index);
  });
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
