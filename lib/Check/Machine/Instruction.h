//===- Instruction.h - The decoded form of machine code -------------------===//

#ifndef LIB_CHECK_MACHINE_INSTRUCTION_H
#define LIB_CHECK_MACHINE_INSTRUCTION_H

#include "lib/Check/Counts.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace modelc::check {

struct Wave;
struct Instruction;

/// What an instruction does to a wave.
using Handler = void (*)(Wave &, const Instruction &);

constexpr unsigned kLanes = 64;
/// Vector registers come first, the accumulation half of them from 256.
constexpr unsigned kAccumulation = 256, kVectorRegisters = 512;
/// Numbers of scalar registers with a name.
constexpr unsigned kFlatScratch = 102, kVcc = 106, kM0 = 124, kExec = 126,
                   kSharedBase = 128, kPrivateBase = 132, kScalarZero = 136,
                   kScalarRegisters = 138;

/// How an address is made.
enum class Space : uint8_t { Global, Flat, Scratch, Buffer };

/// How memory instructions move one lane's bytes.
struct Shape {
  uint8_t bytes = 0;       // of one access
  uint8_t accesses = 1;    // read2, write2
  uint16_t offsetUnit = 1; // that offsets of read2 and write2 count in
  bool isSigned = false;   // of a load of less than 4 bytes
  bool half = false;       // such a load writes half of the register,
  bool high = false;       // the upper one; such a store reads it
  uint8_t operation = 0;   // of an atomic
  bool wide = false;       // an atomic of 8 bytes
  bool returns = false;    // an atomic of shared memory that returns
  Space space = Space::Global;
};

/// What a mnemonic means.
struct Meaning {
  Handler handler = nullptr;
  Kind kind = Kind::Other;
  Shape shape;
};
/// All that is modelled, by mnemonic without the suffix of its encoding.
using Meanings = llvm::StringMap<Meaning>;
const Meanings &meanings();

/// An operand: registers, a constant, or nothing ("off").
struct Operand {
  enum class Place : uint8_t { None, Vector, Scalar, Constant };
  Place place = Place::None;
  uint8_t words = 1;
  uint16_t index = 0; // of the first register
  bool negate = false, absolute = false, signExtend = false;
  uint32_t constant[2] = {0, 0};
};

/// The modifiers behind the operands, with the value of those not written.
struct Modifiers {
  int32_t offset = 0, offset0 = 0, offset1 = 0;
  uint8_t select = 0, selectHigh = 0xFF; // op_sel, op_sel_hi: a bit an operand
  uint8_t negateLow = 0, negateHigh = 0;
  bool clamp = false;
  float multiplier = 1; // omod
  bool offen = false, idxen = false, lds = false, returns = false;
  uint8_t formatA = 0, formatB = 0; // cbsz, blgp
  uint8_t broadcast = 0;            // abid
  uint8_t truth = 0;                // bitop3
  uint16_t byteSelect = 0;
  bool swapLanes = false;
};

/// Which part of a register a narrow operand is.
enum class Part : uint8_t { Byte0, Byte1, Byte2, Byte3, Word0, Word1, Dword };

/// Movement of the first source between lanes before an operation.
struct Movement {
  enum class How : uint8_t {
    None,
    Quad,
    ShiftLeft,
    ShiftRight,
    RotateRight,
    WaveShiftLeft,
    WaveShiftRight,
    WaveRotateLeft,
    WaveRotateRight,
    Mirror,
    HalfMirror,
    Broadcast15,
    Broadcast31,
    NewBroadcast,
  };
  How how = How::None;
  uint8_t amount = 0; // of a shift; four times two bits for Quad
  uint8_t rowMask = 0xF, bankMask = 0xF;
  bool zeroOutside = false;
};

/// One instruction, decoded once.
struct Instruction {
  const Meaning *meaning = nullptr;
  Handler handler = nullptr;
  llvm::SmallVector<Operand, 6> operands;
  Modifiers modifiers;
  Movement movement;
  bool parts = false; // has the next three
  Part part0 = Part::Dword, part1 = Part::Dword, partTo = Part::Dword;
  enum class Unused : uint8_t { Pad, Sign, Preserve } unused = Unused::Pad;
  int64_t immediate = 0; // of branches, waits, ...
  uint64_t address = 0;  // of its first byte in the code object
  uint32_t target = ~0u; // of a branch: the number of the instruction
  uint32_t bytes = 4;
  std::string name, text; // mnemonic; the whole line
};

/// Fills all but the handler from a line of assembly. False if some operand is
/// of a kind that has no meaning here.
bool parseInstruction(llvm::StringRef line, Instruction &to);

/// Bits of a constant operand of an instruction that computes with a type.
enum class ConstantType : uint8_t { F32, F16, Bf16, F64, B64 };
ConstantType constantTypeOf(llvm::StringRef mnemonic);

} // namespace modelc::check

#endif // LIB_CHECK_MACHINE_INSTRUCTION_H
