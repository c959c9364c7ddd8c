//===- Scalar.cpp - Operators on indexes and elements ---------------------===//
//
// Indexes are folded as they are written, so that a family can multiply by its
// tile sizes without leaving constants of 1 behind.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/KernelBuilder.h"
#include "lib/Kernels/Rows/Formats.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

void kernels::insertKernelDialects(DialectRegistry &registry) {
  registry.insert<schedule::ScheduleDialect, arith::ArithDialect,
                  math::MathDialect, vector::VectorDialect>();
}

static std::optional<int64_t> constantOf(Scalar a) {
  llvm::APInt value;
  bool isConstant =
      a.type().isIndex() && matchPattern(a.value, m_ConstantInt(&value));
  return isConstant ? std::optional(value.getSExtValue()) : std::nullopt;
}

template <typename Op, typename... Operands>
static Scalar make(Scalar like, Operands... operands) {
  OpBuilder &builder = like.kernel->builder;
  Value result = Op::create(builder, builder.getUnknownLoc(), operands...);
  return {like.kernel, result};
}

template <typename IntegerOp, typename FloatOp>
static Scalar binary(Scalar a, Scalar b) {
  assert(a.type() == b.type() && "operands of two types");
  return isa<FloatType>(a.type()) ? make<FloatOp>(a, a.value, b.value)
                                  : make<IntegerOp>(a, a.value, b.value);
}

/// A number in the type of `a`.
static Scalar like(Scalar a, double value) {
  if (a.type().isIndex()) {
    return a.kernel->constant(static_cast<int64_t>(value));
  }
  return isa<FloatType>(a.type())
             ? a.kernel->number(a.type(), value)
             : a.kernel->integer(a.type(), static_cast<int64_t>(value));
}

Scalar kernels::operator+(Scalar a, Scalar b) {
  auto x = constantOf(a), y = constantOf(b);
  if (x && y) {
    return a.kernel->constant(*x + *y);
  }
  if (x == 0 || y == 0) {
    return x == 0 ? b : a;
  }
  return binary<arith::AddIOp, arith::AddFOp>(a, b);
}

Scalar kernels::operator-(Scalar a, Scalar b) {
  auto x = constantOf(a), y = constantOf(b);
  if (x && y) {
    return a.kernel->constant(*x - *y);
  }
  return y == 0 ? a : binary<arith::SubIOp, arith::SubFOp>(a, b);
}

Scalar kernels::operator*(Scalar a, Scalar b) {
  auto x = constantOf(a), y = constantOf(b);
  if (x && y) {
    return a.kernel->constant(*x * *y);
  }
  if (x == 1 || y == 1) {
    return x == 1 ? b : a;
  }
  return x == 0 ? a : y == 0 ? b : binary<arith::MulIOp, arith::MulFOp>(a, b);
}

Scalar kernels::operator/(Scalar a, Scalar b) {
  auto x = constantOf(a), y = constantOf(b);
  if (x && y) {
    return a.kernel->constant(*x / *y);
  }
  return y == 1 ? a : binary<arith::DivSIOp, arith::DivFOp>(a, b);
}

Scalar kernels::operator%(Scalar a, Scalar b) {
  auto x = constantOf(a), y = constantOf(b);
  if (y == 1 || (x && y)) {
    return a.kernel->constant(y == 1 ? 0 : *x % *y);
  }
  return make<arith::RemSIOp>(a, a.value, b.value);
}

Scalar kernels::operator+(Scalar a, double b) { return a + like(a, b); }
Scalar kernels::operator-(Scalar a, double b) { return a - like(a, b); }
Scalar kernels::operator*(Scalar a, double b) { return a * like(a, b); }
Scalar kernels::operator/(Scalar a, double b) { return a / like(a, b); }
Scalar kernels::operator%(Scalar a, int64_t b) {
  return a % like(a, static_cast<double>(b));
}

static Scalar compare(Scalar a, Scalar b, arith::CmpIPredicate integer,
                      arith::CmpFPredicate ordered) {
  return isa<FloatType>(a.type())
             ? make<arith::CmpFOp>(a, ordered, a.value, b.value)
             : make<arith::CmpIOp>(a, integer, a.value, b.value);
}

