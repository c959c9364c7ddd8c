//===- Csv.h - Fields of comma-separated values ---------------------------===//
//
// Inner to lib/Report.
//
//===----------------------------------------------------------------------===//

#ifndef MODELC_LIB_REPORT_CSV_H
#define MODELC_LIB_REPORT_CSV_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace modelc {

/// The text, quoted where it holds what separates.
std::string csvField(llvm::StringRef text);

} // namespace modelc

#endif // MODELC_LIB_REPORT_CSV_H
