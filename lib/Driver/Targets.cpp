//===- Targets.cpp - modelc targets ---------------------------------------===//

#include "lib/Driver/Driver.h"

#include "lib/Hardware/Hardware.h"
#include "lib/Support/Support.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace modelc;

//===----------------------------------------------------------------------===//
// What a machine is known by
//===----------------------------------------------------------------------===//

namespace {
/// Types of products that users ask for, by the beginning of MLIR's name.
struct TypeName {
  StringLiteral shown, type;
};
} // namespace

static constexpr TypeName kTypes[] = {
    {"bf16", "bf16"}, {"fp8", "f8"}, {"fp6", "f6"}, {"fp4", "f4"}};

/// Operations of products of a type in a second, at the boost clock; 0: none.
static double peakOf(const Target &target, StringRef type) {
  double peak = 0;
  for (const MmaRow &row : target.mma) {
    if (StringRef(row.ratedType()).starts_with(type)) {
      peak = std::max(peak, target.flopPerSecond(row));
    }
  }
  return peak;
}

static std::string peakText(const Target &target, StringRef type) {
  double peak = peakOf(target, type);
  return peak > 0 ? formatQuantity(peak, "FLOP/s") : "-";
}

/// The basis that an estimate takes where none is asked for.
static constexpr StringLiteral kUsualBasis = "hyperscaler";

static std::string usualPrice(const Target &target) {
  auto price = target.price.perHour.find(kUsualBasis.str());
  return price == target.price.perHour.end()
             ? "-"
             : formatQuantity(price->second, "$/h");
}

//===----------------------------------------------------------------------===//
// All machines
//===----------------------------------------------------------------------===//

static int listAll(ArrayRef<std::string> directories, raw_ostream &out,
                   raw_ostream &errors) {
  std::vector<TargetFile> files = listTargets(directories);
  if (files.empty()) {
    sayNoTargets(targetsFolder(directories.front()), errors);
    return kExitInput;
  }
  TextTable table(/*leftColumns=*/2);
  std::vector<std::string> head = {"name", "product", "memory", "bandwidth"};
  for (const TypeName &one : kTypes) {
    head.push_back(one.shown.str());
  }
  head.push_back("power");
  head.push_back("price, " + kUsualBasis.str());
  table.add(std::move(head));
  int code = kExitOk;
  for (const TargetFile &file : files) {
    FailureOr<Target> target = loadTarget(file.path, {}, directories, errors);
    if (failed(target)) {
      code = kExitInput;
      continue;
    }
    std::vector<std::string> row = {
        file.name, file.product,
        formatQuantity(double(target->memory.capacityBytes), "B"),
        formatQuantity(target->memory.bandwidth, "B/s")};
    for (const TypeName &one : kTypes) {
      row.push_back(peakText(*target, one.type));
    }
    row.push_back(formatQuantity(target->power.tdp, "W"));
    row.push_back(usualPrice(*target));
    table.add(std::move(row));
  }
  table.print(out);
  return code;
}

//===----------------------------------------------------------------------===//
// One machine
//===----------------------------------------------------------------------===//

static void printSummary(const Target &target, raw_ostream &out) {
  out << target.identity.name << ": " << target.identity.product << ", "
      << target.identity.family << ", " << target.identity.isa << "\n";
  out << "  memory    "
      << formatQuantity(double(target.memory.capacityBytes), "B") << ", "
      << formatQuantity(target.memory.bandwidth, "B/s") << "\n  products  ";
  StringRef comma = "";
  for (const TypeName &one : kTypes) {
    out << comma << one.shown << " " << peakText(target, one.type);
    comma = ", ";
  }
  out << "\n  units     " << target.execution.units << " at "
      << formatQuantity(target.clock.boostHz, "Hz") << "\n  links     "
      << target.link.domain << " GPUs by " << target.link.kind << ", "
      << formatQuantity(target.link.bandwidth, "B/s")
      << " each way\n  power     " << formatQuantity(target.power.tdp, "W")
      << "\n  price     ";
  comma = "";
  for (const auto &[basis, dollars] : target.price.perHour) {
    out << comma << formatQuantity(dollars, "$/h") << " " << basis;
    comma = ", ";
  }
  out << " (" << target.price.date << ")\n\n";
}

/// Facts with the numbers of their sources, then each source once.
static void printFacts(const Target &target, raw_ostream &out) {
  constexpr size_t kWidestText = 28;
  size_t keyWidth = 0, textWidth = 0;
  for (const auto &[key, fact] : target.facts) {
    keyWidth = std::max(keyWidth, key.size());
    textWidth = std::max(textWidth, std::min(fact.text.size(), kWidestText));
  }
  MapVector<StringRef, size_t> sources;
  for (const auto &[key, fact] : target.facts) {
    size_t number =
        sources.try_emplace(fact.source, sources.size() + 1).first->second;
    std::string mark = "[" + std::to_string(number) + "]";
    out << left_justify(key, keyWidth + 2) << left_justify(fact.text, textWidth)
        << "  " << left_justify(gradeName(fact.grade), 11)
        << left_justify(mark, 6) << sys::path::filename(fact.file) << ":"
        << fact.line << "\n";
  }
  out << "\nsources\n";
  for (const auto &[source, number] : sources) {
    out << "[" << number << "] " << source << "\n";
  }
}

int modelc::showTargets(StringRef name, ArrayRef<std::string> overrides,
                        StringRef directory, raw_ostream &out,
                        raw_ostream &errors) {
  std::vector<std::string> directories = {directory.str()};
  if (name.empty()) {
    return listAll(directories, out, errors);
  }
  FailureOr<Target> target = loadTarget(name, overrides, directories, errors);
  if (failed(target)) {
    return kExitInput;
  }
  printSummary(*target, out);
  printFacts(*target, out);
  return kExitOk;
}
