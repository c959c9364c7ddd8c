#include "lib/Check/Memory.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace modelc::check;

uint64_t AddressSpace::add(std::string name, std::vector<uint8_t> bytes,
                           bool writable) {
  constexpr uint64_t kPage = 1 << 16, kGap = 1 << 24;
  uint64_t address = nextAddress;
  nextAddress += (bytes.size() + kPage - 1) / kPage * kPage + kGap;
  addAt({std::move(name), address, writable, std::move(bytes)});
  return address;
}

void AddressSpace::addAt(Region region) {
  regions.push_back(std::move(region));
}

uint8_t *AddressSpace::find(uint64_t address, uint64_t bytes, bool forWriting) {
  for (size_t tried = 0; tried < regions.size(); ++tried) {
    size_t index = (last + tried) % regions.size();
    Region &region = regions[index];
    uint64_t at = address - region.address;
    if (at < region.bytes.size() && bytes <= region.bytes.size() - at &&
        (region.writable || !forWriting)) {
      last = index;
      return region.bytes.data() + at;
    }
  }
  return nullptr;
}

std::string AddressSpace::explain(uint64_t address, uint64_t bytes) const {
  const Region *nearest = nullptr;
  uint64_t least = ~uint64_t(0);
  for (const Region &region : regions) {
    uint64_t end = region.address + region.bytes.size();
    uint64_t away = address < region.address ? region.address - address
                    : address >= end         ? address - end
                                             : 0;
    if (away < least) {
      least = away;
      nearest = &region;
    }
  }
  std::string where = "address 0x" + llvm::utohexstr(address);
  if (!nearest || least > (1 << 24)) {
    return where + ", which is in no buffer";
  }
  int64_t offset = int64_t(address - nearest->address);
  bool inside =
      offset >= 0 && uint64_t(offset) + bytes <= nearest->bytes.size();
  return (llvm::Twine("offset ") + llvm::Twine(offset) + " of " +
          nearest->name + ", which has " + llvm::Twine(nearest->bytes.size()) +
          " bytes" + (inside ? " that may not be written" : ""))
      .str();
}

const Region *AddressSpace::at(uint64_t address) const {
  for (const Region &region : regions) {
    if (region.address == address) {
      return &region;
    }
  }
  return nullptr;
}
