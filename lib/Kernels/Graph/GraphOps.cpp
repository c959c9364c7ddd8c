//===- GraphOps.cpp - The launches of each op of the model dialect --------===//

#include "lib/Kernels/Graph/GraphLowering.h"
#include "lib/Kernels/Refusals.h"
#include "lib/Kernels/Rows/SixBits.h"

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

/// The scales of blocks of `numbers`; those of rows are none.
static BlockScales scalesFor(Type numbers, Value scale, const Target &target) {
  bool isOfBlocks =
      scale && cast<RankedTensorType>(scale.getType()).getRank() == 2;
  return isOfBlocks ? blockScalesOf(numbers, elementOf(scale), &target)
                    : BlockScales();
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
  shape.result = numberType(stored(elementOf(op.getOut())));
  shape.hasResidual = static_cast<bool>(op.getResidual());
  shape.hasSum = static_cast<bool>(op.getSum());
  shape.epsilon = op.getEps().convertToDouble();
  shape.scales = scalesFor(shape.result, op.getScale(), library.tiling.target);
  shape.isTensorScaled = static_cast<bool>(op.getTensorScale());
  if (failed(verifyWords(op, shape.scales, shape.columns))) {
    return failure();
  }
  NormArguments arguments = {buffersOf(op->getOperands()), {}, rows};
  for (Value result : op->getResults()) {
    bind(result, rows);
    llvm::append_range(arguments.results, buffersOf(result));
  }
  if (model::AllReduceOp sum = sumOf(op)) {
    launchSums(sum, &shape, arguments, model::getShortName(op));
  } else {
    launchNorm(shape, arguments, model::getShortName(op));
  }
  return success();
}

QuantiseShape GraphLowering::quantiseShapeOf(model::QuantiseOp op) const {
  QuantiseShape shape = {columnsOf(op.getX()),
                         elementOf(op.getX()),
                         numberType(stored(elementOf(op.getOut()))),
                         false,
                         {},
                         static_cast<bool>(op.getTensorScale())};
  shape.scales = scalesFor(shape.result, op.getScale(), library.tiling.target);
  return shape;
}

model::QuantiseOp GraphLowering::quantiseOf(Operation *op) const {
  Value result = op->getResult(0);
  auto quantise = result.hasOneUse()
                      ? dyn_cast<model::QuantiseOp>(*result.getUsers().begin())
                      : nullptr;
  bool isAtHand = quantise && quantise->getBlock() == op->getBlock() &&
                  (!quantise.getTensorScale() ||
                   storage.contains(quantise.getTensorScale()));
  if (!isAtHand) {
    return nullptr;
  }
  // Lanes that make six bits make whole blocks: too few to add parts as well.
  QuantiseShape shape = quantiseShapeOf(quantise);
  bool hasWords = shape.scales && !hasTails(shape.result) &&
                  columnsOf(result) % shape.scales.wordNumbers() == 0;
  return hasWords ? quantise : nullptr;
}

/// [tensor_scale], out, scale.
SmallVector<Value> GraphLowering::resultsOf(model::QuantiseOp op) {
  SmallVector<Value> results;
  if (op.getTensorScale()) {
    results.push_back(bufferOf(op.getTensorScale()));
  }
  llvm::append_range(results, buffersOf({op.getOut(), op.getScale()}));
  return results;
}

void GraphLowering::launchQuantise(model::QuantiseOp op, Value x) {
  SmallVector<Value> arguments = {x};
  llvm::append_range(arguments, resultsOf(op));
  arguments.push_back(rowsOf(op.getOut()));
  plan.launch(library.quantise(quantiseShapeOf(op)), arguments,
              model::getShortName(op));
}

LogicalResult GraphLowering::lower(model::QuantiseOp op) {
  if (storage.contains(op.getOut())) {
    return success(); // what made the rows has quantised them
  }
  Value rows = rowsOf(op.getX());
  bind(op.getOut(), rows);
  bind(op.getScale(), rows);
  if (failed(
          verifyWords(op, quantiseShapeOf(op).scales, columnsOf(op.getX())))) {
    return failure();
  }
  launchQuantise(op, bufferOf(op.getX()));
  return success();
}

LogicalResult GraphLowering::lower(model::SwigluOp op) {
  Value rows = rowsOf(op.getGate());
  bind(op.getOut(), rows);
  int64_t columns = columnsOf(op.getGate());
  Type element = elementOf(op.getGate());
  SmallVector<Value> arguments = buffersOf(op->getOperands());
  llvm::append_range(arguments, buffersOf(op.getOut()));
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
    kernel = library.elementwise({Elementwise::Swiglu, columns, element});
  }
  arguments.push_back(rows);
  plan.launch(kernel, arguments, model::getShortName(op));
  return success();
}

