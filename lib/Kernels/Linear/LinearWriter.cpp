#include "lib/Kernels/Linear/LinearWriter.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

std::string LinearShape::expertsHit() const {
  auto text = [](int64_t value) { return std::to_string(value); };
  // Each of few pairs of token and expert has a tile, or all experts have one,
  // and what is left fills others.
  std::string tiles = "m / " + text(expertRows);
  std::string pairs = "min(" + tiles + ", " + text(experts) + ") + max(" +
                      tiles + " - " + text(experts) + ", 0) * " +
                      text(expertRows);
  return "experts_hit(" + text(experts) + ", " + text(topK) + ", (" + pairs +
         ") / " + text(topK) + ")";
}

void LinearWriter::declareExperts() {
  if (shape.isOfExperts()) {
    tileExperts = k.buffer("tile_experts", {kDynamic}, k.i32());
  }
}

void LinearWriter::findExpert(Scalar row) {
  if (!tileExperts) {
    return;
  }
  Scalar tile =
      k.name("expert_tile", row / static_cast<double>(shape.expertRows));
  expert =
      k.loadIndex("expert", at(tileExperts, {tile}), "", shape.expertsHit());
}

Scalar LinearWriter::rowOfWeight(Scalar column) const {
  return expert
             ? k.name("weight_row",
                      expert * static_cast<double>(shape.weightRows()) + column)
             : column;
}

void LinearWriter::declareEpilogue() {
  if (shape.isScaled) {
    aScale = k.buffer("a_scale", {kDynamic}, k.f32());
  }
  if (shape.scalesWeightRows()) {
    wScale = k.buffer("w_scale", {shape.allWeightRows()}, k.f32());
  }
  if (shape.isTensorScaled) {
    aScale = k.buffer("a_tensor_scale", {1}, k.f32());
    wScale = k.buffer("w_tensor_scale", {shape.allWeightRows()}, k.f32());
  }
  if (shape.biasType) {
    bias = k.buffer("bias", {shape.allWeightRows()}, shape.biasType);
  }
  if (shape.hasResidual) {
    residual = k.buffer("residual", {kDynamic, shape.columns}, shape.result);
  }
  d = k.buffer("d", {kDynamic, shape.columns}, shape.result);
}

Shape LinearWriter::shapeOf(int64_t rows, int64_t columns) const {
  return isSwapped ? Shape{columns, rows} : Shape{rows, columns};
}

Place LinearWriter::tileAt(Value buffer, ArrayRef<Scalar> offsets,
                           Scalar columnLimit, int64_t rowDim,
                           int64_t columnDim) const {
  Place place = at(buffer, offsets);
  if (isSwapped) {
    return place.walks(columnDim, rowDim).valid({columnLimit, m});
  }
  place = place.walks(rowDim, columnDim);
  return isRagged ? place.valid({m, columnLimit}) : place.valid({m});
}

Value LinearWriter::loadPerRow(StringRef name, Value buffer, Scalar row) {
  Shape vector = isSwapped ? Shape{1, tileM} : Shape{tileM, 1};
  Place place = at(buffer, {row}).walks(0, 0);
  return k.load(name, vector,
                isSwapped ? place.valid({m, m}) : place.valid({m}));
}

Value LinearWriter::loadPerColumn(StringRef name, Value buffer, Scalar column) {
  Shape vector = isSwapped ? Shape{tileN, 1} : Shape{1, tileN};
  Place place = at(buffer, {column}).walks(0, 0);
  if (isRagged) {
    Scalar limit = k.constant(shape.allWeightRows());
    place = isSwapped ? place.valid({limit}) : place.valid({limit, limit});
  }
  return k.load(name, vector, place);
}

/// Scales and biases of gate, then of up.
void LinearWriter::addColumnInputs(SmallVectorImpl<Value> &inputs, Scalar row) {
  if (wScale) {
    inputs.push_back(loadPerColumn("w_scales", wScale, row));
  }
  if (bias) {
    inputs.push_back(loadPerColumn("biases", bias, row));
  }
}

Value LinearWriter::loadInputScale(Scalar row) {
  return shape.isTensorScaled ? k.load("a_tensor_scale", {1, 1},
                                       at(aScale, {k.constant(0)}).walks(0, 0))
                              : loadPerRow("a_scales", aScale, row);
}

