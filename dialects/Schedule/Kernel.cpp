//===- Kernel.cpp - What a kernel declares --------------------------------===//

#include "dialects/Schedule/Schedule.h"

#include "dialects/Schedule/Parse.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

StringRef KernelOp::getArgumentName(unsigned index) {
  return cast<StringAttr>(getArgNames()[index]).getValue();
}

BlockArgument KernelOp::getArgument(StringRef name) {
  for (auto [argument, known] :
       llvm::zip(getEntry().getArguments(), getArgNames())) {
    if (cast<StringAttr>(known).getValue() == name) {
      return argument;
    }
  }
  return {};
}

BlockArgument KernelOp::getExtent(Value buffer, int64_t dimension) {
  std::optional<ArrayAttr> extents = getExtents();
  if (!extents) {
    return {};
  }
  for (auto extent : extents->getAsRange<ExtentAttr>()) {
    if (extent.getDimension() == dimension &&
        getArgument(extent.getArgument()) == buffer) {
      return getArgument(extent.getSize());
    }
  }
  return {};
}

/// The buffer that an op reaches on the device that it names, or null.
static Value reachedOnPeers(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op)) {
    return load.getPeer() ? load.getSource() : Value();
  }
  if (auto store = dyn_cast<StoreOp>(op)) {
    return store.getPeer() ? store.getDestination() : Value();
  }
  auto arrive = dyn_cast<ArriveOp>(op);
  return arrive && arrive.getPeer() ? arrive.getBarrier() : Value();
}

BufferRole KernelOp::getRole(Value buffer) {
  BufferRole role;
  for (OpOperand &use : buffer.getUses()) {
    Operation *user = use.getOwner();
    auto store = dyn_cast<StoreOp>(user);
    auto copy = dyn_cast<CopyOp>(user);
    bool isTable = store && store.getPageTable() == buffer;
    bool isStored = store && store.getDestination() == buffer;
    role.isRead |= !isStored || isTable || store.getAdd();
    role.isWritten |= isStored || isa<ArriveOp>(user) ||
                      (copy && copy.getDestination() == buffer);
    role.reachesPeers |= reachedOnPeers(user) == buffer;
  }
  return role;
}

//===----------------------------------------------------------------------===//
// Guard and grid
//===----------------------------------------------------------------------===//

LoopOp KernelOp::getGrid() {
  for (LoopOp loop : getEntry().getOps<LoopOp>()) {
    if (loop.getKind() == LoopKind::Workgroups) {
      return loop;
    }
  }
  return {};
}

int64_t schedule::wavesOf(Operation *op) {
  auto role = op->getParentOfType<RoleOp>();
  return role ? role.getWaves() : op->getParentOfType<KernelOp>().getWaves();
}

bool SizeDemand::holds(int64_t size) const {
  return llvm::any_of(ranges, [&](RangeAttr r) { return r.contains(size); });
}

int64_t SizeDemand::nearest(int64_t size) const {
  auto within = [&](RangeAttr range) {
    return std::clamp(size, range.getMinimum(), range.getMaximum());
  };
  auto distance = [&](RangeAttr range) {
    return std::abs(within(range) - size);
  };
  return within(*llvm::min_element(ranges, [&](RangeAttr a, RangeAttr b) {
    return distance(a) < distance(b);
  }));
}

SmallVector<SizeDemand> KernelOp::getDemands() {
  SmallVector<SizeDemand> demands;
  for (auto range : getGuard().getAsRange<RangeAttr>()) {
    auto *known = llvm::find_if(demands, [&](const SizeDemand &demand) {
      return demand.argument == range.getArgument();
    });
    if (known == demands.end()) {
      demands.push_back({range.getArgument(), {}});
      known = &demands.back();
    }
    known->ranges.push_back(range);
  }
  return demands;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

ParseResult schedule::parseOwnAttributes(OpAsmParser &parser,
                                         OperationState &result) {
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes)) {
    return failure();
  }
  return result.name.verifyInherentAttrs(result.attributes, [&] {
    return parser.emitError(where) << "'" << result.name << "' op ";
  });
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  Builder &builder = parser.getBuilder();
  ArrayAttr guard;
  if (parser.parseSymbolName(name, "sym_name", result.attributes) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseKeyword("guard") ||
      parser.parseAttribute(guard, "guard", result.attributes) ||
      parseOwnAttributes(parser, result)) {
    return failure();
  }
  SmallVector<Type> types;
  SmallVector<Attribute> names;
  for (const OpAsmParser::Argument &argument : arguments) {
    types.push_back(argument.type);
    names.push_back(builder.getStringAttr(argument.ssaName.name.drop_front()));
  }
  result.addAttribute("function_type",
                      TypeAttr::get(builder.getFunctionType(types, {})));
  if (!result.attributes.get("arg_names")) {
    result.addAttribute("arg_names", builder.getArrayAttr(names));
  }
  return parser.parseRegion(*result.addRegion(), arguments);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getSymName());
  printer << "(";
  llvm::interleaveComma(
      getEntry().getArguments(), printer,
      [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") guard " << getGuard();
  SmallVector<StringRef> hidden = {"sym_name", "guard", "function_type"};
  // The names are those of the SSA values unless the printer renamed them.
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), hidden);
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

