//===- Fields.cpp - Values of fields as text ------------------------------===//

#include "lib/Kernels/Fields.h"

#include "lib/Text/Text.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace modelc::kernels;

void modelc::kernels::printField(llvm::raw_ostream &os, bool value) {
  os << (value ? "1" : "0");
}

void modelc::kernels::printField(llvm::raw_ostream &os, int64_t value) {
  os << value;
}

void modelc::kernels::printField(llvm::raw_ostream &os, double value) {
  os << exactNumber(value);
}

void modelc::kernels::printField(llvm::raw_ostream &os, Type value) {
  if (!value) {
    os << "none";
    return;
  }
  os << value;
}

void modelc::kernels::printField(llvm::raw_ostream &os,
                                 const std::vector<int64_t> &value) {
  os << "[";
  llvm::interleave(value, os, ",");
  os << "]";
}
