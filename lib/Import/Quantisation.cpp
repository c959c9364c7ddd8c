//===- Quantisation.cpp - What a checkpoint says of its own weights -------===//
//
// Checkpoints in NVFP4 as ModelOpt writes them: linears of layers have four
// bits, what is ignored has not. They say it in their config.json or, older
// ones, in hf_quant_config.json beside it. Checkpoints in 8 bits with a scale
// for each 128 x 128 weights, as DeepSeek and Qwen publish. Of other formats
// the loader reads no scales.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Reader.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace modelc;

static constexpr StringRef kKey = "quantization_config", kHead = "lm_head";
static constexpr StringRef kSidecar = "hf_quant_config.json";
static constexpr int64_t kBlock = 16;

/// The head stays as it is, and nothing else does.
static void checkIgnored(TableReader &reader, StringRef key) {
  Source &source = reader.getSource();
  const Node *list = reader.find(key);
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
    reader.error(key, "expected \"" + kHead + "\" among what is not quantised");
  }
}

/// A table in a table, or null.
static const Node *tableIn(const Node *table, StringRef key) {
  const Node *inner = table && table->isTable() ? table->find(key) : nullptr;
  return inner && inner->isTable() ? inner : nullptr;
}

static void checkBlock(TableReader &reader) {
  std::optional<int64_t> size = reader.positive("group_size");
  if (size && *size != kBlock) {
    reader.error("group_size", "expected a scale for each " + Twine(kBlock) +
                                   " numbers, got one for " + Twine(*size));
  }
}

/// Fills in the type of the weights, where nothing else is asked for.
static void setWeights(TableReader &reader, StringRef key, StringRef word) {
  std::string &weights = *reader.getSource().weights;
  if (!weights.empty() && weights != word) {
    return reader.error(
        key, "expected --weights=" + word +
                 ", which the checkpoint has, got --weights=" + weights);
  }
  weights = word;
}

static bool says(const Node &table, StringRef key, StringRef word) {
  const Node *found = table.isTable() ? table.find(key) : nullptr;
  return found && found->string == word;
}

static std::string otherFormat() {
  return "expected a checkpoint that is not quantised, or by ModelOpt to "
         "NVFP4, or to fp8 with a \"weight_block_size\" of [128, 128]; "
         "take the original one and quantise with --weights=fp8";
}

/// { "producer": ..., "quantization": { "quant_algo": "NVFP4", ... } }
static void readSidecar(Source &source) {
  SmallString<128> path(llvm::sys::path::parent_path(source.file.name()));
  llvm::sys::path::append(path, kSidecar);
  if (!source.weights || !llvm::sys::fs::exists(path)) {
    return;
  }
  FailureOr<SourceFile> file = SourceFile::read(path, source.notes);
  FailureOr<Node> root = failed(file) ? FailureOr<Node>(failure())
                                      : parseJson(*file, source.notes);
  if (failed(root)) {
    source.failed = true;
    return;
  }
  const Node *table = tableIn(&*root, "quantization");
  const Node *format = table ? table->find("quant_algo") : nullptr;
  if (!format || format->isNull()) {
    return; // of caches only
  }
  Source other{*file, source.context, source.notes, {}, source.weights};
  TableReader reader(other, *table, "\"quantization\"");
  if (format->string != "NVFP4") {
    reader.error("quant_algo", otherFormat());
  } else {
    checkIgnored(reader, "exclude_modules");
    checkBlock(reader);
    setWeights(reader, "quant_algo", "nvfp4");
  }
  source.failed |= other.failed;
}

/// Whether the table says 8 bits in blocks, whose activations get their scales
/// when they are made.
static bool isInBlocks(const Node &table) {
  const Node *size =
      table.isTable() ? table.find("weight_block_size") : nullptr;
  return says(table, "quant_method", "fp8") && size &&
         size->items.size() == 2 &&
         llvm::all_of(size->items, [](const Node &item) {
           return item.integer == model::kScaledGroup;
         });
}

/// { "quant_method": "fp8", "weight_block_size": [128, 128], ... }: linears of
/// layers have 8 bits, norms and the head have not, said or not.
static void readBlocks(TableReader &config, const Node &table) {
  Source &source = config.getSource();
  TableReader reader(source, table, ("\"" + kKey + "\"").str());
  if (reader.has("activation_scheme")) {
    reader.choice("activation_scheme", {"dynamic"});
  }
  if (reader.has("fmt")) {
    reader.choice("fmt", {"e4m3"});
  }
  const Node *kept = reader.find("modules_to_not_convert");
  if (kept && !kept->isArray() && !kept->isNull()) {
    source.error(kept->place, "expected an array of names that are not "
                              "quantised, got " +
                                  kept->kindName());
  }
  for (const Node &item :
       kept ? ArrayRef<Node>(kept->items) : ArrayRef<Node>()) {
    StringRef name = item.string;
    if (name != kHead && !name.ends_with("norm") &&
        !name.ends_with("embed_tokens")) {
      source.error(item.place, "expected only norms, embeddings and \"" +
                                   kHead + "\" not to be quantised, got \"" +
                                   name + "\"");
    }
  }
  setWeights(config, kKey, "fp8_block");
}

void modelc::readQuantisation(TableReader &config) {
  Source &source = config.getSource();
  const Node *table = config.find(kKey);
  if (!table) {
    return readSidecar(source);
  }
  bool isOfModelOpt = says(*table, "quant_method", "modelopt") &&
                      says(*table, "quant_algo", "NVFP4");
  if (!isOfModelOpt && !isInBlocks(*table)) {
    return config.error(kKey, otherFormat());
  }
  if (!source.weights) {
    return config.error(kKey, "expected a checkpoint that is not quantised; "
                              "take its config.json without this table");
  }
  if (!isOfModelOpt) {
    return readBlocks(config, *table);
  }
  TableReader reader(source, *table, ("\"" + kKey + "\"").str());
  checkIgnored(reader, "ignore");
  const Node *group = tableIn(reader.find("config_groups"), "group_0");
  for (StringRef of : {"weights", "input_activations"}) {
    if (const Node *numbers = tableIn(group, of)) {
      TableReader inner(source, *numbers, ("\"" + of + "\"").str());
      checkBlock(inner);
    }
  }
  setWeights(config, kKey, "nvfp4");
}
