//===- Export.cpp - Model dialect -> the project's TOML -------------------===//
//
// A graph is printed by its sizes if building a decoder of these sizes gives
// the very same IR; nothing can be lost that way.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Reader.h"

using namespace mlir;
using namespace modelc;

/// The first op of a kind in a graph, or null.
template <typename Op>
static Op first(Operation *root) {
  Op found;
  root->walk([&](Op op) {
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

static int64_t columns(Value value) {
  return cast<RankedTensorType>(value.getType()).getDimSize(1);
}

static SamplingOptions samplingOf(model::SampleOp op) {
  SamplingOptions options;
  options.random = op.getSampling() == model::Sampling::Random;
  if (op.getTopK()) {
    options.topK = *op.getTopK();
  }
  if (op.getTopP()) {
    options.topP = op.getTopP()->convertToDouble();
  }
  if (op.getTemperature()) {
    options.temperature = op.getTemperature()->convertToDouble();
  }
  return options;
}

static void setRope(model::RopeOp rope, DecoderShape &shape) {
  shape.ropeTheta = rope.getTheta().convertToDouble();
  if (model::Llama3ScalingAttr scaling = rope.getScalingAttr()) {
    shape.ropeScaling = {scaling.getFactor().convertToDouble(),
                         scaling.getLowFreqFactor().convertToDouble(),
                         scaling.getHighFreqFactor().convertToDouble(),
                         scaling.getOriginalContext()};
  }
}

static bool hasBias(Operation *op) {
  auto linear = dyn_cast_or_null<model::LinearOp>(op);
  return linear && linear.getBias();
}

static Operation *firstUser(Value value) {
  return value.use_empty() ? nullptr : *value.user_begin();
}

/// The sizes that a decoder of this graph would have, if it is one.
static std::optional<DecoderShape> guessDecoder(model::GraphOp graph) {
  auto embed = first<model::EmbedOp>(graph);
  auto layers = first<model::LayersOp>(graph);
  auto norm = first<model::NormOp>(graph);
  auto rope = first<model::RopeOp>(graph);
  auto append = first<model::AppendOp>(graph);
  auto attention = first<model::AttentionOp>(graph);
  auto swiglu = first<model::SwigluOp>(graph);
  auto sample = first<model::SampleOp>(graph);
  if (!embed || !layers || !norm || !rope || !append || !attention || !swiglu ||
      !sample) {
    return std::nullopt;
  }
  auto table = embed.getTable().getDefiningOp<model::WeightOp>();
  auto head = sample.getLogits().getDefiningOp<model::LinearOp>();
  if (!table || !head) {
    return std::nullopt;
  }
  DecoderShape shape;
  shape.name = graph.getName();
  shape.layers = layers.getCount();
  shape.vocab = table.getType().getDimSize(0);
  shape.hidden = table.getType().getDimSize(1);
  shape.heads = attention.getHeads();
  shape.kvHeads = attention.getCache().getType().getKvHeads();
  shape.headDim = attention.getCache().getType().getHeadDim();
  shape.window = attention.getWindow().value_or(0);
  shape.ffn = columns(swiglu.getOut());
  shape.normEps = norm.getEps().convertToDouble();
  setRope(rope, shape);
  shape.qkvBias = hasBias(append.getV().getDefiningOp());
  shape.outputBias = hasBias(firstUser(attention.getOut()));
  if (shape.outputBias && !shape.qkvBias) {
    return std::nullopt; // no key says it
  }
  shape.mlpBias = hasBias(swiglu.getUp().getDefiningOp());
  shape.tiedEmbeddings = head.getWeight() == embed.getTable();
  shape.options.maxContext = graph.getMaxContext().value_or(0);
  shape.options.elementType = table.getType().getElementType();
  shape.options.storedType = table.getStored().value_or(Type());
  shape.sampling = samplingOf(sample);
  return shape;
}

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

namespace {
/// Prints keys; those that were assumed with a comment that names their origin.
class KeyPrinter {
public:
  KeyPrinter(ArrayRef<Assumption> assumptions, raw_ostream &os)
      : assumptions(assumptions), os(os) {}

  void table(StringRef name) {
    os << (prefix.empty() && !started ? "" : "\n") << "[" << name << "]\n";
    prefix = name == "model" ? "" : (name + ".").str();
    started = true;
  }
  void key(StringRef name, const Twine &value) {
    const auto *assumed = llvm::find_if(assumptions, [&](const Assumption &a) {
      return a.tomlKey == (prefix + name).str();
    });
    os << name << " = " << value;
    if (assumed != assumptions.end()) {
      os << "  # assumed: " << assumed->why;
    }
    os << "\n";
  }
  void number(StringRef name, double value) { key(name, exactReal(value)); }
  void boolean(StringRef name, bool value) {
    key(name, value ? "true" : "false");
  }
  void quoted(StringRef name, StringRef value) { key(name, tomlString(value)); }

private:
  ArrayRef<Assumption> assumptions;
  raw_ostream &os;
  std::string prefix;
  bool started = false;
};
} // namespace

static void printRope(KeyPrinter &printer, const DecoderShape &shape) {
  printer.table("rope");
  printer.number("theta", shape.ropeTheta);
  if (shape.ropeScaling) {
    printer.key("scaling",
                "{ kind = " + tomlString("llama3") +
                    ", factor = " + exactReal(shape.ropeScaling->factor) +
                    ", low_freq_factor = " +
                    exactReal(shape.ropeScaling->lowFreqFactor) +
                    ", high_freq_factor = " +
                    exactReal(shape.ropeScaling->highFreqFactor) +
                    ", original_context = " +
                    std::to_string(shape.ropeScaling->originalContext) + " }");
  }
}

static void printSampling(KeyPrinter &printer, const SamplingOptions &options) {
  printer.table("sampling");
  printer.quoted("method", options.random ? "random" : "greedy");
  if (options.topK) {
    printer.key("top_k", Twine(*options.topK));
  }
  if (options.topP) {
    printer.number("top_p", *options.topP);
  }
  if (options.temperature) {
    printer.number("temperature", *options.temperature);
  }
}

static void printDecoder(KeyPrinter &printer, const DecoderShape &shape) {
  printer.table("model");
  printer.quoted("name", shape.name);
  printer.key(kTomlKeys.layers, Twine(shape.layers));
  printer.key(kTomlKeys.hidden, Twine(shape.hidden));
  printer.key(kTomlKeys.heads, Twine(shape.heads));
  printer.key(kTomlKeys.kvHeads, Twine(shape.kvHeads));
  printer.key(kTomlKeys.headDim, Twine(shape.headDim));
  printer.key(kTomlKeys.ffn, Twine(shape.ffn));
  printer.key(kTomlKeys.vocab, Twine(shape.vocab));
  printer.number(kTomlKeys.normEps, shape.normEps);
  printer.key(kTomlKeys.maxContext, Twine(shape.options.maxContext));
  printer.quoted("dtype", printElementType(shape.options.elementType));
  if (shape.options.storedType) {
    printer.quoted("stored", printElementType(shape.options.storedType));
  }
  if (shape.window > 0) {
    printer.key("window", Twine(shape.window));
  }
  printer.boolean(kTomlKeys.attentionBias, shape.outputBias);
  if (shape.qkvBias && !shape.outputBias) {
    printer.boolean(kTomlQkvBias, true);
  }
  printer.boolean(kTomlKeys.mlpBias, shape.mlpBias);
  printer.boolean(kTomlKeys.tiedEmbeddings, shape.tiedEmbeddings);
  printRope(printer, shape);
  printSampling(printer, shape.sampling);
}

LogicalResult modelc::exportToml(ModuleOp module,
                                 ArrayRef<Assumption> assumptions,
                                 raw_ostream &os) {
  auto graphs = module.getOps<model::GraphOp>();
  if (!llvm::hasSingleElement(graphs)) {
    return module.emitError("expected one 'model.graph' to export");
  }
  model::GraphOp graph = *graphs.begin();
  if (std::optional<DecoderShape> shape = guessDecoder(graph)) {
    ScopedDiagnosticHandler quiet(module.getContext(),
                                  [](Diagnostic &) { return success(); });
    FailureOr<OwningOpRef<ModuleOp>> rebuilt =
        buildDecoder(module.getContext(), *shape);
    if (succeeded(rebuilt) && print(**rebuilt) == print(module)) {
      KeyPrinter printer(assumptions, os);
      printDecoder(printer, *shape);
      return success();
    }
  }
  return exportGraph(graph, os);
}
