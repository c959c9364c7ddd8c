//===- Buffers.h - The buffers of a case in the device's memory -----------===//

#ifndef LIB_CHECK_BUFFERS_H
#define LIB_CHECK_BUFFERS_H

#include "lib/Check/Check.h"
#include "lib/Check/Memory.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

namespace modelc::check {

/// Says what is wrong; returns failure.
llvm::LogicalResult say(llvm::raw_ostream &errors, const llvm::Twine &message);

/// Where the arguments lie. Arguments of one file are one buffer.
class Buffers {
public:
  /// Puts the buffer of an argument into memory and returns the address that a
  /// kernel gets; 0 for a value.
  llvm::FailureOr<uint64_t> place(const CheckArgument &argument,
                                  AddressSpace &memory,
                                  llvm::raw_ostream &errors);
  /// Writes what the case wants to know after the run.
  llvm::LogicalResult write(const CheckCase &of, const AddressSpace &memory,
                            llvm::raw_ostream &errors) const;

private:
  llvm::FailureOr<uint64_t> addressOf(const CheckArgument &argument,
                                      AddressSpace &memory,
                                      llvm::raw_ostream &errors);
  llvm::FailureOr<std::vector<uint8_t>>
  tableOf(llvm::ArrayRef<std::string> files, AddressSpace &memory,
          llvm::raw_ostream &errors);

  std::vector<uint64_t> addresses; // by argument
  llvm::StringMap<uint64_t> byFile;
};

} // namespace modelc::check

#endif // LIB_CHECK_BUFFERS_H
