//===- EngineFields.cpp - The keys of what serving engines have -----------===//

#include "lib/Hardware/Fields.h"

namespace modelc {

static constexpr Need kOptional = Need::Optional;

static const std::vector<Field<EngineKernels>> kEngineFields = {
    field("name", &EngineKernels::name, "", "of the library"),
    field("type", &EngineKernels::type, "",
          "of the linear, as tables of measurements name it"),
    field("names", &EngineKernels::names, "",
          "of engines that call it, as tables of measurements begin their "
          "source with, absent = any",
          kOptional),
    field("least_rows", &EngineKernels::leastRows, "",
          "of the input, absent = any", kCountOrNone, kOptional),
    field("most_rows", &EngineKernels::mostRows, "",
          "of the input, absent = any", kCountOrNone, kOptional),
    field("least_columns", &EngineKernels::leastColumns, "",
          "of the result, absent = any", kCountOrNone, kOptional),
    field("most_columns", &EngineKernels::mostColumns, "",
          "of the result, absent = any", kCountOrNone, kOptional),
    field("tiles", &EngineKernels::tiles, "",
          "m, n, k and waves of each, and pieces of m and n whose copies and "
          "products take turns; absent = as ours, with all below",
          kCountOrNone, kOptional),
    field("weight_first", &EngineKernels::weightFirst, "",
          "the weight is the first operand of products, absent = the second",
          kOptional),
    field("roles", &EngineKernels::hasRoles, "",
          "waves copy beside those that multiply, absent = all do both",
          kOptional),
    field("sharers", &EngineKernels::sharers, "",
          "tiles along m whose workgroups load the weight together, absent = 1",
          kCount, kOptional),
    field("most_parts", &EngineKernels::mostParts, "", "of a sum", kCount),
    field("add_rate", &EngineKernels::addRate, "B/s",
          "of results to which all parts are added in memory, absent = another "
          "kernel adds them",
          kPerSecondOrNone, kOptional),
    field("join", &EngineKernels::join, "s",
          "what that takes with however few results", kSeconds, kOptional),
    field(
        "interleaves", &EngineKernels::interleaves, "",
        "copies go out between the instructions of a product, absent = before",
        kOptional),
    field("result_piece", &EngineKernels::resultPiece, "",
          "numbers of a wave that pass through shared memory at a time before "
          "they are stored, in 32 bits; absent = none do",
          kCountOrNone, kOptional),
    field("weights_ahead", &EngineKernels::weightsAhead, "",
          "trips that lanes load the weight into registers ahead, absent = it "
          "passes through shared memory",
          kCountOrNone, kOptional),
    field("slots", &EngineKernels::slots, "",
          "of the ring of operands, absent = what there is room for",
          kCountOrNone, kOptional),
    field("group_rows", &EngineKernels::groupRows, "",
          "rows of tiles that workgroups go down together, absent = as ours",
          kCountOrNone, kOptional),
    field("workgroups", &EngineKernels::workgroups, "",
          "that a unit runs at once, absent = as many as there is room for",
          kCountOrNone, kOptional),
    field("turns", &EngineKernels::turns, "",
          "groups of waves that take the tiles of a unit in turns (ping-pong), "
          "absent = 1",
          kCount, kOptional),
    field("instructions", &EngineKernels::instructions, "",
          "names of rows of [[mma]], absent = any", kOptional),
    field("quantise", &EngineKernels::quantise, "",
          "rows, columns and waves of what quantises the input to 8 bits with "
          "scales of rows, absent = as ours",
          kCountOrNone, kOptional),
    field("knows_scales", &EngineKernels::knowsScales, "",
          "of the input before the run, absent = takes the largest magnitudes",
          kOptional),
};

static const std::vector<Field<EngineAttention>> kAttentionEngineFields = {
    field("names", &EngineAttention::names, "",
          "of engines, as tables of measurements begin their source with"),
    field("caches", &EngineAttention::caches, "",
          "types of the cache, as tables of measurements name them"),
    field("types", &EngineAttention::types, "",
          "of the layer, as tables of measurements name them, absent = any",
          kOptional),
    field("phase", &EngineAttention::phase, "", "prefill or decode"),
    field("least_columns", &EngineAttention::leastColumns, "",
          "of a head, absent = any", kCountOrNone, kOptional),
    field("most_columns", &EngineAttention::mostColumns, "",
          "of a head, absent = any", kCountOrNone, kOptional),
    field("most_group", &EngineAttention::mostGroup, "",
          "heads of queries on one of keys, absent = any", kCountOrNone,
          kOptional),
    field("windowed", &EngineAttention::windowed, "",
          "only with a window, however long, absent = with any", kOptional),
    field("sees_all", &EngineAttention::seesAll, "",
          "only without a window that is shorter than the context, absent = "
          "with any",
          kOptional),
    field("launches", &EngineAttention::launches, "",
          "before those that append and attend, absent = none", kCountOrNone,
          kOptional),
    field("query", &EngineAttention::query, "clk",
          "of a unit for a column of a new query, which is rotated or rounded "
          "before attention, absent = what ours takes",
          kClocks, kOptional),
    field("token", &EngineAttention::token, "s",
          "of a unit for a new token, whose keys a workgroup of its own "
          "appends, absent = what ours takes",
          kSeconds, kOptional),
    field("narrows", &EngineAttention::narrows, "",
          "queries are rounded to the type of the cache, absent = no",
          kOptional),
    field("appends", &EngineAttention::appends, "",
          "new keys and values without another launch, absent = no", kOptional),
    field("starts_early", &EngineAttention::startsEarly, "",
          "attention follows after launch.library_gap, absent = no", kOptional),
    field("rows", &EngineAttention::rows, "", "queries of a tile of prefill",
          kCountOrNone, kOptional),
    field("keys", &EngineAttention::keys, "", "of a tile", kCount),
    field("packs", &EngineAttention::packs, "",
          "heads of queries of one of keys into a tile of prefill, absent = no",
          kOptional),
    field("each", &EngineAttention::isEach, "",
          "head of queries reads its keys in decode, absent = a group does",
          kOptional),
    field("walks_all", &EngineAttention::walksAll, "",
          "keys in front of a window too, absent = no", kOptional),
    field("turn", &EngineAttention::turn, "s",
          "of one workgroup beside its tiles", kSeconds),
    field("key", &EngineAttention::key, "clk",
          "of one workgroup for a key of its tiles, absent = 0", kClocks,
          kOptional),
    field("column", &EngineAttention::column, "clk",
          "of one workgroup for a column of such a key, absent = 0", kClocks,
          kOptional),
    field("sequence", &EngineAttention::sequence, "s",
          "for each sequence, among which workgroups of decode find theirs, "
          "absent = none",
          kSeconds, kOptional),
    field("workgroups", &EngineAttention::workgroups, "",
          "that a unit runs at once, absent = 1", kCountOrNone, kOptional),
    field("part_keys", &EngineAttention::partKeys, "",
          "of decode that are worth a part, of which there are as many as the "
          "root of eight times that; absent = parts fill the units once",
          kCountOrNone, kOptional),
    field("most_rounds", &EngineAttention::mostRounds, "",
          "of workgroups that parts make, absent = 1", kCount, kOptional),
    field("most_parts", &EngineAttention::mostParts, "",
          "of the keys of a sequence in decode, absent = any", kCountOrNone,
          kOptional),
    field("joins", &EngineAttention::joins, "",
          "parts of keys are joined without another launch, absent = no",
          kOptional),
};

const std::vector<Field<EngineKernels>> &engineFields() {
  return kEngineFields;
}
const std::vector<Field<EngineAttention>> &attentionEngineFields() {
  return kAttentionEngineFields;
}

} // namespace modelc
