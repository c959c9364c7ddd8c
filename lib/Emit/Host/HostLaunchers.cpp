//===- HostLaunchers.cpp - Kernels, choices and ops of the host library ---===//

#include "lib/Emit/Host/HostText.h"
#include "lib/Text/Text.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

std::string modelc::wrapped(StringRef head, ArrayRef<std::string> words,
                            StringRef tail, unsigned indent) {
  std::string text = head.str();
  size_t column = head.size() - (head.rfind('\n') + 1);
  for (auto [i, word] : llvm::enumerate(words)) {
    std::string piece = word + (i + 1 < words.size() ? "," : tail.str());
    bool isFirst = i == 0;
    if (column + piece.size() + !isFirst > 80 && !isFirst) {
      text += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!isFirst) {
      text += " ";
      ++column;
    }
    text += piece;
    column += piece.size();
  }
  return words.empty() ? text + tail.str() : text;
}

void modelc::printBinding(llvm::raw_ostream &os, const BindingText &binding) {
  SmallVector<std::string> shape;
  for (int64_t extent : binding.shape) {
    shape.push_back(extent < 0 ? "MC_ANY" : std::to_string(extent));
  }
  os << "    {" << cString(binding.name) << ", " << binding.role << ", "
     << (binding.source.empty() ? "nullptr" : cString(binding.source)) << ", "
     << binding.type << ", " << shape.size() << ", {" << llvm::join(shape, ", ")
     << "}, " << binding.first << ", " << binding.count << ", "
     << binding.firstLayer << ", " << binding.layerStep << "},\n";
}

std::string modelc::peerTable(StringRef name) {
  return (name + "OfPeers").str();
}

void modelc::printPeerTable(llvm::raw_ostream &os, StringRef name,
                            int64_t devices, int64_t first) {
  printBinding(os, {peerTable(name), "MC_PEER_TABLE", name.str(), "MC_I64",
                    devices, first, 1});
}

void modelc::printKernelTable(llvm::raw_ostream &os, const HostModule &kernels,
                              const Target &target) {
  os << "enum KernelNumber {\n";
  for (const HostKernel &kernel : kernels.kernels) {
    os << "  k_" << kernel.symbol << ",\n";
  }
  os << "};\n\n// Symbol, binary, threads, bytes of shared memory, workgroups "
        "of a cluster.\nconst Kernel kKernels[] = {\n";
  for (const HostKernel &kernel : kernels.kernels) {
    os << "    {" << cString(kernel.symbol) << ", "
       << cString(binaryPath(kernel.symbol, target)) << ", " << kernel.threads
       << ", " << kernel.dynamicBytes << ", " << kernel.cluster << "},\n";
  }
  os << "};\n";
}

//===----------------------------------------------------------------------===//
// Launchers
//===----------------------------------------------------------------------===//

/// "Run &run, Buffer a, int64_t m"; a buffer that reaches other devices comes
/// with the table of its addresses on all.
static std::string parameterList(const HostKernel &kernel) {
  std::string list = "Run &run";
  KernelOp op = kernel.op;
  for (BlockArgument argument : op.getEntry().getArguments()) {
    unsigned i = argument.getArgNumber();
    bool isBuffer = isa<BufferType>(argument.getType());
    const std::string &name = kernel.hostNames[i];
    list += (isBuffer ? ", Buffer " : ", int64_t ") + name;
    if (isBuffer && kernel.isPeer(i)) {
      list += ", Buffer " + peerTable(name);
    }
  }
  return list;
}

/// The extent of a dimension of a buffer argument.
static FailureOr<std::string> extentText(const HostKernel &kernel,
                                         unsigned argument, int64_t dimension) {
  int64_t extent = kernel.bufferType(argument).getShape()[dimension];
  const std::string &name = kernel.hostNames[argument];
  if (extent >= 0) {
    return std::to_string(extent);
  }
  if (dimension == 0) {
    return name + ".rows";
  }
  KernelOp op = kernel.op;
  if (BlockArgument size =
          op.getExtent(op.getEntry().getArgument(argument), dimension)) {
    return kernel.hostNames[size.getArgNumber()];
  }
  return op.emitOpError("expected 'extents' to bind dimension ")
         << dimension << " of '" << name << "'";
}

