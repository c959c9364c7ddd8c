//===- Names.cpp - What is usual of a kernel, in its name -----------------===//

#include "lib/Kernels/Names.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

/// An element type as part of a name: bf16, f8e4m3fn.
static std::string word(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return StringRef(text).lower();
}

static std::string extent(int64_t value) { return std::to_string(value); }

/// Which of the formats with scales of blocks, where a target knows several.
static std::string nameOfScales(const BlockScales &scales, Type number,
                                bool isTensorScaled) {
  bool isSaid =
      scales && (!scales.order.empty() || number.getIntOrFloatBitWidth() == 8);
  return (isSaid ? "_" + word(scales.type) : "") +
         (isTensorScaled ? "_tensor_scaled" : "");
}

std::string
kernels::nameOfQuantised(const std::optional<QuantiseShape> &quantise) {
  return quantise ? "_to_" + word(quantise->result) +
                        nameOfScales(quantise->scales, quantise->result,
                                     quantise->isTensorScaled)
                  : "";
}

std::string kernels::nameOf(const LinearShape &shape) {
  std::string name = "linear_" + extent(shape.weightRows()) + "x" +
                     extent(shape.inputs) + "_" + word(shape.element);
  if (shape.weightElement() != shape.element) {
    name += "_" + word(shape.weightElement());
  }
  if (shape.result != shape.element) {
    name += "_" + word(shape.result);
  }
  name += nameOfScales(shape.blockScales, shape.weightElement(),
                       /*isTensorScaled=*/false);
  std::pair<bool, StringRef> parts[] = {
      {shape.isScaled, "_scaled"},
      {shape.isTensorScaled, "_tensor_scaled"},
      {!!shape.biasType, "_bias"},
      {shape.isSwiglu, shape.gating == Gating::Silu ? "_swiglu" : "_gated"},
      {shape.hasResidual, "_residual"}};
  for (auto [isThere, part] : parts) {
    name += isThere ? part.str() : "";
  }
  if (shape.isOfExperts()) {
    name +=
        "_experts" + extent(shape.experts) + "_in" + extent(shape.expertRows);
  }
  return name + nameOfQuantised(shape.quantise);
}

std::string kernels::nameOf(const LinearTile &tile) {
  std::string name =
      "_" + extent(tile.m) + "x" + extent(tile.n) + "x" + extent(tile.k);
  auto add = [&](StringRef what, int64_t count, int64_t usual) {
    name += count == usual ? "" : ("_" + what + extent(count)).str();
  };
  add("waves", tile.waves, 4);
  add("parts", tile.splits, 1);
  if (tile.hasPieces()) {
    name += "_in" + extent(tile.piecesM) + "x" + extent(tile.piecesN);
    add("groups", tile.groups, 2);
  }
  name += tile.isSwapped ? "_swapped" : "";
  name += tile.hasRoles ? "_roles" : "";
  add("cluster", tile.cluster, 1);
  add("sharers", tile.sharers, 1);
  add("ahead", tile.weightsAhead, 0);
  add("slots", tile.slots, 0);
  add("early", tile.early, 0);
  return name;
}

std::string kernels::nameOf(const ExchangeShape &shape) {
  return ("all_" + wordOf(shape.kind) + "_" + extent(shape.columns) + "_" +
          word(shape.element) + "_r" + extent(shape.ranks))
      .str();
}

std::string kernels::nameOf(const NormShape &shape) {
  std::string name =
      "norm_" + extent(shape.columns) + "_" + word(shape.element) + "_" +
      word(shape.result) +
      nameOfScales(shape.scales, shape.result, shape.isTensorScaled);
  name += shape.heads > 1 ? "_heads" + extent(shape.heads) : "";
  name += shape.normed ? "_first" + extent(shape.normed) : "";
  name += shape.isOnePlus ? "_one_plus" : shape.weightType ? "" : "_weightless";
  name += shape.hasResidual ? "_residual" : "";
  name += shape.hasSum ? "_sum" : "";
  return shape.isExchanged() ? name + "_of_" + nameOf(shape.exchange) : name;
}

