//===- GraphLowering.h - Ops of a graph, one after the other --------------===//

#ifndef LIB_KERNELS_GRAPH_GRAPHLOWERING_H
#define LIB_KERNELS_GRAPH_GRAPHLOWERING_H

#include "dialects/Model/Model.h"
#include "lib/Kernels/Graph/Plan.h"
#include "lib/Kernels/Library.h"
#include <array>
#include <map>

namespace modelc::kernels {

/// What a value of the graph is in the plan.
struct Storage {
  mlir::Value buffer;
  mlir::Value rows;   ///< its number of rows; null for weights
  mlir::Value values; ///< of a cache: the buffer of values beside keys
  mlir::Value keyScale = {}, valueScale = {}; ///< of a cache of 8 bits
  /// Of a cache: that of the queries that meet it, where they have 8 bits too.
  mlir::Value queryScale = {};
};

class GraphLowering {
public:
  GraphLowering(model::GraphOp graph, Library &library);
  mlir::LogicalResult run();
  mlir::func::FuncOp getPlan() { return plan.function; }

private:
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  void releaseOperands(mlir::Operation *op);
  /// What a buffer holds of a value: numbers, or words of scales.
  schedule::BufferType storedAs(mlir::Value value) const;
  /// The buffer that an op must write a result to: that of the carried value
  /// which it replaces, of an output, or fresh workspace.
  mlir::Value destination(mlir::Value result, mlir::Value rows);
  void bind(mlir::Value result, mlir::Value rows);
  mlir::Value bufferOf(mlir::Value value) { return storage[value].buffer; }
  /// As arguments of a kernel: heads and tails of numbers of six bits.
  llvm::SmallVector<mlir::Value> buffersOf(mlir::ValueRange values);
  mlir::Value rowsOf(mlir::Value value) { return storage[value].rows; }
  /// The element type that the target stores it as.
  mlir::Type stored(mlir::Type type) const;
  bool isDoubledScale(model::WeightOp op) const;
  HeadShape headsOf(model::CacheType cache, int64_t heads,
                    mlir::Type element) const;
  /// The only reader of the queries, where it takes them in 8 bits; or null.
  model::AttentionOp narrowReaderOf(mlir::Value q) const;
  /// Heads whose queries `reader` takes in 8 bits, if it is not null.
  void narrow(HeadShape &shape, Storage &cache, model::AttentionOp reader);
  void launchAttention(model::AttentionOp op, const HeadShape &shape,
                       const Storage &cache, mlir::Value q);

  mlir::LogicalResult lower(model::LayersOp op);
  mlir::LogicalResult lower(model::WeightOp op);
  mlir::LogicalResult lower(model::CacheOp op);
  mlir::LogicalResult lower(model::EmbedOp op);
  mlir::LogicalResult lower(model::NormOp op);
  mlir::LogicalResult lower(model::LinearOp op);
  mlir::LogicalResult lower(model::RopeAppendOp op);
  mlir::LogicalResult lower(model::AppendOp op);
  mlir::LogicalResult lower(model::AttentionOp op);
  mlir::LogicalResult lower(model::SwigluOp op);
  mlir::LogicalResult lower(model::AddOp op);
  mlir::LogicalResult lower(model::ZerosOp op);
  mlir::LogicalResult lower(model::QuantiseOp op);
  mlir::LogicalResult lower(model::LastOp op);
  mlir::LogicalResult lower(model::SampleOp op);
  mlir::LogicalResult lower(model::AllReduceOp op);
  mlir::LogicalResult lower(model::AllGatherOp op);
  mlir::LogicalResult lower(model::GatherRowsOp op);
  mlir::LogicalResult lower(model::ScatterRowsOp op);
  /// Reports what ranks along another axis than `tp` would share.
  static mlir::LogicalResult expectTensorAxis(mlir::Operation *op,
                                              model::Axis axis);
  mlir::LogicalResult lower(model::ReturnOp op);
  mlir::LogicalResult lower(model::YieldOp op);

