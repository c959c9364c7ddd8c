//===- Printer.h - One kernel as text -------------------------------------===//
//
// Inner to lib/Emit. The printer walks the final form once, in order. Every SSA
// value has a spelling: a literal, the name of a variable, or, for index
// arithmetic with one use, the expression itself. Values that end (an
// accumulator after its product, a tile after the map that replaces it) hand
// their variable on, so that the text mutates where the IR renames.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_EMIT_KERNEL_PRINTER_H
#define LIB_EMIT_KERNEL_PRINTER_H

#include "lib/Emit/Emit.h"
#include "lib/Emit/Kernel/Interface.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace modelc {

/// A C expression and how tightly its outermost operator binds (C++'s table,
/// higher binds tighter).
struct Expression {
  std::string text;
  int precedence;
};

constexpr int kPrimary = 17, kUnary = 15, kConditional = 2;

/// The text, in parentheses where it binds less tightly than `least`.
std::string atLeast(const Expression &expression, int least);

/// With its first letter upper case: "row" to "Row".
std::string capitalised(llvm::StringRef name);

/// Names that are not taken yet.
class Names {
public:
  Names();
  /// `wish`, or `wish` with the first free number from 2; taken until the
  /// scope ends.
  std::string fresh(llvm::StringRef wish);
  /// The same, taken until the outermost scope ends.
  std::string freshOfKernel(llvm::StringRef wish);
  void enterScope() { scopes.emplace_back(); }
  void leaveScope();

private:
  llvm::StringSet<> taken;
  llvm::SmallVector<llvm::SmallVector<std::string>> scopes;
};

/// The function of the prelude that `op` calls: `name`, or that of a map which
/// splits its exponentials.
std::string functionOf(mlir::Operation *op, llvm::StringRef name);

/// How elements of a type are called in device code; empty if they are not.
std::string elementName(mlir::Type type);

/// Whether every slot of a ring is an object of its own.
bool slotsLieApart(const Target &target);

/// Trips of a loop that the source has one behind the other: where slots lie
/// apart, as many as the rings that it walks have slots.
int64_t tripsWrittenOut(schedule::LoopOp loop, const Target &target);

class KernelPrinter {
public:
  KernelPrinter(schedule::KernelOp kernel, const Target &target,
                const EmitOptions &options)
      : kernel(kernel), target(target), options(options) {}
  llvm::FailureOr<std::string> print();

private:
  // Kernel.cpp: the frame.
  std::string headerComment();
  std::string signature();
  void printStorage();
  void followEarlierKernels();
  bool startsNextAtStore();
  void startNextKernel();
  void printSharedPlaces();
  void printTensorPlaces();
  bool multipliesInPairs();
  std::string columnsText();
  void printBarriers();
  mlir::LogicalResult printGrid(schedule::LoopOp grid);
  mlir::LogicalResult printTiles(schedule::LoopOp grid, llvm::StringRef total);
  void printGridIndices(schedule::LoopOp grid, llvm::StringRef id);
  int64_t workgroupsPerUnit();

  // Loops.cpp
  mlir::LogicalResult printBlock(mlir::Block &block);
  mlir::LogicalResult printOp(mlir::Operation *op);
  mlir::LogicalResult printLoop(schedule::LoopOp loop);
  mlir::LogicalResult printBody(schedule::LoopOp loop);
  mlir::LogicalResult
  printRole(schedule::RoleOp role,
            llvm::function_ref<mlir::LogicalResult()> printWork);
  void openRole(schedule::RoleOp role);
  std::string caller(llvm::StringRef rest = "");
  void declareCarried(schedule::LoopOp loop);
  void syncLate(schedule::LoopOp loop, bool isBefore);
  void holdAddends(schedule::LoopOp loop);
  void holdSums(schedule::LoopOp loop, int64_t slots);
  void printYield(schedule::LoopOp loop);

  // DelayedLoops.cpp
  mlir::LogicalResult printDelayed(schedule::LoopOp loop);
  mlir::LogicalResult printEnd(schedule::LoopOp loop, bool isFirst);
  void handOn(mlir::Operation *op);
  bool isLeftOut(mlir::Value value);
  bool isAwaitedAlready(schedule::WaitOp wait);
  llvm::SmallVector<schedule::MmaOp> productsBefore(schedule::WaitOp wait,
                                                    int64_t &pending);

