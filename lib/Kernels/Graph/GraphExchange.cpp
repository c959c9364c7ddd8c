//===- GraphExchange.cpp - Sums and gathers over the ranks ----------------===//

#include "lib/Kernels/Graph/GraphLowering.h"
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

SmallVector<Value> GraphLowering::meetingPlaces(const ExchangeShape &shape,
                                                int64_t tileColumns) {
  bool isInTwo = shape.kind == Exchange::ReduceInTwo;
  bool isGather = shape.kind == Exchange::Gather;
  int64_t rows = isGather ? library.options.maxSequences : shape.stagingRows;
  int64_t pieces = llvm::divideCeil(shape.columns, tileColumns);
  // Exchanges of one kind that are cut alike share their places: calls follow
  // each other.
  std::string cut = llvm::formatv("_{0}_{1}x{2}_{3}", wordOf(shape.kind), rows,
                                  shape.columns, tileColumns);
  SmallVector<Value> places;
  auto peers = [&](StringRef name, ArrayRef<int64_t> extents, Type element,
                   ValueRange sizes) {
    places.push_back(plan.named({StorageRole::Peer, name.str() + cut,
                                 SmallVector<int64_t>(extents), element,
                                 SmallVector<Value>(sizes)}));
  };
  if (isInTwo) {
    int64_t width = pieces * tileColumns / shape.ranks;
    peers("slices", {2, shape.ranks, rows, width}, shape.element, {});
    peers("sums", {2, rows, shape.columns}, shape.element, {});
  } else if (!isGather) {
    peers("staging", {2, shape.ranks, rows, shape.columns}, shape.element, {});
  }
  Type number = plan.builder.getI32Type();
  Value tiles = plan.constant(rows * pieces);
  peers("flags", {kDynamic, shape.ranks}, number, tiles);
  if (isInTwo) {
    peers("ready", {kDynamic, shape.ranks}, number, tiles);
  }
  peers("epochs", {kDynamic}, number, tiles);
  return places;
}

ExchangeShape GraphLowering::exchangeOf(model::AllReduceOp op) {
  ExchangeShape shape;
  shape.columns = columnsOf(op.getX());
  shape.ranks = op.getRanks();
  shape.element = elementOf(op.getX());
  return shape;
}

model::AllReduceOp kernels::sumOf(model::NormOp norm) {
  auto sum = norm.getX().getDefiningOp<model::AllReduceOp>();
  return sum && sum->hasOneUse() && sum->getBlock() == norm->getBlock()
             ? sum
             : model::AllReduceOp();
}

void GraphLowering::launchNorm(const NormShape &shape,
                               const NormArguments &arguments,
                               StringRef label) {
  SmallVector<Value> all = arguments.operands;
  if (shape.isExchanged()) {
    llvm::append_range(
        all,
        meetingPlaces(shape.exchange, library.tiling.tileOf(shape).columns));
  }
  llvm::append_range(all, arguments.results);
  if (shape.isExchanged()) {
    all.push_back(plan.sizes.rank);
  }
  all.push_back(arguments.rows);
  plan.launch(library.norm(shape), all, label);
}

void GraphLowering::launchSum(model::AllReduceOp op, const SumVariant &way,
                              const NormShape *norm,
                              const NormArguments &arguments, StringRef label) {
  ExchangeShape shape = exchangeOf(op);
  Value x = bufferOf(op.getX()), rows = arguments.rows;
  std::string name = model::getShortName(op);
  shape.kind = way.kind.value_or(Exchange::Reduce);
  shape.stagingRows = library.tiling.stagingRows(shape.kind, shape.ranks);
  if (way.isFused) {
    NormShape inside = *norm;
    inside.exchange = shape;
    return launchNorm(inside, arguments, (Twine(name) + "_norm").str());
  }
  if (way.kind) {
    SmallVector<Value> all = {x};
    llvm::append_range(
        all, meetingPlaces(shape, library.tiling.tileOf(shape).columns));
    llvm::append_values(all, x, plan.sizes.rank, rows);
    plan.launch(library.exchange(shape), all, name);
  } else {
    CollectiveOp::create(plan.builder, plan.location(),
                         plan.builder.getStringAttr("all_reduce"), x, rows,
                         plan.builder.getI64IntegerAttr(shape.ranks),
                         plan.builder.getStringAttr(name));
  }
  if (norm) {
    launchNorm(*norm, arguments, label);
  }
}

