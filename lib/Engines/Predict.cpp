//===- Predict.cpp - Times of measured kernels from their schedules -------===//

#include "lib/Engines/Predict.h"

#include "dialects/Schedule/Schedule.h"
#include "lib/Cost/Cost.h"
#include "lib/Engines/Layers.h"
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
                 const Engines &engines, const Lowering &lowering,
                 const EngineLinear *engine)
      : rows(rows), first(*rows.front().row), lowering(lowering),
        engine(engine), attention(attentionOf(first, target, engines)),
        habits(first, target, engines),
        target(asEnginesRun(first, target, habits, engine)),
        alone(asAlone(this->target)) {}
  void run();

private:
  ServedSizes sizesOfAll() const;
  void predict(ModuleOp module, PlanCoster &plans, RowPrediction &prediction);
  void predictCollective(RowPrediction &prediction);
  Bindings bindingsOf(const MeasuredRow &row) const;

  MutableArrayRef<RowPrediction> rows;
  const MeasuredRow &first;
  const Lowering &lowering;
  const EngineLinear *engine;
  const EngineAttention *attention; ///< null: nothing is known of it
  const LayerHabits habits;
  const Target target, alone;
  /// The first message since it was cleared: the reason of a row, not of the
  /// run.
  std::string why;
};
} // namespace

/// Tokens in a page of the cache, as graphOf builds it.
static constexpr int64_t kPage = 64;

static bool isPrefill(const MeasuredRow &row) {
  return row.kind == Measurement::Prefill ||
         row.kind == Measurement::LatentPrefill;
}

ServedSizes ShapePredictor::sizesOfAll() const {
  ServedSizes sizes;
  for (const RowPrediction &prediction : rows) {
    const MeasuredRow &row = *prediction.row;
    sizes.sequences = std::max(sizes.sequences,
                               row.isAttention() ? row.sequences : row.rows());
    // Kernels serve the tokens of all sequences of a prefill step.
    sizes.tokens = std::max({sizes.tokens, row.past + row.newTokens,
                             isPrefill(row) ? row.rows() : int64_t(1)});
  }
  return sizes;
}

Bindings ShapePredictor::bindingsOf(const MeasuredRow &row) const {
  int64_t sequences = row.sequences > 0 ? row.sequences : row.rows();
  int64_t context = std::max<int64_t>(row.past + row.newTokens, 1);
  double pages = llvm::divideCeil(context, kPage);
  Bindings bindings = {{"tokens", row.rows()},
                       {"sequences", sequences},
                       {"longest", std::max<int64_t>(row.newTokens, 1)},
                       {"context", context},
                       {"pages_per_sequence", pages},
                       {"cache_rows", pages * kPage * sequences},
                       {"rank", 0}};
  if (row.kind == Measurement::Experts) {
    bindings.merge(ExpertLoad::parse(row.load)->symbols());
  }
  return bindings;
}

