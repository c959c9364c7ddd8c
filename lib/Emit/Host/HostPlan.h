//===- HostPlan.h - What the host knows of a plan -------------------------===//
//
// Inner to lib/Emit. A plan is a function of launches over buffers by role. The
// caller binds all buffers but those of the workspace, which lie in slots:
// buffers that are never needed at the same time share one.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_EMIT_HOST_HOSTPLAN_H
#define LIB_EMIT_HOST_HOSTPLAN_H

#include "lib/Emit/Host/HostKernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace modelc {

/// One buffer of a plan.
struct HostBuffer {
  schedule::AllocOp op;
  std::string name;
  schedule::StorageRole role = schedule::StorageRole::Workspace;
  /// Bound by the caller: its place among the tensors of the plan, and how many
  /// alike there are (one for each layer). A peer buffer is followed by the
  /// table of its addresses on all devices.
  int64_t first = 0, count = 1;
  mlir::Value layer; ///< index of the loop over layers, or null
  /// Index and layer that `first` is for, and what is added to both for the
  /// next one; 0: of no layer.
  int64_t firstIndex = 0, firstLayer = 0, layerStep = 0;

  /// The extents, those that the plan fixes included; below 0: of the run.
  llvm::SmallVector<int64_t> shape() const;
  schedule::BufferType type() const {
    return llvm::cast<schedule::BufferType>(
        schedule::AllocOp(op).getResult().getType());
  }
  /// Of words of scales: the byte, in the words of a group of rows side by
  /// side, where the scale of a row and block lies.
  std::optional<Layout> order() const;
  /// Where the contents come from; of words that lie packed also where.
  std::string source() const;
};

/// A size that follows from those of the run; may use those before it.
struct HostSize {
  std::string name, text;
};

/// A part of the workspace that some buffers share.
struct HostSlot {
  llvm::SmallVector<unsigned> buffers;
  std::string bytes; ///< an expression over the sizes of the run
};

/// A plan in facts.
struct HostPlan {
  mlir::func::FuncOp op;
  std::string name;
  std::vector<std::string> sizeNames;
  std::vector<HostSize> derived;
  SizeNames sizes; ///< of the run and derived
  std::vector<HostBuffer> bindings, workspace;
  std::vector<HostSlot> slots;
  int64_t tensorCount = 0, ranks = 1;

  static llvm::FailureOr<HostPlan> of(mlir::func::FuncOp op,
                                      const HostModule &kernels);
  /// The extents of a buffer, as expressions over the sizes.
  llvm::FailureOr<std::vector<std::string>>
  extents(const HostBuffer &buffer) const;
};

/// All plans of a module, in order.
llvm::FailureOr<std::vector<HostPlan>> plansOf(mlir::ModuleOp module,
                                               const HostModule &kernels);

/// Fills `plan.slots`.
mlir::LogicalResult assignSlots(HostPlan &plan, const HostModule &kernels);

} // namespace modelc

#endif // LIB_EMIT_HOST_HOSTPLAN_H
