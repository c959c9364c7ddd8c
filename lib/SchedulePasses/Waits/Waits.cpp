#include "lib/SchedulePasses/Waits/Waits.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

WaitOp modelc::waitQueue(OpBuilder &builder, Location loc, Queue queue,
                         std::optional<int64_t> pending) {
  return WaitOp::create(builder, loc, ValueRange(), Value(), ValueRange(),
                        QueueAttr::get(builder.getContext(), queue),
                        pending ? builder.getI64IntegerAttr(*pending)
                                : IntegerAttr(),
                        UnitAttr());
}

WaitOp modelc::waitTokens(OpBuilder &builder, Location loc, ValueRange tokens) {
  return WaitOp::create(builder, loc, tokens, Value(), ValueRange(),
                        QueueAttr(), IntegerAttr(), UnitAttr());
}

WaitOp modelc::waitOn(OpBuilder &builder, Location loc, Value barrier,
                      Value trip) {
  return WaitOp::create(builder, loc, ValueRange(), barrier, ValueRange(trip),
                        QueueAttr(), IntegerAttr(), UnitAttr());
}

ArriveOp modelc::arriveAt(OpBuilder &builder, Location loc, Value barrier,
                          Value trip, ValueRange after, IntegerAttr bytes) {
  return ArriveOp::create(
      builder, loc, barrier, trip, after, Value(), bytes,
      ScopeAttr::get(builder.getContext(), Scope::Workgroup));
}