/// Dimensions of the box, innermost first: columns, rows, others.
static FailureOr<std::string> mapText(const HostKernel &kernel,
                                      const BoxMap &map) {
  BufferType type = kernel.bufferType(map.argument);
  const std::string &name = kernel.hostNames[map.argument];
  SmallVector<std::string> sizes, box;
  std::string end;
  for (int64_t dimension = type.getRank() - 1; dimension >= 0; --dimension) {
    FailureOr<std::string> extent = extentText(kernel, map.argument, dimension);
    if (failed(extent)) {
      return failure();
    }
    bool isRow = dimension == map.rowDimension;
    if (isRow && map.rowEnd) {
      FailureOr<std::string> limit = kernel.sizes.text(map.rowEnd);
      if (failed(limit)) {
        return failure();
      }
      end = ".ending(" + std::to_string(sizes.size()) + ", " + *limit + ")";
    }
    sizes.push_back(*extent);
    box.push_back(std::to_string(isRow ? map.boxRows
                                 : dimension == map.columnDimension
                                     ? map.boxColumns
                                     : 1));
  }
  return "run.boxes(Box(" + name + ".data, " + hostType(type.getElementType()) +
         ", {" + llvm::join(sizes, ", ") + "}, {" + llvm::join(box, ", ") +
         "}, " + std::to_string(map.swizzleBytes) + ")" + end + ")";
}

static LogicalResult printLauncher(llvm::raw_ostream &os,
                                   const HostKernel &kernel) {
  os << "\n"
     << lineComment(guardText(kernel.op) + ".") << "\n"
     << wrapped("void launch_" + kernel.symbol + "(", {parameterList(kernel)},
                ") {", 4)
     << "\n";
  SmallVector<std::string> arguments = {"k_" + kernel.symbol, kernel.grid};
  for (const Parameter &parameter : kernel.interface.parameters) {
    std::string name = parameter.kind == Parameter::Kind::Map
                           ? nameFrom(parameter.name)
                           : kernel.hostNames[parameter.index];
    switch (parameter.kind) {
    case Parameter::Kind::Buffer:
      arguments.push_back(name + ".data");
      break;
    case Parameter::Kind::Peers:
      arguments.push_back(peerTable(name) + ".data");
      break;
    case Parameter::Kind::Size:
      arguments.push_back("int(" + name + ")");
      break;
    case Parameter::Kind::Map: {
      FailureOr<std::string> text =
          mapText(kernel, kernel.interface.maps[parameter.index]);
      if (failed(text)) {
        return failure();
      }
      os << "  const TensorMap " << name << " =\n      " << *text << ";\n";
      arguments.push_back(name);
      break;
    }
    }
  }
  os << wrapped("  run.launch(", arguments, ");", 13) << "\n}\n";
  return success();
}

