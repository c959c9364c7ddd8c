#include "lib/Kernels/KernelBuilder.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Place kernels::at(Value buffer, ArrayRef<Scalar> offsets) {
  Place place;
  place.buffer = buffer;
  place.offsets.assign(offsets.begin(), offsets.end());
  return place;
}

Place Place::walks(int64_t row, int64_t column) const {
  Place place = *this;
  place.dims = {row, column};
  return place;
}

Place Place::valid(ValueRange limits) const {
  Place place = *this;
  place.limits.assign(limits.begin(), limits.end());
  return place;
}

Place Place::rows(Value ids) const {
  Place place = *this;
  place.rowIds = ids;
  return place;
}

Place Place::pages(Value table, Value sequence, int64_t size) const {
  Place place = *this;
  place.pageTable = table;
  place.sequence = sequence;
  place.pageSize = size;
  return place;
}

Place Place::peer(Value device) const {
  Place place = *this;
  place.peerDevice = device;
  return place;
}

Place Place::stream() const {
  Place place = *this;
  place.isStream = true;
  return place;
}

/// What the rows and columns of a tile walk, or null where it goes without
/// saying: the last two dimensions of the buffer.
static DenseI64ArrayAttr dimsOf(OpBuilder &builder, const Place &place,
                                Type value) {
  auto tile = dyn_cast<TileType>(value);
  if (!tile) {
    return {};
  }
  int64_t rank = cast<BufferType>(place.buffer.getType()).getRank();
  std::array<int64_t, 2> last = {std::max<int64_t>(rank - 2, 0), rank - 1};
  std::array<int64_t, 2> dims = place.dims.value_or(last);
  bool isDefault = rank > 1 && dims[0] == rank - 2 && dims[1] == rank - 1 &&
                   tile.getRows() > 1;
  return isDefault ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(dims);
}

/// Null where there are none.
static IntegerAttr countOf(OpBuilder &builder, int64_t count) {
  return count ? builder.getI64IntegerAttr(count) : IntegerAttr();
}

//===----------------------------------------------------------------------===//
// Kernel and arguments
//===----------------------------------------------------------------------===//

KernelBuilder::KernelBuilder(OpBuilder &builder, StringRef name,
                             StringRef opName, int64_t waves)
    : builder(builder), guard(builder) {
  OperationState state(named(name), KernelOp::getOperationName());
  auto &properties = state.getOrAddProperties<KernelOp::Properties>();
  properties.sym_name = builder.getStringAttr(name);
  properties.function_type = TypeAttr::get(builder.getFunctionType({}, {}));
  properties.arg_names = builder.getStrArrayAttr({});
  properties.guard = builder.getArrayAttr({});
  properties.waves = builder.getI64IntegerAttr(waves);
  properties.op_name = builder.getStringAttr(opName);
  state.addRegion()->emplaceBlock();
  kernel = cast<KernelOp>(builder.create(state));
  builder.setInsertionPointToStart(&kernel.getEntry());
}

Location KernelBuilder::named(StringRef name) const {
  Location unnamed = builder.getUnknownLoc();
  return name.empty() ? unnamed : NameLoc::get(builder.getStringAttr(name));
}

Value KernelBuilder::buffer(StringRef name, ArrayRef<int64_t> shape,
                            Type element, LayoutAttr packed) {
  argumentNames.push_back(builder.getStringAttr(name));
  Type type = BufferType::get(builder.getContext(), shape, element, packed);
  return kernel.getEntry().addArgument(type, named(name));
}

Scalar KernelBuilder::size(StringRef name, int64_t minimum, int64_t maximum) {
  argumentNames.push_back(builder.getStringAttr(name));
  ranges.push_back(
      RangeAttr::get(builder.getContext(), name, minimum, maximum, 1));
  return {this,
          kernel.getEntry().addArgument(builder.getIndexType(), named(name))};
}

void KernelBuilder::bindExtent(Value buffer, int64_t dimension, Scalar size) {
  auto nameOf = [&](Value argument) {
    unsigned number = cast<BlockArgument>(argument).getArgNumber();
    return cast<StringAttr>(argumentNames[number]).getValue();
  };
  extents.push_back(ExtentAttr::get(builder.getContext(), nameOf(buffer),
                                    dimension, nameOf(size.value)));
}

KernelOp KernelBuilder::finish(StringRef note) {
  SmallVector<Type> types(kernel.getEntry().getArgumentTypes());
  kernel.setFunctionType(builder.getFunctionType(types, {}));
  kernel.setArgNamesAttr(builder.getArrayAttr(argumentNames));
  kernel.setGuardAttr(builder.getArrayAttr(ranges));
  if (!extents.empty()) {
    kernel.setExtentsAttr(builder.getArrayAttr(extents));
  }
  if (!note.empty()) {
    kernel.setNote(note);
  }
  return kernel;
}

