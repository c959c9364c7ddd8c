//===- LowerExchange.cpp - Sums and gathers over the ranks ----------------===//

#include "lib/Kernels/Graph/Launches.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

NamedValues kernels::meetingPlaces(Lowering &in, const ExchangeShape &shape,
                                   int64_t tileColumns) {
  bool isInTwo = shape.kind == Exchange::ReduceInTwo;
  bool isGather = shape.kind == Exchange::Gather;
  int64_t rows = isGather ? in.library.options.maxSequences : shape.stagingRows;
  int64_t pieces = llvm::divideCeil(shape.columns, tileColumns);
  // Exchanges of one kind that are cut alike share their places: calls follow
  // each other.
  std::string cut = llvm::formatv("_{0}_{1}x{2}_{3}", wordOf(shape.kind), rows,
                                  shape.columns, tileColumns);
  auto peers = [&](StringRef name, ArrayRef<int64_t> extents, Type element,
                   ValueRange sizes) {
    return in.plan.named({StorageRole::Peer, name.str() + cut,
                          SmallVector<int64_t>(extents), element,
                          SmallVector<Value>(sizes)});
  };
  NamedValues places;
  if (isInTwo) {
    int64_t width = pieces * tileColumns / shape.ranks;
    places = {
        {"staging",
         peers("slices", {2, shape.ranks, rows, width}, shape.element, {})},
        {"sums", peers("sums", {2, rows, shape.columns}, shape.element, {})}};
  } else if (!isGather) {
    places = {
        {"staging", peers("staging", {2, shape.ranks, rows, shape.columns},
                          shape.element, {})}};
  }
  Type number = in.plan.builder.getI32Type();
  Value tiles = in.plan.constant(rows * pieces);
  auto counts = [&](StringRef name, ArrayRef<int64_t> extents) {
    places.push_back({name.str(), peers(name, extents, number, tiles)});
  };
  counts("flags", {kDynamic, shape.ranks});
  if (isInTwo) {
    counts("ready", {kDynamic, shape.ranks});
  }
  counts("epochs", {kDynamic});
  return places;
}

static ExchangeShape exchangeOf(model::AllReduceOp op) {
  ExchangeShape shape;
  shape.columns = columnsOf(op.getX());
  shape.ranks = op.getRanks();
  shape.element = elementOf(op.getX());
  return shape;
}

static void launchSum(Lowering &in, model::AllReduceOp op,
                      const SumVariant &way, const NormShape *norm,
                      const NormArguments &arguments, StringRef label) {
  ExchangeShape shape = exchangeOf(op);
  Value x = in.bufferOf(op.getX()), rows = arguments.rows;
  std::string name = model::getShortName(op);
  shape.kind = way.kind.value_or(Exchange::Reduce);
  shape.stagingRows = in.library.tiling.stagingRows(shape.kind, shape.ranks);
  if (way.isFused) {
    NormShape inside = *norm;
    inside.exchange = shape;
    return launchNorm(in, inside, arguments, (Twine(name) + "_norm").str());
  }
  if (way.kind) {
    NamedValues all = {{"x", x}};
    llvm::append_range(
        all, meetingPlaces(in, shape, in.library.tiling.tileOf(shape).columns));
    all.append({{"out", x}, {"rank", in.plan.sizes.rank}, {"m", rows}});
    in.plan.launch(in.library.exchange(shape), all, name);
  } else {
    CollectiveOp::create(in.plan.builder, in.plan.location(),
                         in.plan.builder.getStringAttr("all_reduce"), x, rows,
                         in.plan.builder.getI64IntegerAttr(shape.ranks),
                         in.plan.builder.getStringAttr(name));
  }
  if (norm) {
    launchNorm(in, *norm, arguments, label);
  }
}

