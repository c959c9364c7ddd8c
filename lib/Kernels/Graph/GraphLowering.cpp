#include "lib/Kernels/Graph/GraphLowering.h"

#include "lib/Kernels/Rows/Formats.h"
#include "lib/Kernels/Rows/SixBits.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

GraphLowering::GraphLowering(model::GraphOp graph, Library &library)
    : graph(graph), library(library),
      plan(graph->getParentOfType<ModuleOp>(),
           model::stringifyPhase(*graph.getPhase()),
           *graph.getPhase() == model::Phase::Decode,
           graph.getRanks(model::Axis::Tensor)) {}

LogicalResult GraphLowering::run() {
  Block &body = graph.getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    auto tensor = dyn_cast<RankedTensorType>(argument.getType());
    if (!tensor) {
      continue; // the batch
    }
    if (tensor.getRank() != 1 || !tensor.getElementType().isInteger(32)) {
      return graph.emitError("expected tokens and their batch as arguments, "
                             "got ")
             << tensor;
    }
    storage[argument] = {
        input("tokens", tensor.getElementType(), {kDynamic}, plan.sizes.tokens),
        plan.sizes.tokens,
        {}};
  }
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    auto tensor = cast<RankedTensorType>(value.getType());
    bool isToken = tensor.getElementType().isInteger(32);
    Value rows = plan.sizes.sequences;
    wanted[value] =
        plan.named({StorageRole::Output,
                    isToken ? "next_tokens" : "out" + std::to_string(i),
                    SmallVector<int64_t>(tensor.getShape()),
                    tensor.getElementType(),
                    {rows}});
  }
  return lowerBlock(body);
}

LogicalResult GraphLowering::lowerBlock(Block &block) {
  for (Operation &op : block) {
    if (failed(lowerOp(&op))) {
      return failure();
    }
    releaseOperands(&op);
  }
  return success();
}

LogicalResult GraphLowering::lowerOp(Operation *op) {
  library.asker = op->getLoc();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<model::LayersOp, model::WeightOp, model::CacheOp, model::EmbedOp,
            model::NormOp, model::LinearOp, model::RopeAppendOp,
            model::AppendOp, model::AttentionOp, model::SwigluOp, model::AddOp,
            model::QuantiseOp, model::ZerosOp, model::LastOp, model::SampleOp,
            model::AllReduceOp, model::AllGatherOp, model::GatherRowsOp,
            model::ScatterRowsOp, model::ReturnOp, model::YieldOp>(
          [&](auto known) { return lower(known); })
      .Default([](Operation *other) {
        return other->emitError("expected an op that a kernel computes, got '")
               << other->getName() << "'; try model-fuse";
      });
}

