//===- Accuracy.cpp - How far predictions are from measurements -----------===//

#include "lib/Engines/Accuracy.h"
#include "lib/Engines/Predict.h"
#include "lib/Support/Support.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <cmath>
#include <set>

using namespace modelc;
using llvm::ArrayRef;
using llvm::raw_ostream;
using llvm::StringRef;

/// The value below which `part` of the sorted values lie.
static double quantile(ArrayRef<double> sorted, double part) {
  return sorted[std::min<size_t>(sorted.size() * part, sorted.size() - 1)];
}

/// What the machine needs at least, where `cached` bytes were not read again.
/// Of an all-reduce each device lacks the sum over the others, whoever adds; of
/// other collectives the slices of the others.
static double secondsAtLeast(const MeasuredRow &row, const Target &target,
                             double cached) {
  if (row.elements > 0) {
    bool isAdded = row.kind == Measurement::AllReduce;
    double others = (row.devices - 1.0) / row.devices;
    double part = row.devices > 1 && isAdded ? 1 : others;
    return part * row.bytes() / target.link.bandwidth;
  }
  double peak = matrixPeak(row.type, target);
  return std::max(peak > 0 ? row.flop() / peak : 0,
                  (row.bytes() - cached) / target.memory.bandwidth);
}

/// A time that the machine cannot reach: its tables count work that was not
/// done (keys that sequences share, launches that overlap).
static bool isBeyondPhysics(const MeasuredRow &row, const Target &target) {
  double cached = std::max<double>(target.cache.l2Bytes, target.cache.llcBytes);
  return secondsAtLeast(row, target, cached) > row.seconds;
}

namespace {
/// Predictions of one chip, kind and type.
struct Group {
  std::vector<const RowPrediction *> good;
  unsigned unphysical = 0;
  std::map<std::string, unsigned> reasons; // not among them, by why
};
using Groups = std::map<std::string, Group>;
} // namespace

static std::string groupOf(const MeasuredRow &row) {
  std::string types = row.cacheType == row.type
                          ? row.type
                          : row.type + ", cache " + row.cacheType;
  std::string load = row.load.empty() ? "" : " " + row.load;
  return row.chip + ", " + nameOf(row.kind).str() + load + ", " + types;
}

/// Of each group and source: the time of rows of next to no work, where that is
/// the time in which a host launches one by one what no graph replays. Shorter
/// kernels were not timed.
static std::map<std::string, double>
hostFloors(ArrayRef<RowPrediction> predictions, const Machines &machines) {
  constexpr double kNextToNothing = 1e-6, kOfHost = 50e-6;
  constexpr size_t kFewest = 8; // one slow kernel is no host
  std::map<std::string, std::vector<double>> idle;
  for (const RowPrediction &prediction : predictions) {
    const MeasuredRow &row = *prediction.row;
    if (secondsAtLeast(row, machines.at(row.machine()), 0) < kNextToNothing) {
      idle[groupOf(row) + row.source].push_back(row.seconds);
    }
  }
  std::map<std::string, double> floors;
  for (auto &[source, seconds] : idle) {
    llvm::sort(seconds);
    double usual = quantile(seconds, 0.5);
    if (seconds.size() >= kFewest && usual > kOfHost) {
      floors[source] = usual;
    }
  }
  return floors;
}

/// What was timed by the source of a row, and what of it with a window, or
/// without one: they are other kernels.
static std::array<std::string, 2> collectionsOf(const MeasuredRow &row) {
  std::string all = "'" + row.source + "'";
  return {all, all + (row.window > 0 ? " with windows" : " without windows")};
}

/// Collections of which a quarter and more is beyond physics: what was not done
/// in those rows was not done in the others, which are long enough.
static std::set<std::string>
brokenCollections(ArrayRef<RowPrediction> predictions,
                  const Machines &machines) {
  constexpr unsigned kFewest = 8, kPart = 4;
  std::map<std::string, std::pair<unsigned, unsigned>> counts;
  for (const RowPrediction &prediction : predictions) {
    const MeasuredRow &row = *prediction.row;
    bool isBeyond = isBeyondPhysics(row, machines.at(row.machine()));
    for (const std::string &name : collectionsOf(row)) {
      auto &[rows, beyond] = counts[groupOf(row) + name];
      ++rows;
      beyond += isBeyond;
    }
  }
  std::set<std::string> broken;
  for (const auto &[name, count] : counts) {
    if (count.first >= kFewest && kPart * count.second >= count.first) {
      broken.insert(name);
    }
  }
  return broken;
}

/// The broken collection that the row is of, or "".
static std::string brokenOf(const MeasuredRow &row,
                            const std::set<std::string> &broken) {
  for (const std::string &name : collectionsOf(row)) {
    if (broken.count(groupOf(row) + name)) {
      return name;
    }
  }
  return "";
}

static Groups grouped(ArrayRef<RowPrediction> predictions,
                      const Machines &machines) {
  // The host's own times spread as far.
  constexpr double kSpread = 1.5;
  std::map<std::string, double> floors = hostFloors(predictions, machines);
  std::set<std::string> broken = brokenCollections(predictions, machines);
  Groups groups;
  for (const RowPrediction &prediction : predictions) {
    const MeasuredRow &row = *prediction.row;
    Group &group = groups[groupOf(row)];
    auto floor = floors.find(groupOf(row) + row.source);
    if (prediction.seconds == 0) {
      ++group.reasons["without a prediction: " + prediction.reason];
    } else if (floor != floors.end() && row.seconds < kSpread * floor->second) {
      ++group.reasons["left out: as long as '" + row.source +
                      "' takes to launch them"];
    } else if (isBeyondPhysics(row, machines.at(row.machine()))) {
      ++group.unphysical;
    } else if (std::string name = brokenOf(row, broken); !name.empty()) {
      ++group.reasons["left out: a quarter and more of " + name +
                      " is not physical"];
    } else {
      group.good.push_back(&prediction);
    }
  }
  return groups;
}

