//===- CacheScheme.cpp - What a checkpoint says of its KV cache -----------===//
//
// compressed-tensors and ModelOpt write a table,
//   "kv_cache_scheme": {"num_bits": 8, "type": "float", "dynamic": false}
// hf_quant_config.json has a word, "kv_cache_quant_algo": "FP8". Both mean e4m3
// over one scale for each layer and kind, which the checkpoint has.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Config/Quantisation.h"

using namespace mlir;
using namespace modelc;

static constexpr StringRef kScheme = "kv_cache_scheme",
                           kAlgorithm = "kv_cache_quant_algo";

void modelc::checkNumberKeys(TableReader &numbers) {
  for (StringRef key : {"observer", "observer_kwargs"}) {
    numbers.know(key); // how scales were found
  }
  if (numbers.boolean("symmetric") == false) {
    numbers.error("symmetric", "expected numbers around zero, got a "
                               "\"symmetric\" of false");
  }
  for (StringRef key :
       {"actorder", "block_structure", "scale_dtype", "zp_dtype"}) {
    if (numbers.has(key)) {
      numbers.error(key, "unsupported key \"" + key + "\" in " +
                             numbers.name() + "; supported: null");
    }
  }
}

static void checkTable(TableReader &scheme) {
  if (scheme.requirePositive("num_bits") != 8 && scheme.has("num_bits")) {
    scheme.error("num_bits", "expected a cache of 8 bits; try --kv=bf16");
  }
  scheme.requireChoice("type", {"float"});
  if (scheme.boolean("dynamic") == true) {
    scheme.error("dynamic", "expected scales of the cache that the checkpoint "
                            "has, got dynamic ones; try --kv=bf16");
  }
  if (scheme.has("group_size")) {
    scheme.error("group_size", "expected one scale of a layer's keys and one "
                               "of its values; try --kv=bf16");
  }
  scheme.choice("strategy", {"tensor"});
  checkNumberKeys(scheme);
  scheme.rejectOthers();
}

CacheScheme modelc::readCacheScheme(TableReader &table, bool isAsked) {
  const bool hasTable = table.has(kScheme), hasWord = table.has(kAlgorithm);
  const StringRef key = hasTable ? kScheme : kAlgorithm;
  if (!hasTable && !hasWord) {
    return {};
  }
  if (isAsked) {
    return {"fp8", key};
  }
  if (const Node *scheme = table.table(kScheme)) {
    TableReader reader(table.getSource(), *scheme,
                       ("\"" + kScheme + "\"").str());
    checkTable(reader);
  }
  table.choice(kAlgorithm, {"FP8"});
  return {"fp8", key};
}
