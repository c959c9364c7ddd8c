//===- KernelsBuild.cpp - One kernel of one family, for developers --------===//
//
// `--kernels-build="family=linear shape=columns:256,inputs:512 tile=m:64,n:64,
// k:32 types=element:bf16,result:f32 range=1:64"` appends a kernel to the
// module. Keys are those of the structs in Families.h; flags are numbers. With
// a target, element types become those that it computes with.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/HeadFamilies.h"
#include "lib/Kernels/Kernels.h"
#include "lib/Kernels/NamedMachine.h"
#include "lib/Kernels/Settings.h"
#include "lib/Text/Text.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

namespace {

struct KernelsBuildPass
    : PassWrapper<KernelsBuildPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KernelsBuildPass)
  KernelsBuildPass() = default;
  KernelsBuildPass(const KernelsBuildPass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "kernels-build"; }
  StringRef getDescription() const final {
    return "Append one kernel of one family in the plain form";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    insertKernelDialects(registry);
  }
  void runOnOperation() final;

  Option<std::string> family{*this, "family",
                             llvm::cl::desc("name of the family")};
  Option<std::string> symbol{*this, "symbol",
                             llvm::cl::desc("of the kernel; else the family")};
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("named in the module")};
  Option<std::string> targetsDir{*this, "targets-dir",
                                 llvm::cl::desc("folder of target files")};
  ListOption<std::string> shape{*this, "shape", llvm::cl::desc("what it does")};
  ListOption<std::string> types{*this, "types",
                                llvm::cl::desc("element types")};
  ListOption<std::string> tile{*this, "tile", llvm::cl::desc("how it is cut")};
  ListOption<std::string> range{*this, "range",
                                llvm::cl::desc("sizes that it serves")};
};

/// What a family's function below gets.
struct Request {
  OpBuilder &builder;
  Label label;
  Settings &settings;
  Type bf16;

  Range rows() const {
    return {settings.integer("min", 1), settings.integer("max", 4096)};
  }
  StepRange step() const {
    return {rows(), {1, settings.integer("longest", 4096)}};
  }
  RowTile rowTile() const {
    RowTile tile;
    tile.rows = settings.integer("rows", tile.rows);
    tile.columns = settings.integer("n", 1024);
    tile.waves = settings.integer("waves", tile.waves);
    tile.peers = settings.integer("peers", tile.peers);
    return tile;
  }
  ExchangeShape exchange(int64_t columns, int64_t ranks) const {
    ExchangeShape shape;
    shape.kind = settings.flag("gather")   ? Exchange::Gather
                 : settings.flag("in_two") ? Exchange::ReduceInTwo
                                           : Exchange::Reduce;
    shape.columns = columns;
    shape.ranks = settings.integer("ranks", ranks);
    shape.element = settings.type("element", bf16);
    shape.stagingRows = settings.integer("staging", rows().maximum);
    return shape;
  }
  /// Of what a kernel quantises in blocks, if it does.
  std::optional<QuantiseShape> quantised(int64_t columns, Type element) const {
    MLIRContext *context = builder.getContext();
    Type number = settings.optionalType("quantised", context);
    Type scale = settings.optionalType("quantised_scale", context);
    bool isTensorScaled = settings.flag("quantised_tensor_scaled");
    return number ? std::optional(QuantiseShape{
                        columns, element, number, false,
                        blockScalesOf(number, scale, settings.target),
                        isTensorScaled})
                  : std::nullopt;
  }
  HeadShape heads() const {
    HeadShape shape;
    shape.heads = settings.integer("heads", 8);
    shape.kvHeads = settings.integer("kv_heads", 2);
    shape.headDim = settings.integer("head_dim", 128);
    shape.valueDim = settings.integer("value_dim", shape.headDim);
    shape.window = settings.integer("window", 0);
    shape.pageSize = settings.integer("page", 16);
    shape.element = settings.type("element", bf16);
    shape.cacheElement = settings.type("cache", bf16);
    shape.queries = settings.optionalType("query", builder.getContext());
    shape.powers = settings.optionalType("power", builder.getContext());
    return shape;
  }
};

} // namespace

