//===- BlockScales.h - Numbers of few bits with a scale for each block ----===//
//
// Microscaling formats (OCP MX, NVFP4): a number is that of its few bits times
// the scale of its block, neighbours along K. Numbers lie packed, scales in
// words of four neighbouring blocks. A buffer of scales holds rows in groups of
// kScaleRows; of a group all rows of the first word, then of the next, so that
// the scales that a tile reads lie side by side. Inside of a group words lie in
// the order of rows, or in that in which copies to tensor memory read them.
//
// Scales in f32, one for each kGroup numbers (fp8_block, the checkpoints of
// DeepSeek), no matrix unit knows: a kernel multiplies what they scale by
// itself. A word is one scale. Of a weight, kGroup rows share them too, and
// they lie as in the checkpoint, a row for each block of rows.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_ROWS_BLOCKSCALES_H
#define LIB_KERNELS_ROWS_BLOCKSCALES_H

#include "dialects/Model/Model.h"
#include "lib/Hardware/Hardware.h"
#include "lib/Kernels/Fields.h"
#include "lib/Kernels/KernelBuilder.h"

namespace modelc::kernels {

/// Rows whose words lie side by side; tiles begin and end inside of a group.
inline constexpr int64_t kScaleRows = 256;

/// Numbers along K, and rows of a weight, that share a scale in f32.
inline constexpr int64_t kGroup = model::kScaledGroup;

struct BlockScales {
  mlir::Type type;   ///< of one scale; null: none
  int64_t block = 0; ///< numbers that share one
  /// Where the word of row 2^i lies; empty: in the order of rows.
  std::vector<int64_t> order = {};

  explicit operator bool() const { return static_cast<bool>(type); }
  /// Whether kernels multiply by them, as no matrix unit does.
  bool isByKernel() const { return type && type.isF32(); }
  int64_t scalesPerWord() const {
    return isByKernel() ? 1 : schedule::kScalesPerWord;
  }
  /// Numbers along K that a word of scales covers.
  int64_t wordNumbers() const { return block * scalesPerWord(); }
  int64_t words(int64_t inputs) const {
    return llvm::divideCeil(inputs, wordNumbers());
  }
  mlir::Type wordType() const;
  /// Where in its group the word of a row lies.
  Scalar placeOf(Scalar row) const;
  /// That as bytes of the rows that are copied together; null: in their order.
  schedule::LayoutAttr packing() const;
};

template <>
inline constexpr auto kFields<BlockScales> =
    fieldsOf<BlockScales>(Field{"type", &BlockScales::type},
                          Field{"block", &BlockScales::block},
                          Field{"order", &BlockScales::order});

/// The scales that numbers of a type have: four and six bits as OCP's MXFP4 and
/// MXFP6; four bits with scales of E4M3 as NVFP4, for each block of 16; eight
/// bits with scales of E8M0 as MXFP8, or of f32 for each kGroup. As the matrix
/// unit of the target reads them, if there is one.
BlockScales blockScalesOf(mlir::Type number, mlir::Type scale = {},
                          const Target *target = nullptr);

/// The bits of a word of E8M0 scales that are one.
inline constexpr int64_t kScalesOfOne = 0x7F7F7F7F;

/// What a buffer holds of a type: numbers of four bits in pairs, of six in
/// blocks.
mlir::Type packedType(mlir::Type number);

/// Groups of rows, words along K, rows of a group. Rows of the run: kDynamic.
llvm::SmallVector<int64_t> scaleShape(const BlockScales &scales, int64_t rows,
                                      int64_t inputs);

/// Blocks of rows of a weight, blocks along K: scales that kernels multiply by.
llvm::SmallVector<int64_t> weightScaleShape(const BlockScales &scales,
                                            int64_t rows, int64_t inputs);

/// The scales from that row and word on: rows of the tile are words, columns
/// rows of the operand. The rows that are copied together begin there.
Place scalesAt(mlir::Value buffer, Scalar row, Scalar word);
/// The scales of one row, words from that one on.
Place scalesOfRow(mlir::Value buffer, const BlockScales &scales, Scalar row,
                  Scalar word);

} // namespace modelc::kernels

#endif // LIB_KERNELS_ROWS_BLOCKSCALES_H