//===----------------------------------------------------------------------===//
// Constants and names
//===----------------------------------------------------------------------===//

bool KernelBuilder::isInMap() const {
  return isa<MapOp>(builder.getInsertionBlock()->getParentOp());
}

Scalar KernelBuilder::constant(int64_t value) {
  if (isInMap()) {
    return integer(indexType(), value);
  }
  Value &cached = constants[value];
  if (!cached) {
    OpBuilder::InsertionGuard inner(builder);
    if (lastConstant) {
      builder.setInsertionPointAfter(lastConstant);
    } else {
      builder.setInsertionPointToStart(&kernel.getEntry());
    }
    cached = arith::ConstantIndexOp::create(
        builder, named("c" + std::to_string(value)), value);
    lastConstant = cached.getDefiningOp();
  }
  return {this, cached};
}

Scalar KernelBuilder::number(Type type, double value) {
  return {this, arith::ConstantOp::create(builder, builder.getUnknownLoc(),
                                          builder.getFloatAttr(type, value))};
}

Scalar KernelBuilder::integer(Type type, int64_t value) {
  return {this, arith::ConstantOp::create(builder, builder.getUnknownLoc(),
                                          builder.getIntegerAttr(type, value))};
}

Scalar KernelBuilder::name(StringRef name, Scalar value) {
  return {this, this->name(name, value.value)};
}

