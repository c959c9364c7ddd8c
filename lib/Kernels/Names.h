//===- Names.h - What is usual of a kernel, in its name -------------------===//
//
// Names are for people: kernels are told apart by `identityOf` alone.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_KERNELS_NAMES_H
#define LIB_KERNELS_NAMES_H

#include "lib/Kernels/ExpertFamilies.h"
#include "lib/Kernels/HeadFamilies.h"
#include "lib/Kernels/Rows/SampleFamily.h"

namespace modelc::kernels {

std::string nameOf(const LinearShape &shape);
/// Behind that of the shape.
std::string nameOf(const LinearTile &tile);
std::string nameOf(const ExchangeShape &shape);
std::string nameOf(const NormShape &shape);
std::string nameOf(const QuantiseShape &shape);
std::string nameOf(const ElementwiseShape &shape);
std::string nameOf(const GatherShape &shape);
std::string nameOf(const SampleShape &shape);
std::string nameOf(const RouteShape &shape);
std::string nameOf(llvm::StringRef kind, const PlaceShape &shape);
std::string nameOf(llvm::StringRef kind, const SlotRowsShape &shape);
std::string nameOf(const HeadLinearShape &shape);
/// Behind that of the shape.
std::string nameOf(const HeadLinearTile &tile);
std::string nameOf(llvm::StringRef kind, const HeadShape &shape);
std::string nameOf(const SumParts &sums);
/// "_to_f4e2m1fn": what a kernel quantises its result to, or nothing.
std::string nameOfQuantised(const std::optional<QuantiseShape> &quantise);

} // namespace modelc::kernels

#endif // LIB_KERNELS_NAMES_H
