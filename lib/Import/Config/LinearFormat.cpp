//===- LinearFormat.cpp - What a checkpoint says of its linears -----------===//
//
// Formats that linears are multiplied in:
//
//   nvfp4      ModelOpt: "quant_algo": "NVFP4", four bits in groups of 16
//   fp8_block  DeepSeek, Qwen: "quant_method": "fp8" with "weight_block_size"
//   fp8        compressed-tensors: "format": "float-quantized", eight bits with
//              a scale for each output or each tensor, inputs of each token;
//              ModelOpt: "quant_algo": "FP8", a scale for each tensor
//   mxfp4      gpt-oss, Quark, compressed-tensors: four bits in blocks of 32
//
// and integers of four bits, which are converted. Which linears are quantised
// and which are not, a list says (HeldTensors.cpp). Every key is one that is
// asked for here, or a mistake.
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

/// The patterns of a list of what is not quantised.
static std::vector<std::string> readKept(TableReader &table, StringRef key) {
  std::vector<std::string> kept;
  forEachName(table, key,
              [&](const Node &name) { kept.push_back(name.string); });
  return kept;
}

/// The same where the head must be among them: it is never in few bits.
static std::vector<std::string> readIgnored(TableReader &table, StringRef key) {
  std::vector<std::string> kept = readKept(table, key);
  const bool hasHead = llvm::any_of(
      kept, [](StringRef pattern) { return pattern.contains(kHead); });
  if (!hasHead && !table.getSource().failed) {
    table.error(key, "expected \"" + kHead + "\" among what is not quantised");
  }
  return kept;
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

static HeldFormat readFourBits(TableReader &table) {
  static constexpr StringRef kOfGroups[] = {"tensor_group", "group"};
  const Numbers numbers[] = {
      {"weights", 4, kFineBlock, /*isDynamic=*/false, kOfGroups},
      {"input_activations", 4, kFineBlock, /*isDynamic=*/false, kOfGroups}};
  // Of the table in config.json, and of hf_quant_config.json.
  HeldFormat held = {"nvfp4", ".weight", ".weight_scale", ".weight_scale_2"};
  held.kept = readIgnored(
      table, table.has("exclude_modules") ? "exclude_modules" : "ignore");
  checkGroupSize(table, kFineBlock);
  checkGroups(table, numbers, {});
  return held;
}

/// Two names of one format of compressed-tensors.
static constexpr StringRef kRowFormats[] = {"float-quantized",
                                            "naive-quantized"};

/// Keys of compressed-tensors that say nothing of the numbers.
static void checkWriter(TableReader &table) {
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
}

static HeldFormat readRows(TableReader &table) {
  static constexpr StringRef kOfWeights[] = {"channel", "tensor"},
                             kOfInputs[] = {"token"};
  const Numbers numbers[] = {
      {"weights", 8, 0, /*isDynamic=*/false, kOfWeights},
      {"input_activations", 8, 0, /*isDynamic=*/true, kOfInputs}};
  HeldFormat held = {"fp8", ".weight", ".weight_scale"};
  held.kept = readIgnored(table, "ignore");
  if (!table.has(kGroups)) {
    table.error(kGroups, "expected a table \"" + kGroups + "\"");
  }
  checkGroups(table, numbers, kRowFormats);
  checkWriter(table);
  return held;
}

static HeldFormat readBlocks(TableReader &table) {
  HeldFormat held = {"fp8_block", ".weight", ".weight_scale_inv"};
  table.choice("activation_scheme", {"dynamic"});
  table.choice("fmt", {"e4m3", "float8_e4m3fn"});
  table.choice("scale_fmt", {"float"});
  for (StringRef key : {"modules_to_not_convert", "ignored_layers"}) {
    llvm::append_range(held.kept, readKept(table, key));
  }
  return held;
}

static bool isSquare(const Node *size) {
  return size && size->items.size() == 2 &&
         llvm::all_of(size->items, [](const Node &item) {
           return item.isInteger() && item.integer == model::kScaledGroup;
         });
}

static void refuseOther(TableReader &table, StringRef key) {
  table.error(
      key, "expected a checkpoint that is not quantised, or in a format that "
           "is known: fp8 or NVFP4 of ModelOpt, fp8 in blocks of [128, 128], "
           "MXFP4 of gpt-oss or Quark, or one of compressed-tensors; take "
           "the original one and quantise with --weights=fp8");
}

/// gpt-oss: experts in blocks, and scales beside them.
static HeldFormat readExpertBlocks(TableReader &table) {
  HeldFormat held = {"mxfp4", "_blocks", "_scales"};
  held.kept = readKept(table, "modules_to_not_convert");
  // Attention and what is not an expert have no blocks, said or not.
  held.kept.push_back("self_attn");
  return held;
}

namespace {
/// A format of compressed-tensors that packs numbers of four bits.
struct Packed {
  StringRef name, word, type;
  int64_t group;
  StringRef divisor;
};
} // namespace

static constexpr Packed kPacked[] = {
    {"nvfp4-pack-quantized", "nvfp4", "float", 16, ".weight_global_scale"},
    {"mxfp4-pack-quantized", "mxfp4", "float", 32, ""},
    {"pack-quantized", kIntegers, "int", 32, ""}};

static HeldFormat readPacked(TableReader &table, const Packed &packed) {
  Source &source = table.getSource();
  HeldFormat held = {packed.word.str(),    ".weight_packed",
                     ".weight_scale",      "",
                     packed.divisor.str(), readIgnored(table, "ignore")};
  checkWriter(table);
  const Node *groups = table.table(kGroups);
  if (!groups || groups->members.size() != 1 ||
      !groups->members.front().value.isTable()) {
    table.error(kGroups,
                "expected one table, of all linears, in \"" + kGroups + "\"");
    return held;
  }
  const Node *weights = groups->members.front().value.find("weights");
  if (!weights || !weights->isTable()) {
    table.error(kGroups, "expected a table \"weights\" in \"" +
                             groups->members.front().key + "\"");
    return held;
  }
  TableReader numbers(source, *weights, "\"weights\"");
  if (numbers.requirePositive("num_bits") != 4 && !source.failed) {
    numbers.error("num_bits", "expected weights of 4 bits");
  }
  numbers.requireChoice("type", {packed.type});
  checkGroupSize(numbers, packed.group);
  return held;
}

/// Quark: blocks of 32 with a power of two.
static HeldFormat readQuark(TableReader &table) {
  Source &source = table.getSource();
  HeldFormat held = {"mxfp4", ".weight", ".weight_scale"};
  held.kept = readKept(table, "exclude");
  const Node *all = table.table("global_quant_config");
  const Node *weight = all ? all->find("weight") : nullptr;
  if (!weight || !weight->isTable()) {
    table.error("global_quant_config",
                "expected a table \"weight\" in \"global_quant_config\"");
    return held;
  }
  TableReader numbers(source, *weight, "\"weight\"");
  numbers.requireChoice("dtype", {"fp4", "mxfp4"});
  numbers.choice("scale_format", {"e8m0"});
  checkGroupSize(numbers, model::kScaledBlock);
  const Node *layers = table.table("layer_quant_config");
  if (layers && !layers->members.empty()) {
    table.error("layer_quant_config", "expected linears in one format, got "
                                      "others in \"layer_quant_config\"");
  }
  for (const Member *member : table.others()) {
    table.know(member->key); // how it was found, and what exports of it are
  }
  return held;
}

/// ModelOpt, eight bits with a scale for each tensor.
static HeldFormat readTensors(TableReader &table) {
  HeldFormat held = {"fp8", ".weight", ".weight_scale"};
  held.kept = readIgnored(
      table, table.has("exclude_modules") ? "exclude_modules" : "ignore");
  table.know("group_size");
  static constexpr StringRef kOf[] = {"tensor"};
  const Numbers numbers[] = {
      {"weights", 8, 0, /*isDynamic=*/false, kOf},
      {"input_activations", 8, 0, /*isDynamic=*/false, kOf}};
  checkGroups(table, numbers, {});
  return held;
}

std::optional<HeldFormat> modelc::readLinearFormat(TableReader &table) {
  // hf_quant_config.json is of one maker, and does not say of which.
  const std::string method = table.string(kMethod).value_or("modelopt");
  const std::string algorithm = table.string(kAlgorithm).value_or("");
  table.know("producer");
  if (table.getSource().failed) {
    return std::nullopt;
  }
  if (method == "modelopt" && algorithm.empty()) {
    table.know("group_size");
    table.know("exclude_modules");
    return std::nullopt; // caches alone
  }
  if (method == "mxfp4") {
    return readExpertBlocks(table);
  }
  if (method == "quark") {
    return readQuark(table);
  }
  if (method == "modelopt" && algorithm == "FP8") {
    return readTensors(table);
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
  for (const Packed &packed : kPacked) {
    if (method == "compressed-tensors" && format == packed.name) {
      return readPacked(table, packed);
    }
  }
  refuseOther(table, method == "modelopt"  ? kAlgorithm
                     : method == "fp8"     ? kBlocks
                     : table.has("format") ? StringRef("format")
                                           : kMethod);
  return std::nullopt;
}
