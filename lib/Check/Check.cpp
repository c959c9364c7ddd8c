//===- Check.cpp - A case from its files to its report --------------------===//

#include "lib/Check/Check.h"
#include "lib/Check/Buffers.h"
#include "lib/Check/Machine/Machine.h"
#include "lib/Check/Ptx/PtxCase.h"
#include "lib/Support/Support.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <optional>

using namespace llvm;
using namespace modelc;
using namespace modelc::check;

static constexpr int kInputError = 1, kUsageError = 2;

/// What the host adds to the arguments of a kernel.
static uint64_t hiddenValue(const KernelRun &launch, StringRef kind) {
  return StringSwitch<uint64_t>(kind)
      .Case("hidden_block_count_x", launch.grid[0])
      .Case("hidden_block_count_y", launch.grid[1])
      .Case("hidden_block_count_z", launch.grid[2])
      .Case("hidden_group_size_x", launch.block[0])
      .Case("hidden_group_size_y", launch.block[1])
      .Case("hidden_group_size_z", launch.block[2])
      .Case("hidden_grid_dims", 3)
      .Case("hidden_dynamic_lds_size",
            launch.sharedBytes - launch.kernel->sharedBytes)
      .Default(0);
}

/// Puts buffers into memory and lays out the arguments.
static LogicalResult setUpArguments(const CheckCase &from, KernelRun &launch,
                                    Buffers &buffers, raw_ostream &errors) {
  const Kernel &kernel = *launch.kernel;
  // Their segment is whole 16 bytes (HSA); the compiler loads its end with
  // them.
  std::vector<uint8_t> block(alignTo(kernel.argumentBytes, 16), 0xFF);
  size_t next = 0;
  for (const KernelArgument &to : kernel.arguments) {
    if (to.offset + to.bytes > block.size()) {
      return say(errors, "an argument lies beyond those of the kernel");
    }
    if (StringRef(to.kind).starts_with("hidden_")) {
      uint64_t value = hiddenValue(launch, to.kind);
      std::memcpy(&block[to.offset], &value, std::min<size_t>(to.bytes, 8));
      continue;
    }
    if (next == from.arguments.size()) {
      break;
    }
    const CheckArgument &argument = from.arguments[next];
    FailureOr<uint64_t> address =
        buffers.place(argument, launch.memory, errors);
    if (failed(address)) {
      return failure();
    }
    std::vector<uint8_t> value = argument.value;
    if (argument.isBuffer) {
      value.resize(8);
      std::memcpy(value.data(), &*address, 8);
    }
    if (value.size() != to.bytes) {
      return say(errors, "argument " + Twine(next) + ": expected " +
                             Twine(to.bytes) + " bytes, got " +
                             Twine(value.size()));
    }
    std::memcpy(&block[to.offset], value.data(), value.size());
    ++next;
  }
  size_t wanted = count_if(kernel.arguments, [](const KernelArgument &a) {
    return !StringRef(a.kind).starts_with("hidden_");
  });
  if (wanted != from.arguments.size()) {
    return say(errors, "expected " + Twine(wanted) + " arguments for \"" +
                           kernel.name + "\", got " +
                           Twine(from.arguments.size()));
  }
  launch.kernargAddress =
      launch.memory.add("the kernel's arguments", std::move(block), false);
  return success();
}

/// The packet that a queue has for a launch, as far as kernels read it.
static void setUpPacket(KernelRun &launch) {
  std::vector<uint8_t> packet(64);
  for (unsigned axis = 0; axis < 3; ++axis) {
    uint16_t lanes = uint16_t(launch.block[axis]);
    uint32_t all = launch.block[axis] * launch.grid[axis];
    std::memcpy(&packet[4 + 2 * axis], &lanes, 2);
    std::memcpy(&packet[12 + 4 * axis], &all, 4);
  }
  launch.dispatchAddress =
      launch.memory.add("the packet of the launch", std::move(packet), false);
}

