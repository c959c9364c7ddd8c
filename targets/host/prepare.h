//===- prepare.h - Weights as a plan wants them ---------------------------===//
//
// A binding's `source` says what its buffer holds, see README.md. Here that
// text is read, and the tensors of a checkpoint are cut, joined and converted.
//
//===----------------------------------------------------------------------===//
#ifndef MODELC_HOST_PREPARE_H
#define MODELC_HOST_PREPARE_H

#include "launch.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <vector>

namespace modelc_host {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// The largest number of E4M3FN, which a row's largest magnitude becomes.
constexpr float kLargestE4M3 = 448;

/// The power of 2 below a number that is not negative; at least `smallest`.
inline int exponentOf(float size, int smallest) {
  int exponent = 0;
  std::frexp(size, &exponent);
  return size == 0 || exponent - 1 < smallest ? smallest : exponent - 1;
}

/// Rounded to nearest even, saturated.
inline uint8_t toE4M3(float x) {
  const int sign = std::signbit(x) ? 0x80 : 0;
  const float size = std::fabs(x);
  if (std::isnan(x)) {
    return uint8_t(sign | 0x7F);
  }
  if (size >= kLargestE4M3) {
    return uint8_t(sign | 0x7E);
  }
  const int exponent = exponentOf(size, -6);
  const int units = int(std::nearbyint(std::ldexp(size, 3 - exponent)));
  return uint8_t(sign | (((exponent + 6) << 3) + units));
}

inline float fromE4M3(uint8_t bits) {
  const int exponent = bits >> 3 & 15, mantissa = bits & 7;
  const float size = (bits & 0x7F) == 0x7F
                         ? std::numeric_limits<float>::quiet_NaN()
                     : exponent ? std::ldexp(float(8 + mantissa), exponent - 10)
                                : std::ldexp(float(mantissa), -9);
  return bits & 0x80 ? -size : size;
}

/// The FNUZ number of half the value: the same bits, but that zero has no sign
/// and NaN is what would be minus zero.
inline uint8_t toFnuz(uint8_t bits) {
  return (bits & 0x7F) == 0x7F ? 0x80 : bits == 0x80 ? 0 : bits;
}

inline float bitsToFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline uint16_t toBf16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if (std::isnan(x)) {
    return uint16_t(bits >> 16 | 0x40);
  }
  return uint16_t((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

inline float fromF16(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const float size =
      exponent == 31 ? bitsToFloat(0x7F800000u | uint32_t(mantissa) << 13)
      : exponent     ? std::ldexp(float(1024 + mantissa), exponent - 25)
                     : std::ldexp(float(mantissa), -24);
  return bits & 0x8000 ? -size : size;
}

/// Element `index` of a tensor in host memory.
inline float elementOf(const mc_tensor &tensor, int64_t index) {
  const char *at = static_cast<const char *>(tensor.data) +
                   index * elementBytes(tensor.type);
  uint32_t word = 0;
  std::memcpy(&word, at, size_t(elementBytes(tensor.type)));
  switch (tensor.type) {
  case MC_BF16:
    return bitsToFloat(word << 16);
  case MC_F16:
    return fromF16(uint16_t(word));
  case MC_F8E4M3FN:
    return fromE4M3(uint8_t(word));
  default:
    return bitsToFloat(word);
  }
}

//===----------------------------------------------------------------------===//
// The text
//===----------------------------------------------------------------------===//

/// One tensor of the checkpoint, and the part of it that a rank has.
struct SourcePart {
  std::string name;
  int dim = 0;
  int64_t parts = 1, copies = 1;
  bool isFirstRankOnly = false;
};

/// A `source`, read.
struct WeightSource {
  std::vector<SourcePart> parts;
  bool isChannelScale = false, isDoubled = false, hasDefault = false;
  float absent = 0;

  WeightSource(const std::string &text, int64_t layer) {
    const size_t end = readParts(text, layer);
    std::istringstream words(text.substr(end));
    for (std::string word; words >> word;) {
      isChannelScale |= word == "channel_scale";
      isDoubled |= word == "doubled";
      if (word == "default") {
        hasDefault = true;
        words >> absent;
      }
    }
  }

private:
  /// Up to behind the closing bracket.
  size_t readParts(const std::string &text, int64_t layer) {
    size_t at = 1;
    while (at < text.size() && text[at - 1] != ']') {
      const size_t open = text.find('"', at), close = text.find('"', open + 1);
      const size_t end = text.find_first_of(",]", close);
      if (end == std::string::npos) {
        break;
      }
      SourcePart part;
      part.name = text.substr(open + 1, close - open - 1);
      const size_t hole = part.name.find("{layer}");
      if (hole != std::string::npos) {
        part.name.replace(hole, 7, std::to_string(layer));
      }
      std::istringstream words(text.substr(close + 1, end - close - 1));
      for (std::string word, of; words >> word;) {
        if (word == "split") {
          words >> part.dim >> of >> part.parts;
        } else if (word == "copies") {
          words >> part.copies;
        } else if (word == "first") {
          part.isFirstRankOnly = true;
        }
      }
      parts.push_back(part);
      at = end + 1;
    }
    return at;
  }
};

//===----------------------------------------------------------------------===//
// Preparing
//===----------------------------------------------------------------------===//

/// Where rows and columns of a part begin, and how many there are.
struct Cut {
  int64_t firstRow = 0, rows = 0, firstColumn = 0, columns = 0;
};

class Preparation {
public:
  Preparation(const mc_binding &weight, int64_t layer, int rank, mc_read read,
              void *context, void *out)
      : weight(weight), source(weight.source, layer), rank(rank), read(read),
        context(context), out(static_cast<char *>(out)) {}

  int run() {
    if (source.parts.empty()) {
      return fail(MC_BAD_ARGUMENT,
                  "%s: expected the source of a weight, got %s", weight.name,
                  weight.source);
    }
    for (const SourcePart &part : source.parts) {
      if (int status = append(part)) {
        return status;
      }
    }
    const int64_t wanted = elementCount();
    return done == wanted
               ? int(MC_OK)
               : fail(MC_BAD_ARGUMENT,
                      "%s: expected %lld elements of the checkpoint, got %lld",
                      weight.name, (long long)wanted, (long long)done);
  }

private:
  int64_t elementCount() const {
    int64_t count = 1;
    for (int i = 0; i < weight.rank; ++i) {
      count *= weight.shape[i];
    }
    return count;
  }

  int append(const SourcePart &part) {
    mc_tensor tensor{};
    if (read(context, part.name.c_str(), &tensor)) {
      if (!source.hasDefault) {
        return fail(MC_BAD_ARGUMENT, "%s: expected a tensor %s, got none",
                    weight.name, part.name.c_str());
      }
      for (int64_t i = 0; i < elementCount(); ++i) {
        put(source.absent);
      }
      return MC_OK;
    }
    Cut cut = cutOf(tensor, part);
    if (done + cut.rows * (source.isChannelScale ? 1 : cut.columns) >
        elementCount()) {
      return fail(MC_BAD_ARGUMENT, "%s: expected %lld elements, got more of %s",
                  weight.name, (long long)elementCount(), part.name.c_str());
    }
    const bool isZero = part.isFirstRankOnly && rank != 0;
    const bool isScaled =
        !isZero && (source.isChannelScale || elementBytes(weight.type) == 1);
    mc_tensor stored{};
    if (isScaled && tensor.type == MC_F8E4M3FN &&
        read(context, (part.name + "_scale").c_str(), &stored)) {
      return fail(MC_BAD_ARGUMENT, "%s: expected a tensor %s_scale, got none",
                  weight.name, part.name.c_str());
    }
    for (int64_t row = 0; row < cut.rows; ++row) {
      appendRow(tensor, cut, row, isZero, isScaled, stored);
    }
    return MC_OK;
  }

  Cut cutOf(const mc_tensor &tensor, const SourcePart &part) const {
    Cut cut;
    cut.rows = tensor.rank ? tensor.shape[0] : 1;
    cut.columns = 1;
    for (int i = 1; i < tensor.rank; ++i) {
      cut.columns *= tensor.shape[i];
    }
    int64_t &count = part.dim == 0 ? cut.rows : cut.columns;
    count /= part.parts;
    const int64_t first =
        part.parts == 1 ? 0 : count * (rank / part.copies % part.parts);
    (part.dim == 0 ? cut.firstRow : cut.firstColumn) = first;
    return cut;
  }

  void appendRow(const mc_tensor &tensor, const Cut &cut, int64_t row,
                 bool isZero, bool isScaled, const mc_tensor &stored) {
    int64_t width = 1;
    for (int i = 1; i < tensor.rank; ++i) {
      width *= tensor.shape[i];
    }
    const int64_t begin = (cut.firstRow + row) * width;
    const float scale =
        isScaled ? scaleOf(tensor, begin, width, cut.firstRow + row, stored)
                 : 1;
    if (source.isChannelScale) {
      return put(scale);
    }
    // Stored numbers of 8 bits are kept as they are.
    const float divisor = stored.data ? 1 : scale;
    for (int64_t i = 0; i < cut.columns; ++i) {
      put(isZero ? 0
                 : elementOf(tensor, begin + cut.firstColumn + i) / divisor);
    }
  }

  /// Of a whole row: the checkpoint's own, or that which makes the largest
  /// magnitude 448; 1 for zeros.
  static float scaleOf(const mc_tensor &tensor, int64_t begin, int64_t width,
                       int64_t row, const mc_tensor &stored) {
    if (stored.data) {
      const bool isOne = stored.rank == 0 || stored.shape[0] == 1;
      return elementOf(stored, isOne ? 0 : row);
    }
    float largest = 0;
    for (int64_t i = 0; i < width; ++i) {
      largest = std::fmax(largest, std::fabs(elementOf(tensor, begin + i)));
    }
    return largest > 0 ? largest / kLargestE4M3 : 1;
  }

  /// The next element.
  void put(float value) {
    const int bytes = elementBytes(weight.type);
    uint32_t word;
    value = source.isDoubled ? 2 * value : value;
    std::memcpy(&word, &value, sizeof word);
    if (bytes == 1) {
      const uint8_t bits = toE4M3(value);
      word = weight.type == MC_F8E4M3FNUZ ? toFnuz(bits) : bits;
    } else if (weight.type == MC_BF16) {
      word = toBf16(value);
    } else if (weight.type == MC_F16) {
      word = toF16(value);
    }
    std::memcpy(out + done++ * bytes, &word, size_t(bytes));
  }

  /// Rounded to nearest even.
  static uint16_t toF16(float x) {
    const uint32_t sign = std::signbit(x) ? 0x8000 : 0;
    const float size = std::fabs(x);
    if (std::isnan(x) || size >= 65520) {
      return uint16_t(sign | (std::isnan(x) ? 0x7E00 : 0x7C00));
    }
    const int exponent = exponentOf(size, -14);
    const int units = int(std::nearbyint(std::ldexp(size, 10 - exponent)));
    return uint16_t(sign | uint32_t(((exponent + 14) << 10) + units));
  }

  const mc_binding &weight;
  WeightSource source;
  int rank;
  mc_read read;
  void *context;
  char *out;
  int64_t done = 0; // elements
};

inline int prepare(const mc_binding *weight, int64_t layer, int rank,
                   mc_read read, void *context, void *out) {
  if (!weight || weight->role != MC_WEIGHT || !weight->source) {
    return fail(MC_BAD_ARGUMENT, "expected the binding of a weight");
  }
  return Preparation(*weight, layer, rank, read, context, out).run();
}

} // namespace modelc_host

#endif // MODELC_HOST_PREPARE_H