  QuantiseShape quantiseShapeOf(model::QuantiseOp op) const;
  /// What quantises the result of the op in blocks, if nothing else reads it
  /// and the scale of the tensor is known before; or null.
  model::QuantiseOp quantiseOf(mlir::Operation *op) const;
  llvm::SmallVector<mlir::Value> resultsOf(model::QuantiseOp op);
  void launchQuantise(model::QuantiseOp op, mlir::Value x);
  /// The only reader of a decode step's queries, keys and values, or null.
  model::RopeAppendOp ropeOf(model::LinearOp op) const;
  void bindRope(model::RopeAppendOp op, mlir::Value rows);
  /// Binds the cache behind what appends to it. Returns where it lies.
  Storage bindCache(mlir::Value cache, mlir::Value cacheOut);
  /// Of queries, keys and values, or of parts of their sums, which `epilogue`
  /// finishes.
  void launchRope(model::RopeAppendOp op, mlir::Value qkv, const SumParts &sums,
                  mlir::ValueRange epilogue);
  struct LinearArguments {
    llvm::SmallVector<mlir::Value> operands; ///< a, w, scales of blocks
    llvm::SmallVector<mlir::Value> epilogue; ///< scales, bias, residual
    mlir::Value rows;
    mlir::Value d;              ///< null: all that is made is quantised
    model::QuantiseOp quantise; ///< of d, or null
    model::RopeAppendOp rope;   ///< of d, or null
  };
  void launchLinear(const LinearShape &shape,
                    llvm::ArrayRef<LinearVariant> variants,
                    const LinearArguments &arguments, llvm::StringRef label);
  void launchVariant(const LinearShape &shape, const LinearVariant &variant,
                     const LinearArguments &arguments, llvm::StringRef label);
  void launchPrefill(const HeadShape &shape, const Storage &place,
                     mlir::Value q, mlir::Value out, llvm::StringRef label);
  /// `quantise`: what the kernel that joins parts does with them too, or null.
  void launchDecode(const HeadShape &shape, const Storage &place, mlir::Value q,
                    mlir::Value out, model::QuantiseOp quantise,
                    llvm::StringRef label);
  void launchParts(const HeadShape &shape, const Storage &place, mlir::Value q,
                   mlir::ValueRange results, llvm::StringRef label);
  model::QuantiseOp quantiseInParts(model::AttentionOp op,
                                    const HeadShape &shape);
  /// i32 or f32 arrays of a step, by name.
  mlir::Value input(llvm::StringRef name, mlir::Type element,
                    llvm::ArrayRef<int64_t> shape, mlir::ValueRange sizes);
  mlir::Value ropeTable(model::RopeAppendOp op, int64_t headDim);
  std::pair<mlir::Value, mlir::Value> splitsOf(const HeadShape &shape);
  mlir::Value starts();
  mlir::Value contexts();
  mlir::Value pages();
  struct NormArguments {
    llvm::SmallVector<mlir::Value> operands, results;
    mlir::Value rows;
  };
  void launchNorm(const NormShape &shape, const NormArguments &arguments,
                  llvm::StringRef label);
  /// Adds up rows in place, or in the norm that is all that reads the sums.
  void launchSums(model::AllReduceOp op, const NormShape *norm,
                  const NormArguments &arguments, llvm::StringRef label);
  void launchSum(model::AllReduceOp op, const SumVariant &way,
                 const NormShape *norm, const NormArguments &arguments,
                 llvm::StringRef label);
  ExchangeShape exchangeOf(model::AllReduceOp op);
  /// Where the devices meet: staging buffers, flags, counts of calls; of tiles
  /// of so many columns.
  llvm::SmallVector<mlir::Value> meetingPlaces(const ExchangeShape &shape,
                                               int64_t tileColumns);
  void meetingPlaces(ExchangeShape shape, const SumVariant &way,
                     const NormShape *norm);
  /// Groups of rows that share a piece of a buffer of scales.
  mlir::Value scaleGroups(mlir::Value rows);
  /// The size where it lies in the range, else 0.
  mlir::Value inside(mlir::Value size, Range range);
  /// Ranges of rows, together all that a step of this phase can have.
  llvm::SmallVector<Range> rangesOf(mlir::Value rows) const;
  /// Writes what the body yields over what it was given.
  mlir::LogicalResult planCarried(model::LayersOp op);

  model::GraphOp graph;
  Library &library;
  Plan plan;
  llvm::DenseMap<mlir::Value, Storage> storage;
  mlir::Value layer; ///< number of the layer, inside one
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> limits;
  /// By all that they follow from: of the heads and of their tile.
  std::map<std::array<int64_t, 9>, std::pair<mlir::Value, mlir::Value>> splits;
  /// Of the values that a block yields: the buffers they must end up in.
  llvm::DenseMap<mlir::Value, mlir::Value> wanted;
};

/// The sum over devices that only this norm reads, or null.
model::AllReduceOp sumOf(model::NormOp norm);

/// The linear with SwiGLU whose weight's blocks the value scales, or null.
model::LinearOp swigluScaledBy(mlir::Value scale);

/// What the loader of a checkpoint must do to fill the buffer, as text that
/// targets/host/README.md explains.
std::string sourceOf(model::WeightOp weight, bool isDoubled);

} // namespace modelc::kernels

#endif // LIB_KERNELS_GRAPH_GRAPHLOWERING_H
