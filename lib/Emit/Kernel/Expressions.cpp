//===- Expressions.cpp - Scalar arithmetic as C ---------------------------===//

#include "lib/Emit/Kernel/Printer.h"
#include "lib/Text/Text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace modelc;

std::string modelc::atLeast(const Expression &expression, int least) {
  return expression.precedence < least ? "(" + expression.text + ")"
                                       : expression.text;
}

namespace {
enum class Form { Infix, Call, Prefix };
struct Spelling {
  StringRef op, text;
  Form form;
  int precedence = kPrimary;
};
} // namespace

/// The table: an op of `arith` or `math`, and what it is in C. Functions are
/// those of the prelude.
static const Spelling kSpellings[] = {
    {"arith.addi", "+", Form::Infix, 12},
    {"arith.subi", "-", Form::Infix, 12},
    {"arith.muli", "*", Form::Infix, 13},
    {"arith.divsi", "/", Form::Infix, 13},
    {"arith.divui", "/", Form::Infix, 13},
    {"arith.remsi", "%", Form::Infix, 13},
    {"arith.remui", "%", Form::Infix, 13},
    {"arith.ceildivsi", "ceilDiv", Form::Call},
    {"arith.ceildivui", "ceilDiv", Form::Call},
    {"arith.floordivsi", "floorDiv", Form::Call},
    {"arith.shli", "<<", Form::Infix, 11},
    {"arith.shrsi", ">>", Form::Infix, 11},
    {"arith.shrui", "shiftRight", Form::Call},
    {"arith.andi", "&", Form::Infix, 7},
    {"arith.xori", "^", Form::Infix, 6},
    {"arith.ori", "|", Form::Infix, 5},
    {"arith.minsi", "minimum", Form::Call},
    {"arith.maxsi", "maximum", Form::Call},
    {"arith.minui", "minimumUnsigned", Form::Call},
    {"arith.maxui", "maximumUnsigned", Form::Call},
    {"arith.addf", "+", Form::Infix, 12},
    {"arith.subf", "-", Form::Infix, 12},
    {"arith.mulf", "*", Form::Infix, 13},
    {"arith.divf", "/", Form::Infix, 13},
    {"arith.negf", "-", Form::Prefix, kUnary},
    {"arith.maximumf", "maximum", Form::Call},
    {"arith.maxnumf", "maximum", Form::Call},
    {"arith.minimumf", "minimum", Form::Call},
    {"arith.minnumf", "minimum", Form::Call},
    {"math.absf", "absolute", Form::Call},
    {"math.absi", "absolute", Form::Call},
    {"math.ceil", "ceil", Form::Call},
    {"math.copysign", "copySign", Form::Call},
    {"math.cos", "cos", Form::Call},
    {"math.erf", "erf", Form::Call},
    {"math.exp", "exp", Form::Call},
    {"math.exp2", "exp2", Form::Call},
    {"math.floor", "floor", Form::Call},
    {"math.fma", "fma", Form::Call},
    {"math.log", "log", Form::Call},
    {"math.log2", "log2", Form::Call},
    {"math.powf", "power", Form::Call},
    {"math.roundeven", "roundEven", Form::Call},
    {"math.rsqrt", "rsqrt", Form::Call},
    {"math.sin", "sin", Form::Call},
    {"math.sqrt", "sqrt", Form::Call},
    {"math.tanh", "tanhOf", Form::Call},
};

static const Spelling *spellingOf(Operation *op) {
  for (const Spelling &row : kSpellings) {
    if (op->getName().getStringRef() == row.op) {
      return &row;
    }
  }
  return nullptr;
}

/// The function that rounds a float to a narrower type.
static std::string narrowing(Type type) {
  return type.isBF16() ? "toBf16" : type.isF16() ? "toF16" : "toF8";
}

static bool isNarrow(Type type) {
  return isa<FloatType>(type) && !type.isF32();
}

static Expression floatLiteral(const APFloat &value, Type type) {
  std::string text;
  if (value.isNaN()) {
    text = "kNaN";
  } else if (value.isInfinity()) {
    text = value.isNegative() ? "-kInfinity" : "kInfinity";
  } else {
    APFloat single = value;
    bool exact;
    single.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &exact);
    text = exactReal(single.convertToFloat()) + "f";
  }
  int precedence = text[0] == '-' ? kUnary : kPrimary;
  if (isNarrow(type)) {
    return {narrowing(type) + "(" + text + ")", kPrimary};
  }
  return {text, precedence};
}

static Expression literal(Attribute attribute) {
  if (auto list = dyn_cast<SplatElementsAttr>(attribute)) { // of one
    return literal(list.getSplatValue<Attribute>());
  }
  if (auto number = dyn_cast<FloatAttr>(attribute)) {
    return floatLiteral(number.getValue(), number.getType());
  }
  auto integer = cast<IntegerAttr>(attribute);
  if (integer.getType().isInteger(1)) {
    return {integer.getValue().isZero() ? "false" : "true", kPrimary};
  }
  int64_t value = integer.getValue().getSExtValue();
  std::string text = std::to_string(value);
  if (value == INT32_MIN || value == INT64_MIN) {
    bool isWord = value == INT32_MIN;
    text = isWord ? "(-2147483647 - 1)" : "(-9223372036854775807LL - 1)";
    return {text, kPrimary};
  }
  if (value > INT32_MAX || value < INT32_MIN) {
    text += "LL";
  }
  return {text, value < 0 ? kUnary : kPrimary};
}

