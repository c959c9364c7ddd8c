//===- Measured.cpp - Rows of measured kernels ----------------------------===//

#include "lib/Engines/Measured.h"

#include "lib/Cost/Cost.h"

#include <cmath>

using namespace modelc;
using llvm::StringRef;

StringRef modelc::nameOf(Measurement kind) {
  switch (kind) {
  case Measurement::Linear:
    return "linear";
  case Measurement::Prefill:
    return "prefill attention";
  case Measurement::Decode:
    return "decode attention";
  case Measurement::LatentPrefill:
    return "latent prefill attention";
  case Measurement::LatentDecode:
    return "latent decode attention";
  case Measurement::Experts:
    return "experts";
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
         : type == "mxfp8"        ? 8.25 / 8 // a scale of 8 bits for 32 numbers
         : type == "mxfp6"        ? 6.25 / 8
         : type.contains("mxfp4") ? 4.25 / 8
         : type == "nvfp4"        ? 4.5 / 8 // for 16
                                  : 0;
}

bool MeasuredRow::isUnquantised() const { return bytesOf(type) == 2; }

static std::string reasonAgainstExperts(const MeasuredRow &row) {
  return row.expertRanks > 1 ? "experts that several ranks share"
         : StringRef(row.kernel).contains("nongated") ? "experts without a gate"
         : row.type == "w4a16_mxfp4"    ? "4 bits widened to 16 on their way"
         : !ExpertLoad::parse(row.load) ? "a distribution as " + row.load
                                        : "";
}

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
  if (kind == Measurement::Experts) {
    return reasonAgainstExperts(*this);
  }
  return isAttention() && bytesOf(type) != 2 && type != cacheType
             ? "products of queries in " + type + " and keys in " + cacheType
             : "";
}

bool MeasuredRow::isLatent() const {
  return kind == Measurement::LatentPrefill ||
         kind == Measurement::LatentDecode;
}

bool MeasuredRow::isAttention() const {
  return isLatent() || kind == Measurement::Prefill ||
         kind == Measurement::Decode;
}

double MeasuredRow::expertsHit() const {
  std::optional<ExpertLoad> how = ExpertLoad::parse(load);
  if (!how) {
    return std::min<double>(experts, double(m) * topK);
  }
  return modelc::expertsHit(
      *how, {double(experts), double(topK), double(m), double(expertRanks)});
}

std::string MeasuredRow::shape() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << nameOf(kind) << " " << type << " " << cacheType;
  if (kind == Measurement::Linear) {
    os << " " << n << "x" << k;
  } else if (kind == Measurement::Experts) {
    os << " " << topK << " of " << experts << ", " << n << "x" << k
       << (isLayer ? " layers" : "");
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
  if (kind == Measurement::Linear || kind == Measurement::Experts) {
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
  if (kind == Measurement::Experts) {
    return 2.0 * m * topK * 3.0 * n * k; // gate, up and down
  }
  // Query i of a sequence sees past + i + 1 keys, of a window at most all.
  int64_t whole = newTokens; // queries that see all keys up to their own
  if (window > 0) {
    whole = std::clamp<int64_t>(window - past, 0, newTokens);
  }
  double seen = double(whole) * (past + (whole + 1) / 2.0) +
                double(newTokens - whole) * window;
  // Whichever form multiplies least: keys and values of each head.
  using Columns = LatentColumns;
  double columns =
      isLatent() ? 2.0 * Columns::head + Columns::rotated : 2.0 * headDim;
  return 2.0 * sequences * heads * columns * seen;
}

double MeasuredRow::bytes() const {
  if (kind == Measurement::Linear) {
    return bytesOf(type) * (double(m) * k + double(n) * k) + 2.0 * m * n;
  }
  if (kind == Measurement::Experts) {
    return bytesOf(type) * expertsHit() * 3.0 * n * k + 4.0 * m * k;
  }
  if (elements > 0) {
    return bytesOf(type) * elements;
  }
  if (isLatent()) {
    double columns = LatentColumns::latent + LatentColumns::rotated;
    return bytesOf(cacheType) * sequences * keysSeen() * columns;
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
