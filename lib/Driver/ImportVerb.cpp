//===- ImportVerb.cpp - modelc import -------------------------------------===//

#include "lib/Driver/Driver.h"

#include "lib/Driver/Registration.h"
#include "lib/Driver/Usage.h"
#include "lib/Import/Import.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace modelc;

int modelc::importToToml(StringRef input, StringRef output, raw_ostream &out,
                         raw_ostream &errors) {
  mlir::DialectRegistry registry;
  registerEverything(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::vector<Assumption> assumptions;
  ImportOptions options;
  options.assumptions = &assumptions;
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> module =
      importModel(input, options, &context, errors);
  std::string text;
  raw_string_ostream os(text);
  SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context, errors);
  if (failed(module) || failed(exportToml(**module, assumptions, os))) {
    return kExitInput;
  }
  return writeText(
      output, [&](raw_ostream &file) { file << text; }, out, errors);
}
