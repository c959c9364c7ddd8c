//===- TextTest.cpp - Names and numbers in other languages ----------------===//
//
// modelc-text-test numbers COUNT        that so many numbers are read back
// modelc-text-test number VALUE         as double, real and float
// modelc-text-test names FILE           each name of a file, split at "\0", as
// a
//                                       C++ program that compares them
// modelc-text-test toml FILE            the same as a file of TOML
//
//===----------------------------------------------------------------------===//

#include "lib/Text/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

using namespace modelc;

/// Whether both spellings of a number, and its JSON, mean it.
template <typename Float>
static bool isReadBack(Float value, Float (*read)(const char *, char **)) {
  std::string json;
  llvm::raw_string_ostream os(json);
  llvm::json::OStream writer(os);
  writeNumber(writer, static_cast<double>(value));
  bool isSame = json == exactNumber(static_cast<double>(value));
  for (const std::string &text : {exactNumber(value), exactReal(value)}) {
    isSame &= read(text.c_str(), nullptr) == value;
  }
  if (!isSame) {
    llvm::errs() << "expected " << exactNumber(value) << " to be read back\n";
  }
  return isSame;
}

/// Random bits: every exponent is as likely, numbers that are denormal too.
static int checkNumbers(unsigned count) {
  std::mt19937_64 random(20);
  using Limits = std::numeric_limits<double>;
  std::vector<double> hard = {0.1,
                              2.66666667,
                              1e23,
                              5e-324,
                              0x1p53 + 2,
                              0x1.fffffffffffffp62,
                              9007199254740993.0,
                              Limits::max(),
                              Limits::min(),
                              2.2250738585072011e-308,
                              123456789012345680.0,
                              9.5367431640625e-07};
  bool isGood = true;
  for (unsigned i = 0; i < count; ++i) {
    const double value =
        i < hard.size() ? hard[i] : llvm::bit_cast<double>(uint64_t(random()));
    const float single = llvm::bit_cast<float>(uint32_t(random()));
    isGood &= !std::isfinite(value) || isReadBack(value, std::strtod);
    isGood &= !std::isfinite(single) || isReadBack(single, std::strtof);
  }
  llvm::outs() << count << " numbers\n";
  return isGood ? 0 : 1;
}

static std::vector<std::string> namesOf(llvm::StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  std::vector<std::string> names;
  for (llvm::StringRef name :
       llvm::split(file ? (*file)->getBuffer() : "", '\0')) {
    names.push_back(name.str());
  }
  return names;
}

/// A program, also of C, that ends with the number of names that differ from
/// what their bytes say.
static int printProgram(llvm::StringRef path) {
  llvm::raw_ostream &os = llvm::outs();
  std::vector<std::string> names = namesOf(path);
  os << "#include <string.h>\n"
     << blockComment(names) << "int main(void) {\n  int wrong = 0;\n";
  for (const std::string &name : names) {
    std::string bytes;
    for (unsigned char c : name) {
      bytes += std::to_string(c) + ", ";
    }
    os << "  " << lineComment(name)
       << "\n  {\n    const unsigned char bytes[] = {" << bytes
       << "0};\n    const int " << nameFrom(name)
       << " = 0;\n    wrong += " << nameFrom(name) << " + (memcmp(bytes, "
       << cString(name) << ", sizeof bytes) != 0);\n  }\n";
  }
  os << "  return wrong;\n}\n";
  return 0;
}

static int printToml(llvm::StringRef path) {
  llvm::outs() << "names = [\n";
  for (const std::string &name : namesOf(path)) {
    llvm::outs() << "  " << tomlString(name) << ",\n";
  }
  llvm::outs() << "]\n";
  return 0;
}

int main(int argc, char **argv) {
  llvm::StringRef verb = argc == 3 ? argv[1] : "";
  if (verb == "numbers") {
    return checkNumbers(std::atoi(argv[2]));
  }
  if (verb == "number") {
    const double value = std::strtod(argv[2], nullptr);
    llvm::outs() << exactNumber(value) << " " << exactReal(value) << " "
                 << exactNumber(static_cast<float>(value)) << "\n";
    return 0;
  }
  if (verb == "names" || verb == "toml") {
    return verb == "names" ? printProgram(argv[2]) : printToml(argv[2]);
  }
  llvm::errs() << "usage: modelc-text-test numbers|number|names|toml ...\n";
  return 2;
}
