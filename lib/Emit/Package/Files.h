//===- Files.h - Files and folders of a package ---------------------------===//

#ifndef LIB_EMIT_PACKAGE_FILES_H
#define LIB_EMIT_PACKAGE_FILES_H

#include "llvm/ADT/Twine.h"
#include <string>
#include <system_error>

namespace modelc {

/// SHA-256 of a text in hexadecimal digits, as `sha256sum` prints it.
std::string sha256(llvm::StringRef text);

/// Makes a folder and those above it, for whom the user's mask lets in.
std::error_code createFolders(const llvm::Twine &path);

} // namespace modelc

#endif // LIB_EMIT_PACKAGE_FILES_H
