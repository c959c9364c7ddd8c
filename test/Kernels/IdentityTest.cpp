//===- IdentityTest.cpp - Every field tells a kernel from another ---------===//
//
// Changes each field of each shape and tile, also those of the structs in them,
// and prints the fields whose change leaves the identity as it was. There are
// none; `identity.test` checks it, and that a change of nothing is none.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/HeadFamilies.h"
#include "lib/Kernels/Rows/SampleFamily.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace modelc::kernels;

static void change(bool &value) { value = !value; }
static void change(int64_t &value) { ++value; }
/// The smallest change that there is.
static void change(double &value) { value = std::nextafter(value, 1e9); }
static void change(std::vector<int64_t> &value) { value.push_back(0); }
static void change(std::optional<QuantiseShape> &value) { value.emplace(); }

template <typename T>
  requires(std::is_enum_v<T>)
static void change(T &value) {
  value = static_cast<T>((static_cast<size_t>(value) + 1) % kWords<T>.size());
}

namespace {
struct Checker {
  MLIRContext *context;
  size_t checked = 0, missed = 0;

  void change(Type &value) {
    value = value ? Type() : Float8E4M3FNType::get(context);
  }
  template <typename T>
  void change(T &value) {
    ::change(value);
  }

  /// `inner` is a part of `whole`.
  template <typename Whole, typename T>
  void check(const Whole &whole, T &inner, const std::string &name) {
    forEachField<T>([&](const auto &field) {
      auto &value = inner.*field.member;
      using Member = std::remove_cvref_t<decltype(value)>;
      std::string path = name + "." + field.key;
      if constexpr (kHasFields<Member>) {
        check(whole, value, path);
      } else {
        Member kept = value;
        std::string before = identityOf(whole);
        change(value);
        ++checked;
        if (identityOf(whole) == before) {
          llvm::outs() << path << ": no other kernel\n";
          ++missed;
        }
        value = kept;
        if (identityOf(whole) != before) {
          llvm::outs() << path << ": another kernel for the same value\n";
          ++missed;
        }
      }
    });
  }

  template <typename T>
  void check(const char *name) {
    T value = {};
    check(value, value, name);
  }
};
} // namespace

int main() {
  MLIRContext context;
  Checker checker = {&context};
  checker.check<QuantiseShape>("quantise");
  checker.check<LinearShape>("linear");
  checker.check<LinearTile>("linear tile");
  checker.check<RowTile>("row tile");
  checker.check<ExchangeShape>("exchange");
  checker.check<NormShape>("norm");
  checker.check<ElementwiseShape>("elementwise");
  checker.check<GatherShape>("gather");
  checker.check<SampleShape>("sample");
  checker.check<SampleTile>("sample tile");
  checker.check<HeadShape>("heads");
  checker.check<HeadLinearShape>("head linear");
  checker.check<HeadLinearTile>("head linear tile");
  checker.check<RopeTile>("rope tile");
  checker.check<PrefillTile>("prefill tile");
  checker.check<DecodeTile>("decode tile");
  llvm::outs() << checker.checked << " fields, " << checker.missed
               << " without another kernel\n";
  return checker.missed != 0;
}