Scalar kernels::operator<(Scalar a, Scalar b) {
  return compare(a, b, arith::CmpIPredicate::slt, arith::CmpFPredicate::OLT);
}
Scalar kernels::operator<=(Scalar a, Scalar b) {
  return compare(a, b, arith::CmpIPredicate::sle, arith::CmpFPredicate::OLE);
}
Scalar kernels::operator>(Scalar a, Scalar b) {
  return compare(a, b, arith::CmpIPredicate::sgt, arith::CmpFPredicate::OGT);
}
Scalar kernels::operator>=(Scalar a, Scalar b) {
  return compare(a, b, arith::CmpIPredicate::sge, arith::CmpFPredicate::OGE);
}
Scalar kernels::operator==(Scalar a, Scalar b) {
  return compare(a, b, arith::CmpIPredicate::eq, arith::CmpFPredicate::OEQ);
}

Scalar kernels::operator&(Scalar a, Scalar b) {
  return make<arith::AndIOp>(a, a.value, b.value);
}
Scalar kernels::operator|(Scalar a, Scalar b) {
  return make<arith::OrIOp>(a, a.value, b.value);
}
Scalar kernels::operator^(Scalar a, Scalar b) {
  return make<arith::XOrIOp>(a, a.value, b.value);
}

Scalar kernels::minimum(Scalar a, Scalar b) {
  auto x = constantOf(a), y = constantOf(b);
  if (x && y) {
    return a.kernel->constant(std::min(*x, *y));
  }
  return binary<arith::MinSIOp, arith::MinimumFOp>(a, b);
}

Scalar kernels::maximum(Scalar a, Scalar b) {
  auto x = constantOf(a), y = constantOf(b);
  if (x && y) {
    return a.kernel->constant(std::max(*x, *y));
  }
  return binary<arith::MaxSIOp, arith::MaximumFOp>(a, b);
}

Scalar kernels::ceilDiv(Scalar a, int64_t b) {
  if (auto x = constantOf(a)) {
    return a.kernel->constant(llvm::divideCeil(*x, b));
  }
  return b == 1 ? a
                : make<arith::CeilDivSIOp>(a, a.value,
                                           a.kernel->constant(b).value);
}

Scalar kernels::select(Scalar condition, Scalar yes, Scalar no) {
  return make<arith::SelectOp>(yes, condition.value, yes.value, no.value);
}

Scalar kernels::multiplyAdd(Scalar a, Scalar b, Scalar c) {
  return make<math::FmaOp>(a, a.value, b.value, c.value);
}
Scalar kernels::any(KernelBuilder &k, Value tile) {
  OpBuilder &builder = k.builder;
  return {&k, schedule::AnyOp::create(builder, tile.getLoc(),
                                      builder.getI1Type(), tile)};
}
Scalar kernels::exp2(Scalar a) { return make<math::Exp2Op>(a, a.value); }
Scalar kernels::rsqrt(Scalar a) { return make<math::RsqrtOp>(a, a.value); }
Scalar kernels::absolute(Scalar a) { return make<math::AbsFOp>(a, a.value); }

Scalar kernels::shiftLeft(Scalar a, int64_t bits) {
  return make<arith::ShLIOp>(a, a.value, a.kernel->integer(a.type(), bits));
}
Scalar kernels::shiftRight(Scalar a, int64_t bits) {
  return make<arith::ShRSIOp>(a, a.value, a.kernel->integer(a.type(), bits));
}

/// Between two float types; one that neither holds the other goes by f32.
static Scalar convertFloat(Scalar a, Type type) {
  unsigned from = a.type().getIntOrFloatBitWidth(),
           to = type.getIntOrFloatBitWidth();
  if (from == to) {
    return convertFloat(convertFloat(a, a.kernel->f32()), type);
  }
  return from < to ? make<arith::ExtFOp>(a, type, a.value)
                   : make<arith::TruncFOp>(a, type, a.value);
}

