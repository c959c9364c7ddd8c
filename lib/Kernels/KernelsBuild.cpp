//===- KernelsBuild.cpp - One kernel of one family, for developers --------===//
//
// `--kernels-build="family=linear shape=columns:256,inputs:512 tile=m:64,n:64,
// k:32 types=element:bf16,result:f32 range=1:64"` appends a kernel to the
// module. Keys are those of the structs in Families.h; flags are numbers. With
// a target, element types become those that it computes with.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/ExpertFamilies.h"
#include "lib/Kernels/HeadFamilies.h"
#include "lib/Kernels/Kernels.h"
#include "lib/Kernels/NamedMachine.h"
#include "lib/Kernels/Rows/SampleFamily.h"
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

  /// `T` with what was said of it.
  template <typename T>
  T fill(T value) const {
    settings.fill(value, builder.getContext());
    return value;
  }
  Range rows() const { return fill(Range{1, 4096}); }
  StepRange step() const {
    return {rows(), {1, settings.integer("longest", 4096)}};
  }
  RowTile rowTile() const { return fill(RowTile{.columns = 1024}); }
  BlockScales scalesOf(Type number) const {
    Type scale = settings.optionalType("scale", builder.getContext());
    return blockScalesOf(number, scale, settings.target);
  }
  ExchangeShape exchange(int64_t columns, int64_t ranks) const {
    return fill(ExchangeShape{.columns = columns,
                              .ranks = ranks,
                              .element = bf16,
                              .stagingRows = rows().maximum});
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
    HeadShape shape = {.heads = 8,
                       .kvHeads = 2,
                       .pageSize = 16,
                       .headDim = settings.integer("head_dim", 128),
                       .element = bf16,
                       .cacheElement = bf16};
    shape.valueDim = shape.headDim;
    shape.rotation = fill(Rotation{});
    return fill(shape);
  }
};

} // namespace

static void buildLinearPart(const Request &r, bool isReduce) {
  Settings &s = r.settings;
  auto shape = r.fill(LinearShape{
      .columns = 256, .inputs = 512, .element = r.bf16, .result = r.bf16});
  shape.blockScales = r.scalesOf(shape.weightElement());
  shape.quantise = r.quantised(shape.columns, shape.result);
  auto tile = r.fill(LinearTile{.m = 64, .n = 64, .k = 64});
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
  auto shape = r.fill(NormShape{.columns = 256,
                                .element = r.bf16,
                                .weightType = r.bf16,
                                .result = r.bf16,
                                .epsilon = 1e-5});
  shape.scales = r.scalesOf(shape.result);
  shape.exchange = r.exchange(shape.columns, 1);
  if (r.settings.flag("weightless")) {
    shape.weightType = {};
  }
  auto build = shape.scales ? buildNormBlocks : buildNorm;
  build(r.builder, r.label, shape, r.rowTile(), r.rows());
}

static void buildQuantiseKernel(const Request &r) {
  auto shape = r.fill(
      QuantiseShape{.columns = 256,
                    .element = r.bf16,
                    .result = Float8E4M3FNType::get(r.bf16.getContext())});
  shape.scales = r.scalesOf(shape.result);
  auto build = shape.scales ? buildQuantiseBlocks : buildQuantise;
  build(r.builder, r.label, shape, r.rowTile(), r.rows());
}

static void buildElementwiseKernel(const Request &r) {
  auto shape = r.fill(ElementwiseShape{.columns = 256, .element = r.bf16});
  buildElementwise(r.builder, r.label, shape, r.rowTile(), r.rows());
}

static void buildGatherKernel(const Request &r) {
  auto shape = r.fill(GatherShape{.columns = 256, .element = r.bf16});
  buildGather(r.builder, r.label, shape, r.rowTile(), r.rows());
}

static void buildHeadLinearKernel(const Request &r) {
  auto shape = r.fill(HeadLinearShape{
      .heads = 4, .columns = 128, .inputs = 64, .element = r.bf16});
  shape.inputColumns = shape.inputColumns ? shape.inputColumns : shape.inputs;
  shape.weightRows = shape.weightRows     ? shape.weightRows
                     : shape.isTransposed ? shape.inputs
                                          : shape.columns;
  auto tile = r.fill(HeadLinearTile{.m = 64, .n = 64, .k = 32});
  buildHeadLinear(r.builder, r.label, shape, tile, r.rows());
}

