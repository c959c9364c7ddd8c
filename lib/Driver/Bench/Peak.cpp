//===- Peak.cpp - What part of the machine linears reach ------------------===//

#include "dialects/Model/Model.h"
#include "lib/Driver/Bench/Bench.h"
#include "lib/Driver/Bench/BenchModel.h"
#include "lib/Support/Support.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace modelc;
using llvm::raw_ostream;

namespace {
/// A linear of a model by its name in the graph.
struct NamedLinear {
  std::string name;
  int64_t n = 0, k = 0;
};

/// What a time means: parts of what the machine could do.
struct Parts {
  double matrix = 0, memory = 0;
};

/// What was published of linears of one machine and type.
class Published {
public:
  Published(ArrayRef<MeasuredRow> rows, const Target &target, StringRef type);
  /// The shortest time of these sizes, or null.
  const MeasuredRow *find(const MeasuredRow &asked) const;
  void printBest(raw_ostream &os) const;

private:
  std::vector<const MeasuredRow *> rows;
  const Target &target;
};
} // namespace

static Parts partsOf(const MeasuredRow &row, double seconds,
                     const Target &target) {
  return {row.flop() / seconds / matrixPeak(row.type, target),
          row.bytes() / seconds / target.memory.bandwidth};
}

Published::Published(ArrayRef<MeasuredRow> all, const Target &target,
                     StringRef type)
    : target(target) {
  for (const MeasuredRow &row : all) {
    if (row.kind == Measurement::Linear && row.type == type &&
        row.chip == target.identity.name) {
      rows.push_back(&row);
    }
  }
}

const MeasuredRow *Published::find(const MeasuredRow &asked) const {
  const MeasuredRow *best = nullptr;
  for (const MeasuredRow *row : rows) {
    bool isSame = row->m == asked.m && row->n == asked.n && row->k == asked.k;
    if (isSame && (!best || row->seconds < best->seconds)) {
      best = row;
    }
  }
  return best;
}

static std::string sizes(const MeasuredRow &row) {
  return std::to_string(row.m) + " x " + std::to_string(row.n) + " x " +
         std::to_string(row.k);
}

void Published::printBest(raw_ostream &os) const {
  auto print = [&](double Parts::*part, StringRef what) {
    auto partOf = [&](const MeasuredRow *row) {
      return partsOf(*row, row->seconds, target).*part;
    };
    auto best = llvm::max_element(
        rows, [&](auto *a, auto *b) { return partOf(a) < partOf(b); });
    os << llvm::formatv("{0:f0} % of {1} at {2}", 100 * partOf(*best), what,
                        sizes(**best));
  };
  if (rows.empty()) {
    return;
  }
  os << "\nBest published: ";
  print(&Parts::matrix, "the matrix rate");
  os << ", ";
  print(&Parts::memory, "the memory bandwidth");
  os << " (m x n x k).\n";
}

/// Every linear of the decode graph, shapes once, in their order.
static std::vector<NamedLinear> linearsOf(ModuleOp phases) {
  std::vector<NamedLinear> list;
  phases.lookupSymbol("decode")->walk([&](model::LinearOp op) {
    NamedLinear next = {model::getShortName(op), int64_t(op.getOutputs()),
                        int64_t(op.getInputs())};
    if (llvm::none_of(list, [&](const NamedLinear &known) {
          return known.n == next.n && known.k == next.k;
        })) {
      list.push_back(next);
    }
  });
  return list;
}

using Cell = llvm::function_ref<std::string(const RowPrediction &)>;

static void printLine(StringRef what, ArrayRef<RowPrediction> predictions,
                      Cell cell, raw_ostream &os) {
  os << "| " << what << " |";
  for (const RowPrediction &prediction : predictions) {
    os << " " << cell(prediction) << " |";
  }
  os << "\n";
}

static std::string microseconds(double seconds) {
  return llvm::formatv("{0:f1}", seconds * 1e6);
}

