//===- LinearFamily.h - Linear: d[m, n] = epilogue(a[m, k] * w[n, k]^T) ---===//
//
// Rows of a come from a domain. *Dense*: all meet the same w. *Grouped*: w is
// the matrices of experts, one below the other, and rows of a lie in tiles of
// one expert each, whose number `tile_experts` holds. A workgroup, whose rows
// lie in one such tile, reads the number once; rows of w, of its scales and
// biases begin there, and nothing else differs. Rows that fill up a tile are
// computed as others are, and nobody reads them.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_LINEAR_LINEARFAMILY_H
#define LIB_KERNELS_LINEAR_LINEARFAMILY_H

#include "lib/Kernels/Families.h"

namespace modelc::kernels {

/// The tiles that an extent is cut into, of a linear or a head: powers of two
/// that sum up to it, largest first.
llvm::SmallVector<int64_t, 4> partsOf(int64_t extent);

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
  bool isSwiglu = false; ///< a gate and up, which `gating` joins
  Gating gating = Gating::Silu;
  double alpha = 1, limit = 0; ///< as of Gate
  /// How d is quantised next, in blocks: by the kernel that adds parts of sums,
  /// which then leaves no d, else by a kernel of its own.
  std::optional<QuantiseShape> quantise = {};
  /// Whose matrices w holds, one below the other; 0: it is one matrix.
  int64_t experts = 0;
  /// Neighbouring rows of a that are one expert's, a tile of `tile_experts`.
  int64_t expertRows = 0;
  /// Of each token, among the experts: with how many rows it is in a.
  int64_t topK = 0;
  /// Rows of w, of one expert; with swiglu those of gate lie above those of up.
  int64_t weightRows() const { return isSwiglu ? 2 * columns : columns; }
  /// Rows of its scales of blocks up to those of up, which begin a group.
  int64_t scaleRowsOfGate() const { return llvm::alignTo(columns, kScaleRows); }
  int64_t scaleRows() const {
    return isSwiglu ? 2 * scaleRowsOfGate() : columns;
  }
  /// Of all experts.
  int64_t allWeightRows() const { return ofAll(weightRows()); }
  /// Each expert's rows of scales begin a group.
  int64_t scaleRowsOfExpert() const {
    return llvm::alignTo(scaleRows(), kScaleRows);
  }
  int64_t allScaleRows() const {
    return experts ? experts * scaleRowsOfExpert() : scaleRows();
  }
  mlir::Type weightElement() const { return weight ? weight : element; }
  bool scalesWeightRows() const { return isScaled && !blockScales; }
  bool scalesInputBlocks() const { return blockScales && !isScaled; }
  Gate gate() const { return {gating, alpha, limit}; }
  bool isOfExperts() const { return experts > 0; }
  /// Whether the epilogue reads what differs by expert.
  bool finishesByExpert() const {
    return isOfExperts() && (scalesWeightRows() || isTensorScaled || biasType);
  }
  /// How many experts `m` rows of a meet, an expression for the cost.
  std::string expertsHit() const;

private:
  int64_t ofAll(int64_t rows) const { return experts ? experts * rows : rows; }
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
                          Field{"gating", &LinearShape::gating},
                          Field{"alpha", &LinearShape::alpha},
                          Field{"limit", &LinearShape::limit},
                          Field{"quantise", &LinearShape::quantise},
                          Field{"experts", &LinearShape::experts},
                          Field{"expert_rows", &LinearShape::expertRows},
                          Field{"top_k", &LinearShape::topK});

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

/// Arguments: a, w, [a_scales], [w_scales of blocks], [tile_experts],
/// [a_scale], [w_scale], [a_tensor_scale, w_tensor_scale], [bias], [residual],
/// d, m; with splits > 1: a, w, [scales of blocks], [tile_experts], partial[m,
/// splits, weight rows] in f32, m. Numbers of six bits are two arguments, of
/// any kernel: see SixBits.h.
schedule::KernelOp buildLinear(mlir::OpBuilder &builder, const Label &label,
                               const LinearShape &shape, const LinearTile &tile,
                               Range rows);

/// Adds the parts and applies the epilogue. Arguments: partial, [tile_experts
/// where it reads what differs by expert], [a_scale], [w_scale],
/// [a_tensor_scale, w_tensor_scale], [bias], [residual], d, m; where the result
/// is quantised, in place of d: [tensor_scale], out, scale.
schedule::KernelOp buildLinearReduce(mlir::OpBuilder &builder,
                                     const Label &label,
                                     const LinearShape &shape,
                                     const LinearTile &tile, Range rows);

} // namespace modelc::kernels

#endif // LIB_KERNELS_LINEAR_LINEARFAMILY_H
