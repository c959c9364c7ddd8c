//===- Quantisation.cpp - What a checkpoint says of its own numbers -------===//
//
// It says it in the "quantization_config" of its config.json or in
// hf_quant_config.json beside it. That is what the weights and the cache are,
// where the user asks for nothing else: weights have no other form, a cache
// has.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Config/Quantisation.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace modelc;

static constexpr StringRef kKey = "quantization_config";
static constexpr StringRef kSidecar = "hf_quant_config.json";

namespace {
/// What the user asked for, before a table filled it in.
struct Wishes {
  std::string weights, cache;
};
} // namespace

/// Fills in the type of the weights, where nothing else is asked for.
static void setWeights(Source &source, const Wishes &wishes, Place place,
                       StringRef word) {
  std::string &weights = *source.weights;
  if (!wishes.weights.empty() && wishes.weights != word) {
    return source.error(
        place,
        "expected --weights=" + word +
            ", which the checkpoint has, got --weights=" + wishes.weights);
  }
  if (!weights.empty() && weights != word) {
    return source.error(place, "expected linears in " + weights +
                                   ", as config.json says, got " + word);
  }
  weights = word;
  source.weightsPlace = source.location(place);
}

/// The same of the cache, which has another type where the user says so.
static void setCache(Source &source, const Wishes &wishes, Place place,
                     StringRef word) {
  if (wishes.cache.empty() && source.cache->empty()) {
    source.file.note(source.notes, place,
                     "cache " + word +
                         ", as the checkpoint says; --kv=bf16 keeps 16 bits");
    *source.cache = word;
  } else if (!wishes.cache.empty() && wishes.cache != word) {
    source.file.note(source.notes, place,
                     "cache " + wishes.cache +
                         ", as --kv says; the checkpoint has scales for " +
                         word);
  }
}

/// Reads one of the two tables. Messages about all of it stand at `place`.
static void readTable(TableReader &table, const Wishes &wishes, Place place) {
  Source &source = table.getSource();
  CacheScheme scheme = readCacheScheme(table, !wishes.cache.empty());
  std::optional<HeldFormat> held = readLinearFormat(table);
  if (source.failed) {
    return;
  }
  table.rejectOthers();
  const bool isMultiplied = held && held->format != kIntegers;
  const std::string weights = isMultiplied ? held->format : "";
  if (!source.weights && (held || !scheme.word.empty())) {
    return source.error(place, "expected a checkpoint that is not quantised; "
                               "take its config.json without this table");
  }
  if (held) {
    source.held = held;
  }
  if (held && !isMultiplied) {
    source.weightsPlace = source.location(place);
    source.file.note(source.notes, place,
                     "the checkpoint holds integers of 4 bits; they are "
                     "converted when they are loaded");
  }
  if (!weights.empty()) {
    setWeights(source, wishes, place, weights);
  }
  if (!scheme.word.empty() && !source.failed) {
    setCache(source, wishes, table.place(scheme.key), scheme.word);
  }
}

/// { "producer": ..., "quantization": { "quant_algo": "NVFP4", ... } }
static void readSidecar(Source &source, const Wishes &wishes) {
  SmallString<128> path(llvm::sys::path::parent_path(source.file.name()));
  llvm::sys::path::append(path, kSidecar);
  if (!llvm::sys::fs::exists(path)) {
    return;
  }
  FailureOr<SourceFile> file = SourceFile::read(path, source.notes);
  FailureOr<Node> root = failed(file) ? FailureOr<Node>(failure())
                                      : parseJson(*file, source.notes);
  if (failed(root)) {
    source.failed = true;
    return;
  }
  Source other{*file, source.context, source.notes,
               {},    source.weights, source.cache};
  TableReader top(other, *root, kSidecar.str());
  top.know("producer");
  if (const Node *table = top.table("quantization")) {
    TableReader reader(other, *table, "\"quantization\"");
    readTable(reader, wishes, reader.place("quant_algo"));
  }
  top.rejectOthers();
  source.failed |= other.failed;
  if (other.weightsPlace) {
    source.weightsPlace = other.weightsPlace;
  }
  if (other.held) {
    source.held = other.held;
  }
}

void modelc::readQuantisation(TableReader &config) {
  Source &source = config.getSource();
  Wishes wishes;
  if (source.weights) {
    wishes = {*source.weights, *source.cache};
  }
  if (const Node *table = config.table(kKey)) {
    TableReader reader(source, *table, ("\"" + kKey + "\"").str());
    readTable(reader, wishes, config.place(kKey));
  }
  if (!source.failed) {
    readSidecar(source, wishes);
  }
}
