//===- Predict.cpp - Times of measured kernels from their schedules -------===//

#include "lib/Driver/Bench/Predict.h"

#include "dialects/Schedule/Schedule.h"
#include "lib/Cost/Cost.h"
#include "lib/Driver/Bench/EngineLayers.h"
#include "lib/Driver/Registration.h"
#include "lib/Driver/Stages.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/ThreadPool.h"

using namespace mlir;
using namespace modelc;

namespace {
/// The rows of one shape: kernels are chosen once, for all their sizes.
class ShapePredictor {
public:
  /// Linears are cut as the kernels of `engine` are; null: as ours.
  ShapePredictor(MutableArrayRef<RowPrediction> rows, const Target &target,
                 const EngineKernels *engine)
      : rows(rows), first(*rows.front().row), engine(engine),
        attention(attentionOf(first, target)),
        target(asEnginesRun(first, target, engine)),
        alone(asAlone(this->target)) {}
  void run();

private:
  CompileOptions optionsOfAll() const;
  void predict(ModuleOp module, PlanCoster &plans, RowPrediction &prediction);
  void predictCollective(RowPrediction &prediction);
  Bindings bindingsOf(const MeasuredRow &row) const;

  MutableArrayRef<RowPrediction> rows;
  const MeasuredRow &first;
  const EngineKernels *engine;
  const EngineAttention *attention; ///< null: nothing is known of it
  const Target target, alone;
  /// The first message since it was cleared: the reason of a row, not of the
  /// run.
  std::string why;
};
} // namespace

/// Tokens in a page of the cache, as graphOf builds it.
static constexpr int64_t kPage = 64;

CompileOptions ShapePredictor::optionsOfAll() const {
  CompileOptions options;
  options.emit = Stage::Schedule;
  options.target = target.identity.name;
  options.engine = engine;
  options.workload = {1, 1, 1};
  RequestShape &workload = options.workload;
  for (const RowPrediction &prediction : rows) {
    const MeasuredRow &row = *prediction.row;
    workload.batch =
        std::max(workload.batch, isAttention(row) ? row.sequences : row.rows());
    // Kernels serve the tokens of all sequences of a prefill step.
    workload.inputLength =
        std::max({workload.inputLength, row.past + row.newTokens,
                  row.kind == Measurement::Prefill ? row.rows() : int64_t(1)});
    workload.maxBatchedTokens =
        std::max(workload.maxBatchedTokens, workload.inputLength);
  }
  return options;
}

Bindings ShapePredictor::bindingsOf(const MeasuredRow &row) const {
  int64_t sequences = row.sequences > 0 ? row.sequences : row.rows();
  int64_t context = std::max<int64_t>(row.past + row.newTokens, 1);
  double pages = llvm::divideCeil(context, kPage);
  return {{"tokens", row.rows()},
          {"sequences", sequences},
          {"longest", std::max<int64_t>(row.newTokens, 1)},
          {"context", context},
          {"pages_per_sequence", pages},
          {"cache_rows", pages * kPage * sequences},
          {"rank", 0}};
}

static bool isMeasured(const MeasuredRow &row, StringRef label) {
  switch (row.kind) {
  case Measurement::Linear:
    return label.starts_with(kSubject) ||
           (row.isLayer && label.ends_with("quantise"));
  case Measurement::AllReduce:
  case Measurement::Collective:
    return label.starts_with(kSubject) && label.ends_with("all_reduce");
  case Measurement::Prefill:
  case Measurement::Decode:
    // A layer that does not rotate is given queries of 8 bits.
    return (label.starts_with("attention") && !label.ends_with("queries")) ||
           label == "rope_append" || label == "append";
  }
  llvm_unreachable("all kinds are measured by label");
}

/// Leaves of the plan only what is measured: it runs at a clock of its own.
static void keepMeasured(ModuleOp module, const MeasuredRow &row) {
  SmallVector<Operation *> others;
  module.walk([&](Operation *op) {
    if (isa<schedule::LaunchOp, schedule::CollectiveOp>(op)) {
      auto label = op->getAttrOfType<StringAttr>("label");
      if (!label || !isMeasured(row, label)) {
        others.push_back(op);
      }
    }
  });
  for (Operation *op : others) {
    op->erase();
  }
}

void ShapePredictor::predict(ModuleOp module, PlanCoster &plans,
                             RowPrediction &prediction) {
  why.clear();
  CostOptions options;
  if (staysInCache(*prediction.row, target)) {
    options.resident = {"a", "w",   "x",       "q",      "k",
                        "v", "qkv", "k_cache", "v_cache"};
  }
  auto plan = *module.getOps<func::FuncOp>().begin();
  FailureOr<PlanCost> cost =
      plans.cost(plan, bindingsOf(*prediction.row), options);
  if (failed(cost)) {
    prediction.reason = why;
    return;
  }
  double longest = 0;
  for (const StepCost &step : cost->steps) {
    const Estimate &expectation = step.cost.expectation;
    prediction.seconds +=
        expectation.seconds + secondsOfPulling(*prediction.row, step, target);
    bool isFirst = &step == &cost->steps.front();
    if (engine) {
      prediction.seconds +=
          secondsOfRounding(*engine, *prediction.row, step, target);
    }
    if (engine && engine->addRate > 0 && !isFirst) {
      prediction.seconds += secondsOfAdding(*engine, *prediction.row, step);
    } else if (attention) {
      prediction.seconds +=
          secondsOfEngine(*attention, *prediction.row, step, target);
    } else if (isOfLibrary(*prediction.row, target) && !isFirst) {
      // What adds parts is no linear: it follows when they are stored.
      prediction.seconds += target.launch.engineGap - target.launch.libraryGap;
    }
    prediction.kernels +=
        (prediction.kernels.empty() ? "" : " + ") +
        (step.cost.name.empty() ? step.label : step.cost.name);
    if (expectation.seconds > longest) {
      longest = expectation.seconds;
      prediction.limit = expectation.limit;
      prediction.clockHz = expectation.clockHz;
    }
  }
  if (attention) {
    prediction.limit = limitOfEngine(*attention, *prediction.row, target).str();
  }
  prediction.seconds += secondsOfReplay(*prediction.row, target) +
                        secondsOfTensorScale(*prediction.row, target);
  prediction.library = engine      ? engine->name
                       : attention ? first.engine().str()
                                   : "";
}

