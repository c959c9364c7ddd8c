//===- Engines.h - What is known of the kernels of serving engines --------===//
//
// Measured rows are of these kernels, not of ours. Only predictions of measured
// rows read them.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_HARDWARE_ENGINES_H
#define LIB_HARDWARE_ENGINES_H

#include <cstdint>
#include <string>
#include <vector>

namespace modelc {

/// What the time of a kernel depends on and its schedule does not say: of our
/// own, or as an [[engine]] has it.
struct Habits {
  bool amongProducts = true; // lanes copy between instructions of a product
  int64_t resultPiece = 0;
  int64_t turns = 1;
};

/// [[engine]]: the kernels of linears that a library of serving engines chooses
/// from.
struct EngineKernels {
  std::string name; // of the library
  std::string type; // of the linear, as tables of measurements name it
  std::vector<std::string> names; // tables of measurements begin their source
                                  // with one of them; none: any
  int64_t leastRows = 0, mostRows = 0;       // of the input; 0: any
  int64_t leastColumns = 0, mostColumns = 0; // of the result; 0: any
  /// m, n, k, waves of each, and pieces of m and n whose copies and products
  /// take turns, where they do; none: as ours.
  std::vector<std::vector<int64_t>> tiles;
  bool weightFirst = false; // in products
  bool hasRoles = false;    // waves that copy beside those that multiply
  int64_t sharers = 1;      // tiles along m whose workgroups load one weight
  int64_t leastParts = 1, mostParts = 1; // of a sum
  double addRate = 0;       // B/s of results that add their parts in memory; 0:
                            // a kernel adds them
  double join = 0;          // s, what that takes with however few results
  bool interleaves = false; // copies and the instructions of products
  int64_t resultPiece = 0;  // numbers of a wave that pass through shared memory
                            // at a time before they are stored; 0: none do
  int64_t weightsAhead = 0; // trips that lanes load the weight into registers
                            // ahead; 0: it passes through shared memory
  int64_t slots = 0;      // of the ring of operands; 0: what there is room for
  int64_t groupRows = 0;  // of tiles, gone down together; 0: as ours
  int64_t workgroups = 0; // that a unit runs at once, at most; 0: no limit
  int64_t turns = 1; // groups of waves that take the tiles of a unit in turns:
                     // one multiplies while the others store their results
  std::vector<std::string> instructions; // names of [[mma]]; none: any
  /// Rows, columns and waves of what quantises the input; none: as ours.
  std::vector<int64_t> quantise;
  bool knowsScales = false; // of the input, before the run
};

/// [[attention_engine]]: the attention layer of a serving engine. The first row
/// that fits holds.
struct EngineAttention {
  std::vector<std::string> names;  // tables of measurements begin their source
                                   // with one of them
  std::vector<std::string> caches; // types, as the tables name them
  std::vector<std::string> types;  // of the layer, as above; none: any
  std::string phase;               // prefill or decode
  int64_t leastColumns = 0, mostColumns = 0; // of a head; 0: any
  int64_t mostGroup = 0; // heads of queries on one of keys; 0: any
  bool windowed = false; // only with a window, however long
  bool seesAll = false;  // only without a window shorter than the context

  int64_t launches = 0; // before those that append and attend
  double query = 0;     // clk of a unit beyond memory, for a column of a query,
                        // before attention
  double token = 0;     // s of a unit beyond memory, for a new token, before it
  bool narrows = false; // queries, to the type of the cache
  bool appends = false; // new keys, without another launch
  bool startsEarly = false; // after launch.library_gap

  int64_t rows = 0;       // queries of a tile of prefill
  int64_t keys = 0;       // of a tile
  bool packs = false;     // heads of queries of one of keys into such a tile
  bool isEach = false;    // a workgroup of decode has one head of queries
  bool walksAll = false;  // keys in front of a window too
  double turn = 0;        // s, of one workgroup beside its tiles; 0: unknown
  double key = 0;         // clk of that one, for a key of a tile
  double column = 0;      // clk of that one, for a column of such a key
  double sequence = 0;    // s, of all, to find work among sequences
  int64_t workgroups = 0; // that a unit runs at once; 0: one
  int64_t partKeys = 0;   // of decode; 0: parts fill the units once
  int64_t mostRounds = 1; // of workgroups that parts make
  int64_t mostParts = 0;  // of decode; 0: any
  bool joins = false;     // parts of keys, without another launch
};

} // namespace modelc

#endif // LIB_HARDWARE_ENGINES_H
