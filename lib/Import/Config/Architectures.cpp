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

static constexpr DecoderDefaults kMixtral = {
    .why = "default of transformers for a Mixtral",
    .normEps = 1e-5,
    .ropeTheta = 1e6,
    .maxContext = 131072,
    .kvHeads = 8};
static constexpr DecoderDefaults kQwen2Moe = {
    .why = "default of transformers for a Qwen 2 with experts",
    .maxContext = 32768,
    .kvHeads = 16,
    .window = 4096,
    .fullLayers = 28};
static constexpr DecoderDefaults kQwen3 = {
    .why = "default of transformers for a Qwen 3",
    .maxContext = 32768,
    .kvHeads = 32,
    .headDim = 128,
    .window = 4096,
    .fullLayers = 28};
static constexpr DecoderDefaults kQwen3Moe = {
    .why = "default of transformers for a Qwen 3 with experts",
    .maxContext = 32768,
    .kvHeads = 4,
    .window = 4096};
static constexpr DecoderDefaults kGptOss = {
    .why = "default of transformers for a gpt-oss",
    .normEps = 1e-5,
    .ropeTheta = 150000,
    .maxContext = 131072,
    .kvHeads = 8,
    .headDim = 64,
    .window = 128,
    .attentionBias = true};
static constexpr DecoderDefaults kDeepSeek2 = {
    .why = "default of transformers for a DeepSeek V2", .isLatent = true};
static constexpr DecoderDefaults kDeepSeek3 = {
    .why = "default of transformers for a DeepSeek V3",
    .maxContext = 4096,
    .isLatent = true};
static constexpr DecoderDefaults kKimi2 = {
    .why = "default of its class for a Kimi K2",
    .maxContext = 4096,
    .isLatent = true};
static constexpr DecoderDefaults kGlm4Moe = {
    .why = "default of transformers for a GLM 4.5",
    .normEps = 1e-5,
    .maxContext = 131072,
    .kvHeads = 8};
static constexpr DecoderDefaults kMiniMax = {
    .why = "default of transformers for a MiniMax M2",
    .ropeTheta = 5e6,
    .maxContext = 196608,
    .kvHeads = 8,
    .headDim = 128};
static constexpr DecoderDefaults kLlama4 = {
    .why = "default of transformers for a Llama 4",
    .normEps = 1e-5,
    .ropeTheta = 500000,
    .maxContext = 131072,
    .kvHeads = 8,
    .headDim = 128};