/// What may stand as the symbol of a kernel, the name of its op or of an
/// argument: they become names in other languages, and of files.
static bool isKernelName(StringRef name) {
  constexpr size_t kLongest = 200;
  return !name.empty() && name.size() <= kLongest && !llvm::isDigit(name[0]) &&
         llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

static LogicalResult verifyNames(KernelOp kernel) {
  SmallVector<StringRef> names(
      kernel.getArgNames().getAsValueRange<StringAttr>());
  for (auto [i, name] : llvm::enumerate(names)) {
    if (llvm::is_contained(ArrayRef(names).take_front(i), name)) {
      return kernel.emitOpError("expected arguments of different names, got '")
             << name << "' twice";
    }
  }
  names.push_back(kernel.getSymName());
  names.push_back(kernel.getOpName().value_or(kernel.getSymName()));
  for (StringRef name : names) {
    if (!isKernelName(name)) {
      return kernel.emitOpError("expected a name of letters, digits and '_', "
                                "no digit first and 200 at most, got '")
             << name << "'";
    }
  }
  return success();
}

/// That each extent is one of the kernel, and said once.
static LogicalResult verifyExtent(KernelOp kernel, ExtentAttr extent) {
  BlockArgument buffer = kernel.getArgument(extent.getArgument());
  BlockArgument size = kernel.getArgument(extent.getSize());
  auto type = buffer ? dyn_cast<BufferType>(buffer.getType()) : BufferType();
  int64_t dimension = extent.getDimension();
  bool isOpen = type && dimension >= 0 && dimension < type.getRank() &&
                ShapedType::isDynamic(type.getShape()[dimension]);
  if (!isOpen || !size || !size.getType().isIndex()) {
    return kernel.emitOpError("expected a '?' of a buffer and a size among the "
                              "arguments, got ")
           << extent;
  }
  if (kernel.getExtent(buffer, dimension) != size) {
    return kernel.emitOpError("expected one extent for dimension ")
           << dimension << " of '" << extent.getArgument() << "', got two";
  }
  return success();
}

static LogicalResult verifyExtents(KernelOp kernel) {
  std::optional<ArrayAttr> extents = kernel.getExtents();
  return success(
      !extents ||
      llvm::all_of(extents->getAsRange<ExtentAttr>(), [&](ExtentAttr extent) {
        return succeeded(verifyExtent(kernel, extent));
      }));
}

/// What is asked by a wrong name would be asked in vain.
static LogicalResult verifyAttributes(KernelOp kernel) {
  for (NamedAttribute attribute : kernel->getDiscardableAttrs()) {
    if (!attribute.getNameDialect()) {
      return kernel.emitOpError("expected an attribute that kernels have, got "
                                "'")
             << attribute.getName().getValue() << "'";
    }
  }
  return success();
}

LogicalResult KernelOp::verify() {
  Block &entry = getEntry();
  if (getArgNames().size() != entry.getNumArguments()) {
    return emitOpError("expected one name for each of the ")
           << entry.getNumArguments() << " arguments, got "
           << getArgNames().size();
  }
  if (failed(verifyNames(*this)) || failed(verifyAttributes(*this))) {
    return failure();
  }
  unsigned grids = llvm::count_if(entry.getOps<LoopOp>(), [](LoopOp loop) {
    return loop.getKind() == LoopKind::Workgroups;
  });
  if (grids != 1) {
    return emitOpError("expected exactly one loop on workgroups, got ")
           << grids;
  }
  for (Attribute attribute : getGuard()) {
    auto range = cast<RangeAttr>(attribute);
    BlockArgument size = getArgument(range.getArgument());
    if (!size || !size.getType().isIndex()) {
      return emitOpError("expected an argument of the kernel in the guard, got "
                         "'")
             << range.getArgument() << "'";
    }
  }
  return verifyExtents(*this);
}
