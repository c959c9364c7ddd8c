//===- MeasuredTable.cpp - Reading tables of measured kernels -------------===//

#include "lib/Engines/Measured.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>
#include <set>

using namespace modelc;
using llvm::FailureOr;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

/// Of one measured kernel: what takes longer is no measurement.
static constexpr double kMostSeconds = 86400;

namespace {
/// One file as rows of named fields.
class Table {
public:
  Table(SourceFile file, const Engines &engines, llvm::raw_ostream &errors)
      : file(std::move(file)), engines(engines), errors(errors) {
    this->file.text().split(lines, '\n');
  }
  FailureOr<std::vector<MeasuredRow>> read();

private:
  llvm::LogicalResult readHeader();
  llvm::LogicalResult readRow(unsigned line, MeasuredRow &row);
  llvm::LogicalResult readShape(MeasuredRow &row);
  llvm::LogicalResult readExperts(MeasuredRow &row);
  /// The column of the first of `names` that there is, or -1.
  int column(llvm::ArrayRef<StringRef> names) const;
  bool has(StringRef name) const { return column({name}) >= 0; }
  StringRef field(llvm::ArrayRef<StringRef> names) const;
  llvm::LogicalResult number(StringRef name, double &value);
  llvm::LogicalResult count(StringRef name, int64_t &value);

  SourceFile file;
  const Engines &engines;
  SmallVector<StringRef, 0> lines;
  llvm::raw_ostream &errors;
  llvm::StringMap<int> columns;
  unsigned line = 0;
  SmallVector<StringRef> fields;
};
} // namespace

int Table::column(llvm::ArrayRef<StringRef> names) const {
  for (StringRef name : names) {
    if (auto found = columns.find(name); found != columns.end()) {
      return found->second;
    }
  }
  return -1;
}

StringRef Table::field(llvm::ArrayRef<StringRef> names) const {
  int index = column(names);
  return index < 0 ? StringRef() : fields[index];
}

/// Empty: 0.
llvm::LogicalResult Table::number(StringRef name, double &value) {
  StringRef text = field({name});
  value = 0;
  if (text.empty() ||
      (!text.getAsDouble(value) && std::isfinite(value) && value >= 0)) {
    return llvm::success();
  }
  unsigned at = text.data() - lines[line - 1].data() + 1;
  file.error(errors, {line, at, unsigned(text.size())},
             "expected a number that is not negative in column '" + name +
                 "', got '" + text + "'");
  return llvm::failure();
}

llvm::LogicalResult Table::count(StringRef name, int64_t &value) {
  double read = 0;
  if (failed(number(name, read))) {
    return llvm::failure();
  }
  value = std::llround(std::min(read, 1e15));
  return llvm::success();
}

llvm::LogicalResult Table::readHeader() {
  lines[0].rtrim('\r').split(fields, ',');
  for (auto [i, name] : llvm::enumerate(fields)) {
    if (!columns.try_emplace(name.trim(), i).second) {
      file.error(errors,
                 {1, unsigned(name.data() - lines[0].data() + 1),
                  std::max(1u, unsigned(name.size()))},
                 "expected every column once, got '" + name + "' twice");
      return llvm::failure();
    }
  }
  bool hasWork = (has("m") && has("n") && has("k")) || has("message_size") ||
                 (has("num_heads") && has("step")) ||
                 (has("topk") && (has("num_tokens") || has("tokens")));
  if (hasWork && column({"chip", "gpu"}) >= 0 &&
      column({"latency_ms", "latency_us"}) >= 0) {
    return llvm::success();
  }
  file.error(errors, {1, 1, 1},
             "expected a header with 'chip' or 'gpu', 'latency_ms' or "
             "'latency_us', and the columns of products ('m', 'n', 'k'), of "
             "attention ('num_heads', 'step', ...), of experts ('topk', "
             "'tokens' or 'num_tokens', ...) or of an all-reduce ('num_gpus', "
             "'message_size')");
  return llvm::failure();
}

/// The format of the linears of experts by the types of what they meet.
static std::string expertType(StringRef inputs, StringRef weights,
                              StringRef scales) {
  bool isFew = weights.starts_with("float4");
  if (isFew) {
    return inputs.starts_with("float4")   ? "mxfp4"
           : inputs.starts_with("float8") ? "w4a8_mxfp4_mxfp8"
                                          : "w4a16_mxfp4";
  }
  return scales == "per_1x128"  ? "fp8_block"
         : scales == "per_1x32" ? "mxfp8"
         : scales == "per_Token" && weights.starts_with("float8")
             ? "fp8"
             : weights.str();
}

/// Tables of engines time whole layers and say how tokens fall on experts;
/// those of AITER the kernels behind the choice, of scores drawn by lot.
llvm::LogicalResult Table::readExperts(MeasuredRow &row) {
  row.kind = Measurement::Experts;
  row.isLayer = has("num_tokens");
  row.kernel = field({"kernel"}).str();
  int64_t cuts = 1;
  if (failed(count(row.isLayer ? "num_tokens" : "tokens", row.m)) ||
      failed(count(row.isLayer ? "hidden_size" : "model_dim", row.k)) ||
      failed(count(row.isLayer ? "inter_size" : "inter_dim", row.n)) ||
      failed(count(row.isLayer ? "num_experts" : "experts", row.experts)) ||
      failed(count("topk", row.topK))) {
    return llvm::failure();
  }
  if (!row.isLayer) {
    row.type = row.cacheType = expertType(
        field({"act_dtype"}), field({"weight_dtype"}), field({"quant"}));
    row.load = "uniform";
    return llvm::success();
  }
  if (failed(count("moe_tp_size", cuts)) ||
      failed(count("moe_ep_size", row.expertRanks))) {
    return llvm::failure();
  }
  cuts = std::max<int64_t>(cuts, 1);
  row.n = row.n / cuts;
  StringRef how = field({"distribution"});
  row.load =
      how.consume_front("power_law_") ? ("power:" + how).str() : how.str();
  return llvm::success();
}

