//===- Lowering.cpp - Where values lie, and sizes of a step ---------------===//

#include "lib/Kernels/Graph/Lowering.h"

#include "lib/Kernels/Rows/Formats.h"
#include "lib/Kernels/Rows/SixBits.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

Lowering::Lowering(model::GraphOp graph, Library &library)
    : graph(graph), library(library),
      plan(graph->getParentOfType<ModuleOp>(),
           model::stringifyPhase(*graph.getPhase()),
           *graph.getPhase() == model::Phase::Decode,
           graph.getRanks(model::Axis::Tensor)) {}

BufferType Lowering::storedAs(RankedTensorType tensor, Type scaled) const {
  SmallVector<int64_t> shape(tensor.getShape());
  Type element = tensor.getElementType();
  MLIRContext *context = element.getContext();
  BlockScales scales =
      scaled && tensor.getRank() == 2
          ? blockScalesOf(scaled, element, &library.tiling.target)
          : BlockScales();
  if (scales) {
    return BufferType::get(
        context, scaleShape(scales, shape[0], shape[1] * scales.block),
        scales.wordType(), scales.packing());
  }
  shape.back() = hasTails(element)
                     ? blocksOfRow(shape.back())
                     : shape.back() / packedNumbers(stored(element));
  return BufferType::get(context, shape, stored(element), {});
}

NamedValues Lowering::buffersOf(ArrayRef<NamedValue> values) const {
  NamedValues buffers;
  for (const auto &[name, value] : values) {
    if (!value) {
      continue;
    }
    buffers.push_back({name, bufferOf(value)});
    if (hasTails(getElementTypeOrSelf(value))) {
      buffers.push_back({tailsOf(name), bufferOf(value)});
    }
  }
  return buffers;
}

Value Lowering::scaleGroups(Value rows) {
  Value &groups = limits[{rows, {-kScaleRows, 0}}];
  if (!groups) {
    groups = plan.compute<arith::CeilDivSIOp>(rows, plan.constant(kScaleRows));
  }
  return groups;
}

Value Lowering::fresh(RankedTensorType type, Value rows, Type scaled) {
  BufferType stored = storedAs(type, scaled);
  return plan.workspace(stored.getRank() == 3 ? scaleGroups(rows) : rows,
                        stored.getShape().drop_front(), stored.getElementType(),
                        stored.getPacked());
}

void Lowering::bind(Value result, Value rows, Type scaled) {
  Value buffer = wanted.lookup(result);
  if (!buffer) {
    buffer = fresh(cast<RankedTensorType>(result.getType()), rows, scaled);
  }
  storage[result] = {buffer, rows, {}};
}

void Lowering::bindNumbers(Value out, Value scale, Value rows) {
  bind(out, rows);
  if (scale) {
    bind(scale, rows, cast<RankedTensorType>(out.getType()).getElementType());
  }
}

void Lowering::bindTo(Value result, Value other) {
  const Storage place = storage[other]; // a copy: the map moves as it grows
  storage[result] = place;
}

Type Lowering::stored(Type type) const {
  return packedType(storedType(type, library.tiling.target));
}

void Lowering::releaseOperands(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>()) {
    return;
  }
  for (Value operand : op->getOperands()) {
    release(operand, op);
  }
}

void Lowering::release(Value operand, Operation *reader) {
  auto result = dyn_cast<OpResult>(operand);
  Operation *joined = reader->getParentOfType<model::JoinedOp>();
  bool isOutside =
      result && joined && result.getOwner()->getBlock() == joined->getBlock();
  Operation *op = isOutside ? joined : reader;
  if (!result || result.getOwner()->getBlock() != op->getBlock() ||
      wanted.contains(operand)) {
    return;
  }
  bool isLast = llvm::all_of(operand.getUsers(), [&](Operation *user) {
    Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
    return here == op || here->isBeforeInBlock(op);
  });
  bool isHandedOn = llvm::any_of(reader->getResults(), [&](Value other) {
    return bufferOf(other) == bufferOf(operand);
  });
  // A layer may write what it hands on while others are still read.
  bool isWanted = llvm::any_of(wanted, [&](const auto &entry) {
    return entry.second == bufferOf(operand);
  });
  if (isLast && !isHandedOn && !isWanted) {
    plan.release(bufferOf(operand));
  }
}

Value Lowering::input(StringRef name, Type element, ArrayRef<int64_t> shape,
                      ValueRange sizes) {
  return plan.named({StorageRole::Input, name.str(),
                     SmallVector<int64_t>(shape), element,
                     SmallVector<Value>(sizes)});
}

Value Lowering::inside(Value size, Range range) {
  Value &limited = limits[{size, {range.minimum, range.maximum}}];
  if (!limited) {
    Value most = plan.constant(range.maximum);
    limited =
        plan.select(plan.isInside(size, range),
                    plan.compute<arith::MinSIOp>(size, most), plan.constant(0));
  }
  return limited;
}

SmallVector<Range> Lowering::rangesOf(Value rows) const {
  const KernelOptions &options = library.options;
  bool isTokens = !plan.isDecode && rows == plan.sizes.tokens;
  int64_t most = isTokens ? options.maxTokens : options.maxSequences;
  auto isMet = [&](Range range) {
    auto isOfStep = [&](const StepShape &step) {
      int64_t size = isTokens ? step.tokens() : step.sequences();
      return step.isDecode() == plan.isDecode && range.minimum <= size &&
             size <= range.maximum;
    };
    return options.steps.empty() || llvm::any_of(options.steps, isOfStep);
  };
  SmallVector<Range> ranges;
  // Those of all steps, so that plans share kernels.
  for (Range range : Tiling::ranges(library.allRows().maximum)) {
    if (range.minimum <= most && isMet(range)) {
      ranges.push_back(range);
    }
  }
  return ranges;
}

Value Lowering::starts() {
  Value count = limits[{plan.sizes.sequences, {-1, 0}}];
  if (!count) {
    count = plan.compute<arith::AddIOp>(plan.sizes.sequences, plan.constant(1));
    limits[{plan.sizes.sequences, {-1, 0}}] = count;
  }
  return input("starts", plan.builder.getI32Type(), {kDynamic}, count);
}

Value Lowering::contexts() {
  return input("contexts", plan.builder.getI32Type(), {kDynamic},
               plan.sizes.sequences);
}

Value Lowering::pages() {
  return input("pages", plan.builder.getI32Type(), {kDynamic, kDynamic},
               {plan.sizes.sequences, plan.sizes.pagesPerSequence});
}
