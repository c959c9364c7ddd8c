//===- preparation.h - One matrix of tensors of a checkpoint --------------===//
//
// A binding's `source` says what its buffer holds, see README.md. Here the
// tensors of a checkpoint are cut, joined and converted.
//
//===----------------------------------------------------------------------===//
#ifndef MODELC_HOST_PREPARATION_H
#define MODELC_HOST_PREPARATION_H

#include "blocks.h"
#include "cut.h"
#include "groups.h"

namespace modelc_host {

class Preparation {
public:
  Preparation(const mc_binding &weight, const WeightSource &source, int rank,
              mc_read read, void *context, void *out)
      : weight(weight), source(source), format(source), rank(rank), read(read),
        context(context), out(static_cast<char *>(out)) {}

  int run() {
    if (!source.isPossible() || !fits(weight, source)) {
      return fail(MC_BAD_ARGUMENT,
                  "%s: expected the source of a weight, got %s", weight.name,
                  weight.source);
    }
    if ((source.isBlockScale && !source.group) || isOfSixBits()) {
      // Groups of rows may be larger than there are rows, rows than they are.
      std::memset(out, 0,
                  size_t(numberCount() / numbersOf(weight.type) *
                         elementBytes(weight.type)));
    }
    if (source.isLargest) {
      return putLargest();
    }
    for (const SourcePart &part : source.parts) {
      if (int status = append(part)) {
        return status;
      }
    }
    const int64_t wanted = numberCount();
    const int64_t left = wanted - endOf(done);
    return left == 0 || (isOfBlocks() && source.isBlockScale && left > 0 &&
                         left < perGroup())
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

  int missing(const std::string &name) const {
    return fail(MC_BAD_ARGUMENT, "%s: expected a tensor %s, got none",
                weight.name, name.c_str());
  }

  /// One number: the largest of all that the checkpoint has.
  int putLargest() {
    float largest = -std::numeric_limits<float>::infinity();
    bool isFound = false;
    for (const SourcePart &part : source.parts) {
      mc_tensor tensor{};
      if (read(context, part.name.c_str(), &tensor)) {
        if (!source.hasDefault) {
          return missing(part.name);
        }
        continue;
      }
      isFound = true;
      const float value = elementOf(tensor, 0);
      largest = std::fmax(largest, source.isInverse ? 1 / value : value);
    }
    put(isFound ? largest : source.absent);
    return MC_OK;
  }

  /// Whole blocks, rows as long as those of the buffer, and not more of them.
  int checkCut(const SourcePart &part, const Cut &cut) const {
    if (isOfBlocks() &&
        (cut.firstColumn % format.block || cut.columns % format.block)) {
      return fail(MC_BAD_ARGUMENT,
                  "%s: expected columns of %s in whole blocks of %d, got %lld",
                  weight.name, part.name.c_str(), format.block,
                  (long long)cut.columns);
    }
    if ((source.isBlockScale || isOfSixBits()) &&
        numbersOfRow(cut) != perRow()) {
      return fail(MC_BAD_ARGUMENT,
                  "%s: expected rows of %lld %s, got %lld from %s", weight.name,
                  (long long)perRow(),
                  source.isBlockScale ? "scales" : "numbers",
                  (long long)numbersOfRow(cut), part.name.c_str());
    }
    if (endOf(done + cut.rows * numbersOfRow(cut)) > numberCount()) {
      return fail(MC_BAD_ARGUMENT, "%s: expected %lld elements, got more of %s",
                  weight.name, (long long)numberCount(), part.name.c_str());
    }
    return MC_OK;
  }

  int append(const SourcePart &part) {
    mc_tensor tensor{};
    if (read(context, part.name.c_str(), &tensor)) {
      if (!source.hasDefault) {
        return missing(part.name);
      }
      for (int64_t i = 0; i < numberCount(); ++i) {
        put(source.absent);
      }
      return MC_OK;
    }
    const Cut cut = cutOf(tensor, part, rank);
    if (source.group) {
      return appendGroups(part, tensor, cut);
    }
    if (int status = checkCut(part, cut)) {
      return status;
    }
    const bool isZero = part.isFirstRankOnly && rank != 0;
    const bool isScaled =
        !isZero && (source.isChannelScale || elementBytes(weight.type) == 1);
    if (isNarrow(tensor) && tensor.type != keptNumbers()) {
      return fail(
          MC_BAD_ARGUMENT,
          "%s: expected numbers of 16 bits or more in %s, or of the type "
          "of the weight, got others of %d bits; compile the model with "
          "the weights that the checkpoint has",
          weight.name, part.name.c_str(),
          8 * elementBytes(tensor.type) / numbersOf(tensor.type));
    }
    mc_tensor stored{};
    if ((isScaled || isOfBlocks()) && isNarrow(tensor) &&
        read(context, (part.name + "_scale").c_str(), &stored)) {
      return missing(part.name + "_scale");
    }
    if (int status = checkScales(part, tensor, stored)) {
      return status;
    }
    if (int status = readTensorScale(part, tensor)) {
      return status;
    }
    for (int64_t row = 0; row < cut.rows; ++row) {
      const bool isPadding = cut.firstRow + row >= rowsOf(tensor);
      source.isTensorScale ? put(tensorScale)
      : isOfBlocks()       ? appendBlocks(tensor, cut, row, stored)
                           : appendRow(tensor, cut, row, isZero || isPadding,
                                       isScaled && !isPadding, stored);
    }
    return MC_OK;
  }

  /// Scales of the checkpoint, if there are any, are those of all its rows.
  int checkScales(const SourcePart &part, const mc_tensor &tensor,
                  const mc_tensor &stored) {
    if (!stored.data) {
      return MC_OK;
    }
    const long long rows = rowsOf(tensor), found = rowsOf(stored);
    if (!isOfBlocks()) {
      return found == rows || found == 1
                 ? MC_OK
                 : fail(MC_BAD_ARGUMENT,
                        "%s: expected %s_scale to have a scale for each of "
                        "%lld rows, or one, got %lld; try other types of "
                        "weights",
                        weight.name, part.name.c_str(), rows, found);
    }
    return stored.type == format.scale && found == rows &&
                   widthOf(stored) * format.block == widthOf(tensor)
               ? MC_OK
               : fail(MC_BAD_ARGUMENT,
                      "%s: expected %s_scale to have an %s for each block of "
                      "%d, got scales of another kind; try other types of "
                      "weights",
                      weight.name, part.name.c_str(), source.scaled.c_str(),
                      format.block);
  }

  /// Numbers over the scales of their groups, or these scales; or, in more than
  /// 8 bits, times them where the checkpoint has any.
  int appendGroups(const SourcePart &part, const mc_tensor &tensor,
                   const Cut &cut) {
    const int64_t group = source.group;
    mc_tensor stored{};
    if (tensor.type == MC_F8E4M3FN &&
        read(context, (part.name + "_scale_inv").c_str(), &stored) &&
        read(context, (part.name + "_scale").c_str(), &stored)) {
      return missing(part.name + "_scale_inv");
    }
    GroupScales scales(tensor, stored, group);
    const int64_t step = source.isBlockScale ? group : 1;
    const bool isWide = !source.isBlockScale && elementBytes(weight.type) > 1;
    const bool isWhole =
        isWide || (cut.rows % group == 0 && cut.columns % group == 0);
    if (tensor.rank != 2 || tensor.type == MC_F4E2M1FNX2 || !scales.fit() ||
        !isWhole ||
        done + cut.rows * cut.columns / step / step > numberCount()) {
      return fail(MC_BAD_ARGUMENT,
                  "%s: expected whole groups of %lld x %lld of %s with a scale "
                  "each, got %lld x %lld; try other types of weights",
                  weight.name, (long long)group, (long long)group,
                  part.name.c_str(), (long long)cut.rows,
                  (long long)cut.columns);
    }
    for (int64_t row = cut.firstRow; row < cut.firstRow + cut.rows;
         row += step) {
      for (int64_t i = cut.firstColumn; i < cut.firstColumn + cut.columns;
           i += step) {
        put(source.isBlockScale ? scales.at(row, i)
            : isWide            ? scales.wideAt(row, i)
                                : scales.narrowAt(row, i));
      }
    }
    return MC_OK;
  }

  static bool isNarrow(const mc_tensor &tensor) {
    return tensor.type == MC_F8E4M3FN || tensor.type == MC_F6E2M3FNX32 ||
           tensor.type == MC_F4E2M1FNX2;
  }
  /// Those of few bits that are kept as they are stored, with their scales; -1:
  /// none.
  int32_t keptNumbers() const {
    return isOfBlocks() || source.isTensorScale ? format.numbers
           : source.isChannelScale || elementBytes(weight.type) == 1
               ? int32_t(MC_F8E4M3FN)
               : -1;
  }

  /// The second scale of NVFP4, of the whole tensor: the checkpoint's own, or
  /// that which makes the largest magnitude the largest number times the
  /// largest scale; 1 for zeros.
  int readTensorScale(const SourcePart &part, const mc_tensor &tensor) {
    tensorScale = 1;
    if (isNarrow(tensor) && source.isTensorScale) {
      mc_tensor stored{};
      if (read(context, (part.name + "_scale_2").c_str(), &stored)) {
        return missing(part.name + "_scale_2");
      }
      tensorScale = elementOf(stored, 0);
    } else if (!isNarrow(tensor) &&
               (source.isTensorScale ||
                (isOfBlocks() && format.scale == MC_F8E4M3FN))) {
      const int64_t count = rowsOf(tensor) * widthOf(tensor);
      const float largest = largestOf(tensor, 0, count);
      tensorScale = largest > 0 ? largest / (kLargestE2M1 * kLargestE4M3) : 1;
    }
    return MC_OK;
  }

  /// Whether each block of neighbours has a scale.
  bool isOfBlocks() const { return source.block && !source.isTensorScale; }

  bool isOfSixBits() const { return weight.type == MC_F6E2M3FNX32; }

  /// That a row of a part becomes; of scales whole words, of six bits the room.
  int64_t numbersOfRow(const Cut &cut) const {
    return source.isChannelScale || source.isTensorScale ? 1
           : source.isBlockScale ? ceilDiv(cut.columns / format.block, 4) * 4
           : isOfSixBits()       ? ceilDiv(cut.columns, 256) * 256
                                 : cut.columns;
  }

  /// Scales of a row and of a group of rows.
  int64_t perRow() const { return weight.shape[1] * numbersOf(weight.type); }
  int64_t perGroup() const { return perRow() * weight.shape[2]; }

  void appendBlocks(const mc_tensor &tensor, const Cut &cut, int64_t row,
                    const mc_tensor &stored) {
    const int64_t begin =
        (cut.firstRow + row) * widthOf(tensor) + cut.firstColumn;
    for (int64_t first = 0; first < cut.columns; first += format.block) {
      const float scale =
          stored.data ? elementOf(stored, (begin + first) / format.block)
                      : format.scaleOf(tensor, begin + first, tensorScale);
      if (source.isBlockScale) {
        putScale(first / format.block, scale);
        continue;
      }
      // A block whose scale rounds to zero is zero.
      const float divisor = stored.data ? 1 : scale * tensorScale;
      for (int64_t i = first; i < first + format.block; ++i) {
        put(divisor == 0 ? 0 : elementOf(tensor, begin + i) / divisor);
      }
    }
    done += numbersOfRow(cut) - (source.isBlockScale ? 0 : cut.columns);
  }

  /// Where the shape of the buffer, [groups, words, rows of a group], says.
  void putScale(int64_t block, float scale) {
    const int64_t words = weight.shape[1], rows = weight.shape[2];
    const int64_t perWord = numbersOf(weight.type);
    const int64_t row = rowOfScales(done / perRow());
    const int64_t word = row / rows * words + block / perWord;
    const int64_t at = word * rows * perWord + placeOf(row % rows, perWord);
    out[at + block % perWord] =
        char(format.scale == MC_F8E4M3FN ? toE4M3(scale) : toE8M0(scale));
  }

  /// Where the scales of a row lie: some begin a group of their own.
  int64_t rowOfScales(int64_t row) const {
    const int64_t rows = weight.shape[2];
    return source.apart && row >= source.apart
               ? row - source.apart + ceilDiv(source.apart, rows) * rows
               : row;
  }
  /// Behind so many numbers of whole rows.
  int64_t endOf(int64_t count) const {
    return source.isBlockScale && !source.group && count
               ? (rowOfScales(count / perRow() - 1) + 1) * perRow()
               : count;
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
        isScaled ? rowScaleOf(tensor, begin, width, cut.firstRow + row, stored)
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

  /// The next element.
  void put(float value) {
    const int bytes = elementBytes(weight.type);
    uint32_t word;
    value = source.isDoubled ? 2 * value : value;
    if (isOfSixBits()) {
      return SixBitRows{out, weight.shape[1]}.put(done++, toE2M3(value));
    }
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

  const mc_binding &weight;
  const WeightSource &source;
  BlockFormat format; // where blocks have scales
  int rank;
  mc_read read;
  void *context;
  char *out;
  float tensorScale = 1; // of the tensor that is read
  int64_t done = 0;      // numbers
};

} // namespace modelc_host

#endif // MODELC_HOST_PREPARATION_H
