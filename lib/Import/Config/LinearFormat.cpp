//===- LinearFormat.cpp - What a checkpoint says of its linears -----------===//
//
// Three formats that the loader reads:
//
//   nvfp4      ModelOpt: "quant_algo": "NVFP4", four bits in groups of 16
//   fp8_block  DeepSeek, Qwen: "quant_method": "fp8" with "weight_block_size"
//   fp8        compressed-tensors: "format": "float-quantized", eight bits with
//              a scale for each output or each tensor, inputs of each token
//
// In all of them the linears of layers are quantised and nothing else is. Every
// key is one that is asked for here, or a mistake.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Config/Quantisation.h"

using namespace mlir;
using namespace modelc;

static constexpr StringRef kHead = "lm_head", kMethod = "quant_method",
                           kAlgorithm = "quant_algo", kGroups = "config_groups",
                           kBlocks = "weight_block_size";

//===----------------------------------------------------------------------===//
// Names of what is not quantised
//===----------------------------------------------------------------------===//

/// Calls `visit` with each name in a list.
static void forEachName(TableReader &table, StringRef key,
                        llvm::function_ref<void(const Node &)> visit) {
  const Node *list = table.array(key);
  for (const Node &item :
       list ? ArrayRef<Node>(list->items) : ArrayRef<Node>()) {
    if (item.isString()) {
      visit(item);
    } else {
      table.getSource().error(item.place,
                              "expected a name, got " + item.kindName());
    }
    if (table.getSource().failed) {
      return;
    }
  }
}

/// The head stays as it is, and nothing else does.
static void checkIgnored(TableReader &table, StringRef key) {
  static constexpr StringRef kHeads[] = {kHead, "re:.*lm_head",
                                         "re:.*lm_head.*"};
  bool hasHead = false;
  forEachName(table, key, [&](const Node &name) {
    if (!llvm::is_contained(kHeads, name.string)) {
      table.getSource().error(name.place, "expected only \"" + kHead +
                                              "\" not to be quantised, got \"" +
                                              name.string + "\"");
    }
    hasHead = true;
  });
  if (!hasHead && !table.getSource().failed) {
    table.error(key, "expected \"" + kHead + "\" among what is not quantised");
  }
}

/// Norms and embeddings stay as they are too, said or not.
static void checkKept(TableReader &table, StringRef key) {
  forEachName(table, key, [&](const Node &name) {
    StringRef word = name.string;
    if (word != kHead && !word.ends_with("norm") &&
        !word.ends_with("embed_tokens")) {
      table.getSource().error(
          name.place, "expected only norms, embeddings and \"" + kHead +
                          "\" not to be quantised, got \"" + word + "\"");
    }
  });
}

//===----------------------------------------------------------------------===//
// Groups of linears
//===----------------------------------------------------------------------===//

namespace {
/// What the numbers of weights or of inputs must be.
struct Numbers {
  StringRef key;
  int64_t bits;
  int64_t group; ///< that share a scale; 0: none is said
  bool isDynamic;
  ArrayRef<StringRef> strategies;
};
} // namespace

static void checkGroupSize(TableReader &table, int64_t wanted) {
  std::optional<int64_t> size = table.positive("group_size");
  if (size && *size != wanted) {
    table.error("group_size",
                wanted ? "expected a scale for each " + Twine(wanted) +
                             " numbers, got one for " + Twine(*size)
                       : "expected no groups of numbers, got some of " +
                             Twine(*size));
  }
}

static void checkNumbers(TableReader &table, const Numbers &wanted) {
  if (table.requirePositive("num_bits") != wanted.bits &&
      table.has("num_bits")) {
    table.error("num_bits", "expected " + wanted.key + " of " +
                                Twine(wanted.bits) + " bits");
  }
  table.requireChoice("type", {"float"});
  checkGroupSize(table, wanted.group);
  const bool isDynamic = table.boolean("dynamic").value_or(false);
  if (isDynamic != wanted.isDynamic) {
    table.error("dynamic", "expected \"dynamic\" to be " +
                               Twine(wanted.isDynamic ? "true" : "false") +
                               " for \"" + wanted.key + "\"");
  }
  table.choice("strategy", wanted.strategies);
  checkNumberKeys(table);
  table.rejectOthers();
}

static void checkGroup(TableReader &group, ArrayRef<Numbers> wanted,
                       ArrayRef<StringRef> formats) {
  Source &source = group.getSource();
  forEachName(group, "targets", [&](const Node &name) {
    if (name.string != "Linear") {
      source.error(name.place, "expected \"Linear\", all linears of layers, "
                               "got \"" +
                                   name.string + "\"");
    }
  });
  for (const Numbers &numbers : wanted) {
    if (const Node *table = group.table(numbers.key)) {
      TableReader reader(source, *table, ("\"" + numbers.key + "\"").str());
      checkNumbers(reader, numbers);
    } else if (!group.has(numbers.key)) {
      group.error(numbers.key, "expected a table \"" + numbers.key + "\" in " +
                                   group.name());
    }
  }
  if (group.has("output_activations")) {
    group.error("output_activations",
                "expected outputs of linears that are not quantised");
  }
  if (!formats.empty()) {
    group.choice("format", formats);
  }
  group.rejectOthers();
}

