//===- Kernel.cpp - The frame of an emitted kernel ------------------------===//

#include "lib/Emit/Host/HostKernels.h"
#include "lib/Emit/Kernel/Printer.h"
#include "lib/Text/Text.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

static constexpr size_t kLineLength = 110;

void KernelPrinter::line(const Twine &text) {
  body += std::string(2 * depth, ' ') + text.str() + "\n";
}

void KernelPrinter::open(const Twine &text) {
  line(text);
  ++depth;
}

void KernelPrinter::close(const Twine &text) {
  --depth;
  line(text);
}

//===----------------------------------------------------------------------===//
// Head
//===----------------------------------------------------------------------===//

std::string KernelPrinter::headerComment() {
  StringRef name = kernel.getOpName().value_or(kernel.getSymName());
  std::string text = lineComment(name + " for " + target.identity.product +
                                 " (" + target.identity.isa + ")") +
                     "\n";
  auto add = [&](const Twine &fact) { text += lineComment(fact) + "\n"; };
  if (kernel.getNote()) {
    add("  schedule   " + *kernel.getNote());
  }
  add("  guard      " + guardText(kernel));
  if (!options.prediction.empty()) {
    add("  predicted  " + options.prediction);
  }
  return text;
}

std::string KernelPrinter::signature() {
  SmallVector<std::string> parameters;
  for (const Parameter &parameter : interface.parameters) {
    if (parameter.kind == Parameter::Kind::Map) {
      parameters.push_back("GRID_CONSTANT TensorMap " + parameter.name);
      continue;
    }
    Value argument = kernel.getEntry().getArgument(parameter.index);
    if (parameter.kind == Parameter::Kind::Size) {
      parameters.push_back(elementName(argument.getType()) + " " +
                           spelled[argument]);
      continue;
    }
    auto buffer = cast<BufferType>(argument.getType());
    parameters.push_back((parameter.isWritten ? "" : "const ") +
                         elementName(buffer.getElementType()) + " *" +
                         (parameter.kind == Parameter::Kind::Peers
                              ? "const *" + parameter.name
                              : spelled[argument]));
  }
  std::string head =
      "WORKGROUP(" +
      std::to_string(kernel.getWaves() * target.execution.waveSize) + ", " +
      std::to_string(workgroupsPerUnit()) + ") " +
      (kernel.getCluster()
           ? "CLUSTER(" + std::to_string(*kernel.getCluster()) + ") "
           : "") +
      kernel.getSymName().str() + "(";
  std::string text = head, row = head;
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    std::string item = parameter + (i + 1 < parameters.size() ? ", " : ") {");
    if (row.size() + item.size() > kLineLength) {
      text = StringRef(text).rtrim().str() + "\n    ";
      row = "    ";
    }
    text += item;
    row += item;
  }
  return text + (parameters.empty() ? ") {\n" : "\n");
}

//===----------------------------------------------------------------------===//
// Occupancy
//===----------------------------------------------------------------------===//

/// How many workgroups are meant to share a unit: what shared memory and
/// registers allow. Tells the device compiler how many registers it may use.
int64_t KernelPrinter::workgroupsPerUnit() {
  constexpr int64_t kEnough = 4;
  // Room for addresses, masks and what a compiler loads ahead, which grows with
  // the tiles: 555 of 594 compiled kernels (Llama 3.1 8B, 16 and 8 bits, a chip
  // of each of four instruction sets) take no more beside their tiles, and most
  // of the others have a unit of their own.
  constexpr int64_t kOtherRegisters = 64;
  // What only streams rows through registers keeps nothing but their addresses:
  // norms reach 0.91 of the copy rate of a GPU with three workgroups on a
  // unit, 0.79 with two.
  constexpr int64_t kOfStreams = 8;
  int64_t threads = kernel.getWaves() * target.execution.waveSize;
  int64_t count = kEnough;
  if (int64_t bytes = kernel.getSharedBytes().value_or(0)) {
    bytes += target.shared.reservedBytesPerWorkgroup;
    count = std::min(count, target.shared.bytesPerUnit / bytes);
  }
  if (kernel.getTensorColumns()) {
    count =
        std::min(count, target.tensorMemory.columns /
                            static_cast<int64_t>(*kernel.getTensorColumns()));
  }
  bool reassigns = kernel
                       .walk([](RoleOp role) {
                         return WalkResult(failure(!!role.getRegisters()));
                       })
                       .wasInterrupted();
  if (reassigns) {
    return 1; // registers are those of the whole unit
  }
  bool streams = !kernel
                      .walk([&](Operation *op) {
                        bool loops = isa<LoopOp>(op) && op != kernel.getGrid();
                        return WalkResult(failure(loops || isa<MmaOp>(op)));
                      })
                      .wasInterrupted();
  int64_t tiles = registersPerThread(kernel, target.execution.waveSize);
  int64_t registers =
      tiles + (streams ? kOfStreams : kOtherRegisters + tiles / 4);
  int64_t need = threads * registers * 4;
  count = std::min(count, target.execution.registerBytesPerUnit / need);
  count = std::min(count, target.execution.maxWavesPerUnit /
                              static_cast<int64_t>(kernel.getWaves()));
  return std::max<int64_t>(count, 1);
}

//===----------------------------------------------------------------------===//
// Whole kernel
//===----------------------------------------------------------------------===//

FailureOr<std::string> KernelPrinter::print() {
  if (kernel.getStage() != Stage::Final) {
    return kernel.emitOpError("expected the final form, got the plain one; run "
                              "the passes first");
  }
  for (StringRef way : {"turns", "result_piece", "copies_first"}) {
    if (kernel->hasAttr(way)) {
      return kernel.emitOpError("expected a kernel that runs as its ops say, "
                                "got '")
             << way << "', which is only costed; leave it out";
    }
  }
  if (!isName(kernel.getSymName())) {
    return kernel.emitOpError("expected a name that is no word of C++, got '")
           << kernel.getSymName() << "'";
  }
  FailureOr<KernelInterface> known = KernelInterface::of(kernel);
  if (failed(known)) {
    return failure();
  }
  interface = std::move(*known);
  for (BlockArgument argument : kernel.getEntry().getArguments()) {
    nameOf(argument, kernel.getArgumentName(argument.getArgNumber()));
  }
  for (const Parameter &parameter : interface.parameters) {
    if (parameter.kind == Parameter::Kind::Map ||
        parameter.kind == Parameter::Kind::Peers) {
      names.fresh(parameter.name);
    }
  }
  depth = 1;
  printStorage();
  if (failed(printBlock(kernel.getEntry()))) {
    return failure();
  }
  if (kernel.getTensorColumns()) {
    line("freeTensor<" + columnsText() + ">(tensor);");
  }
  return headerComment() + cInclude(target.identity.prelude) +
         "\nnamespace modelc {\n\n" + signature() + usings + body +
         "}\n\n} // namespace modelc\n";
}

FailureOr<std::string> modelc::emitKernel(KernelOp kernel, const Target &target,
                                          const EmitOptions &options) {
  return KernelPrinter(kernel, target, options).print();
}

StringRef modelc::sourceSuffix(const Target &target) {
  return target.identity.language == "hip" ? ".hip" : ".cu";
}
