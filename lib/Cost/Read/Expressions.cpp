#include "lib/Cost/Read/Expressions.h"
#include "dialects/Schedule/Schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace modelc {

using Operands = const std::array<int64_t, 3> &;
using Compute = IndexProgram::Compute;

static Compute compare(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return [](Operands v) { return int64_t(v[0] == v[1]); };
  case arith::CmpIPredicate::ne:
    return [](Operands v) { return int64_t(v[0] != v[1]); };
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return [](Operands v) { return int64_t(v[0] < v[1]); };
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return [](Operands v) { return int64_t(v[0] <= v[1]); };
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return [](Operands v) { return int64_t(v[0] > v[1]); };
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return [](Operands v) { return int64_t(v[0] >= v[1]); };
  }
  llvm_unreachable("a predicate of integers");
}

/// Sums, products and casts: equal values need equal leaves.
static Compute computeLinear(mlir::Operation *op) {
  return TypeSwitch<mlir::Operation *, Compute>(op)
      .Case(
          [](arith::AddIOp) { return [](Operands v) { return v[0] + v[1]; }; })
      .Case(
          [](arith::SubIOp) { return [](Operands v) { return v[0] - v[1]; }; })
      .Case(
          [](arith::MulIOp) { return [](Operands v) { return v[0] * v[1]; }; })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
            arith::ExtUIOp>(
          [](auto) { return [](Operands v) { return v[0]; }; })
      .Default([](mlir::Operation *) { return nullptr; });
}

/// The others. Division by zero answers 0: a size of zero makes an empty grid
/// anyway.
static Compute computeOther(mlir::Operation *op) {
  return TypeSwitch<mlir::Operation *, Compute>(op)
      .Case<arith::DivSIOp, arith::DivUIOp>([](auto) {
        return [](Operands v) { return v[1] == 0 ? 0 : v[0] / v[1]; };
      })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([](auto) {
        return [](Operands v) {
          return v[1] == 0 ? 0 : llvm::divideCeilSigned(v[0], v[1]);
        };
      })
      .Case([](arith::FloorDivSIOp) {
        return [](Operands v) {
          return v[1] == 0 ? 0 : llvm::divideFloorSigned(v[0], v[1]);
        };
      })
      .Case<arith::RemSIOp, arith::RemUIOp>([](auto) {
        return [](Operands v) { return v[1] == 0 ? 0 : v[0] % v[1]; };
      })
      .Case<arith::MinSIOp, arith::MinUIOp>(
          [](auto) { return [](Operands v) { return std::min(v[0], v[1]); }; })
      .Case<arith::MaxSIOp, arith::MaxUIOp>(
          [](auto) { return [](Operands v) { return std::max(v[0], v[1]); }; })
      .Case(
          [](arith::AndIOp) { return [](Operands v) { return v[0] & v[1]; }; })
      .Case([](arith::OrIOp) { return [](Operands v) { return v[0] | v[1]; }; })
      .Case(
          [](arith::XOrIOp) { return [](Operands v) { return v[0] ^ v[1]; }; })
      .Case(
          [](arith::ShLIOp) { return [](Operands v) { return v[0] << v[1]; }; })
      .Case<arith::ShRSIOp, arith::ShRUIOp>(
          [](auto) { return [](Operands v) { return v[0] >> v[1]; }; })
      .Case([](arith::CmpIOp cmp) { return compare(cmp.getPredicate()); })
      .Case([](arith::SelectOp) {
        return [](Operands v) { return v[0] ? v[1] : v[2]; };
      })
      .Case([](arith::TruncIOp) { return [](Operands v) { return v[0]; }; })
      .Default([](mlir::Operation *) { return nullptr; });
}

static bool isIndexOfLoop(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop =
      argument ? dyn_cast<schedule::LoopOp>(argument.getOwner()->getParentOp())
               : schedule::LoopOp();
  return loop && argument.getArgNumber() < loop.getUpperBounds().size();
}

/// The value of a constant; truth is 1.
static std::optional<int64_t> constantOf(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto integer =
      constant ? dyn_cast<IntegerAttr>(constant.getValue()) : nullptr;
  if (!integer) {
    return std::nullopt;
  }
  return value.getType().isInteger(1)
             ? int64_t(integer.getValue().getZExtValue())
             : integer.getValue().getSExtValue();
}

IndexProgram::IndexProgram(Value root) {
  // Operands before users: a worklist that visits each value twice.
  SmallVector<Value, 8> places;
  SmallVector<std::pair<Value, bool>, 8> pending = {{root, false}};
  while (!pending.empty()) {
    auto [value, ready] = pending.pop_back_val();
    if (llvm::is_contained(places, value)) {
      continue;
    }
    mlir::Operation *op = value.getDefiningOp();
    Operation entry;
    if (std::optional<int64_t> constant = constantOf(value)) {
      entry.constant = *constant;
    } else if (Compute known = op ? computeLinear(op) : nullptr) {
      entry.compute = known;
    } else if (Compute other = op ? computeOther(op) : nullptr) {
      entry.compute = other;
      linear = false;
    } else {
      entry.leaf = value;
    }
    if (entry.compute && !ready) {
      pending.push_back({value, true});
      for (Value operand : op->getOperands()) {
        pending.push_back({operand, false});
      }
      continue;
    }
    if (entry.compute) {
      for (auto [position, operand] : llvm::enumerate(op->getOperands())) {
        entry.operands[position] = llvm::find(places, operand) - places.begin();
      }
      bool scales = llvm::any_of(op->getOperands(), [](Value operand) {
        return constantOf(operand).has_value();
      });
      line &= linear && (!isa<arith::MulIOp>(op) || scales);
    }
    places.push_back(value);
    list.push_back(entry);
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

bool IndexProgram::reads(Value leaf) const {
  return llvm::any_of(
      list, [&](const Operation &entry) { return entry.leaf == leaf; });
}

bool IndexProgram::isKnown(const IndexValues &sizes) const {
  return llvm::all_of(list, [&](const Operation &entry) {
    return !entry.leaf || isIndexOfLoop(entry.leaf) ||
           sizes.contains(entry.leaf);
  });
}

std::optional<int64_t> IndexProgram::run(const IndexValues &values) const {
  SmallVector<int64_t, 16> results;
  for (const Operation &entry : list) {
    if (entry.leaf) {
      auto found = values.find(entry.leaf);
      if (found == values.end()) {
        // A minimum or select may hide an unknown value; it stays unknown.
        return std::nullopt;
      }
      results.push_back(found->second);
    } else if (entry.compute) {
      results.push_back(
          entry.compute({results[entry.operands[0]], results[entry.operands[1]],
                         results[entry.operands[2]]}));
    } else {
      results.push_back(entry.constant);
    }
  }
  return results.back();
}

std::optional<int64_t> evaluateIndex(Value value, const IndexValues &values) {
  return IndexProgram(value).run(values);
}

SmallVector<Value> indicesBehind(ValueRange values,
                                 function_ref<bool(Value)> isEnd) {
  SmallVector<Value> pending(values.begin(), values.end()), indices;
  DenseSet<Value> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!value || !seen.insert(value).second || (isEnd && isEnd(value))) {
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
