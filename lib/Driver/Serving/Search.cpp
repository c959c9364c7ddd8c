//===- Search.cpp - modelc search: the best plan, and why not the others --===//
//
// Every plan of the space has its curve, on which the point of the best metric
// that meets all objectives is found: between the last of the powers of two
// that meets them and the first that does not, users are halved down to one, as
// what a user waits for grows with them.
//
//===----------------------------------------------------------------------===//

#include "lib/Driver/Serving/Serving.h"
#include "lib/Driver/Usage.h"
#include "lib/Support/Support.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace modelc;
using llvm::raw_ostream;

static TriedPlan tried(const Plan &plan, const Metric &metric) {
  if (plan.code != kExitOk) {
    return {plan.name(), std::nullopt, plan.said};
  }
  TriedPlan result{plan.curve.plan(), std::nullopt, ""};
  for (const CurvePoint &point : plan.curve.points) {
    bool isBetter = !result.best ||
                    metric.isBetter(metric.of(point), metric.of(*result.best));
    if (point.misses.empty() && isBetter) {
      result.best = point;
    }
  }
  if (!result.best) {
    const CurvePoint &first = plan.curve.points.front();
    result.why = first.misses + " with " + formatQuantity(first.users, "") +
                 (first.users == 1 ? " user" : " users");
  }
  return result;
}

/// What keeps a plan from more users, and how far it is behind the best one.
static std::string whyNot(const CurvePoint &point, const CurveReport &curve,
                          double behind) {
  auto next = llvm::find_if(curve.points, [&](const CurvePoint &other) {
    return other.users > point.users;
  });
  std::string limit = next == curve.points.end() ? point.limit
                      : !next->misses.empty()    ? next->misses
                                                 : point.limit;
  return behind == 0 ? limit
                     : formatQuantity(100 * behind, "") + " % behind; " + limit;
}

int modelc::searchModel(const CompileOptions &options,
                        const ServeOptions &asked, raw_ostream &out,
                        raw_ostream &errors) {
  const Metric *metric = findMetric(asked.metric, errors);
  if (!metric) {
    return kExitUsage;
  }
  std::vector<Plan> plans;
  int code = makePlans(options, asked, plans, errors);
  if (code != kExitOk) {
    return code;
  }
  std::vector<std::pair<TriedPlan, const Plan *>> found;
  for (const Plan &plan : plans) {
    found.emplace_back(tried(plan, *metric), &plan);
  }
  llvm::sort(found, [&](const auto &a, const auto &b) {
    const auto &one = a.first.best, &other = b.first.best;
    if (one && other && metric->of(*one) != metric->of(*other)) {
      return metric->isBetter(metric->of(*one), metric->of(*other));
    }
    return std::pair(!one, a.second) < std::pair(!other, b.second);
  });
  if (!found.front().first.best) {
    sayError(errors) << "cannot be met: " << found.front().first.plan << ": "
                     << found.front().first.why
                     << "; no other plan meets it either\n";
    return kExitInfeasible;
  }
  double best = metric->of(*found.front().first.best);
  SearchReport report;
  report.metric = metric;
  for (auto &[plan, from] : found) {
    if (plan.best) {
      double behind = std::abs(metric->of(*plan.best) / best - 1);
      plan.why = whyNot(*plan.best, from->curve, behind);
      report.model = from->curve.model;
      report.workload = from->curve.input.workload;
      report.objectives = from->curve.input.objectives;
    }
    report.plans.push_back(std::move(plan));
  }
  return writeText(
      options.output,
      [&](raw_ostream &os) { printFound(report, options.format, os); }, out,
      errors);
}