/// Memory that a step needs does not depend on which other steps there are.
void GraphLowering::meetingPlaces(ExchangeShape shape, const SumVariant &way,
                                  const NormShape *norm) {
  shape.kind = *way.kind;
  shape.stagingRows = library.tiling.stagingRows(shape.kind, shape.ranks);
  NormShape inside = norm ? *norm : NormShape();
  inside.exchange = shape;
  RowTile tile = way.isFused ? library.tiling.tileOf(inside)
                             : library.tiling.tileOf(shape);
  meetingPlaces(shape, tile.columns);
}

void GraphLowering::launchSums(model::AllReduceOp op, const NormShape *norm,
                               const NormArguments &arguments,
                               StringRef label) {
  ExchangeShape shape = exchangeOf(op);
  for (const SumVariant &way : library.tiling.possibleSums(shape, norm)) {
    meetingPlaces(shape, way, norm);
  }
  ArrayRef<SumVariant> ways = library.sums(shape, norm);
  if (ways.size() == 1) {
    return launchSum(op, ways[0], norm, arguments, label);
  }
  for (const SumVariant &way : ways) {
    plan.when(arguments.rows, way.rows,
              [&] { launchSum(op, way, norm, arguments, label); });
  }
}

LogicalResult GraphLowering::expectTensorAxis(Operation *op, model::Axis axis) {
  if (axis == model::Axis::Tensor) {
    return success();
  }
  StringRef word = model::stringifyAxis(axis);
  return op->emitError("expected parts and sums of the ranks along tp alone, "
                       "which kernels have, got ")
         << word << "; try " << word << "=1";
}

LogicalResult GraphLowering::lower(model::GatherRowsOp op) {
  return op.emitError("expected ranks with the same rows, which kernels have; "
                      "try ")
         << model::stringifyAxis(op.getAxis()) << "=1";
}

LogicalResult GraphLowering::lower(model::ScatterRowsOp op) {
  return op.emitError("expected ranks with the same rows, which kernels have; "
                      "try ")
         << model::stringifyAxis(op.getAxis()) << "=1";
}

LogicalResult GraphLowering::lower(model::AllReduceOp op) {
  if (failed(expectTensorAxis(op, op.getAxis()))) {
    return failure();
  }
  Value rows = rowsOf(op.getX()), buffer = bufferOf(op.getX());
  if (Value other = wanted.lookup(op.getOut()); other && other != buffer) {
    return op.emitError("expected an all-reduce of a value that nobody else "
                        "reads: it sums in place");
  }
  storage[op.getOut()] = {buffer, rows, {}};
  auto norm = op->hasOneUse() ? dyn_cast<model::NormOp>(*op->getUsers().begin())
                              : model::NormOp();
  if (!norm || sumOf(norm) != op) {
    launchSums(op, nullptr, {{}, {}, rows}, "");
  }
  return success();
}

LogicalResult GraphLowering::lower(model::AllGatherOp op) {
  if (failed(expectTensorAxis(op, op.getAxis()))) {
    return failure();
  }
  Value rows = rowsOf(op.getX());
  ExchangeShape shape = {Exchange::Gather, columnsOf(op.getX()), op.getRanks(),
                         elementOf(op.getX()), 0};
  // Peers write to it: not workspace, which may move from run to run.
  Value out = plan.named({StorageRole::Peer,
                          "gathered_" + std::to_string(columnsOf(op.getOut())),
                          {kDynamic, columnsOf(op.getOut())},
                          shape.element,
                          {plan.constant(library.options.maxSequences)}});
  storage[op.getOut()] = {out, rows, {}};
  SmallVector<Value> arguments = {bufferOf(op.getX())};
  llvm::append_range(
      arguments, meetingPlaces(shape, library.tiling.tileOf(shape).columns));
  llvm::append_values(arguments, out, plan.sizes.rank, rows);
  plan.launch(library.exchange(shape), arguments, model::getShortName(op));
  return success();
}
