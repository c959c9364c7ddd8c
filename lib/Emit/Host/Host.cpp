//===- Host.cpp - The host library of a compilation -----------------------===//
//
// Two files are generated: the C declarations, and the launchers, which include
// the readable parts of targets/host. The language of the target names the
// driver that they go through.
//
//===----------------------------------------------------------------------===//

#include "lib/Emit/Host/HostText.h"
#include "lib/Text/Text.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

static constexpr StringLiteral kParameters =
    "(const mc_tensor *tensors, int count,\n    const int64_t *sizes, int "
    "sizeCount, void *workspace, void *stream);\n";

static void addLines(SmallVectorImpl<std::string> &lines, StringRef text) {
  for (StringRef line : llvm::split(text, '\n')) {
    lines.push_back(line.str());
  }
}

static void describeOp(llvm::raw_ostream &os, StringRef name,
                       const HostModule &kernels) {
  SmallVector<std::string> about = {name.str()};
  for (const HostChoice &choice : kernels.choices) {
    if (choice.opName != name) {
      continue;
    }
    const HostKernel &first = choice.first(kernels.kernels);
    SmallVector<std::string> tensors, sizes;
    for (unsigned argument : first.buffers()) {
      tensors.push_back(first.argumentName(argument));
    }
    for (unsigned argument : first.sizeArguments()) {
      sizes.push_back(first.argumentName(argument));
    }
    addLines(about, wrapped("tensors: ", tensors, "; sizes:", 4) + " " +
                        llvm::join(sizes, ", "));
    for (unsigned kernel : choice.kernels) {
      about.push_back("  " + kernels.kernels[kernel].symbol + ": " +
                      guardText(kernels.kernels[kernel].op));
    }
  }
  os << "\n" << blockComment(about) << "int modelc_" << name << kParameters;
}

static void describePlan(llvm::raw_ostream &os, const HostPlan &plan) {
  SmallVector<std::string> about = {plan.name};
  addLines(about, wrapped("sizes: ", plan.sizeNames, "", 4));
  about.push_back("tensors:");
  for (const HostBuffer &buffer : plan.bindings) {
    std::string number = std::to_string(buffer.first);
    if (buffer.count > 1) {
      number += " to " + std::to_string(buffer.first + buffer.count - 1);
    }
    about.push_back("  " + number + ": " + buffer.name + ", " +
                    stringifyStorageRole(buffer.role).str());
  }
  os << "\n"
     << blockComment(about) << "int modelc_" << plan.name << kParameters
     << blockComment("Bytes of workspace that modelc_" + plan.name +
                     " needs, at a multiple of 256.")
     << "int64_t modelc_workspace_bytes_" << plan.name
     << "(const int64_t *sizes);\n/* What the tensors are. */\nconst "
        "mc_binding *modelc_bindings_"
     << plan.name << "(int *count);\n";
}

static std::string headerText(const HostModule &kernels,
                              ArrayRef<HostPlan> plans, const Target &target) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << blockComment({"Kernels for " + target.identity.product +
                          ", as C functions. Made by modelc.",
                      "See modelc.h for what they have in common, "
                      "manifest.json for each argument."})
     << "#ifndef MODELC_KERNELS_H\n#define MODELC_KERNELS_H\n\n#include "
        "\"modelc.h\"\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  for (const HostPlan &plan : plans) {
    describePlan(os, plan);
  }
  for (const std::string &name : opNames(kernels)) {
    describeOp(os, name, kernels);
  }
  os << "\n#ifdef __cplusplus\n}\n#endif\n\n#endif /* MODELC_KERNELS_H */\n";
  return text;
}

