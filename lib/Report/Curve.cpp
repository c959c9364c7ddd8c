//===- Curve.cpp - A deployment at several numbers of users ---------------===//

#include "lib/Report/Csv.h"
#include "lib/Report/CurveFigures.h"
#include "lib/Support/Support.h"
#include "lib/Text/Text.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

static std::string plain(double value) { return formatQuantity(value, ""); }

/// Model, machine, plan, workload.
static void printTitle(const CurveReport &report, const Target &target,
                       llvm::raw_ostream &os) {
  const Workload &load = report.input.workload;
  os << report.model << " on " << report.input.gpus << " x "
     << target.identity.name << " (" << target.identity.product
     << "), tensor parallel " << report.tensorParallel << ", weights "
     << report.precision
     << (report.activations == "fp8" ? ", activations fp8" : "") << ", cache "
     << report.cachePrecision
     << (report.queryPrecision == "fp8" ? ", queries fp8" : "") << "\n"
     << plain(load.inputTokens) << " tokens in, " << plain(load.outputTokens)
     << " out, steps of at most " << plain(load.stepTokens)
     << " new tokens; memory holds " << plain(report.input.mostRunning)
     << (report.input.mostRunning == 1 ? " request" : " requests") << "\n";
}

void printCurveText(const CurveReport &report, const Target &target,
                    llvm::raw_ostream &os) {
  printTitle(report, target, os);
  os << "\n";
  TextTable table(0);
  std::vector<std::string> header = {"users"};
  for (const CurveFigure &figure : curveFigures()) {
    if (!figure.label.empty()) {
      header.push_back(figure.label.str());
    }
  }
  header.insert(header.end(), {"bound", "best", "limit"});
  table.add(header);
  for (const CurvePoint &point : report.points) {
    std::vector<std::string> cells = {plain(point.users)};
    for (const CurveFigure &figure : curveFigures()) {
      if (!figure.label.empty()) {
        std::optional<Views> value = figure.at(point);
        cells.push_back(value ? formatQuantity(value->expectation, figure.unit)
                              : "none");
      }
    }
    cells.push_back(plain(point.service.outputPerSecondPerGpu.bound));
    cells.push_back(point.isBest ? "*" : "");
    cells.push_back(remarkOn(point));
    table.add(cells);
  }
  table.print(os);
  os << "\nusers: each sends a request when the one before is answered. TPOT "
        "holds the prompts of others,\nTTFT the queues. bound: tokens/s/GPU on "
        "ideal hardware. *: no other row has more of tokens/s/GPU\nand of "
        "tokens/s/user. J of boards; price: "
     << formatQuantity(report.input.dollarsPerHour, "$/h") << " for a GPU ("
     << report.priceBasis << ", " << target.price.date << ").\n";
}

static void writeView(llvm::json::OStream &json, const CurvePoint &point,
                      double Views::*view) {
  for (const CurveFigure &figure : curveFigures()) {
    if (std::optional<Views> value = figure.at(point)) {
      writeNumber(json, figure.key, figure.scale * ((*value).*view));
    }
  }
}

static void writePoint(llvm::json::OStream &json, const CurvePoint &point) {
  writeNumber(json, "conc", point.users);
  writeNumber(json, "running", point.state.running);
  writeNumber(json, "waiting", point.waiting);
  json.attribute("best", point.isBest);
  json.attribute("limit", point.limit);
  json.attributeObject("bound", [&] { writeView(json, point, &Views::bound); });
  json.attributeObject("expectation",
                       [&] { writeView(json, point, &Views::expectation); });
}

/// What all points have alike, by its key.
static std::vector<std::pair<llvm::StringRef, std::string>>
namesOf(const CurveReport &report, const Target &target) {
  return {{"model", report.model},
          {"hw", target.identity.name},
          {"framework", "modelc"},
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

void printCurveJson(const CurveReport &report, const Target &target,
                    llvm::raw_ostream &os) {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    for (const auto &[key, text] : namesOf(report, target)) {
      json.attribute(key, llvm::json::fixUTF8(text));
    }
    for (auto [key, number] : numbersOf(report)) {
      writeNumber(json, key, number);
    }
    writeNumber(json, "max_running", report.input.mostRunning);
    json.attribute("price_basis", report.priceBasis);
    writeNumber(json, "dollars_per_gpu_hour", report.input.dollarsPerHour);
    json.attributeArray("points", [&] {
      for (const CurvePoint &point : report.points) {
        json.object([&] { writePoint(json, point); });
      }
    });
  });
  os << "\n";
}

void printCurveCsv(const CurveReport &report, const Target &target,
                   llvm::raw_ostream &os) {
  std::string header, alike;
  for (const auto &[key, text] : namesOf(report, target)) {
    header += key.str() + ",";
    alike += csvField(text) + ",";
  }
  for (auto [key, number] : numbersOf(report)) {
    header += key.str() + ",";
    alike += exactNumber(number) + ",";
  }
  os << header << "conc,running,best";
  for (const CurveFigure &figure : curveFigures()) {
    os << ',' << figure.key;
  }
  os << ",limit\n";
  for (const CurvePoint &point : report.points) {
    os << alike << exactNumber(point.users) << ','
       << exactNumber(point.state.running) << ',' << int(point.isBest);
    for (const CurveFigure &figure : curveFigures()) {
      std::optional<Views> value = figure.at(point);
      os << ','
         << (value ? exactNumber(figure.scale * value->expectation) : "");
    }
    os << ',' << csvField(remarkOn(point)) << "\n";
  }
}

} // namespace modelc