static void checkGroups(TableReader &table, ArrayRef<Numbers> wanted,
                        ArrayRef<StringRef> formats) {
  const Node *groups = table.table(kGroups);
  if (!groups) {
    return;
  }
  if (groups->members.size() != 1 || !groups->members.front().value.isTable()) {
    return table.error(kGroups, "expected one table, of all linears, in \"" +
                                    kGroups + "\"");
  }
  const Member &only = groups->members.front();
  TableReader group(table.getSource(), only.value, "\"" + only.key + "\"");
  checkGroup(group, wanted, formats);
}

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

static constexpr int64_t kFineBlock = 16;

static StringRef readFourBits(TableReader &table) {
  static constexpr StringRef kOfGroups[] = {"tensor_group", "group"};
  const Numbers numbers[] = {
      {"weights", 4, kFineBlock, /*isDynamic=*/false, kOfGroups},
      {"input_activations", 4, kFineBlock, /*isDynamic=*/false, kOfGroups}};
  // Of the table in config.json, and of hf_quant_config.json.
  checkIgnored(table,
               table.has("exclude_modules") ? "exclude_modules" : "ignore");
  checkGroupSize(table, kFineBlock);
  checkGroups(table, numbers, {});
  return "nvfp4";
}

/// Two names of one format of compressed-tensors.
static constexpr StringRef kRowFormats[] = {"float-quantized",
                                            "naive-quantized"};

static StringRef readRows(TableReader &table) {
  static constexpr StringRef kOfWeights[] = {"channel", "tensor"},
                             kOfInputs[] = {"token"};
  const Numbers numbers[] = {
      {"weights", 8, 0, /*isDynamic=*/false, kOfWeights},
      {"input_activations", 8, 0, /*isDynamic=*/true, kOfInputs}};
  checkIgnored(table, "ignore");
  if (!table.has(kGroups)) {
    table.error(kGroups, "expected a table \"" + kGroups + "\"");
  }
  checkGroups(table, numbers, kRowFormats);
  table.choice("quantization_status", {"compressed", "frozen"});
  for (StringRef key : {"sparsity_config", "transform_config"}) {
    const Node *other = table.table(key);
    if (other && !other->members.empty()) {
      table.error(key, "unsupported key \"" + key + "\" in " + table.name());
    }
  }
  for (StringRef key : {"version", "global_compression_ratio"}) {
    table.know(key); // of whom wrote it, and how much smaller it became
  }
  return "fp8";
}

static StringRef readBlocks(TableReader &table) {
  table.choice("activation_scheme", {"dynamic"});
  table.choice("fmt", {"e4m3", "float8_e4m3fn"});
  table.choice("scale_fmt", {"float"});
  for (StringRef key : {"modules_to_not_convert", "ignored_layers"}) {
    checkKept(table, key);
  }
  return "fp8_block";
}

static bool isSquare(const Node *size) {
  return size && size->items.size() == 2 &&
         llvm::all_of(size->items, [](const Node &item) {
           return item.isInteger() && item.integer == model::kScaledGroup;
         });
}

static void refuseOther(TableReader &table, StringRef key) {
  table.error(key,
              "expected a checkpoint that is not quantised, or by ModelOpt to "
              "NVFP4, or to fp8 with a \"weight_block_size\" of [128, 128] or "
              "by compressed-tensors with scales of tokens; take the original "
              "one and quantise with --weights=fp8");
}

StringRef modelc::readLinearFormat(TableReader &table) {
  // hf_quant_config.json is of one maker, and does not say of which.
  const std::string method = table.string(kMethod).value_or("modelopt");
  const std::string algorithm = table.string(kAlgorithm).value_or("");
  table.know("producer");
  if (table.getSource().failed) {
    return "";
  }
  if (method == "modelopt" && algorithm.empty()) {
    table.know("group_size");
    table.know("exclude_modules");
    return ""; // caches alone
  }
  if (method == "modelopt" && algorithm == "NVFP4") {
    return readFourBits(table);
  }
  if (method == "fp8" && isSquare(table.array(kBlocks))) {
    return readBlocks(table);
  }
  const std::string format = table.string("format").value_or("");
  if (method == "compressed-tensors" &&
      llvm::is_contained(kRowFormats, format)) {
    return readRows(table);
  }
  refuseOther(table, method == "modelopt"  ? kAlgorithm
                     : method == "fp8"     ? kBlocks
                     : table.has("format") ? StringRef("format")
                                           : kMethod);
  return "";
}
