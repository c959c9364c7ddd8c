//===- Route.cpp - The experts of each token, and their weights -----------===//
//
// A workgroup owns one token: a tile with a row for each group of experts. What
// an expert is chosen by becomes a 64-bit key, as in Sample.cpp: the bits of
// the number above the complement of the expert, so that the lower of equals is
// the larger key. Groups are left out by their own keys, made alike; then the
// largest key is taken as often as experts are chosen.
//
// Scores grow with logits, so where nothing is added to them logits are
// compared: no rounding of an exponential can make two of them equal.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/ExpertFamilies.h"
#include "lib/Kernels/KernelBuilder.h"
#include "lib/Kernels/SortedKeys.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static constexpr double kLog2E = 1.4426950408889634;
static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {
/// One token while it is routed.
struct RoutedToken {
  KernelBuilder &k;
  const RouteShape &shape;
  Scalar token;
  Value logits = {};  ///< in f32, groups x members; minus infinity beyond
  Value scores = {};  ///< null: logits are compared
  Value largest = {}; ///< logit, 1 x 1
  /// What an expert is worth: its logit, or its score.
  Value worth() const { return scores ? scores : logits; }
  int64_t rows() const { return llvm::PowerOf2Ceil(shape.groups); }
  int64_t columns() const { return llvm::PowerOf2Ceil(shape.members()); }
  bool isPadded() const {
    return rows() != shape.groups || columns() != shape.members();
  }
  Value reduceAll(StringRef name, Combiner combiner, Value tile);
  Value load(StringRef name, Value buffer, ArrayRef<Scalar> lead);
  void loadLogits(Value buffer);
  void makeScores();
  Value keys(Value correction);
  Value keysOfGroups(Value keys);
  Value leaveGroupsOut(Value keys);
  Value worthOf(Value key, Value keys);
  SmallVector<Value> weightsOf(ArrayRef<Value> worths);
  void store(StringRef name, Type type, ArrayRef<Value> values, Value buffer);
};
} // namespace

static Scalar sigmoid(Scalar x) {
  KernelBuilder *k = x.kernel;
  return k->number(k->f32(), 1) / (exp2(x * -kLog2E) + 1.0);
}

/// e to the power of how far a number is above another.
static Scalar powerOver(Element e) { return exp2((e[0] - e[1]) * kLog2E); }
static Scalar quotient(Element e) { return e[0] / e[1]; }

Value RoutedToken::reduceAll(StringRef name, Combiner combiner, Value tile) {
  Value ofGroups = k.reduce(name, combiner, tile, 1);
  return rows() == 1 ? ofGroups : k.reduce(name, combiner, ofGroups, 0);
}

/// A number of each expert, behind coordinates of its own.
Value RoutedToken::load(StringRef name, Value buffer, ArrayRef<Scalar> lead) {
  SmallVector<Scalar> offsets(lead);
  offsets.append(2, k.constant(0));
  auto first = static_cast<int64_t>(lead.size());
  Place place = at(buffer, offsets).walks(first, first + 1);
  if (isPadded()) {
    place =
        place.valid({k.constant(shape.groups), k.constant(shape.members())});
  }
  return k.load(name, {rows(), columns()}, place);
}

void RoutedToken::loadLogits(Value buffer) {
  Value loaded = load("logits", buffer, {token});
  logits = k.map("logits", k.f32(), loaded, [&](Element e) {
    Scalar logit = convert(e[0], k.f32());
    if (!isPadded()) {
      return logit;
    }
    Scalar isExpert = (e.row < k.constant(shape.groups)) &
                      (e.column < k.constant(shape.members()));
    return select(isExpert, logit, k.number(k.f32(), -kInfinity));
  });
}

/// Of all experts, where something is added to them.
void RoutedToken::makeScores() {
  if (shape.scoring == Scoring::Sigmoid) {
    scores = k.map("scores", k.f32(), logits,
                   [](Element e) { return sigmoid(e[0]); });
  }
  if (shape.scoring == Scoring::Softmax) {
    Value powers = k.map("powers", k.f32(), {logits, largest}, powerOver);
    Value sum = reduceAll("sum", Combiner::Add, powers);
    scores = k.map("scores", k.f32(), {powers, sum}, quotient);
  }
}

