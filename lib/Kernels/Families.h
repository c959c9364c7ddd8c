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

/// The tiles that an extent is cut into, of a linear or a head: powers of two
/// that sum up to it, largest first.
llvm::SmallVector<int64_t, 4> partsOf(int64_t extent);

//===----------------------------------------------------------------------===//
// Linear: d[m, n] = epilogue(a[m, k] * w[n, k]^T)
//===----------------------------------------------------------------------===//

struct LinearShape {
  int64_t columns = 0;      ///< of d; with swiglu w has twice as many rows
  int64_t inputs = 0;       ///< k
  mlir::Type element = {};  ///< of a
  mlir::Type weight = {};   ///< of w; null: as of a
  mlir::Type result = {};   ///< of d
  mlir::Type biasType = {}; ///< null: no bias
  /// f32 scale of each row of a, and of each row of w where blocks of w have
  /// none.
  bool isScaled = false;
  /// Of w along k, and of a where its rows have none.
  BlockScales blockScales = {};
  /// Beside scales of blocks an f32 scale of all of a, and of each row of w.
  bool isTensorScaled = false;
  bool hasResidual = false;
  bool isSwiglu = false;
  /// How d is quantised next, in blocks: by the kernel that adds parts of sums,
  /// which then leaves no d, else by a kernel of its own.
  std::optional<QuantiseShape> quantise = {};
  /// Rows of w; with swiglu those of gate lie above those of up.
  int64_t weightRows() const { return isSwiglu ? 2 * columns : columns; }
  /// Rows of its scales of blocks up to those of up, which begin a group.
  int64_t scaleRowsOfGate() const { return llvm::alignTo(columns, kScaleRows); }
  int64_t scaleRows() const {
    return isSwiglu ? 2 * scaleRowsOfGate() : columns;
  }
  mlir::Type weightElement() const { return weight ? weight : element; }
  bool scalesWeightRows() const { return isScaled && !blockScales; }
  bool scalesInputBlocks() const { return blockScales && !isScaled; }
};

template <>
inline constexpr auto kFields<LinearShape> =
    fieldsOf<LinearShape>(Field{"columns", &LinearShape::columns},
                          Field{"inputs", &LinearShape::inputs},
                          Field{"element", &LinearShape::element},
                          Field{"weight", &LinearShape::weight},
                          Field{"result", &LinearShape::result},
                          Field{"bias", &LinearShape::biasType},
                          Field{"scaled", &LinearShape::isScaled},
                          Field{"scales", &LinearShape::blockScales},
                          Field{"tensor_scaled", &LinearShape::isTensorScaled},
                          Field{"residual", &LinearShape::hasResidual},
                          Field{"swiglu", &LinearShape::isSwiglu},
                          Field{"quantise", &LinearShape::quantise});

