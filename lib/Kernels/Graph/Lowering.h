//===- Lowering.h - Ops of a graph become launches of a plan --------------===//
//
// One function for each op, in files by subject, that gets what is known so
// far: the plan, the library of kernels, and where values lie. A new op is its
// function, a line here, and its place in the list of `lowerOp`.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_GRAPH_LOWERING_H
#define LIB_KERNELS_GRAPH_LOWERING_H

#include "dialects/Model/Model.h"
#include "lib/Kernels/Graph/Plan.h"
#include "lib/Kernels/Library.h"
#include <array>
#include <map>

namespace modelc::kernels {

/// What a value of the graph is in the plan.
struct Storage {
  mlir::Value buffer;
  mlir::Value rows; ///< its number of rows; null for weights
  /// Of a cache: the buffer of values beside keys; null: keys hold them.
  mlir::Value values;
  mlir::Value keyScale = {}, valueScale = {}; ///< of a cache of 8 bits
  /// Of a cache: that of the queries that meet it, where they have 8 bits too.
  mlir::Value queryScale = {};
};

/// A graph that is being lowered, in the order of its ops.
struct Lowering {
  Lowering(model::GraphOp graph, Library &library);

  // Where values lie.
  mlir::Value bufferOf(mlir::Value value) const {
    return storage.lookup(value).buffer;
  }
  mlir::Value rowsOf(mlir::Value value) { return storage[value].rows; }
  /// The buffers of values, as arguments of a kernel: those of numbers of six
  /// bits also as their tails.
  NamedValues buffersOf(llvm::ArrayRef<NamedValue> values) const;
  /// The element type that the target stores it as.
  mlir::Type stored(mlir::Type type) const;
  /// What a buffer holds of a value: numbers; of scales of rows or blocks of
  /// such numbers: words.
  schedule::BufferType storedAs(mlir::RankedTensorType type,
                                mlir::Type scaled) const;
  /// Workspace for such a value.
  mlir::Value fresh(mlir::RankedTensorType type, mlir::Value rows,
                    mlir::Type scaled = {});
  /// Has a result in the buffer that an op must write it to: that of the
  /// carried value which it replaces, of an output, or fresh workspace.
  void bind(mlir::Value result, mlir::Value rows, mlir::Type scaled = {});
  /// Numbers and, where there are some, their scales.
  void bindNumbers(mlir::Value out, mlir::Value scale, mlir::Value rows);
  /// Has a value where another is, as what is written in place.
  void bindTo(mlir::Value result, mlir::Value other);
  /// Workspace whose last reader this op was can be reused, unless the op hands
  /// it on.
  void releaseOperands(mlir::Operation *op);

  // Arrays of a step.
  mlir::Value input(llvm::StringRef name, mlir::Type element,
                    llvm::ArrayRef<int64_t> shape, mlir::ValueRange sizes);
  mlir::Value starts();
  mlir::Value contexts();
  mlir::Value pages();

  // Sizes.
  /// The size where it lies in the range, else 0.
  mlir::Value inside(mlir::Value size, Range range);
  /// Ranges of rows, together all that a step of this phase can have.
  llvm::SmallVector<Range> rangesOf(mlir::Value rows) const;

  model::GraphOp graph;
  Library &library;
  Plan plan;
  llvm::DenseMap<mlir::Value, Storage> storage;
  /// Numbers of the layers whose ops are lowered, which take turns; empty
  /// outside of them.
  llvm::SmallVector<mlir::Value> layers;
  /// Of the values that a block yields: the buffers they must end up in.
  llvm::DenseMap<mlir::Value, mlir::Value> wanted;
  /// The parts of the keys of a sequence, and of a step, by all that they
  /// follow from: of the heads and of their tile.
  std::map<std::array<int64_t, 10>, std::pair<mlir::Value, mlir::Value>> splits;

private:
  void release(mlir::Value operand, mlir::Operation *reader);
  /// Groups of rows that share a piece of a buffer of scales.
  mlir::Value scaleGroups(mlir::Value rows);

  /// What follows from a size, by it and both ends of a range.
  llvm::DenseMap<std::pair<mlir::Value, std::pair<int64_t, int64_t>>,
                 mlir::Value>
      limits;
};

/// All ops of a block, or one of them. Mistakes are diagnostics at ops.
mlir::LogicalResult lowerBlock(Lowering &in, mlir::Block &block);
mlir::LogicalResult lowerOp(Lowering &in, mlir::Operation *op);

mlir::LogicalResult lower(Lowering &in, model::AddOp op);
mlir::LogicalResult lower(Lowering &in, model::AllGatherOp op);
mlir::LogicalResult lower(Lowering &in, model::AllReduceOp op);
mlir::LogicalResult lower(Lowering &in, model::AppendOp op);
mlir::LogicalResult lower(Lowering &in, model::AttentionOp op);
mlir::LogicalResult lower(Lowering &in, model::CacheOp op);
mlir::LogicalResult lower(Lowering &in, model::ConcatOp op);
mlir::LogicalResult lower(Lowering &in, model::EmbedOp op);
mlir::LogicalResult lower(Lowering &in, model::ExpertsOp op);
mlir::LogicalResult lower(Lowering &in, model::GateOp op);
mlir::LogicalResult lower(Lowering &in, model::GatherRowsOp op);
mlir::LogicalResult lower(Lowering &in, model::JoinedOp op);
mlir::LogicalResult lower(Lowering &in, model::LastOp op);
mlir::LogicalResult lower(Lowering &in, model::LatentAppendOp op);
mlir::LogicalResult lower(Lowering &in, model::LatentAttentionOp op);
mlir::LogicalResult lower(Lowering &in, model::LayersOp op);
mlir::LogicalResult lower(Lowering &in, model::LinearOp op);
mlir::LogicalResult lower(Lowering &in, model::NormOp op);
mlir::LogicalResult lower(Lowering &in, model::QuantiseOp op);
mlir::LogicalResult lower(Lowering &in, model::ReturnOp op);
mlir::LogicalResult lower(Lowering &in, model::RopeAppendOp op);
mlir::LogicalResult lower(Lowering &in, model::RopeOp op);
mlir::LogicalResult lower(Lowering &in, model::RouteOp op);
mlir::LogicalResult lower(Lowering &in, model::SampleOp op);
mlir::LogicalResult lower(Lowering &in, model::ScatterRowsOp op);
mlir::LogicalResult lower(Lowering &in, model::SwigluOp op);
mlir::LogicalResult lower(Lowering &in, model::WeightOp op);
mlir::LogicalResult lower(Lowering &in, model::YieldOp op);
mlir::LogicalResult lower(Lowering &in, model::ZerosOp op);

} // namespace modelc::kernels

#endif // LIB_KERNELS_GRAPH_LOWERING_H