/// Memory that a step needs does not depend on which other steps there are.
static void reserveMeetingPlaces(Lowering &in, ExchangeShape shape,
                                 const SumVariant &way, const NormShape *norm) {
  shape.kind = *way.kind;
  shape.stagingRows = in.library.tiling.stagingRows(shape.kind, shape.ranks);
  NormShape inside = norm ? *norm : NormShape();
  inside.exchange = shape;
  RowTile tile = way.isFused ? in.library.tiling.tileOf(inside)
                             : in.library.tiling.tileOf(shape);
  meetingPlaces(in, shape, tile.columns);
}

void kernels::launchSums(Lowering &in, model::AllReduceOp op,
                         const NormShape *norm, const NormArguments &arguments,
                         StringRef label) {
  ExchangeShape shape = exchangeOf(op);
  for (const SumVariant &way : in.library.tiling.possibleSums(shape, norm)) {
    reserveMeetingPlaces(in, shape, way, norm);
  }
  ArrayRef<SumVariant> ways = in.library.sums(shape, norm);
  if (ways.size() == 1) {
    return launchSum(in, op, ways[0], norm, arguments, label);
  }
  for (const SumVariant &way : ways) {
    in.plan.when(arguments.rows, way.rows,
                 [&] { launchSum(in, op, way, norm, arguments, label); });
  }
}

LogicalResult kernels::expectTensorAxis(Operation *op, model::Axis axis) {
  if (axis == model::Axis::Tensor) {
    return success();
  }
  StringRef word = model::stringifyAxis(axis);
  return op->emitError("expected parts and sums of the ranks along tp alone, "
                       "which kernels have, got ")
         << word << "; try " << word << "=1";
}

/// Rows of their own are what no kernel has yet.
static LogicalResult refuseRows(Operation *op, model::Axis axis) {
  return op->emitError("expected ranks with the same rows, which kernels have; "
                       "try ")
         << model::stringifyAxis(axis) << "=1";
}

LogicalResult kernels::lower(Lowering &in, model::GatherRowsOp op) {
  return refuseRows(op, op.getAxis());
}

LogicalResult kernels::lower(Lowering &in, model::ScatterRowsOp op) {
  return refuseRows(op, op.getAxis());
}

LogicalResult kernels::lower(Lowering &in, model::AllReduceOp op) {
  if (failed(expectTensorAxis(op, op.getAxis()))) {
    return failure();
  }
  Value rows = in.rowsOf(op.getX()), buffer = in.bufferOf(op.getX());
  if (Value other = in.wanted.lookup(op.getOut()); other && other != buffer) {
    return op.emitError("expected an all-reduce of a value that nobody else "
                        "reads: it sums in place");
  }
  in.storage[op.getOut()] = {buffer, rows, {}};
  launchSums(in, op, nullptr, {{}, {}, rows}, "");
  return success();
}

LogicalResult kernels::lower(Lowering &in, model::AllGatherOp op) {
  if (failed(expectTensorAxis(op, op.getAxis()))) {
    return failure();
  }
  Value rows = in.rowsOf(op.getX());
  ExchangeShape shape = {Exchange::Gather, columnsOf(op.getX()), op.getRanks(),
                         elementOf(op.getX()), 0};
  // Peers write to it: not workspace, which may move from run to run.
  Value out =
      in.plan.named({StorageRole::Peer,
                     "gathered_" + std::to_string(columnsOf(op.getOut())),
                     {kDynamic, columnsOf(op.getOut())},
                     shape.element,
                     {in.plan.constant(in.library.options.maxSequences)}});
  in.storage[op.getOut()] = {out, rows, {}};
  NamedValues arguments = {{"x", in.bufferOf(op.getX())}};
  llvm::append_range(
      arguments,
      meetingPlaces(in, shape, in.library.tiling.tileOf(shape).columns));
  arguments.append({{"out", out}, {"rank", in.plan.sizes.rank}, {"m", rows}});
  in.plan.launch(in.library.exchange(shape), arguments,
                 model::getShortName(op));
  return success();
}