/// The device side: the vendor's driver, or the kernels' text on the CPU.
static void printIncludes(llvm::raw_ostream &os, const HostModule &kernels,
                          const Target &target) {
  os << lineComment("Launchers of the kernels for " + target.identity.product +
                    ".")
     << "\n// Made by modelc: change the compiler, not this file.\n"
        "//\n//   c++ -std=c++17 -shared -fPIC modelc_kernels.cpp -o "
        "libmodelc_kernels.so -ldl\n\n#include \"modelc_kernels.h\"\n\n"
        "#ifdef MODELC_EMULATOR\n";
  os << cInclude(target.identity.prelude)
     << "\n#include \"driver_emulator.h\"\n\n// Each kernel's text in a "
        "namespace of its own: they have names in common.\n";
  for (const HostKernel &kernel : kernels.kernels) {
    std::string space = "modelc::kernel_" + kernel.symbol;
    os << "#define modelc " << space << "\n"
       << cInclude(("../src/" + kernel.symbol + sourceSuffix(target)).str())
       << "#undef modelc\nEMULATOR_KERNEL(" << space << ", " << kernel.symbol
       << ")\n";
  }
  os << "#else\n"
     << cInclude("driver_" + target.identity.language + ".h")
     << "#endif\n#include \"library.h\"\n#include \"prepare.h\"\n#include "
        "\"tables.h\"\n\nusing namespace modelc_host;\n";
}

static FailureOr<std::string> sourceText(const HostModule &kernels,
                                         ArrayRef<HostPlan> plans,
                                         const Target &target) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printIncludes(os, kernels, target);
  os << "\nnamespace {\n\n";
  printKernelTable(os, kernels, target);
  if (failed(printLaunchers(os, kernels))) {
    return failure();
  }
  printChoices(os, kernels);
  os << "\n} // namespace\n\nKernelTable modelc_host::kernelTable() {\n  "
        "return {kKernels, "
     << kernels.kernels.size()
     << "};\n}\n\nint modelc_open(const char *folder) { return "
        "modelc_host::open(folder); }\nint modelc_communicator(void "
        "*communicator) {\n  return "
        "modelc_host::setCommunicator(communicator);\n}\n"
        "int modelc_prepare(const mc_binding *weight, int64_t layer, int "
        "rank,\n"
        "                   mc_read read, void *context, void *out) {\n  "
        "return "
        "prepare(weight, layer, rank, read, context, out);\n}\n"
        "int modelc_fill(const mc_binding *constant, void *out) {\n  return "
        "fillTable(constant, out);\n}\n"
        "void modelc_close() { "
        "modelc_host::closeAll(); "
        "}\nconst char *modelc_last_error() { return modelc_host::lastError; "
        "}\n";
  for (const HostPlan &plan : plans) {
    if (failed(printPlan(os, plan, kernels))) {
      return failure();
    }
  }
  printOps(os, kernels);
  return text;
}

/// No two functions of the library have one name.
static LogicalResult checkFunctions(const HostModule &kernels,
                                    ArrayRef<HostPlan> plans) {
  llvm::StringSet<> taken;
  taken.insert_range(ArrayRef<StringRef>{"open", "close", "communicator",
                                         "prepare", "last_error"});
  auto take = [&](Operation *op, const std::string &name) -> LogicalResult {
    if (taken.insert(name).second) {
      return success();
    }
    return op->emitOpError("expected a name that no other function of the host "
                           "library has, got '")
           << name << "'";
  };
  for (const HostPlan &plan : plans) {
    for (StringRef part : {"", "bindings_", "workspace_bytes_"}) {
      if (failed(take(plan.op, part.str() + plan.name))) {
        return failure();
      }
    }
  }
  for (const std::string &name : opNames(kernels)) {
    auto first = llvm::find_if(kernels.kernels, [&](const HostKernel &kernel) {
      return kernel.opName == name;
    });
    if (failed(take(first->op, name))) {
      return failure();
    }
  }
  return success();
}

FailureOr<std::vector<PackageFile>>
modelc::emitHostLibrary(ModuleOp module, const Target &target) {
  FailureOr<HostModule> kernels = HostModule::of(module, target);
  if (failed(kernels)) {
    return failure();
  }
  FailureOr<std::vector<HostPlan>> plans = plansOf(module, *kernels);
  if (failed(plans)) {
    return failure();
  }
  if (failed(checkFunctions(*kernels, *plans))) {
    return failure();
  }
  FailureOr<std::string> source = sourceText(*kernels, *plans, target);
  if (failed(source)) {
    return failure();
  }
  return std::vector<PackageFile>{
      {"host/modelc_kernels.h", headerText(*kernels, *plans, target)},
      {"host/modelc_kernels.cpp", *source}};
}
