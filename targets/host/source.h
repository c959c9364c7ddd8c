//===- source.h - The text that says what a weight holds ------------------===//
#ifndef MODELC_HOST_SOURCE_H
#define MODELC_HOST_SOURCE_H

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

  WeightSource(const std::string &text, int64_t layer) {
    const size_t end = readParts(text, layer);
    std::istringstream words(text.substr(end));
    for (std::string word; words >> word;) {
      isChannelScale |= word == "channel_scale";
      isBlockScale |= word == "block_scale";
      isTensorScale |= word == "tensor_scale";
      isLargest |= word == "largest";
      isDoubled |= word == "doubled";
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
  }

  /// Whether the text says something that can be.
  bool isPossible() const {
    constexpr int64_t kMost = int64_t(1) << 30;
    bool isPossible = !parts.empty() && packed.size() <= 16;
    for (const int64_t number : {block, group, apart}) {
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
  /// Up to behind the closing bracket.
  size_t readParts(const std::string &text, int64_t layer) {
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
      for (size_t hole; (hole = part.name.find("{layer}")) != part.name.npos;) {
        part.name.replace(hole, 7, std::to_string(layer));
      }
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
