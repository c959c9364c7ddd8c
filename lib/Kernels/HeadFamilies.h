//===- HeadFamilies.h - Attention, and what fills its cache ---------------===//
//
// Shapes, tiles and families as in Families.h: of the queries, keys and values
// of heads.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_HEADFAMILIES_H
#define LIB_KERNELS_HEADFAMILIES_H

#include "lib/Kernels/Linear/LinearFamily.h"

namespace modelc::kernels {

/// Which columns of a head RoPE turns, and in which pairs.
struct Rotation {
  int64_t columns = 0; ///< turned ones, from `first` on; 0: all
  int64_t first = 0;
  bool isInterleaved = false; ///< pairs (2 i, 2 i + 1), else of both halves
};

template <>
inline constexpr auto kFields<Rotation> =
    fieldsOf<Rotation>(Field{"rotated", &Rotation::columns},
                       Field{"first", &Rotation::first},
                       Field{"interleaved", &Rotation::isInterleaved});

/// Heads of one device, and its cache: K is [rows, kvHeads, headDim], V [rows,
/// kvHeads, valueDim], row = page * pageSize + slot. Latent: values are the
/// first columns of the one key, and there is no V.
struct HeadShape {
  int64_t heads = 0, kvHeads = 0, pageSize = 0;
  int64_t headDim = 0;  ///< of queries and keys
  int64_t valueDim = 0; ///< of values and results
  int64_t window = 0;   ///< keys that a query sees, its own with them; 0: all
  int64_t chunk = 0;    ///< those of its own chunk of positions; 0: all
  /// Latent: of a head of q, the columns before those that meet a key's last
  /// ones; in their place others, in q_latent, meet its values. 0: not latent.
  int64_t keyDim = 0;
  double scale = 0;   ///< of scores; 0: 1 / sqrt(headDim)
  double softCap = 0; ///< a score x becomes softCap tanh(x / softCap); 0: not
  bool isTempered = false;      ///< queries are times temperature[position]
  mlir::Type sink = {};         ///< of one more score for each head; null: none
  Rotation rotation = {};       ///< of kernels that turn queries and keys
  mlir::Type element = {};      ///< of queries and results
  mlir::Type cacheElement = {}; ///< 8 bits: over a scale, saturated
  /// What products multiply if not numbers of `element`: queries and keys, and
  /// powers and values. Queries come over a scale then, saturated.
  mlir::Type queries = {}, powers = {};
  /// Of weights by which queries and keys are normed, each head by itself,
  /// before they are rotated; null: they are not.
  mlir::Type normWeight = {};
  double normEpsilon = 0;
  bool isNormOnePlus = false; ///< their weights are 1 more
  /// How the kernel that joins parts of keys quantises results: in blocks of
  /// whole words of scales of each head.
  std::optional<QuantiseShape> quantise = {};
  bool seesAllKeys() const { return window == 0 && chunk == 0; }
  mlir::Type queryElement() const { return queries ? queries : element; }
  mlir::Type powerElement() const { return powers ? powers : element; }
  /// Columns of a key and of a value that are not multiplied as they are.
  int64_t convertedColumns() const {
    return (cacheElement == queryElement() ? 0 : headDim) +
           (cacheElement == powerElement() ? 0 : valueDim);
  }
  int64_t group() const { return heads / kvHeads; }
  bool isLatent() const { return keyDim > 0; }
  /// The tiles that columns of a key are cut into: none lies in both parts.
  llvm::SmallVector<int64_t, 4> keyParts() const;
  /// Of a key and a value together.
  int64_t cacheColumns() const { return headDim + valueDim; }
  /// Kernels take k_scale[1] and v_scale[1]: what the cache holds is the key
  /// over k_scale, the value over v_scale. Where queries have a type of their
  /// own they take q_scale[1] before these.
  bool isScaled() const { return cacheElement.getIntOrFloatBitWidth() == 8; }
};

template <>
inline constexpr auto kFields<HeadShape> = fieldsOf<HeadShape>(
    Field{"heads", &HeadShape::heads}, Field{"kv_heads", &HeadShape::kvHeads},
    Field{"page", &HeadShape::pageSize}, Field{"head_dim", &HeadShape::headDim},
    Field{"value_dim", &HeadShape::valueDim},
    Field{"window", &HeadShape::window}, Field{"chunk", &HeadShape::chunk},
    Field{"key_dim", &HeadShape::keyDim}, Field{"scale", &HeadShape::scale},
    Field{"soft_cap", &HeadShape::softCap},
    Field{"tempered", &HeadShape::isTempered}, Field{"sink", &HeadShape::sink},
    Field{"rotation", &HeadShape::rotation},
    Field{"element", &HeadShape::element},
    Field{"cache", &HeadShape::cacheElement},
    Field{"query", &HeadShape::queries}, Field{"power", &HeadShape::powers},
    Field{"norm", &HeadShape::normWeight},
    Field{"norm_epsilon", &HeadShape::normEpsilon},
    Field{"norm_one_plus", &HeadShape::isNormOnePlus},
    Field{"quantise", &HeadShape::quantise});

/// Sizes of a step. `longest` counts the new tokens of one sequence.
struct StepRange {
  Range sequences, longest;
};

template <>
inline constexpr auto kFields<StepRange> =
    fieldsOf<StepRange>(Field{"sequences", &StepRange::sequences},
                        Field{"longest", &StepRange::longest});

/// Parts of the sums of a linear, with what makes its result of them.
struct SumParts {
  int64_t count = 0;           ///< 0: sums are whole, and finished
  bool hasInputScale = false;  ///< of each row of a
  bool isTensorScaled = false; ///< that one is of all rows
  bool hasWeightScale = false; ///< of each row of w
  mlir::Type biasType = {};    ///< null: none
  explicit operator bool() const { return count > 0; }