std::string kernels::nameOf(const QuantiseShape &shape) {
  StringRef kind = !shape.isSwiglu                ? "quantise_"
                   : shape.gating == Gating::Silu ? "swiglu_quantise_"
                                                  : "geglu_quantise_";
  return (kind + extent(shape.columns) + "_" + word(shape.result)).str() +
         nameOfScales(shape.scales, shape.result, shape.isTensorScaled);
}

std::string kernels::nameOf(const ElementwiseShape &shape) {
  StringRef kind = shape.gating == Gating::Silu ? wordOf(shape.kind) : "geglu";
  return kind.str() + "_" + extent(shape.columns) + "_" + word(shape.element) +
         (shape.result ? "_" + word(shape.result) : "");
}

std::string kernels::nameOf(const GatherShape &shape) {
  StringRef kind = shape.isLast       ? "last_"
                   : shape.times == 1 ? "embed_"
                                      : "embed_times_";
  return (kind + extent(shape.columns) + "_" + word(shape.element)).str();
}

std::string kernels::nameOf(const SampleShape &shape) {
  std::string name =
      "sample_" + extent(shape.vocabulary) +
      (shape.padding > 0 ? "_padded_" + extent(shape.padding) : "");
  if (shape.isGreedy) {
    return name + "_greedy";
  }
  // Hundredths, so that the name stays a symbol.
  return name + "_k" + extent(shape.topK) + "_p" +
         extent(static_cast<int64_t>(shape.topP * 100)) + "_t" +
         extent(static_cast<int64_t>(shape.temperature * 100));
}

std::string kernels::nameOf(const RouteShape &shape) {
  std::string name = "route_" + extent(shape.topK) + "_of_" +
                     extent(shape.experts) + "_" + word(shape.element) + "_" +
                     wordOf(shape.scoring).str();
  name += shape.correction ? "_corrected" : "";
  return name + (shape.groups > 1 ? "_groups" + extent(shape.groups) : "");
}

static std::string nameOf(const SlotShape &shape) {
  return extent(shape.topK) + "_of_" + extent(shape.experts) + "_rows" +
         extent(shape.tileRows);
}

std::string kernels::nameOf(StringRef kind, const PlaceShape &shape) {
  return (kind + (shape.isWhole ? "_whole_" : "_")).str() +
         ::nameOf(shape.slots) +
         (shape.firstExpert > 0 ? "_from" + extent(shape.firstExpert) : "");
}

std::string kernels::nameOf(StringRef kind, const SlotRowsShape &shape) {
  return (kind + (shape.isWeighed ? "_weighed_" : "_")).str() +
         extent(shape.columns) + "_" + word(shape.element) + "_" +
         ::nameOf(shape.slots);
}

std::string kernels::nameOf(const HeadLinearShape &shape) {
  return "head_linear_h" + extent(shape.heads) + "_" + extent(shape.columns) +
         "x" + extent(shape.inputs) + "_" + word(shape.element);
}

std::string kernels::nameOf(const HeadLinearTile &tile) {
  return "_" + extent(tile.m) + "x" + extent(tile.n) + "x" + extent(tile.k) +
         (tile.waves == 4 ? "" : "_waves" + extent(tile.waves));
}

std::string kernels::nameOf(StringRef kind, const HeadShape &shape) {
  return (kind + "_h" + extent(shape.heads) + "_kv" + extent(shape.kvHeads) +
          "_d" + extent(shape.headDim) +
          (shape.isLatent() ? "_latent" + extent(shape.valueDim) : "") + "_" +
          word(shape.cacheElement) +
          (shape.window > 0 ? "_w" + extent(shape.window) : "") +
          (shape.chunk > 0 ? "_c" + extent(shape.chunk) : "") +
          (shape.sink ? "_sinks" : "") +
          (shape.queries ? "_queries_" + word(shape.queries) : "") +
          (shape.normWeight ? "_normed" : ""))
      .str();
}

std::string kernels::nameOf(const SumParts &sums) {
  if (!sums) {
    return "";
  }
  std::string name = "_of_parts" + extent(sums.count);
  name += sums.isTensorScaled  ? "_tensor_scaled"
          : sums.hasInputScale ? "_scaled"
                               : "";
  name += sums.hasInputScale && !sums.hasWeightScale ? "_input" : "";
  return name + (sums.biasType ? "_bias_" + word(sums.biasType) : "");
}
