//===- Ops.cpp - Verifiers of the ops that compute ------------------------===//

#include "dialects/Model/Formats.h"
#include "dialects/Model/Verify.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace modelc::model;

static bool isScaled(Value rows) {
  return isEightBit(elementType(rows)) || hasFewBits(elementType(rows));
}

/// Whether `scale` has the scales of rows or blocks of `of`.
static bool fitsScale(Value of, Value scale) {
  auto type = cast<RankedTensorType>(scale.getType());
  bool isOfRows = type.getRank() == 1;
  if (isOfRows) {
    return !hasFewBits(elementType(of));
  }
  // Of f32 are those of groups of 8 bits, with a fraction of blocks of 4, of a
  // power of two those of any.
  Type scaleType = type.getElementType();
  if ((scaleType.isF32() && !isEightBit(elementType(of))) ||
      (isa<Float8E4M3FNType>(scaleType) &&
       !isa<Float4E2M1FNType>(elementType(of)))) {
    return false;
  }
  int64_t block = getScaledBlock(type.getElementType());
  return columns(of) % block == 0 && type.getDimSize(1) == columns(of) / block;
}

static LogicalResult verifyFits(Operation *op, Value of, Value scale) {
  if (fitsScale(of, scale)) {
    return success();
  }
  InFlightDiagnostic error = op->emitOpError("expected a scale for each ");
  if (hasFewBits(elementType(of))) {
    error << "block of " << getScaledBlock(elementType(scale)) << " columns";
  } else {
    error << "row or block (of f32 " << kScaledGroup << ", of f8E8M0FNU "
          << kScaledBlock << " columns)";
  }
  return error << " of " << of.getType() << ", got " << scale.getType();
}

/// A narrow result has scales, another has none.
static LogicalResult verifyScale(Operation *op, Value out, Value scale) {
  if (isScaled(out) != (scale != nullptr)) {
    return op->emitOpError("expected a scale exactly where the result has 8 "
                           "bits or fewer, got a result of ")
           << elementType(out) << (scale ? " with" : " without") << " a scale";
  }
  return scale ? verifyFits(op, out, scale) : success();
}

/// The second scale of NVFP4: one number beside scales of blocks with a
/// fraction.
static LogicalResult verifyTensorScale(Operation *op, Value tensorScale,
                                       Value scale) {
  if (!tensorScale) {
    return success();
  }
  if (!hasSize(tensorScale, 1)) {
    return op->emitOpError("expected one scale of all rows for "
                           "'tensor_scaled', got ")
           << tensorScale.getType();
  }
  if (!scale || !isa<Float8E4M3FNType>(elementType(scale))) {
    return op->emitOpError("expected 'tensor_scaled' only beside scales of "
                           "blocks of f8E4M3FN");
  }
  return success();
}

LogicalResult EmbedOp::verify() {
  if (columns(getTable()) != columns(getOut()) ||
      elementType(getTable()) != elementType(getOut())) {
    return emitOpError("expected rows of the table, ")
           << columns(getTable()) << " x " << elementType(getTable())
           << ", got " << columns(getOut()) << " x " << elementType(getOut());
  }
  return getTimes() ? verifyPositive(*this, "times", *getTimes()) : success();
}

/// Rows that are normed are columns of the input, and the weight has one number
/// for each.
static LogicalResult verifyNormed(NormOp op) {
  const int64_t all = columns(op.getX());
  const int64_t row = op.getHeadDim().value_or(all);
  if (row > all || all % row != 0) {
    return op.emitOpError("expected whole heads of ")
           << row << " columns, got " << all;
  }
  const int64_t normed = op.getNormed().value_or(row);
  if (normed > row) {
    return op.emitOpError("expected 'first' of at most the ")
           << row << " columns of a row, got " << normed;
  }
  if (op.getWeight() && !hasSize(op.getWeight(), normed)) {
    return op.emitOpError("expected a weight of ")
           << normed << " elements, one for each column, got "
           << op.getWeight().getType();
  }
  if (op.getOnePlus() && !op.getWeight()) {
    return op.emitOpError("expected a weight beside 'one_plus'");
  }
  if (row != all && op.getResidual()) {
    return op.emitOpError("expected no 'residual' beside 'head_dim'");
  }
  return success();
}

