//===- Trips.h - A slice of a loop body at another trip -------------------===//

#ifndef LIB_SCHEDULEPASSES_PIPELINE_TRIPS_H
#define LIB_SCHEDULEPASSES_PIPELINE_TRIPS_H

#include "dialects/Schedule/Schedule.h"
#include "mlir/IR/IRMapping.h"

namespace modelc {

/// Whether `value` can be computed at any trip of `loop`: from its index, from
/// values outside, by arithmetic and scalar loads.
bool isFunctionOfTrip(mlir::Value value, schedule::LoopOp loop);

/// `value` at another trip of `loop`, computed at the builder's place.
/// `mapping` maps the loop's index to that of the other trip and remembers what
/// has been computed.
mlir::Value atTrip(mlir::OpBuilder &builder, mlir::Value value,
                   schedule::LoopOp loop, mlir::IRMapping &mapping);

/// A copy of `load` at trip `index` of `loop`, at the builder's place; what it
/// reads follows from the trip.
mlir::Value loadAt(mlir::OpBuilder &builder, schedule::LoadOp load,
                   mlir::Value index, schedule::LoopOp loop);

/// The same loop with more values from trip to trip, the last of its arguments:
/// the caller gives what is yielded for them. Replaces and erases `loop`.
schedule::LoopOp carryMore(schedule::LoopOp loop, mlir::ValueRange inits);

/// Whether a loop has 0 or 1 trips: a condition.
bool isCondition(schedule::LoopOp loop);

/// A constant of type index.
mlir::Value constantOf(mlir::OpBuilder &builder, mlir::Location loc,
                       int64_t value);

/// The value if it is a constant of type index.
std::optional<int64_t> constantIndex(mlir::Value value);

} // namespace modelc

#endif // LIB_SCHEDULEPASSES_PIPELINE_TRIPS_H
