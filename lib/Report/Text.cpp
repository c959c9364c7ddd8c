//===- Text.cpp - Tables for a terminal -----------------------------------===//

#include "lib/Report/OpRows.h"
#include "lib/Support/Support.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

namespace {
/// Cells in columns as wide as their widest cell; the first column and the last
/// begin at the left, numbers end at the right.
class Table {
public:
  void add(std::vector<std::string> cells) { rows.push_back(std::move(cells)); }
  void print(llvm::raw_ostream &os) const;

private:
  std::vector<std::vector<std::string>> rows;
};
} // namespace

void Table::print(llvm::raw_ostream &os) const {
  std::vector<size_t> widths;
  for (const std::vector<std::string> &row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  for (const std::vector<std::string> &row : rows) {
    std::string line = "  ";
    for (size_t i = 0; i < row.size(); ++i) {
      bool left = i == 0 || i + 1 == widths.size();
      std::string pad(widths[i] - row[i].size(), ' ');
      line += left ? row[i] + pad : pad + row[i];
      line += "  ";
    }
    os << llvm::StringRef(line).rtrim() << "\n";
  }
}

static std::string percent(double part) {
  return llvm::formatv("{0:F1} %", 100 * part).str();
}

static std::string plain(double value) { return formatQuantity(value, ""); }

static void addViews(Table &table, llvm::StringRef name, const Views &views,
                     llvm::StringRef unit, std::string remark = "") {
  table.add({name.str(), formatQuantity(views.bound, unit),
             formatQuantity(views.expectation, unit), std::move(remark)});
}

static void addService(Table &table, const Service &service) {
  addViews(table, "time per output token (TPOT)", service.tpot, "s");
  addViews(table, "one request", service.requestSeconds, "s");
  addViews(table, "output tokens/s", service.outputPerSecond, "");
  addViews(table, "output tokens/s/user", service.outputPerSecondPerUser, "");
  addViews(table, "output tokens/s/GPU", service.outputPerSecondPerGpu, "");
  addViews(table, "tokens/s in and out", service.totalPerSecond, "");
  addViews(table, "J/output token, boards", service.boardJoulesPerOutput, "J");
  addViews(table, "J/output token, wall", service.wallJoulesPerOutput, "J");
  addViews(table, "J/token in and out, boards", service.boardJoulesPerToken,
           "J");
  addViews(table, "J/token in and out, wall", service.wallJoulesPerToken, "J");
  addViews(table, "$/million output tokens", service.dollarsPerMillionOutput,
           "$");
  addViews(table, "$/million tokens in and out",
           service.dollarsPerMillionTokens, "$");
}

static void printService(const Report &report, llvm::raw_ostream &os) {
  const ServeResult &service = report.service;
  Table table;
  table.add({"", "bound", "expectation", ""});
  addViews(table, "time to first token (TTFT) of one request",
           service.ttftSeconds, "s", "nothing else runs");
  addViews(table,
           "prefill of " + plain(service.workload.sequences) + " prompts",
           service.prefillAllSeconds, "s");
  addViews(table, "decode step", service.decodeSeconds, "s",
           "mean over all contexts");
  addViews(table, "board power in prefill", service.prefillWatts, "W");
  addViews(table, "board power in decode", service.decodeWatts, "W");
  table.add({"in-flight batching, steady state", "", "", ""});
  addService(table, service.inFlight);
  table.add({"static batch: one prefill, then decode", "", "", ""});
  addService(table, service.fixed);
  table.print(os);
  os << "  price: " << formatQuantity(service.dollarsPerHour, "$/h")
     << " for a GPU (" << service.priceBasis << ", " << service.priceDate
     << ")\n";
}

static void printMemory(const FitResult &memory, llvm::raw_ostream &os) {
  Table table;
  auto add = [&](llvm::StringRef name, double bytes) {
    table.add({name.str(), formatBytes(bytes), ""});
  };
  add("weights", memory.weights);
  add("cache of all sequences", memory.cache);
  add("cache of one sequence", memory.perSequence);
  add("workspace", memory.workspace);
  if (memory.reserved > 0) {
    add("reserved by the runtime", memory.reserved);
  }
  add("left", memory.left);
  add("capacity", memory.capacity);
  table.add({"sequences that fit", plain(memory.maxSequences), ""});
  os << "\nmemory of one GPU\n";
  table.print(os);
}

void printOps(const PlanCost &plan, llvm::raw_ostream &os) {
  os << plan.name << " step: " << formatQuantity(plan.bound.seconds, "s")
     << " bound, " << formatQuantity(plan.expectation.seconds, "s")
     << " expected, " << formatQuantity(plan.expectation.joules, "J")
     << " a GPU, mostly bound by " << plan.expectation.limit << "\n";
  std::vector<OpRow> rows = opRows(plan);
  llvm::sort(rows, [](const OpRow &a, const OpRow &b) {
    return std::pair(-a.seconds.expectation, a.label) <
           std::pair(-b.seconds.expectation, b.label);
  });
  Table table;
  table.add({"op", "times", "bound", "expected", "share", "energy", "memory",
             "bound by"});
  for (const OpRow &row : rows) {
    table.add(
        {row.label, plain(row.count), formatQuantity(row.seconds.bound, "s"),
         formatQuantity(row.seconds.expectation, "s"), percent(row.share),
         formatQuantity(row.joules, "J"),
         formatQuantity(row.memoryBytes + row.linkBytes, "B"), row.limit});
  }
  table.print(os);
}

void printText(const Report &report, const Target &target,
               llvm::raw_ostream &os) {
  const Workload &load = report.service.workload;
  os << report.model << " on " << report.service.gpus << " x "
     << target.identity.name << " (" << target.identity.product
     << "), tensor parallel " << report.tensorParallel << ", weights "
     << report.precision << ", cache " << report.cachePrecision << "\n"
     << plain(load.inputTokens) << " tokens in, " << plain(load.outputTokens)
     << " out, " << plain(load.sequences) << " sequences at once\n\n";
  printService(report, os);
  printMemory(report.memory, os);
  for (const PlanCost *plan : {&report.decode, &report.prefill}) {
    os << "\n";
    printOps(*plan, os);
  }
}

} // namespace modelc
