//===- GraphPrinter.h - A graph op by op in TOML --------------------------===//

#ifndef LIB_IMPORT_GRAPHPRINTER_H
#define LIB_IMPORT_GRAPHPRINTER_H

#include "lib/Import/Reader.h"

namespace modelc {

/// Prints blocks and names (ExportGraph.cpp), and what each op has
/// (ExportOps.cpp).
class GraphPrinter {
public:
  GraphPrinter(model::GraphOp graph, llvm::raw_ostream &os)
      : graph(graph), os(os) {}

  mlir::LogicalResult print();

private:
  void printTables();
  mlir::LogicalResult printBlock(llvm::ArrayRef<mlir::Operation *> ops);
  mlir::LogicalResult printLayers(model::LayersOp layers);
  mlir::LogicalResult printOp(mlir::Operation *op);
  void begin(mlir::Operation *op, mlir::ValueRange inputs);
  mlir::LogicalResult weight(llvm::StringRef key, mlir::Value value);
  void size(llvm::StringRef key, std::optional<int64_t> value) {
    if (value) {
      os << ", " << key << " = " << *value;
    }
  }
  void role(model::LinearOp op);
  void number(llvm::StringRef key, std::optional<llvm::APFloat> value) {
    if (value) {
      os << ", " << key << " = " << exactReal(value->convertToDouble());
    }
  }
  void word(llvm::StringRef key, llvm::StringRef value) {
    os << ", " << key << " = " << tomlString(value);
  }
  void flag(llvm::StringRef key, bool isSet) {
    if (isSet) {
      os << ", " << key << " = true";
    }
  }
  /// A weight that an op may lack.
  mlir::LogicalResult weightIf(llvm::StringRef key, mlir::Value value) {
    return value ? weight(key, value) : mlir::success();
  }
  mlir::LogicalResult norm(model::NormOp op);
  mlir::LogicalResult linear(model::LinearOp op);
  mlir::LogicalResult rope(model::RopeOp op);
  mlir::LogicalResult latentAttention(model::LatentAttentionOp op);
  mlir::LogicalResult route(model::RouteOp op);
  mlir::LogicalResult experts(model::ExpertsOp op);
  mlir::LogicalResult attention(model::AttentionOp op);
  mlir::LogicalResult unsupported(mlir::Operation *op) {
    return op->emitError(
               "expected a graph as it was imported, before any pass, "
               "got '")
           << op->getName() << "'";
  }
  std::string name(mlir::Value value);
  /// One name, or a list of some.
  static std::string listOf(llvm::ArrayRef<std::string> words);

  model::GraphOp graph;
  llvm::raw_ostream &os;
  llvm::DenseMap<mlir::Value, std::string> names;
  model::RopeOp sharedRope;
};

} // namespace modelc

#endif // LIB_IMPORT_GRAPHPRINTER_H
