#include "lib/Kernels/Rows/Formats.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace modelc;

std::string kernels::spelling(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static bool multiplies(const Target &target, StringRef element) {
  return llvm::any_of(target.mma,
                      [&](const MmaRow &row) { return row.aType == element; });
}

Type kernels::storedType(Type type, const Target &target) {
  bool isOther = isa_and_nonnull<Float8E4M3FNType>(type) &&
                 !multiplies(target, "f8E4M3FN") &&
                 multiplies(target, "f8E4M3FNUZ");
  return isOther ? Float8E4M3FNUZType::get(type.getContext()) : type;
}

bool kernels::isHalved(Type type) { return isa<Float8E4M3FNUZType>(type); }

double kernels::quantisedLimit(Type type) {
  const llvm::fltSemantics &semantics =
      isHalved(type) ? llvm::APFloat::Float8E4M3FN()
                     : cast<FloatType>(type).getFloatSemantics();
  double largest = llvm::APFloat::getLargest(semantics).convertToDouble();
  return isHalved(type) ? largest / 2 : largest;
}
