//===- OpPlaces.cpp - Where an op of the long form states its sizes -------===//

#include "lib/Import/Reader.h"

using namespace mlir;
using namespace modelc;

Location modelc::placeOfOp(const Source &source, const Node &op,
                           ArrayRef<Value> inputs) {
  using model::Subject;
  auto stated = [&](StringRef key) {
    const Node *node = op.find(key);
    return node ? std::optional(source.location(node->place)) : std::nullopt;
  };
  // What it reads is as large as the op states that makes it.
  Operation *maker = inputs.front().getDefiningOp();
  std::optional<Location> made =
      maker ? model::findPlace(maker, Subject::Outputs) : std::nullopt;
  return Where(source.location(op.place))
      .about({{Subject::Inputs, made},
              {Subject::Outputs, stated("size")},
              {Subject::Heads, stated("kv_heads")},
              {Subject::HeadDim, stated("head_dim")}})
      .in(source.context);
}
