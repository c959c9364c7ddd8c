//===- prepare.h - Weights as a plan wants them ---------------------------===//
//
// A binding's `source` says what its buffer holds, see README.md. Here that
// text is read, and the tensors of a checkpoint are cut, joined and converted.
//
//===----------------------------------------------------------------------===//
#ifndef MODELC_HOST_PREPARE_H
#define MODELC_HOST_PREPARE_H

#include "numbers.h"

#include <sstream>
#include <vector>

namespace modelc_host {

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
  bool isChannelScale = false, isBlockScale = false;
  bool isDoubled = false, hasDefault = false;
  float absent = 0;
  /// The byte where the word of row 2^i lies; empty: in the order of rows.
  std::vector<int64_t> packed;

  WeightSource(const std::string &text, int64_t layer) {
    const size_t end = readParts(text, layer);
    std::istringstream words(text.substr(end));
    for (std::string word; words >> word;) {
      isChannelScale |= word == "channel_scale";
      isBlockScale |= word == "block_scale";
      isDoubled |= word == "doubled";
      if (word == "default") {
        hasDefault = true;
        words >> absent;
      }
      if (word == "packed") {
        for (int64_t byte; words >> byte;) {
          packed.push_back(byte);
        }
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
    if (source.isBlockScale) {
      // Groups of rows may be larger than there are rows.
      std::memset(out, 0, size_t(numberCount()));
    }
    for (const SourcePart &part : source.parts) {
      if (int status = append(part)) {
        return status;
      }
    }
    const int64_t wanted = numberCount();
    return done == wanted || (source.isBlockScale && wanted - done < perGroup())
               ? int(MC_OK)
               : fail(MC_BAD_ARGUMENT,
                      "%s: expected %lld elements of the checkpoint, got %lld",
                      weight.name, (long long)wanted, (long long)done);
  }

private:
  int64_t numberCount() const {
    int64_t count = numbersOf(weight.type);
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
      for (int64_t i = 0; i < numberCount(); ++i) {
        put(source.absent);
      }
      return MC_OK;
    }
    const Cut cut = cutOf(tensor, part);
    if (isOfBlocks() && (cut.firstColumn % kBlock || cut.columns % kBlock)) {
      return fail(MC_BAD_ARGUMENT,
                  "%s: expected columns of %s in whole blocks of %d, got %lld",
                  weight.name, part.name.c_str(), kBlock,
                  (long long)cut.columns);
    }
    if (source.isBlockScale && numbersOfRow(cut) != perRow()) {
      return fail(MC_BAD_ARGUMENT,
                  "%s: expected rows of %lld scales, got %lld from %s",
                  weight.name, (long long)perRow(),
                  (long long)numbersOfRow(cut), part.name.c_str());
    }
    if (done + cut.rows * numbersOfRow(cut) > numberCount()) {
      return fail(MC_BAD_ARGUMENT, "%s: expected %lld elements, got more of %s",
                  weight.name, (long long)numberCount(), part.name.c_str());
    }
    const bool isZero = part.isFirstRankOnly && rank != 0;
    const bool isScaled =
        !isZero && (source.isChannelScale || elementBytes(weight.type) == 1);
    const bool isNarrow =
        tensor.type == MC_F8E4M3FN || tensor.type == MC_F4E2M1FNX2;
    mc_tensor stored{};
    if ((isScaled || isOfBlocks()) && isNarrow &&
        read(context, (part.name + "_scale").c_str(), &stored)) {
      return fail(MC_BAD_ARGUMENT, "%s: expected a tensor %s_scale, got none",
                  weight.name, part.name.c_str());
    }
    for (int64_t row = 0; row < cut.rows; ++row) {
      isOfBlocks() ? appendBlocks(tensor, cut, row, stored)
                   : appendRow(tensor, cut, row, isZero, isScaled, stored);
    }
    return MC_OK;
  }

  /// Whether each block of neighbours has a scale.
  bool isOfBlocks() const {
    return source.isBlockScale || weight.type == MC_F4E2M1FNX2;
  }

  /// That a row of a part becomes; of scales whole words.
  int64_t numbersOfRow(const Cut &cut) const {
    return source.isChannelScale ? 1
           : source.isBlockScale ? ceilDiv(cut.columns / kBlock, 4) * 4
                                 : cut.columns;
  }

  /// Scales of a row and of a group of rows.
  int64_t perRow() const { return weight.shape[1] * numbersOf(weight.type); }
  int64_t perGroup() const { return perRow() * weight.shape[2]; }

  Cut cutOf(const mc_tensor &tensor, const SourcePart &part) const {
    Cut cut;
    cut.rows = tensor.rank ? tensor.shape[0] : 1;
    cut.columns = widthOf(tensor);
    int64_t &count = part.dim == 0 ? cut.rows : cut.columns;
    count /= part.parts;
    const int64_t first =
        part.parts == 1 ? 0 : count * (rank / part.copies % part.parts);
    (part.dim == 0 ? cut.firstRow : cut.firstColumn) = first;
    return cut;
  }

  /// Numbers of a row.
  static int64_t widthOf(const mc_tensor &tensor) {
    int64_t width = tensor.rank > 1 ? numbersOf(tensor.type) : 1;
    for (int i = 1; i < tensor.rank; ++i) {
      width *= tensor.shape[i];
    }
    return width;
  }

  void appendBlocks(const mc_tensor &tensor, const Cut &cut, int64_t row,
                    const mc_tensor &stored) {
    const int64_t begin =
        (cut.firstRow + row) * widthOf(tensor) + cut.firstColumn;
    for (int64_t first = 0; first < cut.columns; first += kBlock) {
      const float scale = stored.data
                              ? elementOf(stored, (begin + first) / kBlock)
                              : scaleOfBlock(tensor, begin + first);
      if (source.isBlockScale) {
        putScale(first / kBlock, scale);
        continue;
      }
      for (int64_t i = first; i < first + kBlock; ++i) {
        put(elementOf(tensor, begin + i) / (stored.data ? 1 : scale));
      }
    }
    done += source.isBlockScale ? numbersOfRow(cut) : 0;
  }

  /// The power of two below the largest magnitude, over 4.
  static float scaleOfBlock(const mc_tensor &tensor, int64_t begin) {
    float largest = 0;
    for (int64_t i = begin; i < begin + kBlock; ++i) {
      largest = std::fmax(largest, std::fabs(elementOf(tensor, i)));
    }
    const int exponent = exponentOf(largest, kSmallestScale + kLargestE2M1);
    return std::ldexp(1.0f, exponent - kLargestE2M1);
  }

  /// Where the shape of the buffer, [groups, words, rows of a group], says.
  void putScale(int64_t block, float scale) {
    const int64_t words = weight.shape[1], rows = weight.shape[2];
    const int64_t perWord = numbersOf(weight.type);
    const int64_t row = done / perRow();
    const int64_t word = row / rows * words + block / perWord;
    const int64_t at = word * rows * perWord + placeOf(row % rows, perWord);
    out[at + block % perWord] = char(toE8M0(scale));
  }

  /// The byte in its group where the word of a row begins.
  int64_t placeOf(int64_t row, int64_t bytesOfWord) const {
    const int64_t together = int64_t(1) << source.packed.size();
    int64_t place = row / together * together * bytesOfWord;
    for (size_t i = 0; i < source.packed.size(); ++i) {
      place += row >> i & 1 ? source.packed[i] : 0;
    }
    return place;
  }

  void appendRow(const mc_tensor &tensor, const Cut &cut, int64_t row,
                 bool isZero, bool isScaled, const mc_tensor &stored) {
    const int64_t width = widthOf(tensor);
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
    if (weight.type == MC_F4E2M1FNX2) {
      const int shift = 4 * int(done % 2);
      const int other = shift ? out[done / 2] & 15 : 0;
      out[done++ / 2] = char(other | toE2M1(value) << shift);
      return;
    }
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
  int64_t done = 0; // numbers
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
