//===- PtxBarriers.h - Barriers in shared memory --------------------------===//

#ifndef LIB_CHECK_PTX_PTXBARRIERS_H
#define LIB_CHECK_PTX_PTXBARRIERS_H

#include "lib/Check/Ptx/PtxLanes.h"

namespace modelc::ptx {

/// The barrier at an address, which must have been initialised, and that must
/// be known to the wave; null after a failure.
Barrier *findBarrier(Warp &warp, uint32_t address);

/// The same for a unit that will arrive there, which sees what a thread has
/// initialised only behind a fence.
Barrier *findBarrierOfUnit(Warp &warp, uint32_t address);
/// fence.mbarrier_init: units and the cluster see what each active lane has
/// initialised, if they come behind it.
void publishBarriers(Warp &warp, const Instruction &instruction);

/// What comes to a barrier.
struct Arrival {
  uint32_t arrivals = 0;
  int64_t expected = 0; // bytes that are to come, or, negative, have come
};
/// Arrives with what is known there; ends the phase when all have come.
void arriveAt(Warp &warp, Barrier &barrier, const Arrival &arrival,
              const Knowledge &with);

/// The same at an address, from an operation that happens late.
void arriveFrom(Warp &warp, uint32_t address, const Arrival &arrival,
                const Knowledge &with);

/// Queues an operation that happens as late as it may.
enum class Order : uint8_t { Tensor, Copy };
void doLater(Warp &warp, Order order, std::function<void()> run);

} // namespace modelc::ptx

#endif // LIB_CHECK_PTX_PTXBARRIERS_H
