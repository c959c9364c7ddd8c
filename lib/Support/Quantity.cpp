#include "lib/Support/Support.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <optional>

namespace modelc {

namespace {
struct Unit {
  llvm::StringLiteral name;
  double factor;
  Dimension dimension;
  bool takesPrefix;
};

struct Prefix {
  llvm::StringLiteral name;
  double factor;
};
} // namespace

static constexpr Dimension kByte{.byte = 1};
static constexpr Dimension kSecond{.second = 1};
static constexpr Dimension kJoule{.joule = 1};
static constexpr Dimension kWatt{.second = -1, .joule = 1};
static constexpr Dimension kHertz{.second = -1};

static constexpr Unit kUnits[] = {
    {"B", 1, kByte, true},
    {"bit", 0.125, kByte, true},
    {"s", 1, kSecond, true},
    {"min", 60, kSecond, false},
    {"h", 3600, kSecond, false},
    {"J", 1, kJoule, true},
    {"Wh", 3600, kJoule, true},
    {"W", 1, kWatt, true},
    {"Hz", 1, kHertz, true},
    {"flop", 1, {.flop = 1}, true},
    {"FLOP", 1, {.flop = 1}, true},
    {"op", 1, {.operation = 1}, true},
    {"clk", 1, {.clock = 1}, false},
    {"$", 1, {.dollar = 1}, false},
    {"token", 1, {.token = 1}, true},
    {"tok", 1, {.token = 1}, true},
    {"%", 0.01, {}, false},
    {"1", 1, {}, false},
};

// Ascending, so that printing can take the last that fits.
static constexpr Prefix kDecimal[] = {
    {"p", 1e-12}, {"n", 1e-9}, {"u", 1e-6}, {"m", 1e-3},
    {"", 1},      {"k", 1e3},  {"M", 1e6},  {"G", 1e9},
    {"T", 1e12},  {"P", 1e15}, {"E", 1e18},
};
static constexpr Prefix kBinary[] = {
    {"", 1},        {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30},
    {"Ti", 0x1p40}, {"Pi", 0x1p50}, {"Ei", 0x1p60},
};

static std::optional<Quantity> parseUnit(llvm::StringRef name) {
  for (const Unit &unit : kUnits) {
    if (name == unit.name) {
      return Quantity{unit.factor, unit.dimension};
    }
  }
  for (const Unit &unit : kUnits) {
    llvm::StringRef prefixName = name;
    if (!unit.takesPrefix || !prefixName.consume_back(unit.name)) {
      continue;
    }
    llvm::SmallVector<Prefix> prefixes(std::begin(kDecimal),
                                       std::end(kDecimal));
    if (unit.dimension == kByte) {
      prefixes.append(std::begin(kBinary), std::end(kBinary));
    }
    for (const Prefix &prefix : prefixes) {
      if (prefixName == prefix.name) {
        return Quantity{prefix.factor * unit.factor, unit.dimension};
      }
    }
  }
  return std::nullopt;
}

static void multiply(Quantity &product, const Quantity &by, int sign) {
  product.value *= sign > 0 ? by.value : 1 / by.value;
  Dimension &d = product.dimension;
  d.byte += sign * by.dimension.byte;
  d.second += sign * by.dimension.second;
  d.joule += sign * by.dimension.joule;
  d.flop += sign * by.dimension.flop;
  d.operation += sign * by.dimension.operation;
  d.clock += sign * by.dimension.clock;
  d.dollar += sign * by.dimension.dollar;
  d.token += sign * by.dimension.token;
}

/// "TB/s", "$/h", "W": one unit over any number of units.
static llvm::FailureOr<Quantity> parseUnits(llvm::StringRef text,
                                            std::string &why) {
  Quantity product{1, {}};
  int sign = 1;
  while (!text.empty()) {
    llvm::StringRef name;
    std::tie(name, text) = text.split('/');
    std::optional<Quantity> unit = parseUnit(name.trim());
    if (!unit) {
      why = "unknown unit \"" + name.trim().str() + "\"";
      if (name.trim().starts_with("K")) {
        why += " (k is 1000, Ki is 1024)";
      }
      return llvm::failure();
    }
    multiply(product, *unit, sign);
    sign = -1;
  }
  return product;
}

llvm::FailureOr<Quantity> parseQuantity(llvm::StringRef text,
                                        std::string &why) {
  text = text.trim();
  size_t end = text.find_first_not_of("+-.0123456789_");
  // An exponent belongs to the number only if digits follow: "1e3 B", not "1
  // EB".
  if (end != llvm::StringRef::npos && (text[end] == 'e') &&
      text.drop_front(end + 1).find_first_of("+-0123456789") == 0) {
    end = text.find_first_not_of("+-0123456789", end + 1);
  }
  std::string digits = text.take_front(end).str();
  std::erase(digits, '_');
  double number = 0;
  if (digits.empty() || !llvm::to_float(digits, number)) {
    why = "expected a number with a unit, got \"" + text.str() + "\"";
    return llvm::failure();
  }
  llvm::FailureOr<Quantity> quantity = parseUnits(
      end == llvm::StringRef::npos ? "" : text.substr(end).trim(), why);
  if (llvm::succeeded(quantity)) {
    quantity->value *= number;
  }
  return quantity;
}

llvm::FailureOr<double>
parseQuantityIn(llvm::StringRef text, llvm::StringRef unit, std::string &why) {
  std::string ignored;
  llvm::FailureOr<Quantity> one = parseUnits(unit, ignored);
  assert(llvm::succeeded(one) && "units in the compiler are known");
  llvm::FailureOr<Quantity> quantity = parseQuantity(text, why);
  if (llvm::failed(quantity)) {
    why += ", expected a quantity in " + unit.str();
    return llvm::failure();
  }
  if (!(quantity->dimension == one->dimension)) {
    why = "expected a quantity in " + unit.str() + ", got \"" + text.str() +
          "\", which measures something else";
    return llvm::failure();
  }
  return quantity->value / one->value;
}

static std::string formatScaled(double value, llvm::StringRef prefix,
                                llvm::StringRef unit, unsigned digits) {
  std::string text;
  llvm::raw_string_ostream os(text);
  // %g would print 1234 at three digits as 1.23e+03.
  int whole =
      value == 0 ? 1 : int(std::floor(std::log10(std::fabs(value)))) + 1;
  os << llvm::format("%.*g", std::max(int(digits), whole), value);
  if (!unit.empty()) {
    os << ' ' << prefix << unit;
  }
  return text;
}

/// Units that read badly with a prefix: counts, clocks, hours, dollars.
static bool takesPrefix(llvm::StringRef unit) {
  llvm::StringRef first = unit.split('/').first;
  for (const Unit &known : kUnits) {
    if (first == known.name) {
      return known.takesPrefix;
    }
  }
  return false;
}

/// The largest prefix that leaves a number of at least one.
static Prefix fitting(double value, llvm::ArrayRef<Prefix> prefixes) {
  Prefix best = prefixes.front();
  for (const Prefix &prefix : prefixes) {
    if (std::fabs(value) >= prefix.factor) {
      best = prefix;
    }
  }
  return best;
}

std::string formatQuantity(double value, llvm::StringRef unit,
                           unsigned digits) {
  if (!takesPrefix(unit) || value == 0) {
    return formatScaled(value, "", unit, digits);
  }
  Prefix prefix =
      unit == "B" ? fitting(value, kBinary) : fitting(value, kDecimal);
  return formatScaled(value / prefix.factor, prefix.name, unit, digits);
}

} // namespace modelc
