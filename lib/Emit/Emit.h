//===- Emit.h - From the final form to sources, host library, package -----===//
//
// One body printer for all machines: one spelling for each schedule op, whose
// tile functions each machine's prelude defines (targets/), and one expression
// printer for `map` regions and index arithmetic. What is printed is
// deterministic to the byte.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_EMIT_EMIT_H
#define LIB_EMIT_EMIT_H

#include "dialects/Schedule/Schedule.h"
#include "lib/Hardware/Hardware.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace modelc {

/// What the caller knows beyond the IR.
struct EmitOptions {
  /// One line on time and energy, for the header comment; empty: none.
  std::string prediction;
};

/// The source of one kernel in the final form: header comment, layouts, the
/// kernel function. Needs only the target's prelude to compile. A kernel that
/// is not in the final form is an error at the op that is not.
llvm::FailureOr<std::string> emitKernel(schedule::KernelOp kernel,
                                        const Target &target,
                                        const EmitOptions &options = {});

/// Suffix of a source file in the target's language, with its dot.
llvm::StringRef sourceSuffix(const Target &target);

} // namespace modelc

#endif // LIB_EMIT_EMIT_H
