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

LogicalResult KernelOp::verify() {
  Block &entry = getEntry();
  if (getArgNames().size() != entry.getNumArguments()) {
    return emitOpError("expected one name for each of the ")
           << entry.getNumArguments() << " arguments, got "
           << getArgNames().size();
  }
  unsigned grids = llvm::count_if(entry.getOps<LoopOp>(), [](LoopOp loop) {
    return loop.getKind() == LoopKind::Workgroups;
  });
  if (grids != 1) {
    return emitOpError("expected exactly one loop on workgroups, got ")
           << grids;
  }
  for (Attribute attribute : getGuard()) {
    auto range = dyn_cast<RangeAttr>(attribute);
    if (!range) {
      return emitOpError("expected #schedule.range in the guard, got ")
             << attribute;
    }
    bool known = llvm::any_of(getArgNames(), [&](Attribute name) {
      return cast<StringAttr>(name).getValue() == range.getArgument();
    });
    if (!known) {
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
  for (Value bound : upperBounds) {
    body->addArgument(builder.getIndexType(), bound.getLoc());
  }
  for (Value init : inits) {
    body->addArgument(init.getType(), init.getLoc());
  }
  if (inits.empty()) {
    YieldOp::create(builder, state.location);
  }
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
  StringRef kind;
  if (parser.parseKeyword("on") || parser.parseKeyword(&kind)) {
    return failure();
  }
  std::optional<LoopKind> parsedKind = symbolizeLoopKind(kind);
  if (!parsedKind) {
    return parser.emitError(parser.getCurrentLocation())
           << "expected 'sequence' or 'workgroups', got '" << kind << "'";
  }
  result.addAttribute("kind",
                      LoopKindAttr::get(builder.getContext(), *parsedKind));
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
  if (parser.parseOptionalAttrDict(result.attributes) ||
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
  printer.printOptionalAttrDict((*this)->getAttrs(),
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

LogicalResult LoopOp::verify() {
  size_t count = getUpperBounds().size();
  if (getLowerBounds().size() != count ||
      (!getSteps().empty() && getSteps().size() != count)) {
    return emitOpError("expected as many lower bounds and steps as upper "
                       "bounds, ")
           << count;
  }
  if (getKind() == LoopKind::Workgroups && !getInits().empty()) {
    return emitOpError("expected no carried values on a loop over workgroups");
  }
  if (getKind() == LoopKind::Sequence && count != 1) {
    return emitOpError("expected one index in a sequence, got ") << count;
  }
  if (getYield().getValues().getTypes() != getInits().getTypes()) {
    return emitOpError("expected to yield the types that are carried");
  }
  if (!getExpect() && llvm::any_of(getUpperBounds(), livesOnDevice)) {
    return emitOpError("expected 'expect': the bound lives on the device, and "
                       "the cost needs its expectation as an expression over "
                       "the workload's symbols");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Memory ops
//===----------------------------------------------------------------------===//

template <typename Op>
static LogicalResult verifyAddress(Op op, Type placeType, Type valueType) {
  if (auto buffer = dyn_cast<BufferType>(placeType)) {
    if (static_cast<int64_t>(op.getOffsets().size()) != buffer.getRank()) {
      return op.emitOpError("expected one offset for each of the ")
             << buffer.getRank() << " dimensions of the buffer, got "
             << op.getOffsets().size();
    }
  } else if (op.getOffsets().size() > 1) {
    return op.emitOpError("expected at most one offset, the logical trip of a "
                          "ring, got ")
           << op.getOffsets().size();
  }
  if (op.getPageTable() && !op.getPageSize()) {
    return op.emitOpError("expected 'page_size' beside 'pages'");
  }
  if (op.getValid().size() > 2) {
    return op.emitOpError("expected limits for rows and columns at most");
  }
  auto tile = dyn_cast<TileType>(valueType);
  if (op.getDims() && op.getDims()->size() != 2) {
    return op.emitOpError("expected two dimensions in 'dims', those that rows "
                          "and columns walk");
  }
  if (tile && isa<TileType>(placeType)) {
    auto place = cast<TileType>(placeType);
    if (place.isPlace() && tile.getElementBits() != place.getElementBits()) {
      return op.emitOpError("expected equal element widths, got ")
             << tile << " and " << place;
    }
  }
  return success();
}

LogicalResult LoadOp::verify() {
  if (failed(
          verifyAddress(*this, getSource().getType(), getResult().getType()))) {
    return failure();
  }
  auto place = dyn_cast<TileType>(getSource().getType());
  auto tile = dyn_cast<TileType>(getResult().getType());
  if (place && tile) {
    int64_t rows = getTransposed() ? tile.getColumns() : tile.getRows();
    int64_t columns = getTransposed() ? tile.getRows() : tile.getColumns();
    if (rows != place.getRows() || columns != place.getColumns()) {
      return emitOpError("expected a value of the extents of the place, got ")
             << tile << " of " << place;
    }
  }
  return success();
}

LogicalResult StoreOp::verify() {
  return verifyAddress(*this, getDestination().getType(), getValue().getType());
}

LogicalResult CopyOp::verify() {
  auto place = dyn_cast<TileType>(getDestination().getType());
  if (place && !place.isPlace()) {
    return emitOpError("expected a shared or tensor tile as destination, got ")
           << place;
  }
  if (getBox() && !getArrives() && isa<BufferType>(getSource().getType())) {
    return emitOpError("expected the barrier that a box copy signals");
  }
  return verifyAddress(*this, getSource().getType(),
                       getDestination().getType());
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

LogicalResult MmaOp::verify() {
  TileType c = getAccumulator().getType(), a = getA().getType(),
           b = getB().getType();
  int64_t n = getBTransposed() ? b.getColumns() : b.getRows();
  int64_t k = getBTransposed() ? b.getRows() : b.getColumns();
  if (a.getRows() != c.getRows() || n != c.getColumns() ||
      a.getColumns() != k) {
    return emitOpError("inner sizes differ: expected M x K, N x K and M x N, "
                       "got a = ")
           << a.getRows() << "x" << a.getColumns() << ", b = " << n << "x" << k
           << ", accumulator = " << c.getRows() << "x" << c.getColumns();
  }
  return success();
}

LogicalResult MapOp::verify() {
  if (getResults().empty()) {
    return emitOpError("expected at least one result");
  }
  auto shape = cast<TileType>(getResult(0).getType()).getShape();
  for (Type type : getResultTypes()) {
    if (cast<TileType>(type).getShape() != shape) {
      return emitOpError("expected results of one shape");
    }
  }
  for (Value input : getInputs()) {
    for (auto [size, own] :
         llvm::zip_equal(cast<TileType>(input.getType()).getShape(), shape)) {
      if (size != own && size != 1) {
        return emitOpError("expected inputs of the result's extents or 1, got ")
               << input.getType();
      }
    }
  }
  Block &body = getBody().front();
  if (body.getNumArguments() != getInputs().size() + 2) {
    return emitOpError("expected a scalar for each input, then row and column");
  }
  for (auto [input, argument] : llvm::zip(getInputs(), body.getArguments())) {
    if (cast<TileType>(input.getType()).getElementType() !=
        argument.getType()) {
      return emitOpError("expected a scalar of the input's element type, got ")
             << argument.getType() << " for " << input.getType();
    }
  }
  Operation *yield = body.getTerminator();
  for (auto [value, type] : llvm::zip(yield->getOperands(), getResultTypes())) {
    if (value.getType() != cast<TileType>(type).getElementType()) {
      return emitOpError("expected to yield ")
             << cast<TileType>(type).getElementType() << ", got "
             << value.getType();
    }
  }
  return success(yield->getNumOperands() == getNumResults());
}

LogicalResult ReduceOp::verify() {
  int64_t dimension = getDimension();
  if (dimension != 0 && dimension != 1) {
    return emitOpError("expected dimension 0 or 1, got ") << dimension;
  }
  TileType value = getValue().getType(), result = getResult().getType();
  if (result.getShape()[dimension] != 1 ||
      result.getShape()[1 - dimension] != value.getShape()[1 - dimension]) {
    return emitOpError("expected extent 1 along the reduced dimension, got ")
           << result;
  }
  return success();
}

LogicalResult RelayoutOp::verify() {
  TileType from = getValue().getType(), to = getResult().getType();
  if (from.getShape() != to.getShape() ||
      from.getElementType() != to.getElementType()) {
    return emitOpError("expected the same elements, got ")
           << from << " and " << to;
  }
  if (from == to) {
    return emitOpError("expected another layout; this one changes nothing");
  }
  return success();
}

#define GET_OP_CLASSES
#include "dialects/Schedule/ScheduleOps.cpp.inc"
