//===- HostKernels.h - What the host knows of the kernels -----------------===//
//
// Inner to lib/Emit. The facts that the host library and the manifest share:
// how a kernel is launched, which kernels are choices for one call, and what
// the tensors of a call must be.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_EMIT_HOST_HOSTKERNELS_H
#define LIB_EMIT_HOST_HOSTKERNELS_H

#include "lib/Emit/Emit.h"
#include "lib/Emit/Host/HostSizes.h"
#include "lib/Emit/Kernel/Interface.h"
#include "llvm/ADT/StringSet.h"

namespace modelc {

/// Names of the variables of a function of the host library, each once, apart
/// from those that the library has itself.
class HostNames {
public:
  HostNames();
  std::string fresh(llvm::StringRef wish);

private:
  llvm::StringSet<> taken;
};

/// One kernel and how it is launched.
struct HostKernel {
  schedule::KernelOp op;
  KernelInterface interface;
  std::string symbol, opName;
  std::vector<std::string> hostNames; ///< of the arguments, as variables
  std::string grid; ///< workgroups, an expression over its size arguments
  int64_t threads = 0, sharedBytes = 0, cluster = 1;
  int64_t dynamicBytes = 0; ///< of the shared memory, what the launch asks for
  SizeNames sizes;          ///< of its size arguments

  /// Arguments by kind, in order.
  llvm::SmallVector<unsigned> buffers() const;
  llvm::SmallVector<unsigned> sizeArguments() const;
  schedule::BufferType bufferType(unsigned argument) const;
  std::string argumentName(unsigned argument) const;
  /// Of the argument, as a variable.
  const std::string &hostName(llvm::StringRef argument) const;
  schedule::BufferRole role(unsigned argument) const;
  bool isPeer(unsigned argument) const { return role(argument).reachesPeers; }
};

/// Kernels of one op with the same arguments: the first whose guard holds runs.
struct HostChoice {
  std::string name;                    ///< of the function that chooses
  std::string opName;                  ///< of all of them
  llvm::SmallVector<unsigned> kernels; ///< in order of preference
  const HostKernel &first(llvm::ArrayRef<HostKernel> all) const {
    return all[kernels.front()];
  }
};

/// All kernels of a module and the choices that its plans and ops make.
struct HostModule {
  std::vector<HostKernel> kernels;
  std::vector<HostChoice> choices;
  llvm::StringMap<unsigned> bySymbol;

  static llvm::FailureOr<HostModule> of(mlir::ModuleOp module,
                                        const Target &target);
  /// The choice that a launch makes, by its symbols.
  const HostChoice &choiceOf(schedule::LaunchOp launch) const;
  /// The kernels that a launch names.
  llvm::SmallVector<unsigned> kernelsOf(schedule::LaunchOp launch) const;
};

/// The spelling of an element type in the host library and in the manifest.
std::string hostType(mlir::Type type);
std::string typeName(mlir::Type type);

/// "m in [1, 64], k a multiple of 8": the guard in words.
std::string guardText(schedule::KernelOp kernel);

/// Path of a kernel's binary in the package.
std::string binaryPath(llvm::StringRef symbol, const Target &target);

} // namespace modelc

#endif // LIB_EMIT_HOST_HOSTKERNELS_H
