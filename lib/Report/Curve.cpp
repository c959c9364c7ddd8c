//===- Curve.cpp - A deployment at several numbers of users ---------------===//

#include "lib/Report/Csv.h"
#include "lib/Report/CurveFigures.h"
#include "lib/Support/Support.h"
#include "lib/Text/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

static std::string plain(double value) { return formatQuantity(value, ""); }

std::string CurveReport::plan() const {
  std::string text =
      std::to_string(input.gpus) + " x " + machine + ", weights " + precision;
  text += activations == "fp8" ? ", activations fp8" : "";
  text += ", cache " + cachePrecision;
  return text + (queryPrecision == "fp8" ? ", queries fp8" : "");
}

static void printTitle(const CurveReport &report, llvm::raw_ostream &os) {
  const Workload &load = report.input.workload;
  os << report.model << " on " << report.plan() << " (" << report.product
     << ", tensor parallel " << report.tensorParallel << ", engine "
     << report.engine << ")\n"
     << plain(load.inputTokens) << " tokens in, " << plain(load.outputTokens)
     << " out, steps of at most " << plain(load.stepTokens)
     << " new tokens; memory holds " << plain(report.input.mostRunning)
     << (report.input.mostRunning == 1 ? " request" : " requests") << "\n";
}

static std::vector<std::string> header(bool hasOwn) {
  std::vector<std::string> cells = {"users"};
  for (const CurveFigure &figure : curveFigures()) {
    if (!figure.label.empty()) {
      cells.push_back(figure.label.str());
    }
  }
  if (hasOwn) {
    cells.push_back("modelc");
  }
  cells.insert(cells.end(), {"bound", "best", "limit"});
  return cells;
}

static std::vector<std::string> row(const CurvePoint &point,
                                    const CurvePoint *own) {
  std::vector<std::string> cells = {plain(point.users)};
  for (const CurveFigure &figure : curveFigures()) {
    if (!figure.label.empty()) {
      std::optional<Views> value = figure.at(point);
      cells.push_back(value ? formatQuantity(value->expectation, figure.unit)
                            : "none");
    }
  }
  if (own) {
    cells.push_back(plain(own->service.outputPerSecondPerGpu.expectation));
  }
  cells.push_back(plain(point.service.outputPerSecondPerGpu.bound));
  cells.push_back(point.isBest ? "*" : "");
  cells.push_back(remarkOn(point));
  return cells;
}

static void printText(const CurveReport &report, llvm::raw_ostream &os) {
  printTitle(report, os);
  os << "\n";
  TextTable table(0);
  bool hasOwn = !report.own.empty();
  table.add(header(hasOwn));
  for (auto [i, point] : llvm::enumerate(report.points)) {
    table.add(row(point, hasOwn ? &report.own[i] : nullptr));
  }
  table.print(os);
  os << "\nusers: each sends a request when the one before is answered. TPOT "
        "holds the prompts of others,\nTTFT the queues. bound"
     << (hasOwn ? ", modelc" : "") << ": tokens/s/GPU on ideal hardware"
     << (hasOwn ? ", by our own engine" : "")
     << ".\n*: no other row has more of tokens/s/GPU and of tokens/s/user. J "
        "of "
        "boards; price: "
     << formatQuantity(report.input.dollarsPerHour, "$/h") << " for a GPU ("
     << report.priceBasis << ", " << report.priceDate << ").\n";
}

static void writeView(llvm::json::OStream &json, const CurvePoint &point,
                      double Views::*view) {
  for (const CurveFigure &figure : curveFigures()) {
    if (std::optional<Views> value = figure.at(point)) {
      writeNumber(json, figure.key, figure.scale * ((*value).*view));
    }
  }
}

void writePoint(llvm::json::OStream &json, const CurvePoint &point) {
  writeNumber(json, "conc", point.users);
  writeNumber(json, "running", point.state.running);
  writeNumber(json, "waiting", point.waiting);
  json.attribute("best", point.isBest);
  json.attribute("limit", point.limit);
  if (!point.misses.empty()) {
    json.attribute("misses", point.misses);
  }
  json.attributeObject("bound", [&] { writeView(json, point, &Views::bound); });
  json.attributeObject("expectation",
                       [&] { writeView(json, point, &Views::expectation); });
}

/// What all points have alike, by its key.
static std::vector<std::pair<llvm::StringRef, std::string>>
namesOf(const CurveReport &report) {
  return {{"model", report.model},
          {"hw", report.machine},
          {"framework", report.engine},
          {"precision", report.precision},
          {"kv_precision", report.cachePrecision}};
}

static std::vector<std::pair<llvm::StringRef, double>>
numbersOf(const CurveReport &report) {
  const Workload &load = report.input.workload;
  return {{"isl", load.inputTokens},
          {"osl", load.outputTokens},
          {"max_batched_tokens", load.stepTokens},
          {"tp", double(report.tensorParallel)},
          {"num_gpus", double(report.input.gpus)}};
}

void writeCurve(llvm::json::OStream &json, const CurveReport &report) {
  for (const auto &[key, text] : namesOf(report)) {
    json.attribute(key, llvm::json::fixUTF8(text));
  }
  for (auto [key, number] : numbersOf(report)) {
    writeNumber(json, key, number);
  }
  writeNumber(json, "max_running", report.input.mostRunning);
  json.attribute("price_basis", report.priceBasis);
  writeNumber(json, "dollars_per_gpu_hour", report.input.dollarsPerHour);
  auto writePoints = [&](llvm::StringRef key,
                         llvm::ArrayRef<CurvePoint> points) {
    json.attributeArray(key, [&] {
      for (const CurvePoint &point : points) {
        json.object([&] { writePoint(json, point); });
      }
    });
  };
  writePoints("points", report.points);
  if (!report.own.empty()) {
    writePoints("points_of_modelc", report.own);
  }
}

static void printJson(const CurveReport &report, llvm::raw_ostream &os) {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] { writeCurve(json, report); });
  os << "\n";
}

void printCurveHeader(const CurveReport &report, llvm::raw_ostream &os) {
  for (const auto &[key, text] : namesOf(report)) {
    os << key << ',';
  }
  for (auto [key, number] : numbersOf(report)) {
    os << key << ',';
  }
  os << "conc,running,best";
  for (const CurveFigure &figure : curveFigures()) {
    os << ',' << figure.key;
  }
  os << ",limit\n";
}

void printCurveRows(const CurveReport &report, llvm::raw_ostream &os) {
  for (const CurvePoint &point : report.points) {
    for (const auto &[key, text] : namesOf(report)) {
      os << csvField(text) << ',';
    }
    for (auto [key, number] : numbersOf(report)) {
      os << exactNumber(number) << ',';
    }
    os << exactNumber(point.users) << ',' << exactNumber(point.state.running)
       << ',' << int(point.isBest);
    for (const CurveFigure &figure : curveFigures()) {
      std::optional<Views> value = figure.at(point);
      os << ','
         << (value ? exactNumber(figure.scale * value->expectation) : "");
    }
    os << ',' << csvField(remarkOn(point)) << "\n";
  }
}

void printCurve(const CurveReport &report, ReportFormat format,
                llvm::raw_ostream &os) {
  switch (format) {
  case ReportFormat::Table:
    return printText(report, os);
  case ReportFormat::Json:
    return printJson(report, os);
  case ReportFormat::Csv:
    printCurveHeader(report, os);
    return printCurveRows(report, os);
  }
}

} // namespace modelc
