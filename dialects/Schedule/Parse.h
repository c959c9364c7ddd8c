//===- Parse.h - What the written parsers of ops share --------------------===//

#ifndef DIALECTS_SCHEDULE_PARSE_H
#define DIALECTS_SCHEDULE_PARSE_H

#include "mlir/IR/OpImplementation.h"

namespace modelc::schedule {

/// `attributes { ... }`, if it is there. An attribute of the op that is of
/// another kind than the op says is a mistake: it would be left out without a
/// word else.
mlir::ParseResult parseOwnAttributes(mlir::OpAsmParser &parser,
                                     mlir::OperationState &result);

} // namespace modelc::schedule

#endif // DIALECTS_SCHEDULE_PARSE_H
