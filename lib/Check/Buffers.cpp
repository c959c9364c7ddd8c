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

/// The addresses of buffers, as a buffer.
FailureOr<std::vector<uint8_t>> Buffers::tableOf(ArrayRef<std::string> files,
                                                 AddressSpace &memory,
                                                 raw_ostream &errors) {
  std::vector<uint8_t> bytes;
  for (const std::string &file : files) {
    CheckArgument pointee;
    pointee.isBuffer = true;
    pointee.file = file;
    FailureOr<uint64_t> address = addressOf(pointee, memory, errors);
    if (failed(address)) {
      return failure();
    }
    for (unsigned byte = 0; byte < 8; ++byte) {
      bytes.push_back(uint8_t(*address >> 8 * byte));
    }
  }
  return bytes;
}

FailureOr<uint64_t> Buffers::addressOf(const CheckArgument &argument,
                                       AddressSpace &memory,
                                       raw_ostream &errors) {
  auto known = byFile.find(argument.file);
  if (!argument.file.empty() && known != byFile.end()) {
    return known->second;
  }
  FailureOr<std::vector<uint8_t>> bytes =
      argument.pointees.empty() ? bytesOf(argument, errors)
                                : tableOf(argument.pointees, memory, errors);
  if (failed(bytes)) {
    return failure();
  }
  uint64_t address =
      memory.add("argument " + std::to_string(addresses.size() - 1),
                 std::move(*bytes), !argument.isConstant);
  if (!argument.file.empty()) {
    byFile[argument.file] = address;
  }
  return address;
}

FailureOr<uint64_t> Buffers::place(const CheckArgument &argument,
                                   AddressSpace &memory, raw_ostream &errors) {
  addresses.push_back(0);
  if (!argument.isBuffer) {
    return 0;
  }
  FailureOr<uint64_t> address = addressOf(argument, memory, errors);
  if (failed(address)) {
    return failure();
  }
  addresses.back() = *address;
  return *address + argument.offset;
}

LogicalResult Buffers::write(const CheckCase &of, const AddressSpace &memory,
                             raw_ostream &errors) const {
  for (const CheckOutput &output : of.outputs) {
    auto known = byFile.find(output.buffer);
    if (!output.buffer.empty() && known == byFile.end()) {
      return say(errors, "expected a buffer of an argument, got \"" +
                             output.buffer + "\"");
    }
    const Region *region = memory.at(
        known == byFile.end() ? addresses[output.argument] : known->second);
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
