//===- Support.h - Files with places, quantities with units ---------------===//
//
// What every reader of a user's file needs: TOML and JSON as one tree whose
// nodes know their place, messages that point into the text, "did you mean",
// and quantities with checked units.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_SUPPORT_SUPPORT_H
#define LIB_SUPPORT_SUPPORT_H

#include "lib/Support/Facts.h"
#include "lib/Support/Files.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/LogicalResult.h"
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace llvm {
class MemoryBuffer;
class raw_fd_ostream;
class raw_ostream;
} // namespace llvm

namespace modelc {

//===----------------------------------------------------------------------===//
// Files and streams of a tool
//===----------------------------------------------------------------------===//

/// Reads a file of IR, "-" for standard input; says on `errors` why it could
/// not, or what in it no parser of nested text would survive.
std::unique_ptr<llvm::MemoryBuffer> readIr(llvm::StringRef path,
                                           llvm::raw_ostream &errors);

/// Starts a message about a mistake that has no place in a file: "modelc:
/// error:
/// ", whichever tool it is.
llvm::raw_ostream &sayError(llvm::raw_ostream &errors);

/// Reads the command line into the `cl::opt`s of a tool; false if it has a
/// mistake, which was printed as all others are. From here on a broken pipe
/// stops nothing.
bool parseCommandLine(int argc, char **argv, llvm::StringRef overview,
                      llvm::raw_ostream &errors);

/// What stopped a stream, which forgets it. A reader who has seen enough and
/// goes, as `head` does, is no mistake.
std::error_code takeError(llvm::raw_fd_ostream &os);

/// To be called last, with the exit code so far: whether all that was printed
/// to standard output got there; says on `errors` where it did not.
int finishOutput(int code, llvm::raw_ostream &errors);

//===----------------------------------------------------------------------===//
// Where the target files lie
//===----------------------------------------------------------------------===//

/// The folder of target files and preludes: `given`, or where that is empty
/// what the environment variable MODELC_TARGETS names, or
/// `share/modelc/targets` beside the `bin` that the running program lies in.
std::string targetsFolder(llvm::StringRef given);

/// Says that a folder holds no target files, and how another one is named.
void sayNoTargets(llvm::StringRef folder, llvm::raw_ostream &errors);

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// The choice nearest to `word`, or empty if none is near.
llvm::StringRef nearest(llvm::StringRef word,
                        llvm::ArrayRef<llvm::StringRef> choices);
/// `, did you mean "x"`, or empty: to be appended to a message.
std::string didYouMean(llvm::StringRef word,
                       llvm::ArrayRef<llvm::StringRef> choices);
/// `"a", "b" or "c"`.
std::string listWords(llvm::ArrayRef<llvm::StringRef> words);

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Cells in columns as wide as their widest cell; the first columns and the
/// last begin at the left, numbers end at the right.
class TextTable {
public:
  explicit TextTable(unsigned leftColumns = 1) : leftColumns(leftColumns) {}
  void add(const std::vector<std::string> &cells);
  void print(llvm::raw_ostream &os) const;

private:
  unsigned leftColumns;
  std::vector<std::vector<std::string>> rows;
};

//===----------------------------------------------------------------------===//
// Quantities
//===----------------------------------------------------------------------===//

/// Exponents of the base units that a quantity is made of.
struct Dimension {
  int byte = 0, second = 0, joule = 0, flop = 0, operation = 0, clock = 0,
      dollar = 0, token = 0;
  bool operator==(const Dimension &) const = default;
};

/// A value in the product of base units.
struct Quantity {
  double value = 0;
  Dimension dimension;
};

/// Reads "8 TB/s", "0.22 pJ", "2.4 GHz", "160 KiB", "1.5 $/h", "32 op/clk", "12
/// %". Decimal prefixes p to E, binary ones Ki to Pi. On failure `why` says
/// what was expected.
llvm::FailureOr<Quantity> parseQuantity(llvm::StringRef text, std::string &why);
/// The same for text that must have the dimension of `unit` ("B/s", "J/flop"),
/// in multiples of that unit.
llvm::FailureOr<double> parseQuantityIn(llvm::StringRef text,
                                        llvm::StringRef unit, std::string &why);
/// Prints with a fitting prefix and `digits` significant digits: bytes with a
/// binary one, as memory is measured, all else with a decimal one, as rates are
/// stated. (163840, "B") -> "160 KiB", (8e12, "B/s") -> "8 TB/s".
std::string formatQuantity(double value, llvm::StringRef unit,
                           unsigned digits = 3);

} // namespace modelc

#endif // LIB_SUPPORT_SUPPORT_H
