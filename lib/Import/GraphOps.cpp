//===- GraphOps.cpp - What each op of the long form of TOML has -----------===//

#include "lib/Import/GraphReader.h"

using namespace mlir;
using namespace modelc;

ArrayRef<GraphReader::OpKind> GraphReader::opKinds() {
  static const OpKind kinds[] = {
      {"embed", 1, &GraphReader::embed},
      {"norm", 1, &GraphReader::norm},
      {"linear", 1, &GraphReader::linear},
      {"rope", 1, &GraphReader::rope},
      {"attention", 3, &GraphReader::attention},
      {"latent_attention", 2, &GraphReader::latentAttention},
      {"route", 1, &GraphReader::route},
      {"experts", 3, &GraphReader::experts},
      {"gate", 2, &GraphReader::gate},
      {"concat", 2, &GraphReader::concat},
      {"swiglu", 2, &GraphReader::swiglu},
      {"add", 2, &GraphReader::add},
      {"last", 1, &GraphReader::last},
      {"sample", 1, &GraphReader::sample}};
  return kinds;
}

Value GraphReader::readWeight(TableReader &reader, StringRef key,
                              ArrayRef<int64_t> shape, Where where) {
  return m.weight(prefix + reader.requireString(key), shape, where);
}

Value GraphReader::optionalWeight(TableReader &reader, StringRef key,
                                  ArrayRef<int64_t> shape, Where where,
                                  const WeightOptions &options) {
  if (!reader.has(key)) {
    return Value();
  }
  return m.weights(prefix + reader.requireString(key), shape, options, where);
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

GraphReader::Values GraphReader::embed(TableReader &reader, ArrayRef<Value> in,
                                       Where where) {
  int64_t rows = sizes.read(reader, "rows"), size = sizes.read(reader, "size");
  return {m.embed(in[0], readWeight(reader, "weight", {rows, size}, where),
                  reader.number("times").value_or(0), where)};
}

/// An optional size: 0 where the key is absent.
int64_t GraphReader::sizeOrZero(TableReader &reader, StringRef key) {
  return reader.has(key) ? sizes.read(reader, key) : 0;
}

GraphReader::Values GraphReader::norm(TableReader &reader, ArrayRef<Value> in,
                                      Where where) {
  NormOptions options;
  options.eps = reader.number("eps").value_or(shared.normEps);
  options.headDim = sizeOrZero(reader, "head_dim");
  options.first = sizeOrZero(reader, "first");
  options.onePlus = reader.boolean("one_plus").value_or(false);
  const int64_t all = columns(reader, in[0]);
  const int64_t row = options.headDim > 0 ? options.headDim : all;
  const bool isBare = reader.boolean("unweighted").value_or(false);
  Value weight =
      isBare ? Value()
             : readWeight(reader, "weight",
                          {options.first > 0 ? options.first : row}, where);
  return {m.norm(in[0], weight, options, where)};
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

GraphReader::Values GraphReader::linear(TableReader &reader, ArrayRef<Value> in,
                                        Where where) {
  int64_t size = sizes.read(reader, "size");
  Value weight =
      readWeight(reader, "weight", {size, columns(reader, in[0])}, where);
  LinearOptions options;
  options.bias = optionalWeight(reader, "bias", {size}, where);
  if (reader.choice("result", {"f32"})) {
    return {m.logits(in[0], weight, options.bias, where)};
  }
  readRole(reader, size, columns(reader, in[0]), options);
  return {m.linear(in[0], weight, options, where)};
}

static Yarn readYarn(Source &source, const Node &table) {
  TableReader reader(source, table, "\"yarn\"");
  Yarn yarn;
  yarn.factor = reader.requireNumber("factor");
  yarn.betaFast = reader.number("beta_fast").value_or(yarn.betaFast);
  yarn.betaSlow = reader.number("beta_slow").value_or(yarn.betaSlow);
  yarn.originalContext = reader.requirePositive("original_context");
  yarn.magnitude = reader.number("magnitude").value_or(yarn.magnitude);
  yarn.truncate = reader.boolean("truncate").value_or(true);
  reader.rejectOthers();
  return yarn;
}

GraphReader::Values GraphReader::rope(TableReader &reader, ArrayRef<Value> in,
                                      Where where) {
  RopeOptions options;
  options.headDim = sizes.read(reader, "head_dim");
  options.theta = reader.number("theta").value_or(shared.ropeTheta);
  options.rotated = sizeOrZero(reader, "rotated");
  options.first = sizeOrZero(reader, "first");
  options.interleaved = reader.boolean("interleaved").value_or(false);
  options.stretched = reader.number("stretched").value_or(1);
  if (const Node *yarn = reader.table("yarn")) {
    options.yarn = readYarn(source, *yarn);
  } else if (options.stretched == 1) {
    options.scaling = shared.ropeScaling;
  }
  return {m.rope(in[0], options, where)};
}

GraphReader::Values GraphReader::attention(TableReader &reader,
                                           ArrayRef<Value> in, Where where) {
  AttentionOptions options;
  options.kvHeads = sizes.read(reader, "kv_heads");
  options.headDim = sizes.read(reader, "head_dim");
  options.window = sizeOrZero(reader, "window");
  options.chunk = sizeOrZero(reader, "chunk");
  options.scale = reader.number("scale").value_or(0);
  options.softCap = reader.number("soft_cap").value_or(0);
  if (const Node *table = reader.table("temperature")) {
    TableReader inner(source, *table, "\"temperature\"");
    options.temperature = Temperature{inner.requireNumber("scale"),
                                      inner.requirePositive("every")};
    inner.rejectOthers();
  }
  const int64_t heads = columns(reader, in[0]) / options.headDim;
  options.sink = optionalWeight(reader, "sink", {heads}, where);
  return {m.attention(in[0], in[1], in[2], options, where)};
}

GraphReader::Values GraphReader::latentAttention(TableReader &reader,
                                                 ArrayRef<Value> in,
                                                 Where where) {
  LatentShape shape;
  shape.rank = sizes.read(reader, "rank");
  shape.keyDim = sizes.read(reader, "key_dim");
  shape.ropeDim = sizes.read(reader, "rope_dim");
  shape.valueDim = sizes.read(reader, "value_dim");
  const double scale = reader.requireNumber("scale");
  const int64_t head = shape.keyDim + shape.ropeDim;
  const int64_t queries = columns(reader, in[0]);
  if (queries % head != 0) {
    reader.error("in", "expected queries of whole heads of " + Twine(head) +
                           " columns, got " + Twine(queries));
    return {in[0]};
  }
  const int64_t rows = queries / head * (shape.keyDim + shape.valueDim);
  Value expand = readWeight(reader, "expand", {rows, shape.rank}, where);
  return {m.latentAttention(in[0], in[1], expand, shape, scale, where)};
}

static constexpr StringRef kGatings[] = {"silu", "gelu_tanh", "clamped_silu"};

GraphReader::Values GraphReader::swiglu(TableReader &reader, ArrayRef<Value> in,
                                        Where where) {
  expectSameColumns(reader, in);
  const size_t gating =
      reader.choice("gating", ArrayRef(kGatings).take_front(2)).value_or(0);
  return {m.swiglu(in[0], in[1], model::Gating(gating), where)};
}

static ExpertGroups readGroups(Source &source, const Node &table) {
  TableReader reader(source, table, "\"groups\"");
  ExpertGroups groups;
  groups.count = reader.requirePositive("count");
  groups.kept = reader.requirePositive("kept");
  groups.score =
      model::GroupScore(reader.requireChoice("score", {"max", "top_two"}));
  groups.mask = model::GroupMask(
      reader.requireChoice("mask", {"zero", "minus_infinity"}));
  reader.rejectOthers();
  return groups;
}

GraphReader::Values GraphReader::route(TableReader &reader, ArrayRef<Value> in,
                                       Where where) {
  RouteOptions options;
  options.topK = sizes.read(reader, "top_k");
  options.scoring = model::Scoring(reader.requireChoice(
      "scoring", {"softmax", "softmax_of_chosen", "sigmoid"}));
  if (const Node *groups = reader.table("groups")) {
    options.groups = readGroups(source, *groups);
  }
  const Node *sum = reader.find("renormalised");
  if (sum && sum->isBoolean()) {
    options.renormalised =
        sum->boolean ? std::optional<double>(0) : std::nullopt;
  } else {
    options.renormalised = reader.number("renormalised");
  }
  options.scaled = reader.number("scaled");
  Type f32 = Float32Type::get(source.context);
  Value correction = optionalWeight(
      reader, "correction", {columns(reader, in[0])}, where, {.type = f32});
  auto [chosen, weights] = m.route(in[0], correction, options, where);
  return {chosen, weights};
}

ExpertWeights GraphReader::readExperts(TableReader &reader, int64_t hidden,
                                       Where where) {
  const int64_t count = sizes.read(reader, "count");
  const int64_t width = sizes.read(reader, "width");
  const WeightOptions options = {
      .transposed = reader.boolean("transposed").value_or(false)};
  std::vector<std::string> gateUp;
  FailureOr<std::vector<std::string>> words = readWords(reader, "gate_up");
  for (const std::string &word : succeeded(words) ? *words : gateUp) {
    gateUp.push_back(prefix + word);
  }
  ExpertWeights weights;
  weights.gateUp =
      m.weights(gateUp, {count, 2 * width, hidden}, options, where);
  weights.down = m.weights(prefix + reader.requireString("down"),
                           {count, hidden, width}, options, where);
  weights.gateUpBias =
      optionalWeight(reader, "gate_up_bias", {count, 2 * width}, where);
  weights.downBias =
      optionalWeight(reader, "down_bias", {count, hidden}, where);
  weights.interleaved = reader.boolean("interleaved").value_or(false);
  weights.weighInputs = reader.boolean("weigh_inputs").value_or(false);
  const size_t gating = reader.choice("gating", kGatings).value_or(0);
  weights.gating = {model::Gating(gating), reader.number("alpha").value_or(0),
                    reader.number("limit").value_or(0)};
  return weights;
}

GraphReader::Values GraphReader::experts(TableReader &reader,
                                         ArrayRef<Value> in, Where where) {
  ExpertWeights weights = readExperts(reader, columns(reader, in[0]), where);
  return {m.experts(in[0], {in[1], in[2]}, weights, where)};
}

GraphReader::Values GraphReader::gate(TableReader &, ArrayRef<Value> in,
                                      Where where) {
  return {m.gate(in[0], in[1], where)};
}

GraphReader::Values GraphReader::concat(TableReader &, ArrayRef<Value> in,
                                        Where where) {
  return {m.concat(in[0], in[1], where)};
}

GraphReader::Values GraphReader::add(TableReader &reader, ArrayRef<Value> in,
                                     Where where) {
  expectSameColumns(reader, in);
  return {m.add(in[0], in[1], where)};
}

GraphReader::Values GraphReader::last(TableReader &, ArrayRef<Value> in,
                                      Where where) {
  return {m.last(in[0], where)};
}

GraphReader::Values GraphReader::sample(TableReader &, ArrayRef<Value> in,
                                        Where where) {
  return {m.sample(in[0], shared.sampling, where)};
}
