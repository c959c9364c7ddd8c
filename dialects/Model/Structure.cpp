//===- Structure.cpp - Graph, layers, weights -----------------------------===//

#include "dialects/Model/Model.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace modelc::model;

/// carried ::= '(' name '=' init ':' type (',' ...)* ')' ('->' types)? region
static ParseResult
parseCarried(OpAsmParser &parser, Region &body,
             SmallVectorImpl<OpAsmParser::UnresolvedOperand> &inits,
             SmallVectorImpl<Type> &initTypes,
             SmallVectorImpl<Type> &outTypes) {
  SmallVector<OpAsmParser::Argument> arguments;
  auto parseOne = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    if (parser.parseArgument(argument) || parser.parseEqual() ||
        parser.parseOperand(inits.emplace_back()) ||
        parser.parseColonType(argument.type)) {
      return failure();
    }
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOne)) {
    return failure();
  }
  for (const OpAsmParser::Argument &argument : arguments) {
    initTypes.push_back(argument.type);
  }
  outTypes.assign(initTypes.begin(), initTypes.end());
  if (parser.parseRegion(body, arguments)) {
    return failure();
  }
  LayersOp::ensureTerminator(body, parser.getBuilder(),
                             parser.getEncodedSourceLoc(parser.getNameLoc()));
  return success();
}

static void printCarried(OpAsmPrinter &printer, LayersOp op, Region &body,
                         OperandRange inits, TypeRange, TypeRange) {
  printer << '(';
  llvm::interleaveComma(
      llvm::zip_equal(body.getArguments(), inits), printer, [&](auto pair) {
        auto [argument, init] = pair;
        printer << argument << " = " << init << " : " << init.getType();
      });
  printer << ") ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false);
}

/// output-type ::= ('->' type)?, where it is not that of the input.
static ParseResult parseOutputType(OpAsmParser &parser, Type &output,
                                   Type input) {
  output = input;
  return succeeded(parser.parseOptionalArrow()) ? parser.parseType(output)
                                                : success();
}

static void printOutputType(OpAsmPrinter &printer, Operation *, Type output,
                            Type input) {
  if (output != input) {
    printer << " -> " << output;
  }
}

#define GET_OP_CLASSES
#include "dialects/Model/ModelOps.cpp.inc"

void GraphOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                    FunctionType type) {
  state.addAttribute(SymbolTable::getSymbolAttrName(),
                     builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  Region *body = state.addRegion();
  body->emplaceBlock().addArguments(
      type.getInputs(),
      SmallVector<Location>(type.getNumInputs(), state.location));
}

ParseResult GraphOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  SMLoc where = parser.getCurrentLocation();
  if (function_interface_impl::parseFunctionOp(
          parser, result, /*allowVariadic=*/false,
          getFunctionTypeAttrName(result.name), buildType,
          getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name))) {
    return failure();
  }
  // One of another kind than the op's own would be left out without a word.
  return result.name.verifyInherentAttrs(result.attributes, [&] {
    return parser.emitError(where) << "'" << result.name << "' op ";
  });
}

void GraphOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getName());
  function_interface_impl::printFunctionSignature(
      printer, *this, getArgumentTypes(), /*isVariadic=*/false,
      getResultTypes());
  SmallVector<StringRef> elided = {getFunctionTypeAttrName(),
                                   getArgAttrsAttrName(), getResAttrsAttrName(),
                                   getSymNameAttrName()};
  function_interface_impl::printFunctionAttributes(printer, *this, elided);
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

void GraphOp::getAsmBlockArgumentNames(Region &region,
                                       OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments()) {
    if (isa<BatchType>(argument.getType())) {
      setName(argument, "batch");
    } else if (auto tensor = dyn_cast<RankedTensorType>(argument.getType())) {
      setName(argument, tensor.getElementType().isInteger() ? "tokens" : "x");
    }
  }
}

LogicalResult ReturnOp::verify() {
  ArrayRef<Type> expected =
      cast<GraphOp>((*this)->getParentOp()).getResultTypes();
  if (!llvm::equal(expected, getOperandTypes())) {
    return emitOpError("expected to return the results of the graph, ")
           << expected << ", got " << getOperandTypes();
  }
  return success();
}

