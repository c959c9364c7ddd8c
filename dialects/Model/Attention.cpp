//===- Attention.cpp - Verifiers of what is around the cache --------------===//

#include "dialects/Model/Formats.h"
#include "dialects/Model/Verify.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace modelc::model;

LogicalResult modelc::model::verifyPositive(Operation *op, StringRef name,
                                            const APFloat &value) {
  if (value.isFiniteNonZero() && !value.isNegative()) {
    return success();
  }
  return op->emitOpError("expected a finite '")
         << name << "' above 0, got " << value.convertToDouble();
}

/// A base that can be a power's, and a context that was stretched, not cut.
static LogicalResult verifyRotation(Operation *op, const APFloat &theta,
                                    std::optional<Llama3ScalingAttr> scaling) {
  if (failed(verifyPositive(op, "theta", theta))) {
    return failure();
  }
  auto graph = op->getParentOfType<GraphOp>();
  std::optional<int64_t> longest = graph ? graph.getMaxContext() : std::nullopt;
  if (scaling && longest && scaling->getOriginalContext() > *longest) {
    return op->emitOpError("expected an 'original_context' of at most the ")
           << *longest << " tokens of 'max_context', got "
           << scaling->getOriginalContext();
  }
  return success();
}

void RopeOp::build(OpBuilder &builder, OperationState &state, Value x,
                   Value batch, int64_t headDim, double theta) {
  state.addOperands({x, batch});
  state.addTypes(x.getType());
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.head_dim = builder.getI64IntegerAttr(headDim);
  properties.theta = builder.getF64FloatAttr(theta);
}

/// Columns that are turned lie in the head; frequencies are stretched once.
template <typename Op>
static LogicalResult verifyRotated(Op op) {
  const int64_t head = op.getHeadDim(), rotated = op.getRotatedColumns();
  const int64_t end = static_cast<int64_t>(op.getFirst()) + rotated;
  if (rotated % 2 != 0) {
    return op.emitOpError("expected an even ")
           << (op.getRotated() ? "'rotated'" : "'head_dim'") << ", got "
           << rotated;
  }
  if (end > head) {
    return op.emitOpError("expected to turn columns of heads of ")
           << head << ", got those up to " << end;
  }
  if (op.getInterleaved() && (op.getFirst() % 2 != 0 || head % 2 != 0)) {
    return op.emitOpError("expected 'interleaved' pairs from an even column "
                          "of heads of even size, got column ")
           << op.getFirst() << " of " << head;
  }
  int ways = (op.getScaling() ? 1 : 0) + (op.getYarn() ? 1 : 0) +
             (op.getStretched() ? 1 : 0);
  if (ways > 1) {
    return op.emitOpError("expected one of 'scaling', 'yarn' and 'stretched', "
                          "got ")
           << ways;
  }
  if (op.getStretched() &&
      failed(verifyPositive(op, "stretched", *op.getStretched()))) {
    return failure();
  }
  return verifyRotation(op, op.getTheta(), op.getScaling());
}

LogicalResult RopeOp::verify() {
  if (columns(getX()) % getHeadDim() != 0) {
    return emitOpError("expected whole heads of ")
           << getHeadDim() << " columns, got " << columns(getX());
  }
  return verifyRotated(*this);
}

/// Latent attention has ops of its own, and others a cache of values.
static LogicalResult verifyKind(Operation *op, CacheType cache, bool isLatent) {
  if ((cache.getLatent() > 0) == isLatent) {
    return success();
  }
  return op->emitOpError("expected a cache ")
         << (isLatent ? "with" : "without") << " 'latent', got " << cache;
}

LogicalResult AppendOp::verify() {
  CacheType cache = getCache().getType();
  if (failed(verifyKind(*this, cache, /*isLatent=*/false))) {
    return failure();
  }
  int64_t expected = cache.getKvHeads() * cache.getHeadDim();
  if (columns(getK()) != expected) {
    return emitOpError("expected keys and values of ")
           << cache.getKvHeads() << " x " << cache.getHeadDim() << " = "
           << expected << " columns, as the cache has, got " << columns(getK());
  }
  return success();
}

/// Query heads are whole and each KV head serves the same number of them.
static LogicalResult verifyHeads(Operation *op, int64_t queryColumns,
                                 CacheType cache) {
  if (queryColumns <= 0 || queryColumns % cache.getHeadDim() != 0) {
    return op->emitOpError("expected whole query heads of ")
           << cache.getHeadDim() << " columns, got " << queryColumns;
  }
  int64_t heads = queryColumns / cache.getHeadDim();
  if (heads % cache.getKvHeads() != 0) {
    return op->emitOpError("expected query heads in ")
           << cache.getKvHeads() << " equal groups, one for each KV head, got "
           << heads << " heads";
  }
  return success();
}

int64_t RopeAppendOp::getHeads() {
  return columns(getQ()) / getCache().getType().getHeadDim();
}

/// Both norms or none, each with a number for each column of a head.
static LogicalResult verifyNorms(RopeAppendOp op) {
  bool isNormed = static_cast<bool>(op.getQNorm());
  if (isNormed != static_cast<bool>(op.getKNorm()) ||
      isNormed != op.getEps().has_value() || (op.getOnePlus() && !isNormed)) {
    return op.emitOpError("expected norms of queries and of keys, with 'eps', "
                          "or neither");
  }
  const int64_t headDim = op.getCache().getType().getHeadDim();
  for (Value weight : {op.getQNorm(), op.getKNorm()}) {
    if (weight && !hasSize(weight, headDim)) {
      return op.emitOpError("expected norms of heads of ")
             << headDim << " columns, got " << weight.getType();
    }
  }
  return success();
}

