#include "lib/Check/Ptx/PtxCase.h"
#include "lib/Check/Buffers.h"
#include "lib/Check/Ptx/Products/PtxMap.h"
#include "lib/Check/Ptx/PtxMachine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace llvm;
using namespace modelc;
using namespace modelc::ptx;
using check::say;

bool modelc::ptx::isText(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(path);
  return file && (*file)->getBuffer().take_front(4096).contains("\n.version ");
}

/// Why the driver would refuse a map; null if it would not.
static const char *mapError(const TensorMap &map) {
  if (map.elementBytes != 1 && map.elementBytes != 2 && map.elementBytes != 4 &&
      map.elementBytes != 8) {
    return "an element has 1, 2, 4 or 8 bytes";
  }
  if (map.base % 16) {
    return "the tensor is not at a multiple of 16 bytes";
  }
  for (unsigned axis = 0; axis < map.rank; ++axis) {
    if (map.box[axis] == 0 || map.box[axis] > 256) {
      return "a box has 1 to 256 elements in each dimension";
    }
    if (map.sizes[axis] == 0 || map.sizes[axis] > uint64_t(1) << 32) {
      return "a tensor has 1 to 2^32 elements in each dimension";
    }
    if (axis > 0 && map.strides[axis - 1] % 16) {
      return "a stride is not a multiple of 16 bytes";
    }
  }
  uint32_t row = map.box[0] * map.elementBytes;
  if (row % 16) {
    return "a row of the box is not a multiple of 16 bytes";
  }
  if (map.swizzleBytes && row > map.swizzleBytes) {
    return "a row of the box is longer than the span of the swizzle";
  }
  return nullptr;
}

static FailureOr<std::vector<uint8_t>>
encode(const CheckMap &from, uint64_t base, raw_ostream &errors) {
  TensorMap map;
  map.rank = uint16_t(from.sizes.size());
  map.elementBytes = uint16_t(from.elementBytes);
  map.base = base;
  map.swizzleBytes = uint16_t(from.swizzleBytes);
  for (unsigned axis = 0; axis < map.rank; ++axis) {
    map.sizes[axis] = from.sizes[axis];
    map.box[axis] = uint16_t(from.box[axis]);
    if (axis > 0) {
      map.strides[axis - 1] = from.strides[axis - 1];
    }
  }
  if (const char *error = mapError(map)) {
    return say(errors, Twine("tensor map: ") + error);
  }
  std::vector<uint8_t> bytes(kMapBytes);
  std::memcpy(bytes.data(), &map, sizeof map);
  return bytes;
}

/// What a kernel gets for an argument.
static FailureOr<std::vector<uint8_t>>
valueOf(const CheckArgument &argument, uint64_t address, raw_ostream &errors) {
  if (argument.map) {
    return encode(*argument.map, address, errors);
  }
  if (!argument.isBuffer) {
    return argument.value;
  }
  std::vector<uint8_t> bytes(8);
  std::memcpy(bytes.data(), &address, 8);
  return bytes;
}

static LogicalResult setUpArguments(const CheckCase &from, KernelRun &launch,
                                    check::Buffers &buffers,
                                    raw_ostream &errors) {
  const std::vector<Parameter> &parameters = launch.program->parameters;
  if (parameters.size() != from.arguments.size()) {
    return say(errors, "expected " + Twine(parameters.size()) +
                           " arguments for \"" + launch.program->name +
                           "\", got " + Twine(from.arguments.size()));
  }
  std::vector<uint8_t> block(launch.program->parameterBytes);
  for (size_t number = 0; number < parameters.size(); ++number) {
    const CheckArgument &argument = from.arguments[number];
    FailureOr<uint64_t> address =
        buffers.place(argument, launch.memory, errors);
    if (failed(address)) {
      return failure();
    }
    FailureOr<std::vector<uint8_t>> value = valueOf(argument, *address, errors);
    if (failed(value)) {
      return failure();
    }
    const Parameter &to = parameters[number];
    if (value->size() != to.bytes) {
      return say(errors, "argument " + Twine(number) + ": expected " +
                             Twine(to.bytes) + " bytes, got " +
                             Twine(value->size()));
    }
    std::memcpy(&block[to.offset], value->data(), value->size());
  }
  launch.parameterAddress =
      launch.memory.add("the kernel's parameters", std::move(block), false);
  return success();
}

static LogicalResult checkLaunch(const CheckCase &from, const KernelRun &launch,
                                 raw_ostream &errors) {
  const Program &program = *launch.program;
  uint64_t lanes = 1, most = 1;
  for (unsigned axis = 0; axis < 3; ++axis) {
    lanes *= from.block[axis];
    most *= program.maxBlock[axis];
  }
  if (most && lanes > most) {
    return say(errors, "expected a block of at most " + Twine(most) +
                           " lanes, got " + Twine(lanes));
  }
  if (from.grid[0] % from.cluster) {
    return say(errors, "expected a grid of whole clusters of " +
                           Twine(from.cluster) + " workgroups, got " +
                           Twine(from.grid[0]));
  }
  int64_t limit =
      launch.target ? launch.target->shared.maxBytesPerWorkgroup : 0;
  if (limit && int64_t(launch.sharedBytes) > limit) {
    return say(errors, "expected at most " + Twine(limit) +
                           " bytes of shared memory, got " +
                           Twine(launch.sharedBytes));
  }
  return success();
}

LogicalResult modelc::ptx::runCase(const CheckCase &from, const Target *target,
                                   const CheckOptions &options,
                                   raw_ostream &report, raw_ostream &errors) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file =
      MemoryBuffer::getFile(from.code);
  FailureOr<Program> program =
      parseProgram((*file)->getBuffer(), from.code, from.kernel, errors);
  if (failed(program)) {
    return failure();
  }
  if (options.listsUnknown) {
    check::printUnknown(program->code, report);
    return success();
  }
  KernelRun launch;
  launch.program = &*program;
  launch.grid = from.grid;
  launch.cluster = from.cluster;
  launch.block = from.block;
  launch.dynamicBytes = from.dynamicSharedBytes;
  launch.sharedBytes =
      program->dynamicStart - kSharedStart + from.dynamicSharedBytes;
  launch.startsEarly = from.startsEarly || program->awaitsKernels;
  launch.target = target;
  check::Buffers buffers;
  if (failed(checkLaunch(from, launch, errors)) ||
      failed(setUpArguments(from, launch, buffers, errors))) {
    return failure();
  }
  if (!runGrid(launch, options.maxInstructions)) {
    return say(errors, "\"" + from.code + "\": " + launch.fault);
  }
  printReport(launch, report);
  return buffers.write(from, launch.memory, errors);
}
