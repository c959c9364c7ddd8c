#include "lib/Check/Buffers.h"
#include "lib/Support/Support.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace modelc;
using namespace modelc::check;

LogicalResult modelc::check::say(raw_ostream &errors, const Twine &message) {
  sayError(errors) << message << "\n";
  return failure();
}

static FailureOr<std::vector<uint8_t>> bytesOf(const CheckArgument &argument,
                                               raw_ostream &errors) {
  if (argument.file.empty()) {
    return std::vector<uint8_t>(argument.bufferBytes, 0xFF);
  }
  ErrorOr<std::unique_ptr<MemoryBuffer>> file =
      MemoryBuffer::getFile(argument.file);
  if (!file) {
    return say(errors, "cannot read \"" + argument.file +
                           "\": " + file.getError().message());
  }
  return std::vector<uint8_t>((*file)->getBuffer().bytes_begin(),
                              (*file)->getBuffer().bytes_end());
}

FailureOr<uint64_t> Buffers::place(const CheckArgument &argument,
                                   AddressSpace &memory, raw_ostream &errors) {
  size_t number = addresses.size();
  uint64_t &address = addresses.emplace_back(0);
  if (!argument.isBuffer) {
    return address;
  }
  auto known = byFile.find(argument.file);
  if (!argument.file.empty() && known != byFile.end()) {
    address = known->second;
    return address + argument.offset;
  }
  FailureOr<std::vector<uint8_t>> bytes = bytesOf(argument, errors);
  if (failed(bytes)) {
    return failure();
  }
  address =
      memory.add("argument " + std::to_string(number), std::move(*bytes), true);
  if (!argument.file.empty()) {
    byFile[argument.file] = address;
  }
  return address + argument.offset;
}

LogicalResult Buffers::write(const CheckCase &of, const AddressSpace &memory,
                             raw_ostream &errors) const {
  for (const CheckOutput &output : of.outputs) {
    const Region *region = memory.at(addresses[output.argument]);
    std::error_code error;
    raw_fd_ostream file(output.file, error);
    if (error) {
      return say(errors,
                 "cannot write \"" + output.file + "\": " + error.message());
    }
    file.write(reinterpret_cast<const char *>(region->bytes.data()),
               region->bytes.size());
  }
  return success();
}
