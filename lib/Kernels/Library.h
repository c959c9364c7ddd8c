//===- Library.h - The kernels of a module, each built once ---------------===//

#ifndef LIB_KERNELS_LIBRARY_H
#define LIB_KERNELS_LIBRARY_H

#include "lib/Kernels/ExpertFamilies.h"
#include "lib/Kernels/HeadFamilies.h"
#include "lib/Kernels/Rows/SampleFamily.h"
#include "lib/Kernels/Tiling.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace modelc::kernels {

/// One kernel of a linear, and with splits the one that adds the parts.
struct LinearVariant {
  Range rows;
  LinearTile tile;
  mlir::FlatSymbolRefAttr kernel, reduce;
};

/// Who places pairs: up to some tokens `whole` alone, beyond `count` before
/// `place`; of pairs in chunks of one size.
struct PlaceKernels {
  int64_t wholeTokens = 0, chunkPairs = 0;
  mlir::FlatSymbolRefAttr whole, count, place;
};

/// Builds kernels at the end of a module. Those of which all is equal are one:
/// family, shape, tile, but for ranges of rows, which a kernel gets more of.
/// Names only say what is usual of them; where two kernels have the same, the
/// second is numbered.
class Library {
public:
  Library(mlir::ModuleOp module, const Target &target,
          const KernelOptions &options);

  /// Kernels for each range of rows, neighbours of one tile together. Fails,
  /// with a message at `op`, if the target has no instruction for the types.
  mlir::FailureOr<llvm::SmallVector<LinearVariant>>
  linear(mlir::Operation *op, const LinearShape &shape,
         llvm::ArrayRef<Range> ranges);

  mlir::FlatSymbolRefAttr norm(const NormShape &shape);
  mlir::FlatSymbolRefAttr quantise(const QuantiseShape &shape) {
    return quantise(shape, allRows());
  }
  mlir::FlatSymbolRefAttr quantise(QuantiseShape shape, Range rows);
  mlir::FlatSymbolRefAttr elementwise(const ElementwiseShape &shape);
  mlir::FlatSymbolRefAttr gather(const GatherShape &shape);
  /// Kernels that together serve all ranges of rows, in their order. Fails,
  /// with a message at `op`, if the target can run none.
  mlir::FailureOr<llvm::SmallVector<mlir::Attribute>>
  headLinear(mlir::Operation *op, const HeadLinearShape &shape,
             llvm::ArrayRef<Range> ranges);
  mlir::FlatSymbolRefAttr ropeAppend(const HeadShape &shape, bool isDecode,
                                     const SumParts &sums);
  mlir::FlatSymbolRefAttr rope(const HeadShape &shape, bool isDecode);
  mlir::FlatSymbolRefAttr append(const HeadShape &shape, bool isDecode);
  /// Chooses the tile of attention, which those below ask for. Fails, with a
  /// message where the heads of `op` are stated, if the target can run none.
  mlir::LogicalResult chooseTile(mlir::Operation *op, const HeadShape &shape,
                                 bool isDecode);
  mlir::FlatSymbolRefAttr prefill(const HeadShape &shape);
  const DecodeTile &decodeTile(const HeadShape &shape);
  /// The kernel of a part of the keys, or of all.
  mlir::FlatSymbolRefAttr decodePart(const HeadShape &shape);
  mlir::FlatSymbolRefAttr decodeWhole(const HeadShape &shape);
  mlir::FlatSymbolRefAttr combine(const HeadShape &shape);
  mlir::FlatSymbolRefAttr route(const RouteShape &shape);
  PlaceKernels place(const SlotShape &slots, int64_t firstExpert);
  mlir::FlatSymbolRefAttr expand(const SlotRowsShape &shape);
  mlir::FlatSymbolRefAttr combine(const SlotRowsShape &shape);
  mlir::FlatSymbolRefAttr sample(const SampleShape &shape);
  mlir::FlatSymbolRefAttr exchange(const ExchangeShape &shape);
  /// How devices add up rows, before a norm if there is one.
  llvm::ArrayRef<SumVariant> sums(const ExchangeShape &shape,
                                  const NormShape *norm);

  /// Of any step.
  Range allRows() const;

  const Tiling tiling;
  const KernelOptions &options;
  /// Of the op for which kernels are built: what is said of one is said there.
  mlir::Location asker;

private:
  mlir::FailureOr<LinearVariant> variant(const LinearShape &shape, Range rows);
  using Build = llvm::function_ref<void(const Label &)>;
  /// A kernel by its family and all fields of what it is built of.
  struct Wanted {
    std::string name, identity;
  };
  mlir::FlatSymbolRefAttr once(const Wanted &wanted, Build build);
  /// The same, and what is known serves these rows too.
  mlir::FlatSymbolRefAttr serving(Range rows, const Wanted &wanted,
                                  Build build);
  static Wanted ofHeads(llvm::StringRef kind, const HeadShape &shape);
  std::string unusedSymbol(llvm::StringRef name);
  Range allSequences() const { return {1, options.maxSequences}; }
  StepRange stepOf(bool isDecode) const {
    return {allSequences(), {1, isDecode ? 1 : options.maxTokens}};
  }

  mlir::OpBuilder builder;
  Candidates candidates;
  // By identity.
  llvm::StringMap<mlir::FlatSymbolRefAttr> kernels;
  llvm::StringMap<LinearVariant> linears;
  llvm::StringMap<DecodeTile> decodeTiles;
  llvm::StringMap<Chosen<PrefillTile>> prefillTiles;
  llvm::StringMap<llvm::SmallVector<SumVariant>> sumVariants;
  llvm::StringSet<> symbols;
};

} // namespace modelc::kernels

#endif // LIB_KERNELS_LIBRARY_H
