//===- GraphExchange.cpp - Sums and gathers over the ranks ----------------===//

#include "lib/Kernels/GraphLowering.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

static Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

static int64_t columnsOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getDimSize(1);
}

Value GraphLowering::meetingPlace(const ExchangeShape &shape, StringRef name,
                                  bool hasRanks) {
  bool isReduce = shape.kind == Exchange::Reduce;
  int64_t width = library.tiling.piece(shape.columns).columns;
  int64_t rows = isReduce ? shape.stagingRows : library.options.maxSequences;
  int64_t tiles = rows * llvm::divideCeil(shape.columns, width);
  std::string source = llvm::formatv(
      "{0}_{1}_{2}", name, isReduce ? "reduce" : "gather", shape.columns);
  SmallVector<int64_t> extents = {kDynamic};
  if (hasRanks) {
    extents.push_back(shape.ranks);
  }
  return plan.named({StorageRole::Peer,
                     source,
                     extents,
                     plan.builder.getI32Type(),
                     {plan.constant(tiles)}});
}

void GraphLowering::launchExchange(Operation *op, const ExchangeShape &shape,
                                   Value x, Value out, Value rows) {
  SmallVector<Value> arguments = {x};
  if (shape.kind == Exchange::Reduce) {
    std::string source = "staging_" + std::to_string(shape.columns);
    arguments.push_back(
        plan.named({StorageRole::Peer,
                    source,
                    {2, shape.ranks, shape.stagingRows, shape.columns},
                    shape.element,
                    {}}));
  }
  arguments.push_back(meetingPlace(shape, "flags", true));
  arguments.push_back(meetingPlace(shape, "epochs", false));
  llvm::append_values(arguments, out, plan.sizes.rank, rows);
  plan.launch(library.exchange(shape), arguments, model::getShortName(op));
}

LogicalResult GraphLowering::lower(model::AllReduceOp op) {
  Value rows = rowsOf(op.getX()), buffer = bufferOf(op.getX());
  if (Value other = wanted.lookup(op.getOut()); other && other != buffer) {
    return op.emitError("expected an all-reduce of a value that nobody else "
                        "reads: it sums in place");
  }
  storage[op.getOut()] = {buffer, rows, {}};
  int64_t ranks = graph.getRanks();
  int64_t few = library.options.maxExchangeRows;
  ExchangeShape shape = {Exchange::Reduce, columnsOf(op.getX()), ranks,
                         elementOf(op.getX()), few};
  plan.when(rows, {1, few},
            [&] { launchExchange(op, shape, buffer, buffer, rows); });
  plan.when(rows, {few + 1, kNoLimit}, [&] {
    CollectiveOp::create(plan.builder, plan.location(),
                         plan.builder.getStringAttr("all_reduce"), buffer, rows,
                         plan.builder.getI64IntegerAttr(ranks),
                         plan.builder.getStringAttr(model::getShortName(op)));
  });
  return success();
}

LogicalResult GraphLowering::lower(model::AllGatherOp op) {
  Value rows = rowsOf(op.getX());
  ExchangeShape shape = {Exchange::Gather, columnsOf(op.getX()),
                         static_cast<int64_t>(graph.getRanks()),
                         elementOf(op.getX()), 0};
  // Peers write to it: not workspace, which may move from run to run.
  Value out = plan.named({StorageRole::Peer,
                          "gathered_" + std::to_string(columnsOf(op.getOut())),
                          {kDynamic, columnsOf(op.getOut())},
                          shape.element,
                          {plan.constant(library.options.maxSequences)}});
  storage[op.getOut()] = {out, rows, {}};
  launchExchange(op, shape, bufferOf(op.getX()), out, rows);
  return success();
}
