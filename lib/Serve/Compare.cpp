#include "lib/Serve/Compare.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

namespace modelc {

/// Tokens a second; none where a request has no second token.
static std::optional<double> speedOf(const CurvePoint &point) {
  const std::optional<Views> &speed = point.service.outputPerSecondPerUser;
  return speed ? std::optional(speed->expectation) : std::nullopt;
}

/// Hands each value of a curve at that speed or more to `take`.
static void visit(CurvePoints points, const Metric &metric, double speed,
                  llvm::function_ref<void(double)> take) {
  const CurvePoint *before = nullptr;
  for (const CurvePoint &point : points) {
    std::optional<double> here = speedOf(point);
    if (!here) {
      continue;
    }
    if (*here >= speed) {
      take(metric.of(point));
    }
    if (before && (*here >= speed) != (*speedOf(*before) >= speed)) {
      double part = (speed - *speedOf(*before)) / (*here - *speedOf(*before));
      double a = metric.of(*before), b = metric.of(point);
      take(a + part * (b - a));
    }
    before = &point;
  }
}

std::optional<double> bestAt(const Alternatives &choice, const Metric &metric,
                             double speed) {
  std::optional<double> best;
  for (CurvePoints points : choice) {
    visit(points, metric, speed, [&](double value) {
      if (!best || metric.isBetter(value, *best)) {
        best = value;
      }
    });
  }
  return best;
}

double fastest(const Alternatives &choice) {
  double most = 0;
  for (CurvePoints points : choice) {
    for (const CurvePoint &point : points) {
      most = std::max(most, speedOf(point).value_or(0));
    }
  }
  return most;
}

/// The first of the best choices; none where all are slower.
static std::optional<size_t> leaderAt(llvm::ArrayRef<Alternatives> choices,
                                      const Metric &metric, double speed) {
  std::optional<size_t> leader;
  double best = 0;
  for (auto [i, choice] : llvm::enumerate(choices)) {
    std::optional<double> value = bestAt(choice, metric, speed);
    if (value && (!leader || metric.isBetter(*value, best))) {
      leader = i;
      best = *value;
    }
  }
  return leader;
}

/// All speeds at which a curve has a corner, from 0 on.
static std::vector<double> corners(llvm::ArrayRef<Alternatives> choices) {
  std::vector<double> speeds = {0};
  for (const Alternatives &choice : choices) {
    for (CurvePoints points : choice) {
      for (const CurvePoint &point : points) {
        speeds.push_back(speedOf(point).value_or(0));
      }
    }
  }
  llvm::sort(speeds);
  return speeds;
}

std::vector<Lead> leads(llvm::ArrayRef<Alternatives> choices,
                        const Metric &metric) {
  std::vector<Lead> changes;
  auto add = [&](double speed, std::optional<size_t> leader) {
    if (leader && (changes.empty() || changes.back().choice != *leader)) {
      changes.push_back({speed, *leader});
    }
  };
  // Between two corners all are lines. Where leaders differ at the ends of a
  // piece it is halved until it is as good as a point.
  constexpr int kPieces = 16, kHalvings = 40;
  std::vector<double> speeds = corners(choices);
  add(0, leaderAt(choices, metric, 0));
  for (size_t i = 1; i < speeds.size(); ++i) {
    double width = (speeds[i] - speeds[i - 1]) / kPieces;
    for (int piece = 0; piece < kPieces && width > 0; ++piece) {
      double low = speeds[i - 1] + piece * width, high = low + width;
      std::optional<size_t> after = leaderAt(choices, metric, high);
      if (changes.empty() || !after || *after == changes.back().choice) {
        continue;
      }
      for (int halving = 0; halving < kHalvings; ++halving) {
        double middle = (low + high) / 2;
        bool isChanged =
            leaderAt(choices, metric, middle) != changes.back().choice;
        (isChanged ? high : low) = middle;
      }
      add(high, after);
    }
  }
  return changes;
}

std::vector<double> roundSpeeds(llvm::ArrayRef<Alternatives> choices) {
  std::vector<double> known = corners(choices);
  double least = known.size() > 1 ? known[1] : 0; // behind 0
  std::vector<double> speeds;
  for (double ten = 1; ten <= known.back(); ten *= 10) {
    for (double times : {1.0, 2.0, 5.0}) {
      double speed = ten * times;
      if (speed > known.back()) {
        break;
      }
      if (speed <= least) {
        speeds.clear(); // all that are slower are the same
      }
      speeds.push_back(speed);
    }
  }
  return speeds;
}

} // namespace modelc
