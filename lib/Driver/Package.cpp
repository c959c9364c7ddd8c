//===- Package.cpp - What a compilation writes, and reads again -----------===//
//
// A package holds, beside sources and manifest, the schedules themselves
// (schedule.mlir) and how they were compiled (compile.json). Both together give
// every number of the estimate again, with its sum: that is `modelc explain`.
//
//===----------------------------------------------------------------------===//

#include "lib/Driver/Package.h"

#include "dialects/Model/Model.h"
#include "dialects/Schedule/Schedule.h"
#include "lib/Cost/ExpertLoad.h"
#include "lib/Driver/Registration.h"
#include "lib/Driver/Usage.h"
#include "lib/Support/Support.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace modelc;

static constexpr llvm::StringLiteral kSchedule = "schedule.mlir";
static constexpr llvm::StringLiteral kCompilation = "compile.json";
static constexpr llvm::StringLiteral kManifest = "manifest.json";

static std::string fileOf(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

static std::string absolute(llvm::StringRef path) {
  llvm::SmallString<128> full(path);
  llvm::sys::fs::make_absolute(full);
  llvm::sys::path::remove_dots(full, /*remove_dot_dot=*/true);
  return full.str().str();
}

/// A name, or a file that is found from every folder.
static std::string targetOf(const CompileOptions &options) {
  bool isFile = llvm::StringRef(options.target).ends_with(".toml");
  return isFile ? absolute(options.target) : options.target;
}

/// Empty where it is the installed one, wherever that lies on a machine.
static std::string targetsOf(const CompileOptions &options) {
  return options.targetsDirectory.empty() ? ""
                                          : absolute(options.targetsDirectory);
}

static std::string describe(const CompileOptions &options,
                            const ModelFacts &model) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os, 2);
  json.object([&] {
    json.attribute("model", options.input);
    json.attribute("target", targetOf(options));
    json.attribute("targets_dir", targetsOf(options));
    json.attributeArray("set", [&] {
      llvm::for_each(options.overrides,
                     [&](const std::string &set) { json.value(set); });
    });
    json.attribute("tp", options.tensorParallel);
    json.attribute("isl", options.workload.inputLength);
    json.attribute("osl", options.workload.outputLength);
    json.attribute("batch", options.workload.batch);
    json.attribute("max_batched_tokens", options.workload.maxBatchedTokens);
    json.attribute("expert_load", options.workload.expertLoad);
    json.attribute("weights", options.weights);
    json.attribute("activations", options.activations);
    json.attribute("kv", options.cache);
    json.attribute("queries", options.queries);
    json.attribute("price", options.priceBasis);
    json.attribute("page", model.pageSize);
    json.attribute("max_tp", model.maxTensorParallel);
    json.attribute("weight_bytes", int64_t(model.weightBytes));
    json.attribute("cache_bytes_per_token", int64_t(model.cacheBytesPerToken));
  });
  os << "\n";
  return text;
}

template <typename Print>
static std::string textOf(Print print) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

/// The manifest of a package that was written, with what became of its sources.
static LogicalResult addToManifest(const std::vector<BinaryFacts> &facts,
                                   ModuleOp module, const Target &target,
                                   ArrayRef<PackageFile> files,
                                   PackageOptions package,
                                   llvm::StringRef folder,
                                   llvm::raw_ostream &errors) {
  for (const BinaryFacts &one : facts) {
    package.binaries[one.symbol] = one;
  }
  ArrayRef<PackageFile> sources = files.take_front(facts.size());
  FailureOr<std::string> text = emitManifest(module, target, sources, package);
  return failure(failed(text) ||
                 writeText(
                     fileOf(folder, kManifest),
                     [&](llvm::raw_ostream &os) { os << *text; }, errors,
                     errors) != kExitOk);
}

int modelc::writePackageOf(ModuleOp module, const ModelFacts &model,
                           const Report &report, const Target &target,
                           const CompileOptions &options,
                           llvm::raw_ostream &errors) {
  PackageOptions package;
  package.targetsFolder = targetsFolder(options.targetsDirectory);
  FailureOr<std::map<std::string, Prediction>> predictions = predictionsOf(
      module, report, lastDecodeStep(options.workload, model.pageSize), target);
  if (failed(predictions)) {
    return kExitInternal;
  }
  package.predictions = std::move(*predictions);
  FailureOr<std::vector<PackageFile>> files =
      emitPackage(module, target, package);
  if (failed(files)) {
    return kExitInternal;
  }
  files->push_back({kSchedule.str(), textOf([&](llvm::raw_ostream &os) {
                      module.print(os,
                                   OpPrintingFlags().printNameLocAsPrefix());
                      os << "\n";
                    })});
  files->push_back({kCompilation.str(), describe(options, model)});
  files->push_back({"estimate.txt", textOf([&](llvm::raw_ostream &os) {
                      printText(report, target, os);
                    })});
  files->push_back({"estimate.json", textOf([&](llvm::raw_ostream &os) {
                      printJson(report, target, os);
                    })});
  int code = kExitInput;
  auto finish = [&](llvm::StringRef folder) -> LogicalResult {
    if (options.emit != Stage::Binary) {
      return success();
    }
    FailureOr<std::vector<BinaryFacts>> facts =
        compileBinaries(module, target, folder, errors);
    if (failed(facts)) {
      code = kExitInternal;
      return failure();
    }
    return addToManifest(*facts, module, target, *files, package, folder,
                         errors);
  };
  bool isWritten =
      succeeded(writePackage(*files, options.output, errors, finish));
  return isWritten          ? int(kExitOk)
         : wasInterrupted() ? int(kExitInterrupted)
                            : code;
}