struct LinearTile {
  int64_t m = 0, n = 0, k = 0; ///< of d, and of the step along the sum
  int64_t waves = 4;
  int64_t splits = 1; ///< parts of the sum, by different workgroups
  /// Steps of a part of `inputs`; the last one may have fewer.
  int64_t stepsOfPart(int64_t inputs) const {
    return llvm::divideCeil(llvm::divideCeil(inputs, k), splits);
  }
  /// Of `inputs`, those that the parts before the last one leave to it; none or
  /// less where it has no step: 9 steps in 6 parts are two each of 5.
  int64_t inputsOfLastPart(int64_t inputs) const {
    return inputs - (splits - 1) * stepsOfPart(inputs) * k;
  }
  bool isSwapped = false; ///< the weight is the first operand of products
  /// Equal pieces of m and n, each with a product of its own.
  int64_t piecesM = 1, piecesN = 1;
  /// Of waves, where there are several pieces: two take turns at the matrix
  /// unit; the waves of one read for the next product while one runs.
  int64_t groups = 2;
  bool hasPieces() const { return piecesM * piecesN > 1; }
  /// Rows or columns that are no power of two are those of one instruction.
  bool isOneProduct = false;
  /// Rows and columns of the products, one for each pair of them: the pieces,
  /// or else the powers of two that add up to m and n, largest first; columns
  /// of as many products as the kernel has scales of the weight.
  llvm::SmallVector<int64_t, 4> rowParts() const { return parts(m, piecesM); }
  llvm::SmallVector<int64_t, 4> columnParts(const LinearShape &shape) const {
    bool isScaled = shape.blockScales.isByKernel() && n > kGroup;
    return parts(n, isScaled ? n / kGroup : piecesN);
  }
  bool isPowerOfTwo() const {
    return llvm::isPowerOf2_64(m) && llvm::isPowerOf2_64(n);
  }
  /// Copies and products have waves of their own, where the target can.
  bool hasRoles = false;
  /// That multiply together: neighbours along m or, swapped, n.
  int64_t cluster = 1;
  bool isTogetherAlongN() const { return isSwapped && cluster > 1; }
  /// Neighbours along m, each of which loads a part of the weight for all.
  int64_t sharers = 1;
  /// A grid has whole groups of neighbours.
  int64_t rowsOfNeighbours() const {
    return isTogetherAlongN() ? m : m * cluster * sharers;
  }
  int64_t columnsOfNeighbours() const {
    return isTogetherAlongN() ? n * cluster : n;
  }
  /// Trips ahead that lanes load the weight into registers; 0: it is copied.
  int64_t weightsAhead = 0;
  /// Of the ring of operands, at most; 0: as the pipeline chooses.
  int64_t slots = 0;
  /// Rows of tiles gone down together, whatever their chiplet; 0: as is best.
  int64_t groupRows = 0;
  /// That a unit runs at once, at most; 0: as many as there is room for.
  int64_t workgroupsOfUnit = 0;
  int64_t turns = 1;        ///< groups of waves take tiles in: some store then
  int64_t resultPiece = 0;  ///< of a wave, through shared memory; 0: none
  bool copiesFirst = false; ///< by lanes, not between parts of a product
  /// Stored columns of the weight, asked for while earlier kernels still run.
  int64_t early = 0;
  /// Of the kernel that adds the parts: rows and columns of d.
  int64_t reduceM = 1, reduceN = 1024, reduceWaves = 4;

  bool operator==(const LinearTile &) const = default;

private:
  llvm::SmallVector<int64_t, 4> parts(int64_t size, int64_t pieces) const;
};

template <>
inline constexpr auto kFields<LinearTile> = fieldsOf<LinearTile>(
    Field{"m", &LinearTile::m}, Field{"n", &LinearTile::n},
    Field{"k", &LinearTile::k}, Field{"waves", &LinearTile::waves},
    Field{"splits", &LinearTile::splits},
    Field{"swapped", &LinearTile::isSwapped},
    Field{"pieces_m", &LinearTile::piecesM},
    Field{"pieces_n", &LinearTile::piecesN},
    Field{"groups", &LinearTile::groups},
    Field{"one_product", &LinearTile::isOneProduct},
    Field{"roles", &LinearTile::hasRoles},
    Field{"cluster", &LinearTile::cluster},
    Field{"sharers", &LinearTile::sharers},
    Field{"weights_ahead", &LinearTile::weightsAhead},
    Field{"slots", &LinearTile::slots},
    Field{"group_rows", &LinearTile::groupRows},
    Field{"workgroups_of_unit", &LinearTile::workgroupsOfUnit},
    Field{"turns", &LinearTile::turns},
    Field{"result_piece", &LinearTile::resultPiece},
    Field{"copies_first", &LinearTile::copiesFirst},
    Field{"early", &LinearTile::early}, Field{"reduce_m", &LinearTile::reduceM},
    Field{"reduce_n", &LinearTile::reduceN},
    Field{"reduce_waves", &LinearTile::reduceWaves});

/// Arguments: a, w, [a_scales], [w_scales of blocks], [a_scale], [w_scale],
/// [a_tensor_scale, w_tensor_scale], [bias], [residual], d, m; with splits > 1:
/// a, w, [scales of blocks], partial[m, splits, weight rows] in f32, m. Numbers
/// of six bits are two arguments, of any kernel: see SixBits.h.
schedule::KernelOp buildLinear(mlir::OpBuilder &builder, const Label &label,
                               const LinearShape &shape, const LinearTile &tile,
                               Range rows);

/// Adds the parts and applies the epilogue. Arguments: partial, [a_scale],
/// [w_scale], [a_tensor_scale, w_tensor_scale], [bias], [residual], d, m; where
/// the result is quantised, in place of d: [tensor_scale], out, scale.
schedule::KernelOp buildLinearReduce(mlir::OpBuilder &builder,
                                     const Label &label,
                                     const LinearShape &shape,
                                     const LinearTile &tile, Range rows);

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