static void buildRopeAppendKernel(const Request &r) {
  auto tile = r.fill(RopeTile{});
  tile.sums = r.fill(SumParts{});
  tile.sums.hasInputScale |= tile.sums.isTensorScaled;
  tile.sums.hasWeightScale |= tile.sums.hasInputScale;
  if (tile.sums.count < 0 || (tile.sums && tile.tokens != 1)) {
    return r.settings.refuse("expected parts of sums of one token, got " +
                             Twine(tile.sums.count) + " of " +
                             Twine(tile.tokens));
  }
  buildRopeAppend(r.builder, r.label, r.heads(), tile, r.step());
}

static void buildRopeKernel(const Request &r) {
  auto tile = r.fill(RopeTile{});
  if (tile.packsHeads && (tile.tokens != 1 || tile.headsTogether < 1)) {
    return r.settings.refuse("expected heads of one token, got " +
                             Twine(tile.headsTogether) + " of " +
                             Twine(tile.tokens));
  }
  buildRope(r.builder, r.label, r.heads(), tile, r.step());
}

static void buildAppendKernel(const Request &r) {
  auto tile = r.fill(RopeTile{});
  if (tile.packsHeads && tile.tokens != 1) {
    return r.settings.refuse("expected heads of one token, got tokens:" +
                             Twine(tile.tokens));
  }
  buildAppend(r.builder, r.label, r.heads(), tile, r.step());
}

static void buildPrefillKernel(const Request &r) {
  auto tile = r.fill(PrefillTile{.queries = 64, .keys = 64});
  buildAttentionPrefill(r.builder, r.label, r.heads(), tile, r.step());
}

static void buildDecodePart(const Request &r, bool isCombine) {
  auto tile = r.fill(DecodeTile{.keys = 64, .maxSplits = 8});
  HeadShape shape = r.heads();
  if (isCombine) {
    shape.quantise = r.quantised(shape.heads * shape.valueDim, shape.element);
  }
  auto build = isCombine ? buildAttentionCombine : buildAttentionDecode;
  build(r.builder, r.label, shape, tile, r.rows());
}

static void buildSampleKernel(const Request &r) {
  auto shape = r.fill(
      SampleShape{.vocabulary = 32000, .element = r.builder.getF32Type()});
  auto tile = r.fill(SampleTile{.columns = 1024});
  buildSample(r.builder, r.label, shape, tile, r.rows());
}

static void buildRouteKernel(const Request &r) {
  auto shape = r.fill(
      RouteShape{.experts = 8, .topK = 2, .element = r.builder.getF32Type()});
  if (shape.groups < 1 || shape.experts % shape.groups != 0) {
    return r.settings.refuse("expected groups of whole experts, got " +
                             Twine(shape.experts) + " in " +
                             Twine(shape.groups));
  }
  buildRoute(r.builder, r.label, shape, r.settings.integer("waves", 1),
             r.rows());
}

static void buildPlacePart(const Request &r, bool isCount) {
  auto shape = r.fill(PlaceShape{.slots = r.fill(SlotShape{})});
  auto tile = r.fill(PlaceTile{});
  if (tile.step < 1 || tile.chunk % tile.step != 0) {
    return r.settings.refuse("expected chunks of whole steps, got " +
                             Twine(tile.chunk) + " pairs in steps of " +
                             Twine(tile.step));
  }
  auto build = isCount ? buildCountPairs : buildPlace;
  build(r.builder, r.label, shape, tile, r.rows());
}

static void buildSlotRows(const Request &r, bool isCombine) {
  auto shape = r.fill(SlotRowsShape{
      .slots = r.fill(SlotShape{}), .columns = 256, .element = r.bf16});
  auto build = isCombine ? buildCombine : buildExpand;
  build(r.builder, r.label, shape, r.rowTile(), r.rows());
}

static void buildExchangeKernel(const Request &r) {
  buildExchange(r.builder, r.label,
                r.exchange(r.settings.integer("columns", 256), 2), r.rowTile(),
                r.rows());
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
          {"head-linear", buildHeadLinearKernel},
          {"rope-append", buildRopeAppendKernel},
          {"rope", buildRopeKernel},
          {"append", buildAppendKernel},
          {"attention-prefill", buildPrefillKernel},
          {"attention-decode", [](auto &r) { buildDecodePart(r, false); }},
          {"attention-combine", [](auto &r) { buildDecodePart(r, true); }},
          {"sample", buildSampleKernel},
          {"exchange", buildExchangeKernel},
          {"route", buildRouteKernel},
          {"count-pairs", [](auto &r) { buildPlacePart(r, true); }},
          {"place", [](auto &r) { buildPlacePart(r, false); }},
          {"expand", [](auto &r) { buildSlotRows(r, false); }},
          {"combine", [](auto &r) { buildSlotRows(r, true); }},
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
