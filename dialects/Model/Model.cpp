//===- Model.cpp - Dialect, types and attributes --------------------------===//

#include "dialects/Model/Model.h"
#include "dialects/Model/NumberFormats.h"

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
  const NumberFormat *format = formatOfScale(scaleType);
  return format ? format->block : kScaledBlock;
}

int64_t modelc::model::getScaledRows(int64_t rows, Type scaleType) {
  const NumberFormat *format = formatOfScale(scaleType);
  return format ? format->scaledRows(rows) : rows;
}

bool modelc::model::hasFewBits(Type elementType) {
  return elementType.getIntOrFloatBitWidth() < 8;
}

int64_t CacheType::getBytesPerToken() const {
  int64_t bits = getElementType().getIntOrFloatBitWidth();
  int64_t kinds = getLatent() > 0 ? 1 : 2; // keys alone, or values too
  return kinds * getKvHeads() * getHeadDim() * bits / 8;
}

LogicalResult CacheType::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t kvHeads, int64_t headDim,
                                Type elementType, int64_t page,
                                int64_t latent) {
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
  if (latent != 0 && (kvHeads != 1 || latent < 0 || latent >= headDim)) {
    return emitError() << "expected one head with a 'latent' of fewer than its "
                       << headDim << " columns, got " << latent << " of "
                       << kvHeads << " heads";
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
  if (!(low > 0.0 && high >= low && highFreqFactor.isFinite())) {
    return emitError() << "expected 0 < 'low_freq_factor' <= "
                          "'high_freq_factor', both finite, got "
                       << low << " and " << high;
  }
  if (originalContext <= 0) {
    return emitError() << "expected a positive 'original_context', got "
                       << originalContext;
  }
  return success();
}

LogicalResult YarnAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               APFloat factor, APFloat betaFast,
                               APFloat betaSlow, int64_t originalContext,
                               APFloat magnitude, BoolAttr) {
  if (!factor.isFinite() || factor.convertToDouble() < 1.0) {
    return emitError() << "expected a finite 'factor' of at least 1, got "
                       << factor.convertToDouble();
  }
  double fast = betaFast.convertToDouble(), slow = betaSlow.convertToDouble();
  if (!(slow > 0.0 && fast >= slow && betaFast.isFinite())) {
    return emitError() << "expected 0 < 'beta_slow' <= 'beta_fast', both "
                          "finite, got "
                       << slow << " and " << fast;
  }
  if (originalContext <= 0) {
    return emitError() << "expected a positive 'original_context', got "
                       << originalContext;
  }
  if (!magnitude.isFiniteNonZero() || magnitude.isNegative()) {
    return emitError() << "expected a finite 'magnitude' above 0, got "
                       << magnitude.convertToDouble();
  }
  return success();
}

LogicalResult
TemperatureAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        APFloat scale, int64_t every) {
  if (!scale.isFiniteNonZero() || scale.isNegative() || every < 1) {
    return emitError() << "expected a finite 'scale' above 0 and 'every' of at "
                          "least 1, got "
                       << scale.convertToDouble() << " and " << every;
  }
  return success();
}

LogicalResult GroupsAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t count, int64_t kept, GroupScore,
                                 GroupMask) {
  if (kept < 1 || kept > count) {
    return emitError() << "expected from 1 to " << count
                       << " groups to be kept, got " << kept;
  }
  return success();
}
