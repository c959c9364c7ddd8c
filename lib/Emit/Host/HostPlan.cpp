#include "lib/Emit/Host/HostPlan.h"
#include "lib/Text/Text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// The words of a list of tensor names that say what they are: of the first,
/// those behind the layer, without "weight".
static std::string wordsOf(StringRef source) {
  StringRef first = source.split(',').first.trim(" [\"");
  first = first.take_until([](char c) { return c == '"' || c == ' '; });
  size_t layer = first.rfind("{layer}.");
  StringRef words = layer == StringRef::npos ? first : first.substr(layer + 8);
  words.consume_front("model.");
  words.consume_back(".weight");
  StringRef what = source.rsplit(']').second;
  return words.str() + (what.contains("tensor_scale") ? "_tensor_scale"
                        : what.contains("_scale")     ? "_scale"
                                                      : "");
}

/// The name of the argument that the first launch passes the buffer as.
static std::string firstUse(Value buffer) {
  SmallVector<Operation *> users(buffer.getUsers());
  for (Operation *user : llvm::reverse(users)) {
    auto launch = dyn_cast<LaunchOp>(user);
    if (!launch) {
      continue;
    }
    for (auto [name, argument] : launch.getNamedArguments()) {
      if (argument == buffer) {
        return name.str();
      }
    }
  }
  return "buffer";
}

static std::string wishFor(AllocOp op) {
  if (auto name = dyn_cast<NameLoc>(op.getLoc())) {
    return name.getName().str();
  }
  StringRef source = op.getSource().value_or("");
  if (source.empty()) {
    return firstUse(op.getResult());
  }
  return op.getStorage() == StorageRole::Weight ? wordsOf(source)
                                                : source.split(' ').first.str();
}

/// Sets the layers of a buffer: `layer` is the index of a loop with constant
/// trips, or that and a constant.
static LogicalResult setLayers(HostBuffer &buffer, Value layer) {
  APInt place(64, 0), first, last, step(64, 1);
  Value index = layer;
  if (auto sum = layer.getDefiningOp<arith::AddIOp>();
      sum && matchPattern(sum.getRhs(), m_ConstantInt(&place))) {
    index = sum.getLhs();
  }
  auto argument = dyn_cast<BlockArgument>(index);
  auto loop = argument ? dyn_cast<LoopOp>(argument.getOwner()->getParentOp())
                       : LoopOp();
  if (!loop ||
      !matchPattern(loop.getLowerBounds()[argument.getArgNumber()],
                    m_ConstantInt(&first)) ||
      !matchPattern(loop.getUpperBounds()[argument.getArgNumber()],
                    m_ConstantInt(&last)) ||
      (!loop.getSteps().empty() &&
       !matchPattern(loop.getSteps()[argument.getArgNumber()],
                     m_ConstantInt(&step)))) {
    return buffer.op.emitOpError("expected the index of a loop with constant "
                                 "bounds as layer, got ")
           << layer;
  }
  buffer.layer = index;
  buffer.layerStep = step.getSExtValue();
  buffer.firstIndex = first.getSExtValue();
  buffer.firstLayer = buffer.firstIndex + place.getSExtValue();
  buffer.count = llvm::divideCeil(last.getSExtValue() - buffer.firstIndex,
                                  buffer.layerStep);
  return success();
}

/// How many devices share the plan.
static int64_t ranksOf(func::FuncOp plan) {
  auto ranks = plan->getAttrOfType<IntegerAttr>("ranks");
  return ranks ? ranks.getInt() : 1;
}

/// Sets how many of a bound buffer there are.
static LogicalResult bind(HostBuffer &buffer, HostPlan &plan) {
  AllocOp op = buffer.op;
  int64_t sizes = buffer.type().getShape().size();
  int64_t dynamic =
      llvm::count_if(buffer.type().getShape(), [](int64_t n) { return n < 0; });
  if (static_cast<int64_t>(op.getSizes().size()) > dynamic + 1 || sizes > 6) {
    return op.emitOpError("expected at most one size behind those of ")
           << dynamic << " extents and 6 dimensions";
  }
  buffer.first = plan.tensorCount;
  if (static_cast<int64_t>(op.getSizes().size()) == dynamic + 1 &&
      failed(setLayers(buffer, op.getSizes().back()))) {
    return failure();
  }
  if (buffer.role == StorageRole::Peer && buffer.layer) {
    return op.emitOpError("expected one peer buffer for all layers");
  }
  plan.tensorCount += buffer.count + (buffer.role == StorageRole::Peer);
  return success();
}

SmallVector<int64_t> HostBuffer::shape() const {
  SmallVector<int64_t> extents(type().getShape());
  unsigned next = 0;
  for (int64_t &extent : extents) {
    APInt constant;
    if (extent < 0 && matchPattern(AllocOp(op).getSizes()[next++],
                                   m_ConstantInt(&constant))) {
      extent = constant.getSExtValue();
    }
  }
  return extents;
}

