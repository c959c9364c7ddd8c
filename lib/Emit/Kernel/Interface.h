//===- Interface.h - The parameters of an emitted kernel ------------------===//

#ifndef LIB_EMIT_KERNEL_INTERFACE_H
#define LIB_EMIT_KERNEL_INTERFACE_H

#include "dialects/Schedule/Schedule.h"

namespace modelc {

/// A tensor map that the host encodes: how box copies cut a buffer.
struct BoxMap {
  unsigned argument = 0; ///< of the kernel, the buffer
  std::string name;      ///< of the parameter
  int64_t rowDimension = 0, columnDimension = 0, otherDimension = -1;
  int64_t boxRows = 0, boxColumns = 0; ///< elements of one box
  int64_t swizzleBytes = 0;            ///< 0 = none
  mlir::Value rowEnd; ///< limit of the row dimension, or null: the extent
};

/// The name in the text of what the manifest calls `wish`, and of values:
/// "row_tiles" becomes rowTiles.
std::string lowerCamel(llvm::StringRef wish);

/// One parameter of the kernel function, in its order.
struct Parameter {
  enum class Kind {
    Buffer, ///< a pointer
    Peers,  ///< a table of pointers, one for each device of the group
    Size,   ///< of the run
    Map     ///< a tensor map
  };
  Kind kind;
  unsigned index; ///< of the argument, or of the box map
  std::string name;
  bool isWritten = false; ///< of a buffer
};

/// What a kernel is called with.
struct KernelInterface {
  llvm::SmallVector<Parameter> parameters;
  llvm::SmallVector<BoxMap> maps;
  llvm::DenseMap<mlir::Operation *, unsigned> mapOfCopy;

  /// Reports box copies that no tensor map can do.
  static llvm::FailureOr<KernelInterface> of(schedule::KernelOp kernel);
};

/// Where the elements of a memory op lie in its buffer.
struct Access {
  mlir::Operation *op = nullptr;
  mlir::Value buffer;
  mlir::ValueRange offsets, valid;
  mlir::Value rows, pageTable, sequence, peer;
  int64_t pageSize = 0;
  int64_t rowDimension = -1, columnDimension = -1; ///< -1 = none
  schedule::TileType tile;                         ///< null: a scalar

  static Access of(schedule::LoadOp op);
  static Access of(schedule::StoreOp op);
  static Access of(schedule::CopyOp op);
};

/// The largest power of two, at most 2^20, that is known to divide a value.
int64_t knownDivisor(mlir::Value value);

} // namespace modelc

#endif // LIB_EMIT_KERNEL_INTERFACE_H
