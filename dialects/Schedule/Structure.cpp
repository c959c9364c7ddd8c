#include "dialects/Schedule/Schedule.h"

#include "dialects/Schedule/Parse.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

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
  if (parseOwnAttributes(parser, result) ||
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
