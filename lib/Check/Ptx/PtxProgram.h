//===- PtxProgram.h - The parsed form of a kernel in PTX ------------------===//
//
// Registers, constants, special registers and addresses of variables are all
// rows of a wave's register file, one word a lane, so that an instruction sees
// no difference between them. Rows of 8 bytes a lane take two rows' words.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CHECK_PTX_PTXPROGRAM_H
#define LIB_CHECK_PTX_PTXPROGRAM_H

#include "lib/Check/Counts.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace modelc::ptx {

namespace check = modelc::check;

struct Warp;
struct Instruction;

/// What an instruction does to the active lanes of a wave.
using Handler = void (*)(Warp &, const Instruction &);

constexpr unsigned kLanes = 32;
/// A bit a lane.
using Mask = uint32_t;
constexpr Mask kAllLanes = ~Mask(0);

/// Where shared memory begins: the system keeps what is below.
constexpr uint32_t kSharedStart = 1024;
/// Generic addresses of shared memory and of a lane's private memory.
constexpr uint64_t kSharedWindow = uint64_t(1) << 52;
constexpr uint64_t kLocalWindow = uint64_t(1) << 53;

/// Types of operands. Pairs are two values of half the size.
enum class Type : uint8_t {
  None,
  Predicate,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  Bf16,
  F16Pair,
  Bf16Pair,
  F32,
  F64,
};
/// The type of a name ("b32" is U32); None if it is none.
Type typeNamed(llvm::StringRef name);
unsigned bytesOf(Type type);
inline bool isSigned(Type type) {
  return type >= Type::S8 && type <= Type::S64;
}
inline bool isFloat(Type type) { return type >= Type::F16; }

/// Which memory an address is in.
enum class Space : uint8_t { Generic, Global, Shared, Local, Param, Const };

/// An operand of an instruction.
struct Operand {
  enum class Place : uint8_t { None, Row, Predicate, Tuple, Address, Label };
  Place place = Place::None;
  bool negated = false;       // a predicate behind "!"
  bool isConstant = false;    // a row that nobody writes
  uint8_t bytes = 4;          // of a row and lane, 4 or 8
  uint32_t row = 0;           // word of the register file; predicate; label
  uint32_t wideRow = 0;       // the same value with 8 bytes a lane
  int64_t offset = 0;         // of an address; value of a constant
  std::vector<Operand> parts; // of a tuple; base and coordinates of an address
};

/// One instruction, decoded once.
struct Instruction {
  Handler handler = nullptr;
  check::Kind kind = check::Kind::Other;
  Type type = Type::None, from = Type::None;
  Space space = Space::Generic;
  bool guardNegated = false;
  bool flush = false;      // subnormal numbers are zero
  bool convergent = false; // all lanes that live have to come together
  uint8_t count = 1;       // of a vector
  uint8_t how = 0;         // comparison, rounding: what the handler says
  uint16_t shape[3] = {};  // rows, columns, depth
  int32_t guard = -1;      // predicate that says which lanes do it
  uint32_t target = ~0u;   // of a branch: the number of the instruction
  uint32_t line = 0;       // of the text
  std::vector<Operand> operands;
  std::vector<uint32_t> rows; // all that it names
  std::string name, text;     // with modifiers; with operands
};

/// Registers that a wave finds filled.
enum class Special : uint8_t {
  Constant,
  Thread,     // x, y, z in `axis`
  BlockSize,  //
  Block,      //
  GridSize,   //
  Lane,       //
  Wave,       //
  LanesBelow, // as a mask
  Rank,       // of the workgroup in its cluster
  Cluster,    // its workgroups
  DynamicBytes,
};

/// A row and what it holds.
struct Preset {
  Special special = Special::Constant;
  uint8_t axis = 0;
  bool wide = false;
  uint32_t row = 0;
  uint64_t value = 0;
};

/// A parameter of the kernel.
struct Parameter {
  std::string name;
  uint32_t offset = 0, bytes = 0;
};

/// A kernel.
struct Program {
  std::string name, processor;
  std::vector<Instruction> code;
  std::vector<Parameter> parameters;
  std::vector<Preset> presets;
  uint32_t parameterBytes = 0;
  uint32_t staticBytes = 0;  // of shared memory, before the dynamic part
  uint32_t dynamicStart = 0; // address of the dynamic part
  uint32_t localBytes = 0;   // private memory of a lane
  uint32_t registerWords = 0, predicates = 0;
  std::array<uint32_t, 3> maxBlock = {0, 0, 0}; // zeros: not said
  bool awaitsKernels = false; // waits for earlier ones by itself
};

/// Reads a kernel from text; says on `errors` what is wrong with it.
llvm::FailureOr<Program> parseProgram(llvm::StringRef text,
                                      llvm::StringRef path,
                                      llvm::StringRef kernel,
                                      llvm::raw_ostream &errors);
/// Finds what each instruction does.
void decode(Program &program);

} // namespace modelc::ptx

#endif // LIB_CHECK_PTX_PTXPROGRAM_H