llvm::LogicalResult Table::readShape(MeasuredRow &row) {
  if (has("topk")) {
    return readExperts(row);
  }
  if (has("message_size")) {
    row.kind =
        has("nccl_dtype") ? Measurement::Collective : Measurement::AllReduce;
    return llvm::success(succeeded(count("num_gpus", row.devices)) &&
                         succeeded(count("message_size", row.elements)));
  }
  if (has("k")) {
    row.isLayer = has("gemm_dtype");
    row.isBatched = field({"table"}).contains("batched");
    row.collector = collectorOf(row, engines);
    return llvm::success(succeeded(count("m", row.m)) &&
                         succeeded(count("n", row.n)) &&
                         succeeded(count("k", row.k)));
  }
  if (failed(count("batch_size", row.sequences)) ||
      failed(count("isl", row.newTokens)) || failed(count("step", row.past)) ||
      failed(count("num_heads", row.heads)) ||
      failed(count("num_key_value_heads", row.kvHeads)) ||
      failed(count("head_dim", row.headDim)) ||
      failed(count("window_size", row.window))) {
    return llvm::failure();
  }
  row.kvHeads = row.kvHeads == 0 ? row.heads : row.kvHeads;
  row.kind = Measurement::Prefill;
  row.collector = collectorOf(row, engines);
  bool isLatent = has("mla_dtype");
  if (isLatent) {
    row.headDim = LatentColumns::latent + LatentColumns::rotated;
    row.kvHeads = 1;
    row.kind = row.newTokens == 1 ? Measurement::LatentDecode
                                  : Measurement::LatentPrefill;
    return llvm::success();
  }
  bool decodesOne = row.collector && row.collector->decodesOne;
  if (row.newTokens == 1 && (row.past > 0 || decodesOne)) {
    row.kind = Measurement::Decode;
  }
  return llvm::success();
}

llvm::LogicalResult Table::readRow(unsigned number, MeasuredRow &row) {
  line = number;
  fields.clear();
  lines[line - 1].rtrim('\r').split(fields, ',');
  if (fields.size() != columns.size()) {
    file.error(errors, {line, 1, 1},
               "expected " + Twine(columns.size()) +
                   " fields as in the header, got " + Twine(fields.size()));
    return llvm::failure();
  }
  row.line = line;
  row.source = field({"source"}).str();
  row.chip = field({"chip", "gpu"}).str();
  row.type = field({"dtype", "gemm_dtype", "attn_dtype", "mla_dtype",
                    "moe_dtype", "allreduce_dtype", "nccl_dtype"})
                 .str();
  StringRef cache = field({"kv_cache_dtype"});
  row.cacheType = cache.empty() ? row.type : cache.str();
  StringRef unit = has("latency_ms") ? "latency_ms" : "latency_us";
  double time = 0;
  if (failed(this->number(unit, time)) || failed(readShape(row))) {
    return llvm::failure();
  }
  row.seconds = time * (unit == "latency_ms" ? 1e-3 : 1e-6);
  if (row.seconds > kMostSeconds) {
    file.error(errors, {line, 1, 1},
               "expected a time of at most a day, got a '" + unit + "' of " +
                   field({unit}));
    return llvm::failure();
  }
  if (row.topK > row.experts) {
    file.error(
        errors, {line, 1, 1},
        "expected at most as many experts for a token as there are, got " +
            Twine(row.topK) + " of " + Twine(row.experts));
    return llvm::failure();
  }
  bool hasSizes = row.elements > 0 || (row.m > 0 && row.n > 0 && row.k > 0) ||
                  (row.rows() > 0 && row.heads > 0 && row.headDim > 0);
  if (row.seconds > 0 && row.devices > 0 && hasSizes) {
    return llvm::success();
  }
  file.error(errors, {line, 1, 1},
             "expected a time and sizes of at least 1, got 0 in this row");
  return llvm::failure();
}

/// Rows that say a window which was not the one that ran say that one.
static void correct(std::vector<MeasuredRow> &rows,
                    const Correction &correction) {
  auto isMeant = [&](const MeasuredRow &row) {
    return nameOf(row.kind) == correction.measurement &&
           correction.scope.holds(row.source, "", row.type);
  };
  std::set<std::string> swept; // chips
  for (const MeasuredRow &row : rows) {
    if (isMeant(row) && row.window != correction.windowSaid) {
      swept.insert(row.chip);
    }
  }
  for (MeasuredRow &row : rows) {
    if (isMeant(row) && row.window == correction.windowSaid &&
        (!correction.isSwept || swept.count(row.chip))) {
      row.window = correction.windowMeant;
    }
  }
}

FailureOr<std::vector<MeasuredRow>> Table::read() {
  if (failed(readHeader())) {
    return llvm::failure();
  }
  std::vector<MeasuredRow> rows;
  for (unsigned number = 2; number <= lines.size(); ++number) {
    if (lines[number - 1].empty()) {
      continue;
    }
    MeasuredRow row;
    if (failed(readRow(number, row))) {
      return llvm::failure();
    }
    rows.push_back(std::move(row));
  }
  for (const Correction &correction : engines.corrections) {
    correct(rows, correction);
  }
  return rows;
}

FailureOr<std::vector<MeasuredRow>>
modelc::readMeasurements(StringRef path, const Engines &engines,
                         llvm::raw_ostream &errors) {
  FailureOr<SourceFile> file = SourceFile::read(path, errors);
  if (failed(file)) {
    return llvm::failure();
  }
  return Table(std::move(*file), engines, errors).read();
}
