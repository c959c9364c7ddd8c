//===- LowerNorm.cpp - Norms, with the sum over ranks before them ---------===//

#include "lib/Kernels/Graph/Launches.h"
#include "lib/Kernels/Refusals.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

void kernels::launchNorm(Lowering &in, const NormShape &shape,
                         const NormArguments &arguments, StringRef label) {
  NamedValues all = arguments.operands;
  if (shape.isExchanged()) {
    llvm::append_range(all,
                       meetingPlaces(in, shape.exchange,
                                     in.library.tiling.tileOf(shape).columns));
  }
  llvm::append_range(all, arguments.results);
  if (shape.isExchanged()) {
    all.push_back({"rank", in.plan.sizes.rank});
  }
  all.push_back({"m", arguments.rows});
  in.plan.launch(in.library.norm(shape), all, label);
}

LogicalResult kernels::lower(Lowering &in, model::NormOp op) {
  return lower(in, op, {});
}

LogicalResult kernels::lower(Lowering &in, model::NormOp op,
                             model::AllReduceOp sum) {
  if (sum && failed(expectTensorAxis(sum, sum.getAxis()))) {
    return failure();
  }
  if (sum) {
    in.bindTo(sum.getOut(), sum.getX()); // in place
  }
  Value rows = in.rowsOf(op.getX());
  NormShape shape;
  shape.columns = op.getHeadDim().value_or(columnsOf(op.getX()));
  shape.heads = columnsOf(op.getX()) / shape.columns;
  const int64_t normed = op.getNormed().value_or(shape.columns);
  shape.normed = normed == shape.columns ? 0 : normed;
  shape.element = elementOf(op.getX());
  shape.weightType = op.getWeight() ? elementOf(op.getWeight()) : Type();
  shape.isOnePlus = op.getOnePlus();
  shape.result = numberType(in.stored(elementOf(op.getOut())));
  shape.hasResidual = static_cast<bool>(op.getResidual());
  shape.hasSum = static_cast<bool>(op.getSum());
  shape.epsilon = op.getEps().convertToDouble();
  shape.scales =
      scalesFor(shape.result, op.getScale(), in.library.tiling.target);
  shape.isTensorScaled = static_cast<bool>(op.getTensorScale());
  if (failed(verifyWords(op, shape.scales, shape.columns))) {
    return failure();
  }
  in.bindNumbers(op.getOut(), op.getScale(), rows);
  if (op.getSum()) {
    in.bind(op.getSum(), rows);
  }
  NormArguments arguments = {
      in.buffersOf({{"x", op.getX()},
                    {"weight", op.getWeight()},
                    {"residual", op.getResidual()},
                    {"tensor_scale", op.getTensorScale()}}),
      in.buffersOf({{"out", op.getOut()},
                    {"scale", op.getScale()},
                    {"sum", op.getSum()}}),
      rows};
  if (sum) {
    launchSums(in, sum, &shape, arguments, model::getShortName(op));
  } else {
    launchNorm(in, shape, arguments, model::getShortName(op));
  }
  return success();
}
