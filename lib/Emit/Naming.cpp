//===- Naming.cpp - Names that a reader would have chosen -----------------===//
//
// A NameLoc is taken as it is. Other values are named by their role: where they
// come from and what they are used for.
//
//===----------------------------------------------------------------------===//

#include "lib/Emit/Printer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// What the emitted text calls, and words of the language.
static constexpr StringLiteral kReserved[] = {"absolute",     "addTile",
                                              "arrive",       "auto",
                                              "bf16",         "bitsAs",
                                              "bool",         "break",
                                              "case",         "ceil",
                                              "ceilDiv",      "char",
                                              "chipletOrder", "columns",
                                              "const",        "continue",
                                              "copyBox",      "copySign",
                                              "copyTile",     "cos",
                                              "default",      "delete",
                                              "do",           "double",
                                              "else",         "erf",
                                              "exp",          "exp2",
                                              "f16",          "f8",
                                              "false",        "fill",
                                              "float",        "floor",
                                              "floorDiv",     "fma",
                                              "for",          "forEach",
                                              "groupedOrder", "i",
                                              "if",           "inline",
                                              "int",          "int64_t",
                                              "kInfinity",    "kNaN",
                                              "laneId",       "loadScalar",
                                              "loadShared",   "loadTensor",
                                              "loadTile",     "log",
                                              "log2",         "long",
                                              "lookup",       "maximum",
                                              "minimum",      "mma",
                                              "new",          "offset",
                                              "operator",     "power",
                                              "reduce",       "register",
                                              "relayout",     "return",
                                              "roundEven",    "rows",
                                              "rsqrt",        "shared",
                                              "short",        "signed",
                                              "sin",          "sizeof",
                                              "sqrt",         "static",
                                              "storeScalar",  "storeShared",
                                              "storeTile",    "struct",
                                              "switch",       "sync",
                                              "tanhOf",       "template",
                                              "tensor",       "this",
                                              "threadId",     "toBf16",
                                              "toF16",        "toF8",
                                              "toFloat",      "true",
                                              "typename",     "union",
                                              "unroll",       "unsigned",
                                              "using",        "view",
                                              "void",         "waveId",
                                              "while",        "workgroupCount",
                                              "workgroupId"};

Names::Names() {
  for (StringRef word : kReserved) {
    taken.insert(word);
  }
}

std::string Names::fresh(StringRef wish) {
  std::string base;
  for (char c : wish) {
    base += llvm::isAlnum(c) || c == '_' ? c : '_';
  }
  if (base.empty() || llvm::isDigit(base[0])) {
    base = "value" + base;
  }
  std::string name = base;
  for (unsigned i = 2; !taken.insert(name).second; ++i) {
    name = base + std::to_string(i);
  }
  if (!scopes.empty()) {
    scopes.back().push_back(name);
  }
  return name;
}

void Names::leaveScope() {
  for (const std::string &name : scopes.pop_back_val()) {
    taken.erase(name);
  }
}

std::string KernelPrinter::nameOf(Value value, StringRef wish) {
  std::string name = names.fresh(wish);
  spelled[value] = name;
  return name;
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

static std::string capitalised(StringRef name) {
  std::string result = name.str();
  result[0] = llvm::toUpper(result[0]);
  return result;
}

static std::string gridName(unsigned index, unsigned count) {
  if (count == 1) {
    return "tile";
  }
  if (index + 2 >= count) {
    return index + 1 == count ? "tileColumn" : "tileRow";
  }
  return index + 3 == count ? "batch" : "outer";
}

static bool dependsOnSequence(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<LoopOp>(argument.getOwner()->getParentOp());
    return loop && loop.getKind() == LoopKind::Sequence;
  }
  Operation *op = value.getDefiningOp();
  return isa_and_nonnull<arith::ArithDialect>(op->getDialect()) &&
         llvm::any_of(op->getOperands(), dependsOnSequence);
}

/// "row", "column", "depth": what a value says in a memory op.
static StringRef roleIn(const Access &access, Value value) {
  for (auto [i, offset] : llvm::enumerate(access.offsets)) {
    if (offset != value) {
      continue;
    }
    if (static_cast<int64_t>(i) == access.rowDimension) {
      return "row";
    }
    if (static_cast<int64_t>(i) == access.columnDimension) {
      return dependsOnSequence(value) ? "depth" : "column";
    }
  }
  return {};
}

