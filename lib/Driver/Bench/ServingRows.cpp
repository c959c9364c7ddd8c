#include "lib/Driver/Bench/ServingRows.h"

#include "lib/Support/Support.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;
using namespace modelc;

using Columns = std::map<std::string, std::string>;

static std::optional<double> milli(const std::optional<Views> &seconds) {
  constexpr double kMilli = 1e3;
  return seconds ? std::optional(kMilli * seconds->expectation) : std::nullopt;
}

static const ServingMetric kMetrics[] = {
    {"tpot_ms", [](const CurvePoint &p) { return milli(p.service.tpot); }},
    {"ttft_ms", [](const CurvePoint &p) { return milli(p.ttftSeconds); }},
    {"tok_s_per_gpu_output",
     [](const CurvePoint &p) {
       return std::optional(p.service.outputPerSecondPerGpu.expectation);
     }},
    {"joule_per_output_token",
     [](const CurvePoint &p) {
       return std::optional(p.service.boardJoulesPerOutput.expectation);
     }},
};

ArrayRef<ServingMetric> modelc::servingMetrics() { return kMetrics; }

/// The fields of a line; those in quotes may hold commas.
static std::vector<std::string> fieldsOf(StringRef line) {
  std::vector<std::string> fields = {""};
  bool isQuoted = false;
  for (char c : line) {
    if (c == '"') {
      isQuoted = !isQuoted;
    } else if (c == ',' && !isQuoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

/// A positive number of a column; 0: there is none.
static double numberOf(const Columns &columns, const std::string &name) {
  auto found = columns.find(name);
  double value = 0;
  bool isNumber = found != columns.end() && to_float(found->second, value);
  return isNumber && std::isfinite(value) && value > 0 ? value : 0;
}

/// "tp8/pp1/dp1/moe_tp8/moe_ep1": the ranks of `what`, 1 where none are said.
static int64_t ranksOf(StringRef parallelism, StringRef what) {
  SmallVector<StringRef> words;
  parallelism.split(words, '/');
  for (StringRef word : words) {
    int64_t number = 0;
    std::string lower = word.lower();
    StringRef rest = lower;
    if (rest.consume_front(what) && to_integer(rest, number, 10)) {
      return std::max<int64_t>(number, 1);
    }
  }
  return 1;
}

static std::string reasonAgainst(const ServingRow &row, StringRef parallelism,
                                 double gpus) {
  if (row.users == 0) {
    return "no number of users";
  }
  if (row.inputTokens == 0 || row.outputTokens == 0) {
    return "no lengths";
  }
  if (row.weights.empty()) {
    return "no precision";
  }
  if (ranksOf(parallelism, "pp") > 1 || ranksOf(parallelism, "dp") > 1) {
    return "pipeline or data parallel";
  }
  if (gpus > 0 && gpus != static_cast<double>(row.ranks)) {
    return "more GPUs than ranks";
  }
  return row.measured.empty() ? "no figure to compare" : "";
}

/// Lengths as they ran, else as they were asked for.
static int64_t tokensOf(const Columns &columns, const std::string &name) {
  double mean = numberOf(columns, name + "_mean");
  return std::llround(mean > 0 ? mean : numberOf(columns, name));
}

static ServingRow rowOf(const Columns &columns) {
  auto text = [&](const char *name) {
    auto found = columns.find(name);
    return found == columns.end() ? std::string() : found->second;
  };
  ServingRow row;
  row.source = text("src");
  row.model = text("config");
  row.chip = text("chip");
  row.engine = text("engine");
  row.weights = text("precision_weights");
  row.cache = text("precision_kv");
  row.ranks = ranksOf(text("parallelism"), "tp");
  row.inputTokens = tokensOf(columns, "isl");
  row.outputTokens = tokensOf(columns, "osl");
  row.users = std::llround(numberOf(columns, "concurrency_or_batch"));
  for (const ServingMetric &metric : kMetrics) {
    if (double value = numberOf(columns, metric.column.str())) {
      row.measured[metric.column.str()] = value;
    }
  }
  row.reason =
      reasonAgainst(row, text("parallelism"), numberOf(columns, "n_gpus"));
  return row;
}

FailureOr<std::vector<ServingRow>> modelc::readServing(StringRef file,
                                                       raw_ostream &errors) {
  FailureOr<SourceFile> source = SourceFile::read(file, errors);
  if (failed(source)) {
    return failure();
  }
  SmallVector<StringRef> lines;
  source->text().split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  std::vector<std::string> names =
      fieldsOf(lines.empty() ? "" : lines.front().rtrim('\r'));
  for (const char *needed : {"config", "chip", "concurrency_or_batch"}) {
    if (!is_contained(names, needed)) {
      source->error(errors, {1, 1},
                    Twine("expected a column \"") + needed + "\", got none");
      return failure();
    }
  }
  std::vector<ServingRow> rows;
  for (auto [number, line] : enumerate(drop_begin(lines))) {
    std::vector<std::string> fields = fieldsOf(line.rtrim('\r'));
    if (fields.size() != names.size()) {
      source->error(errors, {static_cast<unsigned>(number) + 2, 1},
                    "expected " + Twine(names.size()) + " fields, got " +
                        Twine(fields.size()));
      return failure();
    }
    Columns columns;
    for (auto [name, field] : zip(names, fields)) {
      columns[name] = field;
    }
    rows.push_back(rowOf(columns));
  }
  return rows;
}
