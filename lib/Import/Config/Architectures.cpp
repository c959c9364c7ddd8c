//===- Architectures.cpp - The decoders that the importer knows -----------===//
//
// A row says what a config.json of that architecture leaves out: the defaults
// of its config class in transformers, and how it reads a window. Keys that all
// of them share are read in HuggingFace.cpp, Rotation.cpp and Windows.cpp; of
// all other keys OtherKeys.cpp knows whether they matter.
//
// Defaults are those of transformers 5.23, models/<model_type>/configuration_*;
// Yi's are those of vllm/transformers_utils/configs/yi.py, as its own class
// came with the checkpoint (Yi models of today are a LlamaForCausalLM). That an
// IQuestCoderForCausalLM is computed as a Llama says transformers, of a
// LLaMAForCausalLM and a YiForCausalLM vLLM's registry and yi.py.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Config/Architecture.h"

using namespace mlir;
using namespace modelc;

static constexpr DecoderDefaults kMistral = {
    .why = "default of transformers for a Mistral",
    .maxContext = 131072,
    .kvHeads = 8,
    .window = 4096};
static constexpr DecoderDefaults kQwen2 = {
    .why = "default of transformers for a Qwen 2",
    .maxContext = 32768,
    .kvHeads = 32,
    .window = 4096,
    .fullLayers = 28};
static constexpr DecoderDefaults kSeedOss = {
    .why = "default of transformers for a Seed-OSS",
    .maxContext = 524288,
    .kvHeads = 8,
    .headDim = 128,
    .attentionBias = true};
static constexpr DecoderDefaults kIQuestCoder = {
    .why = "default of transformers for an IQuest-Coder",
    .normEps = 1e-5,
    .maxContext = 131072,
    .kvHeads = 8,
    .headDim = 128};
static constexpr DecoderDefaults kYi = {.why = "default of its class for a Yi",
                                        .normEps = 1e-5,
                                        .ropeTheta = 5e6,
                                        .maxContext = 4096,
                                        .kvHeads = 4};

static constexpr Architecture kArchitectures[] = {
    {.name = "LlamaForCausalLM", .modelType = "llama"},
    {.name = "LLaMAForCausalLM", .modelType = "llama"},
    {.name = "MistralForCausalLM",
     .modelType = "mistral",
     .defaults = kMistral,
     .windows = Windows::AllLayers,
     .biases = Biases::None},
    {.name = "MinistralForCausalLM",
     .modelType = "ministral",
     .defaults = kMistral,
     .windows = Windows::AllLayers,
     .biases = Biases::None},
    {.name = "Qwen2ForCausalLM",
     .modelType = "qwen2",
     .defaults = kQwen2,
     .windows = Windows::LastLayers,
     .biases = Biases::Qkv},
    {.name = "SeedOssForCausalLM",
     .modelType = "seed_oss",
     .defaults = kSeedOss,
     .biases = Biases::Apart},
    {.name = "IQuestCoderForCausalLM",
     .modelType = "iquestcoder",
     .defaults = kIQuestCoder,
     .hasOwnClass = true},
    {.name = "YiForCausalLM",
     .modelType = "Yi",
     .defaults = kYi,
     .biases = Biases::None,
     .attentionNorm = "ln1",
     .mlpNorm = "ln2",
     .hasOwnClass = true},
};

static std::string supported() {
  SmallVector<StringRef> names;
  for (const Architecture &row : kArchitectures) {
    names.push_back(row.name);
  }
  return "; supported: " + listWords(names);
}

static const Architecture *findRow(StringRef Architecture::*column,
                                   StringRef value) {
  const Architecture *row =
      llvm::find_if(kArchitectures, [&](const Architecture &row) {
        return row.*column == value;
      });
  return row == std::end(kArchitectures) ? nullptr : row;
}

/// The one name in "architectures", or null if there is none.
static const Node *findName(TableReader &config) {
  const Node *list = config.array("architectures");
  if (!list || list->items.empty()) {
    return nullptr;
  }
  Source &source = config.getSource();
  if (list->items.size() > 1) {
    source.error(list->items[1].place,
                 "expected one architecture, got " + Twine(list->items.size()));
  }
  const Node &first = list->items.front();
  if (!first.isString()) {
    source.error(first.place, "expected the name of an architecture, got " +
                                  first.kindName());
  }
  return &first;
}

const Architecture *modelc::findArchitecture(TableReader &config) {
  Source &source = config.getSource();
  std::optional<std::string> type = config.string("model_type");
  const Node *name = findName(config);
  if (source.failed) {
    return nullptr;
  }
  if (!name) {
    const Architecture *row =
        type ? findRow(&Architecture::modelType, *type) : nullptr;
    if (!row) {
      config.error("model_type",
                   "expected \"architectures\" or \"model_type\" to name an "
                   "architecture" +
                       supported());
    }
    return row;
  }
  const Architecture *row = findRow(&Architecture::name, name->string);
  if (!row) {
    source.error(name->place,
                 "unsupported architecture \"" + name->string + "\"" +
                     supported() +
                     "; or spell it out in TOML with [[block]] tables");
  } else if (type && *type != row->modelType) {
    config.error("model_type", "expected \"" + row->modelType + "\" for a " +
                                   row->name + ", got \"" + *type + "\"");
    return nullptr;
  }
  return row;
}
