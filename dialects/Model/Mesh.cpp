//===- Mesh.cpp - Ranks along axes, and the parts that they hold ----------===//

#include "dialects/Model/Model.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc::model;

int64_t MeshAttr::getSize(Axis axis) const {
  const int64_t sizes[] = {getTp(), getEp(), getDp(), getPp(), getCp()};
  return sizes[unsigned(axis)];
}

MeshAttr MeshAttr::with(Axis axis, int64_t size) const {
  auto of = [&](Axis other) { return other == axis ? size : getSize(other); };
  return get(getContext(), of(Axis::Tensor), of(Axis::Expert), of(Axis::Data),
             of(Axis::Pipeline), of(Axis::Context));
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t tp, int64_t ep, int64_t dp, int64_t pp,
                               int64_t cp) {
  int64_t ranks = 1;
  for (int64_t size : {tp, ep, dp, pp, cp}) {
    if (size < 1) {
      return emitError() << "expected at least 1 rank along an axis, got "
                         << size;
    }
    if (llvm::MulOverflow(ranks, size, ranks) || ranks > kLargestSize) {
      return emitError() << "expected a mesh of at most " << kLargestSize
                         << " ranks";
    }
  }
  return success();
}

/// cut ::= dim 'of' parts ('copies' copies)? ('over' axis)?
Attribute CutAttr::parse(AsmParser &parser, Type) {
  int64_t dim = 0, parts = 1, copies = 1;
  FailureOr<Axis> axis = Axis::Tensor;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseInteger(dim) || parser.parseKeyword("of") ||
      parser.parseInteger(parts)) {
    return {};
  }
  if (succeeded(parser.parseOptionalKeyword("copies")) &&
      parser.parseInteger(copies)) {
    return {};
  }
  if (succeeded(parser.parseOptionalKeyword("over"))) {
    axis = FieldParser<Axis>::parse(parser);
  }
  return failed(axis) ? CutAttr()
                      : parser.getChecked<CutAttr>(where, parser.getContext(),
                                                   dim, parts, copies, *axis);
}

void CutAttr::print(AsmPrinter &printer) const {
  printer << getDim() << " of " << getParts();
  if (getCopies() > 1) {
    printer << " copies " << getCopies();
  }
  if (getAxis() != Axis::Tensor) {
    printer << " over " << getAxis();
  }
}

LogicalResult CutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              int64_t dim, int64_t parts, int64_t copies,
                              Axis) {
  if (dim < 0 || parts < 1 || copies < 1) {
    return emitError()
           << "expected a split into at least 1 part, got dimension " << dim
           << " into " << parts << " parts, " << copies << " copies";
  }
  return success();
}

/// source ::= string ('padded' rows)? ('first' 'rank' | ('split' cut)*)
Attribute SourceAttr::parse(AsmParser &parser, Type) {
  StringAttr name;
  int64_t padding = 0;
  SmallVector<CutAttr> cuts;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseAttribute(name) ||
      (succeeded(parser.parseOptionalKeyword("padded")) &&
       parser.parseInteger(padding))) {
    return {};
  }
  bool firstRank = succeeded(parser.parseOptionalKeyword("first"));
  if (firstRank && parser.parseKeyword("rank")) {
    return {};
  }
  while (!firstRank && succeeded(parser.parseOptionalKeyword("split"))) {
    auto cut = cast_or_null<CutAttr>(CutAttr::parse(parser, Type()));
    if (!cut) {
      return {};
    }
    cuts.push_back(cut);
  }
  return parser.getChecked<SourceAttr>(where, parser.getContext(), name,
                                       ArrayRef<CutAttr>(cuts), firstRank,
                                       padding);
}

void SourceAttr::print(AsmPrinter &printer) const {
  printer << getName();
  if (getPadding() > 0) {
    printer << " padded " << getPadding();
  }
  for (CutAttr cut : getCuts()) {
    printer << " split ";
    cut.print(printer);
  }
  if (getFirstRank()) {
    printer << " first rank";
  }
}

LogicalResult SourceAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringAttr name, ArrayRef<CutAttr> cuts,
                                 bool firstRank, int64_t padding) {
  if (padding < 0 || padding > kLargestSize) {
    return emitError() << "expected from 0 to " << kLargestSize
                       << " rows of padding, got " << padding;
  }
  return success();
}

int64_t SourceAttr::getParts(int64_t dim) const {
  int64_t parts = 1;
  for (CutAttr cut : getCuts()) {
    parts *= cut.getDim() == dim ? cut.getParts() : 1;
  }
  return parts;
}
