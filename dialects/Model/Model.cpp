//===- Model.cpp - Dialect, types and attributes --------------------------===//

#include "dialects/Model/Model.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc::model;

#include "dialects/Model/ModelDialect.cpp.inc"
#include "dialects/Model/ModelEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Model/ModelTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Model/ModelAttrs.cpp.inc"

void ModelDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Model/ModelTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Model/ModelAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Model/ModelOps.cpp.inc"
      >();
}

double modelc::model::getLargestFinite(Type elementType) {
  auto type = cast<FloatType>(elementType);
  return llvm::APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
}

bool modelc::model::isEightBit(Type elementType) {
  return elementType.getIntOrFloatBitWidth() == 8;
}

int64_t modelc::model::getScaledBlock(Type scaleType) {
  return scaleType.isF32()                  ? kScaledGroup
         : isa<Float8E4M3FNType>(scaleType) ? kScaledBlock / 2
                                            : kScaledBlock;
}

int64_t modelc::model::getScaledRows(int64_t rows, Type scaleType) {
  return scaleType.isF32() ? llvm::divideCeil(rows, kScaledGroup) : rows;
}

bool modelc::model::hasFewBits(Type elementType) {
  return elementType.getIntOrFloatBitWidth() < 8;
}

int64_t CacheType::getBytesPerToken() const {
  int64_t bits = getElementType().getIntOrFloatBitWidth();
  return 2 * getKvHeads() * getHeadDim() * bits / 8;
}

LogicalResult CacheType::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t kvHeads, int64_t headDim,
                                Type elementType, int64_t page) {
  if (kvHeads <= 0 || headDim <= 0) {
    return emitError() << "expected positive 'kv_heads' and 'head_dim', got "
                       << kvHeads << " and " << headDim;
  }
  if (std::max({kvHeads, headDim, page}) > kLargestSize) {
    return emitError() << "expected sizes of at most " << kLargestSize
                       << ", got " << std::max({kvHeads, headDim, page});
  }
  if (!isa<BFloat16Type, Float16Type, Float32Type, Float8E4M3FNType>(
          elementType)) {
    return emitError() << "expected a cache of bf16, f16, f32 or f8E4M3FN, got "
                       << elementType;
  }
  if (page < 0) {
    return emitError() << "expected 'page' tokens of at least 1, got " << page;
  }
  return success();
}

LogicalResult
Llama3ScalingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                          APFloat factor, APFloat lowFreqFactor,
                          APFloat highFreqFactor, int64_t originalContext) {
  double low = lowFreqFactor.convertToDouble();
  double high = highFreqFactor.convertToDouble();
  if (!factor.isFinite() || factor.convertToDouble() < 1.0) {
    return emitError() << "expected a finite 'factor' of at least 1, got "
                       << factor.convertToDouble();
  }
  if (!(low > 0.0 && high > low && highFreqFactor.isFinite())) {
    return emitError() << "expected 0 < 'low_freq_factor' < "
                          "'high_freq_factor', both finite, got "
                       << low << " and " << high;
  }
  if (originalContext <= 0) {
    return emitError() << "expected a positive 'original_context', got "
                       << originalContext;
  }
  return success();
}