LogicalResult GraphLowering::lower(model::ZerosOp op) {
  Value rows = rowsOf(op.getTokens());
  bind(op.getOut(), rows);
  plan.launch(library.elementwise({Elementwise::Zeros, columnsOf(op.getOut()),
                                   elementOf(op.getOut())}),
              {bufferOf(op.getOut()), rows}, model::getShortName(op));
  return success();
}

LogicalResult GraphLowering::lower(model::AddOp op) {
  Value rows = rowsOf(op.getA());
  bind(op.getOut(), rows);
  plan.launch(
      library.elementwise(
          {Elementwise::Add, columnsOf(op.getA()), elementOf(op.getA())}),
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
  if (arguments.rope) {
    launchRope(arguments.rope, partial,
               SumParts::of(shape, variant.tile.splits), arguments.epilogue);
    return plan.release(partial);
  }
  SmallVector<Value> reduce = {partial};
  llvm::append_range(reduce, arguments.epilogue);
  if (arguments.quantise) {
    llvm::append_range(reduce, resultsOf(arguments.quantise));
  } else {
    reduce.push_back(arguments.d);
  }
  reduce.push_back(arguments.rows);
  plan.launch(variant.reduce, reduce, label.str() + "_reduce");
  plan.release(partial);
}

void GraphLowering::launchLinear(const LinearShape &shape,
                                 ArrayRef<LinearVariant> variants,
                                 const LinearArguments &arguments,
                                 StringRef label) {
  SmallVector<Value> whole = arguments.operands;
  llvm::append_range(whole, arguments.epilogue);
  llvm::append_values(whole, arguments.d, arguments.rows);
  // Neighbours that do not split are one launch of several kernels.
  for (size_t i = 0; i < variants.size();) {
    size_t end = i + 1;
    SmallVector<Attribute> kernels = {variants[i].kernel};
    while (variants[i].tile.splits == 1 && end < variants.size() &&
           variants[end].tile.splits == 1) {
      Attribute next = variants[end++].kernel;
      if (!llvm::is_contained(kernels, next)) {
        kernels.push_back(next);
      }
    }
    Range range = {variants[i].rows.minimum, variants[end - 1].rows.maximum};
    auto launch = [&] {
      if (variants[i].tile.splits > 1) {
        return launchVariant(shape, variants[i], arguments, label);
      }
      plan.launch(kernels, whole, label);
      if (arguments.quantise) {
        launchQuantise(arguments.quantise, arguments.d);
      }
      if (arguments.rope) {
        launchRope(arguments.rope, arguments.d, {}, {});
      }
    };
    if (i == 0 && end == variants.size()) {
      launch();
    } else {
      plan.when(arguments.rows, range, launch);
    }
    i = end;
  }
}

static bool isScaleOfBlocks(model::LinearOp op, Value operand) {
  return (operand == op.getXScale() || operand == op.getWeightScale()) &&
         cast<RankedTensorType>(operand.getType()).getRank() == 2;
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
  arguments.operands = buffersOf({op.getX(), op.getWeight()});
  // Scales, bias and residual; those of blocks beside what they scale.
  for (Value operand : op->getOperands().drop_front(2)) {
    bool isOfBlocks = isScaleOfBlocks(op, operand);
    auto &list = isOfBlocks ? arguments.operands : arguments.epilogue;
    list.push_back(bufferOf(operand));
  }
  if (model::QuantiseOp quantise = quantiseOf(op)) {
    arguments.quantise = quantise;
    shape.quantise = quantiseShapeOf(quantise);
    bind(quantise.getOut(), arguments.rows);
    bind(quantise.getScale(), arguments.rows);
  }
  model::RopeAppendOp rope = ropeOf(op);
  if (rope && !shape.hasResidual) {
    arguments.rope = rope;
    bindRope(rope, arguments.rows);
  }
  FailureOr<SmallVector<LinearVariant>> found =
      library.linear(op, shape, rangesOf(arguments.rows));
  if (failed(found)) {
    return failure();
  }
  bool isSplit = llvm::all_of(*found, [](const LinearVariant &variant) {
    return variant.tile.splits > 1;
  });
  if (!(arguments.quantise || arguments.rope) || !isSplit) {
    bind(op.getOut(), arguments.rows);
    arguments.d = bufferOf(op.getOut());
  }
  launchLinear(shape, *found, arguments, model::getShortName(op));
  return success();
}

//===----------------------------------------------------------------------===//
// Sampling
//===----------------------------------------------------------------------===//

LogicalResult GraphLowering::lower(model::SampleOp op) {
  Value rows = rowsOf(op.getLogits());
  bind(op.getOut(), rows);
  SampleShape shape;
  shape.vocabulary = op.getWordCount();
  shape.padding = columnsOf(op.getLogits()) - shape.vocabulary;
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
