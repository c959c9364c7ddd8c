//===- ExpertFamilies.h - Kernels around the products of experts ----------===//
//
// Each of T tokens goes to K of the experts: a *pair* is a token and one of its
// experts, pair K t + j the j-th of token t. Rows of the products are *slots*:
// those of one expert lie together, filled up to tiles of so many rows that
// each tile is of one expert. 5 pairs, experts 1 0 1 1 1, tiles of 2 rows:
//
//   slot          0   1 | 2   3 | 4   5      pair_slots 2 0 3 4 5
//   of pair       1   - | 0   2 | 3   4
//   tile_experts  0       1       1
//
// How many tiles there are is known of no step before it runs, but never more
// than `SlotShape::tiles`: kernels launch so many. What is left of them repeats
// the expert before, whose weights are at hand, and its rows are filling.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_EXPERTFAMILIES_H
#define LIB_KERNELS_EXPERTFAMILIES_H

#include "lib/Kernels/Families.h"

namespace modelc::kernels {

//===----------------------------------------------------------------------===//
// Route: the experts of each token
//===----------------------------------------------------------------------===//

/// What a router makes of its logits.
enum class Scoring { Softmax, SoftmaxOfChosen, Sigmoid };
template <>
inline constexpr std::array<llvm::StringLiteral, 3> kWords<Scoring> = {
    "softmax", "softmax_of_chosen", "sigmoid"};

/// What a group of experts is chosen by.
enum class GroupScore { Max, TopTwo };
template <>
inline constexpr std::array<llvm::StringLiteral, 2> kWords<GroupScore> = {
    "max", "top_two"};

/// What experts outside of the groups score.
enum class GroupMask { Zero, MinusInfinity };
template <>
inline constexpr std::array<llvm::StringLiteral, 2> kWords<GroupMask> = {
    "zero", "minus_infinity"};

struct RouteShape {
  int64_t experts = 0;
  int64_t topK = 1;
  mlir::Type element = {}; ///< of the logits
  Scoring scoring = Scoring::Softmax;
  mlir::Type correction = {}; ///< null: none
  int64_t groups = 1, keptGroups = 1;
  GroupScore groupScore = GroupScore::Max;
  GroupMask groupMask = GroupMask::MinusInfinity;
  bool isRenormalised = false;
  double epsilon = 0; ///< added to the sum that weights are divided by
  double scale = 1;
  int64_t members() const { return experts / groups; }
};

template <>
inline constexpr auto kFields<RouteShape> = fieldsOf<RouteShape>(
    Field{"experts", &RouteShape::experts}, Field{"top_k", &RouteShape::topK},
    Field{"element", &RouteShape::element},
    Field{"scoring", &RouteShape::scoring},
    Field{"correction", &RouteShape::correction},
    Field{"groups", &RouteShape::groups},
    Field{"kept_groups", &RouteShape::keptGroups},
    Field{"group_score", &RouteShape::groupScore},
    Field{"group_mask", &RouteShape::groupMask},
    Field{"renormalised", &RouteShape::isRenormalised},
    Field{"epsilon", &RouteShape::epsilon}, Field{"scale", &RouteShape::scale});

/// Arguments: logits, [correction], chosen[tokens, top_k] (experts, i32),
/// weights[tokens, top_k] in f32, tokens.
schedule::KernelOp buildRoute(mlir::OpBuilder &builder, const Label &label,
                              const RouteShape &shape, int64_t waves,
                              Range tokens);

//===----------------------------------------------------------------------===//
// Place: the slots of pairs
//===----------------------------------------------------------------------===//

/// The slots of a step.
struct SlotShape {
  int64_t experts = 1;   ///< of this rank
  int64_t topK = 1;      ///< of all experts, chosen for each token
  int64_t tileRows = 16; ///< a power of two
  /// Those of so many pairs, at most: each expert that has any leaves one tile
  /// unfilled.
  int64_t tiles(int64_t pairs) const {
    int64_t more = std::max<int64_t>(pairs - experts, 0);
    return std::min(pairs, experts) + more / tileRows;
  }
};

template <>
inline constexpr auto kFields<SlotShape> =
    fieldsOf<SlotShape>(Field{"experts", &SlotShape::experts},
                        Field{"top_k", &SlotShape::topK},
                        Field{"tile_rows", &SlotShape::tileRows});

struct PlaceShape {
  SlotShape slots = {};
  int64_t firstExpert = 0; ///< of this rank
  /// All pairs by one workgroup, which counts them itself.
  bool isWhole = false;
};

template <>
inline constexpr auto kFields<PlaceShape> =
    fieldsOf<PlaceShape>(Field{"slots", &PlaceShape::slots},
                         Field{"first_expert", &PlaceShape::firstExpert},
                         Field{"whole", &PlaceShape::isWhole});

struct PlaceTile {
  int64_t chunk = 512; ///< pairs of a workgroup
  int64_t step = 64;   ///< of them, at a time
  int64_t waves = 4;
};

template <>
inline constexpr auto kFields<PlaceTile> =
    fieldsOf<PlaceTile>(Field{"chunk", &PlaceTile::chunk},
                        Field{"step", &PlaceTile::step},
                        Field{"waves", &PlaceTile::waves});

/// How many pairs of each chunk each expert has. Arguments: chosen[tokens,
/// top_k], counts[chunks, experts], tokens.
schedule::KernelOp buildCountPairs(mlir::OpBuilder &builder, const Label &label,
                                   const PlaceShape &shape,
                                   const PlaceTile &tile, Range tokens);

/// Arguments: chosen[tokens, top_k], [counts; not if all pairs are of one
/// workgroup], slot_tokens[slots] (the number of tokens where a slot is
/// filling), tile_experts[tiles] (from the first of this rank),
/// pair_slots[tokens, top_k] (the number of slots where the expert is of
/// another rank), all i32; tokens.
schedule::KernelOp buildPlace(mlir::OpBuilder &builder, const Label &label,
                              const PlaceShape &shape, const PlaceTile &tile,
                              Range tokens);

//===----------------------------------------------------------------------===//
// Expand and combine: rows of tokens become rows of slots, and back
//===----------------------------------------------------------------------===//

struct SlotRowsShape {
  SlotShape slots = {};
  int64_t columns = 0;
  mlir::Type element = {};
  /// Each row is multiplied by the weight of its pair.
  bool isWeighed = false;
};

template <>
inline constexpr auto kFields<SlotRowsShape> =
    fieldsOf<SlotRowsShape>(Field{"slots", &SlotRowsShape::slots},
                            Field{"columns", &SlotRowsShape::columns},
                            Field{"element", &SlotRowsShape::element},
                            Field{"weighed", &SlotRowsShape::isWeighed});

/// Zeros where a slot is filling. Arguments: x[tokens, columns],
/// slot_tokens[slots], [weights[tokens, top_k], pair_slots[tokens, top_k]],
/// out[slots, columns], tokens.
schedule::KernelOp buildExpand(mlir::OpBuilder &builder, const Label &label,
                               const SlotRowsShape &shape, const RowTile &tile,
                               Range tokens);

/// The sum over the pairs of a token on this rank, in f32. Arguments: x[slots,
/// columns], pair_slots[tokens, top_k], [weights[tokens, top_k]], out[tokens,
/// columns], tokens.
schedule::KernelOp buildCombine(mlir::OpBuilder &builder, const Label &label,
                                const SlotRowsShape &shape, const RowTile &tile,
                                Range tokens);

} // namespace modelc::kernels

#endif // LIB_KERNELS_EXPERTFAMILIES_H
