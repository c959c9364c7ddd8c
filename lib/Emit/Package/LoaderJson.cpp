#include "lib/Emit/Package/LoaderJson.h"
#include "lib/Text/Text.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;
using llvm::json::OStream;

void modelc::writeOrder(OStream &json, const HostBuffer &buffer) {
  std::optional<Layout> order = buffer.order();
  if (!order || buffer.role != StorageRole::Weight) {
    return;
  }
  json.attributeObject("order", [&] {
    for (const Layout::Input &input : order->inputs()) {
      json.attributeArray(input.name, [&] {
        for (const Layout::Image &byte : input.bits) {
          json.value(byte.front());
        }
      });
    }
  });
}

void modelc::writeNumbers(OStream &json, MLIRContext *context) {
  json.attributeObject("numbers", [&] {
    for (FloatType type : std::initializer_list<FloatType>{
             Float4E2M1FNType::get(context), Float6E2M3FNType::get(context),
             Float8E4M3FNType::get(context), Float8E8M0FNUType::get(context)}) {
      const llvm::fltSemantics &format = type.getFloatSemantics();
      json.attributeObject(typeName(type), [&] {
        json.attribute("bits", type.getWidth());
        json.attribute("signed", llvm::APFloat::semanticsHasSignedRepr(format));
        json.attribute("fraction_bits", type.getFPMantissaWidth() - 1);
        json.attribute("smallest_exponent",
                       llvm::APFloat::semanticsMinExponent(format));
        writeNumber(json, "largest",
                    llvm::APFloat::getLargest(format).convertToDouble());
      });
    }
  });
}
