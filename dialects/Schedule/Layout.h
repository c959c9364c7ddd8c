#ifndef MODELC_DIALECTS_SCHEDULE_LAYOUT_H
#define MODELC_DIALECTS_SCHEDULE_LAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
#include <string>

namespace modelc {

/// Where the elements of a tile live: a linear map over the bits of its inputs.
///
/// Every input dimension (register, lane, wave | row, column) has a number of
/// bits; each bit has an image, one coordinate per output dimension. The value
/// of the map is the xor of the images of the bits that are set. A register
/// tile maps (register, lane, wave) to (row, column); a shared tile maps
/// (row, column) to the byte it lies at, so that a swizzle is just a layout. A
/// bit whose image is zero replicates: lanes or waves that hold the same
/// element. Sizes are powers of two; what is not belongs to the offsets of the
/// memory ops.
///
/// Example, a 16x32 operand whose lane l holds row l % 16 and the 8 columns
/// from 8 * (l / 16):
///   register = [0:1, 0:2, 0:4]
///   lane     = [1:0, 2:0, 4:0, 8:0, 0:8, 0:16]
class Layout {
public:
  /// The image of one input bit: a coordinate for each output dimension.
  using Image = llvm::SmallVector<int32_t, 2>;

  struct Input {
    std::string name;
    llvm::SmallVector<Image, 8> bits;
    int32_t size() const { return 1 << bits.size(); }
    bool operator==(const Input &) const = default;
  };
  struct Output {
    std::string name;
    /// Number of values, a power of two.
    int32_t size;
    bool operator==(const Output &) const = default;
  };

  Layout() = default;
  Layout(llvm::ArrayRef<Input> inputs, llvm::ArrayRef<Output> outputs)
      : ins(inputs.begin(), inputs.end()),
        outs(outputs.begin(), outputs.end()) {}

  llvm::ArrayRef<Input> inputs() const { return ins; }
  llvm::ArrayRef<Output> outputs() const { return outs; }
  bool operator==(const Layout &) const = default;

  /// The input dimension of this name; an empty one where there is none.
  const Input &input(llvm::StringRef name) const;
  /// Index of the output dimension of this name; asserts that it exists.
  unsigned outputIndex(llvm::StringRef name) const;
  /// Size of an input dimension, 1 where it is absent.
  int32_t inputSize(llvm::StringRef name) const { return input(name).size(); }
  int32_t outputSize(llvm::StringRef name) const {
    return outs[outputIndex(name)].size;
  }

  /// Coordinates at the given values of the inputs, in the order of inputs().
  Image apply(llvm::ArrayRef<int32_t> values) const;

  /// Rank over GF(2) of the map from all input bits to all output bits.
  unsigned rank() const;
  /// Every element lives somewhere.
  bool isSurjective() const;
  /// No element lives twice.
  bool isInjective() const;
  bool isBijective() const { return isSurjective() && isInjective(); }

  /// The map that undoes this one: outputs become inputs. Replicated bits take
  /// the value 0. None when some element lives nowhere.
  std::optional<Layout> inverse() const;

  /// First this map, then `next`; the outputs of this are the inputs of `next`
  /// by name. Asserts equal names and sizes that fit.
  Layout then(const Layout &next) const;

  /// Both maps side by side: the bits of `other` follow those of this in every
  /// input of equal name, and its images are scaled to lie behind this map's
  /// outputs (a tile of tiles; `other` walks whole copies of this).
  Layout product(const Layout &other) const;

  /// The layout of a tile whose output dimension `name` was reduced to size 1:
  /// images along it become zero and register bits left without an image go.
  Layout reduced(llvm::StringRef name) const;

  /// Output dimensions exchanged and renamed: the layout of the transpose.
  Layout transposed() const;

  /// Contiguous elements along output dimension `name` that lie in consecutive
  /// registers (a power of two), at most `limit`.
  int32_t contiguous(llvm::StringRef name, int32_t limit) const;

  /// Whether the first lanes, a power of two, own as many neighbours along
  /// output dimension `name`.
  bool lanesOwnNeighbours(llvm::StringRef name, int64_t lanes) const;

  void print(llvm::raw_ostream &os) const;

private:
  llvm::SmallVector<Input, 3> ins;
  llvm::SmallVector<Output, 2> outs;
};

/// How many times slower than conflict-free a shared-memory access is: the
/// largest number of distinct words that one phase asks of one bank.
///
/// `lanesToByte` maps lane to byte address, `phase` maps lane to the number of
/// the phase that serves it. Linear algebra on the kernel of `phase`: degree =
/// 2^(rank of word addresses - rank of their bank bits).
unsigned bankConflictDegree(const Layout &lanesToByte, const Layout &phase,
                            unsigned banks, unsigned bankBytes);

/// The byte addresses that lanes of one phase differ by, as a basis over GF(2).
llvm::SmallVector<uint64_t> servedTogether(const Layout &lanesToByte,
                                           const Layout &phase);

/// The same degree from what `servedTogether` answers.
unsigned bankConflictDegree(llvm::ArrayRef<uint64_t> bytes, unsigned banks,
                            unsigned bankBytes);

} // namespace modelc

#endif // MODELC_DIALECTS_SCHEDULE_LAYOUT_H
