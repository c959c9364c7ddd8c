//===- Rings.h - Loops that copy, and how far ahead they may run ----------===//

#ifndef LIB_SCHEDULEPASSES_PIPELINE_RINGS_H
#define LIB_SCHEDULEPASSES_PIPELINE_RINGS_H

#include "dialects/Schedule/Schedule.h"
#include "lib/Hardware/Hardware.h"

namespace modelc {

/// One loop whose body copies into places.
struct Ring {
  schedule::LoopOp loop;
  llvm::SmallVector<schedule::CopyOp> copies;
  /// Asynchronous mmas that read the places of the copies.
  llvm::SmallVector<schedule::MmaOp> mmas;
  /// The first op that reads such a place: a mma, or a copy to tensor memory.
  mlir::Operation *reader = nullptr;
  mlir::Value full;            ///< barrier of box copies, or null
  schedule::ArriveOp announce; ///< of the bytes of one trip
  int64_t slots = 1;
  /// Whether a slot is filled again in the trip that has read it.
  bool refillsAtOnce = false;

  /// Trips from the one in which a copy is issued to its own.
  int64_t ahead() const { return refillsAtOnce ? slots : slots - 1; }
  /// Bytes that one trip fills.
  int64_t slotBytes() const;
};

/// The ring of a loop, if its body copies.
std::optional<Ring> findRing(schedule::LoopOp loop);

/// Whether all copies can be issued before their trip: their places in memory
/// do not depend on what the loop computes.
bool canRunAhead(const Ring &ring);

/// For each copy the wait of its trip behind which every lane may fill its
/// place again; none where some place has no such wait.
llvm::SmallVector<schedule::WaitOp> waitsOfReads(const Ring &ring);

/// Enough slots to keep the memory busy over its latency, as many as fit beside
/// `takenBytes`; the kernel attribute `slots` overrides.
int64_t chooseSlots(const Ring &ring, const Target &target, int64_t takenBytes);

/// Gives the places and the barrier of a ring its slots.
void setSlots(const Ring &ring);

/// `index` that many trips later.
mlir::Value advanced(mlir::OpBuilder &builder, const Ring &ring,
                     mlir::Value index, int64_t trips);

/// Whether the loop has a trip with that index.
mlir::Value isTrip(mlir::OpBuilder &builder, const Ring &ring,
                   mlir::Value index);

/// A copy of the ring at the trip of `index`. Where `live` is given it is
/// issued in any case and fetches nothing unless it holds.
void copyAt(mlir::OpBuilder &builder, const Ring &ring, schedule::CopyOp copy,
            mlir::Value index, mlir::Value live);

} // namespace modelc

#endif // LIB_SCHEDULEPASSES_PIPELINE_RINGS_H