static std::string roleIn(LoopOp loop, Value value) {
  for (auto [i, bound] : llvm::enumerate(loop.getUpperBounds())) {
    if (bound == value) {
      return loop.getKind() == LoopKind::Sequence
                 ? "steps"
                 : gridName(i, loop.getUpperBounds().size()) + "s";
    }
  }
  return {};
}

static StringRef roleOfUse(Operation *user, Value value) {
  if (auto load = dyn_cast<LoadOp>(user)) {
    return isa<BufferType>(load.getSource().getType())
               ? roleIn(Access::of(load), value)
               : StringRef();
  }
  if (auto store = dyn_cast<StoreOp>(user)) {
    return isa<BufferType>(store.getDestination().getType())
               ? roleIn(Access::of(store), value)
               : StringRef();
  }
  if (auto copy = dyn_cast<CopyOp>(user)) {
    return roleIn(Access::of(copy), value);
  }
  return {};
}

static std::string scalarRole(Value value) {
  for (Operation *user : value.getUsers()) {
    if (StringRef role = roleOfUse(user, value); !role.empty()) {
      return role.str();
    }
    if (auto loop = dyn_cast<LoopOp>(user)) {
      if (std::string role = roleIn(loop, value); !role.empty()) {
        return role;
      }
    }
  }
  if (value.getType().isInteger(1)) {
    return "holds";
  }
  return isa<FloatType>(value.getType()) ? "x" : "index";
}

/// The name of the argument that a buffer is.
static std::string bufferName(Value buffer) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto kernel = argument
                    ? dyn_cast<KernelOp>(argument.getOwner()->getParentOp())
                    : KernelOp();
  return kernel ? kernel.getArgumentName(argument.getArgNumber()).str()
                : "buffer";
}

/// Filled by copies: "full". Freed by products: "empty", or once: "done".
static std::string barrierRole(AllocOp alloc) {
  for (Operation *user : alloc->getUsers()) {
    if (isa<CopyOp>(user)) {
      return "full";
    }
  }
  for (Operation *user : alloc->getUsers()) {
    if (auto arrive = dyn_cast<ArriveOp>(user)) {
      return cast<BarrierType>(alloc.getType()).getSlots() == 1 ? "done"
                                                                : "empty";
    }
  }
  return "barrier";
}

/// A place is called after what is copied or stored into it.
static std::string placeRole(AllocOp alloc) {
  bool isRing = false;
  if (auto tile = dyn_cast<TileType>(alloc.getType())) {
    isRing = tile.getSlots() > 1;
    if (tile.getSpace() == Space::Tensor) {
      return "product";
    }
  } else {
    return barrierRole(alloc);
  }
  for (Operation *user : alloc->getUsers()) {
    if (auto copy = dyn_cast<CopyOp>(user);
        copy && isa<BufferType>(copy.getSource().getType())) {
      return bufferName(copy.getSource()) + (isRing ? "Ring" : "Place");
    }
  }
  return isRing ? "ring" : "scratch";
}

static std::string tileRole(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    for (Operation *user : argument.getUsers()) {
      if (auto mma = dyn_cast<MmaOp>(user);
          mma && mma.getAccumulator() == value) {
        return "accumulator";
      }
    }
    return "carried";
  }
  Operation *op = value.getDefiningOp();
  if (auto load = dyn_cast<LoadOp>(op)) {
    if (isa<BufferType>(load.getSource().getType())) {
      return bufferName(load.getSource()) + "Tile";
    }
    auto alloc = load.getSource().getDefiningOp<AllocOp>();
    std::string role = alloc ? placeRole(alloc) : "stored";
    StringRef place = role;
    if (!place.consume_back("Ring")) {
      place.consume_back("Place");
    }
    return place.str() + "Tile";
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    StringRef what = reduce.getCombiner() == Combiner::Add   ? "Sum"
                     : reduce.getCombiner() == Combiner::Max ? "Max"
                                                             : "Min";
    return ((reduce.getDimension() == 1 ? "row" : "column") + what).str();
  }
  if (isa<MmaOp>(op)) {
    return "product";
  }
  return llvm::any_of(value.getUsers(),
                      [](Operation *user) { return isa<StoreOp>(user); })
             ? "result"
             : "values";
}

