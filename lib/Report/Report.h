//===- Report.h - An estimate for people and for programs -----------------===//

#ifndef LIB_REPORT_REPORT_H
#define LIB_REPORT_REPORT_H

#include "lib/Cost/Cost.h"
#include "lib/Report/Curves.h"
#include "lib/Serve/Serve.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace modelc {

/// Everything that an estimate says.
struct Report {
  std::string model;
  std::string precision;   // of the weights: "bf16", "fp8", "mxfp4", "nvfp4"
  std::string activations; // of the inputs of linears: "weights", "fp8"
  std::string cachePrecision, queryPrecision; // "bf16", "fp8"
  int64_t tensorParallel = 1;
  double parameters = 0;
  ServeResult service;
  FitResult memory;
  PlanCost prefill;         // of all sequences
  PlanCost prefillOne;      // of one prompt
  PlanCost prefillInFlight; // of prompts that an in-flight batch reads together
  /// At a context in the middle; no steps where a request takes none.
  PlanCost decode;
  double decodeContext = 0;
};

/// Tables for a terminal: the numbers with bound beside expectation, memory,
/// and where the time of a decode and a prefill step goes.
void printText(const Report &report, const Target &target,
               llvm::raw_ostream &os);

/// One JSON object, the same bytes for the same report. Keys are those of
/// `vllm bench serve` and of InferenceX rows where these have them; both views
/// stand under "bound" and "expectation".
void printJson(const Report &report, const Target &target,
               llvm::raw_ostream &os);

/// One line for each op of both phases, with a header.
void printCsv(const Report &report, llvm::raw_ostream &os);

/// The ops of one step of a phase, longest first.
void printOps(const PlanCost &plan, llvm::raw_ostream &os);

/// The sum behind a figure of the report, by its name ("tpot") or its key in
/// JSON, or behind an op of a step ("decode" or "prefill"), with facts and
/// sources. The plans must have been costed with CostOptions::explain. An
/// unknown name is a message on `errors` that lists what can be opened.
llvm::LogicalResult explainItem(const Report &report, llvm::StringRef item,
                                llvm::StringRef phase, const Target &target,
                                llvm::raw_ostream &os,
                                llvm::raw_ostream &errors);

} // namespace modelc

#endif // LIB_REPORT_REPORT_H
