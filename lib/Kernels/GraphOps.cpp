//===- GraphOps.cpp - The launches of each op of the model dialect --------===//

#include "lib/Kernels/GraphLowering.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

static Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

static int64_t columnsOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getDimSize(1);
}

/// The scales of blocks of `numbers`.
static BlockScales scalesFor(Type numbers, Value scale, const Target &target) {
  return blockScalesOf(numbers, scale ? elementOf(scale) : Type(), &target);
}

/// Rows of blocks are whole words of scales.
static LogicalResult verifyWords(Operation *op, const BlockScales &scales,
                                 int64_t columns) {
  if (!scales || columns % scales.wordNumbers() == 0) {
    return success();
  }
  return op->emitError("expected rows of a multiple of ")
         << scales.wordNumbers() << " numbers of 4 bits, got " << columns
         << "; fewer ranks or other types of weights help";
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

LogicalResult GraphLowering::lower(model::EmbedOp op) {
  Value rows = rowsOf(op.getTokens());
  bind(op.getOut(), rows);
  auto table = cast<RankedTensorType>(op.getTable().getType());
  GatherShape shape = {table.getDimSize(1), table.getDimSize(0),
                       table.getElementType(), false};
  plan.launch(library.gather(shape),
              {bufferOf(op.getTokens()), bufferOf(op.getTable()),
               bufferOf(op.getOut()), rows},
              model::getShortName(op));
  return success();
}

LogicalResult GraphLowering::lower(model::LastOp op) {
  Value rows = plan.sizes.sequences;
  bind(op.getOut(), rows);
  GatherShape shape = {columnsOf(op.getX()), 0, elementOf(op.getX()), true};
  plan.launch(library.gather(shape),
              {starts(), bufferOf(op.getX()), bufferOf(op.getOut()), rows},
              model::getShortName(op));
  return success();
}

LogicalResult GraphLowering::lower(model::NormOp op) {
  Value rows = rowsOf(op.getX());
  NormShape shape;
  shape.columns = columnsOf(op.getX());
  shape.element = elementOf(op.getX());
  shape.weightType = elementOf(op.getWeight());
  shape.result = stored(elementOf(op.getOut()));
  shape.hasResidual = static_cast<bool>(op.getResidual());
  shape.hasSum = static_cast<bool>(op.getSum());
  shape.epsilon = op.getEps().convertToDouble();
  SmallVector<Value> arguments = buffersOf(op->getOperands());
  for (Value result : op->getResults()) {
    bind(result, rows);
    arguments.push_back(bufferOf(result));
  }
  arguments.push_back(rows);
  plan.launch(library.norm(shape), arguments, model::getShortName(op));
  return success();
}

LogicalResult GraphLowering::lower(model::QuantiseOp op) {
  Value rows = rowsOf(op.getX());
  bind(op.getOut(), rows);
  bind(op.getScale(), rows);
  QuantiseShape shape = {columnsOf(op.getX()),
                         elementOf(op.getX()),
                         numberType(stored(elementOf(op.getOut()))),
                         false,
                         {},
                         static_cast<bool>(op.getTensorScale())};
  shape.scales = scalesFor(shape.result, op.getScale(), library.tiling.target);
  if (failed(verifyWords(op, shape.scales, shape.columns))) {
    return failure();
  }
  SmallVector<Value> arguments = buffersOf(op->getOperands());
  llvm::append_values(arguments, bufferOf(op.getOut()), bufferOf(op.getScale()),
                      rows);
  plan.launch(library.quantise(shape), arguments, model::getShortName(op));
  return success();
}

LogicalResult GraphLowering::lower(model::SwigluOp op) {
  Value rows = rowsOf(op.getGate());
  bind(op.getOut(), rows);
  int64_t columns = columnsOf(op.getGate());
  Type element = elementOf(op.getGate());
  SmallVector<Value> arguments = buffersOf(op->getOperands());
  arguments.push_back(bufferOf(op.getOut()));
  FlatSymbolRefAttr kernel;
  if (op.getScale()) {
    bind(op.getScale(), rows);
    arguments.push_back(bufferOf(op.getScale()));
    Type result = numberType(stored(elementOf(op.getOut())));
    kernel = library.quantise(
        {columns, element, result, true,
         scalesFor(result, op.getScale(), library.tiling.target),
         static_cast<bool>(op.getTensorScale())});
  } else {
    kernel = library.elementwise(Elementwise::Swiglu, columns, element);
  }
  arguments.push_back(rows);
  plan.launch(kernel, arguments, model::getShortName(op));
  return success();
}

LogicalResult GraphLowering::lower(model::AddOp op) {
  Value rows = rowsOf(op.getA());
  bind(op.getOut(), rows);
  plan.launch(
      library.elementwise(Elementwise::Add, columnsOf(op.getA()),
                          elementOf(op.getA())),
      {bufferOf(op.getA()), bufferOf(op.getB()), bufferOf(op.getOut()), rows},
      model::getShortName(op));
  return success();
}

//===----------------------------------------------------------------------===//
// Linear
//===----------------------------------------------------------------------===//

static LinearShape shapeOf(model::LinearOp op, Type input, Type ofWeight,
                           const Target &target) {
  Type element = numberType(input), weight = numberType(ofWeight);
  LinearShape shape;
  shape.isSwiglu = op.getSwiglu();
  shape.columns = op.getOutputs() / (shape.isSwiglu ? 2 : 1);
  shape.inputs = op.getInputs();
  shape.element = element;
  shape.weight = weight == element ? Type() : weight;
  shape.result = elementOf(op.getOut());
  shape.biasType = op.getBias() ? elementOf(op.getBias()) : Type();
  shape.blockScales = scalesFor(weight, op.getWeightScale(), target);
  shape.isScaled =
      op.getXScale() && !scalesFor(element, op.getXScale(), target);
  shape.isTensorScaled = static_cast<bool>(op.getXTensorScale());
  shape.hasResidual = static_cast<bool>(op.getResidual());
  return shape;
}

void GraphLowering::launchVariant(const LinearShape &shape,
                                  const LinearVariant &variant,
                                  const LinearArguments &arguments,
                                  StringRef label) {
  Value rows = inside(arguments.rows, variant.rows);
  Value partial =
      plan.workspace(rows, {variant.tile.splits, shape.weightRows()},
                     plan.builder.getF32Type());
  SmallVector<Value> products = arguments.operands;
  llvm::append_values(products, partial, arguments.rows);
  plan.launch(variant.kernel, products, label);
  SmallVector<Value> reduce = {partial};
  llvm::append_range(reduce, arguments.epilogue);
  reduce.push_back(arguments.rows);
  plan.launch(variant.reduce, reduce, label.str() + "_reduce");
  plan.release(partial);
}

LogicalResult GraphLowering::lower(model::LinearOp op) {
  LinearArguments arguments;
  arguments.rows = rowsOf(op.getX());
  LinearShape shape =
      shapeOf(op, stored(elementOf(op.getX())),
              stored(elementOf(op.getWeight())), library.tiling.target);
  if (shape.scalesInputBlocks() &&
      failed(verifyWords(op, shape.blockScales, shape.inputs))) {
    return failure();
  }
  arguments.operands = {bufferOf(op.getX()), bufferOf(op.getWeight())};
  bind(op.getOut(), arguments.rows);
  // Scales, bias and residual; those of blocks beside what they scale.
  for (Value operand : op->getOperands().drop_front(2)) {
    bool isOfBlocks = model::isEightBit(elementOf(operand));
    auto &list = isOfBlocks ? arguments.operands : arguments.epilogue;
    list.push_back(bufferOf(operand));
  }
  arguments.epilogue.push_back(bufferOf(op.getOut()));
  FailureOr<SmallVector<LinearVariant>> found =
      library.linear(op, shape, rangesOf(arguments.rows));
  if (failed(found)) {
    return failure();
  }
  ArrayRef<LinearVariant> variants = *found;
  std::string label = model::getShortName(op);
  SmallVector<Value> whole = arguments.operands;
  llvm::append_range(whole, arguments.epilogue);
  whole.push_back(arguments.rows);
  // Neighbours that do not split are one launch of several kernels.
  for (size_t i = 0; i < variants.size();) {
    size_t end = i + 1;
    SmallVector<Attribute> kernels = {variants[i].kernel};
    while (variants[i].tile.splits == 1 && end < variants.size() &&
           variants[end].tile.splits == 1) {
      kernels.push_back(variants[end++].kernel);
    }
    Range range = {variants[i].rows.minimum, variants[end - 1].rows.maximum};
    auto launch = [&] {
      if (variants[i].tile.splits > 1) {
        return launchVariant(shape, variants[i], arguments, label);
      }
      plan.launch(kernels, whole, label);
    };
    if (i == 0 && end == variants.size()) {
      launch();
    } else {
      plan.when(arguments.rows, range, launch);
    }
    i = end;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

Value GraphLowering::starts() {
  Value count = limits[{plan.sizes.sequences, -1}];
  if (!count) {
    count = plan.compute<arith::AddIOp>(plan.sizes.sequences, plan.constant(1));
    limits[{plan.sizes.sequences, -1}] = count;
  }
  return input("starts", plan.builder.getI32Type(), {kDynamic}, count);
}

Value GraphLowering::contexts() {
  return input("contexts", plan.builder.getI32Type(), {kDynamic},
               plan.sizes.sequences);
}

Value GraphLowering::pages() {
  return input("pages", plan.builder.getI32Type(), {kDynamic, kDynamic},
               {plan.sizes.sequences, plan.sizes.pagesPerSequence});
}

Value GraphLowering::ropeTable(model::RopeAppendOp op, int64_t headDim) {
  std::string source = llvm::formatv("rope head_dim {0} theta {1}", headDim,
                                     op.getTheta().convertToDouble());
  if (auto scaling = op.getScaling()) {
    source +=
        llvm::formatv(" factor {0} low_freq_factor {1} high_freq_factor {2} "
                      "original_context {3}",
                      scaling->getFactor().convertToDouble(),
                      scaling->getLowFreqFactor().convertToDouble(),
                      scaling->getHighFreqFactor().convertToDouble(),
                      scaling->getOriginalContext());
  }
  int64_t positions =
      graph.getMaxContext().value_or(library.options.maxContext);
  return plan.named({StorageRole::Constant,
                     source,
                     {kDynamic, 2, headDim / 2},
                     plan.builder.getF32Type(),
                     {plan.constant(positions)}});
}

LogicalResult GraphLowering::lower(model::RopeAppendOp op) {
  model::CacheType cache = op.getCache().getType();
  HeadShape shape = headsOf(cache, op.getHeads(), elementOf(op.getQkv()));
  bind(op.getQ(), rowsOf(op.getQkv()));
  const Storage place = storage[op.getCache()];
  storage[op.getCacheOut()] = place;
  SmallVector<Value> arguments = {bufferOf(op.getQkv()),
                                  ropeTable(op, shape.headDim),
                                  starts(),
                                  contexts(),
                                  pages(),
                                  bufferOf(op.getQ()),
                                  place.buffer,
                                  place.values};
  if (shape.isScaled()) {
    llvm::append_values(arguments, place.keyScale, place.valueScale);
  }
  llvm::append_values(arguments, plan.sizes.tokens, plan.sizes.sequences,
                      plan.sizes.longest, plan.sizes.pagesPerSequence);
  plan.launch(library.ropeAppend(shape, plan.isDecode), arguments,
              model::getShortName(op));
  return success();
}

/// As many parts of the keys as fill the machine, of one tile at least, and all
/// parts of a step.
std::pair<Value, Value> GraphLowering::splitsOf(const HeadShape &shape) {
  std::pair<Value, Value> &known = splits[shape.kvHeads];
  if (!known.first) {
    Value sequences = plan.sizes.sequences;
    DecodeTile tile = library.tiling.decode(shape);
    Value groups =
        plan.compute<arith::MulIOp>(sequences, plan.constant(shape.kvHeads));
    Value share = plan.compute<arith::CeilDivSIOp>(
        plan.constant(library.tiling.fullGrid()), groups);
    Value tiles = plan.compute<arith::CeilDivSIOp>(
        plan.compute<arith::MulIOp>(plan.sizes.pagesPerSequence,
                                    plan.constant(shape.pageSize)),
        plan.constant(tile.keys));
    known.first =
        plan.compute<arith::MinSIOp>(plan.compute<arith::MinSIOp>(share, tiles),
                                     plan.constant(tile.maxSplits));
    known.second = plan.compute<arith::MulIOp>(sequences, known.first);
  }
  return known;
}

void GraphLowering::launchPrefill(const HeadShape &shape, const Storage &place,
                                  Value q, Value out, StringRef label) {
  SmallVector<Value> arguments = {q, place.buffer, place.values};
  if (shape.isScaled()) {
    llvm::append_values(arguments, place.keyScale, place.valueScale);
  }
  llvm::append_values(arguments, starts(), contexts(), pages(), out,
                      plan.sizes.tokens, plan.sizes.sequences,
                      plan.sizes.longest, plan.sizes.pagesPerSequence);
  plan.launch(library.prefill(shape), arguments, label);
}

void GraphLowering::launchDecode(const HeadShape &shape, const Storage &place,
                                 Value q, Value out, StringRef label) {
  Value sequences = plan.sizes.sequences;
  auto [splits, parts] = splitsOf(shape);
  Type f32 = plan.builder.getF32Type();
  Value part = plan.workspace(parts, {shape.heads, shape.headDim}, f32);
  Value stat = plan.workspace(parts, {shape.heads, 2}, f32);
  SmallVector<Value> arguments = {q, place.buffer, place.values};
  SmallVector<Value> combine = {part, stat};
  if (shape.isScaled()) {
    arguments.push_back(place.keyScale);
    combine.push_back(place.valueScale);
  }
  llvm::append_values(arguments, contexts(), pages(), part, stat, sequences,
                      splits, plan.sizes.pagesPerSequence);
  llvm::append_values(combine, out, sequences, splits);
  plan.launch(library.decode(shape), arguments, label);
  plan.launch(library.combine(shape), combine, label.str() + "_combine");
  plan.release(part);
  plan.release(stat);
}

LogicalResult GraphLowering::lower(model::AttentionOp op) {
  HeadShape shape =
      headsOf(op.getCache().getType(), op.getHeads(), elementOf(op.getQ()));
  bind(op.getOut(), rowsOf(op.getQ()));
  const Storage place = storage[op.getCache()];
  Value q = bufferOf(op.getQ()), out = bufferOf(op.getOut());
  if (plan.isDecode) {
    launchDecode(shape, place, q, out, model::getShortName(op));
  } else {
    launchPrefill(shape, place, q, out, model::getShortName(op));
  }
  return success();
}

LogicalResult GraphLowering::lower(model::SampleOp op) {
  Value rows = rowsOf(op.getLogits());
  bind(op.getOut(), rows);
  SampleShape shape;
  shape.vocabulary = columnsOf(op.getLogits());
  shape.element = elementOf(op.getLogits());
  shape.isGreedy = op.getSampling() == model::Sampling::Greedy;
  shape.topK = op.getTopK().value_or(0);
  shape.topP = op.getTopP() ? op.getTopP()->convertToDouble() : 1;
  shape.temperature =
      op.getTemperature() ? op.getTemperature()->convertToDouble() : 1;
  SmallVector<Value> arguments = {bufferOf(op.getLogits())};
  if (!shape.isGreedy) {
    arguments.push_back(input("draws", plan.builder.getF32Type(), {kDynamic},
                              plan.sizes.sequences));
  }
  arguments.push_back(bufferOf(op.getOut()));
  arguments.push_back(rows);
  plan.launch(library.sample(shape), arguments, model::getShortName(op));
  return success();
}