std::string KernelPrinter::wishFor(Value value) {
  if (auto name = dyn_cast<NameLoc>(value.getLoc())) {
    return name.getName().str();
  }
  if (auto alloc = value.getDefiningOp<AllocOp>()) {
    return placeRole(alloc);
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<LoopOp>(argument.getOwner()->getParentOp());
    if (loop && argument.getArgNumber() < loop.getUpperBounds().size()) {
      return loop.getKind() == LoopKind::Sequence
                 ? "step"
                 : gridName(argument.getArgNumber(),
                            loop.getUpperBounds().size());
    }
  }
  // What starts a carried value is called as that value is.
  if (value.hasOneUse()) {
    if (auto loop = dyn_cast<LoopOp>(*value.getUsers().begin())) {
      for (auto [init, carried] :
           llvm::zip_equal(loop.getInits(), loop.getCarried())) {
        if (init == value) {
          return wishFor(carried);
        }
      }
    }
  }
  return isa<TileType>(value.getType()) ? tileRole(value) : scalarRole(value);
}

//===----------------------------------------------------------------------===//
// Types of layouts
//===----------------------------------------------------------------------===//

/// "columns(4)", "rows(1)", "rows(1) | columns(4)", "0".
static std::string imageText(int32_t row, int32_t column) {
  std::string text;
  if (row) {
    text = "rows(" + std::to_string(row) + ")";
  }
  if (column) {
    text += (row ? " | " : "") + ("columns(" + std::to_string(column) + ")");
  }
  return text.empty() ? "0" : text;
}

/// Bits that the layout does not name replicate.
static std::string bitsText(StringRef what, const Layout &layout,
                            StringRef input, unsigned count) {
  SmallVector<std::string> images;
  for (const Layout::Image &image : layout.input(input).bits) {
    images.push_back(imageText(image[layout.outputIndex("row")],
                               image[layout.outputIndex("column")]));
  }
  images.resize(std::max<size_t>(images.size(), count), "0");
  return (what + "<" + llvm::join(images, ", ") + ">").str();
}

std::string KernelPrinter::layoutName(TileType tile, StringRef wish) {
  const Layout &layout = tile.getLayout().getLayout();
  std::string definition =
      "Layout<" + std::to_string(tile.getRows()) + ", " +
      std::to_string(tile.getColumns()) + ", " +
      bitsText("Register", layout, "register", 0) + ",\n    " +
      bitsText("Lane", layout, "lane",
               llvm::Log2_64_Ceil(target.execution.waveSize)) +
      ", " +
      bitsText("Wave", layout, "wave", llvm::Log2_64_Ceil(kernel.getWaves())) +
      ">";
  std::string &name = typeNames[definition];
  if (name.empty()) {
    name = names.fresh(capitalised(wish) + "Layout");
    usings += "using " + name + " = " + definition + ";\n";
  }
  return name;
}

std::string KernelPrinter::placeTypeName(TileType tile, StringRef wish) {
  SmallVector<std::string> rows, columns;
  int64_t elementBytes = tile.getElementBits() / 8;
  if (tile.getLayout()) {
    const Layout &layout = tile.getLayout().getLayout();
    for (const Layout::Image &image : layout.input("row").bits) {
      rows.push_back(std::to_string(image[0]));
    }
    for (const Layout::Image &image : layout.input("column").bits) {
      columns.push_back(std::to_string(image[0]));
    }
  } else {
    for (int64_t bit = 1; bit < tile.getRows(); bit *= 2) {
      rows.push_back(std::to_string(bit * tile.getColumns() * elementBytes));
    }
    for (int64_t bit = 1; bit < tile.getColumns(); bit *= 2) {
      columns.push_back(std::to_string(bit * elementBytes));
    }
  }
  std::string definition = "Shared<" + elementName(tile.getElementType()) +
                           ", Row<" + llvm::join(rows, ", ") + ">, Column<" +
                           llvm::join(columns, ", ") + ">>";
  std::string &name = typeNames[definition];
  if (name.empty()) {
    name = names.fresh(capitalised(wish));
    usings += "using " + name + " = " + definition + ";\n";
  }
  return name;
}
