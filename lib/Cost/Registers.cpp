#include "lib/Cost/ReadKernel.h"
#include "llvm/Support/MathExtras.h"

namespace modelc {

int64_t registersPerThread(schedule::KernelOp kernel, const Target &target) {
  const Execution &execution = target.execution;
  int64_t granule = std::max<int64_t>(1, execution.registerGranule);
  int64_t wanted = schedule::registersPerThread(kernel, execution.waveSize) +
                   schedule::kAddressRegisters;
  return std::min<int64_t>(llvm::alignTo(wanted, granule),
                           execution.maxRegistersPerThread);
}

} // namespace modelc