static void buildLinearPart(const Request &r, bool isReduce) {
  Settings &s = r.settings;
  LinearShape shape;
  shape.columns = s.integer("columns", 256);
  shape.inputs = s.integer("inputs", 512);
  shape.element = s.type("element", r.bf16);
  shape.result = s.type("result", r.bf16);
  shape.biasType = s.optionalType("bias", r.builder.getContext());
  shape.isScaled = s.flag("scaled");
  shape.weight = s.optionalType("weight", r.builder.getContext());
  shape.blockScales =
      blockScalesOf(shape.weightElement(),
                    s.optionalType("scale", r.builder.getContext()), s.target);
  shape.isTensorScaled = s.flag("tensor_scaled");
  shape.hasResidual = s.flag("residual");
  shape.isSwiglu = s.flag("swiglu");
  shape.quantise = r.quantised(shape.columns, shape.result);
  LinearTile tile;
  tile.m = s.integer("m", 64);
  tile.n = s.integer("n", 64);
  tile.k = s.integer("k", 64);
  tile.waves = s.integer("waves", tile.waves);
  tile.splits = s.integer("splits", tile.splits);
  tile.isSwapped = s.flag("swapped");
  tile.groups = s.integer("groups", 2);
  tile.sharers = s.integer("sharers", 1);
  tile.piecesM = s.integer("pieces_m", 1);
  tile.piecesN = s.integer("pieces_n", 1);
  tile.isOneProduct = s.flag("one_product");
  tile.hasRoles = s.flag("roles");
  tile.cluster = s.integer("cluster", tile.cluster);
  tile.weightsAhead = s.integer("weights_ahead", 0);
  tile.slots = s.integer("slots", tile.slots);
  tile.early = s.integer("early", tile.early);
  tile.reduceM = s.integer("reduce_m", tile.reduceM);
  tile.reduceN = s.integer("reduce_n", tile.reduceN);
  tile.reduceWaves = s.integer("reduce_waves", tile.reduceWaves);
  if (tile.k < 1 || tile.splits < 1 ||
      (!isReduce && tile.inputsOfLastPart(shape.inputs) <= 0)) {
    return s.refuse("expected parts of the sum with a step each, got " +
                    Twine(tile.splits) + " of " + Twine(shape.inputs) +
                    " inputs in steps of " + Twine(tile.k));
  }
  if (!isReduce && shape.blockScales &&
      tile.k % shape.blockScales.wordNumbers() != 0) {
    return s.refuse("expected steps of whole words of scales, multiples of " +
                    Twine(shape.blockScales.wordNumbers()) +
                    " inputs, got k:" + Twine(tile.k));
  }
  auto build = isReduce ? buildLinearReduce : buildLinear;
  build(r.builder, r.label, shape, tile, r.rows());
}

static void buildNormKernel(const Request &r) {
  Settings &s = r.settings;
  NormShape shape;
  shape.columns = s.integer("columns", 256);
  shape.element = s.type("element", r.bf16);
  shape.weightType = s.type("weight", r.bf16);
  shape.result = s.type("result", r.bf16);
  shape.hasResidual = s.flag("residual");
  shape.hasSum = s.flag("sum");
  shape.epsilon = s.number("epsilon", 1e-5);
  shape.scales = blockScalesOf(
      shape.result, s.optionalType("scale", r.builder.getContext()), s.target);
  shape.isTensorScaled = s.flag("tensor_scaled");
  shape.exchange = r.exchange(shape.columns, 1);
  auto build = shape.scales ? buildNormBlocks : buildNorm;
  build(r.builder, r.label, shape, r.rowTile(), r.rows());
}

