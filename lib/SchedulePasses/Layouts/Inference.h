//===- Inference.h - Layouts of values, while they are being found --------===//
//
// Inner to lib/SchedulePasses: Inference.cpp finds what is asked again for
// every order of operands, InferLayouts.cpp one layout for every value,
// SettleLayouts.cpp counts what it costs and writes it into the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_SCHEDULEPASSES_LAYOUTS_INFERENCE_H
#define LIB_SCHEDULEPASSES_LAYOUTS_INFERENCE_H

#include "dialects/Schedule/Schedule.h"
#include "lib/Hardware/Hardware.h"
#include "lib/SchedulePasses/Layouts/MmaLayouts.h"

namespace modelc {

class Inference {
public:
  Inference(schedule::KernelOp kernel, const Target &target);
  /// The order of operands of every mma, then the layouts of all values.
  void run();

private:
  // InferLayouts.cpp: one layout for every value.
  void infer();
  void chooseOrders();
  void chooseInterleaving();
  void anchorAccumulator(schedule::MmaOp mma);
  void anchorInTensor(schedule::MmaOp mma);
  void anchorOperands(schedule::MmaOp mma);
  void anchorProducts();
  void anchorInVectors(llvm::ArrayRef<mlir::Value> largestFirst);
  void set(mlir::Value value, schedule::LayoutAttr layout);
  void spread();
  void spreadForward(mlir::Value value, schedule::LayoutAttr layout);
  void spreadBackward(mlir::Value value, schedule::LayoutAttr layout);
  void spreadMap(schedule::MapOp map, schedule::LayoutAttr layout);
  void spreadLoop(mlir::Value value, schedule::LayoutAttr layout);
  // SettleLayouts.cpp: uses that need another layout.
  using Visit =
      llvm::function_ref<void(mlir::OpOperand &, schedule::LayoutAttr)>;
  void demands(mlir::Operation *op, Visit visit);
  double cost();
  double moves(mlir::Operation *op);
  schedule::LayoutAttr ofReduced(schedule::ReduceOp reduce);
  void settleReduce(schedule::ReduceOp reduce);
  void settle();
  void demand(mlir::OpOperand &use, schedule::LayoutAttr layout);
  // WidenAccesses.cpp: what moves to and from memory.
  void widenStore(schedule::StoreOp store);
  void widenLoad(schedule::LoadOp load);
  mlir::Value remake(mlir::Value value, schedule::TileType type,
                     mlir::Operation *before);
  schedule::LayoutAttr attribute(const Layout &layout) const {
    return schedule::LayoutAttr::get(kernel->getContext(), layout);
  }
  schedule::LayoutAttr ofAccumulator(schedule::MmaOp mma) {
    return once(mma, Accumulator,
                [&] { return accumulatorLayout(splitOf(mma, target)); });
  }
  schedule::LayoutAttr ofA(schedule::MmaOp mma) {
    return once(mma, A, [&] { return operandALayout(splitOf(mma, target)); });
  }
  schedule::LayoutAttr ofB(schedule::MmaOp mma) {
    return once(mma, B, [&] {
      Layout layout = operandBLayout(splitOf(mma, target));
      return mma.getBTransposed() ? layout.transposed() : layout;
    });
  }
  /// Places of scales in tensor memory have no layout of registers.
  static bool readsScalesInRegisters(schedule::MmaOp mma) {
    return mma.getAScales() && !mma.getAScales().getType().isPlace();
  }
  schedule::LayoutAttr ofScalesOfA(schedule::MmaOp mma) const {
    return attribute(scalesALayout(splitOf(mma, target)));
  }
  schedule::LayoutAttr ofScalesOfB(schedule::MmaOp mma) const {
    return attribute(scalesBLayout(splitOf(mma, target)));
  }
  /// Of an input of a map whose result has `layout`.
  schedule::LayoutAttr ofInput(schedule::LayoutAttr layout,
                               schedule::TileType input,
                               schedule::TileType result) {
    if (input.getShape() == result.getShape()) {
      return layout;
    }
    schedule::LayoutAttr &known = ofInputs[{layout, {input, result}}];
    if (!known) {
      known = attribute(layoutOfInput(layout.getLayout(), input, result));
    }
    return known;
  }
  schedule::LayoutAttr ofRowNumbers(mlir::Value numbers) {
    return attribute(
        rowNumbersLayout(llvm::cast<schedule::TileType>(numbers.getType()),
                         target.execution.waveSize, kernel.getWaves()));
  }

  /// Layouts of fragments are asked for often: for every order of operands, by
  /// every use.
  enum Fragment { Accumulator, A, B, kFragments };
  schedule::LayoutAttr once(schedule::MmaOp mma, Fragment which,
                            llvm::function_ref<Layout()> make) {
    constexpr unsigned kOrders = 64;
    unsigned order = mma.getExchanged().value_or(0) +
                     kOrders * mma.getInterleaved().value_or(0);
    schedule::LayoutAttr &known = fragments[{mma, order * kFragments + which}];
    return known ? known : known = attribute(make());
  }

  /// An op that moves registers or reads them in a layout, and how often it
  /// runs: loops count as many trips.
  struct Weighed {
    mlir::Operation *op;
    double often;
  };

  schedule::KernelOp kernel;
  const Target &target;
  // What is asked for every order of operands, found once.
  llvm::SmallVector<Weighed> movers;
  llvm::SmallVector<schedule::MmaOp> products;
  llvm::SmallVector<mlir::Value> rowNumbers;
  /// Values that memory ops move, and all in registers; the largest first.
  llvm::SmallVector<mlir::Value> accessed, values;
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, schedule::LayoutAttr>
      fragments;
  llvm::DenseMap<
      std::pair<schedule::LayoutAttr, std::pair<mlir::Type, mlir::Type>>,
      schedule::LayoutAttr>
      ofInputs;
  llvm::DenseMap<mlir::Value, schedule::LayoutAttr> layouts;
  llvm::SmallVector<mlir::Value> worklist;
};

/// Whether the value lives in registers.
inline bool isRegisterValue(mlir::Value value) {
  auto tile = llvm::dyn_cast<schedule::TileType>(value.getType());
  return tile && !tile.isPlace();
}

/// The operand that says which rows of memory the op touches, or null.
mlir::OpOperand *rowNumbersOf(mlir::Operation *op);

} // namespace modelc

#endif // LIB_SCHEDULEPASSES_LAYOUTS_INFERENCE_H
