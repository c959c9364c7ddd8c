//===- BinaryFacts.h - What compilers say of a kernel ---------------------===//
//
// Inner to lib/Emit. Two kinds of compilers: one leaves notes in the binary,
// the other reports in words while it compiles.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_EMIT_PACKAGE_BINARYFACTS_H
#define LIB_EMIT_PACKAGE_BINARYFACTS_H

#include "lib/Emit/Emit.h"

namespace modelc {

/// From the notes of an ELF file with metadata in MessagePack. `why` says what
/// was not there.
llvm::FailureOr<BinaryFacts>
factsFromNotes(llvm::StringRef path, llvm::StringRef symbol, std::string &why);

/// From the words of an assembler and the intermediate text that it read.
llvm::FailureOr<BinaryFacts> factsFromReport(llvm::StringRef report,
                                             llvm::StringRef assembly,
                                             llvm::StringRef symbol,
                                             std::string &why);

} // namespace modelc

#endif // LIB_EMIT_PACKAGE_BINARYFACTS_H
