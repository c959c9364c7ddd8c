//===- Version.cpp - modelc --version -------------------------------------===//

#include "lib/Driver/Driver.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

void modelc::printVersion(llvm::raw_ostream &out) {
  out << "modelc " MODELC_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
}
