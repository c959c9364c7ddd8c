//===- NumberFormats.cpp - The formats of numbers that a model can have ---===//

#include "dialects/Model/NumberFormats.h"

#include "dialects/Model/Model.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace modelc::model;

template <typename T>
static FloatType of(MLIRContext *context) {
  return T::get(context);
}

// Sources: OCP Microscaling Formats 1.0 (mx*); ModelOpt (nvfp4); the
// checkpoints of DeepSeek-V3 (fp8_block) and of compressed-tensors (fp8).
static constexpr NumberFormat kFormats[] = {
    {.name = "bf16",
     .bits = 16,
     .element = of<BFloat16Type>,
     .uses = kWeights | kCache,
     .about = "as imported"},
    {.name = "fp8",
     .bits = 8,
     .element = of<Float8E4M3FNType>,
     .scale = of<Float32Type>,
     .takesBytes = true,
     .uses = kWeights | kInputs | kCache,
     .about = "e4m3 with scales"},
    {.name = "fp8_block",
     .bits = 8,
     .element = of<Float8E4M3FNType>,
     .scale = of<Float32Type>,
     .block = kScaledGroup,
     .blockRows = kScaledGroup,
     .uses = kWeights,
     .about =
         "e4m3 with a scale for each block of 128 x 128, of inputs of 128"},
    {.name = "mxfp8",
     .bits = 8,
     .element = of<Float8E4M3FNType>,
     .scale = of<Float8E8M0FNUType>,
     .block = kScaledBlock,
     .uses = kWeights,
     .about = "e4m3 with a power of two for each block of 32"},
    {.name = "mxfp6",
     .bits = 6,
     .element = of<Float6E2M3FNType>,
     .scale = of<Float8E8M0FNUType>,
     .block = kScaledBlock,
     .takesBytes = true,
     .uses = kWeights,
     .about = "e2m3 with a scale for each block of 32"},
    {.name = "mxfp4",
     .bits = 4,
     .element = of<Float4E2M1FNType>,
     .scale = of<Float8E8M0FNUType>,
     .block = kScaledBlock,
     .takesBytes = true,
     .uses = kWeights,
     .about = "e2m1 with a scale for each block of 32"},
    {.name = "nvfp4",
     .bits = 4,
     .element = of<Float4E2M1FNType>,
     .scale = of<Float8E4M3FNType>,
     .block = 16,
     .hasTensorScale = true,
     .uses = kWeights,
     .about = "e2m1 with a scale for each block of 16 and one for the tensor"},
};

ArrayRef<NumberFormat> modelc::model::numberFormats() { return kFormats; }

const NumberFormat *modelc::model::findFormat(StringRef name) {
  for (const NumberFormat &format : kFormats) {
    if (format.name == name) {
      return &format;
    }
  }
  return nullptr;
}

const NumberFormat *modelc::model::formatOf(StringRef name) {
  return name.empty() ? &kFormats[0] : findFormat(name);
}

const NumberFormat *modelc::model::formatOfScale(Type scale) {
  for (const NumberFormat &format : kFormats) {
    if (format.block > 0 && format.scale(scale.getContext()) == scale) {
      return &format;
    }
  }
  return nullptr;
}

std::string modelc::model::listBesideBytes(StringRef before) {
  SmallVector<std::string> names;
  for (const NumberFormat &format : kFormats) {
    if (format.takesBytes) {
      names.push_back((before + format.name).str());
    }
  }
  std::string last = names.pop_back_val();
  return llvm::join(names, ", ") + " or " + last;
}