  // Memory.cpp
  mlir::LogicalResult printLoad(schedule::LoadOp op);
  mlir::LogicalResult printStore(schedule::StoreOp op);
  mlir::LogicalResult printCopyOfScales(schedule::CopyOp op);
  mlir::LogicalResult printCopy(schedule::CopyOp op);
  std::string bufferText(mlir::Value buffer, mlir::Value peer);
  std::string originText(const Access &access);
  std::string viewText(const Access &access);
  std::string limitText(const Access &access, unsigned which);
  int64_t limitDivisor(const Access &access);
  /// Every extent in an address is known.
  llvm::LogicalResult verifyExtents(const Access &access);
  bool isInPage(const Access &access);
  bool fillsPages(const Access &access);
  std::string tableText(const Access &access);
  std::string pageText(const Access &access);
  std::string stride(mlir::Value buffer, int64_t dimension);
  std::string extent(mlir::Value buffer, int64_t dimension);
  int64_t vectorElements(const Access &access);
  std::string vectorText(const Access &access);

  // Values.cpp
  mlir::LogicalResult printMap(schedule::MapOp op);
  mlir::LogicalResult printMapBody(schedule::MapOp op,
                                   llvm::ArrayRef<std::string> inputs,
                                   llvm::ArrayRef<std::string> results,
                                   llvm::ArrayRef<int> reused);
  bool isReadByProduct(schedule::LoadOp load);
  mlir::LogicalResult printMma(schedule::MmaOp op);
  mlir::LogicalResult printReduce(schedule::ReduceOp op);
  mlir::LogicalResult printRelayout(schedule::RelayoutOp op);
  mlir::LogicalResult printAny(schedule::AnyOp op);
  std::string declareTile(mlir::Value value, llvm::StringRef wish);
  bool handsOn(mlir::Value from, mlir::Operation *user, mlir::Type to);

  // Order.cpp
  mlir::LogicalResult printWait(schedule::WaitOp op);
  mlir::LogicalResult printArrive(schedule::ArriveOp op);
  mlir::LogicalResult printSync(schedule::SyncOp op);
  mlir::LogicalResult printPrefetch(schedule::PrefetchOp op);
  static bool isStaggered(mlir::Operation *op);
  void printInterleave(schedule::MmaOp op);
  std::string accumulatorOf(schedule::MmaOp mma);
  llvm::SmallVector<std::string> doneAfter(schedule::WaitOp wait);
  std::string elementText(mlir::Value buffer, mlir::ValueRange coordinates,
                          mlir::Value peer);
  void printFlags(llvm::StringRef function, const std::string &value,
                  llvm::ArrayRef<std::string> flags);

  // Places.cpp
  std::string placeText(mlir::Value place, mlir::Value trip);

  // Expressions.cpp
  Expression expression(mlir::Value value);
  Expression operation(mlir::Operation *op);
  std::string text(mlir::Value value, int least = 0);
  bool isInlined(mlir::Operation *op);
  mlir::LogicalResult printScalar(mlir::Operation *op);

  // Naming.cpp
  std::string wishFor(mlir::Value value);
  std::string nameOf(mlir::Value value, llvm::StringRef wish);
  std::string layoutName(schedule::TileType tile, llvm::StringRef wish);
  std::string placeTypeName(schedule::TileType tile, llvm::StringRef wish);

  void line(const llvm::Twine &text);
  void open(const llvm::Twine &text);
  void close(const llvm::Twine &text = "}");
  std::string &spell(mlir::Value value) { return spelled[value]; }

  schedule::KernelOp kernel;
  const Target &target;
  EmitOptions options;
  KernelInterface interface;
  Names names;
  llvm::DenseMap<mlir::Value, std::string> spelled;
  llvm::StringMap<std::string> typeNames; ///< by definition
  llvm::DenseSet<mlir::Value> inPlace; ///< read from their place by a product
  std::string usings, body, waveName;
  unsigned depth = 0;
  llvm::DenseSet<mlir::Operation *> idle; ///< left out of the trip in print
  schedule::RoleOp walking;   ///< the role whose walk over tiles is printed
  bool isOneThread = false;   ///< the text around is run by one thread alone
  bool nextIsStarted = false; ///< the kernel behind this one
};

} // namespace modelc

#endif // LIB_EMIT_KERNEL_PRINTER_H
