#include "lib/Support/Support.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

std::error_code takeError(llvm::raw_fd_ostream &os) {
  os.flush();
  std::error_code error = os.error();
  os.clear_error();
  return error == std::errc::broken_pipe ? std::error_code() : error;
}

int finishOutput(int code, llvm::raw_ostream &errors) {
  constexpr int kCannotWrite = 1;
  if (std::error_code error = takeError(llvm::outs())) {
    sayError(errors) << "cannot write to standard output: " << error.message()
                     << "\n";
    return kCannotWrite;
  }
  return code;
}

} // namespace modelc
