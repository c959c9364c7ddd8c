//===- Places.h - Operands of products in shared and tensor memory --------===//
//
// Inner to lib/SchedulePasses: what the files that place operands share.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_SCHEDULEPASSES_PLACEMENT_PLACES_H
#define LIB_SCHEDULEPASSES_PLACEMENT_PLACES_H

#include "dialects/Schedule/Schedule.h"
#include "lib/Hardware/Hardware.h"

namespace modelc {

/// Of a load whose box all workgroups of the cluster load alike.
constexpr llvm::StringLiteral kMulticast = "multicast";

/// What announces and awaits the box copies of one trip of a loop.
struct Phase {
  mlir::Value full;
  schedule::ArriveOp arrive;
  schedule::WaitOp wait;
};

/// Places made so far, so that a load with two readers is copied once.
struct Places {
  Places(schedule::KernelOp kernel, const Target &target)
      : kernel(kernel), target(target) {}
  schedule::KernelOp kernel;
  const Target &target;
  llvm::DenseMap<mlir::Operation *, mlir::Value> ofLoad;
  llvm::DenseMap<mlir::Operation *, Phase> ofLoop;
  /// Products whose operands boxes fetch.
  llvm::DenseSet<mlir::Operation *> fedByBoxes;
};

/// The loop on sequence whose body holds the op, or null.
schedule::LoopOp sequenceAround(mlir::Operation *op);

/// The number of the trip: the index itself where the loop steps by one.
mlir::Value tripOf(mlir::OpBuilder &builder, schedule::LoopOp loop);

/// Where `part` of what `whole` names comes from: "sum" has "sum_done".
mlir::Location locOfPart(mlir::Location whole, llvm::StringRef part);

/// Storage for the life of the kernel.
mlir::Value makeAlloc(Places &places, mlir::Location loc, mlir::Type type);

/// A place in shared memory for what `load` reads: the same one each time.
/// `isNew` where nothing fills it yet.
mlir::Value placeFor(Places &places, schedule::LoadOp load, bool &isNew);

/// The place of a load in the body of `loop`, filled by a box copy every trip:
/// before the wait of the loop, behind which products stand.
mlir::Value makeBox(Places &places, schedule::LoadOp load,
                    schedule::LoopOp loop);

/// Scales in tensor memory, copied there every trip from the box that lands in
/// shared memory. One unit copies and multiplies in the order in which it is
/// asked: the copies need no wait. `workgroups`: that copy their own together.
mlir::Value scalesInTensor(Places &places, mlir::OpBuilder &builder,
                           mlir::Value box, mlir::Value trip,
                           mlir::IntegerAttr workgroups);

/// All lanes copy what `load` reads into a place, of a ring that of `trip`.
schedule::CopyOp copyByLanes(mlir::OpBuilder &builder, schedule::LoadOp load,
                             mlir::Value place, mlir::ValueRange trip);

/// The place of a load in the body of `loop`, filled anew every trip by copies
/// of all lanes, complete before the load, which is left to the caller.
mlir::Value makePlace(Places &places, schedule::LoadOp load,
                      schedule::LoopOp loop);

/// What an operand is mapped from, loads in the body of `loop`, through places.
void readThroughPlaces(Places &places, mlir::Value operand,
                       schedule::LoopOp loop);

/// Where a product finds an operand.
struct Found {
  mlir::Value operand;
  mlir::Value slot;      ///< null for a value, and for a place without trips
  bool isStored = false; ///< by waves: a sync must follow
  mlir::BlockArgument carried = {}; ///< waves store it in the trip before
};
/// Brings an operand to where the row reads it.
Found findOperand(Places &places, schedule::MmaOp mma, mlir::Value operand,
                  OperandSpace space);

/// Lets the waves meet before a product that reads what they have copied once
/// or stored.
void meetBefore(schedule::MmaOp mma, llvm::ArrayRef<Found> operands);

/// The op of `block` before which the result of a product must be there; null
/// where another product goes on with it.
mlir::Operation *firstUse(mlir::Value result, mlir::Block *block);

/// A store of a whole value to its place.
void storeToPlace(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value value, mlir::Value place);

/// The same loop without one of the values that it carries, which nothing may
/// use any more; replaces and erases `loop`.
schedule::LoopOp dropCarried(schedule::LoopOp loop, unsigned index);

/// A product of four waves whose operands lanes copy to where it reads them:
/// asynchronous, and awaited before its result is used.
void placeByLanes(Places &places, schedule::MmaOp mma, const MmaRow &row);

/// A product into tensor memory that waves read or change every trip.
void placeDrained(Places &places, schedule::MmaOp mma, const MmaRow &row);

} // namespace modelc

#endif // LIB_SCHEDULEPASSES_PLACEMENT_PLACES_H