LogicalResult NormOp::verify() {
  if (failed(verifyNormed(*this))) {
    return failure();
  }
  if (columns(getOut()) != columns(getX())) {
    return emitOpError("expected ")
           << columns(getX()) << " columns in the result, got "
           << columns(getOut());
  }
  if ((getResidual() != nullptr) != (getSum() != nullptr)) {
    return emitOpError("expected 'sum' exactly where there is a 'residual'");
  }
  if (getResidual() && (getResidual().getType() != getX().getType() ||
                        getSum().getType() != getX().getType())) {
    return emitOpError("expected 'residual' and 'sum' of the input's type, ")
           << getX().getType() << ", got " << getResidual().getType() << " and "
           << getSum().getType();
  }
  if (failed(verifyPositive(*this, "eps", getEps())) ||
      failed(verifyScale(*this, getOut(), getScale()))) {
    return failure();
  }
  return verifyTensorScale(*this, getTensorScale(), getScale());
}

void LinearOp::build(OpBuilder &builder, OperationState &state, Value x,
                     Value weight, Value bias) {
  auto type = cast<RankedTensorType>(x.getType());
  int64_t outputs = cast<RankedTensorType>(weight.getType()).getDimSize(0);
  auto out = RankedTensorType::get({type.getDimSize(0), outputs},
                                   type.getElementType());
  build(builder, state, out, x, weight, /*x_scale=*/Value(),
        /*weight_scale=*/Value(), /*x_tensor_scale=*/Value(),
        /*weight_tensor_scale=*/Value(), bias, /*residual=*/Value(),
        /*swiglu=*/false, Role::Replicated, /*head_dim=*/IntegerAttr());
}

static LogicalResult verifyLinearScales(LinearOp op) {
  bool isEightByFew = isEightBit(elementType(op.getX())) &&
                      hasFewBits(elementType(op.getWeight()));
  if (elementType(op.getX()) != elementType(op.getWeight()) && !isEightByFew) {
    return op.emitOpError("expected input and weight of one element type, or "
                          "of 8 and fewer bits, got ")
           << elementType(op.getX()) << " and " << elementType(op.getWeight());
  }
  if (isScaled(op.getX()) != (op.getXScale() != nullptr)) {
    return op.emitOpError("expected 'scaled' exactly where input and weight "
                          "have 8 bits or fewer, got ")
           << elementType(op.getX());
  }
  if (!isEightByFew && op.getXScale() && op.getWeightScale() &&
      elementType(op.getXScale()) != elementType(op.getWeightScale())) {
    return op.emitOpError("expected scales of one type, got ")
           << elementType(op.getXScale()) << " and "
           << elementType(op.getWeightScale());
  }
  if (op.getXScale() &&
      (failed(verifyFits(op, op.getX(), op.getXScale())) ||
       failed(verifyFits(op, op.getWeight(), op.getWeightScale())))) {
    return failure();
  }
  int64_t scaledRows = op.getOutputs();
  if (Value scale = op.getWeightScale()) {
    auto type = cast<RankedTensorType>(scale.getType());
    if (type.getRank() == 2) {
      scaledRows = getScaledRows(scaledRows, type.getElementType());
    }
  }
  if (op.getWeightScale() && !hasSize(op.getWeightScale(), scaledRows)) {
    return op.emitOpError("expected a scale for each of ")
           << scaledRows << " rows of the weight, or blocks of them, got "
           << op.getWeightScale().getType();
  }
  if (op.getWeightTensorScale() &&
      !hasSize(op.getWeightTensorScale(), op.getOutputs())) {
    return op.emitOpError("expected a scale of its tensor for each of ")
           << op.getOutputs() << " rows of the weight, got "
           << op.getWeightTensorScale().getType();
  }
  return verifyTensorScale(op, op.getXTensorScale(), op.getXScale());
}

/// Heads have a size, and a linear of heads has whole ones.
static LogicalResult verifyRole(LinearOp op) {
  bool isOfHeads = op.getRole() == Role::Heads || op.getRole() == Role::KvHeads;
  bool canHaveHeads = isOfHeads || op.getRole() == Role::Row;
  if ((isOfHeads && !op.getHeadDim()) || (!canHaveHeads && op.getHeadDim())) {
    return op.emitOpError("expected 'head_dim' beside the roles 'heads' and "
                          "'kv_heads', or 'row', got role '")
           << stringifyRole(op.getRole()) << "' with"
           << (op.getHeadDim() ? "" : "out") << " one";
  }
  int64_t size = isOfHeads ? op.getOutputs() : op.getInputs();
  int64_t headDim = op.getHeadDim().value_or(1);
  if (size % headDim != 0) {
    return op.emitOpError("expected whole heads of ")
           << headDim << " columns, got " << size;
  }
  return success();
}

