//===- Roles.h - What a linear is for -------------------------------------===//

#ifndef LIB_MODELPASSES_ROLES_H
#define LIB_MODELPASSES_ROLES_H

#include "dialects/Model/Model.h"

namespace modelc {

/// What a linear is for, read from the ops around it, never from names.
enum class Role {
  Query,
  KeyOrValue,
  Qkv,
  AttentionOutput,
  GateOrUp,
  Down,
  Head,
  Other
};

Role getRole(model::LinearOp linear);

/// Of a query, key or value linear: the op that takes its result, through RoPE.
mlir::Operation *getAttentionConsumer(model::LinearOp linear);

} // namespace modelc

#endif // LIB_MODELPASSES_ROLES_H