static constexpr DecoderDefaults kGemma3 = {
    .why = "default of transformers for a Gemma 3",
    .ropeTheta = 1e6,
    .maxContext = 131072,
    .kvHeads = 4,
    .headDim = 256,
    .window = 4096,
    .vocab = 262208,
    .tiedEmbeddings = true};

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
    {.name = "MixtralForCausalLM",
     .modelType = "mixtral",
     .defaults = kMixtral,
     .windows = Windows::AllLayers,
     .biases = Biases::None,
     .experts = {.count = 8, .topK = 2},
     .readFamily = readMixtral},
    {.name = "Qwen2MoeForCausalLM",
     .modelType = "qwen2_moe",
     .defaults = kQwen2Moe,
     .windows = Windows::LastLayers,
     .biases = Biases::Qkv,
     .experts = {.count = 60, .topK = 4, .width = 1408, .shared = 5632},
     .readFamily = readQwenExperts},
    {.name = "Qwen3ForCausalLM",
     .modelType = "qwen3",
     .defaults = kQwen3,
     .windows = Windows::LastLayers,
     .biases = Biases::Attention,
     .qkNorm = QkNorm::PerHead},
    {.name = "Qwen3MoeForCausalLM",
     .modelType = "qwen3_moe",
     .defaults = kQwen3Moe,
     .windows = Windows::LastLayers,
     .biases = Biases::Attention,
     .qkNorm = QkNorm::PerHead,
     .experts = {.count = 128, .topK = 8, .width = 768},
     .readFamily = readQwenExperts},
    {.name = "GptOssForCausalLM",
     .modelType = "gpt_oss",
     .defaults = kGptOss,
     .windows = Windows::InTurn,
     .biases = Biases::Attention,
     .windowPeriod = 2,
     .experts = {.count = 128, .topK = 4},
     .readFamily = readGptOss},
    {.name = "DeepseekV2ForCausalLM",
     .modelType = "deepseek_v2",
     .defaults = kDeepSeek2,
     .biases = Biases::Attention,
     .hasOwnClass = true,
     .ropeInterleaved = true,
     .experts = {.count = 64, .topK = 6, .width = 1407, .shared = 2},
     .readFamily = readDeepSeek2},
    {.name = "DeepseekV3ForCausalLM",
     .modelType = "deepseek_v3",
     .defaults = kDeepSeek3,
     .biases = Biases::Attention,
     .hasOwnClass = true,
     .ropeInterleaved = true,
     .experts = {.count = 256,
                 .topK = 8,
                 .width = 2048,
                 .shared = 1,
                 .dense = 3,
                 .groups = 8,
                 .keptGroups = 4,
                 .scale = 2.5,
                 .renormalises = true},
     .readFamily = readDeepSeek3},
    {.name = "DeepseekV3ForCausalLM",
     .modelType = "kimi_k2",
     .defaults = kKimi2,
     .biases = Biases::Attention,
     .hasOwnClass = true,
     .ropeInterleaved = true,
     .experts = {.count = 384,
                 .topK = 8,
                 .width = 2048,
                 .shared = 1,
                 .dense = 1,
                 .scale = 2.827,
                 .renormalises = true},
     .readFamily = readDeepSeek3},
    {.name = "Glm4MoeForCausalLM",
     .modelType = "glm4_moe",
     .defaults = kGlm4Moe,
     .biases = Biases::QkvAsStated,
     .ropeFraction = 0.5,
     .qkNorm = QkNorm::PerHead,
     .experts = {.count = 128,
                 .topK = 8,
                 .width = 1408,
                 .shared = 1,
                 .dense = 1,
                 .renormalises = true},
     .readFamily = readGlm},
    {.name = "MiniMaxM2ForCausalLM",
     .modelType = "minimax_m2",
     .defaults = kMiniMax,
     .biases = Biases::None,
     .hasOwnClass = true,
     .qkNorm = QkNorm::WholeRow,
     .experts = {.count = 256, .topK = 8},
     .readFamily = readMiniMax},
    {.name = "Llama4ForCausalLM",
     .modelType = "llama4_text",
     .defaults = kLlama4,
     .biases = Biases::Attention,
     .hasChunks = true,
     .ropeInterleaved = true,
     .hasEqualBands = true,
     .qkNorm = QkNorm::Unweighted,
     .experts = {.count = 16, .topK = 1},
     .readFamily = readLlama4},
    {.name = "Gemma3ForCausalLM",
     .modelType = "gemma3_text",
     .defaults = kGemma3,
     .windows = Windows::InTurn,
     .biases = Biases::Attention,
     .windowPeriod = 6,
     .hasLocalRope = true,
     .qkNorm = QkNorm::PerHead,
     .gating = model::Gating::GeluTanh,
     .readFamily = readGemma3},
};

static std::string supported() {
  SmallVector<StringRef> names;
  for (const Architecture &row : kArchitectures) {
    if (!llvm::is_contained(names, row.name)) {
      names.push_back(row.name);
    }
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

/// The row of that name, and of that type if there is one: two classes may
/// share a name.
static const Architecture *findBoth(StringRef name,
                                    const std::optional<std::string> &type) {
  for (const Architecture &row : kArchitectures) {
    if (row.name == name && type && row.modelType == *type) {
      return &row;
    }
  }
  return findRow(&Architecture::name, name);
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
  const Architecture *row = findBoth(name->string, type);
  if (!row && refuseLater(config)) {
    return nullptr;
  }
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
