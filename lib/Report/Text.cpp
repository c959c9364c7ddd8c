//===- Text.cpp - Tables for a terminal -----------------------------------===//

#include "lib/Report/Figures.h"
#include "lib/Report/OpRows.h"
#include "lib/Support/Support.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

static std::string percent(double part) {
  return llvm::formatv("{0:F1} %", 100 * part).str();
}

static std::string plain(double value) { return formatQuantity(value, ""); }

/// One figure: both views, what is said of it and the name that opens it.
static void addFigure(TextTable &table, llvm::StringRef label,
                      const Figure &figure, llvm::StringRef remark = "") {
  std::string bound = "none", expectation = "none", said = remark.str();
  if (figure.value) {
    bound = formatQuantity(figure.value->bound, figure.unit);
    expectation = formatQuantity(figure.value->expectation, figure.unit);
  }
  for (llvm::StringRef more : {figure.reason, figure.note}) {
    said += (said.empty() || more.empty() ? "" : "; ") + more.str();
  }
  table.add({label.str(), bound, expectation,
             said + (said.empty() ? "(" : " (") + figure.name + ")"});
}

static void addService(TextTable &table, const FigureList &figures,
                       llvm::StringRef prefix) {
  auto add = [&](llvm::StringRef label, llvm::StringRef name) {
    addFigure(table, label, figures.named((prefix + name).str()));
  };
  add("time per output token (TPOT)", "tpot");
  add("one request", "request_seconds");
  add("output tokens/s", "tokens_per_second");
  add("output tokens/s/user", "tokens_per_second_per_user");
  add("output tokens/s/GPU", "tokens_per_second_per_gpu");
  add("tokens/s in and out", "total_tokens_per_second");
  add("J/output token, boards", "joules_per_token");
  add("J/output token, wall", "wall_joules_per_token");
  add("J/token in and out, boards", "joules_per_total_token");
  add("J/token in and out, wall", "wall_joules_per_total_token");
  add("$/million output tokens", "dollars_per_mtoken");
  add("$/million tokens in and out", "dollars_per_total_mtoken");
}

static void printService(const ServeResult &service, const FigureList &figures,
                         llvm::raw_ostream &os) {
  TextTable table;
  auto add = [&](llvm::StringRef label, llvm::StringRef name,
                 llvm::StringRef remark = "") {
    addFigure(table, label, figures.named(name), remark);
  };
  table.add({"", "bound", "expectation", ""});
  add("time to first token (TTFT), unloaded", "ttft",
      "one request, no queue before it");
  add("prefill of " + plain(service.workload.sequences) + " prompts",
      "prefill");
  add("prefill tokens/s", "prefill_tokens_per_second");
  add("decode step", "decode_step",
      service.decode ? "mean over all contexts" : "");
  add("board power in prefill", "prefill_watts");
  add("board power in decode", "decode_watts");
  table.add({"in-flight batching, steady state", "", "", ""});
  addService(table, figures, "");
  table.add({"static batch: one prefill, then decode", "", "", ""});
  addService(table, figures, "static_");
  table.print(os);
  os << "  price: " << formatQuantity(service.dollarsPerHour, "$/h")
     << " for a GPU (" << service.priceBasis << ", " << service.priceDate
     << "; " << service.priceSource << ") (price)\n";
}

static void printMemory(const FigureList &figures, llvm::raw_ostream &os) {
  TextTable table;
  auto add = [&](llvm::StringRef label, llvm::StringRef name) {
    const Figure &figure = figures.named(name);
    std::string value =
        figure.value ? formatQuantity(figure.value->expectation, figure.unit)
                     : "none, " + figure.reason;
    table.add({label.str(), value, "(" + figure.name + ")"});
  };
  add("weights", "weights");
  add("cache of all sequences", "cache");
  add("cache of one sequence", "cache_per_sequence");
  add("workspace", "workspace");
  if (figures.named("reserved").value->expectation > 0) {
    add("reserved by the runtime", "reserved");
  }
  add("left", "memory");
  add("capacity", "capacity");
  add("sequences that fit", "max_sequences");
  os << "\nmemory of one GPU\n";
  table.print(os);
}

void printOps(const PlanCost &plan, llvm::raw_ostream &os) {
  if (plan.steps.empty()) {
    os << plan.name << " step: none, " << kNoDecode << "\n";
    return;
  }
  os << plan.name << " step: " << formatQuantity(plan.bound.seconds, "s")
     << " bound, " << formatQuantity(plan.expectation.seconds, "s")
     << " expected, " << formatQuantity(plan.expectation.joules, "J")
     << " a GPU, mostly bound by " << plan.expectation.limit << "\n";
  std::vector<OpRow> rows = opRows(plan);
  llvm::sort(rows, [](const OpRow &a, const OpRow &b) {
    return std::pair(-a.seconds.expectation, a.label) <
           std::pair(-b.seconds.expectation, b.label);
  });
  TextTable table;
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
  FigureList all = figures(report, target);
  printService(report.service, all, os);
  printMemory(all, os);
  os << "  a number opens by the name behind it: modelc explain FOLDER tpot\n";
  for (const PlanCost *plan : {&report.decode, &report.prefill}) {
    os << "\n";
    printOps(*plan, os);
  }
}

} // namespace modelc
