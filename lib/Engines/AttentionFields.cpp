//===- AttentionFields.cpp - The keys of an engine's layer of attention ---===//

#include "lib/Engines/Fields.h"

namespace modelc {

static constexpr Need kOptional = Need::Optional;

static const std::vector<Field<EngineAttention>> kAttentionFields = {
    field("caches", &EngineAttention::caches, "",
          "types of the cache, as tables of measurements name them"),
    field("phase", &EngineAttention::phase, "", "prefill or decode"),
    field("least_columns", &EngineAttention::leastColumns, "",
          "of a head, absent = any", kCountOrNone, kOptional),
    field("most_columns", &EngineAttention::mostColumns, "",
          "of a head, absent = any", kCountOrNone, kOptional),
    field("least_group", &EngineAttention::leastGroup, "",
          "heads of queries on one of keys, absent = any", kCountOrNone,
          kOptional),
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
          "attention follows after the library_gap of [[launch]], absent = no",
          kOptional),
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
    field("part_numbers", &EngineAttention::partNumbers, "",
          "of keys that a workgroup reads at once where each has one head of "
          "queries: no part has fewer",
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

template <>
const std::vector<Field<EngineAttention>> &engineFields() {
  static const auto kAll = withScope(kAttentionFields);
  return kAll;
}

std::string checkRow(const EngineAttention &row) {
  if (row.phase != "prefill" && row.phase != "decode") {
    return "expected a phase of \"prefill\" or \"decode\", got \"" + row.phase +
           "\"";
  }
  if (row.phase == "prefill" && row.rows == 0) {
    return "expected \"rows\", the queries of a tile of prefill";
  }
  return row.isEach && row.partNumbers == 0
             ? "expected \"part_numbers\" beside \"each\""
             : "";
}

} // namespace modelc
