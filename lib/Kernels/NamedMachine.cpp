#include "lib/Kernels/NamedMachine.h"

using namespace mlir;
using namespace modelc;

FailureOr<Target> kernels::loadNamedMachine(ModuleOp module, StringRef name,
                                            StringRef folder) {
  std::string message;
  llvm::raw_string_ostream errors(message);
  FailureOr<Target> loaded = loadTarget(name, {}, {folder.str()}, errors);
  if (failed(loaded)) {
    StringRef text = StringRef(message).rtrim();
    text.consume_front("error: ");
    return module.emitError() << text;
  }
  return loaded;
}
