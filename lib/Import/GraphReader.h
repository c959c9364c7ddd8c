//===- GraphReader.h - Ops of the long form of TOML -----------------------===//

#ifndef LIB_IMPORT_GRAPHREADER_H
#define LIB_IMPORT_GRAPHREADER_H

#include "lib/Import/Reader.h"
#include <map>

namespace modelc {

/// Builds the graph that blocks of ops spell out: Graph.cpp reads blocks, names
/// and sizes, GraphOps.cpp what each op has.
class GraphReader {
public:
  GraphReader(Source &source, const DecoderShape &shared, Where where)
      : source(source), shared(shared),
        m(source.context, shared.name, shared.options, where) {
    names["tokens"] = m.tokens();
  }

  mlir::LogicalResult readSizes(const Node &table) {
    return sizes.readTable(source, table);
  }
  mlir::LogicalResult readBlock(const Node &block);
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> finish(Where where) {
    return m.finish(lastResult, where);
  }

private:
  using Values = mlir::SmallVector<mlir::Value>;
  /// One kind of op: what it is called, how many values it reads.
  struct OpKind {
    llvm::StringRef name;
    size_t inputs;
    Values (GraphReader::*build)(TableReader &, llvm::ArrayRef<mlir::Value>,
                                 Where);
  };
  static llvm::ArrayRef<OpKind> opKinds();

  mlir::LogicalResult readOps(const Node &ops);
  mlir::LogicalResult readOp(const Node &op);
  mlir::LogicalResult readLayers(TableReader &block, const Node &ops,
                                 int64_t count);
  mlir::FailureOr<std::vector<std::string>> readWords(TableReader &reader,
                                                      llvm::StringRef key);
  mlir::FailureOr<Values> lookUp(TableReader &reader, llvm::StringRef key);
  mlir::Value readWeight(TableReader &reader, llvm::StringRef key,
                         llvm::ArrayRef<int64_t> shape, Where where);
  int64_t columns(TableReader &reader, mlir::Value value);
  void readRole(TableReader &reader, int64_t outputs, int64_t inputs,
                LinearOptions &options);
  void expectSameColumns(TableReader &reader, llvm::ArrayRef<mlir::Value> in);

  int64_t sizeOrZero(TableReader &reader, llvm::StringRef key);
  ExpertWeights readExperts(TableReader &reader, int64_t hidden, Where where);
  mlir::Value optionalWeight(TableReader &reader, llvm::StringRef key,
                             llvm::ArrayRef<int64_t> shape, Where where,
                             const WeightOptions &options = {});

  Values embed(TableReader &reader, llvm::ArrayRef<mlir::Value> in,
               Where where);
  Values norm(TableReader &reader, llvm::ArrayRef<mlir::Value> in, Where where);
  Values linear(TableReader &reader, llvm::ArrayRef<mlir::Value> in,
                Where where);
  Values rope(TableReader &reader, llvm::ArrayRef<mlir::Value> in, Where where);
  Values attention(TableReader &reader, llvm::ArrayRef<mlir::Value> in,
                   Where where);
  Values latentAttention(TableReader &reader, llvm::ArrayRef<mlir::Value> in,
                         Where where);
  Values swiglu(TableReader &reader, llvm::ArrayRef<mlir::Value> in,
                Where where);
  Values route(TableReader &reader, llvm::ArrayRef<mlir::Value> in,
               Where where);
  Values experts(TableReader &reader, llvm::ArrayRef<mlir::Value> in,
                 Where where);
  Values gate(TableReader &reader, llvm::ArrayRef<mlir::Value> in, Where where);
  Values concat(TableReader &reader, llvm::ArrayRef<mlir::Value> in,
                Where where);
  Values add(TableReader &reader, llvm::ArrayRef<mlir::Value> in, Where where);
  Values last(TableReader &reader, llvm::ArrayRef<mlir::Value> in, Where where);
  Values sample(TableReader &reader, llvm::ArrayRef<mlir::Value> in,
                Where where);

  Source &source;
  const DecoderShape &shared;
  Model m;
  std::map<std::string, mlir::Value> names;
  Sizes sizes;
  std::string prefix;
  mlir::Value lastResult;
};

} // namespace modelc

#endif // LIB_IMPORT_GRAPHREADER_H
