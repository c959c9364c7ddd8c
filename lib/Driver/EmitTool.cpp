//===- EmitTool.cpp - From a final schedule to text -----------------------===//

#include "lib/Driver/Registration.h"

#include "lib/Emit/Emit.h"
#include "lib/SchedulePasses/SchedulePasses.h"
#include "lib/Support/Support.h"

#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
using namespace modelc;

static constexpr int kInputError = 1, kUsageError = 2;

/// The module's own target unless the command line names one.
static std::string targetName(ModuleOp module, StringRef wanted) {
  if (!wanted.empty()) {
    return wanted.str();
  }
  auto own = module->getAttrOfType<StringAttr>("schedule.target");
  return own ? own.str() : "";
}

static LogicalResult emitKernels(ModuleOp module, const Target &target,
                                 const EmitOptions &options, raw_ostream &os) {
  WalkResult walk = module.walk([&](schedule::KernelOp kernel) {
    FailureOr<std::string> text = emitKernel(kernel, target, options);
    if (failed(text)) {
      return WalkResult::interrupt();
    }
    os << *text;
    return WalkResult::skip();
  });
  return failure(walk.wasInterrupted());
}

/// A file says nothing of who made it: what it holds is proven before it is
/// emitted.
static LogicalResult proveKernels(ModuleOp module, const Target &target) {
  WalkResult walk = module.walk([&](schedule::KernelOp kernel) {
    return failed(proveWaits(kernel, target)) ? WalkResult::interrupt()
                                              : WalkResult::skip();
  });
  return failure(walk.wasInterrupted());
}

/// Kernels with their host library, compiled where `compiles`.
static LogicalResult emitFolder(ModuleOp module, const Target &target,
                                StringRef targets, StringRef folder,
                                bool compiles) {
  PackageOptions package;
  package.targetsFolder = targetsFolder(targets);
  FailureOr<std::vector<PackageFile>> files =
      emitPackage(module, target, package);
  if (failed(files)) {
    return failure();
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags().printNameLocAsPrefix());
  files->push_back({"schedule.mlir", text + "\n"});
  return writePackage(*files, folder, llvm::errs(), [&](StringRef written) {
    return success(!compiles || succeeded(compileBinaries(
                                    module, target, written, llvm::errs())));
  });
}

int modelc::emitMain(int argc, char **argv) {
  static llvm::cl::opt<std::string> input(
      llvm::cl::Positional, llvm::cl::desc("final form"), llvm::cl::init("-"));
  static llvm::cl::opt<std::string> output("o", llvm::cl::desc("output file"),
                                           llvm::cl::init("-"));
  static llvm::cl::opt<std::string> wanted(
      "target", llvm::cl::desc("machine; default: the module's own"));
  static llvm::cl::opt<std::string> directory(
      "targets", llvm::cl::desc("folder of target files"));
  static llvm::cl::opt<std::string> prediction(
      "prediction", llvm::cl::desc("line on time for the header comment"));
  static llvm::cl::opt<std::string> folder(
      "package", llvm::cl::desc("folder for the kernels with a host library"));
  static llvm::cl::opt<bool> compiles(
      "binary", llvm::cl::desc("compile the kernels of the package"));
  llvm::InitLLVM init(argc, argv);
  if (!parseCommandLine(argc, argv, "modelc-emit: schedule to source\n",
                        llvm::errs())) {
    return kUsageError;
  }
  DialectRegistry registry;
  registerEverything(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false); // the place says enough
  std::unique_ptr<llvm::MemoryBuffer> text = readIr(input, llvm::errs());
  if (!text) {
    return kInputError;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(text), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module) {
    return kInputError;
  }
  FailureOr<Target> target =
      loadTarget(targetName(*module, wanted), {}, {directory}, llvm::errs());
  if (failed(target) || failed(proveKernels(*module, *target))) {
    return kInputError;
  }
  if (!folder.empty()) {
    return succeeded(emitFolder(*module, *target, directory, folder, compiles))
               ? 0
               : kInputError;
  }
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(output, &message);
  if (!file) {
    sayError(llvm::errs()) << message << "\n";
    return kInputError;
  }
  EmitOptions options;
  options.prediction = prediction;
  if (failed(emitKernels(*module, *target, options, file->os()))) {
    return kInputError;
  }
  file->keep();
  return 0;
}