static void buildQuantiseKernel(const Request &r) {
  Settings &s = r.settings;
  QuantiseShape shape;
  shape.columns = s.integer("columns", 256);
  shape.element = s.type("element", r.bf16);
  shape.result = s.type("result", Float8E4M3FNType::get(r.bf16.getContext()));
  shape.isSwiglu = s.flag("swiglu");
  shape.scales = blockScalesOf(
      shape.result, s.optionalType("scale", r.builder.getContext()), s.target);
  shape.isTensorScaled = s.flag("tensor_scaled");
  shape.knowsScales = s.flag("known_scales");
  auto build = shape.scales ? buildQuantiseBlocks : buildQuantise;
  build(r.builder, r.label, shape, r.rowTile(), r.rows());
}

static void buildElementwiseKernel(const Request &r) {
  Settings &s = r.settings;
  ElementwiseShape shape;
  shape.kind = s.flag("swiglu") ? Elementwise::Swiglu : Elementwise::Add;
  shape.columns = s.integer("columns", 256);
  shape.element = s.type("element", r.bf16);
  shape.result = s.optionalType("result", r.builder.getContext());
  shape.kind = shape.result ? Elementwise::Narrow : shape.kind;
  buildElementwise(r.builder, r.label, shape, r.rowTile(), r.rows());
}

static void buildGatherKernel(const Request &r) {
  Settings &s = r.settings;
  GatherShape shape;
  shape.columns = s.integer("columns", 256);
  shape.tableRows = s.integer("table", 0);
  shape.element = s.type("element", r.bf16);
  shape.isLast = s.flag("last");
  buildGather(r.builder, r.label, shape, r.rowTile(), r.rows());
}

static void buildRopeAppendKernel(const Request &r) {
  Settings &s = r.settings;
  RopeTile tile;
  tile.tokens = s.integer("tokens", tile.tokens);
  tile.packsHeads = s.flag("packs_heads");
  tile.sums.count = s.integer("parts", 0);
  tile.sums.isTensorScaled = s.flag("tensor_scaled");
  tile.sums.hasInputScale = tile.sums.isTensorScaled || s.flag("scaled");
  tile.sums.hasWeightScale = tile.sums.hasInputScale;
  tile.sums.biasType = s.optionalType("bias", r.builder.getContext());
  tile.waves = s.integer("waves", tile.waves);
  if (tile.sums.count < 0 || (tile.sums && tile.tokens != 1)) {
    return s.refuse("expected parts of sums of one token, got " +
                    Twine(tile.sums.count) + " of " + Twine(tile.tokens));
  }
  buildRopeAppend(r.builder, r.label, r.heads(), tile, r.step());
}

static void buildAppendKernel(const Request &r) {
  RopeTile tile;
  tile.tokens = r.settings.integer("tokens", tile.tokens);
  tile.packsHeads = r.settings.flag("packs_heads");
  tile.waves = r.settings.integer("waves", tile.waves);
  if (tile.packsHeads && tile.tokens != 1) {
    return r.settings.refuse("expected heads of one token, got tokens:" +
                             Twine(tile.tokens));
  }
  buildAppend(r.builder, r.label, r.heads(), tile, r.step());
}

static void buildPrefillKernel(const Request &r) {
  Settings &s = r.settings;
  PrefillTile tile;
  tile.queries = s.integer("queries", 64);
  tile.keys = s.integer("keys", 64);
  tile.waves = s.integer("waves", tile.waves);
  tile.slots = s.integer("slots", tile.slots);
  tile.isDelayed = s.flag("delayed");
  tile.isAhead = s.flag("ahead");
  tile.hasRoles = s.flag("roles");
  tile.fmaExponentials = s.integer("fma_exponentials", 0);
  tile.headsTogether = s.integer("together", 0);
  buildAttentionPrefill(r.builder, r.label, r.heads(), tile, r.step());
}