LogicalResult modelc::printLaunchers(llvm::raw_ostream &os,
                                     const HostModule &kernels) {
  for (const HostKernel &kernel : kernels.kernels) {
    if (failed(printLauncher(os, kernel))) {
      return failure();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// "isIn(m, 1, 64) && (isIn(k, 64, 8192, 64) || isIn(k, 16384, 16384))"; empty:
/// always. Sizes have the names that they have for the first kernel.
static std::string guardCode(const HostKernel &kernel,
                             const HostKernel &names) {
  SmallVector<std::string> conditions;
  KernelOp op = kernel.op;
  SmallVector<SizeDemand> demands = op.getDemands();
  for (const SizeDemand &demand : demands) {
    SmallVector<std::string> ranges;
    for (RangeAttr range : demand.ranges) {
      std::string text = "isIn(" + names.hostName(demand.argument) + ", " +
                         std::to_string(range.getMinimum()) + ", " +
                         std::to_string(range.getMaximum());
      if (range.getMultiple() != 1) {
        text += ", " + std::to_string(range.getMultiple());
      }
      ranges.push_back(text + ")");
    }
    bool isAlone = ranges.size() == 1 || demands.size() == 1;
    std::string any = llvm::join(ranges, " || ");
    conditions.push_back(isAlone ? any : "(" + any + ")");
  }
  return llvm::join(conditions, " && ");
}

/// "run, a, w, d, m": what the kernel takes, as the first kernel calls it.
static SmallVector<std::string> passedOn(const HostKernel &kernel,
                                         const HostKernel &names) {
  SmallVector<std::string> passed = {"run"};
  KernelOp op = kernel.op;
  for (BlockArgument argument : op.getEntry().getArguments()) {
    unsigned i = argument.getArgNumber();
    passed.push_back(names.hostName(op.getArgumentName(i)));
    if (kernel.isPeer(i)) {
      passed.push_back(peerTable(passed.back()));
    }
  }
  return passed;
}

static void printChoice(llvm::raw_ostream &os, const HostChoice &choice,
                        const HostModule &kernels) {
  const HostKernel &first = choice.first(kernels.kernels);
  os << "\n"
     << wrapped("void " + choice.name + "(", {parameterList(first)}, ") {", 4)
     << "\n";
  for (unsigned number : choice.kernels) {
    const HostKernel &kernel = kernels.kernels[number];
    std::string guard = guardCode(kernel, first);
    std::string call = wrapped("return launch_" + kernel.symbol + "(",
                               passedOn(kernel, first), ");", 8);
    if (guard.empty()) {
      os << "  " << call << "\n}\n";
      return;
    }
    os << "  if (" << guard << ") {\n    " << call << "\n  }\n";
  }
  SmallVector<std::string> sizes;
  for (unsigned argument : first.sizeArguments()) {
    sizes.push_back("{" + cString(first.argumentName(argument)) + ", " +
                    first.hostNames[argument] + "}");
  }
  os << wrapped("  run.noKernel(" + cString(choice.opName) + ", {", sizes,
                "});", 15)
     << "\n}\n";
}

void modelc::printChoices(llvm::raw_ostream &os, const HostModule &kernels) {
  for (const HostChoice &choice : kernels.choices) {
    printChoice(os, choice, kernels);
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

std::vector<std::string> modelc::opNames(const HostModule &kernels) {
  std::set<std::string> names;
  for (const HostChoice &choice : kernels.choices) {
    names.insert(choice.opName);
  }
  return {names.begin(), names.end()};
}

static void printArgumentTable(llvm::raw_ostream &os, const HostChoice &choice,
                               const HostKernel &kernel) {
  os << "\nconst mc_binding " << choice.name << "_arguments[] = {\n";
  int64_t tensor = 0;
  for (unsigned argument : kernel.buffers()) {
    BufferType type = kernel.bufferType(argument);
    std::string name = kernel.argumentName(argument);
    bool isPeer = kernel.isPeer(argument);
    printBinding(os, {name, isPeer ? "MC_PEER" : "MC_ARGUMENT", "",
                      hostType(type.getElementType()), type.getShape(),
                      tensor++, 1});
    if (isPeer) {
      printPeerTable(os, name, ShapedType::kDynamic, tensor++);
    }
  }
  os << "};\n";
}

/// The call of a choice on `tensors` and `sizes`.
static std::string callOnTensors(const HostChoice &choice,
                                 const HostKernel &kernel) {
  SmallVector<std::string> arguments = {"run"};
  unsigned tensor = 0, size = 0;
  KernelOp op = kernel.op;
  for (BlockArgument argument : op.getEntry().getArguments()) {
    bool isBuffer = isa<BufferType>(argument.getType());
    bool isPeer = isBuffer && kernel.isPeer(argument.getArgNumber());
    arguments.push_back(isBuffer ? "tensors[" + std::to_string(tensor++) + "]"
                                 : "sizes[" + std::to_string(size++) + "]");
    if (isPeer) {
      arguments.push_back("tensors[" + std::to_string(tensor++) + "]");
    }
  }
  return wrapped(choice.name + "(", arguments, ");", 8);
}

void modelc::printOps(llvm::raw_ostream &os, const HostModule &kernels) {
  for (const std::string &name : opNames(kernels)) {
    std::string body;
    llvm::raw_string_ostream calls(body);
    for (const HostChoice &choice : kernels.choices) {
      if (choice.opName != name) {
        continue;
      }
      const HostKernel &kernel = choice.first(kernels.kernels);
      printArgumentTable(os, choice, kernel);
      calls << "  if (run.matches(tensors, count, " << choice.name
            << "_arguments, sizeCount, " << kernel.sizeArguments().size()
            << ")) {\n    " << callOnTensors(choice, kernel)
            << "\n    return run.result();\n  }\n";
    }
    os << "\nint modelc_" << name
       << "(const mc_tensor *tensors, int count,\n    const int64_t *sizes, "
          "int sizeCount, void *, void *stream) {\n  Run run("
       << cString(name) << ", stream);\n"
       << body << "  return run.noMatch();\n}\n";
  }
}
