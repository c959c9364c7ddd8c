//===- source.h - The text that says what a weight holds ------------------===//
#ifndef MODELC_HOST_SOURCE_H
#define MODELC_HOST_SOURCE_H

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace modelc_host {

/// The name that a text between quotes means: two backslashes are one,
/// and one with two hexadecimal digits is the byte that they say.
inline std::string unescaped(const std::string &text) {
  std::string name;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool isByte = text[i] == '\\' && text.compare(i + 1, 1, "\\") != 0;
    i += text[i] == '\\';
    name += isByte ? static_cast<char>(
                         std::strtol(text.substr(i++, 2).c_str(), nullptr, 16))
                   : text[i];
  }
  return name;
}

/// One tensor of the checkpoint, and the part of it that a rank has.
struct SourcePart {
  std::string name;
  int dim = 0;
  int64_t parts = 1, copies = 1;
  int64_t padding = 0; // rows of zeros behind the tensor's
  bool isFirstRankOnly = false;
  bool isOfOne = false; // expert: the tensors of others have other names
};

/// A `source`, read.
struct WeightSource {
  std::vector<SourcePart> parts;
  bool isChannelScale = false, isBlockScale = false, isTensorScale = false;
  bool isLargest = false;
  int64_t block = 0; // neighbours of a row that share a scale; 0: none
  std::string numbers, scaled; // the types of numbers and scales of blocks
  bool isDoubled = false, hasDefault = false;
  float absent = 0;
  int64_t group = 0; // rows and columns that share a scale in f32; 0: none
  int64_t apart = 0; // the row whose scales begin a group; 0: none
  /// The byte where the word of row 2^i lies; empty: in the order of rows.
  std::vector<int64_t> packed;
  int64_t experts = 0; // of this rank, in the first dimension; 0: it is none's
  bool isTransposed = false, isInterleaved = false, isInHalves = false;
  /// What ends the names of tensors of numbers, scales and second scales in
  /// place of ".weight"; empty: they are named after the parts.
  std::string numbersEnd, scalesEnd, secondEnd;
  bool isDivisor = false;     // the second scale
  bool isInverse = false;     // one over what the checkpoint has
  bool isDequantised = false; // what the checkpoint has in few bits

  /// The names are those of a layer, and of an expert where there are some.
  WeightSource(const std::string &text, int64_t layer, int64_t expert = 0) {
    const size_t end = readParts(text, layer, expert);
    std::istringstream words(text.substr(std::min(end, text.size())));
    for (std::string word; words >> word;) {
      isChannelScale |= word == "channel_scale";
      isBlockScale |= word == "block_scale";
      isTensorScale |= word == "tensor_scale";
      isLargest |= word == "largest";
      isDoubled |= word == "doubled";
      isInverse |= word == "inverse";
      isTransposed |= word == "transposed";
      isInterleaved |= word == "interleaved";
      isInHalves |= word == "halves";
      if (word == "dequantised") {
        isDequantised = true;
        words >> word; // the types, which tensors have here
      }
      if (word == "experts") {
        words >> experts;
      }
      if (word == "held") {
        words >> numbersEnd;
      }
      if (word == "by") {
        words >> scalesEnd;
      }
      if (word == "and" || word == "over") {
        isDivisor = word == "over";
        words >> secondEnd;
      }
      if (word == "default") {
        hasDefault = true;
        words >> absent;
      }
      if (word == "blocks") {
        words >> block >> word >> numbers;
      }
      if (word == "scaled") {
        words >> scaled;
      }
      if (word == "grouped") {
        words >> group;
      }
      if (word == "apart") {
        words >> apart;
      }
      if (word == "packed") {
        for (int64_t byte; words >> byte;) {
          packed.push_back(byte);
        }
      }
    }
    for (SourcePart &part : parts) {
      part.dim -= experts && part.parts > 1 ? 1 : 0; // of one expert
    }
  }

  /// Whether tensors are other than a weight is made of them.
  bool isViewed() const { return experts || !numbersEnd.empty(); }

  /// The name in the checkpoint of numbers (`what` is empty) or scales of a
  /// part; empty: it has none.
  std::string heldName(const std::string &part, const std::string &what) const {
    if (numbersEnd.empty()) {
      return part + what;
    }
    const std::string usual = ".weight";
    const bool isUsual =
        part.size() > usual.size() &&
        part.compare(part.size() - usual.size(), usual.size(), usual) == 0;
    const std::string stem =
        part.substr(0, part.size() - (isUsual ? usual.size() : 0));
    const std::string &end = what.empty()         ? numbersEnd
                             : what == "_scale_2" ? secondEnd
                                                  : scalesEnd;
    return end.empty() ? end : stem + end;
  }

  /// Whether the text says something that can be.
  bool isPossible() const {
    constexpr int64_t kMost = int64_t(1) << 30;
    bool isPossible = !parts.empty() && packed.size() <= 16;
    for (const int64_t number : {block, group, apart, experts}) {
      isPossible &= number >= 0 && number <= kMost;
    }
    for (const int64_t byte : packed) {
      isPossible &= byte >= 0 && byte <= kMost;
    }
    for (const SourcePart &part : parts) {
      isPossible &= (part.dim == 0 || part.dim == 1) && part.parts >= 1 &&
                    part.copies >= 1 && part.padding >= 0 &&
                    part.padding <= kMost &&
                    !(part.padding && (block || group));
    }
    // Scales of blocks lie in words, of which nothing else has the order.
    const bool isInWords = isBlockScale && !group;
    const bool isOther = isChannelScale || isTensorScale || isLargest;
    return isPossible && (!isInWords || (block && !isOther && !hasDefault));
  }

private:
  /// Puts a number where a name has such a hole; whether it has one.
  static bool fill(std::string &name, const std::string &hole, int64_t number) {
    bool isFound = false;
    for (size_t at; (at = name.find(hole)) != name.npos; isFound = true) {
      name.replace(at, hole.size(), std::to_string(number));
    }
    return isFound;
  }

  /// Up to behind the closing bracket.
  size_t readParts(const std::string &text, int64_t layer, int64_t expert) {
    size_t at = 1;
    while (at < text.size() && text[at - 1] != ']') {
      const size_t open = text.find('"', at);
      const size_t close =
          open == std::string::npos ? open : text.find('"', open + 1);
      const size_t end =
          close == std::string::npos ? close : text.find_first_of(",]", close);
      if (end == std::string::npos) {
        break;
      }
      SourcePart part;
      part.name = unescaped(text.substr(open + 1, close - open - 1));
      fill(part.name, "{layer}", layer);
      part.isOfOne = fill(part.name, "{expert}", expert);
      std::istringstream words(text.substr(close + 1, end - close - 1));
      for (std::string word, of; words >> word;) {
        if (word == "split") {
          words >> part.dim >> of >> part.parts;
        } else if (word == "padded") {
          words >> part.padding;
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

} // namespace modelc_host

#endif // MODELC_HOST_SOURCE_H