LogicalResult LinearOp::verify() {
  if (columns(getX()) != getInputs()) {
    return emitOpError("expected a weight of ")
           << columns(getX()) << " columns, as the input has, got "
           << getWeight().getType() << "; a weight is [outputs, inputs]";
  }
  if (getBias() && !hasSize(getBias(), getOutputs())) {
    return emitOpError("expected a bias of ")
           << getOutputs() << " elements, got " << getBias().getType();
  }
  if (getSwiglu() && getOutputs() % 2 != 0) {
    return emitOpError("expected as many rows of up as of gate for 'swiglu', "
                       "got ")
           << getOutputs() << " rows in all";
  }
  int64_t expected = getSwiglu() ? getOutputs() / 2 : getOutputs();
  if (columns(getOut()) != expected) {
    return emitOpError("expected ")
           << expected << " columns in the result, got " << columns(getOut());
  }
  if (isScaled(getOut())) {
    return emitOpError("expected a result of more than 8 bits, got ")
           << elementType(getOut());
  }
  if (getResidual() && getResidual().getType() != getOut().getType()) {
    return emitOpError("expected a residual of the result's type, ")
           << getOut().getType() << ", got " << getResidual().getType();
  }
  return failed(verifyRole(*this)) || failed(verifyFormats(*this))
             ? failure()
             : verifyLinearScales(*this);
}

LogicalResult SwigluOp::verify() {
  if (getGating() == Gating::ClampedSilu) {
    return emitOpError("expected 'silu' or 'gelu_tanh', got 'clamped_silu', "
                       "which 'model.experts' has");
  }
  if (columns(getOut()) != columns(getGate())) {
    return emitOpError("expected ")
           << columns(getGate()) << " columns in the result, got "
           << columns(getOut());
  }
  return failed(verifyScale(*this, getOut(), getScale()))
             ? failure()
             : verifyTensorScale(*this, getTensorScale(), getScale());
}

LogicalResult GateOp::verify() {
  int64_t gates = columns(getGate());
  if (gates != 1 && gates != columns(getX())) {
    return emitOpError("expected a gate of 1 or ")
           << columns(getX()) << " columns, got " << gates;
  }
  return success();
}

LogicalResult ConcatOp::verify() {
  int64_t sum = columns(getA()) + columns(getB());
  if (columns(getOut()) != sum || elementType(getA()) != elementType(getB()) ||
      elementType(getA()) != elementType(getOut())) {
    return emitOpError("expected ")
           << sum << " columns of " << elementType(getA()) << ", got "
           << columns(getOut()) << " of " << elementType(getOut());
  }
  return success();
}

LogicalResult QuantiseOp::verify() {
  if (columns(getOut()) != columns(getX())) {
    return emitOpError("expected ")
           << columns(getX()) << " columns in the result, got "
           << columns(getOut());
  }
  if (isScaled(getX())) {
    return emitOpError("expected an input of more than 8 bits, got ")
           << elementType(getX());
  }
  return failed(verifyScale(*this, getOut(), getScale()))
             ? failure()
             : verifyTensorScale(*this, getTensorScale(), getScale());
}

LogicalResult SampleOp::verify() {
  bool hasOptions = getTopK() || getTopP() || getTemperature();
  if (getSampling() == Sampling::Greedy && hasOptions) {
    return emitOpError("expected 'top_k', 'top_p' and 'temperature' only with "
                       "'random' sampling");
  }
  if (getWordCount() > columns(getLogits())) {
    return emitOpError("expected 'words' of at most ")
           << columns(getLogits()) << ", the columns of logits, got "
           << getWordCount();
  }
  if (getTopK() && static_cast<int64_t>(*getTopK()) > getWordCount()) {
    return emitOpError("expected 'top_k' of at most ")
           << getWordCount() << ", the size of the vocabulary, got "
           << *getTopK();
  }
  if (getTopP() && !(getTopP()->convertToDouble() > 0.0 &&
                     getTopP()->convertToDouble() <= 1.0)) {
    return emitOpError("expected 'top_p' above 0 and at most 1, got ")
           << getTopP()->convertToDouble();
  }
  if (getTemperature() && !(getTemperature()->convertToDouble() > 0.0)) {
    return emitOpError("expected a 'temperature' above 0, got ")
           << getTemperature()->convertToDouble() << "; use 'greedy' for 0";
  }
  return success();
}
