#include "lib/Emit/Package/Files.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SHA256.h"

namespace modelc {

std::string sha256(llvm::StringRef text) {
  llvm::SHA256 hash;
  hash.update(text);
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

std::error_code createFolders(const llvm::Twine &path) {
  namespace fs = llvm::sys::fs;
  // LLVM's default is for owner and group alone.
  return fs::create_directories(path, /*IgnoreExisting=*/true, fs::all_all);
}

} // namespace modelc