/// Workspace whose last reader this op was can be reused, unless the op hands
/// it on.
void GraphLowering::releaseOperands(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>()) {
    return;
  }
  for (Value operand : op->getOperands()) {
    auto result = dyn_cast<OpResult>(operand);
    if (!result || result.getOwner()->getBlock() != op->getBlock() ||
        wanted.contains(operand)) {
      continue;
    }
    bool isLast = llvm::all_of(operand.getUsers(), [&](Operation *user) {
      Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
      return here == op || here->isBeforeInBlock(op);
    });
    bool isHandedOn = llvm::any_of(op->getResults(), [&](Value other) {
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
}

/// Rows of the scales of a matrix of so many rows: those of up begin a group.
static int64_t scaleRows(Value scale, int64_t rows) {
  model::LinearOp linear = swigluScaledBy(scale);
  return linear ? 2 * llvm::alignTo(rows / 2, kScaleRows) : rows;
}

/// The type of numbers whose blocks or rows the value scales; null: of none.
static Type scaledBy(Value scale) {
  auto elementOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getElementType();
  };
  if (auto quantise = scale.getDefiningOp<model::QuantiseOp>()) {
    return quantise.getScale() == scale ? elementOf(quantise.getOut()) : Type();
  }
  if (auto norm = scale.getDefiningOp<model::NormOp>()) {
    return norm.getScale() == scale ? elementOf(norm.getOut()) : Type();
  }
  if (auto swiglu = scale.getDefiningOp<model::SwigluOp>()) {
    return swiglu.getScale() == scale ? elementOf(swiglu.getOut()) : Type();
  }
  for (Operation *user : scale.getUsers()) {
    auto linear = dyn_cast<model::LinearOp>(user);
    if (linear && linear.getWeightScale() == scale) {
      return elementOf(linear.getWeight());
    }
  }
  return {};
}

BufferType GraphLowering::storedAs(Value value) const {
  auto tensor = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(tensor.getShape());
  Type element = tensor.getElementType(), numbers = scaledBy(value);
  MLIRContext *context = element.getContext();
  bool isOfBlocks = numbers && tensor.getRank() == 2;
  BlockScales scales =
      isOfBlocks ? blockScalesOf(numbers, element, &library.tiling.target)
                 : BlockScales();
  // Of a weight they lie as in the checkpoint.
  bool isStored = scales.isByKernel() && value.getDefiningOp<model::WeightOp>();
  if (scales && !isStored) {
    return BufferType::get(
        context,
        scaleShape(scales, scaleRows(value, shape[0]), shape[1] * scales.block),
        scales.wordType(), scales.packing());
  }
  if (value.getDefiningOp<model::RopeAppendOp>() && narrowReaderOf(value)) {
    element = narrowReaderOf(value).getCache().getType().getElementType();
  }
  shape.back() = hasTails(element)
                     ? blocksOfRow(shape.back())
                     : shape.back() / packedNumbers(stored(element));
  return BufferType::get(context, shape, stored(element), {});
}

SmallVector<Value> GraphLowering::buffersOf(ValueRange values) {
  SmallVector<Value> buffers;
  for (Value value : values) {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    bool isTwo = tensor && hasTails(tensor.getElementType());
    buffers.append(isTwo ? 2 : 1, bufferOf(value));
  }
  return buffers;
}

Value GraphLowering::destination(Value result, Value rows) {
  if (Value buffer = wanted.lookup(result)) {
    return buffer;
  }
  BufferType type = storedAs(result);
  bool isOfGroups = type.getRank() == 3 && scaledBy(result);
  return plan.workspace(isOfGroups ? scaleGroups(rows) : rows,
                        type.getShape().drop_front(), type.getElementType(),
                        type.getPacked());
}

Value GraphLowering::scaleGroups(Value rows) {
  Value &groups = limits[{rows, -kScaleRows}];
  if (!groups) {
    groups = plan.compute<arith::CeilDivSIOp>(rows, plan.constant(kScaleRows));
  }
  return groups;
}

void GraphLowering::bind(Value result, Value rows) {
  storage[result] = {destination(result, rows), rows, {}};
}

Type GraphLowering::stored(Type type) const {
  return packedType(storedType(type, library.tiling.target));
}

HeadShape GraphLowering::headsOf(model::CacheType cache, int64_t heads,
                                 Type element) const {
  HeadShape shape;
  shape.heads = heads;
  shape.kvHeads = cache.getKvHeads();
  shape.headDim = shape.valueDim = cache.getHeadDim();
  shape.pageSize = cache.getPage();
  shape.element = element;
  shape.cacheElement = stored(cache.getElementType());
  return shape;
}

Value GraphLowering::input(StringRef name, Type element,
                           ArrayRef<int64_t> shape, ValueRange sizes) {
  return plan.named({StorageRole::Input, name.str(),
                     SmallVector<int64_t>(shape), element,
                     SmallVector<Value>(sizes)});
}

Value GraphLowering::inside(Value size, Range range) {
  Value &limited = limits[{size, range.maximum}];
  if (!limited) {
    Value most = plan.constant(range.maximum);
    limited =
        plan.select(plan.isInside(size, range),
                    plan.compute<arith::MinSIOp>(size, most), plan.constant(0));
  }
  return limited;
}

SmallVector<Range> GraphLowering::rangesOf(Value rows) const {
  const KernelOptions &options = library.options;
  bool isTokens = !plan.isDecode && rows == plan.sizes.tokens;
  int64_t most = isTokens ? options.maxTokens : options.maxSequences;
  auto isMet = [&](Range range) {
    auto isOfStep = [&](const StepOfRun &step) {
      int64_t size = isTokens ? step.tokens : step.sequences;
      return step.isDecode == plan.isDecode && range.minimum <= size &&
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

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// Whether the op reads the value only where it writes: element by element.
static bool readsInPlace(Operation *op, Value value) {
  if (auto linear = dyn_cast<model::LinearOp>(op)) {
    return linear.getResidual() == value && linear.getX() != value;
  }
  return isa<model::AddOp, model::NormOp>(op);
}

/// The op that first writes the buffer of a value: an all-reduce sums in place.
static Value firstWritten(Value value) {
  while (auto sum = value.getDefiningOp<model::AllReduceOp>()) {
    if (!sum.getX().hasOneUse()) {
      break;
    }
    value = sum.getX();
  }
  return value;
}

LogicalResult GraphLowering::planCarried(model::LayersOp op) {
  Block &body = op.getBody().front();
  for (auto [argument, yielded] :
       llvm::zip_equal(body.getArguments(), op.getYield()->getOperands())) {
    if (yielded == argument) {
      continue;
    }
    Value first = firstWritten(yielded);
    Operation *writer = first.getDefiningOp();
    bool isRead = writer && writer->getBlock() == &body &&
                  llvm::all_of(argument.getUsers(), [&](Operation *user) {
                    return user->isBeforeInBlock(writer) ||
                           (user == writer && readsInPlace(user, argument));
                  });
    if (!isRead || wanted.contains(yielded)) {
      return op.emitError("expected layers that read what they were given "
                          "before they make what they hand on, got value ")
             << argument.getArgNumber() << " that is read later";
    }
    for (Value value = yielded;; value = value.getDefiningOp()->getOperand(0)) {
      wanted[value] = bufferOf(argument);
      if (value == first) {
        break;
      }
    }
  }
  return success();
}

LogicalResult GraphLowering::lower(model::LayersOp op) {
  Block &body = op.getBody().front();
  for (auto [init, argument, result] :
       llvm::zip_equal(op.getInits(), body.getArguments(), op->getResults())) {
    bool isShared = llvm::count(op.getInits(), init) > 1 || !init.hasOneUse();
    if (isShared || isa<BlockArgument>(init)) {
      return op.emitError("expected values of their own for the first layer, "
                          "got one that somebody else reads");
    }
    const Storage first = storage[init]; // a copy: the map moves as it grows
    storage[argument] = first;
    storage[result] = first;
  }
  if (failed(planCarried(op))) {
    return failure();
  }
  int64_t first = op.getFirst();
  auto loop =
      LoopOp::create(plan.builder, plan.location(), plan.constant(first),
                     plan.constant(first + static_cast<int64_t>(op.getCount())),
                     ValueRange(), ValueRange());
  layer = loop.getInductionVars().front();
  layer.setLoc(NameLoc::get(plan.builder.getStringAttr("layer")));
  OpBuilder::InsertionGuard guard(plan.builder);
  plan.builder.setInsertionPointToStart(&loop.getBody().front());
  LogicalResult result = lowerBlock(body);
  layer = {};
  return result;
}

LogicalResult GraphLowering::lower(model::YieldOp op) { return success(); }

LogicalResult GraphLowering::lower(model::ReturnOp op) {
  for (Value value : op->getOperands()) {
    if (bufferOf(value) != wanted.lookup(value)) {
      return op.emitError("expected to return what an op of the graph makes");
    }
  }
  return success();
}
