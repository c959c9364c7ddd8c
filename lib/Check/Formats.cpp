//===- Formats.cpp - Number formats, by LLVM's arithmetic -----------------===//

#include "lib/Check/Formats.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include <vector>

using namespace modelc::check;
using llvm::APFloat;

unsigned modelc::check::bitsOf(Format format) {
  switch (format) {
  case Format::E2M1:
    return 4;
  case Format::E2M3:
  case Format::E3M2:
    return 6;
  case Format::F16:
  case Format::Bf16:
    return 16;
  case Format::F32:
    return 32;
  default:
    return 8;
  }
}

static const llvm::fltSemantics &semanticsOf(Format format) {
  switch (format) {
  case Format::E4M3:
    return APFloat::Float8E4M3FN();
  case Format::E5M2:
    return APFloat::Float8E5M2();
  case Format::E2M3:
    return APFloat::Float6E2M3FN();
  case Format::E3M2:
    return APFloat::Float6E3M2FN();
  case Format::E2M1:
    return APFloat::Float4E2M1FN();
  case Format::E4M3Fnuz:
    return APFloat::Float8E4M3FNUZ();
  case Format::E5M2Fnuz:
    return APFloat::Float8E5M2FNUZ();
  case Format::F16:
    return APFloat::IEEEhalf();
  case Format::Bf16:
    return APFloat::BFloat();
  case Format::F32:
    return APFloat::IEEEsingle();
  }
  return APFloat::IEEEsingle();
}

const float *modelc::check::valuesOf(Format format) {
  static const std::vector<std::vector<float>> all = [] {
    std::vector<std::vector<float>> tables;
    for (unsigned f = 0; f <= unsigned(Format::Bf16); ++f) {
      unsigned bits = bitsOf(Format(f));
      std::vector<float> &table = tables.emplace_back();
      for (uint32_t pattern = 0; pattern < 1u << bits; ++pattern) {
        APFloat value(semanticsOf(Format(f)), llvm::APInt(bits, pattern));
        bool lost;
        value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                      &lost);
        table.push_back(value.convertToFloat());
      }
    }
    return tables;
  }();
  return all[unsigned(format)].data();
}

uint32_t modelc::check::encode(Format format, float value) {
  const llvm::fltSemantics &semantics = semanticsOf(format);
  bool noSpecials = format == Format::E2M1 || format == Format::E2M3 ||
                    format == Format::E3M2;
  if (noSpecials && (std::isnan(value) || std::isinf(value))) {
    return uint32_t(APFloat::getLargest(semantics, std::signbit(value))
                        .bitcastToAPInt()
                        .getZExtValue());
  }
  APFloat number(value);
  bool lost;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &lost);
  return uint32_t(number.bitcastToAPInt().getZExtValue());
}