std::optional<Layout> HostBuffer::order() const {
  int64_t blocks = packedNumbers(type().getElementType());
  if (blocks != kScalesPerWord) {
    return std::nullopt;
  }
  Layout::Input row = {"row", {}}, block = {"block", {}};
  for (int64_t byte = 1; byte < blocks; byte *= 2) {
    block.bits.push_back({static_cast<int32_t>(byte)});
  }
  if (LayoutAttr packed = type().getPacked()) {
    row.bits = packed.getLayout().input("column").bits;
  }
  int64_t rows = shape().back();
  while (row.size() < rows) {
    row.bits.push_back({static_cast<int32_t>(blocks << row.bits.size())});
  }
  Layout::Output byte = {"byte", static_cast<int32_t>(rows * blocks)};
  return Layout({row, block}, {byte});
}

std::string HostBuffer::source() const {
  std::string text = AllocOp(op).getSource().value_or("").str();
  if (LayoutAttr packed = type().getPacked()) {
    assert(packed.getLayout().inputSize("row") == 1 && "rows of one word");
    text += " packed";
    for (const Layout::Image &byte : packed.getLayout().input("column").bits) {
      text += " " + std::to_string(byte.front());
    }
  }
  return text;
}

FailureOr<std::vector<std::string>>
HostPlan::extents(const HostBuffer &buffer) const {
  std::vector<std::string> result;
  unsigned next = 0;
  AllocOp alloc = buffer.op;
  for (int64_t extent : buffer.type().getShape()) {
    if (extent >= 0) {
      result.push_back(std::to_string(extent));
      continue;
    }
    if (next == alloc.getSizes().size()) {
      return alloc.emitOpError("expected a size for each '?' of ")
             << buffer.type();
    }
    FailureOr<std::string> text =
        sizes.text(alloc.getSizes()[next++], kSizeProduct + 1);
    if (failed(text)) {
      return failure();
    }
    result.push_back(*text);
  }
  return result;
}

/// Sizes before all loops that are used more than once, or named, get a name.
static LogicalResult nameSizes(HostPlan &plan, HostNames &names) {
  unsigned count = 0;
  for (Operation &op : plan.op.getBody().front()) {
    bool isSize = isa_and_nonnull<arith::ArithDialect>(op.getDialect()) &&
                  !op.hasTrait<OpTrait::ConstantLike>() &&
                  op.getResult(0).getType().isIndex();
    auto name = dyn_cast<NameLoc>(op.getLoc());
    if (!isSize || op.use_empty() || (op.hasOneUse() && !name)) {
      continue;
    }
    FailureOr<std::string> text = plan.sizes.text(op.getResult(0));
    if (failed(text)) {
      return failure();
    }
    std::string wish =
        name ? name.getName().str() : "size" + std::to_string(++count);
    plan.derived.push_back({names.fresh(wish), *text});
    plan.sizes.add(op.getResult(0), plan.derived.back().name);
  }
  return success();
}

FailureOr<HostPlan> HostPlan::of(func::FuncOp op, const HostModule &kernels) {
  if (!isName(op.getSymName())) {
    return op.emitOpError("expected a plan to be named by letters, digits and "
                          "'_', got '")
           << op.getSymName() << "'";
  }
  HostPlan plan;
  plan.op = op;
  plan.name = op.getSymName().str();
  plan.ranks = ranksOf(op);
  HostNames names;
  for (auto [argument, wish] :
       llvm::zip_equal(op.getArguments(), sizeNamesOf(op))) {
    std::string name = names.fresh(wish);
    plan.sizes.add(argument, name);
    plan.sizeNames.push_back(name);
  }
  if (failed(nameSizes(plan, names))) {
    return failure();
  }
  WalkResult walk = op.walk([&](AllocOp alloc) {
    if (!isa<BufferType>(alloc.getResult().getType())) {
      alloc.emitOpError("expected a buffer in a plan, got ")
          << alloc.getResult().getType();
      return WalkResult::interrupt();
    }
    HostBuffer buffer;
    buffer.op = alloc;
    buffer.name = names.fresh(wishFor(alloc));
    buffer.role = alloc.getStorage().value_or(StorageRole::Workspace);
    bool isOwn = buffer.role == StorageRole::Workspace;
    if (!isOwn && failed(bind(buffer, plan))) {
      return WalkResult::interrupt();
    }
    (isOwn ? plan.workspace : plan.bindings).push_back(std::move(buffer));
    return WalkResult::advance();
  });
  if (walk.wasInterrupted() || failed(assignSlots(plan, kernels))) {
    return failure();
  }
  return plan;
}

FailureOr<std::vector<HostPlan>> modelc::plansOf(ModuleOp module,
                                                 const HostModule &kernels) {
  std::vector<HostPlan> plans;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!isPlan(function)) {
      continue;
    }
    FailureOr<HostPlan> plan = HostPlan::of(function, kernels);
    if (failed(plan)) {
      return failure();
    }
    plans.push_back(std::move(*plan));
  }
  return plans;
}
