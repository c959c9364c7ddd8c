//===- Slots.h - How many tiles and slots a step has, in kernels ----------===//

#ifndef LIB_KERNELS_EXPERTS_SLOTS_H
#define LIB_KERNELS_EXPERTS_SLOTS_H

#include "lib/Kernels/ExpertFamilies.h"
#include "lib/Kernels/KernelBuilder.h"
#include "llvm/Support/MathExtras.h"

namespace modelc::kernels {

/// The sizes of a step, of indexes.
struct StepSlots {
  Scalar pairs, tiles, slots;

  static StepSlots of(KernelBuilder &k, const SlotShape &shape, Scalar tokens) {
    Scalar pairs = k.name("pairs", tokens * static_cast<double>(shape.topK));
    Scalar experts = k.constant(shape.experts);
    Scalar more = maximum(pairs - experts, k.constant(0));
    Scalar tiles =
        k.name("tiles", minimum(pairs, experts) +
                            more / static_cast<double>(shape.tileRows));
    return {pairs, tiles,
            k.name("slots", tiles * static_cast<double>(shape.tileRows))};
  }
};

} // namespace modelc::kernels

#endif // LIB_KERNELS_EXPERTS_SLOTS_H
