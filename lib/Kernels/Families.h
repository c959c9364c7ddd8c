//===- Families.h - The kernel families, their shapes and their tiles -----===//
//
// A *shape* says what a kernel computes and is fixed by the model. A *tile*
// says how it is cut over workgroups and waves; Tiling chooses it. A family
// turns both into one kernel in the plain form. Element types of activations,
// weights and caches are builtin types of MLIR; all sums are in f32.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_FAMILIES_H
#define LIB_KERNELS_FAMILIES_H

#include "lib/Kernels/Rows/BlockScales.h"

namespace modelc::kernels {

/// How a kernel is called: its symbol, the stable name of the op it serves, and
/// why it is scheduled so.
struct Label {
  std::string symbol, op, note;
};

/// The sizes of the run that a kernel serves, both ends included.
struct Range {
  int64_t minimum = 1, maximum = 1;
  bool operator==(const Range &) const = default;
};

template <>
inline constexpr auto kFields<Range> = fieldsOf<Range>(
    Field{"min", &Range::minimum}, Field{"max", &Range::maximum});

template <>
inline constexpr std::array<llvm::StringLiteral, 3> kWords<Gating> = {
    "silu", "gelu_tanh", "clamped_silu"};

/// Rows, or a gate times up of them, in few bits.
struct QuantiseShape {
  int64_t columns = 0;
  mlir::Type element = {};
  mlir::Type result = {};
  bool isSwiglu = false;       ///< of a gate times up instead of x
  BlockScales scales = {};     ///< of blocks of the result; none: of rows
  bool isTensorScaled = false; ///< those over one f32 scale of all
  bool knowsScales = false;    ///< of rows: they are read, not made
  Gating gating = Gating::Silu;
};

template <>
inline constexpr auto kFields<QuantiseShape> = fieldsOf<QuantiseShape>(
    Field{"columns", &QuantiseShape::columns},
    Field{"element", &QuantiseShape::element},
    Field{"result", &QuantiseShape::result},
    Field{"swiglu", &QuantiseShape::isSwiglu},
    Field{"scales", &QuantiseShape::scales},
    Field{"tensor_scaled", &QuantiseShape::isTensorScaled},
    Field{"known_scales", &QuantiseShape::knowsScales},
    Field{"gating", &QuantiseShape::gating});

//===----------------------------------------------------------------------===//
// Kernels that own whole rows
//===----------------------------------------------------------------------===//

/// Rows of one workgroup and the columns it walks at a time.
struct RowTile {
  int64_t rows = 1, columns = 0;
  int64_t waves = 4;
  int64_t peers = 8; ///< devices whose parts are held at once, at most
};

template <>
inline constexpr auto kFields<RowTile> = fieldsOf<RowTile>(
    Field{"rows", &RowTile::rows}, Field{"n", &RowTile::columns},
    Field{"waves", &RowTile::waves}, Field{"peers", &RowTile::peers});

/// In one step all send all to all; in two, slices, then sums of slices.
enum class Exchange { Reduce, ReduceInTwo, Gather };
template <>
inline constexpr std::array<llvm::StringLiteral, 3> kWords<Exchange> = {
    "reduce", "reduce_in_two", "gather"};

struct ExchangeShape {
  Exchange kind = Exchange::Reduce;
  int64_t columns = 0; ///< of one device
  int64_t ranks = 1;   ///< 1: nothing is exchanged
  mlir::Type element = {};
  int64_t stagingRows = 0; ///< capacity of the staging buffer
};

template <>
inline constexpr auto kFields<ExchangeShape> =
    fieldsOf<ExchangeShape>(Field{"kind", &ExchangeShape::kind},
                            Field{"columns", &ExchangeShape::columns},
                            Field{"ranks", &ExchangeShape::ranks},
                            Field{"element", &ExchangeShape::element},
                            Field{"staging", &ExchangeShape::stagingRows});

struct NormShape {
  int64_t columns = 0;
  int64_t heads = 1;  ///< of a row, each of `columns`, normed by itself
  int64_t normed = 0; ///< the first of them, others are handed on; 0: all
  mlir::Type element = {};
  mlir::Type weightType = {}; ///< null: no weights
  bool isOnePlus = false;     ///< weights are 1 more
  mlir::Type result = {};     ///< 8 or 4 bits: quantised
  bool hasResidual = false, hasSum = false;
  double epsilon = 0;
  BlockScales scales = {};     ///< of blocks of the result; none: of rows
  bool isTensorScaled = false; ///< those over one f32 scale of all
  /// x is the part of one device: what is normed is the sum of all.
  ExchangeShape exchange = {};
  bool isExchanged() const { return exchange.ranks > 1; }
  int64_t normedColumns() const { return normed ? normed : columns; }
};

template <>
inline constexpr auto kFields<NormShape> = fieldsOf<NormShape>(
    Field{"columns", &NormShape::columns}, Field{"heads", &NormShape::heads},
    Field{"first", &NormShape::normed}, Field{"element", &NormShape::element},
    Field{"weight", &NormShape::weightType},
    Field{"one_plus", &NormShape::isOnePlus},
    Field{"result", &NormShape::result},
    Field{"residual", &NormShape::hasResidual},
    Field{"sum", &NormShape::hasSum}, Field{"epsilon", &NormShape::epsilon},
    Field{"scales", &NormShape::scales},
    Field{"tensor_scaled", &NormShape::isTensorScaled},
    Field{"exchange", &NormShape::exchange});

/// Arguments: x, [weight], [residual], [tensor_scale], [where devices meet, as
/// of buildExchange, of whole rows], out, [scale], [sum], [rank], m. A result
/// with scales of blocks has those. Where rows have heads, x and out are [m,
/// heads, columns], and there is no more than these and weights.
schedule::KernelOp buildNorm(mlir::OpBuilder &builder, const Label &label,
                             const NormShape &shape, const RowTile &tile,
                             Range rows);
schedule::KernelOp buildNormBlocks(mlir::OpBuilder &builder, const Label &label,
                                   const NormShape &shape, const RowTile &tile,
                                   Range rows);

/// Arguments: x (or gate, up), [tensor_scale], out, scale, m. A result of four
/// bits has scales of blocks.
schedule::KernelOp buildQuantise(mlir::OpBuilder &builder, const Label &label,
                                 const QuantiseShape &shape,
                                 const RowTile &tile, Range rows);
schedule::KernelOp buildQuantiseBlocks(mlir::OpBuilder &builder,
                                       const Label &label,
                                       const QuantiseShape &shape,
                                       const RowTile &tile, Range rows);

enum class Elementwise { Add, Swiglu, Zeros, Narrow, Gate, Copy };
template <>
inline constexpr std::array<llvm::StringLiteral, 6> kWords<Elementwise> = {
    "add", "swiglu", "zeros", "narrow", "gate", "copy"};

struct ElementwiseShape {
  Elementwise kind = Elementwise::Add;
  int64_t columns = 0;
  mlir::Type element = {};
  mlir::Type result = {};       ///< of narrow: over a scale, saturated
  Gating gating = Gating::Silu; ///< of swiglu
  mlir::Type gate = {};         ///< of gate: what is put through a sigmoid
  bool isGateOfRow = false;     ///< one of all columns, else one of each
  /// Of copy: columns of out, and which of them is the first of x.
  int64_t allColumns = 0, first = 0;
};

template <>
inline constexpr auto kFields<ElementwiseShape> = fieldsOf<ElementwiseShape>(
    Field{"kind", &ElementwiseShape::kind},
    Field{"columns", &ElementwiseShape::columns},
    Field{"element", &ElementwiseShape::element},
    Field{"result", &ElementwiseShape::result},
    Field{"gating", &ElementwiseShape::gating},
    Field{"gate", &ElementwiseShape::gate},
    Field{"gate_of_row", &ElementwiseShape::isGateOfRow},
    Field{"all_columns", &ElementwiseShape::allColumns},
    Field{"first", &ElementwiseShape::first});

/// Arguments: a, b, out, m; of swiglu: gate, up, out, m; of narrow: x,
/// scale[1], out, m; of zeros: out, m; of gate: x, gate of [m, columns] or [m],
/// out, m; of copy: x, out, m.
schedule::KernelOp buildElementwise(mlir::OpBuilder &builder,
                                    const Label &label,
                                    const ElementwiseShape &shape,
                                    const RowTile &tile, Range rows);

struct GatherShape {
  int64_t columns = 0;
  int64_t tableRows = 0; ///< 0: a size of the run
  mlir::Type element = {};
  /// The row of the last token of each sequence, instead of rows by number.
  bool isLast = false;
  double times = 1; ///< what rows are multiplied by
};

template <>
inline constexpr auto kFields<GatherShape> =
    fieldsOf<GatherShape>(Field{"columns", &GatherShape::columns},
                          Field{"table", &GatherShape::tableRows},
                          Field{"element", &GatherShape::element},
                          Field{"last", &GatherShape::isLast},
                          Field{"times", &GatherShape::times});

/// Arguments: ids (or starts), table, out, m. `m` counts rows of out.
schedule::KernelOp buildGather(mlir::OpBuilder &builder, const Label &label,
                               const GatherShape &shape, const RowTile &tile,
                               Range rows);

//===----------------------------------------------------------------------===//
// Exchange between devices
//===----------------------------------------------------------------------===//

/// All devices store to all, raise flags, wait, and (reduce) add. Arguments: x,
/// staging[2, ranks, rows, columns] and flags[tiles, ranks] of every device,
/// epochs[tiles], out, rank, m; in two steps: x, staging[2, ranks, rows,
/// columns / ranks], sums[2, rows, columns], flags and ready[tiles, ranks] of
/// every device, epochs[tiles], out, rank, m. There columns are a multiple of
/// those of a tile, and these of the ranks.
schedule::KernelOp buildExchange(mlir::OpBuilder &builder, const Label &label,
                                 const ExchangeShape &shape,
                                 const RowTile &tile, Range rows);

} // namespace modelc::kernels

#endif // LIB_KERNELS_FAMILIES_H
