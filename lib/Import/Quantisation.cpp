//===- Quantisation.cpp - What a checkpoint says of its own weights -------===//
//
// Checkpoints in NVFP4 as ModelOpt writes them: linears of layers have
// four bits, what "ignore" lists has not. Of other formats the loader reads no
// scales.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Reader.h"

using namespace mlir;
using namespace modelc;

static constexpr StringRef kKey = "quantization_config", kHead = "lm_head";
static constexpr int64_t kBlock = 16;

/// The head stays as it is, and nothing else does.
static void checkIgnored(TableReader &reader) {
  Source &source = reader.getSource();
  const Node *list = reader.find("ignore");
  bool hasHead = false;
  for (const Node &item :
       list ? ArrayRef<Node>(list->items) : ArrayRef<Node>()) {
    if (item.string != kHead) {
      return source.error(item.place, "expected only \"" + kHead +
                                          "\" not to be quantised, got \"" +
                                          item.string + "\"");
    }
    hasHead = true;
  }
  if (!hasHead) {
    reader.error("ignore",
                 "expected \"" + kHead + "\" among what is not quantised");
  }
}

/// A table in a table, or null.
static const Node *tableIn(const Node *table, StringRef key) {
  const Node *inner = table && table->isTable() ? table->find(key) : nullptr;
  return inner && inner->isTable() ? inner : nullptr;
}

static void checkGroups(TableReader &reader) {
  Source &source = reader.getSource();
  const Node *group = tableIn(reader.find("config_groups"), "group_0");
  for (StringRef of : {"weights", "input_activations"}) {
    const Node *table = tableIn(group, of);
    if (!table) {
      continue;
    }
    TableReader inner(source, *table, ("\"" + of + "\"").str());
    std::optional<int64_t> size = inner.positive("group_size");
    if (size && *size != kBlock) {
      inner.error("group_size", "expected a scale for each " + Twine(kBlock) +
                                    " numbers, got one for " + Twine(*size));
    }
  }
}

void modelc::readQuantisation(TableReader &config) {
  const Node *table = config.find(kKey);
  if (!table) {
    return;
  }
  Source &source = config.getSource();
  TableReader reader(source, *table, ("\"" + kKey + "\"").str());
  auto says = [&](StringRef key, StringRef word) {
    const Node *found = table->isTable() ? table->find(key) : nullptr;
    return found && found->string == word;
  };
  if (!says("quant_method", "modelopt") || !says("quant_algo", "NVFP4")) {
    return config.error(kKey, "expected a checkpoint that is not quantised, or "
                              "by ModelOpt to NVFP4; take the original one and "
                              "quantise with --weights=fp8");
  }
  if (!source.weights) {
    return config.error(kKey, "expected a checkpoint that is not quantised; "
                              "take its config.json without this table");
  }
  checkIgnored(reader);
  checkGroups(reader);
  if (!source.weights->empty() && *source.weights != "nvfp4") {
    return config.error(kKey, "expected --weights=nvfp4, which the checkpoint "
                              "has, got --weights=" +
                                  *source.weights);
  }
  *source.weights = "nvfp4";
}
