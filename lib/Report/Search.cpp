//===- Search.cpp - Which plan serves best, and why others do not ---------===//

#include "lib/Report/Csv.h"
#include "lib/Report/CurveFigures.h"
#include "lib/Support/Support.h"
#include "lib/Text/Text.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

static void printTitle(const SearchReport &report, llvm::raw_ostream &os) {
  const Workload &load = report.workload;
  os << report.model << ", " << formatQuantity(load.inputTokens, "")
     << " tokens in, " << formatQuantity(load.outputTokens, "") << " out; "
     << (report.metric->isMore ? "most " : "least ") << report.metric->label;
  for (const Objective &objective : report.objectives) {
    os << ", " << objective.said;
  }
  size_t serve = llvm::count_if(report.plans, [](const TriedPlan &plan) {
    return plan.best.has_value();
  });
  os << "\n" << report.plans.size() << " plans, " << serve << " serve\n\n";
}

static std::string rank(size_t position) {
  return position == 0   ? "best"
         : position == 1 ? "runner-up"
                         : std::to_string(position + 1);
}

static void printText(const SearchReport &report, llvm::raw_ostream &os) {
  printTitle(report, os);
  TextTable table(2);
  std::vector<std::string> cells = {"", "plan", "users"};
  for (const CurveFigure &figure : curveFigures()) {
    if (!figure.label.empty()) {
      cells.push_back(figure.label.str());
    }
  }
  cells.insert(cells.end(), {"limit"});
  table.add(cells);
  for (auto [position, plan] : llvm::enumerate(report.plans)) {
    if (!plan.best) {
      break;
    }
    cells = {rank(position), plan.plan, formatQuantity(plan.best->users, "")};
    for (const CurveFigure &figure : curveFigures()) {
      if (!figure.label.empty()) {
        std::optional<Views> value = figure.at(*plan.best);
        cells.push_back(value ? formatQuantity(value->expectation, figure.unit)
                              : "none");
      }
    }
    cells.push_back(plan.why);
    table.add(cells);
  }
  table.print(os);
  for (const TriedPlan &plan : report.plans) {
    if (!plan.best) {
      os << "  not " << plan.plan << ": " << plan.why << "\n";
    }
  }
}

static void printJson(const SearchReport &report, llvm::raw_ostream &os) {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("model", llvm::json::fixUTF8(report.model));
    writeNumber(json, "isl", report.workload.inputTokens);
    writeNumber(json, "osl", report.workload.outputTokens);
    json.attribute("objective", report.metric->name);
    json.attributeArray("slo", [&] {
      for (const Objective &objective : report.objectives) {
        json.value(objective.said);
      }
    });
    json.attributeArray("plans", [&] {
      for (const TriedPlan &plan : report.plans) {
        json.object([&] {
          json.attribute("plan", plan.plan);
          json.attribute("why", llvm::json::fixUTF8(plan.why));
          if (plan.best) {
            writePoint(json, *plan.best);
          }
        });
      }
    });
  });
  os << "\n";
}

static void printCsv(const SearchReport &report, llvm::raw_ostream &os) {
  os << "plan,conc";
  for (const CurveFigure &figure : curveFigures()) {
    os << ',' << figure.key;
  }
  os << ",why\n";
  for (const TriedPlan &plan : report.plans) {
    os << csvField(plan.plan) << ','
       << (plan.best ? exactNumber(plan.best->users) : "");
    for (const CurveFigure &figure : curveFigures()) {
      std::optional<Views> value =
          plan.best ? figure.at(*plan.best) : std::nullopt;
      os << ','
         << (value ? exactNumber(figure.scale * value->expectation) : "");
    }
    os << ',' << csvField(plan.why) << "\n";
  }
}

void printFound(const SearchReport &report, ReportFormat format,
                llvm::raw_ostream &os) {
  switch (format) {
  case ReportFormat::Table:
    return printText(report, os);
  case ReportFormat::Json:
    return printJson(report, os);
  case ReportFormat::Csv:
    return printCsv(report, os);
  }
}

} // namespace modelc
