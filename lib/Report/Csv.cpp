#include "lib/Report/Csv.h"
#include "lib/Report/OpRows.h"
#include "lib/Text/Text.h"
#include "llvm/Support/raw_ostream.h"

namespace modelc {

std::string csvField(llvm::StringRef text) {
  if (text.find_first_of(",\"\n") == llvm::StringRef::npos) {
    return text.str();
  }
  std::string quoted = "\"";
  for (char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

static void printPhase(llvm::StringRef phase, const PlanCost &plan,
                       llvm::raw_ostream &os) {
  for (const OpRow &row : opRows(plan)) {
    os << phase << ',' << csvField(row.label) << ',' << csvField(row.kernel);
    for (double number :
         {row.count, row.seconds.bound, row.seconds.expectation, row.share,
          row.joules, row.memoryBytes, row.linkBytes, row.flop}) {
      os << ',' << exactNumber(number);
    }
    os << ',' << csvField(row.limit) << "\n";
  }
}

void printCsv(const Report &report, llvm::raw_ostream &os) {
  os << "phase,op,kernel,count,bound_s,expectation_s,share,joules,memory_bytes,"
        "link_bytes,flop,limit\n";
  printPhase("prefill", report.prefill, os);
  printPhase("decode", report.decode, os);
}

} // namespace modelc