static void buildDecodePart(const Request &r, bool isCombine) {
  Settings &s = r.settings;
  DecodeTile tile;
  tile.queries = s.integer("queries", tile.queries);
  tile.keys = s.integer("keys", 64);
  tile.waves = s.integer("waves", tile.waves);
  tile.slots = s.integer("slots", tile.slots);
  tile.maxSplits = s.integer("splits", 8);
  tile.combineParts = s.integer("combine_parts", tile.combineParts);
  tile.combineWaves = s.integer("combine_waves", tile.combineWaves);
  HeadShape shape = r.heads();
  if (isCombine) {
    shape.quantise = r.quantised(shape.heads * shape.valueDim, shape.element);
  }
  auto build = isCombine ? buildAttentionCombine : buildAttentionDecode;
  build(r.builder, r.label, shape, tile, r.rows());
}

static void buildSampleKernel(const Request &r) {
  Settings &s = r.settings;
  SampleShape shape;
  shape.vocabulary = s.integer("vocabulary", 32000);
  shape.element = s.type("element", r.builder.getF32Type());
  shape.isGreedy = !s.flag("random");
  shape.topK = s.integer("top_k", 0);
  shape.topP = s.number("top_p", 1);
  shape.temperature = s.number("temperature", 1);
  SampleTile tile;
  tile.columns = s.integer("n", 1024);
  tile.waves = s.integer("waves", tile.waves);
  tile.ways = s.integer("ways", tile.ways);
  buildSample(r.builder, r.label, shape, tile, r.rows());
}

static void buildExchangeKernel(const Request &r) {
  Settings &s = r.settings;
  buildExchange(r.builder, r.label, r.exchange(s.integer("columns", 256), 2),
                r.rowTile(), r.rows());
}

/// The families by name.
static const std::map<std::string, std::function<void(const Request &)>> &
families() {
  static const std::map<std::string, std::function<void(const Request &)>>
      table = {
          {"linear", [](auto &r) { buildLinearPart(r, false); }},
          {"linear-reduce", [](auto &r) { buildLinearPart(r, true); }},
          {"norm", buildNormKernel},
          {"quantise", buildQuantiseKernel},
          {"elementwise", buildElementwiseKernel},
          {"gather", buildGatherKernel},
          {"rope-append", buildRopeAppendKernel},
          {"append", buildAppendKernel},
          {"attention-prefill", buildPrefillKernel},
          {"attention-decode", [](auto &r) { buildDecodePart(r, false); }},
          {"attention-combine", [](auto &r) { buildDecodePart(r, true); }},
          {"sample", buildSampleKernel},
          {"exchange", buildExchangeKernel},
      };
  return table;
}

void KernelsBuildPass::runOnOperation() {
  ModuleOp module = getOperation();
  auto found = families().find(family);
  if (found == families().end()) {
    module.emitError("expected a family of kernels, got '") << family << "'";
    return signalPassFailure();
  }
  Settings settings;
  for (ArrayRef<std::string> list :
       {ArrayRef<std::string>(shape), ArrayRef<std::string>(types),
        ArrayRef<std::string>(tile), ArrayRef<std::string>(range)}) {
    if (failed(settings.read(module, list))) {
      return signalPassFailure();
    }
  }
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Target machine;
  if (!target.empty()) {
    FailureOr<Target> loaded = loadNamedMachine(module, target, targetsDir);
    if (failed(loaded)) {
      return signalPassFailure();
    }
    machine = std::move(*loaded);
    settings.target = &machine;
    module->setAttr("schedule.target", builder.getStringAttr(target));
  }
  std::string name = symbol.empty() ? family : symbol;
  llvm::replace(name, '-', '_');
  if (!isName(name)) {
    module.emitError("expected a symbol of letters, digits and '_', got '")
        << name << "'";
    return signalPassFailure();
  }
  found->second({builder, {name, name, ""}, settings, builder.getBF16Type()});
  if (failed(settings.finish(module))) {
    signalPassFailure();
  }
}

void modelc::registerKernelsBuild() { PassRegistration<KernelsBuildPass>(); }
