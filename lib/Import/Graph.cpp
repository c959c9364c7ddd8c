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
//   carry = "x"
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

#include "lib/Import/Reader.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace modelc;

namespace {
class GraphReader {
public:
  GraphReader(Source &source, const DecoderShape &shared, Where where)
      : source(source), shared(shared),
        m(source.context, shared.name, shared.options, where) {
    names["tokens"] = m.tokens();
  }

  LogicalResult readSizes(const Node &table) {
    return sizes.readTable(source, table);
  }
  LogicalResult readBlock(const Node &block);
  FailureOr<OwningOpRef<ModuleOp>> finish(Where where) {
    return m.finish(lastResult, where);
  }

private:
  using Values = SmallVector<Value>;
  /// One kind of op: what it is called, how many values it reads.
  struct OpKind {
    StringRef name;
    size_t inputs;
    Value (GraphReader::*build)(TableReader &, ArrayRef<Value>, Where);
  };
  static ArrayRef<OpKind> opKinds();

  LogicalResult readOps(const Node &ops);
  LogicalResult readOp(const Node &op);
  LogicalResult readLayers(TableReader &block, const Node &ops, int64_t count);
  FailureOr<std::vector<std::string>> readWords(TableReader &reader,
                                                StringRef key);
  FailureOr<Values> lookUp(TableReader &reader, StringRef key);
  Value readWeight(TableReader &reader, StringRef key, ArrayRef<int64_t> shape,
                   Where where);
  int64_t columns(TableReader &reader, Value value);
  void readRole(TableReader &reader, int64_t outputs, int64_t inputs,
                LinearOptions &options);
  void expectSameColumns(TableReader &reader, ArrayRef<Value> in);

  Value embed(TableReader &reader, ArrayRef<Value> in, Where where);
  Value norm(TableReader &reader, ArrayRef<Value> in, Where where);
  Value linear(TableReader &reader, ArrayRef<Value> in, Where where);
  Value rope(TableReader &reader, ArrayRef<Value> in, Where where);
  Value attention(TableReader &reader, ArrayRef<Value> in, Where where);
  Value swiglu(TableReader &reader, ArrayRef<Value> in, Where where) {
    expectSameColumns(reader, in);
    return m.swiglu(in[0], in[1], where);
  }
  Value add(TableReader &reader, ArrayRef<Value> in, Where where) {
    expectSameColumns(reader, in);
    return m.add(in[0], in[1], where);
  }
  Value last(TableReader &, ArrayRef<Value> in, Where where) {
    return m.last(in[0], where);
  }
  Value sample(TableReader &, ArrayRef<Value> in, Where where) {
    return m.sample(in[0], shared.sampling, where);
  }

  Source &source;
  const DecoderShape &shared;
  Model m;
  std::map<std::string, Value> names;
  Sizes sizes;
  std::string prefix;
  Value lastResult;
};
} // namespace

ArrayRef<GraphReader::OpKind> GraphReader::opKinds() {
  static const OpKind kinds[] = {{"embed", 1, &GraphReader::embed},
                                 {"norm", 1, &GraphReader::norm},
                                 {"linear", 1, &GraphReader::linear},
                                 {"rope", 1, &GraphReader::rope},
                                 {"attention", 3, &GraphReader::attention},
                                 {"swiglu", 2, &GraphReader::swiglu},
                                 {"add", 2, &GraphReader::add},
                                 {"last", 1, &GraphReader::last},
                                 {"sample", 1, &GraphReader::sample}};
  return kinds;
}

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

Value GraphReader::readWeight(TableReader &reader, StringRef key,
                              ArrayRef<int64_t> shape, Where where) {
  return m.weight(prefix + reader.requireString(key), shape, where);
}

int64_t GraphReader::columns(TableReader &reader, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() != 2) {
    reader.error("in", "expected rows of numbers for \"in\", got tokens; "
                       "\"embed\" makes rows of tokens");
    return 1;
  }
  return type.getDimSize(1);
}

/// Said here, where "in" stands, and not by the verifier of what is made of it.
void GraphReader::expectSameColumns(TableReader &reader, ArrayRef<Value> in) {
  int64_t first = columns(reader, in[0]), second = columns(reader, in[1]);
  if (first != second && !source.failed) {
    reader.error("in", "expected two values of one size for \"in\", got " +
                           Twine(first) + " and " + Twine(second));
  }
}

Value GraphReader::embed(TableReader &reader, ArrayRef<Value> in, Where where) {
  int64_t rows = sizes.read(reader, "rows"), size = sizes.read(reader, "size");
  return m.embed(in[0], readWeight(reader, "weight", {rows, size}, where),
                 where);
}

Value GraphReader::norm(TableReader &reader, ArrayRef<Value> in, Where where) {
  Value weight = readWeight(reader, "weight", {columns(reader, in[0])}, where);
  return m.norm(in[0], weight, reader.number("eps").value_or(shared.normEps),
                where);
}

/// How ranks share a linear: "role", and "head_dim" where it has heads.
void GraphReader::readRole(TableReader &reader, int64_t outputs, int64_t inputs,
                           LinearOptions &options) {
  using model::Role;
  static const StringRef roles[] = {"replicated", "column",   "row",
                                    "heads",      "kv_heads", "vocabulary"};
  if (!reader.has("role")) {
    return;
  }
  std::optional<size_t> index = reader.choice("role", roles);
  options.role = index ? *model::symbolizeRole(unsigned(*index)) : Role::Row;
  bool hasHeads = options.role == Role::Heads || options.role == Role::KvHeads;
  if (!hasHeads && (options.role != Role::Row || !reader.has("head_dim"))) {
    return;
  }
  options.headDim = sizes.read(reader, "head_dim");
  int64_t size = hasHeads ? outputs : inputs;
  if (size % options.headDim != 0 && !source.failed) {
    reader.error("head_dim", "expected whole heads in " + Twine(size) +
                                 " columns, got heads of " +
                                 Twine(options.headDim));
  }
}

Value GraphReader::linear(TableReader &reader, ArrayRef<Value> in,
                          Where where) {
  int64_t size = sizes.read(reader, "size");
  Value weight =
      readWeight(reader, "weight", {size, columns(reader, in[0])}, where);
  LinearOptions options;
  if (reader.has("bias")) {
    options.bias = readWeight(reader, "bias", {size}, where);
  }
  readRole(reader, size, columns(reader, in[0]), options);
  return m.linear(in[0], weight, options, where);
}

Value GraphReader::rope(TableReader &reader, ArrayRef<Value> in, Where where) {
  RopeOptions options = {sizes.read(reader, "head_dim"), shared.ropeTheta,
                         shared.ropeScaling};
  if (std::optional<double> theta = reader.number("theta")) {
    options.theta = *theta;
  }
  return m.rope(in[0], options, where);
}

Value GraphReader::attention(TableReader &reader, ArrayRef<Value> in,
                             Where where) {
  int64_t window = reader.has("window") ? sizes.read(reader, "window") : 0;
  AttentionOptions options = {sizes.read(reader, "kv_heads"),
                              sizes.read(reader, "head_dim"), window};
  return m.attention(in[0], in[1], in[2], options, where);
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
  std::string out = reader.requireString("out");
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
  lastResult =
      (this->*kind.build)(reader, *inputs, placeOfOp(source, op, *inputs));
  names[out] = lastResult;
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
      block.where("repeat"));
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