/// What experts are chosen by; columns of padding are never.
Value RoutedToken::keys(Value correction) {
  SmallVector<Value, 2> inputs = {worth()};
  if (correction) {
    inputs.push_back(load("correction", correction, {}));
  }
  return k.map("keys", k.i64(), inputs, [&](Element e) {
    Scalar choice = correction ? e[0] + convert(e[1], k.f32()) : e[0];
    Scalar members = k.constant(shape.members());
    Scalar key = keyOf(choice, e.row * members + e.column);
    if (!isPadded()) {
      return key;
    }
    Scalar isExpert = (e.row < k.constant(shape.groups)) & (e.column < members);
    return select(isExpert, key, k.integer(k.i64(), kLowestKey));
  });
}

/// The same of groups, groups x 1.
Value RoutedToken::keysOfGroups(Value keys) {
  Value best = k.reduce("best", Combiner::Max, keys, 1);
  SmallVector<Value, 2> inputs = {best};
  if (shape.groupScore == GroupScore::TopTwo) {
    Value others = k.map("others", k.i64(), {keys, best}, [&](Element e) {
      return select(e[0] == e[1], k.integer(k.i64(), kLowestKey), e[0]);
    });
    inputs.push_back(k.reduce("second", Combiner::Max, others, 1));
  }
  return k.map("groups", k.i64(), inputs, [&](Element e) {
    Scalar score = numberOfKey(e[0]);
    if (inputs.size() == 2) {
      score = score + numberOfKey(e[1]);
    }
    return select(e.row < k.constant(shape.groups), keyOf(score, e.row),
                  k.integer(k.i64(), kLowestKey));
  });
}

/// Experts of groups that are not kept have the key of what they score then.
Value RoutedToken::leaveGroupsOut(Value keys) {
  Value groups = keysOfGroups(keys), rest = groups, last;
  for (int64_t i = 0; i < shape.keptGroups; ++i) {
    last = k.reduce("kept", Combiner::Max, rest, 0);
    rest = k.map("rest", k.i64(), {rest, last}, [&](Element e) {
      return select(e[0] == e[1], k.integer(k.i64(), kLowestKey), e[0]);
    });
  }
  // Scores are above zero: as logits, what scores zero is below all.
  const bool isZero = scores && shape.groupMask == GroupMask::Zero;
  return k.map("keys", k.i64(), {keys, groups, last}, [&](Element e) {
    Scalar members = k.constant(shape.members());
    Scalar out = keyOf(k.number(k.f32(), isZero ? 0 : -kInfinity),
                       e.row * members + e.column);
    Scalar isExpert = e[0] > k.integer(k.i64(), kLowestKey);
    return select((e[1] < e[2]) & isExpert, out, e[0]);
  });
}

/// Of the chosen expert, without what was added.
Value RoutedToken::worthOf(Value key, Value keys) {
  if (!scores && !shape.correction) {
    return k.map("logit", k.f32(), key,
                 [](Element e) { return numberOfKey(e[0]); });
  }
  Value chosen = k.map("worth", k.f32(), {keys, key, worth()}, [&](Element e) {
    return select(e[0] == e[1], e[2], k.number(k.f32(), 0));
  });
  return reduceAll("worth", Combiner::Add, chosen);
}

SmallVector<Value> RoutedToken::weightsOf(ArrayRef<Value> worths) {
  SmallVector<Value> weights(worths);
  auto forEach = [&](StringRef name, Value other,
                     function_ref<Scalar(Element)> body) {
    for (Value &weight : weights) {
      SmallVector<Value> inputs = {weight};
      if (other) {
        inputs.push_back(other);
      }
      weight = k.map(name, k.f32(), inputs, body);
    }
  };
  auto sum = [&] {
    return k.map("sum", k.f32(), weights, [](Element e) {
      return std::accumulate(
          e.inputs.begin() + 1, e.inputs.end(), e[0],
          [](Scalar sum, Scalar weight) { return sum + weight; });
    });
  };
  if (shape.scoring == Scoring::SoftmaxOfChosen) {
    Value most = k.map("largest", k.f32(), weights, [](Element e) {
      return std::accumulate(e.inputs.begin() + 1, e.inputs.end(), e[0],
                             maximum);
    });
    forEach("power", most, powerOver);
    forEach("weight", sum(), quotient);
  } else if (shape.scoring == Scoring::Softmax && !scores) {
    Value powers = k.map("powers", k.f32(), {logits, largest}, powerOver);
    forEach("power", largest, powerOver);
    forEach("weight", reduceAll("sum", Combiner::Add, powers), quotient);
  } else if (!scores) {
    forEach("weight", {}, [](Element e) { return sigmoid(e[0]); });
  }
  if (shape.isRenormalised) {
    forEach("weight", sum(),
            [&](Element e) { return e[0] / (e[1] + shape.epsilon); });
  }
  if (shape.scale != 1) {
    forEach("weight", {}, [&](Element e) { return e[0] * shape.scale; });
  }
  return weights;
}