Scalar kernels::sumOf(ArrayRef<Scalar> values) {
  Scalar sum = values[0];
  for (Scalar other : values.drop_front()) {
    sum = sum + other;
  }
  return sum;
}

Scalar kernels::finishedSum(Scalar sum, Scalar inputScale, Scalar weightScale,
                            Scalar bias) {
  if (inputScale) {
    sum = sum * (weightScale ? inputScale * weightScale : inputScale);
  }
  return bias ? sum + convert(bias, sum.type()) : sum;
}

Scalar LinearWriter::finishElement(Element e) const {
  unsigned sums = shape.isSwiglu ? 2 : 1, next = sums;
  Scalar inputScale;
  if (aScale) {
    inputScale = e[next++];
  }
  SmallVector<Scalar, 2> values;
  for (unsigned i = 0; i < sums; ++i) {
    Scalar weightScale = wScale ? e[next++] : Scalar();
    Scalar bias = shape.biasType ? e[next++] : Scalar();
    values.push_back(finishedSum(e[i], inputScale, weightScale, bias));
  }
  Scalar value = values[0];
  if (shape.isSwiglu) {
    value = gated(shape.gate(), value, values[1]);
  }
  if (shape.hasResidual) {
    value = value + convert(e[next], k.f32());
  }
  return value;
}

void LinearWriter::storeResult(ValueRange sums, Scalar row, Scalar column) {
  Scalar limit = k.constant(shape.columns);
  SmallVector<Value> inputs(sums);
  if (aScale) {
    inputs.push_back(loadInputScale(row));
  }
  bool isGiven = wScale || bias;
  Scalar weightRow = isGiven ? rowOfWeight(column) : column;
  addColumnInputs(inputs, weightRow);
  if (shape.isSwiglu) {
    addColumnInputs(inputs, upRow(weightRow));
  }
  if (residual) {
    inputs.push_back(k.load("residuals", tile(),
                            tileAt(residual, {row, column}, limit, 0, 1)));
  }
  Value result = k.map("result", shape.result, inputs, [&](Element e) {
    return convert(finishElement(e), shape.result);
  });
  k.store(result, tileAt(d, {row, column}, limit, 0, 1));
}

void LinearWriter::storeParts(Value partial, ValueRange sums, Scalar row,
                              Scalar column, Scalar part) {
  for (auto [i, sum] : llvm::enumerate(sums)) {
    Scalar base = k.constant(i * shape.columns);
    Scalar limit = k.constant((i + 1) * shape.columns);
    k.store(sum, tileAt(partial, {row, part, base + column}, limit, 0, 2));
  }
}

void LinearWriter::askForWeights(Value w, Scalar column, Scalar depth,
                                 const LinearTile &tile) const {
  for (int64_t sum = 0; tile.early && sum < (shape.isSwiglu ? 2 : 1); ++sum) {
    Scalar row = sum ? upRow(column) : column;
    Value limit = isRagged ? k.constant(shape.weightRows()) : Scalar();
    PrefetchOp::create(k.builder, k.builder.getUnknownLoc(), w,
                       ValueRange{row, depth}, limit, tile.n, tile.early);
  }
}

KernelOp kernels::asScheduled(KernelOp kernel, const LinearTile &tile) {
  if (tile.hasPieces()) {
    kernel.setStagger(tile.groups);
  }
  kernel.setRoles(tile.hasRoles);
  if (tile.slots) {
    kernel.setSlots(tile.slots);
  }
  if (tile.workgroupsOfUnit) {
    kernel.setWorkgroupsOfUnit(tile.workgroupsOfUnit);
  }
  if (tile.turns > 1) {
    kernel.setTurns(tile.turns);
  }
  if (tile.resultPiece) {
    kernel.setResultPiece(tile.resultPiece);
  }
  kernel.setCopiesFirst(tile.copiesFirst);
  kernel.setOrdered(tile.splits > 1);
  if (tile.groupRows) {
    kernel.getGrid().setOrder(ArrayRef<int64_t>{1, tile.groupRows});
  }
  if (tile.cluster * tile.sharers > 1) {
    kernel.setCluster(tile.cluster * tile.sharers);
  }
  return kernel;
}
