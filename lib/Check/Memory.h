//===- Memory.h - The device's memory as named regions --------------------===//

#ifndef LIB_CHECK_MEMORY_H
#define LIB_CHECK_MEMORY_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace modelc::check {

/// Bytes that a kernel may access, at an address of the device.
struct Region {
  std::string name; // "argument 2", "kernel arguments", "code object"
  uint64_t address = 0;
  bool writable = true;
  std::vector<uint8_t> bytes;
};

/// All regions, with gaps between them.
class AddressSpace {
public:
  /// Adds a region and returns its address.
  uint64_t add(std::string name, std::vector<uint8_t> bytes, bool writable);
  /// Adds one at an address (a code object knows where its parts are).
  void addAt(Region region);
  /// The bytes at an address, null when not all are in one region.
  uint8_t *find(uint64_t address, uint64_t bytes, bool forWriting);
  /// Whether nobody writes the byte at an address.
  bool isConstant(uint64_t address) {
    return find(address, 1, false) && !find(address, 1, true);
  }
  /// Why `find` said no.
  std::string explain(uint64_t address, uint64_t bytes) const;
  /// The region that starts at an address.
  const Region *at(uint64_t address) const;

private:
  std::vector<Region> regions;
  size_t last = 0; // where the previous access was
  uint64_t nextAddress = uint64_t(1) << 40;
};

} // namespace modelc::check

#endif // LIB_CHECK_MEMORY_H