static void printGroup(StringRef name, const Group &group, raw_ostream &os) {
  std::vector<double> sizes, errors;
  for (const RowPrediction *prediction : group.good) {
    errors.push_back(prediction->error());
    sizes.push_back(std::abs(prediction->error()));
  }
  llvm::sort(sizes);
  llvm::sort(errors);
  os << llvm::left_justify(name, 48) << llvm::format("%7zu", group.good.size());
  if (group.good.empty()) {
    os << "        -        -        -";
  } else {
    os << llvm::format(" %7.1f%% %7.1f%% %+7.1f%%", 100 * quantile(sizes, 0.5),
                       100 * quantile(sizes, 0.9), 100 * quantile(errors, 0.5));
  }
  os << llvm::format("%12u\n", group.unphysical);
  for (const auto &[reason, count] : group.reasons) {
    os << "    " << count << " " << reason << "\n";
  }
}

static std::string sizesOf(const MeasuredRow &row) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (row.kind == Measurement::Linear) {
    os << "m " << row.m << ", n " << row.n << ", k " << row.k;
  } else if (row.kind == Measurement::Experts) {
    os << row.m << " tokens, " << row.topK << " of " << row.experts
       << " experts, " << row.n << " x " << row.k;
  } else if (row.elements > 0) {
    os << row.elements << " elements, " << row.devices << " devices";
  } else {
    os << row.sequences << " sequences, " << row.newTokens << " new after "
       << row.past << ", heads " << row.heads << ":" << row.kvHeads << " of "
       << row.headDim;
    if (row.window > 0) {
      os << ", window " << row.window;
    }
  }
  return text;
}

/// The groups' largest errors by factor, over or under.
static void printWorst(const Group &group, unsigned count, raw_ostream &os) {
  auto factor = [](const RowPrediction *prediction) {
    return std::abs(std::log(1 + prediction->error()));
  };
  std::vector<const RowPrediction *> worst = group.good;
  llvm::sort(worst, [&](const RowPrediction *a, const RowPrediction *b) {
    return std::pair(-factor(a), a->row->line) <
           std::pair(-factor(b), b->row->line);
  });
  worst.resize(std::min<size_t>(worst.size(), count));
  for (const RowPrediction *prediction : worst) {
    os << "    line " << prediction->row->line << ": "
       << sizesOf(*prediction->row)
       << llvm::format(": measured %.1f us, predicted %.1f us (x%.2f), ",
                       prediction->row->seconds * 1e6,
                       prediction->seconds * 1e6,
                       prediction->seconds / prediction->row->seconds)
       << "bound by " << prediction->limit << " in " << prediction->kernels
       << (prediction->library.empty() ? "" : ", cut as by ")
       << prediction->library << "\n";
  }
}

static void printAll(const Groups &groups, unsigned worst, raw_ostream &os) {
  os << llvm::left_justify("", 48)
     << "   rows  median|e|    p90  signed  not physical\n";
  for (const auto &[name, group] : groups) {
    printGroup(name, group, os);
    printWorst(group, worst, os);
  }
}

/// Every `stride`-th row of each group, from the first.
static std::vector<MeasuredRow> sampled(std::vector<MeasuredRow> rows,
                                        unsigned stride) {
  std::map<std::string, unsigned> seen;
  llvm::erase_if(rows, [&](const MeasuredRow &row) {
    return seen[groupOf(row)]++ % stride != 0;
  });
  return rows;
}

/// Adds the target of every chip of the rows.
static llvm::LogicalResult loadMachines(ArrayRef<MeasuredRow> rows,
                                        const Engines &engines,
                                        StringRef directory,
                                        Machines &machines) {
  for (const MeasuredRow &row : rows) {
    if (machines.count(row.machine())) {
      continue;
    }
    llvm::FailureOr<Target> target =
        loadTarget(row.machine(), {}, {directory.str()}, llvm::errs());
    if (failed(target) ||
        failed(engines.checkInstructions(*target, llvm::errs()))) {
      return llvm::failure();
    }
    machines.emplace(row.machine(), std::move(*target));
  }
  return llvm::success();
}

llvm::LogicalResult modelc::printAccuracy(const AccuracyOptions &options,
                                          const Lowering &lowering,
                                          raw_ostream &os) {
  llvm::FailureOr<Engines> engines =
      loadEngines(options.targetsDirectory, llvm::errs());
  if (failed(engines)) {
    return llvm::failure();
  }
  if (options.own) {
    engines = engines->withOwnKernels();
  }
  for (const std::string &path : options.files) {
    llvm::FailureOr<std::vector<MeasuredRow>> rows =
        readMeasurements(path, *engines, llvm::errs());
    Machines machines;
    if (failed(rows) ||
        failed(loadMachines(*rows, *engines, options.targetsDirectory,
                            machines))) {
      return llvm::failure();
    }
    std::vector<MeasuredRow> some = sampled(std::move(*rows), options.stride);
    os << path << "\n";
    printAll(grouped(predict(some, machines, *engines, lowering), machines),
             options.worst, os);
  }
  return llvm::success();
}
