//===- Compile.cpp - modelc MODEL: every arrow in order -------------------===//

#include "lib/Driver/Driver.h"

#include "lib/Driver/Diagnostics.h"
#include "lib/Driver/Package.h"
#include "lib/Driver/Registration.h"
#include "lib/Driver/Stages.h"
#include "lib/Driver/Usage.h"
#include "lib/Emit/Emit.h"
#include "lib/Import/Import.h"
#include "lib/Support/Support.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace modelc;

namespace {
/// One compilation: what its stages share.
class Compilation {
public:
  Compilation(const CompileOptions &options, MLIRContext &context,
              llvm::raw_ostream &out, llvm::raw_ostream &errors)
      : options(options), out(out), errors(errors), context(context),
        diagnostics(&context, errors) {}
  /// Of the file that the options name.
  int run();
  /// Of a model that a program made.
  int runOn(ModuleOp model);
  /// Hands the kernels to `taker` instead of printing what the options ask for.
  void handTo(llvm::function_ref<int(const Compiled &)> taker) { use = taker; }
  /// What the last run has estimated.
  Report takeEstimate() { return std::move(estimate); }

private:
  LogicalResult readModel();
  LogicalResult takeGraph(OwningOpRef<ModuleOp> module,
                          const CompileOptions &given);
  int compileGraph();
  void placeFlags(const CompileOptions &given);
  int readTarget();
  void warnOfLength();
  int lower();
  int print(ModuleOp module);
  int printSources(ModuleOp module);
  int report(ModuleOp module);
  void printReport(const Report &report, llvm::raw_ostream &os);
  int write(llvm::function_ref<void(llvm::raw_ostream &)> print);

  CompileOptions options;
  llvm::raw_ostream &out, &errors;
  MLIRContext &context;
  Diagnostics diagnostics;
  OwningOpRef<ModuleOp> imported;
  model::GraphOp graph; // as imported
  ModelFacts facts;
  Target target;
  Report estimate;
  llvm::function_ref<int(const Compiled &)> use; // null: print
};
} // namespace

/// What the flags given say of a graph is stated there, unless its file does.
void Compilation::placeFlags(const CompileOptions &given) {
  using model::Subject;
  std::string ranks = std::to_string(options.tensorParallel);
  const std::tuple<Subject, bool, std::string> flags[] = {
      {Subject::Weights, !given.weights.empty(), "--weights=" + given.weights},
      {Subject::Activations, options.activations != "weights",
       "--activations=" + options.activations},
      {Subject::Cache, !given.cache.empty(), "--kv=" + given.cache},
      {Subject::Queries, options.queries != "bf16",
       "--queries=" + options.queries},
      {Subject::Ranks, options.tensorParallel > 1, "--tp=" + ranks}};
  for (model::GraphOp each : imported->getOps<model::GraphOp>()) {
    SmallVector<model::SubjectPlace> places;
    for (const auto &[subject, isGiven, flag] : flags) {
      if (isGiven && !model::findPlace(each, subject)) {
        places.push_back({subject, model::flagPlace(&context, flag)});
      }
    }
    each->setLoc(model::withPlaces(each.getLoc(), places));
  }
}

LogicalResult Compilation::readModel() {
  const CompileOptions given = options;
  ImportOptions import;
  import.weights = &options.weights;
  import.cache = &options.cache;
  FailureOr<OwningOpRef<ModuleOp>> module =
      importModel(options.input, import, &context, errors);
  if (failed(module)) {
    return failure();
  }
  return takeGraph(std::move(*module), given);
}

/// `given` are the options before the file was read.
LogicalResult Compilation::takeGraph(OwningOpRef<ModuleOp> module,
                                     const CompileOptions &given) {
  options.weights = options.weights.empty() ? "bf16" : options.weights;
  options.cache = options.cache.empty() ? "bf16" : options.cache;
  imported = std::move(module);
  auto graphs = imported->getOps<model::GraphOp>();
  if (graphs.empty()) {
    return imported->emitError("expected a model.graph, found none");
  }
  graph = *graphs.begin();
  placeFlags(given);
  return success();
}

int Compilation::readTarget() {
  FailureOr<Target> loaded = loadTarget(options.target, options.overrides,
                                        {options.targetsDirectory}, errors);
  if (failed(loaded)) {
    return kExitInput;
  }
  target = std::move(*loaded);
  if (failed(checkPriceBasis(options, target, errors))) {
    return kExitUsage;
  }
  int64_t domain = std::max<int64_t>(target.link.domain, 1);
  if (options.tensorParallel > domain) {
    sayError(errors) << "cannot be met: --tp=" << options.tensorParallel
                     << ", expected at most " << domain
                     << ", the GPUs of this machine that reach each other "
                        "(link.domain); try --tp="
                     << llvm::bit_floor(uint64_t(domain)) << "\n";
    return kExitInfeasible;
  }
  std::string why;
  if (failed(checkPrelude(options, target, errors))) {
    return kExitInput;
  }
  if (options.emit == Stage::Binary && !hasCompiler(target, why)) {
    sayError(errors) << why << "\n";
    return kExitInput;
  }
  return kExitOk;
}

