//===- CurveFigures.h - The columns of a curve ----------------------------===//
//
// Inner to lib/Report.
//
//===----------------------------------------------------------------------===//

#ifndef MODELC_LIB_REPORT_CURVEFIGURES_H
#define MODELC_LIB_REPORT_CURVEFIGURES_H

#include "lib/Report/Curves.h"
#include <optional>

namespace llvm::json {
class OStream;
} // namespace llvm::json

namespace modelc {

/// A figure that every point of a curve has, or none.
struct CurveFigure {
  llvm::StringLiteral label; // above a column; empty: not in tables for people
  llvm::StringLiteral key;   // in JSON and CSV; ends in its unit
  llvm::StringLiteral unit;
  double scale; // of the key's unit: 1000 for milliseconds
  std::optional<Views> (*of)(const CurvePoint &point);

  /// The value, if it is finite.
  std::optional<Views> at(const CurvePoint &point) const;
};

/// All of them, in the order of the columns.
llvm::ArrayRef<CurveFigure> curveFigures();

/// What a reader has to know of a point: what limits it.
std::string remarkOn(const CurvePoint &point);

/// Parts of JSON and of CSV, of a point and of all.
void writePoint(llvm::json::OStream &json, const CurvePoint &point);
void writeCurve(llvm::json::OStream &json, const CurveReport &report);
void printCurveHeader(const CurveReport &report, llvm::raw_ostream &os);
void printCurveRows(const CurveReport &report, llvm::raw_ostream &os);

} // namespace modelc

#endif // MODELC_LIB_REPORT_CURVEFIGURES_H