static Expression call(StringRef function, ArrayRef<std::string> arguments) {
  return {(function + "(" + llvm::join(arguments, ", ") + ")").str(), kPrimary};
}

/// Operators of bits and of logic keep their parentheses: few know their order.
static Expression infix(StringRef symbol, int precedence, const Expression &a,
                        const Expression &b) {
  bool isBits = precedence == 11 || (precedence >= 5 && precedence <= 7);
  int right = isBits ? kUnary : precedence == 3 ? 5 : precedence + 1;
  int left = a.precedence == precedence ? precedence
             : isBits                   ? kUnary
                                        : right - 1;
  return {atLeast(a, left) + " " + symbol.str() + " " + atLeast(b, right),
          precedence};
}

static Expression compareIntegers(arith::CmpIOp op, Expression a,
                                  Expression b) {
  using P = arith::CmpIPredicate;
  P predicate = op.getPredicate();
  bool isUnsigned = predicate == P::ult || predicate == P::ule ||
                    predicate == P::ugt || predicate == P::uge;
  if (isUnsigned) {
    a = {"(unsigned)" + atLeast(a, kUnary), kUnary};
    b = {"(unsigned)" + atLeast(b, kUnary), kUnary};
  }
  switch (predicate) {
  case P::eq:
    return infix("==", 8, a, b);
  case P::ne:
    return infix("!=", 8, a, b);
  case P::slt:
  case P::ult:
    return infix("<", 9, a, b);
  case P::sle:
  case P::ule:
    return infix("<=", 9, a, b);
  case P::sgt:
  case P::ugt:
    return infix(">", 9, a, b);
  case P::sge:
  case P::uge:
    return infix(">=", 9, a, b);
  }
  llvm_unreachable("all predicates are listed");
}

/// Unordered comparisons are the negation of the opposite ordered one.
static Expression compareFloats(arith::CmpFOp op, const Expression &a,
                                const Expression &b) {
  using P = arith::CmpFPredicate;
  auto no = [](const Expression &e) {
    return Expression{"!" + atLeast(e, kPrimary), kUnary};
  };
  switch (op.getPredicate()) {
  case P::OEQ:
    return infix("==", 8, a, b);
  case P::UNE:
    return infix("!=", 8, a, b);
  case P::OLT:
    return infix("<", 9, a, b);
  case P::OLE:
    return infix("<=", 9, a, b);
  case P::OGT:
    return infix(">", 9, a, b);
  case P::OGE:
    return infix(">=", 9, a, b);
  case P::UGE:
    return no(infix("<", 9, a, b));
  case P::UGT:
    return no(infix("<=", 9, a, b));
  case P::ULE:
    return no(infix(">", 9, a, b));
  case P::ULT:
    return no(infix(">=", 9, a, b));
  case P::ORD:
    return infix("&&", 4, infix("==", 8, a, a), infix("==", 8, b, b));
  case P::UNO:
    return infix("||", 3, infix("!=", 8, a, a), infix("!=", 8, b, b));
  default:
    return {"", 0};
  }
}

static bool isListOfOne(Operation *op) {
  return isa<vector::BroadcastOp>(op) &&
         schedule::packedNumbers(op->getResult(0).getType()) == 1;
}

/// Stored elements that hold several numbers: one of them, a list of numbers
/// as arguments, their rounding, the same bits; empty text: none of these.
static Expression packing(Operation *op, ArrayRef<Expression> in) {
  if (auto extract = dyn_cast<vector::ExtractOp>(op)) {
    std::string index = std::to_string(extract.getStaticPosition()[0]);
    return {atLeast(in[0], kPrimary) + "[" + index + "]", kPrimary};
  }
  // A list of one is its broadcast.
  if (isa<vector::FromElementsOp>(op) || isListOfOne(op)) {
    std::string list =
        llvm::join(llvm::map_range(in, [](auto &e) { return e.text; }), ", ");
    // Words are a value; numbers only become one when they are packed.
    Type type = op->getResult(0).getType();
    bool areWords = schedule::numberType(type).isInteger(64);
    return {areWords ? elementName(type) + "{" + list + "}" : list, kPrimary};
  }
  Type type = op->getResult(0).getType();
  if (isa<vector::BitCastOp>(op)) {
    return call("bitsAs<" + elementName(type) + ">", {in[0].text});
  }
  bool rounds = isa<arith::TruncFOp>(op) && isa<VectorType>(type);
  return rounds ? call("to" + capitalised(elementName(type)), {in[0].text})
                : Expression{"", 0};
}

