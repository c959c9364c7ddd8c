//===- Code.h - Code objects ----------------------------------------------===//

#ifndef LIB_CHECK_MACHINE_CODE_H
#define LIB_CHECK_MACHINE_CODE_H

#include "lib/Check/Machine/Instruction.h"
#include "lib/Check/Memory.h"
#include "llvm/Support/LogicalResult.h"
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace modelc::check {

/// One argument as the code object describes it.
struct KernelArgument {
  std::string kind; // "global_buffer", "by_value", "hidden_block_count_x"
  uint32_t offset = 0, bytes = 0;
};

/// A kernel of a code object, from its descriptor and its notes.
struct Kernel {
  std::string name;
  std::string processor;             // as the disassembler calls it
  uint64_t entry = 0, codeBytes = 0; // address and size of the code
  uint32_t sharedBytes = 0, scratchBytes = 0, argumentBytes = 0;
  uint32_t setupWord1 = 0, setupWord2 = 0; // of the descriptor
  uint16_t properties = 0, preload = 0;
  uint32_t vectorRegisters = 0, accumulationRegisters = 0, scalarRegisters = 0;
  uint32_t vectorSpills = 0, scalarSpills = 0, maxBlock = 0;
  std::vector<KernelArgument> arguments;
};

/// A code object in memory.
struct CodeObject {
  Kernel kernel;
  std::vector<Region> regions; // its segments where it wants them
};

/// Reads a file and finds one kernel in it.
llvm::FailureOr<CodeObject> readCodeObject(llvm::StringRef path,
                                           llvm::StringRef kernel,
                                           llvm::raw_ostream &errors);

/// The decoded code of a kernel.
struct DecodedCode {
  std::vector<Instruction> instructions;
  bool openFormats = false; // 8-bit floats of the OCP, not those without -0
};

/// Decodes the kernel's code with LLVM's disassembler.
llvm::FailureOr<DecodedCode> decodeKernel(const CodeObject &code,
                                          llvm::raw_ostream &errors);

} // namespace modelc::check

#endif // LIB_CHECK_MACHINE_CODE_H
