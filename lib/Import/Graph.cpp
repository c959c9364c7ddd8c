//===- Graph.cpp - A model spelled out op by op in TOML -------------------===//
//
// The long form of the project's TOML: blocks of ops on named values. A block
// with `repeat` is that many identical layers; the values in `carry` go from
// each to the next. A name that is set again means the new value from there on.
// The graph returns the value of the last op.
//
//   [model]
//   name = "tiny"
//   norm_eps = 1e-5                       # of every norm without its own `eps`
//
//   [sizes]                               # may stand wherever a size is wanted
//   hidden = 128
//   head_dim = 32
//
//   [[block]]
//   ops = [
//     { out = "x", op = "embed", in = "tokens", weight = "embed.weight", ... },
//   ]
//
//   [[block]]
//   repeat = 3
//   carry = "x"                           # step = 2: the ops are of two
//   layers,
//                                         # {layer} and {layer+1}
//   prefix = "layers.{layer}."            # of the names of all weights below
//   ops = [
//     { out = "n", op = "norm", in = "x", weight = "norm.weight" },
//     { out = "q", op = "linear", in = "n", size = "4 * head_dim",
//       role = "heads", head_dim = "head_dim" },  # how ranks share it
//     ...
//     { out = "a", op = "attention", in = ["q", "k", "v"], kv_heads = 2,
//     head_dim = "head_dim" },
//
//===----------------------------------------------------------------------===//

#include "lib/Import/GraphReader.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace modelc;

FailureOr<std::vector<std::string>> GraphReader::readWords(TableReader &reader,
                                                           StringRef key) {
  const Node *node = reader.find(key);
  std::vector<std::string> words;
  if (node && node->isString()) {
    words.push_back(node->string);
  }
  for (const Node &item :
       node ? ArrayRef<Node>(node->items) : ArrayRef<Node>()) {
    if (item.isString()) {
      words.push_back(item.string);
    }
  }
  if (words.empty()) {
    reader.error(key, "expected the name of a value, or several, for \"" + key +
                          "\"");
    return failure();
  }
  return words;
}

FailureOr<GraphReader::Values> GraphReader::lookUp(TableReader &reader,
                                                   StringRef key) {
  FailureOr<std::vector<std::string>> words = readWords(reader, key);
  if (failed(words)) {
    return failure();
  }
  Values values;
  for (const std::string &word : *words) {
    auto found = names.find(word);
    if (found == names.end()) {
      SmallVector<StringRef> known;
      for (auto &entry : names) {
        known.push_back(entry.first);
      }
      reader.error(key, "no value is named \"" + word + "\" here" +
                            didYouMean(word, known));
      return failure();
    }
    values.push_back(found->second);
  }
  return values;
}

LogicalResult GraphReader::readOp(const Node &op) {
  if (!op.isTable()) {
    source.error(op.place,
                 "expected an op as a table { out = ..., op = ..., in = ... }");
    return failure();
  }
  TableReader reader(source, op, "this op");
  SmallVector<StringRef> kinds;
  for (const OpKind &kind : opKinds()) {
    kinds.push_back(kind.name);
  }
  const Node *list = op.find("out");
  FailureOr<std::vector<std::string>> outs =
      list && list->isArray()
          ? readWords(reader, "out")
          : std::vector<std::string>{reader.requireString("out")};
  reader.requireString("op");
  std::optional<size_t> index =
      source.failed ? std::nullopt : reader.choice("op", kinds);
  if (!index) {
    return failure();
  }
  FailureOr<Values> inputs = lookUp(reader, "in");
  if (failed(inputs)) {
    return failure();
  }
  const OpKind &kind = opKinds()[*index];
  if (inputs->size() != kind.inputs) {
    reader.error("in", "expected " + Twine(kind.inputs) + " values for \"" +
                           kind.name + "\", got " + Twine(inputs->size()));
    return failure();
  }
  Values results =
      (this->*kind.build)(reader, *inputs, placeOfOp(source, op, *inputs));
  if (outs->size() != results.size()) {
    reader.error("out", "expected " + Twine(results.size()) +
                            " names for what \"" + kind.name +
                            "\" makes, got " + Twine(outs->size()));
    return failure();
  }
  for (auto [name, result] : llvm::zip_equal(*outs, results)) {
    names[name] = lastResult = result;
  }
  reader.rejectOthers();
  return failure(source.failed);
}

LogicalResult GraphReader::readOps(const Node &ops) {
  for (const Node &op : ops.items) {
    if (failed(readOp(op))) {
      return failure();
    }
  }
  return success();
}

LogicalResult GraphReader::readLayers(TableReader &block, const Node &ops,
                                      int64_t count) {
  FailureOr<std::vector<std::string>> carry = readWords(block, "carry");
  FailureOr<Values> inits =
      failed(carry) ? FailureOr<Values>(failure()) : lookUp(block, "carry");
  if (failed(inits)) {
    return failure();
  }
  std::map<std::string, Value> outside = names;
  Values results = m.layers(
      count, *inits,
      [&](ValueRange arguments) {
        for (auto [name, argument] : llvm::zip_equal(*carry, arguments)) {
          names[name] = argument;
        }
        (void)readOps(ops); // a failure is remembered in `source`
        Values yielded;
        for (const std::string &name : *carry) {
          yielded.push_back(names[name]);
        }
        return yielded;
      },
      block.where("repeat"), block.positive("step").value_or(1));
  names = std::move(outside);
  for (auto [name, result] : llvm::zip_equal(*carry, results)) {
    names[name] = lastResult = result;
  }
  return failure(source.failed);
}

LogicalResult GraphReader::readBlock(const Node &block) {
  TableReader reader(source, block, "[[block]]");
  const Node *ops = reader.find("ops");
  if (!ops || !ops->isArray()) {
    reader.error("ops", "expected an array \"ops\" in [[block]]");
    return failure();
  }
  prefix = reader.string("prefix").value_or("");
  LogicalResult result = failure();
  if (std::optional<int64_t> count = reader.positive("repeat")) {
    result = readLayers(reader, *ops, *count);
  } else if (!source.failed) {
    result = readOps(*ops);
  }
  if (succeeded(result)) {
    reader.rejectOthers();
  }
  return failure(source.failed);
}

FailureOr<OwningOpRef<ModuleOp>>
modelc::importGraph(Source &source, const Node &file,
                    const DecoderShape &shared) {
  const Node &blocks = *file.find("block");
  if (!blocks.isArray() || blocks.items.empty()) {
    source.error(blocks.place, "expected [[block]] tables with \"ops\"");
    return failure();
  }
  Location where = source.location(blocks.place);
  GraphReader reader(source, shared, where);
  if (const Node *sizes = file.find("sizes")) {
    if (failed(reader.readSizes(*sizes))) {
      return failure();
    }
  }
  for (const Node &block : blocks.items) {
    if (failed(reader.readBlock(block))) {
      return failure();
    }
  }
  return reader.finish(where);
}
