//===- LowerRows.cpp - Ops on rows, each by itself ------------------------===//

#include "lib/Kernels/Graph/Launches.h"
#include "lib/Kernels/Refusals.h"
#include "lib/Kernels/Rows/SixBits.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

BlockScales kernels::scalesFor(Type numbers, Value scale,
                               const Target &target) {
  bool isOfBlocks =
      scale && cast<RankedTensorType>(scale.getType()).getRank() == 2;
  return isOfBlocks ? blockScalesOf(numbers, elementOf(scale), &target)
                    : BlockScales();
}

/// The number that a type has of it.
static double roundedTo(APFloat number, Type type) {
  bool isInexact = false;
  number.convert(cast<FloatType>(type).getFloatSemantics(),
                 APFloat::rmNearestTiesToEven, &isInexact);
  return number.convertToDouble();
}

LogicalResult kernels::lower(Lowering &in, model::EmbedOp op) {
  Value rows = in.rowsOf(op.getTokens());
  in.bind(op.getOut(), rows);
  auto table = cast<RankedTensorType>(op.getTable().getType());
  GatherShape shape = {table.getDimSize(1), table.getDimSize(0),
                       table.getElementType(), false};
  if (op.getTimes()) {
    shape.times = roundedTo(*op.getTimes(), shape.element);
  }
  in.plan.launch(in.library.gather(shape),
                 {{"ids", in.bufferOf(op.getTokens())},
                  {"table", in.bufferOf(op.getTable())},
                  {"out", in.bufferOf(op.getOut())},
                  {"m", rows}},
                 model::getShortName(op));
  return success();
}

LogicalResult kernels::lower(Lowering &in, model::LastOp op) {
  Value rows = in.plan.sizes.sequences;
  in.bind(op.getOut(), rows);
  GatherShape shape = {columnsOf(op.getX()), 0, elementOf(op.getX()), true};
  in.plan.launch(in.library.gather(shape),
                 {{"starts", in.starts()},
                  {"table", in.bufferOf(op.getX())},
                  {"out", in.bufferOf(op.getOut())},
                  {"m", rows}},
                 model::getShortName(op));
  return success();
}

QuantiseShape kernels::quantiseShapeOf(Lowering &in, model::QuantiseOp op) {
  QuantiseShape shape = {columnsOf(op.getX()),
                         elementOf(op.getX()),
                         numberType(in.stored(elementOf(op.getOut()))),
                         false,
                         {},
                         static_cast<bool>(op.getTensorScale())};
  shape.scales =
      scalesFor(shape.result, op.getScale(), in.library.tiling.target);
  return shape;
}

bool kernels::canQuantiseParts(Lowering &in, model::QuantiseOp op) {
  // Lanes that make six bits make whole blocks: too few to add parts as well.
  QuantiseShape shape = quantiseShapeOf(in, op);
  return shape.scales && !hasTails(shape.result) &&
         shape.columns % shape.scales.wordNumbers() == 0;
}

NamedValues kernels::resultsOf(const Lowering &in, model::QuantiseOp op) {
  return in.buffersOf({{"tensor_scale", op.getTensorScale()},
                       {"out", op.getOut()},
                       {"scale", op.getScale()}});
}

void kernels::launchQuantise(Lowering &in, model::QuantiseOp op, Value x) {
  NamedValues arguments = {{"x", x}};
  llvm::append_range(arguments, resultsOf(in, op));
  arguments.push_back({"m", in.rowsOf(op.getOut())});
  in.plan.launch(in.library.quantise(quantiseShapeOf(in, op)), arguments,
                 model::getShortName(op));
}

LogicalResult kernels::lower(Lowering &in, model::QuantiseOp op) {
  in.bindNumbers(op.getOut(), op.getScale(), in.rowsOf(op.getX()));
  if (failed(verifyWords(op, quantiseShapeOf(in, op).scales,
                         columnsOf(op.getX())))) {
    return failure();
  }
  launchQuantise(in, op, in.bufferOf(op.getX()));
  return success();
}