YieldOp LayersOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

LogicalResult LayersOp::verifyRegions() {
  TypeRange carried = getInits().getTypes();
  if (carried != TypeRange(getBody().getArgumentTypes()) ||
      carried != getResultTypes()) {
    return emitOpError("expected inputs, block arguments and results of the "
                       "same types");
  }
  if (getYield().getOperandTypes() != carried) {
    return getYield().emitOpError("expected to yield the carried values, ")
           << carried << ", got " << getYield().getOperandTypes();
  }
  SmallVector<CacheOp> caches(getStep());
  for (CacheOp cache : getBody().getOps<CacheOp>()) {
    if (cache.getLayer() >= getStep()) {
      return cache.emitOpError("expected the number of one of ")
             << getStep() << " layers that take turns, got "
             << cache.getLayer();
    }
    CacheOp &first = caches[cache.getLayer()];
    if (first) {
      InFlightDiagnostic error =
          cache.emitOpError("expected one cache in a layer, got a second");
      error.attachNote(first.getLoc()) << "the first is here";
      return error;
    }
    first = cache;
  }
  return success();
}

void WeightOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  std::string name = getShortName(*this);
  setName(getResult(), getTensorScale() ? name + "_tensor_scale"
                       : getChannelScale() || getBlockScale() ? name + "_scale"
                                                              : name);
}

/// Takes a placeholder from the front of a name: that of a layer of `layers`,
/// or of an expert.
static bool consumePlaceholder(StringRef &name, LayersOp layers) {
  if (name.consume_front(kLayerPlaceholder) ||
      name.consume_front(kExpertPlaceholder)) {
    return true;
  }
  StringRef rest = name;
  int64_t number = 0;
  if (!layers || !rest.consume_front("{layer+") ||
      rest.consumeInteger(10, number) || !rest.consume_front("}") ||
      number < 1 || number >= int64_t(layers.getStep())) {
    return false;
  }
  name = rest;
  return true;
}

/// "{layer}", "{layer+1}" of layers in steps, and "{expert}" of tensors that
/// are stacked are the only placeholders; those of layers stand only inside.
static LogicalResult verifyName(WeightOp op, StringRef name) {
  auto layers = op->getParentOfType<LayersOp>();
  if (!layers && name.contains(kLayerPlaceholder)) {
    return op.emitOpError("expected '{layer}' in '")
           << name << "' only inside 'model.layers'";
  }
  if (name.contains('\0') || !llvm::json::isUTF8(name)) {
    return op.emitOpError("expected the name of a tensor in UTF-8, without a "
                          "zero byte, got ")
           << StringAttr::get(op.getContext(), name);
  }
  StringRef rest = name;
  for (size_t open = rest.find('{'); open != StringRef::npos;
       open = rest.find('{')) {
    rest = rest.substr(open);
    if (!consumePlaceholder(rest, layers)) {
      return op.emitOpError("expected '{layer}' and '{expert}' as the only "
                            "placeholders in the name of a tensor, got '")
             << name << "'";
    }
  }
  if (name.contains(kExpertPlaceholder) && op.getType().getRank() < 2) {
    return op.emitOpError("expected a dimension of experts for '")
           << name << "', got " << op.getType();
  }
  return success();
}

/// Whether scales are of experts, by what stands beside them: their tensors are
/// stacked, or lie in one that has another order or is quantised already.
static bool isOfExperts(WeightOp scale) {
  const bool isMatrix = scale.getBlockScale();
  const bool isStacked =
      llvm::any_of(scale.getSources(), [](SourceAttr source) {
        return source.getName().getValue().contains(kExpertPlaceholder);
      });
  return (isStacked || scale.getTransposed() || scale.getHeld()) &&
         scale.getType().getRank() == (isMatrix ? 3 : 2);
}

/// Numbers of a weight in all layers: a hundred times all of the largest model,
/// and few enough that 64 bits count the bytes of any graph.
static constexpr int64_t kMostNumbers = int64_t(1) << 46;

