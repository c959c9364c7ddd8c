#include "lib/Cost/Read/ReadKernel.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace modelc {

/// Whether waves load from global memory (scales) in a loop that reads ahead.
static bool loadsBesideReads(schedule::KernelOp kernel) {
  auto isOfMemory = [](schedule::LoadOp load) {
    return isa<schedule::BufferType>(load.getSource().getType());
  };
  auto isOne = [&](schedule::LoopOp loop) {
    return loop.getStagger() == 1 &&
           llvm::any_of(loop.getBody().getOps<schedule::LoadOp>(), isOfMemory);
  };
  return kernel
      .walk([&](schedule::LoopOp loop) {
        return isOne(loop) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

int64_t registersPerThread(schedule::KernelOp kernel, const Target &target) {
  const Execution &execution = target.execution;
  int64_t granule = std::max<int64_t>(1, execution.registerGranule);
  int64_t wanted =
      schedule::registersPerThread(kernel, execution.waveSize) +
      (loadsBesideReads(kernel) ? schedule::kAddressRegistersOfLoads
                                : schedule::kAddressRegisters);
  return std::min<int64_t>(llvm::alignTo(wanted, granule),
                           execution.maxRegistersPerThread);
}

} // namespace modelc
