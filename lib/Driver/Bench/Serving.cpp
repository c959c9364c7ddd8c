//===- Serving.cpp - How far curves are from measured deployments ---------===//
//
// Rows of one model, machine, plan, workload and engine are points of one
// curve. Errors are of the expectation, over what was measured.
//
//===----------------------------------------------------------------------===//

#include "lib/Driver/Serving/Serving.h"
#include "lib/Driver/Bench/Bench.h"
#include "lib/Driver/Bench/ServingRows.h"
#include "lib/Support/Support.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace modelc;
using llvm::raw_ostream;

namespace {
/// What a curve is of.
struct CurveKey {
  std::string model, chip, engine, weights, cache;
  int64_t ranks, inputTokens, outputTokens;
  auto operator<=>(const CurveKey &) const = default;
};
using Curves = std::map<CurveKey, std::vector<ServingRow *>>;

/// Relative errors, by source, model, chip, engine and metric.
using Errors = std::map<std::vector<std::string>, std::vector<double>>;
} // namespace

/// Formats that a table may mean, the likeliest first.
static std::vector<std::string> formatsOf(StringRef said) {
  if (said == "fp4") {
    return {"nvfp4", "mxfp4"};
  }
  if (said == "fp8") {
    return {"fp8", "fp8_block"};
  }
  return {said.str()};
}

static std::string firstLine(StringRef said) {
  return said.split('\n').first.str();
}

/// The file of a model in a folder of them.
static std::string fileOf(StringRef folder, StringRef model) {
  SmallString<128> path(folder);
  llvm::sys::path::append(path, model + ".json");
  return std::string(path);
}

/// The curve through the rows; on failure the reason.
static FailureOr<CurveReport> curveThrough(const CurveKey &key,
                                           ArrayRef<ServingRow *> rows,
                                           const ServingOptions &bench,
                                           std::string &why) {
  CompileOptions options;
  options.input = fileOf(bench.models, key.model);
  if (!llvm::sys::fs::exists(options.input)) {
    why = "no file of the model in the folder of --models";
    return failure();
  }
  options.target = key.chip;
  options.targetsDirectory = bench.directory;
  options.tensorParallel = key.ranks;
  options.workload.inputLength = key.inputTokens;
  options.workload.outputLength = key.outputTokens;
  options.cache = key.cache;
  ServeOptions asked;
  asked.engine = key.engine;
  asked.users = "";
  for (const ServingRow *row : rows) {
    asked.users +=
        (asked.users.empty() ? "" : ",") + std::to_string(row->users);
    options.workload.maxBatchedTokens =
        std::max(options.workload.maxBatchedTokens, row->users);
  }
  std::string said;
  llvm::raw_string_ostream os(said);
  FailureOr<AskedOfCurve> read = readAsked(asked, options, os);
  for (const std::string &format : formatsOf(key.weights)) {
    CurveReport report;
    options.weights = format;
    if (failed(read)) {
      break;
    }
    said.clear(); // what the last of them says counts
    if (makeCurve(options, *read, report, os) == kExitOk) {
      return report;
    }
  }
  why = firstLine(said);
  return failure();
}

/// The value below which `part` of the sorted values lie.
static double quantile(ArrayRef<double> sorted, double part) {
  size_t at = static_cast<size_t>(part * static_cast<double>(sorted.size()));
  return sorted[std::min(at, sorted.size() - 1)];
}

static std::string percent(double part) {
  constexpr double kHundred = 100;
  return formatQuantity(kHundred * part, "") + " %";
}

static std::vector<std::string> cellsOf(std::vector<std::string> cells,
                                        std::vector<double> errors) {
  double sum = 0, within = 0;
  std::vector<double> sizes;
  for (double error : errors) {
    sizes.push_back(std::abs(error));
    sum += std::abs(error);
    within += std::abs(error) <= 0.2;
  }
  llvm::sort(errors);
  llvm::sort(sizes);
  auto count = static_cast<double>(sizes.size());
  cells.push_back(std::to_string(sizes.size()));
  for (double value : {quantile(sizes, 0.5), sum / count, quantile(sizes, 0.9),
                       quantile(errors, 0.5), within / count}) {
    cells.push_back(percent(value));
  }
  return cells;
}

static void print(const Errors &errors,
                  const std::map<std::string, unsigned> &dropped,
                  raw_ostream &os) {
  TextTable table(5);
  table.add({"source", "model", "chip", "engine", "metric", "rows", "median",
             "mean", "p90", "signed", "within 20 %"});
  std::map<std::string, std::vector<double>> all;
  for (const auto &[names, list] : errors) {
    table.add(cellsOf(names, list));
    llvm::append_range(all[names.back()], list);
  }
  for (const auto &[metric, list] : all) {
    table.add(cellsOf({"all", "", "", "", metric}, list));
  }
  table.print(os);
  for (const auto &[reason, count] : dropped) {
    os << "  " << count << " rows dropped: " << reason << "\n";
  }
}

static void addErrors(const CurveReport &curve, ArrayRef<ServingRow *> rows,
                      Errors &errors) {
  for (const ServingRow *row : rows) {
    const CurvePoint &point = *llvm::find_if(curve.points, [&](auto &one) {
      return one.users == static_cast<double>(row->users);
    });
    for (const ServingMetric &metric : servingMetrics()) {
      auto measured = row->measured.find(metric.column.str());
      std::optional<double> value = metric.of(point);
      if (measured != row->measured.end() && value) {
        errors[{row->source, row->model, row->chip, row->engine,
                metric.column.str()}]
            .push_back(*value / measured->second - 1);
      }
    }
  }
}

int modelc::printServing(const ServingOptions &options) {
  std::vector<ServingRow> rows;
  for (const std::string &file : options.files) {
    FailureOr<std::vector<ServingRow>> read = readServing(file, llvm::errs());
    if (failed(read)) {
      return kExitInput;
    }
    rows.insert(rows.end(), read->begin(), read->end());
  }
  Curves curves;
  std::map<std::string, unsigned> dropped;
  for (ServingRow &row : rows) {
    if (!row.reason.empty()) {
      ++dropped[row.reason];
      continue;
    }
    curves[{row.model, row.chip, row.engine, row.weights, row.cache, row.ranks,
            row.inputTokens, row.outputTokens}]
        .push_back(&row);
  }
  Errors errors;
  for (const auto &[key, list] : curves) {
    std::string why;
    FailureOr<CurveReport> curve = curveThrough(key, list, options, why);
    if (failed(curve)) {
      dropped[key.model + " on " + key.chip + ": " + why] += list.size();
      continue;
    }
    addErrors(*curve, list, errors);
  }
  print(errors, dropped, llvm::outs());
  return kExitOk;
}
