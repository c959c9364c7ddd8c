//===- Wrapper.cpp - The text model inside of a larger one ----------------===//
//
// Models that also read images or sound state their decoder in "text_config",
// and some of what is said of it beside that. The decoder is what is read; a
// note says so.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Config/Architecture.h"

using namespace mlir;
using namespace modelc;

namespace {
struct Wrapper {
  StringRef name;     ///< in "architectures"
  StringRef textType; ///< "model_type" of a decoder that does not say it
};
} // namespace

static constexpr Wrapper kWrappers[] = {
    {"Llama4ForConditionalGeneration", "llama4_text"},
    {"Gemma3ForConditionalGeneration", "gemma3_text"},
    {"Mistral3ForConditionalGeneration", "mistral"},
    {"KimiK25ForConditionalGeneration", "kimi_k2"},
};

/// What the larger model says of its decoder where that is silent.
static constexpr StringRef kShared[] = {"tie_word_embeddings", "dtype",
                                        "torch_dtype", "quantization_config"};

/// What the larger model has that no layer of the decoder reads.
static constexpr StringRef kOther[] = {
    "architectures",        "model_type",
    "text_config",          "vision_config",
    "audio_config",         "auto_map",
    "transformers_version", "initializer_range",
    "ignore_index",         "mm_tokens_per_image",
    "spatial_merge_size",   "vision_feature_layer",
    "projector_hidden_act", "multimodal_projector_bias",
    "video_placeholder",    "use_unified_vision_chunk"};
static constexpr StringRef kTokenEndings[] = {"_token_id", "_token_index"};

static const Wrapper *findWrapper(const Node &config) {
  const Node *names = config.find("architectures");
  if (!names || names->items.size() != 1 || !config.find("text_config")) {
    return nullptr;
  }
  const Wrapper *found = llvm::find_if(kWrappers, [&](const Wrapper &row) {
    return row.name == names->items.front().string;
  });
  return found == std::end(kWrappers) ? nullptr : found;
}

static void checkRest(Source &source, const Node &config) {
  TableReader reader(source, config, "config.json");
  for (StringRef key : kOther) {
    reader.know(key);
  }
  for (StringRef key : kShared) {
    reader.know(key);
  }
  for (const Member &member : config.members) {
    if (llvm::any_of(kTokenEndings, [&](StringRef ending) {
          return StringRef(member.key).ends_with(ending);
        })) {
      reader.know(member.key);
    }
  }
  reader.rejectOthers("; delete it if nothing that is computed depends on it");
}

/// The type of a decoder that does not state its own.
static Member typeMember(StringRef type, Place place) {
  Member member;
  member.key = "model_type";
  member.place = member.value.place = place;
  member.value.kind = Node::Kind::String;
  member.value.string = type.str();
  return member;
}

TextModel modelc::findTextModel(Source &source, const Node &config) {
  const Wrapper *wrapper = findWrapper(config);
  const Member *text = wrapper ? config.member("text_config") : nullptr;
  if (!text || !text->value.isTable()) {
    return {config, false};
  }
  source.file.note(source.notes, text->place,
                   "the decoder of a " + wrapper->name +
                       "; what reads images is left out");
  checkRest(source, config);
  TextModel model = {text->value, true};
  for (StringRef key : kShared) {
    const Member *outside = config.member(key);
    if (outside && !model.config.find(key)) {
      model.config.members.push_back(*outside);
    }
  }
  if (!model.config.find("model_type")) {
    model.config.members.push_back(
        typeMember(wrapper->textType, text->value.place));
  }
  return model;
}
