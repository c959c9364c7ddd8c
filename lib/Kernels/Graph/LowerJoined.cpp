//===- LowerJoined.cpp - Pairs of ops that one kernel computes ------------===//

#include "lib/Kernels/Graph/Launches.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

LogicalResult kernels::lower(Lowering &in, model::JoinedOp op) {
  Operation *first = op.getFirst(), *second = op.getSecond();
  for (auto [made, result] :
       llvm::zip_equal(second->getResults(), op->getResults())) {
    if (Value buffer = in.wanted.lookup(result)) {
      in.wanted[made] = buffer;
    }
  }
  in.library.asker = in.plan.asker = first->getLoc();
  auto quantise = dyn_cast<model::QuantiseOp>(second);
  LogicalResult lowered =
      llvm::TypeSwitch<Operation *, LogicalResult>(first)
          .Case(
              [&](model::LinearOp linear) { return lower(in, linear, second); })
          .Case([&](model::AttentionOp attention) {
            return lower(in, attention, quantise);
          })
          .Case([&](model::AllReduceOp sum) {
            return lower(in, cast<model::NormOp>(second), sum);
          });
  if (failed(lowered)) {
    return failure();
  }
  in.releaseOperands(first);
  if (!in.storage.contains(second->getResult(0)) &&
      failed(lowerOp(in, second))) {
    return failure();
  }
  in.releaseOperands(second);
  for (auto [made, result] :
       llvm::zip_equal(second->getResults(), op->getResults())) {
    in.bindTo(result, made);
  }
  return success();
}
