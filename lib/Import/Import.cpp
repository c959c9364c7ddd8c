//===- Import.cpp - Chooses the reader by the kind of file ----------------===//

#include "lib/Import/Import.h"

#include "lib/Import/Reader.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace modelc;

namespace path = llvm::sys::path;

/// The stem of the file; for a config.json the name of its folder.
static std::string nameOf(StringRef file) {
  StringRef stem = path::stem(file);
  if (stem != "config") {
    return stem.str();
  }
  StringRef folder = path::filename(path::parent_path(file));
  return folder.empty() || folder == "." ? "model" : folder.str();
}

/// Prints messages of the verifier about `source` with the line and a caret.
static LogicalResult forward(const Source &source, Diagnostic &diagnostic) {
  auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>();
  if (!place || place.getFilename() != source.file.name()) {
    return failure();
  }
  source.file.error(source.notes, {place.getLine(), place.getColumn(), 1},
                    diagnostic.str());
  return success();
}

static void printAssumptions(const Source &source) {
  for (const Assumption &assumption : source.assumptions) {
    source.notes << source.file.name() << ": note: assumed \""
                 << assumption.fileKey << "\" = " << assumption.value << " ("
                 << assumption.why << ")\n";
  }
}

static FailureOr<OwningOpRef<ModuleOp>>
importTable(StringRef filename, const ImportOptions &options,
            MLIRContext *context, raw_ostream &notes) {
  FailureOr<SourceFile> file = SourceFile::read(filename, notes);
  if (failed(file)) {
    return failure();
  }
  const bool isJson = path::extension(filename) == ".json";
  FailureOr<Node> root =
      isJson ? parseJson(*file, notes) : parseToml(*file, notes);
  if (failed(root)) {
    return failure();
  }
  Source source{*file, context, notes, {}, options.weights, options.cache};
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    return forward(source, diagnostic);
  });
  std::string name = options.name.empty() ? nameOf(filename) : options.name;
  FailureOr<OwningOpRef<ModuleOp>> module =
      isJson ? importHuggingFace(source, *root, name)
             : importToml(source, *root, name);
  if (failed(module)) {
    return failure();
  }
  printAssumptions(source);
  if (options.assumptions) {
    *options.assumptions = std::move(source.assumptions);
  }
  return module;
}

static FailureOr<OwningOpRef<ModuleOp>>
importMlir(StringRef filename, MLIRContext *context, raw_ostream &notes) {
  std::unique_ptr<llvm::MemoryBuffer> text = readIr(filename, notes);
  if (!text) {
    return failure();
  }
  context->loadDialect<model::ModelDialect>();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(text), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, context, notes);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, context);
  if (!module) {
    return failure();
  }
  if (module->getOps<model::GraphOp>().empty()) {
    InFlightDiagnostic error =
        module->emitError("expected a 'model.graph' in the file");
    if (!module->getBody()->empty()) {
      error << ", got '" << module->getBody()->front().getName()
            << "'; modelc-opt and modelc-emit take later stages";
    }
    return failure();
  }
  return std::move(module);
}

FailureOr<OwningOpRef<ModuleOp>>
modelc::importModel(StringRef filename, const ImportOptions &options,
                    MLIRContext *context, raw_ostream &notes) {
  SmallString<128> inside;
  if (llvm::sys::fs::is_directory(filename)) {
    inside = filename;
    path::append(inside, "config.json");
    filename = inside;
  }
  StringRef extension = path::extension(filename);
  if (extension == ".mlir") {
    return importMlir(filename, context, notes);
  }
  if (extension == ".json" || extension == ".toml") {
    return importTable(filename, options, context, notes);
  }
  sayError(notes)
      << "\"" << filename
      << "\": expected a file that ends in .toml, .json or .mlir, or a "
         "folder with a config.json\n";
  return failure();
}
