//===- HostText.h - The parts of the generated host library ---------------===//
//
// Inner to lib/Emit: what is printed into modelc_kernels.cpp, in order.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_EMIT_HOST_HOSTTEXT_H
#define LIB_EMIT_HOST_HOSTTEXT_H

#include "lib/Emit/Host/HostPlan.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

/// The numbers and the table of kernels.
void printKernelTable(llvm::raw_ostream &os, const HostModule &kernels,
                      const Target &target);

/// One function for each kernel that launches it.
mlir::LogicalResult printLaunchers(llvm::raw_ostream &os,
                                   const HostModule &kernels);

/// One function for each choice: the first kernel whose guard holds.
void printChoices(llvm::raw_ostream &os, const HostModule &kernels);

/// The C functions modelc_<op>.
void printOps(llvm::raw_ostream &os, const HostModule &kernels);

/// Bindings, workspace and C functions of a plan.
mlir::LogicalResult printPlan(llvm::raw_ostream &os, const HostPlan &plan,
                              const HostModule &kernels);

/// One entry of a table of mc_binding.
struct BindingText {
  std::string name, role, source, type;
  llvm::ArrayRef<int64_t> shape;
  int64_t first = 0, count = 1;
  int64_t firstLayer = 0, layerStep = 0; ///< 0: of no layer
};
void printBinding(llvm::raw_ostream &os, const BindingText &binding);

/// A buffer that other devices reach is bound twice: this device's own, then a
/// table, in device memory, of its address on each device.
std::string peerTable(llvm::StringRef name);
void printPeerTable(llvm::raw_ostream &os, llvm::StringRef name,
                    int64_t devices, int64_t first);

/// The names of all ops that have a function, sorted.
std::vector<std::string> opNames(const HostModule &kernels);

/// Words joined to lines of at most 80 columns, the later ones indented.
std::string wrapped(llvm::StringRef head, llvm::ArrayRef<std::string> words,
                    llvm::StringRef tail, unsigned indent);

} // namespace modelc

#endif // LIB_EMIT_HOST_HOSTTEXT_H