/// Tables of the library keep the time of the fastest collective of a size,
/// which is one that adds nothing on its way: some are shorter than an
/// all-reduce can be.
void ShapePredictor::predictCollective(RowPrediction &prediction) {
  const MeasuredRow &row = *prediction.row;
  FailureOr<KernelCost> cost =
      costCollective("all_gather", row.bytes(), row.devices, target);
  if (succeeded(cost)) {
    prediction.seconds = cost->expectation.seconds;
    prediction.limit = cost->expectation.limit;
    prediction.kernels = "the library";
  }
}

void ShapePredictor::run() {
  if (first.kind == Measurement::Collective) {
    for (RowPrediction &prediction : rows) {
      predictCollective(prediction);
    }
    return;
  }
  DialectRegistry registry;
  registerEverything(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  ScopedDiagnosticHandler keep(&context, [&](Diagnostic &diagnostic) {
    why = why.empty() ? diagnostic.str() : why;
    return success();
  });
  OwningOpRef<ModuleOp> graph =
      graphOf(first, attention && attention->narrows, &context);
  FailureOr<OwningOpRef<ModuleOp>> module = failure();
  if (graph) {
    module = lowerToFinalSchedule(*graph, target, optionsOfAll());
  }
  if (failed(module)) {
    for (RowPrediction &prediction : rows) {
      prediction.reason = why;
    }
    return;
  }
  keepMeasured(**module, first);
  PlanCoster plans(**module, alone);
  for (RowPrediction &prediction : rows) {
    predict(**module, plans, prediction);
  }
}

/// The rows of one shape by whichever library is the fastest at each.
static void predictShape(ArrayRef<RowPrediction *> rows, const Target &target) {
  auto predictAs = [&](const EngineKernels *engine) {
    SmallVector<RowPrediction> ofEngine;
    for (const RowPrediction *row : rows) {
      ofEngine.emplace_back().row = row->row;
    }
    ShapePredictor(ofEngine, target, engine).run();
    for (auto [best, other] : llvm::zip_equal(rows, ofEngine)) {
      bool isFirst = best->seconds == 0;
      if (isFirst || (other.seconds > 0 && other.seconds < best->seconds)) {
        *best = other;
      }
    }
  };
  std::vector<EngineKernels> engines = enginesOf(*rows.front()->row, target);
  if (engines.empty()) {
    predictAs(nullptr);
  }
  for (const EngineKernels &engine : engines) {
    predictAs(&engine);
  }
}

double modelc::matrixPeak(StringRef type, const Target &target) {
  StringRef prefix = type.contains("fp8")                 ? "f8"
                     : type == "mxfp6"                    ? "f6"
                     : type == "mxfp4" || type == "nvfp4" ? "f4"
                                                          : "bf16";
  double peak = 0;
  for (const MmaRow &mma : target.mma) {
    if (StringRef(mma.aType).starts_with(prefix)) {
      peak = std::max(peak, target.flopPerSecond(mma));
    }
  }
  return peak;
}

/// Rows of one key have the same kernels and follow each other alike.
static std::string keyOf(const MeasuredRow &row, const Target &target) {
  const EngineAttention *engine = attentionOf(row, target);
  auto number = engine ? engine - target.attentionEngines.data() : -1;
  std::string libraries = row.engine().str();
  for (const EngineKernels &library : enginesOf(row, target)) {
    libraries += " " + library.name + " " + std::to_string(library.leastRows);
  }
  return row.chip + " " + row.shape() + " " + std::to_string(number) +
         libraries + (row.startsEarly() ? " early" : "");
}

std::vector<RowPrediction> modelc::predict(ArrayRef<MeasuredRow> rows,
                                           const Machines &machines) {
  std::vector<RowPrediction> predictions(rows.size());
  std::map<std::string, std::vector<RowPrediction *>> shapes;
  for (auto [row, prediction] : llvm::zip_equal(rows, predictions)) {
    prediction.row = &row;
    prediction.reason = row.reasonAgainst();
    if (prediction.reason.empty()) {
      shapes[keyOf(row, machines.at(row.machine()))].push_back(&prediction);
    }
  }
  llvm::DefaultThreadPool pool;
  for (auto &entry : shapes) {
    ArrayRef<RowPrediction *> ofShape = entry.second;
    const Target &target = machines.at(ofShape.front()->row->machine());
    pool.async([ofShape, &target] { predictShape(ofShape, target); });
  }
  pool.wait();
  return predictions;
}
