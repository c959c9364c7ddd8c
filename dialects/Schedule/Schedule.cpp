#include "dialects/Schedule/Schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

//===----------------------------------------------------------------------===//
// Layout attribute
//===----------------------------------------------------------------------===//

namespace modelc {
static llvm::hash_code hash_value(const Layout &layout) {
  llvm::hash_code hash(layout.inputs().size());
  for (const Layout::Input &input : layout.inputs()) {
    hash = llvm::hash_combine(hash, input.name, input.bits.size());
    for (const Layout::Image &image : input.bits) {
      hash = llvm::hash_combine(
          hash, llvm::hash_combine_range(image.begin(), image.end()));
    }
  }
  for (const Layout::Output &output : layout.outputs()) {
    hash = llvm::hash_combine(hash, output.name, output.size);
  }
  return hash;
}
} // namespace modelc

#include "dialects/Schedule/ScheduleEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Schedule/ScheduleAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Schedule/ScheduleDialect.cpp.inc"
#include "dialects/Schedule/ScheduleTypes.cpp.inc"

static ParseResult parseImage(AsmParser &parser, Layout::Image &image) {
  do {
    int32_t value;
    if (parser.parseInteger(value)) {
      return failure();
    }
    image.push_back(value);
  } while (succeeded(parser.parseOptionalColon()));
  return success();
}

static ParseResult parseInput(AsmParser &parser, Layout::Input &input) {
  if (parser.parseKeywordOrString(&input.name) || parser.parseEqual()) {
    return failure();
  }
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parseImage(parser, input.bits.emplace_back());
  });
}

static ParseResult parseOutput(AsmParser &parser, Layout::Output &output) {
  if (parser.parseKeywordOrString(&output.name) || parser.parseEqual() ||
      parser.parseInteger(output.size)) {
    return failure();
  }
  if (!llvm::isPowerOf2_32(output.size)) {
    return parser.emitError(parser.getCurrentLocation())
           << "expected a power of two as the size of '" << output.name
           << "', got " << output.size;
  }
  return success();
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<Layout::Input> inputs;
  SmallVector<Layout::Output> outputs;
  auto list = [&](auto &items, auto parseItem) {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
      return parseItem(parser, items.emplace_back());
    });
  };
  if (parser.parseLess() || list(inputs, parseInput) || parser.parseArrow() ||
      list(outputs, parseOutput)) {
    return {};
  }
  for (const Layout::Input &input : inputs) {
    for (const Layout::Image &image : input.bits) {
      if (image.size() != outputs.size()) {
        parser.emitError(parser.getCurrentLocation())
            << "expected one coordinate for each of the " << outputs.size()
            << " outputs in every image of '" << input.name << "'";
        return {};
      }
      for (auto [value, output] : llvm::zip_equal(image, outputs)) {
        if (value < 0 || value >= output.size) {
          parser.emitError(parser.getCurrentLocation())
              << "expected a coordinate below " << output.size << " along '"
              << output.name << "', got " << value;
          return {};
        }
      }
    }
  }
  if (parser.parseGreater()) {
    return {};
  }
  return LayoutAttr::get(parser.getContext(), Layout(inputs, outputs));
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<";
  getLayout().print(printer.getStream());
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static void printShape(AsmPrinter &printer, ArrayRef<int64_t> shape,
                       Type type) {
  for (int64_t size : shape) {
    if (ShapedType::isDynamic(size)) {
      printer << "?x";
    } else {
      printer << size << "x";
    }
  }
  printer << type;
}

Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  LayoutAttr packed;
  if (parser.parseLess() || parser.parseDimensionList(shape) ||
      parser.parseType(element)) {
    return {};
  }
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(packed)) {
    return {};
  }
  if (parser.parseGreater()) {
    return {};
  }
  return BufferType::get(parser.getContext(), shape, element, packed);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << "<";
  printShape(printer, getShape(), getElementType());
  if (getPacked()) {
    printer << ", " << getPacked();
  }
  printer << ">";
}

int64_t schedule::packedNumbers(Type element) {
  auto packed = dyn_cast<VectorType>(element);
  return packed ? packed.getNumElements() : 1;
}

Type schedule::numberType(Type element) {
  auto packed = dyn_cast<VectorType>(element);
  return packed ? packed.getElementType() : element;
}

static unsigned bitsOf(Type type) {
  return type.isIndex()
             ? 32
             : packedNumbers(type) * numberType(type).getIntOrFloatBitWidth();
}

