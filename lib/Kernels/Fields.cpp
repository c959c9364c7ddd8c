//===- Fields.cpp - Values of fields as text ------------------------------===//

#include "lib/Kernels/Fields.h"

#include "llvm/ADT/STLExtras.h"
#include <charconv>

using namespace mlir;
using namespace modelc::kernels;

void modelc::kernels::printField(llvm::raw_ostream &os, bool value) {
  os << (value ? "1" : "0");
}

void modelc::kernels::printField(llvm::raw_ostream &os, int64_t value) {
  os << value;
}

void modelc::kernels::printField(llvm::raw_ostream &os, double value) {
  char digits[32];
  os << llvm::StringRef(
      digits, std::to_chars(digits, std::end(digits), value).ptr - digits);
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