static LogicalResult verifyCount(WeightOp weight) {
  auto layers = weight->getParentOfType<LayersOp>();
  int64_t count = layers ? layers.getLayerCount() : 1;
  double numbers = static_cast<double>(count);
  for (int64_t size : weight.getType().getShape()) {
    numbers *= static_cast<double>(size);
  }
  if (numbers > static_cast<double>(kMostNumbers)) {
    return weight.emitOpError("expected at most ")
           << kMostNumbers << " numbers in all layers, got " << weight.getType()
           << " in " << count << " of them";
  }
  return success();
}

/// Each axis cuts a dimension that there is, once.
static LogicalResult verifyCuts(WeightOp op, SourceAttr source) {
  unsigned seen = 0;
  for (CutAttr cut : source.getCuts()) {
    unsigned bit = 1u << unsigned(cut.getAxis());
    if (seen & bit) {
      return op.emitOpError("expected one split over '")
             << stringifyAxis(cut.getAxis()) << "', got a second";
    }
    seen |= bit;
    if (cut.getDim() >= op.getType().getRank() && !op.getChannelScale()) {
      return op.emitOpError("expected to split one of ")
             << op.getType().getRank() << " dimensions, got dimension "
             << cut.getDim();
    }
  }
  return success();
}

LogicalResult WeightOp::verify() {
  if (getSources().empty()) {
    return emitOpError("expected the name of at least one tensor");
  }
  if (!getType().hasStaticShape()) {
    return emitOpError("expected a static shape, got ") << getType();
  }
  for (int64_t size : getType().getShape()) {
    if (size < 1 || size > kLargestSize) {
      return emitOpError("expected dimensions from 1 to ")
             << kLargestSize << ", got " << getType();
    }
  }
  if (failed(verifyCount(*this))) {
    return failure();
  }
  if (getTransposed() && getType().getRank() < 2) {
    return emitOpError("expected two dimensions or more beside 'transposed', "
                       "got ")
           << getType();
  }
  if (getStored() && !isa<FloatType>(*getStored())) {
    return emitOpError("expected 'stored' to be a float type, got ")
           << *getStored();
  }
  // Those of experts have a dimension more.
  const int64_t rank = getType().getRank() - (isOfExperts(*this) ? 1 : 0);
  if ((getChannelScale() || getTensorScale() || getLargest()) &&
      (rank != 1 || !getType().getElementType().isF32())) {
    return emitOpError("expected scales to be a vector of f32, got ")
           << getType();
  }
  if (getBlockScale() &&
      (rank != 2 || !isa<Float8E8M0FNUType, Float8E4M3FNType, Float32Type>(
                        getType().getElementType()))) {
    return emitOpError("expected scales of blocks to be a matrix of "
                       "f8E8M0FNU, f8E4M3FN or f32, got ")
           << getType();
  }
  for (SourceAttr source : getSources()) {
    StringRef name = source.getName().getValue();
    if (failed(verifyName(*this, name))) {
      return failure();
    }
    if (layerPlaceOf(name) != layerPlaceOf(*this)) {
      return emitOpError("expected tensors of one layer in a weight, got ")
             << getSources().begin()->getName() << " and " << source.getName();
    }
    if (source.getPadding() > 0 &&
        (getType().getRank() == 0 ||
         source.getPadding() >= getType().getDimSize(0) * source.getParts(0))) {
      return emitOpError("expected less padding than rows, got ")
             << source.getPadding() << " of " << getType();
    }
    if (failed(verifyCuts(*this, source))) {
      return failure();
    }
  }
  return success();
}

LogicalResult CacheOp::verify() {
  bool isEightBits = isEightBit(getType().getElementType());
  if (isEightBits != static_cast<bool>(getKScale()) ||
      isEightBits != static_cast<bool>(getVScale())) {
    return emitOpError("expected 'scaled' exactly where the cache has 8 bits, "
                       "got ")
           << getType();
  }
  for (Value scale : getOperands()) {
    if (cast<RankedTensorType>(scale.getType()).getDimSize(0) != 1) {
      return emitOpError(
                 "expected one scale for the layer, tensor<1xf32>, got ")
             << scale.getType();
    }
  }
  return success();
}
