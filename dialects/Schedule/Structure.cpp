#include "dialects/Schedule/Schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

//===----------------------------------------------------------------------===//
// Kernel
//===----------------------------------------------------------------------===//

StringRef KernelOp::getArgumentName(unsigned index) {
  return cast<StringAttr>(getArgNames()[index]).getValue();
}

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
      parser.parseOptionalAttrDictWithKeyword(result.attributes)) {
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

LogicalResult KernelOp::verify() {
  Block &entry = getEntry();
  if (getArgNames().size() != entry.getNumArguments()) {
    return emitOpError("expected one name for each of the ")
           << entry.getNumArguments() << " arguments, got "
           << getArgNames().size();
  }
  if (failed(verifyNames(*this))) {
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
  return success();
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

YieldOp LoopOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

void LoopOp::build(OpBuilder &builder, OperationState &state,
                   ValueRange lowerBounds, ValueRange upperBounds,
                   ValueRange steps, ValueRange inits, LoopKind kind) {
  state.addOperands(lowerBounds);
  state.addOperands(upperBounds);
  state.addOperands(steps);
  state.addOperands(inits);
  state.addTypes(inits.getTypes());
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {static_cast<int32_t>(lowerBounds.size()),
                                    static_cast<int32_t>(upperBounds.size()),
                                    static_cast<int32_t>(steps.size()),
                                    static_cast<int32_t>(inits.size())};
  properties.kind = LoopKindAttr::get(builder.getContext(), kind);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(state.addRegion());
  for (size_t i = 0; i < upperBounds.size(); ++i) {
    body->addArgument(builder.getIndexType(), state.location);
  }
  for (Value init : inits) {
    body->addArgument(init.getType(), init.getLoc());
  }
  if (inits.empty()) {
    YieldOp::create(builder, state.location);
  }
}

/// `on sequence` or `on workgroups`.
static ParseResult parseKind(OpAsmParser &parser, OperationState &result) {
  StringRef word;
  if (parser.parseKeyword("on") || parser.parseKeyword(&word)) {
    return failure();
  }
  std::optional<LoopKind> kind = symbolizeLoopKind(word);
  if (!kind) {
    return parser.emitError(parser.getCurrentLocation())
           << "expected 'sequence' or 'workgroups', got '" << word << "'";
  }
  result.addAttribute("kind", LoopKindAttr::get(parser.getContext(), *kind));
  return success();
}

ParseResult LoopOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  Type index = builder.getIndexType();
  SmallVector<OpAsmParser::Argument> variables, carried;
  SmallVector<OpAsmParser::UnresolvedOperand> lower, upper, steps, inits;
  SmallVector<Type> carriedTypes;
  auto operands = [&](auto &list) {
    return parser.parseOperandList(list, OpAsmParser::Delimiter::Paren);
  };
  if (parser.parseArgumentList(variables, OpAsmParser::Delimiter::Paren) ||
      parser.parseEqual() || operands(lower) || parser.parseKeyword("to") ||
      operands(upper)) {
    return failure();
  }
  for (OpAsmParser::Argument &variable : variables) {
    variable.type = index;
  }
  if (succeeded(parser.parseOptionalKeyword("step")) && operands(steps)) {
    return failure();
  }
  if (parseKind(parser, result)) {
    return failure();
  }
  if (succeeded(parser.parseOptionalKeyword("carry"))) {
    if (parser.parseAssignmentList(carried, inits) ||
        parser.parseColonTypeList(carriedTypes)) {
      return failure();
    }
    if (carried.size() != carriedTypes.size()) {
      return parser.emitError(parser.getCurrentLocation())
             << "expected one type for each carried value";
    }
    for (auto [value, type] : llvm::zip_equal(carried, carriedTypes)) {
      value.type = type;
    }
  }
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.resolveOperands(lower, index, result.operands) ||
      parser.resolveOperands(upper, index, result.operands) ||
      parser.resolveOperands(steps, index, result.operands) ||
      parser.resolveOperands(inits, carriedTypes, parser.getCurrentLocation(),
                             result.operands)) {
    return failure();
  }
  result.getOrAddProperties<Properties>().operandSegmentSizes = {
      static_cast<int32_t>(lower.size()), static_cast<int32_t>(upper.size()),
      static_cast<int32_t>(steps.size()), static_cast<int32_t>(inits.size())};
  result.addTypes(carriedTypes);
  SmallVector<OpAsmParser::Argument> arguments = variables;
  arguments.append(carried.begin(), carried.end());
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments)) {
    return failure();
  }
  ensureTerminator(*body, builder, result.location);
  return success();
}

