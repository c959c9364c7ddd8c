//===- Measured.cpp - Reading tables of measured kernels ------------------===//

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

StringRef modelc::nameOf(Measurement kind) {
  switch (kind) {
  case Measurement::Linear:
    return "linear";
  case Measurement::Prefill:
    return "prefill attention";
  case Measurement::Decode:
    return "decode attention";
  case Measurement::AllReduce:
    return "all-reduce";
  case Measurement::Collective:
    return "collective of the library";
  }
  llvm_unreachable("all kinds have a name");
}

/// Bytes of an element by its spelling in a table; 0: not one we compute with.
static double bytesOf(StringRef type) {
  return type == "bf16" || type == "bfloat16" || type == "half"   ? 2
         : type == "fp8" || type == "fp8_block" || type == "int8" ? 1
         : type == "mxfp8" ? 8.25 / 8 // a scale of 8 bits for 32 numbers
         : type == "mxfp6" ? 6.25 / 8
         : type == "mxfp4" ? 4.25 / 8
         : type == "nvfp4" ? 4.5 / 8 // for 16
                           : 0;
}

bool MeasuredRow::isUnquantised() const { return bytesOf(type) == 2; }

std::string MeasuredRow::reasonAgainst() const {
  if (kind != Measurement::Collective && type == "int8") {
    return "type int8";
  }
  if (bytesOf(type) == 0 || bytesOf(cacheType) == 0) {
    return "type " + (bytesOf(type) == 0 ? type : cacheType);
  }
  if (isBatched) {
    return "a batch of unknown size";
  }
  bool isAttention =
      kind == Measurement::Prefill || kind == Measurement::Decode;
  return isAttention && bytesOf(type) != 2 && type != cacheType
             ? "products of queries in " + type + " and keys in " + cacheType
             : "";
}

std::string MeasuredRow::shape() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << nameOf(kind) << " " << type << " " << cacheType;
  if (kind == Measurement::Linear) {
    os << " " << n << "x" << k;
  } else if (elements > 0) {
    os << " " << devices << " devices, " << elements / rows() << " columns";
  } else {
    os << " heads " << heads << ":" << kvHeads << " of " << headDim
       << " window " << window << " in " << engine();
  }
  return text;
}

/// Columns of the tensor that an all-reduce is asked for, at most.
static constexpr int64_t kExchangedColumns = 8192;

int64_t MeasuredRow::rows() const {
  if (kind == Measurement::Linear) {
    return m;
  }
  if (elements > 0) {
    return elements % kExchangedColumns == 0 ? elements / kExchangedColumns : 1;
  }
  return sequences * newTokens;
}

double MeasuredRow::flop() const {
  if (kind == Measurement::Linear) {
    return 2.0 * m * n * k;
  }
  // Query i of a sequence sees past + i + 1 keys, of a window at most all.
  int64_t whole = newTokens; // queries that see all keys up to their own
  if (window > 0) {
    whole = std::clamp<int64_t>(window - past, 0, newTokens);
  }
  double seen = double(whole) * (past + (whole + 1) / 2.0) +
                double(newTokens - whole) * window;
  return 4.0 * sequences * heads * headDim * seen;
}

double MeasuredRow::bytes() const {
  if (kind == Measurement::Linear) {
    return bytesOf(type) * (double(m) * k + double(n) * k) + 2.0 * m * n;
  }
  if (elements > 0) {
    return bytesOf(type) * elements;
  }
  double queriesAndResults = 2.0 * rows() * heads * headDim;
  return cacheBytes(kvHeads) + bytesOf(type) * queriesAndResults;
}

int64_t MeasuredRow::keysSeen() const {
  int64_t keys = past + newTokens;
  return window > 0 ? std::min(keys, window - 1 + newTokens) : keys;
}

double MeasuredRow::cacheBytes(int64_t heads) const {
  return bytesOf(cacheType) * 2.0 * sequences * keysSeen() * heads * headDim;
}

const Collector *modelc::collectorOf(const MeasuredRow &row,
                                     const Engines &engines) {
  bool isAlone = row.kind == Measurement::Linear && !row.isLayer;
  for (const Collector &collector : engines.collectors) {
    if (collector.isAlone == isAlone &&
        collector.scope.holds(row.source, "", row.type)) {
      return &collector;
    }
  }
  return nullptr;
}

double MeasuredRow::layersOfTurn(double l2Bytes) const {
  double most = collector ? double(collector->layers) : 1;
  if (!collector || !collector->leavesCache) {
    return most;
  }
  return std::clamp(std::ceil(l2Bytes / (bytesOf(type) * n * k)), 1.0, most);
}

double MeasuredRow::bytesOfTurn(double l2Bytes) const {
  if (kind != Measurement::Linear) {
    return bytes();
  }
  if (!isLayer) {
    return (collector ? double(collector->runs) : 1) * bytes();
  }
  double layers = layersOfTurn(l2Bytes);
  // What is quantised was in 16 bits before.
  double input = isUnquantised() ? 0 : 2.0 * m * k;
  return collector && collector->ownsInputs
             ? layers * (input + bytes())
             : input + bytes() + (layers - 1) * bytesOf(type) * n * k;
}

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
                 (has("num_heads") && has("step"));
  if (hasWork && column({"chip", "gpu"}) >= 0 &&
      column({"latency_ms", "latency_us"}) >= 0) {
    return llvm::success();
  }
  file.error(errors, {1, 1, 1},
             "expected a header with 'chip' or 'gpu', 'latency_ms' or "
             "'latency_us', and the columns of products ('m', 'n', 'k'), of "
             "attention ('num_heads', 'step', ...) or of an all-reduce "
             "('num_gpus', 'message_size')");
  return llvm::failure();
}

llvm::LogicalResult Table::readShape(MeasuredRow &row) {
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
  row.type = field({"dtype", "gemm_dtype", "attn_dtype", "allreduce_dtype",
                    "nccl_dtype"})
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
