//===- Plan.h - The host function of one phase while it is built ----------===//

#ifndef LIB_KERNELS_GRAPH_PLAN_H
#define LIB_KERNELS_GRAPH_PLAN_H

#include "dialects/Schedule/Schedule.h"
#include "lib/Kernels/Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace modelc::kernels {

/// The end of a range that has none.
inline constexpr int64_t kNoLimit = INT64_MAX;

/// Sizes of a run in a plan.
struct PlanSizes {
  mlir::Value tokens, sequences, longest, pagesPerSequence, cacheRows, rank;
};

/// A buffer that is found again by its name.
struct NamedBuffer {
  schedule::StorageRole role;
  std::string source;
  llvm::SmallVector<int64_t> shape;
  mlir::Type element;
  llvm::SmallVector<mlir::Value> sizes; ///< bind `?`, then the layer if any
  schedule::LayoutAttr packed = {};     ///< null: row-major
};

/// A value by the name of the argument that it is for; a null one is none.
struct NamedValue {
  std::string name;
  mlir::Value value;
};
using NamedValues = llvm::SmallVector<NamedValue>;

/// Writes allocations, launches and loops of one plan.
class Plan {
public:
  Plan(mlir::ModuleOp module, llvm::StringRef name, bool isDecode,
       int64_t ranks);

  /// Workspace of `rows` rows; reused from what was released.
  mlir::Value workspace(mlir::Value rows, llvm::ArrayRef<int64_t> columns,
                        mlir::Type element, schedule::LayoutAttr packed = {});
  /// Gives workspace back for later ops. Others are ignored.
  void release(mlir::Value buffer);
  /// A buffer before all else, made once for each name.
  mlir::Value named(const NamedBuffer &buffer);
  /// A buffer at this point of the plan (a weight of a layer).
  mlir::Value local(const NamedBuffer &buffer);

  /// Of the kernels, the first that serves the sizes. That they take such
  /// arguments is verified when all kernels are there, at `asker`.
  void launch(llvm::ArrayRef<mlir::Attribute> kernels,
              llvm::ArrayRef<NamedValue> arguments, llvm::StringRef label);
  /// The body where `size` lies in the range.
  void when(mlir::Value size, Range range, llvm::function_ref<void()> body);
  mlir::Value isInside(mlir::Value size, Range range);
  mlir::Value isLess(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value yes, mlir::Value no);
  mlir::Value constant(int64_t value);
  /// Arithmetic on sizes, before all else.
  template <typename Op>
  mlir::Value compute(mlir::Value a, mlir::Value b) {
    return atTop([&] { return Op::create(builder, location(), a, b); });
  }
  mlir::Location location() { return builder.getUnknownLoc(); }

  mlir::OpBuilder builder;
  /// Of the op whose launches are written.
  mlir::Location asker;
  PlanSizes sizes;
  mlir::func::FuncOp function;
  bool isDecode;

private:
  template <typename Create>
  mlir::Value atTop(Create create);
  mlir::Value allocate(const NamedBuffer &buffer);

  mlir::Operation *lastTop = nullptr;
  llvm::DenseMap<int64_t, mlir::Value> constants;
  llvm::DenseMap<std::pair<mlir::Value, std::pair<int64_t, int64_t>>,
                 mlir::Value>
      conditions;
  llvm::StringMap<mlir::Value> namedBuffers;
  llvm::SmallVector<mlir::Value> unused;
  llvm::DenseMap<mlir::Value, mlir::Value> rowsOfWorkspace;
};

template <typename Create>
mlir::Value Plan::atTop(Create create) {
  mlir::OpBuilder::InsertionGuard guard(builder);
  if (lastTop) {
    builder.setInsertionPointAfter(lastTop);
  } else {
    builder.setInsertionPointToStart(&function.getBody().front());
  }
  mlir::Value value = create();
  lastTop = value.getDefiningOp();
  return value;
}

} // namespace modelc::kernels

#endif // LIB_KERNELS_GRAPH_PLAN_H
