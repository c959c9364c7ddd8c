#include "lib/Cost/Expressions.h"
#include "dialects/Schedule/Schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace modelc {

bool IndexProgram::isArithmetic(mlir::Operation *op) {
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp,
             arith::DivUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
             arith::FloorDivSIOp, arith::RemSIOp, arith::RemUIOp,
             arith::MinSIOp, arith::MinUIOp, arith::MaxSIOp, arith::MaxUIOp,
             arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::ShLIOp,
             arith::ShRSIOp, arith::ShRUIOp, arith::CmpIOp, arith::SelectOp,
             arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
             arith::ExtUIOp, arith::TruncIOp>(op);
}

static bool isIndexOfLoop(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop =
      argument ? dyn_cast<schedule::LoopOp>(argument.getOwner()->getParentOp())
               : schedule::LoopOp();
  return loop && argument.getArgNumber() < loop.getUpperBounds().size();
}

IndexProgram::IndexProgram(Value root) {
  // Operands before users: a worklist that visits each value twice.
  DenseMap<Value, unsigned> places;
  SmallVector<std::pair<Value, bool>> pending = {{root, false}};
  while (!pending.empty()) {
    auto [value, ready] = pending.pop_back_val();
    if (places.contains(value)) {
      continue;
    }
    mlir::Operation *op = value.getDefiningOp();
    Operation entry;
    auto constant = op ? dyn_cast<arith::ConstantOp>(op) : nullptr;
    auto integer =
        constant ? dyn_cast<IntegerAttr>(constant.getValue()) : nullptr;
    if (integer) {
      entry.op = op;
      entry.constant = value.getType().isInteger(1)
                           ? int64_t(integer.getValue().getZExtValue())
                           : integer.getValue().getSExtValue();
    } else if (!op || !isArithmetic(op)) {
      entry.leaf = value;
    } else if (!ready) {
      pending.push_back({value, true});
      for (Value operand : op->getOperands()) {
        pending.push_back({operand, false});
      }
      continue;
    } else {
      entry.op = op;
      for (Value operand : op->getOperands()) {
        entry.operands.push_back(places.lookup(operand));
      }
    }
    places[value] = list.size();
    list.push_back(std::move(entry));
  }
}

Value IndexProgram::missing(const IndexValues &values) const {
  for (const Operation &entry : list) {
    if (entry.leaf && !values.contains(entry.leaf)) {
      return entry.leaf;
    }
  }
  return {};
}

bool IndexProgram::isKnown(const IndexValues &sizes) const {
  return llvm::all_of(list, [&](const Operation &entry) {
    return !entry.leaf || isIndexOfLoop(entry.leaf) ||
           sizes.contains(entry.leaf);
  });
}

bool IndexProgram::isLinear() const {
  return llvm::all_of(list, [](const Operation &entry) {
    return !entry.op || entry.operands.empty() ||
           isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::IndexCastOp,
               arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp>(entry.op);
  });
}

static bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return a < b;
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return a <= b;
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return a > b;
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return a >= b;
  }
  return false;
}

/// Division by zero answers 0: a size of zero makes an empty grid anyway.
static int64_t divide(int64_t a, int64_t b, int64_t (*how)(int64_t, int64_t)) {
  return b == 0 ? 0 : how(a, b);
}

static int64_t compute(mlir::Operation *op, ArrayRef<int64_t> v) {
  using Divide = int64_t (*)(int64_t, int64_t);
  constexpr Divide kDown = [](int64_t a, int64_t b) { return a / b; };
  constexpr Divide kFloor = [](int64_t a, int64_t b) {
    return llvm::divideFloorSigned(a, b);
  };
  constexpr Divide kCeil = [](int64_t a, int64_t b) {
    return llvm::divideCeilSigned(a, b);
  };
  constexpr Divide kRest = [](int64_t a, int64_t b) { return a % b; };
  return TypeSwitch<mlir::Operation *, int64_t>(op)
      .Case([&](arith::AddIOp) { return v[0] + v[1]; })
      .Case([&](arith::SubIOp) { return v[0] - v[1]; })
      .Case([&](arith::MulIOp) { return v[0] * v[1]; })
      .Case<arith::DivSIOp, arith::DivUIOp>(
          [&](auto) { return divide(v[0], v[1], kDown); })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>(
          [&](auto) { return divide(v[0], v[1], kCeil); })
      .Case([&](arith::FloorDivSIOp) { return divide(v[0], v[1], kFloor); })
      .Case<arith::RemSIOp, arith::RemUIOp>(
          [&](auto) { return divide(v[0], v[1], kRest); })
      .Case<arith::MinSIOp, arith::MinUIOp>(
          [&](auto) { return std::min(v[0], v[1]); })
      .Case<arith::MaxSIOp, arith::MaxUIOp>(
          [&](auto) { return std::max(v[0], v[1]); })
      .Case([&](arith::AndIOp) { return v[0] & v[1]; })
      .Case([&](arith::OrIOp) { return v[0] | v[1]; })
      .Case([&](arith::XOrIOp) { return v[0] ^ v[1]; })
      .Case([&](arith::ShLIOp) { return v[0] << v[1]; })
      .Case<arith::ShRSIOp, arith::ShRUIOp>([&](auto) { return v[0] >> v[1]; })
      .Case([&](arith::CmpIOp cmp) {
        return int64_t(compare(cmp.getPredicate(), v[0], v[1]));
      })
      .Case([&](arith::SelectOp) { return v[0] ? v[1] : v[2]; })
      .Default([&](mlir::Operation *) { return v[0]; }); // casts
}

std::optional<int64_t> IndexProgram::run(const IndexValues &values) const {
  SmallVector<std::optional<int64_t>, 16> results;
  SmallVector<int64_t, 3> operands;
  for (const Operation &entry : list) {
    if (entry.leaf) {
      auto found = values.find(entry.leaf);
      results.push_back(found == values.end()
                            ? std::nullopt
                            : std::optional<int64_t>(found->second));
      continue;
    }
    if (entry.operands.empty()) {
      results.push_back(entry.constant);
      continue;
    }
    operands.clear();
    bool known = true;
    for (unsigned operand : entry.operands) {
      known &= results[operand].has_value();
      operands.push_back(results[operand].value_or(0));
    }
    // A minimum or select may hide an unknown value; it stays unknown.
    results.push_back(known ? std::optional(compute(entry.op, operands))
                            : std::nullopt);
  }
  return results.back();
}

std::optional<int64_t> evaluateIndex(Value value, const IndexValues &values) {
  return IndexProgram(value).run(values);
}

SmallVector<Value> indicesBehind(ValueRange values) {
  SmallVector<Value> pending(values.begin(), values.end()), indices;
  DenseSet<Value> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!value || !seen.insert(value).second) {
      continue;
    }
    if (mlir::Operation *op = value.getDefiningOp()) {
      pending.append(op->operand_begin(), op->operand_end());
      continue;
    }
    if (isIndexOfLoop(value)) {
      indices.push_back(value);
    }
  }
  return indices;
}

} // namespace modelc