Value KernelBuilder::name(StringRef name, Value value) {
  Operation *op = value.getDefiningOp();
  if (op && !isa<arith::ConstantOp>(op)) {
    op->setLoc(named(name));
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void KernelBuilder::grid(ArrayRef<Axis> axes,
                         function_ref<void(ArrayRef<Scalar>)> body) {
  SmallVector<Value> lower(axes.size(), constant(0)), upper;
  for (const Axis &axis : axes) {
    upper.push_back(axis.extent);
  }
  auto loop = LoopOp::create(builder, builder.getUnknownLoc(), lower, upper,
                             ValueRange(), ValueRange(), LoopKind::Workgroups);
  SmallVector<Scalar> indexes;
  for (auto [axis, variable] : llvm::zip_equal(axes, loop.getInductionVars())) {
    variable.setLoc(named(axis.name));
    indexes.push_back({this, variable});
  }
  OpBuilder::InsertionGuard inner(builder);
  builder.setInsertionPoint(loop.getYield());
  body(indexes);
}

KernelBuilder::Values
KernelBuilder::loop(StringRef name, Scalar trips, StringRef expect,
                    ArrayRef<Carried> carried,
                    function_ref<Values(Scalar, ValueRange)> body) {
  Values inits;
  for (const Carried &value : carried) {
    inits.push_back(value.init);
  }
  Value lower = constant(0);
  auto loop = LoopOp::create(builder, builder.getUnknownLoc(), lower,
                             trips.value, ValueRange(), inits);
  if (!expect.empty()) {
    loop.setExpect(expect);
  }
  BlockArgument variable = loop.getInductionVars().front();
  variable.setLoc(named(name));
  for (auto [value, argument] : llvm::zip_equal(carried, loop.getCarried())) {
    argument.setLoc(named(value.name));
  }
  OpBuilder::InsertionGuard inner(builder);
  builder.setInsertionPointToStart(&loop.getBody().front());
  Values yielded = body({this, variable}, loop.getCarried());
  if (!carried.empty()) {
    YieldOp::create(builder, builder.getUnknownLoc(), yielded);
  }
  return Values(loop.getResults());
}

void KernelBuilder::loop(StringRef name, Scalar trips, StringRef expect,
                         function_ref<void(Scalar)> body) {
  loop(name, trips, expect, {}, [&](Scalar trip, ValueRange) {
    body(trip);
    return Values();
  });
}

void KernelBuilder::when(Scalar condition, StringRef expect,
                         function_ref<void()> body) {
  loop("once", select(condition, constant(1), constant(0)), expect,
       [&](Scalar) { body(); });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value KernelBuilder::load(StringRef name, Shape shape, const Place &place) {
  Type element = cast<BufferType>(place.buffer.getType()).getElementType();
  Type type = TileType::get({shape.rows, shape.columns}, element);
  return LoadOp::create(
             builder, named(name), type, Type(), place.buffer, place.offsets,
             place.rowIds, place.pageTable, place.sequence, place.limits,
             place.peerDevice, dimsOf(builder, place, type),
             countOf(builder, place.pageSize), false, place.isStream,
             StringAttr(), countOf(builder, place.tripsAhead), StringAttr())
      .getResult();
}

Scalar KernelBuilder::loadIndex(StringRef name, const Place &place,
                                StringRef expect, StringRef distinct) {
  auto load = LoadOp::create(builder, named(name.str() + "_word"), i32(),
                             place.buffer, place.offsets);
  auto said = [&](StringRef text) {
    return text.empty() ? StringAttr() : builder.getStringAttr(text);
  };
  load.setExpectAttr(said(expect));
  load.setDistinctAttr(said(distinct));
  return this->name(name, convert({this, load.getResult()}, indexType()));
}

void KernelBuilder::store(Value value, const Place &place) {
  StoreOp::create(builder, builder.getUnknownLoc(), value, place.buffer,
                  place.offsets, place.rowIds, place.pageTable, place.sequence,
                  place.limits, place.peerDevice,
                  dimsOf(builder, place, value.getType()),
                  countOf(builder, place.pageSize), false, false);
}

void KernelBuilder::arrive(const Place &flag, Scalar value) {
  SmallVector<Value> trip(flag.offsets.begin(), flag.offsets.end());
  trip.push_back(value);
  ArriveOp::create(builder, builder.getUnknownLoc(), flag.buffer, trip,
                   ValueRange(), flag.peerDevice, IntegerAttr(),
                   ScopeAttr::get(builder.getContext(), Scope::System));
}

void KernelBuilder::wait(const Place &flag, Scalar value) {
  SmallVector<Value> trip(flag.offsets.begin(), flag.offsets.end());
  trip.push_back(value);
  WaitOp::create(builder, builder.getUnknownLoc(), ValueRange(), flag.buffer,
                 trip, QueueAttr(), IntegerAttr(), false);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// An element is called as its tile is.
static Location elementName(Value input) {
  return isa<NameLoc>(input.getLoc())
             ? input.getLoc()
             : NameLoc::get(StringAttr::get(input.getContext(), "value"));
}

Value KernelBuilder::mapOver(StringRef name, Shape shape, Type type,
                             ValueRange inputs,
                             function_ref<Scalar(Element)> body) {
  Type result = TileType::get({shape.rows, shape.columns}, type);
  auto map = MapOp::create(builder, named(name), result, inputs);
  OpBuilder::InsertionGuard inner(builder);
  Block *block = builder.createBlock(&map.getBody());
  Element element;
  for (Value input : inputs) {
    Type scalar = cast<TileType>(input.getType()).getElementType();
    element.inputs.push_back(
        {this, block->addArgument(scalar, elementName(input))});
  }
  element.row = {this, block->addArgument(indexType(), named("row"))};
  element.column = {this, block->addArgument(indexType(), named("column"))};
  Value value = body(element);
  YieldOp::create(builder, builder.getUnknownLoc(), value);
  return map.getResult(0);
}

Value KernelBuilder::fill(StringRef name, Shape shape, Type type,
                          double value) {
  return mapOver(name, shape, type, {},
                 [&](Element) { return number(type, value); });
}

Value KernelBuilder::fillInteger(StringRef name, Shape shape, Type type,
                                 int64_t value) {
  return mapOver(name, shape, type, {}, [&](Element) {
    bool isPacked = packedNumbers(type) > 1;
    return isPacked ? bitsAsPacked(integer(i32(), value), type)
                    : integer(type, value);
  });
}

Value KernelBuilder::map(StringRef name, Type type, ValueRange inputs,
                         function_ref<Scalar(Element)> body) {
  Shape shape = {1, 1};
  for (Value input : inputs) {
    auto tile = cast<TileType>(input.getType());
    shape.rows = std::max(shape.rows, tile.getRows());
    shape.columns = std::max(shape.columns, tile.getColumns());
  }
  return mapOver(name, shape, type, inputs, body);
}

Value KernelBuilder::reduce(StringRef name, Combiner combiner, Value value,
                            int64_t dimension) {
  auto tile = cast<TileType>(value.getType());
  SmallVector<int64_t> shape(tile.getShape());
  shape[dimension] = 1;
  return ReduceOp::create(builder, named(name),
                          TileType::get(shape, tile.getElementType()), combiner,
                          value, dimension, Value());
}

Value KernelBuilder::multiply(StringRef name, Value accumulator, Value a,
                              Value b, bool isTransposed) {
  return MmaOp::create(builder, named(name), accumulator.getType(), accumulator,
                       a, b, Value(), Value(), Value(), Value(), Value(),
                       Value(), StringAttr(), DenseI64ArrayAttr(), isTransposed,
                       false, IntegerAttr(), IntegerAttr(), IntegerAttr())
      .getResult();
}

Value KernelBuilder::mma(StringRef name, Value accumulator, Value a, Value b) {
  return multiply(name, accumulator, a, b, false);
}

Value KernelBuilder::mma(StringRef name, Value accumulator, Value a, Value b,
                         Value aScales, Value bScales) {
  Value product = mma(name, accumulator, a, b);
  if (aScales) {
    auto op = product.getDefiningOp<MmaOp>();
    op.getAScalesMutable().assign(aScales);
    op.getBScalesMutable().assign(bScales);
  }
  return product;
}

Value KernelBuilder::mmaPlain(StringRef name, Value accumulator, Value a,
                              Value b) {
  return multiply(name, accumulator, a, b, true);
}
