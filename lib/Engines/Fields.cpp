//===- Fields.cpp - The tables of everything a file of an engine can say --===//

#include "lib/Engines/Fields.h"

namespace modelc {

static constexpr Need kOptional = Need::Optional;

static const std::vector<Field<EngineLaunch>> kLaunchFields = {
    field("gap", &EngineLaunch::gap, "s",
          "from one kernel of a graph to the next, absent = as ours", kSeconds,
          kOptional),
    field("library_gap", &EngineLaunch::libraryGap, "s",
          "the same of two linears of the vendor's library, the second of "
          "which starts early, absent = as all",
          kSeconds, kOptional),
    field("rounding", &EngineLaunch::rounding, "clk",
          "of a unit for a number that is rounded to 8 bits, absent = as "
          "ours",
          kClocks, kOptional),
    field("pulls", &EngineLaunch::pulls, "",
          "to add in two steps, more than two devices read from each "
          "other, absent = they write, as ours",
          kOptional),
};

static const std::vector<Field<EngineLayer>> kLayerFields = {
    field("starts_early", &EngineLayer::startsEarly, "",
          "each kernel before the one before it is over, absent = no",
          kOptional),
    field("scales_tensor", &EngineLayer::scalesTensor, "",
          "one scale for all rows takes a launch that clears it and one "
          "that reads all of the input, absent = no",
          kOptional),
};

/// Of a whole.
static constexpr Bound kPart = {1e-6, 1};

static const std::vector<Field<EngineStep>> kStepFields = {
    field("host", &EngineStep::host, "s",
          "of each step, that no kernel hides, absent = none", kSeconds,
          kOptional),
    field("host_sequence", &EngineStep::hostSequence, "s",
          "of each sequence of a step, that no kernel hides, absent = none",
          kSeconds, kOptional),
    field("memory", &EngineStep::memory, "",
          "part of the capacity that weights, workspace and cache may take, "
          "absent = all",
          kPart, kOptional),
};

static const std::vector<Field<EngineLinear>> kLinearFields = {
    field("library", &EngineLinear::library, "", "of kernels"),
    field("least_rows", &EngineLinear::leastRows, "",
          "of the input, absent = any", kCountOrNone, kOptional),
    field("most_rows", &EngineLinear::mostRows, "",
          "of the input, absent = any", kCountOrNone, kOptional),
    field("least_columns", &EngineLinear::leastColumns, "",
          "of the result, absent = any", kCountOrNone, kOptional),
    field("most_columns", &EngineLinear::mostColumns, "",
          "of the result, absent = any", kCountOrNone, kOptional),
    field("tiles", &EngineLinear::cut, &LinearCut::tiles, "",
          "m, n, k and waves of each, and pieces of m and n whose copies "
          "and products take turns; absent = as ours, with all below",
          kCountOrNone, kOptional),
    field("weight_first", &EngineLinear::cut, &LinearCut::weightFirst, "",
          "the weight is the first operand of products, absent = the "
          "second",
          kOptional),
    field("roles", &EngineLinear::cut, &LinearCut::hasRoles, "",
          "waves copy beside those that multiply, absent = all do both",
          kOptional),
    field("sharers", &EngineLinear::cut, &LinearCut::sharers, "",
          "tiles along m whose workgroups load the weight together, absent "
          "= 1",
          kCount, kOptional),
    field("most_parts", &EngineLinear::cut, &LinearCut::mostParts, "",
          "of a sum", kCount),
    field("add_rate", &EngineLinear::addRate, "B/s",
          "of results to which all parts are added in memory, absent = "
          "another kernel adds them",
          kPerSecondOrNone, kOptional),
    field("join", &EngineLinear::join, "s",
          "what that takes with however few results", kSeconds, kOptional),
    field("interleaves", &EngineLinear::interleaves, "",
          "copies go out between the instructions of a product, absent = "
          "before",
          kOptional),
    field("result_piece", &EngineLinear::cut, &LinearCut::resultPiece, "",
          "numbers of a wave that pass through shared memory at a time "
          "before they are stored, in 32 bits; absent = none do",
          kCountOrNone, kOptional),
    field("weights_ahead", &EngineLinear::cut, &LinearCut::weightsAhead, "",
          "trips that lanes load the weight into registers ahead, absent = "
          "it passes through shared memory",
          kCountOrNone, kOptional),
    field("slots", &EngineLinear::cut, &LinearCut::slots, "",
          "of the ring of operands, absent = what there is room for",
          kCountOrNone, kOptional),
    field("group_rows", &EngineLinear::cut, &LinearCut::groupRows, "",
          "rows of tiles that workgroups go down together, absent = as "
          "ours",
          kCountOrNone, kOptional),
    field("workgroups", &EngineLinear::cut, &LinearCut::workgroups, "",
          "that a unit runs at once, absent = as many as there is room for",
          kCountOrNone, kOptional),
    field("turns", &EngineLinear::cut, &LinearCut::turns, "",
          "groups of waves that take the tiles of a unit in turns "
          "(ping-pong), absent = 1",
          kCount, kOptional),
    field("instructions", &EngineLinear::instructions, "",
          "names of rows of [[mma]], absent = any", kOptional),
    field("quantise", &EngineLinear::cut, &LinearCut::quantise, "",
          "rows, columns and waves of what quantises the input to 8 bits "
          "with scales of rows, absent = as ours",
          kCountOrNone, kOptional),
    field("knows_scales", &EngineLinear::cut, &LinearCut::knowsScales, "",
          "of the input before the run, absent = takes the largest "
          "magnitudes",
          kOptional),
};

static const std::vector<Field<Collector>> kCollectorFields = {
    field("alone", &Collector::isAlone, "",
          "kernels are timed, not layers of an engine", kOptional),
    field("layers", &Collector::layers, "",
          "that run in turn before the same one comes again, absent = 1",
          kCount, kOptional),
    field("leaves_cache", &Collector::leavesCache, "",
          "as many layers, up to those, as make weights leave L2, absent = "
          "always as many",
          kOptional),
    field("runs", &Collector::runs, "",
          "of kernels alone, each on operands of its own, absent = 1", kCount,
          kOptional),
    field("own_inputs", &Collector::ownsInputs, "",
          "each layer has an input of its own, absent = all have one",
          kOptional),
    field("rotated", &Collector::isRotated, "",
          "queries and keys are rotated before attention, absent = in it",
          kOptional),
    field("decodes_one", &Collector::decodesOne, "",
          "a prompt of one token is a step of decode, absent = of prefill",
          kOptional),
};

static const std::vector<Field<Correction>> kCorrectionFields = {
    field("measurement", &Correction::measurement, "",
          "kind of the rows that are wrong"),
    field("wrong", &Correction::wrong, "", "what is, in a sentence"),
    field("window", &Correction::windowSaid, "", "that rows say", kCountOrNone),
    field("means", &Correction::windowMeant, "", "the window that ran",
          kCountOrNone),
    field("swept", &Correction::isSwept, "",
          "only of chips that have rows with other windows, absent = of "
          "all",
          kOptional),
};

template <>
const std::vector<Field<EngineLaunch>> &engineFields() {
  static const auto kAll = withScope(kLaunchFields);
  return kAll;
}
template <>
const std::vector<Field<EngineLayer>> &engineFields() {
  static const auto kAll = withScope(kLayerFields);
  return kAll;
}
template <>
const std::vector<Field<EngineStep>> &engineFields() {
  static const auto kAll = withScope(kStepFields);
  return kAll;
}
template <>
const std::vector<Field<EngineLinear>> &engineFields() {
  static const auto kAll = withScope(kLinearFields);
  return kAll;
}
template <>
const std::vector<Field<Collector>> &engineFields() {
  static const auto kAll = withScope(kCollectorFields);
  return kAll;
}
template <>
const std::vector<Field<Correction>> &engineFields() {
  static const auto kAll = withScope(kCorrectionFields);
  return kAll;
}

//===----------------------------------------------------------------------===//
// What keys must be to each other
//===----------------------------------------------------------------------===//

constexpr int64_t kMostExtent = 4096;

static bool areExtents(const std::vector<int64_t> &extents) {
  return llvm::all_of(extents, [](int64_t extent) {
    return extent >= 1 && extent <= kMostExtent;
  });
}

std::string checkRow(const EngineLinear &row) {
  const LinearCut &cut = row.cut;
  constexpr size_t kWhole = 4, kInPieces = 6, kQuantise = 3;
  for (const std::vector<int64_t> &tile : cut.tiles) {
    if ((tile.size() != kWhole && tile.size() != kInPieces) ||
        !areExtents(tile)) {
      return "expected tiles of [m, n, k, waves], with pieces of m and of n "
             "behind them or not, each from 1 to 4096";
    }
  }
  bool isOurs = !cut.slots && !cut.groupRows && !cut.workgroups &&
                !cut.weightFirst && !cut.hasRoles && cut.sharers == 1 &&
                cut.turns == 1;
  if (cut.tiles.empty() && !isOurs) {
    return "expected tiles beside what holds for them only";
  }
  if (!cut.quantise.empty() &&
      (cut.quantise.size() != kQuantise || !areExtents(cut.quantise))) {
    return "expected [rows, columns, waves] of what quantises, each from 1 to "
           "4096";
  }
  return "";
}

std::string checkRow(const EngineLaunch &) { return ""; }
std::string checkRow(const EngineStep &) { return ""; }
std::string checkRow(const EngineLayer &) { return ""; }

/// Tables are read before their machines are.
static std::string checkTables(const EngineScope &scope) {
  return scope.architectures.empty()
             ? ""
             : "expected what tables hold of all \"architectures\"";
}

std::string checkRow(const Collector &row) { return checkTables(row.scope); }
std::string checkRow(const Correction &row) { return checkTables(row.scope); }

} // namespace modelc
