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

/// How exchanges call their buffers, so that kinds share none.
static StringRef nameOf(Exchange kind) {
  switch (kind) {
  case Exchange::Reduce:
    return "reduce";
  case Exchange::ReduceInTwo:
    return "reduce_in_two";
  case Exchange::Gather:
    return "gather";
  }
  llvm_unreachable("all kinds have names");
}

Value GraphLowering::meetingPlace(const ExchangeShape &shape, StringRef name,
                                  bool hasRanks) {
  int64_t width = library.tileOf(shape).columns;
  int64_t rows = shape.kind == Exchange::Gather ? library.options.maxSequences
                                                : shape.stagingRows;
  int64_t tiles = rows * llvm::divideCeil(shape.columns, width);
  std::string source =
      llvm::formatv("{0}_{1}_{2}", name, nameOf(shape.kind), shape.columns);
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
  bool isInTwo = shape.kind == Exchange::ReduceInTwo;
  std::string columns = std::to_string(shape.columns);
  auto peers = [&](const std::string &source, ArrayRef<int64_t> extents) {
    arguments.push_back(plan.named({StorageRole::Peer,
                                    source,
                                    SmallVector<int64_t>(extents),
                                    shape.element,
                                    {}}));
  };
  if (shape.kind == Exchange::Reduce) {
    peers("staging_" + columns,
          {2, shape.ranks, shape.stagingRows, shape.columns});
  } else if (isInTwo) {
    peers("slices_" + columns,
          {2, shape.ranks, shape.stagingRows, shape.columns / shape.ranks});
    peers("sums_" + columns, {2, shape.stagingRows, shape.columns});
  }
  arguments.push_back(meetingPlace(shape, "flags", true));
  if (isInTwo) {
    arguments.push_back(meetingPlace(shape, "ready", true));
  }
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
  ExchangeShape shape = {Exchange::Reduce, columnsOf(op.getX()),
                         static_cast<int64_t>(graph.getRanks()),
                         elementOf(op.getX()), 0};
  Tiling::ExchangeRows most = library.tiling.exchangeRows(shape);
  int64_t done = 0;
  auto upTo = [&](Exchange kind, int64_t last) {
    if (last > done) {
      shape.kind = kind;
      shape.stagingRows = last;
      plan.when(rows, {done + 1, last},
                [&] { launchExchange(op, shape, buffer, buffer, rows); });
      done = last;
    }
  };
  upTo(Exchange::Reduce, most.inOne);
  upTo(Exchange::ReduceInTwo, most.inTwo);
  plan.when(rows, {done + 1, kNoLimit}, [&] {
    CollectiveOp::create(plan.builder, plan.location(),
                         plan.builder.getStringAttr("all_reduce"), buffer, rows,
                         plan.builder.getI64IntegerAttr(shape.ranks),
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
