//===- LowerWeights.cpp - What a graph reads that steps before it made ----===//
//
// Weights of the checkpoint, with the text that tells its loader how to make
// them, and caches.
//
//===----------------------------------------------------------------------===//

#include "dialects/Model/NumberFormats.h"
#include "lib/Kernels/Graph/Launches.h"
#include "lib/Kernels/Rows/Formats.h"
#include "lib/Text/Text.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

/// Whether a matrix has more bits than in the checkpoint, whose numbers of 8
/// bits the loader multiplies by their scales of groups.
static bool isWidened(model::WeightOp weight) {
  std::optional<model::HeldAttr> held = weight.getHeld();
  return held && held->getFormat().getValue() == "fp8_block" &&
         held->getData().getValue() == ".weight" &&
         weight.getType().getRank() == 2 && !weight.getBlockScale() &&
         weight.getType().getElementTypeBitWidth() > 8;
}

/// The words that say which neighbours of a row share a scale that the matrix
/// unit multiplies by, and the types of numbers and scales; empty: none do.
static std::string blocksText(model::FormatAttr format) {
  std::string text;
  if (format && format.getBlocks() && !format.hasGroups()) {
    BlockScales scales = blockScalesOf(format.getNumbers(), format.getBlocks());
    llvm::raw_string_ostream(text)
        << " blocks " << scales.block << " of " << format.getNumbers()
        << " scaled " << scales.type;
  }
  return text;
}

/// Whether the weight is what the checkpoint holds, or a scale of that.
static bool isKept(model::WeightOp weight, const model::NumberFormat &held) {
  model::FormatAttr format = weight.getFormatAttr();
  MLIRContext *context = weight.getContext();
  Type scale = held.block > 0 ? Type(held.scale(context)) : Type();
  return format && format.getNumbers() == held.element(context) &&
         format.getBlocks() == scale;
}

/// The words that say by which names the checkpoint holds numbers and scales,
/// where these are not the usual ones or numbers are multiplied by their
/// scales.
static std::string heldText(model::WeightOp weight) {
  std::optional<model::HeldAttr> held = weight.getHeld();
  if (!held || isWidened(weight)) {
    return "";
  }
  if (weight.getLargest()) {
    return held->getTensorDivisor() ? " inverse" : "";
  }
  StringRef data = held->getData(), scale = held->getScale();
  const bool isUsual = data == ".weight" &&
                       scale.starts_with(".weight_scale") &&
                       !held->getTensorDivisor();
  const model::NumberFormat &format =
      *model::findFormat(held->getFormat().getValue());
  const bool isDequantised = !isKept(weight, format);
  if (isUsual && !isDequantised) {
    return "";
  }
  std::string text = (" held " + data + " by " + scale).str();
  if (held->getTensorScale()) {
    text += (" and " + held->getTensorScale().getValue()).str();
  }
  if (held->getTensorDivisor()) {
    text += (" over " + held->getTensorDivisor().getValue()).str();
  }
  if (isDequantised) {
    MLIRContext *context = weight.getContext();
    llvm::raw_string_ostream(text) << " dequantised " << format.element(context)
                                   << "/" << format.scale(context);
  }
  return text;
}

/// Whether one tensor has gates above ups, of which a rank has some of both.
static bool isInHalves(model::WeightOp gateUp) {
  ArrayRef<model::SourceAttr> sources = gateUp.getSources();
  return sources.size() == 1 && sources.front().getParts(1) > 1;
}

/// The words of a weight with a first dimension of experts.
static std::string expertsText(model::WeightOp weight) {
  for (OpOperand &use : weight->getUses()) {
    auto experts = dyn_cast<model::ExpertsOp>(use.getOwner());
    if (!experts) {
      continue;
    }
    const Value gateUp[] = {experts.getGateUp(), experts.getGateUpScale(),
                            experts.getGateUpTensorScale(),
                            experts.getGateUpBias()};
    const bool isGateUp = llvm::is_contained(gateUp, weight.getResult());
    const char *order = !isGateUp                  ? ""
                        : experts.getInterleaved() ? " interleaved"
                        : isInHalves(weight)       ? " halves"
                                                   : "";
    return " experts " + std::to_string(weight.getType().getDimSize(0)) +
           (weight.getTransposed() ? " transposed" : "") + order;
  }
  return "";
}

/// The name with the number of its own layer in place of one of the first that
/// takes turns with it: "{layer}" for "{layer+1}".
static std::string nameOfLayer(StringRef name) {
  size_t begin = name.find("{layer+"), end = name.find('}', begin);
  return begin == StringRef::npos
             ? name.str()
             : (name.take_front(begin) + model::kLayerPlaceholder +
                nameOfLayer(name.drop_front(end + 1)))
                   .str();
}

