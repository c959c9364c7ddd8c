//===- Opt.cpp - The compiler developer's tool ----------------------------===//

#include "lib/Driver/Driver.h"
#include "lib/Driver/Registration.h"

#include "lib/Import/Import.h"
#include "lib/Support/Support.h"

#include "mlir/IR/AsmState.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace modelc;

static bool describesModel(StringRef file) {
  StringRef extension = llvm::sys::path::extension(file);
  return extension == ".toml" || extension == ".json" ||
         llvm::sys::fs::is_directory(file);
}

/// Reads a model as text of the model dialect that keeps the places.
static std::unique_ptr<llvm::MemoryBuffer> importAsText(StringRef file) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  FailureOr<OwningOpRef<ModuleOp>> module =
      importModel(file, {}, &context, llvm::errs());
  if (failed(module)) {
    return nullptr;
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*module)->print(stream, OpPrintingFlags().enableDebugInfo());
  // Under another name, so that messages show the file itself.
  return llvm::MemoryBuffer::getMemBufferCopy(text, "imported " + file);
}

static LogicalResult exportAsToml(StringRef file, raw_ostream &os) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::vector<Assumption> assumptions;
  ImportOptions options;
  options.assumptions = &assumptions;
  FailureOr<OwningOpRef<ModuleOp>> module =
      importModel(file, options, &context, llvm::errs());
  if (failed(module)) {
    return failure();
  }
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context, llvm::errs());
  return exportToml(**module, assumptions, os);
}

/// Builds the passes once beforehand, so that a mistake in their options is one
/// of the command line, not of the input.
static LogicalResult checkPipeline(const MlirOptMainConfig &config,
                                   const DialectRegistry &registry) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler say(&context, [](Diagnostic &diagnostic) {
    std::string text = diagnostic.str();
    StringRef message = StringRef(text).trim();
    if (!message.empty()) { // else the option's parser has said it
      sayError(llvm::errs()) << message << "\n";
    }
    return success();
  });
  PassManager manager(&context);
  return config.setupPassPipeline(manager);
}

int modelc::optMain(int argc, char **argv) {
  static llvm::cl::opt<bool> toToml(
      "export-toml", llvm::cl::desc("Print the model that was read as TOML"));
  static llvm::cl::opt<std::string> inputName(
      llvm::cl::Positional, llvm::cl::desc("<file>"), llvm::cl::init("-"));
  static llvm::cl::opt<std::string> outputName(
      "o", llvm::cl::desc("Where the result goes"),
      llvm::cl::value_desc("file"), llvm::cl::init("-"));
  llvm::InitLLVM init(argc, argv);
  DialectRegistry registry;
  registerEverything(registry);
  registerAllPasses();
  std::string overview = registerCLIOptions(
      "modelc-opt: passes over models and schedules\n", registry);
  if (!parseCommandLine(argc, argv, overview, llvm::errs())) {
    return kExitUsage;
  }
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (failed(checkPipeline(config, registry))) {
    return kExitUsage;
  }
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> output =
      openOutputFile(outputName, &message);
  if (!output) {
    sayError(llvm::errs()) << message << "\n";
    return EXIT_FAILURE;
  }
  LogicalResult result = failure();
  if (toToml) {
    result = exportAsToml(inputName, output->os());
  } else {
    std::unique_ptr<llvm::MemoryBuffer> input =
        describesModel(inputName) ? importAsText(inputName)
                                  : readIr(inputName, llvm::errs());
    if (!input) {
      return EXIT_FAILURE;
    }
    result = MlirOptMain(output->os(), std::move(input), registry, config);
  }
  if (failed(result)) {
    return EXIT_FAILURE;
  }
  output->keep();
  return EXIT_SUCCESS;
}