LogicalResult RopeAppendOp::verify() {
  CacheType cache = getCache().getType();
  int64_t keyColumns = cache.getKvHeads() * cache.getHeadDim();
  if (columns(getQkv()) != columns(getQ()) + 2 * keyColumns) {
    return emitOpError("expected ")
           << columns(getQ()) << " + 2 x " << keyColumns
           << " columns of queries, keys and values, got " << columns(getQkv());
  }
  Type narrow = getQScale() ? cache.getElementType() : elementType(getQkv());
  if (elementType(getQ()) != narrow) {
    return emitOpError("expected queries of ")
           << narrow << ", got " << elementType(getQ());
  }
  if (failed(verifyRotated(*this)) ||
      failed(verifyQueryScale(*this, getQScale(), cache)) ||
      failed(verifyNorms(*this))) {
    return failure();
  }
  return verifyHeads(*this, columns(getQ()), cache);
}

void AttentionOp::build(OpBuilder &, OperationState &state, Value q,
                        Value cache, Value batch, Value sink) {
  state.addOperands({q, cache, batch});
  if (sink) {
    state.addOperands(sink);
  }
  state.addTypes(q.getType());
  llvm::copy(
      ArrayRef<int32_t>{1, 1, 1, 0, sink ? 1 : 0},
      state.getOrAddProperties<Properties>().operandSegmentSizes.begin());
}

/// What is said of scores: one number a head, and numbers above 0.
static LogicalResult verifyScores(AttentionOp op) {
  if (op.getSink() && !hasSize(op.getSink(), op.getHeads())) {
    return op.emitOpError("expected a sink for each of ")
           << op.getHeads() << " query heads, got " << op.getSink().getType();
  }
  if (op.getWindow() && op.getChunk()) {
    return op.emitOpError("expected 'window' or 'chunk', got both");
  }
  if (op.getScale() && failed(verifyPositive(op, "scale", *op.getScale()))) {
    return failure();
  }
  return op.getSoftCap() ? verifyPositive(op, "soft_cap", *op.getSoftCap())
                         : success();
}

LogicalResult AttentionOp::verify() {
  CacheType cache = getCache().getType();
  if (failed(verifyKind(*this, cache, /*isLatent=*/false))) {
    return failure();
  }
  bool hasEightBits = isEightBit(elementType(getQ()));
  if (columns(getOut()) != columns(getQ()) ||
      (!hasEightBits && getOut().getType() != getQ().getType())) {
    return emitOpError("expected a result of the type of the queries, ")
           << getQ().getType() << ", got " << getOut().getType();
  }
  Type out = elementType(getOut());
  if (hasEightBits &&
      (!getQScale() || elementType(getQ()) != cache.getElementType() ||
       isEightBit(out) || hasFewBits(out))) {
    return emitOpError("expected queries of 8 bits with 'scaled', as the cache "
                       "has them, and a result of more, got ")
           << getQ().getType() << " and " << getOut().getType();
  }
  if (failed(verifyQueryScale(*this, getQScale(), cache)) ||
      failed(verifyHeads(*this, columns(getQ()), cache))) {
    return failure();
  }
  return verifyScores(*this);
}

LogicalResult LatentAppendOp::verify() {
  CacheType cache = getCache().getType();
  if (failed(verifyKind(*this, cache, /*isLatent=*/true))) {
    return failure();
  }
  if (columns(getKv()) != cache.getHeadDim()) {
    return emitOpError("expected ")
           << cache.getHeadDim() << " columns, as the cache has, got "
           << columns(getKv());
  }
  return success();
}

/// Columns of a rotated key, which the cache holds behind the latent.
static int64_t rotatedDim(CacheType cache) {
  return cache.getHeadDim() - cache.getLatent();
}

/// Rows of `expand` are those of keys and of values: what is left of queries
/// meets rotated keys.
int64_t LatentAttentionOp::getHeads() {
  const int64_t keys = getExpand().getType().getDimSize(0) - columns(getOut());
  return (columns(getQ()) - keys) / rotatedDim(getCache().getType());
}

int64_t LatentAttentionOp::getKeyDim() {
  return columns(getQ()) / getHeads() - rotatedDim(getCache().getType());
}

int64_t LatentAttentionOp::getValueDim() {
  return columns(getOut()) / getHeads();
}

LogicalResult LatentAttentionOp::verify() {
  CacheType cache = getCache().getType();
  const int64_t heads = getHeads();
  if (failed(verifyKind(*this, cache, /*isLatent=*/true)) ||
      failed(verifyPositive(*this, "scale", getScale()))) {
    return failure();
  }
  ArrayRef<int64_t> shape = getExpand().getType().getShape();
  const int64_t keys = shape[0] - columns(getOut());
  const bool isWhole = heads > 0 && keys > 0 &&
                       columns(getQ()) - keys == heads * rotatedDim(cache) &&
                       keys % heads == 0 && columns(getOut()) % heads == 0;
  if (!isWhole || shape[1] != cache.getLatent()) {
    return emitOpError("expected 'expand' to make keys and values of whole "
                       "heads of a latent of ")
           << cache.getLatent() << ", got " << getExpand().getType() << " for "
           << columns(getQ()) << " columns of queries and " << columns(getOut())
           << " of results";
  }
  return success();
}
