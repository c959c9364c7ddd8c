//===- Check.h - Run compiled kernels instruction by instruction ----------===//
//
// Interprets a kernel on the CPU: the machine code of the wave-of-64 machines,
// with the counters of outstanding memory operations that they have, or PTX,
// the text between the compiler and the machines with waves of 32, with its
// barriers in shared memory and asynchronous units. What a wave has not waited
// for is poison: a register that a load will write, bytes of shared memory that
// a copy or a store will write. Using it is an error, as are races between
// waves without a barrier in between, accesses out of bounds, and a barrier
// that not all waves reach. Because this is checked by what the code orders,
// not by what happens to come first, one run is enough.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CHECK_CHECK_H
#define LIB_CHECK_CHECK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace modelc {

/// How a tensor in a buffer is cut into boxes; innermost dimension first.
struct CheckMap {
  uint32_t elementBytes = 0;
  uint32_t swizzleBytes = 0;            // 0, 32, 64 or 128
  std::vector<uint64_t> sizes, strides; // elements; bytes, from the second on
  std::vector<uint64_t> box;            // elements
};

/// One argument of a kernel: a buffer with bytes, a map of one, or a value.
struct CheckArgument {
  bool isBuffer = false;
  std::optional<CheckMap> map;
  std::string file; // bytes of a buffer; empty: all bits set
  /// A buffer of the addresses of those files, as a device has of its peers.
  std::vector<std::string> pointees;
  uint64_t bufferBytes = 0;   // of a buffer without a file
  bool isConstant = false;    // a buffer that no kernel writes
  uint64_t offset = 0;        // of what the kernel gets, in the buffer
  std::vector<uint8_t> value; // of anything else, as it lies in memory
};

/// A buffer to be written to a file after the run.
struct CheckOutput {
  unsigned argument = 0;
  std::string buffer; ///< by its file instead: a buffer that others point to
  std::string file;
};

/// One launch. Paths are resolved against the folder of the case.
struct CheckCase {
  std::string code, kernel;
  std::array<uint32_t, 3> grid = {1, 1, 1};  // workgroups
  std::array<uint32_t, 3> block = {1, 1, 1}; // lanes
  uint32_t cluster = 1; // workgroups that start together, along x
  uint32_t dynamicSharedBytes = 0;
  /// Whether earlier kernels of the stream may still run when it starts.
  bool startsEarly = false;
  std::string target; // name or path of a target file; may be empty
  std::vector<CheckArgument> arguments;
  std::vector<CheckOutput> outputs;
};

/// How a case is run.
struct CheckOptions {
  std::vector<std::string> targetFolders; // where names of targets are searched
  uint64_t maxInstructions = 4000000000;  // of all waves together
  bool listsUnknown = false; // runs nothing, prints what is not modelled
};

/// Reads a case from JSON; says on `errors` what is wrong with it.
llvm::FailureOr<CheckCase> readCheckCase(llvm::StringRef path,
                                         llvm::raw_ostream &errors);

/// Runs a case, writes its outputs and, as JSON, what was counted.
llvm::LogicalResult runCheckCase(const CheckCase &checkCase,
                                 const CheckOptions &options,
                                 llvm::raw_ostream &report,
                                 llvm::raw_ostream &errors);

/// The whole of modelc-check.
int checkMain(int argc, char **argv);

} // namespace modelc

#endif // LIB_CHECK_CHECK_H
