#include "lib/Driver/Diagnostics.h"

#include "dialects/Model/Model.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace modelc;

static StringRef severityOf(const Diagnostic &diagnostic) {
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Note:
    return "note";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Remark:
    return "remark";
  }
  return "";
}

Diagnostics::Diagnostics(MLIRContext *context, llvm::raw_ostream &errors)
    : errors(errors), inFiles(sources, context, errors),
      all(context, [this](Diagnostic &diagnostic) {
        print(diagnostic);
        for (const Diagnostic &note : diagnostic.getNotes()) {
          print(note);
        }
        return success();
      }) {
  // Messages point into the user's file, not at what became of it.
  context->printOpOnDiagnostic(false);
}

void Diagnostics::print(const Diagnostic &diagnostic) {
  Location place = diagnostic.getLocation();
  if (auto inFile = place->findInstanceOf<FileLineColLoc>()) {
    return inFiles.emitDiagnostic(inFile, diagnostic.str(),
                                  diagnostic.getSeverity());
  }
  StringRef flag = model::flagOf(place);
  errors << "modelc: " << severityOf(diagnostic) << ": " << flag
         << (flag.empty() ? "" : ": ") << diagnostic.str() << "\n";
}
