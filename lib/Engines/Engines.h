//===- Engines.h - How serving engines and libraries run layers -----------===//
//
// Below targets/engines/ lies one file for each serving engine and for each
// library of kernels that several of them call: which kernels it takes, how it
// cuts and launches them, and how tables of measurements timed it. Each row is
// of versions and of architectures. The compiler knows none of it: kernels that
// are cut as somebody else's are asked for by a LinearCut, and cost as any.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_ENGINES_ENGINES_H
#define LIB_ENGINES_ENGINES_H

#include "lib/Hardware/Hardware.h"
#include "lib/Kernels/Kernels.h"
#include "lib/Support/Support.h"

namespace modelc {

/// Of whose layers a row is, on which machines.
struct EngineScope {
  /// "vllm" or "vllm 0.24", an engine or one of its versions; none: any. In the
  /// file of an engine its own name stands in front of `versions`.
  std::vector<std::string> engines, versions;
  std::vector<std::string> architectures; // families of targets; none: any
  std::vector<std::string>
      types; // of the layer, as tables name them; none: any

  /// `software` is an engine and its version, or empty: rows of one engine do
  /// not hold then.
  bool holds(llvm::StringRef software, llvm::StringRef architecture,
             llvm::StringRef type) const;
};

/// [[launch]]: what the kernels of engines take on an architecture.
struct EngineLaunch {
  EngineScope scope;
  double gap = 0;        // s, from kernel to kernel; 0: as ours
  double libraryGap = 0; // s, of two linears of the vendor's library, which
                         // start early; 0: as `gap`
  double rounding = 0; // clk of a unit for a number rounded to 8 bits; 0: ours
  bool pulls = false;  // to add in two steps, more than two devices read from
                       // each other, where ours write
};

/// [[layer]]: what an engine does for linears beside their kernels.
struct EngineLayer {
  EngineScope scope;
  bool startsEarly = false;  // each kernel before the one before it is over
  bool scalesTensor = false; // one scale for all rows takes two more launches
};

/// [[step]]: what an engine takes around the kernels of a step, and of memory.
struct EngineStep {
  EngineScope scope;
  double host = 0;         // s, of each step, that no kernel hides
  double hostSequence = 0; // s, of each sequence of a step, the same
  double memory = 1;       // part of the capacity that it uses
};

/// [[linear]]: kernels of linears that a library chooses from.
struct EngineLinear {
  EngineScope scope;
  std::string library;
  int64_t leastRows = 0, mostRows = 0;       // of the input; 0: any
  int64_t leastColumns = 0, mostColumns = 0; // of the result; 0: any
  LinearCut cut;
  bool interleaves = false; // copies and the instructions of products
  std::vector<std::string> instructions; // names of [[mma]]; none: any
  Statement said;                        // of the row
  double addRate = 0; // B/s of results that add their parts in memory; 0: a
                      // kernel adds them
  double join = 0;    // s, what that takes with however few results
};

/// [[attention]]: the attention layer of an engine. The first row that fits
/// holds.
struct EngineAttention {
  EngineScope scope;
  std::string phase;                         // prefill or decode
  std::vector<std::string> caches;           // types, as the tables name them
  int64_t leastColumns = 0, mostColumns = 0; // of a head; 0: any
  int64_t leastGroup = 0, mostGroup = 0;     // heads of queries on one of keys
  bool windowed = false;                     // only with a window, however long
  bool seesAll = false; // only without a window shorter than the context

  int64_t launches = 0; // before those that append and attend
  double query = 0;     // clk of a unit beyond memory, for a column of a query,
                        // before attention
  double token = 0;     // s of a unit beyond memory, for a new token, before it
  bool narrows = false; // queries, to the type of the cache
  bool appends = false; // new keys, without another launch
  bool startsEarly = false; // after the gap of the vendor's library

  int64_t rows = 0;        // queries of a tile of prefill
  int64_t keys = 0;        // of a tile
  bool packs = false;      // heads of queries of one of keys into such a tile
  bool isEach = false;     // a workgroup of decode has one head of queries
  bool walksAll = false;   // keys in front of a window too
  double turn = 0;         // s, of one workgroup beside its tiles
  double key = 0;          // clk of that one, for a key of a tile
  double column = 0;       // clk of that one, for a column of such a key
  double sequence = 0;     // s, of all, to find work among sequences
  int64_t workgroups = 0;  // that a unit runs at once; 0: one
  int64_t partKeys = 0;    // of decode; 0: parts fill the units once
  int64_t partNumbers = 0; // of keys that a workgroup with one head of queries
                           // reads at once: no part has fewer
  int64_t mostRounds = 1;  // of workgroups that parts make
  int64_t mostParts = 0;   // of decode; 0: any
  bool joins = false;      // parts of keys, without another launch
};

/// [[collector]]: how tables of measurements time layers. The first row that
/// fits holds.
struct Collector {
  EngineScope scope;
  bool isAlone = false;     // kernels, not layers of an engine
  int64_t layers = 1;       // that run in turn before the same one comes again
  bool leavesCache = false; // as many, up to those, as make weights leave L2
  int64_t runs = 1;         // of kernels alone, each on operands of its own
  bool ownsInputs = false;  // each layer has an input of its own
  bool isRotated = false;   // queries and keys are, before attention
  bool decodesOne = false;  // a prompt of one token is a step of decode
};

/// [[correction]]: what a data set says wrongly.
struct Correction {
  EngineScope scope;
  std::string measurement; // which rows: "prefill attention"
  std::string wrong;       // in a sentence
  int64_t windowSaid = 0;  // means `windowMeant`
  int64_t windowMeant = 0;
  bool isSwept = false; // only of chips that have rows with other windows
};

/// All that is known of engines: rows of their own files in front of those of
/// libraries, in the order of the files.
struct Engines {
  std::vector<EngineLaunch> launches;
  std::vector<EngineLayer> layers;
  std::vector<EngineStep> steps;
  std::vector<EngineLinear> linears;
  std::vector<EngineAttention> attentions;
  std::vector<Collector> collectors;
  std::vector<Correction> corrections;

  /// The same where all kernels are our own.
  Engines withOwnKernels() const;
  /// Says which instructions, of those that rows of a target's architecture
  /// name, the target has not.
  llvm::LogicalResult checkInstructions(const Target &target,
                                        llvm::raw_ostream &errors) const;
};

/// The first of the rows that holds, or null.
template <typename Row>
const Row *firstOf(const std::vector<Row> &rows, llvm::StringRef software,
                   llvm::StringRef architecture, llvm::StringRef type) {
  for (const Row &row : rows) {
    if (row.scope.holds(software, architecture, type)) {
      return &row;
    }
  }
  return nullptr;
}

/// Reads all files in the folder `engines` of a folder of targets. Prints a
/// located message for every mistake to `errors`.
llvm::FailureOr<Engines> loadEngines(llvm::StringRef targetsDirectory,
                                     llvm::raw_ostream &errors);

} // namespace modelc

#endif // LIB_ENGINES_ENGINES_H