/// Numbers of the token side by side.
void RoutedToken::store(StringRef name, Type type, ArrayRef<Value> values,
                        Value buffer) {
  const auto width = static_cast<int64_t>(llvm::PowerOf2Ceil(values.size()));
  SmallVector<Value> inputs(values);
  inputs.push_back(k.fillInteger("places", {1, width}, k.i32(), 0));
  Value row = k.map(name, type, inputs, [&](Element e) {
    Scalar value = e[0];
    for (size_t i = 1; i < values.size(); ++i) {
      value =
          select(e.column == k.constant(static_cast<int64_t>(i)), e[i], value);
    }
    return value;
  });
  Place place = at(buffer, {token, k.constant(0)}).walks(0, 1);
  if (width != shape.topK) {
    place = place.valid({k.constant(INT32_MAX), k.constant(shape.topK)});
  }
  k.store(row, place);
}

/// Whether what experts are chosen by is more than their logits.
static bool comparesScores(const RouteShape &shape) {
  const bool addsScores =
      shape.groups > 1 && shape.groupScore == GroupScore::TopTwo;
  return shape.scoring != Scoring::SoftmaxOfChosen &&
         (shape.correction || addsScores);
}

static void route(RoutedToken token, Value correction, Value chosen,
                  Value weights) {
  KernelBuilder &k = token.k;
  const RouteShape &shape = token.shape;
  if (shape.scoring == Scoring::Softmax) {
    token.largest = token.reduceAll("largest", Combiner::Max, token.logits);
  }
  if (comparesScores(shape)) {
    token.makeScores();
  }
  Value keys = token.keys(correction);
  if (shape.groups > 1) {
    keys = token.leaveGroupsOut(keys);
  }
  SmallVector<Value> experts, worths;
  for (int64_t i = 0; i < shape.topK; ++i) {
    Value best = token.reduceAll("best", Combiner::Max, keys);
    experts.push_back(k.map("expert", k.i32(), best, [&](Element e) {
      return convert(indexOfKey(e[0]), k.i32());
    }));
    worths.push_back(token.worthOf(best, keys));
    keys = k.map("keys", k.i64(), {keys, best}, [&](Element e) {
      return select(e[0] == e[1], k.integer(k.i64(), kLowestKey), e[0]);
    });
  }
  token.store("chosen", k.i32(), experts, chosen);
  token.store("weights", k.f32(), token.weightsOf(worths), weights);
}

KernelOp kernels::buildRoute(OpBuilder &builder, const Label &label,
                             const RouteShape &shape, int64_t waves,
                             Range tokens) {
  KernelBuilder k(builder, label.symbol, label.op, waves);
  constexpr int64_t kDynamic = ShapedType::kDynamic;
  Value logits = k.buffer("logits", {kDynamic, shape.groups, shape.members()},
                          shape.element);
  Value correction;
  if (shape.correction) {
    correction = k.buffer("correction", {shape.groups, shape.members()},
                          shape.correction);
  }
  Value chosen = k.buffer("chosen", {kDynamic, shape.topK}, k.i32());
  Value weights = k.buffer("weights", {kDynamic, shape.topK}, k.f32());
  Scalar count = k.size("tokens", tokens.minimum, tokens.maximum);
  k.grid({{"token", count}}, [&](ArrayRef<Scalar> index) {
    RoutedToken token = {k, shape, index[0]};
    token.loadLogits(logits);
    route(token, correction, chosen, weights);
  });
  return k.finish(label.note);
}