bool schedule::startsNextLate(KernelOp kernel) {
  return kernel.walk([](MmaOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

SmallVector<Operation *> schedule::askedBefore(MmaOp product) {
  SmallVector<Operation *> asked;
  for (Operation *op = product->getPrevNode();
       op && !isa<MmaOp, SyncOp, WaitOp, LoopOp, ReduceOp>(op);
       op = op->getPrevNode()) {
    auto load = dyn_cast<LoadOp>(op);
    if (isa<CopyOp>(op) && !asked.empty() && isa<LoadOp>(asked.back())) {
      break;
    }
    if (isa<CopyOp>(op) || (load && load.getAhead())) {
      asked.push_back(op);
    }
  }
  return asked;
}

bool schedule::holdsScales(TileType place) {
  return packedNumbers(place.getElementType()) == kScalesPerWord;
}

int64_t schedule::tensorColumns(TileType place) {
  constexpr int64_t kLanes = 128, kLanesOfScales = 32, kBits = 32;
  int64_t bits = place.getElementBits();
  return holdsScales(place) ? llvm::divideCeil(place.getNumElements() * bits,
                                               kLanesOfScales * kBits)
                            : llvm::divideCeil(place.getRows(), kLanes) *
                                  place.getColumns() * bits / kBits;
}

unsigned BufferType::getElementBytes() const {
  return llvm::divideCeil(bitsOf(getElementType()), 8);
}

double BufferType::getBytes(double extentOfRun) const {
  double bytes = getElementBytes();
  for (int64_t extent : getShape()) {
    bytes *= ShapedType::isDynamic(extent) ? extentOfRun : double(extent);
  }
  return bytes;
}

Type TileType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  Space space = Space::None;
  LayoutAttr layout;
  int64_t slots = 1;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element)) {
    return {};
  }
  StringRef keyword;
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword(
            &keyword, {"register", "shared", "tensor", "none"}))) {
      space = *symbolizeSpace(keyword);
    } else if (succeeded(parser.parseOptionalKeyword("slots"))) {
      if (parser.parseEqual() || parser.parseInteger(slots)) {
        return {};
      }
    } else if (parser.parseAttribute(layout)) {
      return {};
    }
  }
  if (parser.parseGreater()) {
    return {};
  }
  return TileType::getChecked([&] { return parser.emitError(loc); },
                              parser.getContext(), shape, element, space,
                              layout, slots);
}

void TileType::print(AsmPrinter &printer) const {
  printer << "<";
  printShape(printer, getShape(), getElementType());
  if (getSpace() != Space::None) {
    printer << ", " << stringifySpace(getSpace());
  }
  if (getLayout()) {
    printer << ", " << getLayout();
  }
  if (getSlots() != 1) {
    printer << ", slots = " << getSlots();
  }
  printer << ">";
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType,
                               Space space, LayoutAttr layout, int64_t slots) {
  if (shape.size() != 2) {
    return emitError() << "expected a tile of rows x columns, got "
                       << shape.size() << " dimensions";
  }
  for (int64_t size : shape) {
    bool isWhole =
        space != Space::Register && size > 0 && size % kRowsOfWholeTile == 0;
    if (!isWhole && !llvm::isPowerOf2_64(size)) {
      return emitError() << "expected powers of two as the extents of a tile, "
                            "or outside of registers multiples of "
                         << kRowsOfWholeTile << ", got " << size
                         << "; ragged edges belong to 'valid' of the memory op";
    }
  }
  if (slots < 1 ||
      (slots > 1 && space != Space::Shared && space != Space::Tensor)) {
    return emitError() << "expected slots only on a shared or tensor tile";
  }
  if (layout && space == Space::Register) {
    const Layout &map = layout.getLayout();
    if (map.outputSize("row") != shape[0] ||
        map.outputSize("column") != shape[1]) {
      return emitError() << "expected a layout of " << shape[0] << " rows and "
                         << shape[1] << " columns, got "
                         << map.outputSize("row") << " and "
                         << map.outputSize("column");
    }
    if (!map.isSurjective()) {
      return emitError() << "expected a layout in which every element lives "
                            "somewhere";
    }
  }
  return success();
}

unsigned TileType::getElementBits() const { return bitsOf(getElementType()); }

TileType TileType::with(Space space, LayoutAttr layout, int64_t slots) const {
  return TileType::get(getContext(), getShape(), getElementType(), space,
                       layout, slots);
}

TileType TileType::withElementType(Type type) const {
  return TileType::get(getContext(), getShape(), type, getSpace(), getLayout(),
                       getSlots());
}

//===----------------------------------------------------------------------===//
// Dialect
//===----------------------------------------------------------------------===//

namespace {
/// Layouts are long: they print as `#layout`, `#layout1`, ... above the module.
struct LayoutAlias : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attribute, raw_ostream &os) const final {
    if (!isa<LayoutAttr>(attribute)) {
      return AliasResult::NoAlias;
    }
    os << "layout";
    return AliasResult::OverridableAlias;
  }
};
} // namespace

void ScheduleDialect::initialize() {
  addInterfaces<LayoutAlias>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Schedule/ScheduleAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Schedule/ScheduleTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Schedule/ScheduleOps.cpp.inc"
      >();
}
