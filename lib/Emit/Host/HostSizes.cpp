#include "lib/Emit/Host/HostSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;

namespace {
struct SizeSpelling {
  StringRef op, text;
  int precedence; ///< kSizePrimary: a function of the operands
};
} // namespace

static const SizeSpelling kSizeSpellings[] = {
    {"arith.addi", "+", kSizeSum},
    {"arith.subi", "-", kSizeSum},
    {"arith.muli", "*", kSizeProduct},
    {"arith.divsi", "/", kSizeProduct},
    {"arith.divui", "/", kSizeProduct},
    {"arith.remsi", "%", kSizeProduct},
    {"arith.remui", "%", kSizeProduct},
    {"arith.ceildivsi", "ceilDiv", kSizePrimary},
    {"arith.ceildivui", "ceilDiv", kSizePrimary},
    {"arith.floordivsi", "floorDiv", kSizePrimary},
    {"arith.andi", "&&", kSizeAnd},
    {"arith.minsi", "minimum", kSizePrimary},
    {"arith.maxsi", "maximum", kSizePrimary},
    {"arith.select", "select", kSizePrimary},
};

static std::string inParentheses(const std::string &text, int precedence,
                                 int least) {
  return precedence < least ? "(" + text + ")" : text;
}

static StringRef comparison(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return "==";
  case P::ne:
    return "!=";
  case P::slt:
  case P::ult:
    return "<";
  case P::sle:
  case P::ule:
    return "<=";
  case P::sgt:
  case P::ugt:
    return ">";
  case P::sge:
  case P::uge:
    return ">=";
  }
  llvm_unreachable("all predicates are listed");
}

FailureOr<std::pair<std::string, int>> SizeNames::spell(Value value) const {
  using Spelled = std::pair<std::string, int>;
  auto known = names.find(value);
  if (known != names.end()) {
    return Spelled{known->second, kSizePrimary};
  }
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    return Spelled{std::to_string(constant.getSExtValue()), kSizePrimary};
  }
  Operation *op = value.getDefiningOp();
  auto infix = [&](StringRef symbol, int precedence) -> FailureOr<Spelled> {
    FailureOr<std::string> a = text(op->getOperand(0), precedence);
    FailureOr<std::string> b = text(op->getOperand(1), precedence + 1);
    if (failed(a) || failed(b)) {
      return failure();
    }
    return Spelled{*a + " " + symbol.str() + " " + *b, precedence};
  };
  if (op && isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp>(op)) {
    return spell(op->getOperand(0));
  }
  if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op)) {
    return infix(comparison(compare.getPredicate()), kSizeCompare);
  }
  for (const SizeSpelling &row : kSizeSpellings) {
    if (!op || op->getName().getStringRef() != row.op) {
      continue;
    }
    if (row.precedence != kSizePrimary) {
      return infix(row.text, row.precedence);
    }
    SmallVector<std::string> arguments;
    for (Value operand : op->getOperands()) {
      FailureOr<std::string> argument = text(operand);
      if (failed(argument)) {
        return failure();
      }
      arguments.push_back(*argument);
    }
    return Spelled{row.text.str() + "(" + llvm::join(arguments, ", ") + ")",
                   kSizePrimary};
  }
  return emitError(value.getLoc(),
                   "expected a size that the host can compute from the sizes "
                   "of the run, got ")
         << value;
}

FailureOr<std::string> SizeNames::text(Value value, int least) const {
  FailureOr<std::pair<std::string, int>> spelled = spell(value);
  if (failed(spelled)) {
    return failure();
  }
  return inParentheses(spelled->first, spelled->second, least);
}

Value modelc::conditionOf(Value lower, Value upper) {
  auto select = upper.getDefiningOp<arith::SelectOp>();
  bool isCondition = select && matchPattern(lower, m_Zero()) &&
                     matchPattern(select.getTrueValue(), m_One()) &&
                     matchPattern(select.getFalseValue(), m_Zero());
  return isCondition ? select.getCondition() : Value();
}

std::string modelc::productText(ArrayRef<std::string> factors) {
  int64_t constant = 1;
  SmallVector<std::string> texts;
  for (const std::string &factor : factors) {
    int64_t number;
    if (llvm::to_integer(factor, number, 10)) {
      constant *= number;
    } else {
      texts.push_back(factor);
    }
  }
  if (constant != 1 || texts.empty()) {
    texts.push_back(std::to_string(constant));
  }
  return llvm::join(texts, " * ");
}

std::optional<int64_t> modelc::valueIfSizesWere(Value value, int64_t size) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    return constant.getSExtValue();
  }
  Operation *op = value.getDefiningOp();
  if (!op) {
    return size;
  }
  SmallVector<int64_t, 3> in;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> known = valueIfSizesWere(operand, size);
    if (!known) {
      return std::nullopt;
    }
    in.push_back(*known);
  }
  return TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case<arith::AddIOp>([&](auto) { return in[0] + in[1]; })
      .Case<arith::SubIOp>([&](auto) { return in[0] - in[1]; })
      .Case<arith::MulIOp>([&](auto) { return in[0] * in[1]; })
      .Case<arith::MinSIOp>([&](auto) { return std::min(in[0], in[1]); })
      .Case<arith::MaxSIOp>([&](auto) { return std::max(in[0], in[1]); })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([&](auto) {
        return llvm::divideCeilSigned(in[0], std::max<int64_t>(1, in[1]));
      })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(
          [&](auto) { return in[0] / std::max<int64_t>(1, in[1]); })
      .Case<arith::SelectOp>([&](auto) { return std::max(in[1], in[2]); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp>(
          [&](auto) { return in[0]; })
      .Default([&](Operation *) { return std::optional<int64_t>(size); });
}
