//===- Fuse.h - The steps of model-fuse -----------------------------------===//

#ifndef LIB_MODELPASSES_FUSE_H
#define LIB_MODELPASSES_FUSE_H

#include "dialects/Model/Model.h"

namespace modelc {

/// q, k and v of one input become one linear, RoPE and append one op.
void fuseQkv(model::AttentionOp attention);

/// Gate and up of one input become one linear with SwiGLU as epilogue.
void fuseGateUp(model::SwigluOp swiglu);

} // namespace modelc

#endif // LIB_MODELPASSES_FUSE_H
