//===- LoaderJson.h - What the manifest tells loaders of weights ----------===//
//
// Inner to lib/Emit. Loaders in other languages than C++ (python/prepack)
// have what they need in the manifest: no table of theirs repeats the
// compiler's.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_EMIT_PACKAGE_LOADERJSON_H
#define LIB_EMIT_PACKAGE_LOADERJSON_H

#include "lib/Emit/Host/HostPlan.h"

#include "llvm/Support/JSON.h"

namespace modelc {

/// The key "order" of a weight that holds scales of blocks: the byte of each
/// bit of a row and of a block.
void writeOrder(llvm::json::OStream &json, const HostBuffer &buffer);

/// The key "numbers": what the bits of each type of few bits mean.
void writeNumbers(llvm::json::OStream &json, mlir::MLIRContext *context);

} // namespace modelc

#endif // LIB_EMIT_PACKAGE_LOADERJSON_H