/// What the loader of a checkpoint must do to fill the buffer, as text that
/// targets/host/README.md explains.
static std::string sourceOf(model::WeightOp weight, bool isDoubled) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Builder builder(weight.getContext());
  os << "[";
  llvm::interleaveComma(weight.getSources(), os, [&](model::SourceAttr source) {
    os << builder.getStringAttr(nameOfLayer(source.getName().getValue()));
    if (source.getPadding() > 0) {
      os << " padded " << source.getPadding();
    }
    for (model::CutAttr cut : source.getCuts()) {
      if (cut.getParts() > 1) {
        os << " split " << cut.getDim() << " of " << cut.getParts();
      }
      if (cut.getCopies() > 1) {
        os << " copies " << cut.getCopies();
      }
    }
    if (source.getFirstRank()) {
      os << " first rank";
    }
  });
  os << "]";
  if (weight.getStored()) {
    os << " stored " << *weight.getStored();
  }
  model::FormatAttr format = weight.getFormatAttr();
  os << blocksText(format);
  if (weight.getChannelScale()) {
    os << " channel_scale";
  }
  if ((format && format.hasGroups()) || isWidened(weight)) {
    os << " grouped " << model::kScaledGroup;
  }
  if (weight.getBlockScale()) {
    os << " block_scale";
    int64_t parts = format ? format.getParts() : 1;
    bool isOfExperts = weight.getType().getRank() == 3;
    int64_t rows = weight.getType().getDimSize(isOfExperts) / parts;
    if (parts > 1 && !format.hasGroups() && rows % kScaleRows != 0) {
      os << " apart " << rows;
    }
  }
  if (weight.getTensorScale()) {
    os << " tensor_scale";
  }
  if (weight.getLargest()) {
    os << " largest";
  }
  if (weight.getAbsent()) {
    os << " default " << exactNumber(weight.getAbsent()->convertToDouble());
  }
  if (isDoubled) {
    os << " doubled";
  }
  os << heldText(weight) << expertsText(weight);
  return text;
}

/// Whether it scales numbers of 8 bits that the machine keeps as their halves.
static bool isDoubledScale(Lowering &in, model::WeightOp op) {
  model::FormatAttr format = op.getFormatAttr();
  bool isScale = format && op.getType().getElementType().isF32() &&
                 (!format.getBlocks() || format.hasGroups());
  return isScale && isHalved(in.stored(format.getNumbers()));
}

/// Scales of blocks that a matrix unit reads lie in words, rows of each part
/// from a group on; other tensors lie as in the checkpoint.
static BufferType weightAs(Lowering &in, model::WeightOp op) {
  model::FormatAttr format = op.getFormatAttr();
  RankedTensorType type = op.getType();
  bool isScale = format && !format.hasGroups() &&
                 type.getElementType() == format.getBlocks();
  if (!isScale) {
    return in.storedAs(type, {});
  }
  bool isOfExperts = type.getRank() == 3;
  int64_t rows = type.getDimSize(isOfExperts), parts = format.getParts();
  rows = parts > 1 ? parts * llvm::alignTo(rows / parts, kScaleRows) : rows;
  if (isOfExperts) {
    rows = type.getDimSize(0) * llvm::alignTo(rows, kScaleRows);
  }
  return in.storedAs(type.clone({rows, type.getShape().back()}),
                     format.getNumbers());
}

LogicalResult kernels::lower(Lowering &in, model::WeightOp op) {
  for (model::SourceAttr source : op.getSources()) {
    for (model::CutAttr cut : source.getCuts()) {
      if (failed(expectTensorAxis(op, cut.getAxis()))) {
        return failure();
      }
    }
  }
  BufferType type = weightAs(in, op);
  NamedBuffer buffer = {StorageRole::Weight,
                        sourceOf(op, isDoubledScale(in, op)),
                        SmallVector<int64_t>(type.getShape()),
                        type.getElementType(),
                        {},
                        type.getPacked()};
  bool isOfLayers = !in.layers.empty();
  if (isOfLayers) {
    buffer.sizes.push_back(in.layers[model::layerPlaceOf(op).value_or(0)]);
  }
  in.storage[op.getResult()] = {
      isOfLayers ? in.plan.local(buffer) : in.plan.named(buffer), {}, {}};
  return success();
}

LogicalResult kernels::lower(Lowering &in, model::CacheOp op) {
  model::CacheType cache = op.getResult().getType();
  if (!cache.getPage()) {
    return op.emitError("expected a cache with pages, got none; try "
                        "model-bind");
  }
  NamedBuffer buffer = {StorageRole::Cache,
                        "k_cache",
                        {kDynamic, cache.getKvHeads(), cache.getHeadDim()},
                        in.stored(cache.getElementType()),
                        {in.plan.sizes.cacheRows, in.layers[op.getLayer()]}};
  Storage place = {in.plan.local(buffer), {}, {}};
  if (op.getKScale()) {
    place.keyScale = in.bufferOf(op.getKScale());
  }
  if (cache.getLatent() == 0) { // else values are columns of keys
    buffer.source = "v_cache";
    place.values = in.plan.local(buffer);
    place.valueScale = op.getVScale() ? in.bufferOf(op.getVScale()) : Value();
  }
  in.storage[op.getResult()] = place;
  return success();
}