Scalar kernels::convert(Scalar a, Type type) {
  Type from = a.type();
  if (from == type) {
    return a;
  }
  if (isa<FloatType>(from) && isa<FloatType>(type)) {
    return convertFloat(a, type);
  }
  if (isa<FloatType>(type)) {
    Scalar word = convert(a, a.kernel->i32());
    return make<arith::SIToFPOp>(a, type, word.value);
  }
  assert(!isa<FloatType>(from) && "floats do not become integers here");
  if (from.isIndex() || type.isIndex()) {
    return make<arith::IndexCastOp>(a, type, a.value);
  }
  return from.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth()
             ? make<arith::ExtSIOp>(a, type, a.value)
             : make<arith::TruncIOp>(a, type, a.value);
}

Scalar kernels::convertSaturated(Scalar a, Type type) {
  if (type.getIntOrFloatBitWidth() >= a.type().getIntOrFloatBitWidth()) {
    return convert(a, type);
  }
  double largest = quantisedLimit(type);
  Scalar bounded = minimum(a, like(a, largest));
  return convert(maximum(bounded, like(a, -largest)), type);
}

Scalar kernels::scaleOver(Scalar largest, Type type) {
  constexpr double kLeast = std::numeric_limits<float>::min();
  double most = quantisedLimit(type);
  return select(largest > like(largest, most * kLeast), largest * (1 / most),
                like(largest, 1));
}

Scalar kernels::bitcast(Scalar a, Type type) {
  return make<arith::BitcastOp>(a, type, a.value);
}

Scalar kernels::numberOf(Scalar packed, int64_t index) {
  return make<vector::ExtractOp>(packed, packed.value, index);
}

Scalar kernels::packed(ArrayRef<Scalar> numbers, Type element) {
  SmallVector<Value> values(numbers);
  auto wide = VectorType::get({static_cast<int64_t>(numbers.size())},
                              numbers.front().type());
  Scalar list =
      make<vector::FromElementsOp>(numbers.front(), wide, ValueRange(values));
  return make<arith::TruncFOp>(list, element, list.value);
}

Scalar kernels::bitsAsPacked(Scalar bits, Type element) {
  auto one = VectorType::get({1}, bits.type());
  Scalar list = make<vector::FromElementsOp>(bits, one, ValueRange{bits.value});
  return make<vector::BitCastOp>(list, element, list.value);
}

static constexpr double kLog2E = 1.4426950408889634;

/// x / (1 + 2^exponent) * up.
static Scalar weighBySigmoid(Scalar x, Scalar exponent, Scalar up) {
  // A quotient of all bits takes a dozen instructions, a root two of them.
  Scalar root = rsqrt(exp2(exponent) + 1.0);
  return x * root * root * up;
}

Scalar kernels::timesSigmoid(Scalar x, Scalar gate) {
  Scalar root = rsqrt(exp2(gate * -kLog2E) + 1.0);
  return x * root * root;
}

Scalar kernels::swiglu(Scalar gate, Scalar up) {
  return weighBySigmoid(gate, gate * -kLog2E, up);
}

Scalar kernels::gated(const Gate &gate, Scalar x, Scalar up) {
  switch (gate.gating) {
  case Gating::Silu:
    return swiglu(x, up);
  case Gating::GeluTanh: {
    // (1 + tanh(y)) / 2 = 1 / (1 + e^(-2 y)), y = sqrt(2 / pi) (x + c x^3)
    constexpr double kRootOf2OverPi = 0.7978845608028654, kCubic = 0.044715;
    Scalar inner = x * (x * x * kCubic + 1.0);
    return weighBySigmoid(x, inner * (-2 * kRootOf2OverPi * kLog2E), up);
  }
  case Gating::ClampedSilu: {
    Scalar least = minimum(x, like(x, gate.limit));
    Scalar within =
        maximum(minimum(up, like(up, gate.limit)), like(up, -gate.limit));
    return weighBySigmoid(least, least * (-gate.alpha * kLog2E), within + 1.0);
  }
  }
  llvm_unreachable("all gatings are built");
}
