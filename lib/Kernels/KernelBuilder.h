//===- KernelBuilder.h - Write a kernel as if it were pseudo code ---------===//
//
// A family is a function that opens a KernelBuilder, declares buffers and
// sizes, and writes loops over tiles with lambdas. `Scalar` is an index of the
// kernel or one element inside a `map`, with the operators of C. Names given
// here become locations, and from them the names in the emitted source.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_KERNELBUILDER_H
#define LIB_KERNELS_KERNELBUILDER_H

#include "dialects/Schedule/Schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <functional>

namespace modelc::kernels {

class KernelBuilder;

/// A scalar value: an index of the kernel, or an element inside a map.
class Scalar {
public:
  Scalar() = default;
  Scalar(KernelBuilder *kernel, mlir::Value value)
      : kernel(kernel), value(value) {}
  operator mlir::Value() const { return value; }
  mlir::Type type() const { return value.getType(); }
  explicit operator bool() const { return static_cast<bool>(value); }

  KernelBuilder *kernel = nullptr;
  mlir::Value value;
};

Scalar operator+(Scalar a, Scalar b);
Scalar operator-(Scalar a, Scalar b);
Scalar operator*(Scalar a, Scalar b);
/// Floats divide; integers round towards zero.
Scalar operator/(Scalar a, Scalar b);
Scalar operator%(Scalar a, Scalar b);
Scalar operator+(Scalar a, double b);
Scalar operator-(Scalar a, double b);
Scalar operator*(Scalar a, double b);
Scalar operator/(Scalar a, double b);
Scalar operator%(Scalar a, int64_t b);
Scalar operator<(Scalar a, Scalar b);
Scalar operator<=(Scalar a, Scalar b);
Scalar operator>(Scalar a, Scalar b);
Scalar operator>=(Scalar a, Scalar b);
Scalar operator==(Scalar a, Scalar b);
Scalar operator&(Scalar a, Scalar b);
Scalar operator|(Scalar a, Scalar b);
Scalar operator^(Scalar a, Scalar b);
Scalar minimum(Scalar a, Scalar b);
Scalar maximum(Scalar a, Scalar b);
Scalar ceilDiv(Scalar a, int64_t b);
Scalar select(Scalar condition, Scalar yes, Scalar no);
/// a * b + c of floats, rounded once.
Scalar multiplyAdd(Scalar a, Scalar b, Scalar c);
Scalar exp2(Scalar a);
Scalar rsqrt(Scalar a);
Scalar absolute(Scalar a);
Scalar shiftLeft(Scalar a, int64_t bits);
/// Arithmetic shift.
Scalar shiftRight(Scalar a, int64_t bits);
/// The same number in another type: floats extend or round to nearest even,
/// indexes and integers truncate or extend their sign.
Scalar convert(Scalar a, mlir::Type type);
/// As `convert`, but beyond the largest number of `type` (quantisedLimit) it is
/// that.
Scalar convertSaturated(Scalar a, mlir::Type type);
/// The scale of numbers whose magnitude is `largest`, in f32, that makes them
/// at most that of `type`; 1 for zeros, and for what is so small that one over
/// the scale would be infinite: it becomes zeros.
Scalar scaleOver(Scalar largest, mlir::Type type);
/// The same bits in another type.
Scalar bitcast(Scalar a, mlir::Type type);

/// One of the numbers of a stored element that holds several.
Scalar numberOf(Scalar packed, int64_t index);
/// The stored element of so many numbers in f32, each rounded to nearest even;
/// what is too large saturates.
Scalar packed(llvm::ArrayRef<Scalar> numbers, mlir::Type element);
/// The stored element of 32 bits that has the bits of an i32.
Scalar bitsAsPacked(Scalar bits, mlir::Type element);

/// x * sigmoid(gate) in f32.
Scalar timesSigmoid(Scalar x, Scalar gate);
/// silu(gate) * up in f32.
Scalar swiglu(Scalar gate, Scalar up);

/// What a gate is put through before it multiplies up.
enum class Gating { Silu, GeluTanh, ClampedSilu };

struct Gate {
  Gating gating = Gating::Silu;
  double alpha = 1, limit = 0; ///< of the clamped one
};

/// f(x) * up in f32. Clamped, x is at most `limit` and up from -limit to limit,
/// and what comes out is x * sigmoid(alpha * x) * (up + 1).
Scalar gated(const Gate &gate, Scalar x, Scalar up);

/// One element of the inputs of a map and where it lies in the tile.
struct Element {
  llvm::SmallVector<Scalar, 4> inputs;
  Scalar row, column;
  Scalar operator[](unsigned i) const { return inputs[i]; }
};

/// A tile of a buffer: where it begins, what its rows and columns walk, and
/// what limits it.
struct Place {
  mlir::Value buffer;
  llvm::SmallVector<mlir::Value, 4> offsets;
  std::optional<std::array<int64_t, 2>> dims;
  llvm::SmallVector<mlir::Value, 2> limits;
  mlir::Value rowIds, pageTable, sequence, peerDevice;
  int64_t pageSize = 0;
  bool isStream = false;
  int64_t tripsAhead = 0;

