//===- Compile.cpp - modelc MODEL: every arrow in order -------------------===//

#include "lib/Driver/Driver.h"

#include "lib/Driver/Package.h"
#include "lib/Driver/Registration.h"
#include "lib/Driver/Stages.h"
#include "lib/Emit/Emit.h"
#include "lib/Import/Import.h"
#include "lib/Support/Support.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace modelc;

namespace {
/// One compilation: what its stages share.
class Compilation {
public:
  Compilation(const CompileOptions &options, llvm::raw_ostream &out,
              llvm::raw_ostream &errors)
      : options(options), out(out), errors(errors),
        context(dialects(), MLIRContext::Threading::DISABLED),
        handler(sources, &context, errors) {
    // Stages make ops of dialects that the input need not name.
    context.loadAllAvailableDialects();
  }
  int run();

private:
  static DialectRegistry dialects();
  LogicalResult readInputs();
  int print(ModuleOp module);
  int printSources(ModuleOp module);
  int report(ModuleOp module);
  int printReport(const Report &report);

  const CompileOptions &options;
  llvm::raw_ostream &out, &errors;
  MLIRContext context;
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler;
  OwningOpRef<ModuleOp> imported;
  ModelInput model;
  Target target;
};
} // namespace

DialectRegistry Compilation::dialects() {
  DialectRegistry registry;
  registerEverything(registry);
  return registry;
}

LogicalResult Compilation::readInputs() {
  FailureOr<OwningOpRef<ModuleOp>> module =
      importModel(options.input, {}, &context, errors);
  if (failed(module)) {
    return failure();
  }
  imported = std::move(*module);
  auto graphs = imported->getOps<model::GraphOp>();
  if (graphs.empty()) {
    return imported->emitError("expected a model.graph, found none");
  }
  model.graph = *graphs.begin();
  if (options.emit == Stage::Model) {
    return success();
  }
  FailureOr<Target> loaded = loadTarget(options.target, options.overrides,
                                        {options.targetsDirectory}, errors);
  if (succeeded(loaded)) {
    target = std::move(*loaded);
  }
  return loaded;
}

int Compilation::print(ModuleOp module) {
  OpPrintingFlags flags;
  flags.printNameLocAsPrefix();
  module.print(out, flags);
  out << "\n";
  return kExitOk;
}

int Compilation::printSources(ModuleOp module) {
  for (schedule::KernelOp kernel : module.getOps<schedule::KernelOp>()) {
    FailureOr<std::string> text = emitKernel(kernel, target);
    if (failed(text)) {
      return kExitInternal;
    }
    out << *text << "\n";
  }
  return kExitOk;
}

int Compilation::report(ModuleOp module) {
  FailureOr<Report> report =
      estimateModel(module, model, target, options, errors);
  if (failed(report)) {
    return kExitInput;
  }
  if (!report->memory.fits) {
    errors << "modelc: " << fitMessage(report->memory, report->service.workload)
           << "\n";
    return kExitInfeasible;
  }
  if (options.output.empty()) {
    return printReport(*report);
  }
  if (failed(writePackageOf(module, model, *report, target, options, errors))) {
    return kExitInput;
  }
  if (options.emit == Stage::Binary) {
    FailureOr<std::vector<BinaryFacts>> binaries =
        compileBinaries(module, target, options.output, errors);
    if (failed(binaries)) {
      return kExitInternal;
    }
  }
  return printReport(*report);
}

int Compilation::printReport(const Report &report) {
  switch (options.format) {
  case ReportFormat::Table:
    printText(report, target, out);
    break;
  case ReportFormat::Json:
    printJson(report, target, out);
    break;
  case ReportFormat::Csv:
    printCsv(report, out);
    break;
  }
  return kExitOk;
}

int Compilation::run() {
  if (failed(readInputs())) {
    return kExitInput;
  }
  FailureOr<OwningOpRef<ModuleOp>> phases = lowerModel(model.graph, options);
  if (failed(phases)) {
    return kExitInput;
  }
  if (options.emit == Stage::Model) {
    return print(**phases);
  }
  for (model::GraphOp graph : (**phases).getOps<model::GraphOp>()) {
    model.onOneRank = summarise(graph);
    graph.walk([&](model::CacheOp cache) {
      model.pageSize = cache.getType().getPage();
    });
  }
  FailureOr<OwningOpRef<ModuleOp>> module =
      lowerToFinalSchedule(**phases, target, options);
  if (failed(module)) {
    return kExitInput;
  }
  if (options.emit == Stage::Schedule) {
    return print(**module);
  }
  if (options.emit == Stage::Source) {
    return printSources(**module);
  }
  return report(**module);
}

int modelc::compile(const CompileOptions &options, llvm::raw_ostream &out,
                    llvm::raw_ostream &errors) {
  return Compilation(options, out, errors).run();
}