/// Conversions between types; empty text: not one.
static Expression conversion(Operation *op, const Expression &in) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  auto cast = [&](StringRef type) {
    return Expression{("(" + type + ")").str() + atLeast(in, kUnary), kUnary};
  };
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    return to.isInteger(64) || from.isInteger(64) ? cast(elementName(to)) : in;
  }
  if (isa<arith::ExtSIOp, arith::TruncIOp, arith::FPToSIOp, arith::SIToFPOp>(
          op)) {
    return from.isInteger(1)
               ? Expression{"-" + cast(elementName(to)).text, kUnary}
               : cast(elementName(to));
  }
  if (isa<arith::ExtUIOp>(op)) {
    return from.isInteger(1)
               ? cast(elementName(to))
               : call("widenUnsigned<" + elementName(to) + ">", {in.text});
  }
  if (isa<arith::UIToFPOp>(op)) {
    return {"(float)(unsigned)" + atLeast(in, kUnary), kUnary};
  }
  if (isa<arith::FPToUIOp>(op)) {
    return {"(int)(unsigned)" + atLeast(in, kUnary), kUnary};
  }
  if (isa<arith::BitcastOp>(op)) {
    return call("bitsAs<" + elementName(to) + ">", {in.text});
  }
  return {"", 0};
}

Expression KernelPrinter::operation(Operation *op) {
  auto operand = [&](unsigned i) { return expression(op->getOperand(i)); };
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    return compareIntegers(compare, operand(0), operand(1));
  }
  SmallVector<Expression> in;
  for (Value value : op->getOperands()) {
    Expression e = expression(value);
    // Narrow types have no arithmetic: it is done in single precision.
    if (isNarrow(value.getType()) &&
        !isa<arith::SelectOp, arith::BitcastOp>(op)) {
      e = call("toFloat", {e.text});
    }
    in.push_back(e);
  }
  if (isa<arith::SelectOp>(op)) {
    return {atLeast(in[0], kConditional + 1) + " ? " +
                atLeast(in[1], kConditional + 1) + " : " +
                atLeast(in[2], kConditional),
            kConditional};
  }
  if (Expression result = packing(op, in); !result.text.empty()) {
    return result;
  }
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    return compareFloats(compare, in[0], in[1]);
  }
  Expression result = conversion(op, in.empty() ? Expression{"", 0} : in[0]);
  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
    result = in[0];
  } else if (const Spelling *row = spellingOf(op)) {
    bool isBool = op->getResult(0).getType().isInteger(1);
    if (row->form == Form::Call) {
      result = call(
          functionOf(op, row->text),
          llvm::map_to_vector(in, [](const Expression &e) { return e.text; }));
    } else if (row->form == Form::Prefix) {
      result = {row->text.str() + atLeast(in[0], kPrimary), row->precedence};
    } else if (isBool && isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op)) {
      result = isa<arith::AndIOp>(op)  ? infix("&&", 4, in[0], in[1])
               : isa<arith::OrIOp>(op) ? infix("||", 3, in[0], in[1])
                                       : infix("!=", 8, in[0], in[1]);
    } else {
      result = infix(row->text, row->precedence, in[0], in[1]);
    }
  }
  if (!result.text.empty() && isNarrow(op->getResult(0).getType()) &&
      !isa<arith::BitcastOp>(op)) {
    result = call(narrowing(op->getResult(0).getType()), {result.text});
  }
  return result;
}

Expression KernelPrinter::expression(Value value) {
  auto known = spelled.find(value);
  if (known != spelled.end()) {
    return {known->second, kPrimary};
  }
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant))) {
    return literal(constant);
  }
  return operation(value.getDefiningOp());
}

std::string KernelPrinter::text(Value value, int least) {
  return atLeast(expression(value), least);
}

bool KernelPrinter::isInlined(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() ||
         (op->hasOneUse() &&
          op->getBlock() == op->getUsers().begin()->getBlock() &&
          !isa<NameLoc>(op->getLoc()));
}

LogicalResult KernelPrinter::printScalar(Operation *op) {
  if (op->use_empty() || op->hasTrait<OpTrait::ConstantLike>()) {
    return success();
  }
  Expression e = operation(op);
  std::string type = elementName(op->getResult(0).getType());
  bool isList =
      (isa<vector::FromElementsOp>(op) || isListOfOne(op)) && isInlined(op);
  if (e.text.empty() || (type.empty() && !isList)) {
    return op->emitOpError("expected an operation that has a spelling, got '")
           << op->getName()
           << "'; add it to the table of lib/Emit/Kernel/Expressions.cpp";
  }
  if (isInlined(op)) {
    return success();
  }
  // What converts nothing in the target language needs no second name.
  if (e.text == text(op->getOperand(0)) && e.precedence == kPrimary) {
    spelled[op->getResult(0)] = e.text;
    return success();
  }
  std::string name = nameOf(op->getResult(0), wishFor(op->getResult(0)));
  line("const " + type + " " + name + " = " + e.text + ";");
  return success();
}