static bool isMeasured(const MeasuredRow &row, StringRef label) {
  switch (row.kind) {
  case Measurement::Linear:
    return label.starts_with(kSubject) ||
           (row.isLayer && label.ends_with("quantise"));
  case Measurement::Experts:
    return label.starts_with(kSubject) || (row.routes() && label == "route");
  case Measurement::LatentPrefill:
  case Measurement::LatentDecode:
    // The products with what makes keys and values are timed as linears.
    return label == "rope" || label == "latent_append" ||
           (label.starts_with("latent_attention") &&
            !label.ends_with("_absorb") && !label.ends_with("_expand"));
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
        expectation.seconds +
        secondsOfPulling(habits, *prediction.row, step, target);
    bool isFirst = &step == &cost->steps.front();
    if (engine) {
      prediction.seconds +=
          secondsOfRounding(*engine, habits, *prediction.row, step, target);
    }
    if (engine && engine->addRate > 0 && !isFirst) {
      prediction.seconds += secondsOfAdding(*engine, *prediction.row, step);
    } else if (attention) {
      prediction.seconds +=
          secondsOfEngine(*attention, habits, *prediction.row, step, target);
    } else if (habits.isOfLibrary && !isFirst) {
      // What adds parts is no linear: it follows when they are stored.
      prediction.seconds += habits.gap() - habits.libraryGap();
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
                        secondsOfTensorScale(habits, *prediction.row, target);
  prediction.library = engine      ? engine->library
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
  MLIRContext context(lowering.dialects, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  ScopedDiagnosticHandler keep(&context, [&](Diagnostic &diagnostic) {
    why = why.empty() ? diagnostic.str() : why;
    return success();
  });
  OwningOpRef<ModuleOp> graph =
      graphOf(first, attention && attention->narrows, &context);
  FailureOr<OwningOpRef<ModuleOp>> module = failure();
  if (graph) {
    module = lowering.lower(*graph, target, sizesOfAll(),
                            engine ? &engine->cut : nullptr);
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
static void predictShape(ArrayRef<RowPrediction *> rows, const Target &target,
                         const Engines &engines, const Lowering &lowering) {
  auto predictAs = [&](const EngineLinear *engine) {
    SmallVector<RowPrediction> ofEngine;
    for (const RowPrediction *row : rows) {
      ofEngine.emplace_back().row = row->row;
    }
    ShapePredictor(ofEngine, target, engines, lowering, engine).run();
    for (auto [best, other] : llvm::zip_equal(rows, ofEngine)) {
      bool isFirst = best->seconds == 0;
      if (isFirst || (other.seconds > 0 && other.seconds < best->seconds)) {
        *best = other;
      }
    }
  };
  std::vector<EngineLinear> linears =
      linearsOf(*rows.front()->row, target, engines);
  if (linears.empty()) {
    predictAs(nullptr);
  }
  for (const EngineLinear &engine : linears) {
    predictAs(&engine);
  }
}

double modelc::matrixPeak(StringRef type, const Target &target) {
  StringRef prefix = type == "w4a16_mxfp4"                ? "bf16"
                     : type.contains("fp8")               ? "f8"
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

/// The number of a row among all, or -1 of null.
template <typename Row>
static std::string numberOf(const Row *row, const std::vector<Row> &rows) {
  return " " + std::to_string(row ? row - rows.data() : -1);
}

/// Rows of one key have the same kernels and follow each other alike.
static std::string keyOf(const MeasuredRow &row, const Target &target,
                         const Engines &engines) {
  LayerHabits habits(row, target, engines);
  std::string libraries = row.engine().str();
  for (const EngineLinear &library : linearsOf(row, target, engines)) {
    libraries +=
        " " + library.library + " " + std::to_string(library.leastRows);
  }
  return row.chip + " " + row.shape() +
         numberOf(attentionOf(row, target, engines), engines.attentions) +
         numberOf(habits.launch, engines.launches) +
         numberOf(habits.layer, engines.layers) + libraries;
}

std::vector<RowPrediction> modelc::predict(ArrayRef<MeasuredRow> rows,
                                           const Machines &machines,
                                           const Engines &engines,
                                           const Lowering &lowering) {
  std::vector<RowPrediction> predictions(rows.size());
  std::map<std::string, std::vector<RowPrediction *>> shapes;
  for (auto [row, prediction] : llvm::zip_equal(rows, predictions)) {
    prediction.row = &row;
    prediction.reason = row.reasonAgainst();
    if (prediction.reason.empty()) {
      const Target &target = machines.at(row.machine());
      shapes[keyOf(row, target, engines)].push_back(&prediction);
    }
  }
  llvm::DefaultThreadPool pool;
  for (auto &entry : shapes) {
    ArrayRef<RowPrediction *> ofShape = entry.second;
    const Target &target = machines.at(ofShape.front()->row->machine());
    pool.async([ofShape, &target, &engines, &lowering] {
      predictShape(ofShape, target, engines, lowering);
    });
  }
  pool.wait();
  return predictions;
}
