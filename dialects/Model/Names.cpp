//===- Names.cpp - What a user calls a weight or an op --------------------===//

#include "dialects/Model/Model.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace modelc::model;

std::optional<int64_t> modelc::model::layerPlaceOf(StringRef name) {
  int64_t place = 0;
  StringRef rest = name.substr(name.find("{layer"));
  if (!rest.consume_front("{layer") ||
      (rest.consume_front("+") && rest.consumeInteger(10, place)) ||
      !rest.starts_with("}")) {
    return std::nullopt;
  }
  return place;
}

std::optional<int64_t> modelc::model::layerPlaceOf(WeightOp weight) {
  for (SourceAttr source : weight.getSources()) {
    if (std::optional<int64_t> place =
            layerPlaceOf(source.getName().getValue())) {
      return place;
    }
  }
  return std::nullopt;
}

/// The words of a tensor's name that say what it is: without the number of the
/// layer and all before it, without "weight", without "_proj".
static SmallVector<StringRef> significantWords(StringRef source) {
  SmallVector<StringRef> all, words;
  source.split(all, '.');
  auto layer = llvm::find_if(
      all, [](StringRef word) { return word.starts_with("{layer"); });
  for (StringRef word :
       layer == all.end() ? ArrayRef<StringRef>(all)
                          : ArrayRef<StringRef>(std::next(layer), all.end())) {
    word.consume_back("_proj");
    if (!word.empty() && word != "weight" && word != "model" &&
        word != kExpertPlaceholder) {
      words.push_back(word);
    }
  }
  return words;
}

std::string modelc::model::getShortName(WeightOp weight) {
  SmallVector<StringRef> words;
  for (SourceAttr source : weight.getSources()) {
    for (StringRef word : significantWords(source.getName().getValue())) {
      if (!llvm::is_contained(words, word)) {
        words.push_back(word);
      }
    }
  }
  bool singleLetters =
      words.size() > 2 &&
      llvm::all_of(ArrayRef(words).drop_front(),
                   [](StringRef word) { return word.size() == 1; });
  if (!singleLetters) {
    return llvm::join(words, "_");
  }
  return (words.front() + "_" + llvm::join(ArrayRef(words).drop_front(), ""))
      .str();
}

/// The weight that names an op, or none.
static WeightOp namingWeight(Operation *op) {
  Value weight;
  if (auto embed = dyn_cast<EmbedOp>(op)) {
    weight = embed.getTable();
  } else if (auto norm = dyn_cast<NormOp>(op)) {
    weight = norm.getWeight();
  } else if (auto linear = dyn_cast<LinearOp>(op)) {
    weight = linear.getWeight();
  } else if (auto experts = dyn_cast<ExpertsOp>(op)) {
    weight = experts.getGateUp();
  }
  return weight ? weight.getDefiningOp<WeightOp>() : WeightOp();
}

/// The op that makes a value; of what layers hand on, the one in a layer.
static Operation *producerOf(Value value) {
  LayersOp layers = value.getDefiningOp<LayersOp>();
  unsigned number = 0;
  if (layers) {
    number = cast<OpResult>(value).getResultNumber();
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    layers = dyn_cast<LayersOp>(argument.getOwner()->getParentOp());
    number = argument.getArgNumber();
  }
  return getMaker(layers ? layers.getYield()->getOperand(number) : value);
}

std::string modelc::model::getShortName(Operation *op) {
  StringRef mnemonic = op->getName().stripDialect();
  if (WeightOp weight = namingWeight(op)) {
    return getShortName(weight);
  }
  bool followsProducer = isa<AllReduceOp, AllGatherOp, QuantiseOp>(op);
  Operation *producer =
      followsProducer ? producerOf(op->getOperand(0)) : nullptr;
  return producer ? getShortName(producer) + "_" + mnemonic.str()
                  : mnemonic.str();
}
