//===- LayoutTypes.cpp - Elements and layouts as types of the text --------===//

#include "lib/Emit/Kernel/Printer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// Stored elements that hold several numbers.
static std::string packedName(Type type) {
  Type number = numberType(type);
  int64_t count = packedNumbers(type);
  auto list = [&](StringRef name) { return (name + "x" + Twine(count)).str(); };
  if (isa<Float4E2M1FNType>(number) && count == 2) {
    return "f4x2";
  }
  if (count == kScalesPerWord) {
    return isa<Float8E8M0FNUType>(number)  ? "e8m0x4"
           : isa<Float8E4M3FNType>(number) ? "e4m3x4"
                                           : "";
  }
  return isa<Float6E2M3FNType>(number)   ? list("e2m3")
         : isa<Float6E3M2FNType>(number) ? list("e3m2")
         : number.isInteger(64)          ? list("i64")
         : number.isBF16()               ? list("bf16")
         : number.isF32()                ? list("f32")
                                         : "";
}

std::string modelc::elementName(Type type) {
  if (type.isF32()) {
    return "float";
  }
  if (type.isBF16()) {
    return "bf16";
  }
  if (type.isF16()) {
    return "f16";
  }
  if (isa<Float8E4M3FNType, Float8E4M3FNUZType>(type)) {
    return "f8";
  }
  if (type.isIndex() || type.isInteger(32)) {
    return "int";
  }
  if (type.isInteger(64)) {
    return "int64_t";
  }
  if (type.isInteger(16)) {
    return "int16_t";
  }
  if (type.isInteger(8)) {
    return "int8_t";
  }
  return type.isInteger(1) ? "bool" : packedName(type);
}

std::string modelc::capitalised(StringRef name) {
  std::string result = lowerCamel(name);
  result[0] = llvm::toUpper(result[0]);
  return result;
}

/// "columns(4)", "rows(1)", "rows(1) | columns(4)", "0".
static std::string imageText(int32_t row, int32_t column) {
  std::string text;
  if (row) {
    text = "rows(" + std::to_string(row) + ")";
  }
  if (column) {
    text += (row ? " | " : "") + ("columns(" + std::to_string(column) + ")");
  }
  return text.empty() ? "0" : text;
}

/// Bits that the layout does not name replicate.
static std::string bitsText(StringRef what, const Layout &layout,
                            StringRef input, unsigned count) {
  SmallVector<std::string> images;
  for (const Layout::Image &image : layout.input(input).bits) {
    images.push_back(imageText(image[layout.outputIndex("row")],
                               image[layout.outputIndex("column")]));
  }
  images.resize(std::max<size_t>(images.size(), count), "0");
  return (what + "<" + llvm::join(images, ", ") + ">").str();
}

std::string KernelPrinter::layoutName(TileType tile, StringRef wish) {
  const Layout &layout = tile.getLayout().getLayout();
  std::string definition =
      "Layout<" + std::to_string(tile.getRows()) + ", " +
      std::to_string(tile.getColumns()) + ", " +
      bitsText("Register", layout, "register", 0) + ",\n      " +
      bitsText("Lane", layout, "lane",
               llvm::Log2_64_Ceil(target.execution.waveSize)) +
      ", " +
      bitsText("Wave", layout, "wave", llvm::Log2_64_Ceil(kernel.getWaves())) +
      ">";
  std::string &name = typeNames[definition];
  if (name.empty()) {
    name = names.freshOfKernel(capitalised(wish) + "Layout");
    usings += "  using " + name + " = " + definition + ";\n";
  }
  return name;
}

std::string KernelPrinter::placeTypeName(TileType tile, StringRef wish) {
  SmallVector<std::string> rows, columns;
  int64_t elementBytes = tile.getElementBits() / 8;
  if (tile.getLayout()) {
    const Layout &layout = tile.getLayout().getLayout();
    for (const Layout::Image &image : layout.input("row").bits) {
      rows.push_back(std::to_string(image[0]));
    }
    for (const Layout::Image &image : layout.input("column").bits) {
      columns.push_back(std::to_string(image[0]));
    }
  } else {
    for (int64_t bit = 1; bit < tile.getRows(); bit *= 2) {
      rows.push_back(std::to_string(bit * tile.getColumns() * elementBytes));
    }
    for (int64_t bit = 1; bit < tile.getColumns(); bit *= 2) {
      columns.push_back(std::to_string(bit * elementBytes));
    }
  }
  std::string ends = llvm::isPowerOf2_64(tile.getRows())
                         ? ""
                         : ", " + std::to_string(tile.getRows());
  std::string definition = "Shared<" + elementName(tile.getElementType()) +
                           ", Row<" + llvm::join(rows, ", ") + ">, Column<" +
                           llvm::join(columns, ", ") + ">" + ends + ">";
  std::string &name = typeNames[definition];
  if (name.empty()) {
    name = names.fresh(capitalised(wish));
    usings += "  using " + name + " = " + definition + ";\n";
  }
  return name;
}
