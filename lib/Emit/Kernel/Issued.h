//===- Issued.h - What one thread of a workgroup issues ---------*- C++ -*-===//

#ifndef LIB_EMIT_KERNEL_ISSUED_H
#define LIB_EMIT_KERNEL_ISSUED_H

#include "mlir/IR/Block.h"

namespace modelc {

/// Behind the last of the ops that one thread issues from `first` on, with what
/// only they need between them: at least two, or a loop that it runs alone;
/// `first` where there are none.
mlir::Block::iterator endOfIssued(mlir::Block::iterator first,
                                  mlir::Block &block);

} // namespace modelc

#endif // LIB_EMIT_KERNEL_ISSUED_H