void LoopOp::print(OpAsmPrinter &printer) {
  auto values = [&](ValueRange range) { printer << "(" << range << ")"; };
  printer << " (";
  llvm::interleaveComma(getInductionVars(), printer);
  printer << ") = ";
  values(getLowerBounds());
  printer << " to ";
  values(getUpperBounds());
  if (!getSteps().empty()) {
    printer << " step ";
    values(getSteps());
  }
  printer << " on " << stringifyLoopKind(getKind());
  if (!getInits().empty()) {
    printer << " carry(";
    llvm::interleaveComma(
        llvm::zip_equal(getCarried(), getInits()), printer, [&](auto pair) {
          printer << std::get<0>(pair) << " = " << std::get<1>(pair);
        });
    printer << ") : " << getInits().getTypes();
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"kind", "operandSegmentSizes"});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/!getInits().empty());
}

/// Whether the value depends on a scalar that is read on the device.
static bool livesOnDevice(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    return false;
  }
  if (isa<LoadOp>(op)) {
    return true;
  }
  return isa_and_nonnull<arith::ArithDialect>(op->getDialect()) &&
         llvm::any_of(op->getOperands(), livesOnDevice);
}

SmallVector<MmaOp> schedule::lateProducts(LoopOp loop) {
  return llvm::filter_to_vector(loop.getBody().getOps<MmaOp>(), [&](MmaOp mma) {
    return llvm::is_contained(loop.getCarried(), mma.getA());
  });
}

LogicalResult LoopOp::verify() {
  size_t count = getUpperBounds().size();
  if (getLowerBounds().size() != count ||
      (!getSteps().empty() && getSteps().size() != count)) {
    return emitOpError("expected as many lower bounds and steps as upper "
                       "bounds, ")
           << count;
  }
  if (getKind() == LoopKind::Workgroups && !getInits().empty() &&
      !getPersistent()) {
    return emitOpError("expected no carried values on a loop over workgroups "
                       "unless it is 'persistent'");
  }
  if (getKind() == LoopKind::Sequence && count != 1) {
    return emitOpError("expected one index in a sequence, got ") << count;
  }
  if (getYield().getValues().getTypes() != getInits().getTypes()) {
    return emitOpError("expected to yield the types that are carried");
  }
  if (getDelayed() && lateProducts(*this).empty()) {
    return emitOpError("expected a product whose first operand is carried in a "
                       "'delayed' loop, got none");
  }
  if (!getExpect() && llvm::any_of(getUpperBounds(), livesOnDevice)) {
    return emitOpError("expected 'expect': the bound lives on the device, and "
                       "the cost needs its expectation as an expression over "
                       "the workload's symbols");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Hints
//===----------------------------------------------------------------------===//

int64_t PrefetchOp::getRowBytes() {
  return getColumns() * getSource().getType().getElementBytes();
}

/// Whether earlier kernels may still run where the op stands.
static bool comesFirst(PrefetchOp op) {
  auto grid = dyn_cast<LoopOp>(op->getParentOp());
  Operation *before = op->getPrevNode();
  while (before && (isa<PrefetchOp>(before) || isMemoryEffectFree(before))) {
    before = before->getPrevNode();
  }
  return grid && grid.getKind() == LoopKind::Workgroups &&
         !grid.getPersistent() && !before;
}

LogicalResult PrefetchOp::verify() {
  BufferType source = getSource().getType();
  if (source.getRank() != 2 || source.getPacked()) {
    return emitOpError("expected a matrix whose rows lie straight, got ")
           << source;
  }
  if (getOffsets().size() != 2) {
    return emitOpError("expected a row and a column, got ")
           << getOffsets().size() << " offsets";
  }
  if (getRowBytes() % kGranule != 0) {
    return emitOpError("expected rows of whole ")
           << kGranule << " bytes, got " << getRowBytes();
  }
  if (!comesFirst(*this)) {
    return emitOpError("expected at the start of a workgroup, before all that "
                       "waits for earlier kernels, and in no persistent grid");
  }
  return success();
}