  static SumParts of(const LinearShape &shape, int64_t count) {
    return {count, shape.isScaled || shape.isTensorScaled, shape.isTensorScaled,
            shape.scalesWeightRows() || shape.isTensorScaled, shape.biasType};
  }
};

template <>
inline constexpr auto kFields<SumParts> =
    fieldsOf<SumParts>(Field{"parts", &SumParts::count},
                       Field{"scaled", &SumParts::hasInputScale},
                       Field{"tensor_scaled", &SumParts::isTensorScaled},
                       Field{"weight_scaled", &SumParts::hasWeightScale},
                       Field{"bias", &SumParts::biasType});

/// Of each head a linear of its own. `weightRows` and `firstRow` are those of a
/// head in w, all and before the first that is multiplied.
struct HeadLinearShape {
  int64_t heads = 0;
  int64_t columns = 0;      ///< of a head of d
  int64_t inputs = 0;       ///< of a head, k
  int64_t inputColumns = 0; ///< of a head of a; the first ones are inputs
  int64_t weightRows = 0, firstRow = 0;
  /// Rows of w are inputs and its columns those of d, not the other way around.
  bool isTransposed = false;
  mlir::Type element = {};
};

template <>
inline constexpr auto kFields<HeadLinearShape> = fieldsOf<HeadLinearShape>(
    Field{"heads", &HeadLinearShape::heads},
    Field{"columns", &HeadLinearShape::columns},
    Field{"inputs", &HeadLinearShape::inputs},
    Field{"input_columns", &HeadLinearShape::inputColumns},
    Field{"weight_rows", &HeadLinearShape::weightRows},
    Field{"first_row", &HeadLinearShape::firstRow},
    Field{"transposed", &HeadLinearShape::isTransposed},
    Field{"element", &HeadLinearShape::element});

struct HeadLinearTile {
  int64_t m = 0, n = 0, k = 0; ///< of one head of d, and of a trip
  int64_t waves = 4;
};

template <>
inline constexpr auto kFields<HeadLinearTile> = fieldsOf<HeadLinearTile>(
    Field{"m", &HeadLinearTile::m}, Field{"n", &HeadLinearTile::n},
    Field{"k", &HeadLinearTile::k}, Field{"waves", &HeadLinearTile::waves});

/// Arguments: a[m, heads, inputColumns], w[heads, weightRows, inputs or
/// columns], d[m, heads, columns], m.
schedule::KernelOp buildHeadLinear(mlir::OpBuilder &builder, const Label &label,
                                   const HeadLinearShape &shape,
                                   const HeadLinearTile &tile, Range rows);

struct RopeTile {
  int64_t tokens = 1; ///< of one workgroup
  /// Queries: rows of a tile are the heads of a group, not tokens.
  bool packsHeads = false;
  int64_t headsTogether = 0; ///< rows then, of a kernel that only rotates
  int64_t waves = 1;
  /// Of the linear before, which this kernel adds; of one token.
  SumParts sums = {};
};

template <>
inline constexpr auto kFields<RopeTile> =
    fieldsOf<RopeTile>(Field{"tokens", &RopeTile::tokens},
                       Field{"packs_heads", &RopeTile::packsHeads},
                       Field{"heads_together", &RopeTile::headsTogether},
                       Field{"waves", &RopeTile::waves},
                       Field{"sums", &RopeTile::sums});

/// Rotates queries and keys, appends keys and values. Arguments: qkv[tokens,
/// heads + 2 kvHeads, headDim], [q_norm, k_norm] of [headDim], rope[position,
/// 2, turned columns / 2] (cosines, sines; f32), starts, contexts, pages, q,
/// k_cache, v_cache, [q_scale], [k_scale, v_scale], tokens, sequences, longest,
/// pages_per_sequence. Where sums come in parts, for qkv: partial[tokens,
/// parts, heads + 2 kvHeads, headDim] in f32, [a_scale[tokens] or [1]],
/// [w_scale], [bias] of [heads + 2 kvHeads, headDim].
schedule::KernelOp buildRopeAppend(mlir::OpBuilder &builder, const Label &label,
                                   const HeadShape &shape, const RopeTile &tile,
                                   StepRange sizes);

/// Rotates heads. Arguments: x[tokens, heads, headDim], rope, starts, contexts,
/// out, tokens, sequences, longest.
schedule::KernelOp buildRope(mlir::OpBuilder &builder, const Label &label,
                             const HeadShape &shape, const RopeTile &tile,
                             StepRange sizes);

/// Appends keys and values as they are. Arguments: k[tokens, kvHeads, headDim],
/// v[tokens, kvHeads, valueDim], starts, contexts, pages, k_cache, v_cache,
/// [k_scale, v_scale], tokens, sequences, longest, pages_per_sequence. Latent:
/// neither v nor v_cache nor v_scale, here and below.
schedule::KernelOp buildAppend(mlir::OpBuilder &builder, const Label &label,
                               const HeadShape &shape, const RopeTile &tile,
                               StepRange sizes);

struct PrefillTile {
  int64_t queries = 0, keys = 0; ///< of one workgroup, of one trip
  int64_t waves = 4;
  int64_t slots = 0;      ///< of keys and of values; 0: as the pipeline chooses
  bool isDelayed = false; ///< values are added one trip late
  bool hasRoles = false;  ///< waves of their own copy
  /// Keys are multiplied one trip early; values are added late then.
  bool isAhead = false;
  /// Of 8 elements of a lane, those whose exponentials the vector units take.
  int64_t fmaExponentials = 0;
  int64_t workgroupsOfUnit = 0; ///< as of LinearTile
  /// Heads whose tiles of queries follow one another, latest queries of all of
  /// them first; 0: all tiles of a head follow one another.
  int64_t headsTogether = 0;
};

template <>
inline constexpr auto kFields<PrefillTile> = fieldsOf<PrefillTile>(
    Field{"queries", &PrefillTile::queries}, Field{"keys", &PrefillTile::keys},
    Field{"waves", &PrefillTile::waves}, Field{"slots", &PrefillTile::slots},
    Field{"delayed", &PrefillTile::isDelayed},
    Field{"roles", &PrefillTile::hasRoles},
    Field{"ahead", &PrefillTile::isAhead},
    Field{"fma_exponentials", &PrefillTile::fmaExponentials},
    Field{"workgroups_of_unit", &PrefillTile::workgroupsOfUnit},
    Field{"together", &PrefillTile::headsTogether});

/// Arguments: [q_latent[tokens, heads, valueDim]], q, k_cache, v_cache,
/// [q_scale], [k_scale, v_scale], [sink[heads]], [temperature[position]],
/// starts, contexts, pages, out, tokens, sequences, longest,
/// pages_per_sequence.
schedule::KernelOp buildAttentionPrefill(mlir::OpBuilder &builder,
                                         const Label &label,
                                         const HeadShape &shape,
                                         const PrefillTile &tile,
                                         StepRange sizes);

struct DecodeTile {
  /// Rows of a packed group, or of each part of it, and keys of a trip.
  int64_t queries = 16, keys = 0;
  /// Workgroups that share a group.
  int64_t groupParts(const HeadShape &shape) const {
    return llvm::divideCeil(shape.group(), queries);
  }
  int64_t waves = 4;
  int64_t slots = 0;         ///< as of PrefillTile
  int64_t maxSplits = 1;     ///< 1: nothing is joined
  int64_t perUnit = 2;       ///< workgroups that fill a unit
  int64_t atOnce = 2;        ///< that a unit runs, if it is given more
  double alone = 2;          ///< time of one on a unit, over that of each then
  int64_t joinTiles = 1;     ///< of keys that pass while the parts are joined
  int64_t combineParts = 16; ///< that are joined in one trip
  int64_t combineWaves = 1;
};

template <>
inline constexpr auto kFields<DecodeTile> = fieldsOf<DecodeTile>(
    Field{"queries", &DecodeTile::queries}, Field{"keys", &DecodeTile::keys},
    Field{"waves", &DecodeTile::waves}, Field{"slots", &DecodeTile::slots},
    Field{"splits", &DecodeTile::maxSplits},
    Field{"per_unit", &DecodeTile::perUnit},
    Field{"at_once", &DecodeTile::atOnce}, Field{"alone", &DecodeTile::alone},
    Field{"join_tiles", &DecodeTile::joinTiles},
    Field{"combine_parts", &DecodeTile::combineParts},
    Field{"combine_waves", &DecodeTile::combineWaves});

/// Arguments: [q_latent], q, k_cache, v_cache, [q_scale], [k_scale], [sink],
/// [temperature], contexts, pages, part[sequence * splits + split, head,
/// valueDim], stat[.., head, 2] (maximum, sum), sequences, splits,
/// pages_per_sequence. Parts are in units of v_scale. Where nothing is split:
/// [q_latent], q, k_cache, v_cache, [q_scale], [k_scale, v_scale], [sink],
/// [temperature], contexts, pages, out, sequences, pages_per_sequence.
schedule::KernelOp buildAttentionDecode(mlir::OpBuilder &builder,
                                        const Label &label,
                                        const HeadShape &shape,
                                        const DecodeTile &tile,
                                        Range sequences);

/// Joins the splits. Arguments: part, stat, [v_scale], out, sequences, splits;
/// where results are quantised, in place of out: [tensor_scale], out, scale.
schedule::KernelOp buildAttentionCombine(mlir::OpBuilder &builder,
                                         const Label &label,
                                         const HeadShape &shape,
                                         const DecodeTile &tile,
                                         Range sequences);

} // namespace modelc::kernels

#endif // LIB_KERNELS_HEADFAMILIES_H