void Compilation::warnOfLength() {
  const RequestShape &request = options.workload;
  std::optional<int64_t> longest = graph.getMaxContext();
  if (longest && request.inputLength > *longest - request.outputLength) {
    emitWarning(model::placeOf(graph, model::Subject::MaxContext),
                "expected requests of at most ")
        << *longest
        << " tokens (max_context), got --isl=" << request.inputLength
        << " and --osl=" << request.outputLength
        << "; the estimate holds, the model's answers may not";
  }
}

int Compilation::write(llvm::function_ref<void(llvm::raw_ostream &)> print) {
  return writeText(options.output, print, out, errors);
}

int Compilation::print(ModuleOp module) {
  return write([&](llvm::raw_ostream &os) {
    module.print(os, OpPrintingFlags().printNameLocAsPrefix());
    os << "\n";
  });
}

int Compilation::printSources(ModuleOp module) {
  std::string all;
  for (schedule::KernelOp kernel : module.getOps<schedule::KernelOp>()) {
    FailureOr<std::string> text = emitKernel(kernel, target);
    if (failed(text)) {
      return kExitInternal;
    }
    all += *text + "\n";
  }
  return write([&](llvm::raw_ostream &os) { os << all; });
}

int Compilation::report(ModuleOp module) {
  FailureOr<Report> made = estimateModel(
      module, facts, target, options,
      options.wantsEstimateOnly() ? Explanations::No : Explanations::Evidence,
      errors);
  if (failed(made)) {
    return kExitInternal;
  }
  estimate = std::move(*made);
  if (!estimate.memory.fits) {
    sayError(errors) << fitMessage(estimate.memory, estimate.service.workload)
                     << "\n";
    return kExitInfeasible;
  }
  if (options.emit == Stage::Estimate) {
    return write([&](llvm::raw_ostream &os) { printReport(estimate, os); });
  }
  int code = options.hasFolder() ? writePackageOf(module, facts, estimate,
                                                  target, options, errors)
                                 : int(kExitOk);
  if (code == kExitOk) {
    printReport(estimate, out);
  }
  return code;
}

void Compilation::printReport(const Report &report, llvm::raw_ostream &os) {
  switch (options.format) {
  case ReportFormat::Table:
    return printText(report, target, os);
  case ReportFormat::Json:
    return printJson(report, target, os);
  case ReportFormat::Csv:
    return printCsv(report, os);
  }
}

int Compilation::run() {
  if (failed(checkInput(options, errors)) ||
      failed(checkUsage(options, errors))) {
    return kExitUsage;
  }
  return succeeded(readModel()) ? compileGraph() : int(kExitInput);
}

int Compilation::runOn(ModuleOp model) {
  options.input = model.getSymName().value_or("model").str();
  if (failed(checkUsage(options, errors))) {
    return kExitUsage;
  }
  const CompileOptions given = options;
  OwningOpRef<ModuleOp> own = cast<ModuleOp>(model->clone());
  return succeeded(takeGraph(std::move(own), given)) ? compileGraph()
                                                     : int(kExitInput);
}

int Compilation::compileGraph() {
  if (options.emit == Stage::Model) {
    return lower();
  }
  int code = readTarget();
  if (code != kExitOk) {
    return code;
  }
  warnOfLength();
  return lower();
}

int Compilation::lower() {
  FailureOr<OwningOpRef<ModuleOp>> phases =
      graph.getPhase() ? boundPhases(*imported, options)
                       : lowerModel(graph, options);
  if (failed(phases)) {
    return kExitInput;
  }
  if (options.emit == Stage::Model) {
    return print(**phases);
  }
  facts = modelFacts(graph, **phases, target);
  if (failed(checkStepTokens(options, facts.pageSize, errors))) {
    return kExitUsage;
  }
  FailureOr<OwningOpRef<ModuleOp>> module =
      lowerToFinalSchedule(**phases, target, options);
  if (failed(module)) {
    return kExitInput;
  }
  if (use) {
    return use({**module, facts, target, options});
  }
  if (options.emit == Stage::Schedule) {
    return print(**module);
  }
  if (options.emit == Stage::Source) {
    return printSources(**module);
  }
  return report(**module);
}

/// Compiles the file of the options in a context of its own.
static int compileFile(const CompileOptions &options,
                       llvm::function_ref<int(const Compiled &)> use,
                       llvm::raw_ostream &out, llvm::raw_ostream &errors) {
  DialectRegistry registry;
  registerEverything(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  // Stages make ops of dialects that the input need not name.
  context.loadAllAvailableDialects();
  Compilation compilation(options, context, out, errors);
  compilation.handTo(use);
  return compilation.run();
}

int modelc::compile(const CompileOptions &options, llvm::raw_ostream &out,
                    llvm::raw_ostream &errors) {
  return compileFile(options, nullptr, out, errors);
}

int modelc::compileFor(const CompileOptions &options,
                       llvm::function_ref<int(const Compiled &)> use,
                       llvm::raw_ostream &errors) {
  return compileFile(options, use, llvm::nulls(), errors);
}

FailureOr<Report> modelc::compileModel(ModuleOp model,
                                       const CompileOptions &options,
                                       llvm::raw_ostream &errors) {
  assert((options.emit == Stage::All || options.emit == Stage::Binary) &&
         "the other stages answer with text, not with an estimate");
  DialectRegistry registry;
  registerEverything(registry);
  MLIRContext &context = *model.getContext();
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  Compilation compilation(options, context, llvm::nulls(), errors);
  if (compilation.runOn(model) != kExitOk) {
    return failure();
  }
  return compilation.takeEstimate();
}
