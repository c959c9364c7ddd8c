//===- LowerRoute.cpp - Which experts a token goes to ---------------------===//

#include "lib/Kernels/Graph/Launches.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

static RouteShape shapeOf(model::RouteOp op) {
  RouteShape shape;
  shape.experts = columnsOf(op.getLogits());
  shape.topK = static_cast<int64_t>(op.getTopK());
  shape.element = elementOf(op.getLogits());
  shape.scoring = static_cast<Scoring>(op.getScoring());
  shape.correction =
      op.getCorrection() ? elementOf(op.getCorrection()) : Type();
  if (std::optional<model::GroupsAttr> groups = op.getGroups()) {
    shape.groups = groups->getCount();
    shape.keptGroups = groups->getKept();
    shape.groupScore = static_cast<GroupScore>(groups->getScore());
    shape.groupMask = static_cast<GroupMask>(groups->getMask());
  }
  shape.isRenormalised = op.getRenormalised().has_value();
  if (shape.isRenormalised) {
    shape.epsilon = op.getRenormalised()->convertToDouble();
  }
  if (op.getScaled()) {
    shape.scale = op.getScaled()->convertToDouble();
  }
  return shape;
}

LogicalResult kernels::lower(Lowering &in, model::RouteOp op) {
  Value tokens = in.rowsOf(op.getLogits());
  in.bind(op.getExperts(), tokens);
  in.bind(op.getWeights(), tokens);
  NamedValues arguments = in.buffersOf({{"logits", op.getLogits()},
                                        {"correction", op.getCorrection()},
                                        {"chosen", op.getExperts()},
                                        {"weights", op.getWeights()}});
  arguments.push_back({"tokens", tokens});
  in.plan.launch(in.library.route(shapeOf(op)), arguments,
                 model::getShortName(op));
  return success();
}