LogicalResult kernels::lower(Lowering &in, model::SwigluOp op) {
  Value rows = in.rowsOf(op.getGate());
  in.bindNumbers(op.getOut(), op.getScale(), rows);
  int64_t columns = columnsOf(op.getGate());
  Type element = elementOf(op.getGate());
  Gating gating = op.getGating() == model::Gating::GeluTanh ? Gating::GeluTanh
                                                            : Gating::Silu;
  FlatSymbolRefAttr kernel;
  if (op.getScale()) {
    Type result = numberType(in.stored(elementOf(op.getOut())));
    kernel = in.library.quantise(
        {columns, element, result, true,
         scalesFor(result, op.getScale(), in.library.tiling.target),
         static_cast<bool>(op.getTensorScale()), false, gating});
  } else {
    kernel = in.library.elementwise(
        {Elementwise::Swiglu, columns, element, {}, gating});
  }
  NamedValues arguments = in.buffersOf({{"gate", op.getGate()},
                                        {"up", op.getUp()},
                                        {"tensor_scale", op.getTensorScale()},
                                        {"out", op.getOut()},
                                        {"scale", op.getScale()}});
  arguments.push_back({"m", rows});
  in.plan.launch(kernel, arguments, model::getShortName(op));
  return success();
}

LogicalResult kernels::lower(Lowering &in, model::ZerosOp op) {
  Value rows = in.rowsOf(op.getTokens());
  in.bind(op.getOut(), rows);
  in.plan.launch(
      in.library.elementwise(
          {Elementwise::Zeros, columnsOf(op.getOut()), elementOf(op.getOut())}),
      {{"out", in.bufferOf(op.getOut())}, {"m", rows}},
      model::getShortName(op));
  return success();
}

LogicalResult kernels::lower(Lowering &in, model::AddOp op) {
  Value rows = in.rowsOf(op.getA());
  in.bind(op.getOut(), rows);
  in.plan.launch(in.library.elementwise({Elementwise::Add, columnsOf(op.getA()),
                                         elementOf(op.getA())}),
                 {{"a", in.bufferOf(op.getA())},
                  {"b", in.bufferOf(op.getB())},
                  {"out", in.bufferOf(op.getOut())},
                  {"m", rows}},
                 model::getShortName(op));
  return success();
}

LogicalResult kernels::lower(Lowering &in, model::GateOp op) {
  Value rows = in.rowsOf(op.getX());
  in.bind(op.getOut(), rows);
  ElementwiseShape shape = {Elementwise::Gate, columnsOf(op.getX()),
                            elementOf(op.getX())};
  shape.gate = elementOf(op.getGate());
  shape.isGateOfRow = columnsOf(op.getGate()) == 1;
  in.plan.launch(in.library.elementwise(shape),
                 {{"x", in.bufferOf(op.getX())},
                  {"gate", in.bufferOf(op.getGate())},
                  {"out", in.bufferOf(op.getOut())},
                  {"m", rows}},
                 model::getShortName(op));
  return success();
}

LogicalResult kernels::lower(Lowering &in, model::ConcatOp op) {
  Value rows = in.rowsOf(op.getA());
  in.bind(op.getOut(), rows);
  ElementwiseShape shape = {Elementwise::Copy, 0, elementOf(op.getA())};
  shape.allColumns = columnsOf(op.getOut());
  for (Value part : {op.getA(), op.getB()}) {
    shape.columns = columnsOf(part);
    in.plan.launch(in.library.elementwise(shape),
                   {{"x", in.bufferOf(part)},
                    {"out", in.bufferOf(op.getOut())},
                    {"m", rows}},
                   model::getShortName(op));
    shape.first += shape.columns;
  }
  return success();
}

LogicalResult kernels::lower(Lowering &in, model::SampleOp op) {
  Value rows = in.rowsOf(op.getLogits());
  in.bind(op.getOut(), rows);
  SampleShape shape;
  shape.vocabulary = op.getWordCount();
  shape.padding = columnsOf(op.getLogits()) - shape.vocabulary;
  shape.element = elementOf(op.getLogits());
  shape.isGreedy = op.getSampling() == model::Sampling::Greedy;
  shape.topK = op.getTopK().value_or(0);
  shape.topP = op.getTopP() ? op.getTopP()->convertToDouble() : 1;
  shape.temperature =
      op.getTemperature() ? op.getTemperature()->convertToDouble() : 1;
  Value draws = shape.isGreedy ? Value()
                               : in.input("draws", in.plan.builder.getF32Type(),
                                          {kDynamic}, in.plan.sizes.sequences);
  in.plan.launch(in.library.sample(shape),
                 {{"logits", in.bufferOf(op.getLogits())},
                  {"draws", draws},
                  {"out", in.bufferOf(op.getOut())},
                  {"sequences", rows}},
                 model::getShortName(op));
  return success();
}