/// One linear at all numbers of rows.
static void printLinear(const NamedLinear &linear,
                        ArrayRef<RowPrediction> predictions,
                        const Target &target, const Published &published,
                        raw_ostream &os) {
  auto known = [&](const RowPrediction &one) {
    return published.find(*one.row);
  };
  os << "| **" << linear.name << "** " << linear.n << " x " << linear.k << " |";
  os << std::string(predictions.size(), '|') << "\n";
  printLine(
      "predicted, us", predictions,
      [](const RowPrediction &one) { return microseconds(one.seconds); }, os);
  if (llvm::any_of(predictions, known)) {
    printLine(
        "published, us", predictions,
        [&](const RowPrediction &one) {
          return known(one) ? microseconds(known(one)->seconds) : "-";
        },
        os);
  }
  printLine(
      "of the roof", predictions,
      [&](const RowPrediction &one) {
        Parts parts = partsOf(*one.row, one.seconds, target);
        return llvm::formatv("{0:f0} % {1}",
                             100 * std::max(parts.matrix, parts.memory),
                             parts.matrix > parts.memory ? "matrix" : "memory")
            .str();
      },
      os);
  printLine(
      "bound by", predictions,
      [](const RowPrediction &one) { return one.limit; }, os);
  auto isLower = [&](const RowPrediction &one) {
    return one.clockHz < target.clock.boostHz;
  };
  if (llvm::any_of(predictions, isLower)) {
    printLine(
        "clock that power leaves", predictions,
        [&](const RowPrediction &one) {
          return isLower(one) ? formatQuantity(one.clockHz, "Hz") : "boost";
        },
        os);
  }
}

int modelc::printPeaks(const CompileOptions &options, ArrayRef<int64_t> sizes,
                       StringRef publishedFile) {
  BenchModel model(options);
  if (int code = model.read(); code != kExitOk) {
    return code;
  }
  FailureOr<Engines> engines =
      loadEngines(options.targetsDirectory, llvm::errs());
  FailureOr<std::vector<MeasuredRow>> known = std::vector<MeasuredRow>();
  if (succeeded(engines) && !publishedFile.empty()) {
    known = readMeasurements(publishedFile, *engines, llvm::errs());
  }
  if (failed(engines) || failed(known)) {
    return kExitInput;
  }
  std::vector<NamedLinear> linears = linearsOf(*model.phases);
  std::vector<MeasuredRow> rows;
  MeasuredRow row;
  row.chip = options.target;
  row.type = row.cacheType = options.weights;
  row.collector = collectorOf(row, *engines);
  for (const NamedLinear &linear : linears) {
    for (int64_t m : sizes) {
      row.m = m;
      row.n = linear.n;
      row.k = linear.k;
      rows.push_back(row);
    }
  }
  Machines machines = {{row.machine(), model.target}};
  std::vector<RowPrediction> predictions =
      predict(rows, machines, engines->withOwnKernels(), loweringOfAll());
  for (const RowPrediction &prediction : predictions) {
    if (prediction.seconds == 0) {
      sayError(llvm::errs()) << prediction.reason << "\n";
      return kExitInput;
    }
  }
  Published published(*known, model.target, options.weights);
  raw_ostream &os = llvm::outs();
  os << "Linears in " << options.weights << " on "
     << model.target.identity.product
     << ", each alone, weights from device memory.\n\n"
     << "| rows |";
  for (int64_t m : sizes) {
    os << " " << m << " |";
  }
  os << "\n|---|";
  for (size_t i = 0; i < sizes.size(); ++i) {
    os << "---|";
  }
  os << "\n";
  for (auto [i, linear] : llvm::enumerate(linears)) {
    printLinear(linear,
                ArrayRef(predictions).slice(i * sizes.size(), sizes.size()),
                model.target, published, os);
  }
  published.printBest(os);
  return kExitOk;
}