  /// Rows of the tile walk dimension `row` of the buffer, columns `column`.
  Place walks(int64_t row, int64_t column) const;
  /// Row (and column) coordinates from here on do not exist.
  Place valid(mlir::ValueRange limits) const;
  /// Row r of the tile is row ids[r] of the buffer.
  Place rows(mlir::Value ids) const;
  /// Rows go through the page table of a sequence.
  Place pages(mlir::Value table, mlir::Value sequence, int64_t size) const;
  /// On that device of the group.
  Place peer(mlir::Value device) const;
  /// Read once: need not stay in caches.
  Place stream() const;
  /// By the lanes that multiply it, so many trips before its own; 0: as the
  /// target brings operands.
  Place ahead(int64_t trips) const {
    Place place = *this;
    place.tripsAhead = trips;
    return place;
  }
};

/// The tile of `buffer` that begins at `offsets`.
Place at(mlir::Value buffer, llvm::ArrayRef<Scalar> offsets);

/// Rows and columns of a tile.
struct Shape {
  int64_t rows, columns;
};

/// A value that a loop carries from trip to trip.
struct Carried {
  llvm::StringRef name;
  mlir::Value init;
};

/// The extent of a grid along one index.
struct Axis {
  llvm::StringRef name;
  Scalar extent;
};

/// Whether an element of `tile` that the wave holds is not zero; waves may
/// differ.
Scalar any(KernelBuilder &k, mlir::Value tile);

/// The dialects that kernels are written in.
void insertKernelDialects(mlir::DialectRegistry &registry);

/// Writes one kernel at the insertion point of `builder`.
class KernelBuilder {
public:
  using Values = llvm::SmallVector<mlir::Value, 4>;

  KernelBuilder(mlir::OpBuilder &builder, llvm::StringRef name,
                llvm::StringRef opName, int64_t waves);

  /// A buffer argument. Inner `?` extents are bound by `bindExtent`. `packed`:
  /// how its blocks lie, null: row major.
  mlir::Value buffer(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
                     mlir::Type element, schedule::LayoutAttr packed = {});
  /// A size of the run, which this kernel serves from `minimum` to `maximum`.
  Scalar size(llvm::StringRef name, int64_t minimum, int64_t maximum);
  void bindExtent(mlir::Value buffer, int64_t dimension, Scalar size);

  Scalar constant(int64_t value);
  /// Inside a map: a number of any type.
  Scalar number(mlir::Type type, double value);
  /// Inside a map: an integer of any width.
  Scalar integer(mlir::Type type, int64_t value);
  mlir::Type indexType() { return builder.getIndexType(); }
  mlir::Type f32() { return builder.getF32Type(); }
  mlir::Type i32() { return builder.getI32Type(); }
  mlir::Type i64() { return builder.getI64Type(); }

