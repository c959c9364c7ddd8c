//===- Waits.h - Making waits and arrivals --------------------------------===//

#ifndef LIB_SCHEDULEPASSES_WAITS_WAITS_H
#define LIB_SCHEDULEPASSES_WAITS_WAITS_H

#include "dialects/Schedule/Schedule.h"

namespace modelc {

/// A wait on a queue; without `pending` the count is still to be derived.
schedule::WaitOp waitQueue(mlir::OpBuilder &builder, mlir::Location loc,
                           schedule::Queue queue,
                           std::optional<int64_t> pending = std::nullopt);
/// A wait on the tokens of asynchronous ops.
schedule::WaitOp waitTokens(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::ValueRange tokens);
/// A wait on a logical trip of a barrier.
schedule::WaitOp waitOn(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value barrier, mlir::Value trip);
/// A signal of a logical trip of a barrier.
schedule::ArriveOp arriveAt(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value barrier, mlir::Value trip,
                            mlir::ValueRange after,
                            mlir::IntegerAttr bytes = {});

} // namespace modelc

#endif // LIB_SCHEDULEPASSES_WAITS_WAITS_H
