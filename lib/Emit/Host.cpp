//===- Host.cpp - The host library of a compilation -----------------------===//
//
// Two files are generated: the C declarations, and the launchers, which include
// the readable parts of targets/host. The language of the target names the
// driver that they go through.
//
//===----------------------------------------------------------------------===//

#include "lib/Emit/HostText.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

static constexpr StringLiteral kParameters =
    "(const mc_tensor *tensors, int count,\n    const int64_t *sizes, int "
    "sizeCount, void *workspace, void *stream);\n";

static void describeOp(llvm::raw_ostream &os, StringRef name,
                       const HostModule &kernels) {
  os << "\n/* " << name << "\n";
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
    os << wrapped(" * tensors: ", tensors, "; sizes:", 4) << " "
       << llvm::join(sizes, ", ") << "\n";
    for (unsigned kernel : choice.kernels) {
      os << " *   " << kernels.kernels[kernel].symbol << ": "
         << guardText(kernels.kernels[kernel].op) << "\n";
    }
  }
  os << " */\nint modelc_" << identifier(name) << kParameters;
}

static void describePlan(llvm::raw_ostream &os, const HostPlan &plan) {
  os << "\n/* " << plan.name << "\n"
     << wrapped(" * sizes: ",
                SmallVector<std::string>(plan.sizeNames.begin(),
                                         plan.sizeNames.end()),
                "\n", 4)
     << " * tensors:\n";
  for (const HostBuffer &buffer : plan.bindings) {
    os << " *   " << buffer.first;
    if (buffer.count > 1) {
      os << " to " << buffer.first + buffer.count - 1;
    }
    os << ": " << buffer.name << ", " << stringifyStorageRole(buffer.role)
       << "\n";
  }
  os << " */\nint modelc_" << plan.name << kParameters
     << "/* Bytes of workspace that modelc_" << plan.name
     << " needs, at a multiple of 256. */\nint64_t "
        "modelc_workspace_bytes_"
     << plan.name
     << "(const int64_t *sizes);\n/* What the tensors are. */\nconst "
        "mc_binding *modelc_bindings_"
     << plan.name << "(int *count);\n";
}

static std::string headerText(const HostModule &kernels,
                              ArrayRef<HostPlan> plans, const Target &target) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "/* Kernels for " << target.identity.product
     << ", as C functions. Made by modelc.\n * See modelc.h for what they "
        "have in common, manifest.json for each argument. */\n#ifndef "
        "MODELC_KERNELS_H\n#define MODELC_KERNELS_H\n\n#include "
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
  os << "// Launchers of the kernels for " << target.identity.product
     << ".\n// Made by modelc: change the compiler, not this file.\n"
        "//\n//   c++ -std=c++17 -shared -fPIC modelc_kernels.cpp -o "
        "libmodelc_kernels.so -ldl\n\n#include \"modelc_kernels.h\"\n\n"
        "#ifdef MODELC_EMULATOR\n";
  os << "#include \"" << target.identity.prelude
     << "\"\n\n#include \"driver_emulator.h\"\n\n// Each kernel's text in a "
        "namespace of its own: they have names in common.\n";
  for (const HostKernel &kernel : kernels.kernels) {
    std::string space = "modelc::kernel_" + kernel.symbol;
    os << "#define modelc " << space << "\n#include \"../src/" << kernel.symbol
       << sourceSuffix(target) << "\"\n#undef modelc\nEMULATOR_KERNEL(" << space
       << ", " << kernel.symbol << ")\n";
  }
  os << "#else\n#include \"driver_" << target.identity.language
     << ".h\"\n#endif\n#include \"library.h\"\n#include \"prepare.h\"\n\nusing "
        "namespace "
        "modelc_host;\n";
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
  FailureOr<std::string> source = sourceText(*kernels, *plans, target);
  if (failed(source)) {
    return failure();
  }
  return std::vector<PackageFile>{
      {"host/modelc_kernels.h", headerText(*kernels, *plans, target)},
      {"host/modelc_kernels.cpp", *source}};
}
