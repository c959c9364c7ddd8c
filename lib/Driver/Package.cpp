//===- Package.cpp - What a compilation writes, and reads again -----------===//
//
// A package holds, beside sources and manifest, the schedules themselves
// (schedule.mlir) and how they were compiled (compile.json). Both together give
// every number of the estimate again, with its sum: that is `modelc explain`.
//
//===----------------------------------------------------------------------===//

#include "lib/Driver/Package.h"

#include "dialects/Model/Model.h"
#include "lib/Driver/Registration.h"
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

static std::string describe(const CompileOptions &options,
                            const ModelFacts &model) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os, 2);
  json.object([&] {
    json.attribute("model", options.input);
    json.attribute("target", targetOf(options));
    json.attribute("targets_dir", absolute(options.targetsDirectory));
    json.attributeArray("set", [&] {
      llvm::for_each(options.overrides,
                     [&](const std::string &set) { json.value(set); });
    });
    json.attribute("tp", options.tensorParallel);
    json.attribute("isl", options.workload.inputLength);
    json.attribute("osl", options.workload.outputLength);
    json.attribute("batch", options.workload.batch);
    json.attribute("weights", options.weights);
    json.attribute("activations", options.activations);
    json.attribute("kv", options.cache);
    json.attribute("price", options.priceBasis);
    json.attribute("page", model.pageSize);
    json.attribute("max_tp", model.maxTensorParallel);
    json.attribute("weight_bytes", int64_t(model.weightBytes));
    json.attribute("cache_bytes_per_token", int64_t(model.cacheBytesPerToken));
  });
  os << "\n";
  return text;
}

/// The mean launch of each kernel that a plan runs.
static std::map<std::string, Prediction> predictionsOf(const Report &report) {
  std::map<std::string, Prediction> predictions;
  for (const PlanCost *plan : {&report.prefill, &report.decode}) {
    for (const StepCost &step : plan->steps) {
      predictions[step.cost.name] = {step.cost.expectation.seconds,
                                     step.cost.expectation.joules};
    }
  }
  return predictions;
}

template <typename Print>
static std::string textOf(Print print) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

int modelc::writePackageOf(ModuleOp module, const ModelFacts &model,
                           const Report &report, const Target &target,
                           const CompileOptions &options,
                           llvm::raw_ostream &errors) {
  PackageOptions package;
  package.targetsFolder = options.targetsDirectory;
  package.predictions = predictionsOf(report);
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
    if (options.emit == Stage::Binary &&
        failed(compileBinaries(module, target, folder, errors))) {
      code = kExitInternal;
      return failure();
    }
    return success();
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

static std::string fileOf(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
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
  bool complete = true;
  auto text = [&](llvm::StringRef key, std::string &to) {
    const Node *node = root->find(key);
    complete &= node && node->isString();
    to = complete ? node->string : "";
  };
  auto number = [&](llvm::StringRef key, auto &to) {
    const Node *node = root->find(key);
    complete &= node && node->isInteger() && node->integer > 0;
    to = complete ? node->integer : 0;
  };
  text("target", options.target);
  text("targets_dir", options.targetsDirectory);
  text("weights", options.weights);
  text("activations", options.activations);
  text("kv", options.cache);
  text("price", options.priceBasis);
  auto size = [&](llvm::StringRef key, int64_t &to) {
    number(key, to);
    complete &= to <= model::kLargestSize;
  };
  size("tp", options.tensorParallel);
  size("isl", options.workload.inputLength);
  size("osl", options.workload.outputLength);
  size("batch", options.workload.batch);
  size("page", model.pageSize);
  size("max_tp", model.maxTensorParallel);
  number("weight_bytes", model.weightBytes);
  number("cache_bytes_per_token", model.cacheBytesPerToken);
  const Node *sets = root->find("set");
  if (!complete || !sets || !sets->isArray() ||
      !llvm::all_of(sets->items,
                    [](const Node &set) { return set.isString(); })) {
    file->error(errors, root->place,
                "expected the compilation that this folder holds; compile "
                "it again");
    return failure();
  }
  for (const Node &set : sets->items) {
    options.overrides.push_back(set.string);
  }
  return std::pair(options, model);
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
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context, errors);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(fileOf(options.folder, kSchedule), &context);
  if (!module) {
    return kExitInput;
  }
  FailureOr<Report> report = estimateModel(*module, model, *target, compiled,
                                           Explanations::Yes, errors);
  if (failed(report)) {
    return kExitInput;
  }
  if (options.item.empty()) {
    printOps(options.phase == "prefill" ? report->prefill : report->decode,
             out);
    return kExitOk;
  }
  return succeeded(explainItem(*report, options.item, options.phase, *target,
                               out, errors))
             ? kExitOk
             : kExitInput;
}
