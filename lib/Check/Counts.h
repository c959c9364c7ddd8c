//===- Counts.h - What both kinds of code are counted in ------------------===//

#ifndef LIB_CHECK_COUNTS_H
#define LIB_CHECK_COUNTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <set>
#include <string>

namespace llvm::json {
class OStream;
} // namespace llvm::json

namespace modelc {
struct Target;
} // namespace modelc

namespace modelc::check {

/// Classes that are counted.
enum class Kind : uint8_t {
  Scalar,
  ScalarMemory,
  Vector,
  Transcendental,
  Lanes,
  Matrix,
  Shared,
  Global,
  Copy,
  Wait,
  Barrier,
  Branch,
  Other,
};
constexpr unsigned kKinds = unsigned(Kind::Other) + 1;
/// As reports spell it.
llvm::StringRef nameOf(Kind kind);

/// What is counted, beside how often each instruction ran.
struct Counts {
  uint64_t waves = 0, sharedCycles = 0, sharedIdealCycles = 0;
  uint64_t sharedReadBytes = 0, sharedWrittenBytes = 0, unknownBanks = 0;
  uint64_t loadedBytes = 0, storedBytes = 0, copiedBytes = 0;
  uint64_t repeatedBytes = 0;         // copied by several waves to one place
  uint64_t lines = 0, leastLines = 0; // of 128 bytes
};

/// Prints the names of instructions that nothing is known to do, one a line.
template <typename Code>
void printUnknown(const Code &code, llvm::raw_ostream &os) {
  std::set<std::string> names;
  for (const auto &instruction : code) {
    if (!instruction.handler) {
      names.insert(instruction.name);
    }
  }
  for (const std::string &name : names) {
    os << name << "\n";
  }
}

/// One instruction of the code and how often waves ran it.
struct Executed {
  llvm::StringRef name;
  Kind kind = Kind::Other;
  uint64_t times = 0;
};

/// Prints all of them, by class and by name.
void printInstructions(llvm::ArrayRef<Executed> code,
                       llvm::json::OStream &json);
void printMemory(const Counts &counts, llvm::json::OStream &json);

/// Counts the cycles of one access to shared memory: `starts` are the first
/// bytes, one a lane; lanes that do nothing have kNowhere.
constexpr uint32_t kNowhere = ~0u;
void countBanks(Counts &counts, const Target *target, llvm::StringRef kind,
                unsigned bytes, llvm::ArrayRef<uint32_t> starts);
/// Counts the lines of 128 bytes that the lanes touch.
void countLines(Counts &counts, unsigned bytes,
                llvm::ArrayRef<uint64_t> addresses);

} // namespace modelc::check

#endif // LIB_CHECK_COUNTS_H
