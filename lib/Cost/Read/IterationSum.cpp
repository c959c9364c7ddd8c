#include "lib/Cost/Read/IterationSum.h"
#include <cmath>

using namespace mlir;

namespace modelc {

Samples samples(double trips, unsigned most) {
  // The last trips: the ragged edge lies there, and a ring of eight slots loads
  // nothing in seven of them.
  constexpr unsigned kEnd = 7;
  Samples points;
  double whole = std::ceil(trips);
  if (whole <= most) {
    for (double trip = 0; trip < whole; ++trip) {
      points.push_back({trip, std::min(1.0, trips - trip)});
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

IterationSum::IterationSum(const Iterations &iterations, ArrayRef<Level> nest,
                           ArrayRef<Limit> limits, const IndexValues &outside)
    : iterations(iterations), values(outside) {
  for (const Level &level : nest) {
    Nested &inner = levels.emplace_back();
    inner.level = &level;
    for (Nested &outer : levels) {
      bool reads = level.reads(outer.level->index);
      outer.isRead |= reads;
      inner.isFixed &= !reads;
    }
    values[level.index] = 0;
  }
  for (Nested &one : levels) {
    one.index = &values.find(one.level->index)->second;
  }
  parts.reserve(limits.size());
  for (const Limit &limit : limits) {
    Part &part = parts.emplace_back();
    part.begin.program = limit.begin;
    part.end.program = limit.end;
    part.extent = limit.extent;
    place(part);
  }
}

/// The depth at which a bound is asked, the last whose index it reads; -1 if it
/// reads none.
int IterationSum::place(Bound &bound) {
  int last = -1, count = 0;
  for (auto [depth, nest] : llvm::enumerate(levels)) {
    if (bound.program->reads(nest.level->index)) {
      markRead(last);
      last = depth;
      ++count;
    }
  }
  bound.readsOne = count == 1;
  if (last < 0) {
    bound.value = bound.program->run(values).value_or(0);
  } else {
    levels[last].bounds.push_back(&bound);
    findLine(bound, levels[last]);
  }
  return last;
}

void IterationSum::findLine(Bound &bound, Nested &nest) {
  if (!bound.readsOne || !bound.program->isLine()) {
    return;
  }
  auto at = [&](int64_t index) {
    *nest.index = index;
    return bound.program->run(values).value_or(0);
  };
  int64_t next = at(1), first = at(0);
  bound.line = {first, next - first};
}

void IterationSum::markRead(int depth) {
  if (depth >= 0) {
    levels[depth].isRead = true;
  }
}

void IterationSum::place(Part &part) {
  int begin = place(part.begin), end = place(part.end);
  int last = std::max(begin, end);
  if (last < 0) {
    fixedProduct *= part.value();
    return;
  }
  levels[last].parts.push_back(&part);
  if (begin != end) {
    markRead(std::min(begin, end));
  }
}

double IterationSum::Part::value() const {
  return std::clamp(double(end.value - begin.value) / extent, 0.0, 1.0);
}

unsigned IterationSum::sampled() const {
  return llvm::count_if(levels,
                        [](const Nested &nest) { return nest.isSampled(); });
}

/// The trips and points of a level, from where outer levels stand.
LogicalResult IterationSum::enter(Nested &nest) {
  if (nest.range && nest.isFixed) {
    return success();
  }
  FailureOr<Trips> range = iterations.trips(*nest.level, values);
  if (failed(range)) {
    return failure();
  }
  nest.range = *range;
  nest.points.clear();
  if (nest.isSampled()) {
    nest.points = samples(range->count, mostPoints);
  } else if (range->count > 0) {
    // Nothing inside depends on it: one trip stands for all.
    nest.points.push_back({0, range->count});
  }
  return success();
}

void IterationSum::moveTo(Nested &nest, unsigned point) {
  *nest.index =
      nest.range->first + int64_t(nest.points[point].trip) * nest.range->step;
  for (Bound *bound : nest.bounds) {
    if (bound->line) {
      bound->value = bound->line->first + bound->line->second * *nest.index;
      continue;
    }
    if (point < bound->atPoint.size()) {
      bound->value = bound->atPoint[point];
      continue;
    }
    bound->value = bound->program->run(values).value_or(0);
    if (bound->readsOne && nest.isFixed) {
      bound->atPoint.push_back(bound->value);
    }
  }
}

FailureOr<double> IterationSum::sumFrom(unsigned depth, double product) {
  if (depth == levels.size()) {
    return product;
  }
  Nested &nest = levels[depth];
  if (failed(enter(nest))) {
    return failure();
  }
  double total = 0, inner = 0;
  std::optional<double> productOfInner;
  for (unsigned point = 0; point < nest.points.size(); ++point) {
    moveTo(nest, point);
    double here = product;
    for (const Part *part : nest.parts) {
      here *= part->value();
    }
    // Most points lie far from the limits and have the same sum inside.
    if (nest.isRead || here != productOfInner) {
      FailureOr<double> sum = sumFrom(depth + 1, here);
      if (failed(sum)) {
        return failure();
      }
      inner = *sum;
      productOfInner = here;
    }
    total += nest.points[point].weight * inner;
  }
  return total;
}

FailureOr<double> IterationSum::sum(unsigned most) {
  mostPoints = most;
  return sumFrom(0, fixedProduct);
}

} // namespace modelc
