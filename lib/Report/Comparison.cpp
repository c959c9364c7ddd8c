//===- Comparison.cpp - Machines at equal speed for the user --------------===//

#include "lib/Report/CurveFigures.h"
#include "lib/Support/Support.h"
#include "lib/Text/Text.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

Alternatives Contender::choice() const {
  Alternatives choice;
  for (const CurveReport &plan : plans) {
    choice.push_back(plan.points);
  }
  return choice;
}

static std::vector<Alternatives>
choicesOf(llvm::ArrayRef<Contender> contenders) {
  std::vector<Alternatives> choices;
  for (const Contender &contender : contenders) {
    choices.push_back(contender.choice());
  }
  return choices;
}

static void printMetric(llvm::ArrayRef<Contender> contenders,
                        llvm::ArrayRef<Alternatives> choices,
                        const Metric &metric, llvm::raw_ostream &os) {
  os << "\n"
     << metric.label
     << ", where each user gets at least so many "
        "tokens/s\n";
  TextTable table(0);
  std::vector<std::string> cells = {"tokens/s/user"};
  for (const Contender &contender : contenders) {
    cells.push_back(contender.machine);
  }
  table.add(cells);
  for (double speed : roundSpeeds(choices)) {
    cells = {formatQuantity(speed, "")};
    for (const Alternatives &choice : choices) {
      std::optional<double> value = bestAt(choice, metric, speed);
      cells.push_back(value ? formatQuantity(*value, metric.unit) : "none");
    }
    table.add(cells);
  }
  table.print(os);
  for (auto [i, lead] : llvm::enumerate(leads(choices, metric))) {
    os << (i == 0 ? "  best: " : ", from ");
    if (i > 0) {
      os << formatQuantity(lead.speed, "") << " on ";
    }
    os << contenders[lead.choice].machine;
  }
  os << "\n";
}

static void printText(llvm::ArrayRef<Contender> contenders,
                      llvm::raw_ostream &os) {
  const CurveReport &first = contenders.front().plans.front();
  const Workload &load = first.input.workload;
  os << first.model << ", " << formatQuantity(load.inputTokens, "")
     << " tokens in, " << formatQuantity(load.outputTokens, "") << " out\n\n";
  for (const Contender &contender : contenders) {
    for (const CurveReport &plan : contender.plans) {
      os << "  " << plan.plan() << ": up to "
         << formatQuantity(fastest({plan.points}), "")
         << " tokens/s/user, memory holds "
         << formatQuantity(plan.input.mostRunning, "") << " requests, "
         << formatQuantity(plan.input.dollarsPerHour, "$/h") << " for a GPU\n";
    }
  }
  std::vector<Alternatives> choices = choicesOf(contenders);
  for (const Metric &metric : metrics()) {
    printMetric(contenders, choices, metric, os);
  }
}

static void writeMetric(llvm::json::OStream &json,
                        llvm::ArrayRef<Contender> contenders,
                        llvm::ArrayRef<Alternatives> choices,
                        const Metric &metric) {
  json.attributeArray("best", [&] {
    for (const Lead &lead : leads(choices, metric)) {
      json.object([&] {
        writeNumber(json, "from_mean_intvty", lead.speed);
        json.attribute("hw", contenders[lead.choice].machine);
      });
    }
  });
  json.attributeArray("at", [&] {
    for (double speed : roundSpeeds(choices)) {
      json.object([&] {
        writeNumber(json, "mean_intvty", speed);
        for (auto [i, choice] : llvm::enumerate(choices)) {
          if (std::optional<double> value = bestAt(choice, metric, speed)) {
            writeNumber(json, contenders[i].machine, *value);
          }
        }
      });
    }
  });
}

static void printJson(llvm::ArrayRef<Contender> contenders,
                      llvm::raw_ostream &os) {
  std::vector<Alternatives> choices = choicesOf(contenders);
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    for (const Metric &metric : metrics()) {
      json.attributeObject(
          metric.name, [&] { writeMetric(json, contenders, choices, metric); });
    }
    json.attributeArray("curves", [&] {
      for (const Contender &contender : contenders) {
        for (const CurveReport &plan : contender.plans) {
          json.object([&] { writeCurve(json, plan); });
        }
      }
    });
  });
  os << "\n";
}

void printComparison(llvm::ArrayRef<Contender> contenders, ReportFormat format,
                     llvm::raw_ostream &os) {
  switch (format) {
  case ReportFormat::Table:
    return printText(contenders, os);
  case ReportFormat::Json:
    return printJson(contenders, os);
  case ReportFormat::Csv:
    printCurveHeader(contenders.front().plans.front(), os);
    for (const Contender &contender : contenders) {
      for (const CurveReport &plan : contender.plans) {
        printCurveRows(plan, os);
      }
    }
  }
}

} // namespace modelc
