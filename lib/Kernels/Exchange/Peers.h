//===- Peers.h - What kernels that exchange with other devices share ------===//

#ifndef LIB_KERNELS_EXCHANGE_PEERS_H
#define LIB_KERNELS_EXCHANGE_PEERS_H

#include "lib/Kernels/Families.h"
#include "lib/Kernels/KernelBuilder.h"

namespace modelc::kernels {

struct RowWriter;
struct BlockWriter;

/// How a kernel holds a piece of some rows: in `count` tiles alike, which lie
/// side by side in a buffer. A tile, or a slice of one, begins at a *unit* of
/// the row: a column, or a word of scales.
struct PeerTiles {
  int64_t count = 1;
  int64_t units = 0;    ///< of a whole tile
  int64_t rowUnits = 0; ///< of a whole row in memory
  int64_t peers = 8;    ///< devices whose tiles are held at once
  mlir::Type element;   ///< stored: a number, or a pair
  /// What a buffer holds of one row of so many units.
  std::function<llvm::SmallVector<int64_t>(int64_t units)> extents;
  std::function<Shape(int64_t units)> shape;
  /// Tile `number` in a buffer of rows, behind coordinates of its own.
  std::function<Place(mlir::Value buffer, llvm::ArrayRef<Scalar> lead,
                      Scalar row, Scalar unit, int64_t number)>
      place;
};

/// One tile of so many rows and columns. What is given must stay.
PeerTiles tilesOf(const RowWriter &rows, mlir::Type element);
/// A tile of pairs for each block of a word.
PeerTiles tilesOf(const BlockWriter &blocks, const RowTile &tile,
                  mlir::Type number);

/// Sends tiles to all devices and adds what they sent. See Exchange.cpp.
class Exchanger {
public:
  Exchanger(KernelBuilder &k, const ExchangeShape &shape, PeerTiles tiles)
      : k(k), shape(shape), tiles(std::move(tiles)) {}

  /// Declares the buffers where devices meet, as buildExchange names them.
  void declare();
  void declareRank() { rank = k.size("rank", 0, shape.ranks - 1); }

  /// A piece of some rows: where it begins in the row, and where its slice
  /// begins in the row of slices.
  struct Piece {
    Scalar row, unit, slice;
  };
  /// Opens the next call of tile `number`, closes it.
  void begin(Scalar number);
  void end();
  /// The sums over all devices of a piece of x, plus that of `residual` where
  /// there is one, rounded once.
  KernelBuilder::Values sum(mlir::Value x, mlir::Value residual, Piece piece);
  /// Hands a piece of x to all, side by side in `out`; all is there afterwards.
  void gather(const RowWriter &rows, mlir::Value x, mlir::Value out,
              Piece piece);

private:
  using Values = KernelBuilder::Values;
  using OfPeers =
      llvm::function_ref<Values(llvm::ArrayRef<Scalar>, mlir::ValueRange)>;

  bool isInTwo() const { return shape.kind == Exchange::ReduceInTwo; }
  /// Units of what one device adds.
  int64_t sliceUnits() const {
    return isInTwo() ? tiles.units / shape.ranks : tiles.units;
  }
  Values forPeers(llvm::ArrayRef<Carried> carried, OfPeers body);
  Scalar receiver(Scalar i) const;
  Place of(Place place, size_t i, Scalar receiver) const;
  Place staged(Scalar from, Piece piece, int64_t number) const;
  Values load(llvm::StringRef name, mlir::Value buffer,
              llvm::ArrayRef<Scalar> lead, Scalar row, Scalar unit,
              int64_t units);
  void meet(mlir::Value where);
  Values widened(mlir::ValueRange parts);
  Values add(llvm::ArrayRef<Scalar> peers, mlir::ValueRange before,
             Piece piece);
  Values addAll(Piece piece, mlir::Value residual);
  void sendSlices(mlir::Value x, Piece piece);
  Values shareSums(const Values &sums, Piece piece);
  Scalar sliceOf(Scalar device, Piece piece) const;

  KernelBuilder &k;
  const ExchangeShape &shape;
  PeerTiles tiles;
  mlir::Value staging, sums, flags, ready, epochs;
  Scalar rank, number, call, half;
};

} // namespace modelc::kernels

#endif // LIB_KERNELS_EXCHANGE_PEERS_H
