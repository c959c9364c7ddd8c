//===- Text.cpp - Tables for a terminal -----------------------------------===//

#include "lib/Text/Text.h"
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
  void add(const std::vector<std::string> &cells) {
    std::vector<std::string> &row = rows.emplace_back();
    for (const std::string &cell : cells) {
      row.push_back(oneLine(cell));
    }
  }
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
  std::string prefix = service.batching == Batching::Static ? "static_" : "";
  auto opened = [&](llvm::StringRef name) {
    return "(" + prefix + name.str() + ")";
  };
  addViews(table, "time per output token (TPOT)", service.tpot, "s",
           opened("tpot"));
  addViews(table, "one request", service.requestSeconds, "s",
           opened("request_seconds"));
  addViews(table, "output tokens/s", service.outputPerSecond, "",
           opened("tokens_per_second"));
  addViews(table, "output tokens/s/user", service.outputPerSecondPerUser, "",
           opened("tokens_per_second_per_user"));
  addViews(table, "output tokens/s/GPU", service.outputPerSecondPerGpu, "",
           opened("tokens_per_second_per_gpu"));
  addViews(table, "tokens/s in and out", service.totalPerSecond, "",
           opened("total_tokens_per_second"));
  addViews(table, "J/output token, boards", service.boardJoulesPerOutput, "J",
           opened("joules_per_token"));
  addViews(table, "J/output token, wall", service.wallJoulesPerOutput, "J",
           opened("wall_joules_per_token"));
  addViews(table, "J/token in and out, boards", service.boardJoulesPerToken,
           "J", opened("joules_per_total_token"));
  addViews(table, "J/token in and out, wall", service.wallJoulesPerToken, "J",
           opened("wall_joules_per_total_token"));
  addViews(table, "$/million output tokens", service.dollarsPerMillionOutput,
           "$", opened("dollars_per_mtoken"));
  addViews(table, "$/million tokens in and out",
           service.dollarsPerMillionTokens, "$",
           opened("dollars_per_total_mtoken"));
}

static void printService(const Report &report, llvm::raw_ostream &os) {
  const ServeResult &service = report.service;
  Table table;
  table.add({"", "bound", "expectation", ""});
  addViews(table, "time to first token (TTFT) of one request",
           service.ttftSeconds, "s", "nothing else runs (ttft)");
  addViews(table,
           "prefill of " + plain(service.workload.sequences) + " prompts",
           service.prefillAllSeconds, "s", "(prefill)");
  addViews(table, "decode step", service.decodeSeconds, "s",
           "mean over all contexts (decode_step)");
  addViews(table, "board power in prefill", service.prefillWatts, "W",
           "(prefill_watts)");
  addViews(table, "board power in decode", service.decodeWatts, "W",
           "(decode_watts)");
  table.add({"in-flight batching, steady state", "", "", ""});
  addService(table, service.inFlight);
  table.add({"static batch: one prefill, then decode", "", "", ""});
  addService(table, service.fixed);
  table.print(os);
  os << "  price: " << formatQuantity(service.dollarsPerHour, "$/h")
     << " for a GPU (" << service.priceBasis << ", " << service.priceDate
     << ") (price)\n";
}

static void printMemory(const FitResult &memory, llvm::raw_ostream &os) {
  Table table;
  auto add = [&](llvm::StringRef name, double bytes, llvm::StringRef opened) {
    table.add({name.str(), formatBytes(bytes), "(" + opened.str() + ")"});
  };
  add("weights", memory.weights, "weights");
  add("cache of all sequences", memory.cache, "cache");
  add("cache of one sequence", memory.perSequence, "cache_per_sequence");
  add("workspace", memory.workspace, "workspace");
  if (memory.reserved > 0) {
    add("reserved by the runtime", memory.reserved, "reserved");
  }
  add("left", memory.left, "memory");
  add("capacity", memory.capacity, "capacity");
  table.add(
      {"sequences that fit", plain(memory.maxSequences), "(max_sequences)"});
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
     << report.precision
     << (report.activations == "fp8" ? ", activations fp8" : "") << ", cache "
     << report.cachePrecision
     << (report.queryPrecision == "fp8" ? ", queries fp8" : "") << "\n"
     << plain(load.inputTokens) << " tokens in, " << plain(load.outputTokens)
     << " out, " << plain(load.sequences) << " sequences at once\n";
  if (report.cachePrecision == "fp8") {
    os << "cache scales: k_scale and v_scale"
       << (report.queryPrecision == "fp8" ? ", and q_scale," : "")
       << " of each layer in the checkpoint, by default 1\n";
  }
  os << "\n";
  printService(report, os);
  printMemory(report.memory, os);
  os << "  a number opens by the name behind it: modelc explain FOLDER tpot\n";
  for (const PlanCost *plan : {&report.decode, &report.prefill}) {
    os << "\n";
    printOps(*plan, os);
  }
}

} // namespace modelc