//===----------------------------------------------------------------------===//
// Explain
//===----------------------------------------------------------------------===//

/// Whether the file says all of what it should.
static bool readFields(const Node &root, CompileOptions &options,
                       ModelFacts &model) {
  bool complete = true;
  auto text = [&](llvm::StringRef key, std::string &to) {
    const Node *node = root.find(key);
    complete &= node && node->isString();
    to = complete ? node->string : "";
  };
  auto number = [&](llvm::StringRef key, auto &to) {
    const Node *node = root.find(key);
    complete &= node && node->isInteger() && node->integer > 0;
    to = complete ? node->integer : 0;
  };
  auto format = [&](llvm::StringRef key, std::string &to) {
    text(key, to);
    complete &= model::findFormat(to) != nullptr;
  };
  auto size = [&](llvm::StringRef key, int64_t &to) {
    number(key, to);
    complete &= to <= model::kLargestSize;
  };
  text("target", options.target);
  text("targets_dir", options.targetsDirectory);
  format("weights", options.weights);
  text("activations", options.activations);
  format("kv", options.cache);
  format("queries", options.queries);
  text("price", options.priceBasis);
  size("tp", options.tensorParallel);
  size("isl", options.workload.inputLength);
  size("osl", options.workload.outputLength);
  size("batch", options.workload.batch);
  size("max_batched_tokens", options.workload.maxBatchedTokens);
  text("expert_load", options.workload.expertLoad);
  complete &= ExpertLoad::parse(options.workload.expertLoad).has_value();
  size("page", model.pageSize);
  size("max_tp", model.maxTensorParallel);
  number("weight_bytes", model.weightBytes);
  number("cache_bytes_per_token", model.cacheBytesPerToken);
  return complete;
}

/// The options that a package was compiled with, and its model.
static FailureOr<std::pair<CompileOptions, ModelFacts>>
readCompilation(llvm::StringRef folder, llvm::raw_ostream &errors) {
  FailureOr<SourceFile> file =
      SourceFile::read(fileOf(folder, kCompilation), errors);
  if (failed(file)) {
    errors << "modelc: note: expected the folder that 'modelc MODEL -o FOLDER' "
              "wrote\n";
    return failure();
  }
  FailureOr<Node> root = parseJson(*file, errors);
  if (failed(root)) {
    return failure();
  }
  CompileOptions options;
  ModelFacts model;
  const bool complete = readFields(*root, options, model);
  const Node *sets = root->find("set");
  if (!complete || !sets || !sets->isArray() ||
      !llvm::all_of(sets->items,
                    [](const Node &set) { return set.isString(); })) {
    file->error(errors, root->place,
                "expected the compilation that this folder holds; compile "
                "it again");
    return failure();
  }
  llvm::transform(sets->items, std::back_inserter(options.overrides),
                  [](const Node &set) { return set.string; });
  return std::pair(options, model);
}

/// The kernels of a step's ops of that label.
static std::vector<std::string> kernelsBehind(const PlanCost &plan,
                                              llvm::StringRef label) {
  std::vector<std::string> symbols;
  for (const StepCost &step : plan.steps) {
    if (step.label == label && !step.collective) {
      symbols.push_back(step.cost.name);
    }
  }
  return symbols;
}

int modelc::explain(const ExplainOptions &options, llvm::raw_ostream &out,
                    llvm::raw_ostream &errors) {
  auto compilation = readCompilation(options.folder, errors);
  if (failed(compilation)) {
    return kExitInput;
  }
  auto &[compiled, model] = *compilation;
  FailureOr<Target> target = loadTarget(compiled.target, compiled.overrides,
                                        {compiled.targetsDirectory}, errors);
  if (failed(target)) {
    return kExitInput;
  }
  DialectRegistry registry;
  registerEverything(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false); // the place says enough
  std::unique_ptr<llvm::MemoryBuffer> text =
      readIr(fileOf(options.folder, kSchedule), errors);
  if (!text) {
    return kExitInput;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(text), llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context, errors);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module) {
    return kExitInput;
  }
  FailureOr<Report> report = estimateModel(*module, model, *target, compiled,
                                           Explanations::Sums, errors);
  if (failed(report)) {
    return kExitInput;
  }
  const PlanCost &plan =
      options.phase == "prefill" ? report->prefill : report->decode;
  if (options.item.empty()) {
    printOps(plan, out);
    return kExitOk;
  }
  FailureOr<SourceFile> manifest =
      SourceFile::read(fileOf(options.folder, kManifest), errors);
  if (failed(manifest)) {
    return kExitInput;
  }
  // A kernel that no step of this workload runs has no sum.
  std::vector<std::string> symbols = kernelsBehind(plan, options.item);
  bool isKernel = module->lookupSymbol<schedule::KernelOp>(options.item);
  if (isKernel) {
    symbols = {options.item};
  } else if (failed(explainItem(*report, options.item, options.phase, *target,
                                out, errors))) {
    return kExitInput;
  }
  return succeeded(printEvidence(*manifest, symbols, out, errors))
             ? int(kExitOk)
             : int(kExitInput);
}
