#include "lib/Kernels/Rows/Rows.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

Place RowWriter::tileAt(Value buffer, Scalar row, Scalar column,
                        ArrayRef<Scalar> lead) const {
  SmallVector<Scalar> offsets(lead);
  offsets.append({row, column});
  auto first = static_cast<int64_t>(lead.size());
  Place place = at(buffer, offsets).walks(first, first + 1);
  return columns % tile.columns == 0 ? place.valid({m})
                                     : place.valid({m, k.constant(columns)});
}

Place RowWriter::vectorAt(Value buffer, Scalar column) const {
  Place place = at(buffer, {column});
  Scalar limit = k.constant(columns);
  return columns % tile.columns == 0 ? place : place.valid({limit, limit});
}

Value RowWriter::largest(Value tile) const {
  Value magnitude = k.map("magnitude", k.f32(), tile,
                          [](Element e) { return absolute(e[0]); });
  return k.reduce("largest", Combiner::Max, magnitude, 1);
}

Value RowWriter::scaleOf(Value largest, Type type) const {
  return k.map("row_scale", k.f32(), largest,
               [&](Element e) { return scaleOver(e[0], type); });
}

void RowWriter::storeScale(Value scale, Value buffer, Scalar row) const {
  k.store(scale, at(buffer, {row}).walks(0, 0).valid({m}));
}

Value RowWriter::loadScale(Value buffer, Scalar row) const {
  return k.load("row_scale", {tile.rows, 1},
                at(buffer, {row}).walks(0, 0).valid({m}));
}

Value RowWriter::quantise(Value tile, Value scale, Type type) const {
  Value inverse = k.map("inverse", k.f32(), scale,
                        [&](Element e) { return k.number(k.f32(), 1) / e[0]; });
  return k.map("quantised", type, {tile, inverse},
               [&](Element e) { return convertSaturated(e[0] * e[1], type); });
}
