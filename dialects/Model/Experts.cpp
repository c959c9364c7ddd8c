//===- Experts.cpp - Verifiers of routing and experts ---------------------===//

#include "dialects/Model/Formats.h"
#include "dialects/Model/Verify.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace modelc::model;

/// Groups of whole experts, with at least as many experts kept as are chosen.
static LogicalResult verifyGroups(RouteOp op, int64_t experts) {
  std::optional<GroupsAttr> groups = op.getGroups();
  if (!groups) {
    return success();
  }
  if (experts % groups->getCount() != 0) {
    return op.emitOpError("expected groups of whole experts, got ")
           << experts << " experts in " << groups->getCount() << " groups";
  }
  const int64_t members = experts / groups->getCount();
  if (groups->getScore() == GroupScore::TopTwo && members < 2) {
    return op.emitOpError("expected groups of two experts or more beside "
                          "'top_two', got one in each");
  }
  const int64_t kept = groups->getKept() * members;
  if (static_cast<int64_t>(op.getTopK()) > kept) {
    return op.emitOpError("expected to choose at most the ")
           << kept << " experts of the groups that are kept, got 'top_k' "
           << op.getTopK();
  }
  return success();
}

LogicalResult RouteOp::verify() {
  const int64_t experts = columns(getLogits());
  const int64_t chosen = getTopK();
  if (chosen > experts) {
    return emitOpError("expected 'top_k' of at most ")
           << experts << ", one logit for each expert, got " << chosen;
  }
  if (columns(getExperts()) != chosen || columns(getWeights()) != chosen) {
    return emitOpError("expected ")
           << chosen << " columns in both results, got "
           << columns(getExperts()) << " and " << columns(getWeights());
  }
  if (getCorrection() && !hasSize(getCorrection(), experts)) {
    return emitOpError("expected a correction for each of ")
           << experts << " experts, got " << getCorrection().getType();
  }
  std::optional<APFloat> added = getRenormalised();
  if (added && !(added->isFinite() && added->convertToDouble() >= 0)) {
    return emitOpError("expected 'renormalised' to be finite and at least 0, "
                       "got ")
           << added->convertToDouble();
  }
  if (getScaled() && failed(verifyPositive(*this, "scaled", *getScaled()))) {
    return failure();
  }
  return verifyGroups(*this, experts);
}

/// "8 x 192 x 64", for messages.
static std::string print(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(shape, os, " x ");
  return text;
}

static LogicalResult verifyShape(ExpertsOp op, StringRef what, Value value,
                                 ArrayRef<int64_t> expected) {
  if (!value) {
    return success();
  }
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == expected) {
    return success();
  }
  return op.emitOpError("expected ")
         << what << " to be " << print(expected) << ", got " << type;
}

/// Scales of rows, or of blocks of columns and as many rows as share one.
static LogicalResult verifyScales(ExpertsOp op, Value matrix, Value scale) {
  auto type = cast<RankedTensorType>(matrix.getType());
  const bool isNarrow = type.getElementTypeBitWidth() <= 8;
  if (isNarrow != static_cast<bool>(scale)) {
    return op.emitOpError("expected 'scaled' exactly where matrices have 8 "
                          "bits or fewer, got ")
           << type;
  }
  if (!scale) {
    return success();
  }
  auto of = cast<RankedTensorType>(scale.getType());
  const int64_t count = type.getDimSize(0), rows = type.getDimSize(1);
  if (of.getRank() == 2) {
    return verifyShape(op, "scales of rows", scale, {count, rows});
  }
  const int64_t block = getScaledBlock(of.getElementType());
  return verifyShape(op, "scales of blocks", scale,
                     {count, getScaledRows(rows, of.getElementType()),
                      (type.getDimSize(2) + block - 1) / block});
}

static LogicalResult verifyGating(ExpertsOp op) {
  const bool isClamped = op.getGating() == Gating::ClampedSilu;
  if (isClamped != (op.getAlpha() && op.getLimit()) ||
      isClamped != (op.getAlpha() || op.getLimit())) {
    return op.emitOpError("expected 'alpha' and 'limit' beside 'clamped_silu' "
                          "and nothing else");
  }
  if (isClamped && failed(verifyPositive(op, "alpha", *op.getAlpha()))) {
    return failure();
  }
  return isClamped ? verifyPositive(op, "limit", *op.getLimit()) : success();
}

LogicalResult ExpertsOp::verify() {
  const int64_t hidden = columns(getX());
  const int64_t rows = 2 * getWidth();
  if (getOut().getType() != getX().getType()) {
    return emitOpError("expected a result of the input's type, ")
           << getX().getType() << ", got " << getOut().getType();
  }
  if (columns(getWeights()) != getTopK()) {
    return emitOpError("expected a weight for each of ")
           << getTopK() << " experts of a token, got "
           << getWeights().getType();
  }
  if (failed(verifyShape(*this, "gate and up", getGateUp(),
                         {getCount(), rows, hidden})) ||
      failed(verifyShape(*this, "down", getDown(),
                         {getCount(), hidden, getWidth()})) ||
      failed(verifyShape(*this, "the bias of gate and up", getGateUpBias(),
                         {getCount(), rows})) ||
      failed(verifyShape(*this, "the bias of down", getDownBias(),
                         {getCount(), hidden})) ||
      failed(verifyShape(*this, "second scales of gate and up",
                         getGateUpTensorScale(), {getCount(), rows})) ||
      failed(verifyShape(*this, "second scales of down", getDownTensorScale(),
                         {getCount(), hidden}))) {
    return failure();
  }
  if (failed(verifyScales(*this, getGateUp(), getGateUpScale())) ||
      failed(verifyScales(*this, getDown(), getDownScale()))) {
    return failure();
  }
  if (getInputs() && !getGateUpScale()) {
    return emitOpError("expected 'inputs' only beside 'scaled' matrices");
  }
  return success(succeeded(verifyGating(*this)) &&
                 succeeded(verifyFormats(*this)));
}