/// What the interpreter takes for granted.
static LogicalResult checkKernel(const Kernel &kernel, const CheckCase &of,
                                 raw_ostream &errors) {
  constexpr uint32_t kNearestWithDenormals = 0xF0;
  uint32_t mode = kernel.setupWord1 >> 12 & 0xFF;
  if (mode != kNearestWithDenormals) {
    return say(errors, "\"" + kernel.name +
                           "\" does not round to nearest with denormal "
                           "numbers, and other modes are not modelled");
  }
  uint64_t lanes = uint64_t(of.block[0]) * of.block[1] * of.block[2];
  if (kernel.maxBlock && lanes > kernel.maxBlock) {
    return say(errors, "expected a block of at most " + Twine(kernel.maxBlock) +
                           " lanes, got " + Twine(lanes));
  }
  return success();
}

/// Runs a code object.
static LogicalResult runMachineCode(const CheckCase &from, const Target *target,
                                    const CheckOptions &options,
                                    raw_ostream &report, raw_ostream &errors) {
  FailureOr<CodeObject> code = readCodeObject(from.code, from.kernel, errors);
  if (failed(code) || failed(checkKernel(code->kernel, from, errors))) {
    return failure();
  }
  FailureOr<DecodedCode> decoded = decodeKernel(*code, errors);
  if (failed(decoded)) {
    return failure();
  }
  KernelRun launch;
  launch.kernel = &code->kernel;
  launch.code = std::move(decoded->instructions);
  if (options.listsUnknown) {
    printUnknown(launch.code, report);
    return success();
  }
  launch.openFormats = decoded->openFormats;
  launch.grid = from.grid;
  launch.block = from.block;
  launch.sharedBytes = code->kernel.sharedBytes + from.dynamicSharedBytes;
  launch.target = target;
  for (Region &region : code->regions) {
    launch.memory.addAt(std::move(region));
  }
  Buffers buffers;
  if (failed(setUpArguments(from, launch, buffers, errors))) {
    return failure();
  }
  setUpPacket(launch);
  if (!runGrid(launch, options.maxInstructions)) {
    return say(errors, "\"" + from.code + "\": " + launch.fault);
  }
  printReport(launch, report);
  return buffers.write(from, launch.memory, errors);
}

LogicalResult modelc::runCheckCase(const CheckCase &from,
                                   const CheckOptions &options,
                                   raw_ostream &report, raw_ostream &errors) {
  std::optional<Target> target;
  if (!from.target.empty()) {
    FailureOr<Target> loaded =
        loadTarget(from.target, {}, options.targetFolders, errors);
    if (failed(loaded)) {
      return failure();
    }
    target = std::move(*loaded);
  }
  auto run = ptx::isText(from.code) ? ptx::runCase : runMachineCode;
  return run(from, target ? &*target : nullptr, options, report, errors);
}

int modelc::checkMain(int argc, char **argv) {
  cl::OptionCategory category("options of modelc-check");
  cl::opt<std::string> path(cl::Positional, cl::Required, cl::desc("case.json"),
                            cl::cat(category));
  cl::opt<std::string> report("report", cl::init("-"), cl::cat(category),
                              cl::desc("where the counts go as JSON"));
  cl::list<std::string> targets("targets", cl::cat(category),
                                cl::desc("a folder of target files"));
  cl::opt<uint64_t> most("max-instructions", cl::init(4000000000),
                         cl::cat(category),
                         cl::desc("of all waves, before it gives up"));
  cl::opt<bool> unknown("unknown", cl::cat(category),
                        cl::desc("runs nothing, lists the instructions of the "
                                 "kernel that are not modelled"));
  cl::HideUnrelatedOptions(category);
  if (!parseCommandLine(argc, argv,
                        "Runs compiled kernels instruction by instruction\n",
                        errs())) {
    return kUsageError;
  }
  FailureOr<CheckCase> checkCase = readCheckCase(path, errs());
  if (failed(checkCase)) {
    return kInputError;
  }
  CheckOptions options;
  options.targetFolders = targets;
  options.listsUnknown = unknown;
  options.maxInstructions = most;
  std::error_code error;
  raw_fd_ostream out(report, error);
  if (error) {
    (void)say(errs(), "cannot write \"" + report + "\": " + error.message());
    return kInputError;
  }
  LogicalResult result = runCheckCase(*checkCase, options, out, errs());
  if (std::error_code lost = takeError(out)) {
    (void)say(errs(), "cannot write \"" + report + "\": " + lost.message());
    return kInputError;
  }
  return succeeded(result) ? 0 : kInputError;
}