  /// Gives the value its name.
  Scalar name(llvm::StringRef name, Scalar value);
  mlir::Value name(llvm::StringRef name, mlir::Value value);

  /// Every combination of indexes is one workgroup.
  void grid(llvm::ArrayRef<Axis> axes,
            llvm::function_ref<void(llvm::ArrayRef<Scalar>)> body);
  /// Trips 0 to `trips` - 1. `expect` is demanded where `trips` lives on the
  /// device; else leave it empty.
  Values loop(llvm::StringRef name, Scalar trips, llvm::StringRef expect,
              llvm::ArrayRef<Carried> carried,
              llvm::function_ref<Values(Scalar, mlir::ValueRange)> body);
  void loop(llvm::StringRef name, Scalar trips, llvm::StringRef expect,
            llvm::function_ref<void(Scalar)> body);
  /// Runs the body if the condition holds; `expect` is its probability.
  void when(Scalar condition, llvm::StringRef expect,
            llvm::function_ref<void()> body);

  mlir::Value load(llvm::StringRef name, Shape shape, const Place &place);
  /// One element as an index; `i32` in memory. The cost takes `expect` for it,
  /// and that it has so many `distinct` values.
  Scalar loadIndex(llvm::StringRef name, const Place &place,
                   llvm::StringRef expect = "", llvm::StringRef distinct = "");
  void store(mlir::Value value, const Place &place);

  /// All elements equal.
  mlir::Value fill(llvm::StringRef name, Shape shape, mlir::Type type,
                   double value);
  /// Of a packed type: with the bits of that number.
  mlir::Value fillInteger(llvm::StringRef name, Shape shape, mlir::Type type,
                          int64_t value);
  /// Elementwise; inputs of extent 1 are broadcast.
  mlir::Value map(llvm::StringRef name, mlir::Type type,
                  mlir::ValueRange inputs,
                  llvm::function_ref<Scalar(Element)> body);
  mlir::Value reduce(llvm::StringRef name, schedule::Combiner combiner,
                     mlir::Value value, int64_t dimension);
  /// accumulator + a * b^T.
  mlir::Value mma(llvm::StringRef name, mlir::Value accumulator, mlir::Value a,
                  mlir::Value b);
  /// The same with a scale for each block along K.
  mlir::Value mma(llvm::StringRef name, mlir::Value accumulator, mlir::Value a,
                  mlir::Value b, mlir::Value aScales, mlir::Value bScales);
  /// accumulator + a * b.
  mlir::Value mmaPlain(llvm::StringRef name, mlir::Value accumulator,
                       mlir::Value a, mlir::Value b);

  /// Raises a flag: coordinates, then the value.
  void arrive(const Place &flag, Scalar value);
  /// Waits until a flag has reached the value.
  void wait(const Place &flag, Scalar value);

  /// Ends the kernel; `note` says why it is scheduled so.
  schedule::KernelOp finish(llvm::StringRef note);

  mlir::OpBuilder &builder;

private:
  mlir::Location named(llvm::StringRef name) const;
  mlir::Value mapOver(llvm::StringRef name, Shape shape, mlir::Type type,
                      mlir::ValueRange inputs,
                      llvm::function_ref<Scalar(Element)> body);
  mlir::Value multiply(llvm::StringRef name, mlir::Value accumulator,
                       mlir::Value a, mlir::Value b, bool isTransposed);
  bool isInMap() const;

  mlir::OpBuilder::InsertionGuard guard;
  schedule::KernelOp kernel;
  llvm::SmallVector<mlir::Attribute> argumentNames, ranges, extents;
  llvm::DenseMap<int64_t, mlir::Value> constants;
  mlir::Operation *lastConstant = nullptr;
};

} // namespace modelc::kernels

#endif // LIB_KERNELS_KERNELBUILDER_H
