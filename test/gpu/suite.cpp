// suite FOLDER [--seed=N] [--only=TEXT]: runs every case of a package once,
// compares with the reference in double, then times it beside the vendor's
// library, the floor that was measured in the same run, and the estimate.
// Prints tables in Markdown. Exit code 1: a kernel is wrong; 2: the machine or
// a launch failed.
#include "check.h"
#include "library.h"

#include <ctime>
#include <memory>

namespace {

/// What the machine reaches, measured here.
struct Ceilings {
  double readRate = 0, copyRate = 0; // B/s
  double bf16Rate = 0, f8Rate = 0;   // flop/s, of the library
};

struct alignas(16) Word {
  uint64_t low, high;
};

struct ReadAll {
  const Word *from;
  Word *sum;
  int64_t count;
  BOTH void operator()(int64_t i) const {
    uint64_t own = 0;
    for (; i < count; i += kThreads) {
      own += from[i].low ^ from[i].high;
    }
    if (own == 1) { // never, but the compiler does not know
      sum->low = own;
    }
  }
  static constexpr int64_t kThreads = 1 << 19;
};
struct CopyAll {
  const Word *from;
  Word *to;
  BOTH void operator()(int64_t i) const { to[i] = from[i]; }
};

double rateOf(const Library &library, int32_t type) {
  constexpr int64_t kSide = 8192;
  Library::Plan plan = library.plan({type, kSide, kSide, kSide});
  if (!plan.isReady) {
    return 0;
  }
  Argument side = {"", type, {kSide, kSide}, false};
  void *a = allocate(bytesOf(side)), *w = allocate(bytesOf(side)),
       *d = allocate(2 * size_t(kSide * kSide));
  forEach(kSide * kSide, Fill{a, type, 1});
  forEach(kSide * kSide, Fill{w, type, 2});
  double seconds = secondsOf(
      20, [&](int, void *stream) { plan.run(a, w, nullptr, d, stream); });
  release(a), release(w), release(d);
  return 2.0 * kSide * kSide * kSide / seconds;
}

Ceilings measure(const Library &library) {
  Ceilings ceilings;
  constexpr int64_t kWords = int64_t(1) << 27; // 2 GiB: no cache holds it
  constexpr size_t kBytes = size_t(kWords) * sizeof(Word);
  auto *from = static_cast<Word *>(allocate(kBytes));
  auto *to = static_cast<Word *>(allocate(kBytes));
  poison(from, kBytes);
  double reading = secondsOf(5, [&](int, void *stream) {
    forEach(ReadAll::kThreads, ReadAll{from, to, kWords}, stream);
  });
  double copying = secondsOf(5, [&](int, void *stream) {
    forEach(kWords, CopyAll{from, to}, stream);
  });
  release(from), release(to);
  ceilings.readRate = double(kBytes) / reading;
  ceilings.copyRate = 2 * double(kBytes) / copying;
  ceilings.bf16Rate = rateOf(library, MC_BF16);
  ceilings.f8Rate = rateOf(library, MC_F8E4M3FN);
  return ceilings;
}

/// The least time of a case on a machine that reaches these.
double floorOf(const Case &one, const Ceilings &ceilings, int32_t type) {
  bool reads = one.writtenBytes < 0.1 * one.readBytes;
  double rate = reads ? ceilings.readRate : ceilings.copyRate;
  double matrix = type == MC_F8E4M3FN ? ceilings.f8Rate : ceilings.bf16Rate;
  double moving = (one.readBytes + one.writtenBytes) / rate;
  return matrix > 0 ? std::max(moving, one.flop / matrix) : moving;
}

/// Copies of the inputs that together are far larger than the last cache.
std::vector<std::unique_ptr<Tensors>> copiesOf(const Case &one, uint64_t seed) {
  constexpr size_t kMostCopies = 512, kMostBytes = size_t(24) << 30;
  size_t bytes = 1;
  for (const Argument &argument : one.arguments) {
    bytes += bytesOf(argument);
  }
  size_t count = std::min(kMostCopies, 4 * cacheBytes() / bytes + 2);
  count = std::max<size_t>(1, std::min(count, kMostBytes / bytes));
  std::vector<std::unique_ptr<Tensors>> copies;
  for (size_t i = 0; i < count; ++i) {
    copies.push_back(std::make_unique<Tensors>(one, seed + i));
  }
  return copies;
}

std::string microseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", seconds * 1e6);
  return seconds > 0 ? text : "-";
}
std::string ratio(double a, double b) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", a / b);
  return a > 0 && b > 0 ? text : "-";
}

/// Seconds of the library for the product within a linear; 0: it has none.
double librarySeconds(const Case &one,
                      const std::vector<std::unique_ptr<Tensors>> &copies,
                      const Library &library, int launches) {
  if (one.kind != "linear" || !library.isThere()) {
    return 0;
  }
  const Tensors &first = *copies.front();
  Product product = {first.numbers("a").type, first.extent("a", 0),
                     first.extent("w", 0), first.extent("a", 1)};
  Library::Plan plan = library.plan(product);
  if (!plan.isReady) {
    return 0;
  }
  void *d = allocate(2 * size_t(product.m * product.n));
  double seconds = secondsOf(launches, [&](int i, void *stream) {
    const Tensors &own = *copies[size_t(i) % copies.size()];
    plan.run(own.numbers("a").data, own.numbers("w").data,
             own.numbers("residual").data, d, stream);
  });
  release(d);
  return seconds;
}

class Suite {
public:
  Suite(uint64_t seed, std::string only) : seed(seed), only(std::move(only)) {}

  int run() {
    if (kHasClock) {
      ceilings = measure(library);
    }
    head();
    for (const Case &one : allCases()) {
      if ((one.label + ", " + one.title).find(only) != std::string::npos &&
          !runOne(one)) {
        return 2;
      }
    }
    std::printf("\n%d cases, %d wrong\n", cases, wrong);
    return wrong || !cases ? 1 : 0;
  }

private:
  void head() const {
    char date[32];
    std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
    std::printf("%s, %s, seed %llu.\n", machineName().c_str(), date,
                static_cast<unsigned long long>(seed));
    if (kHasClock) {
      std::printf("Ceilings: read %.0f GB/s, copy %.0f GB/s, products of 8192 "
                  "bf16 %.0f TF, fp8 %.0f TF%s.\n",
                  ceilings.readRate / 1e9, ceilings.copyRate / 1e9,
                  ceilings.bf16Rate / 1e12, ceilings.f8Rate / 1e12,
                  library.isThere() ? "" : " (no cuBLASLt here)");
      std::printf("The library of a gated linear is its product alone.\n");
    }
    std::printf("\n| op | step | time us | library us | floor us | time / "
                "library | time / floor | estimate us | "
                "estimate / time | error | "
                "|\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  }

  bool runOne(const Case &one) {
    std::vector<std::unique_ptr<Tensors>> copies =
        copiesOf(one, seed * 1000 + uint64_t(cases) * 100);
    const Tensors &first = *copies.front();
    if (!first.launch()) {
      return false;
    }
    synchronize();
    Verdict verdict = Checker(one, first, seed).check();
    ++cases;
    wrong += verdict.isRight() ? 0 : 1;
    double floor =
        kHasClock ? floorOf(one, ceilings, first.numbers("a").type) : 0;
    int launches = floor > 0 ? int(std::clamp(2e-2 / floor, 10.0, 500.0)) : 1;
    double time = secondsOf(launches, [&](int i, void *stream) {
      copies[size_t(i) % copies.size()]->launch(stream);
    });
    double other = librarySeconds(one, copies, library, launches);
    std::printf("| %s | %s | %s | %s | %s | %s | %s | %s | %s | %.2f | %s |\n",
                one.label.c_str(), one.title.c_str(),
                microseconds(time).c_str(), microseconds(other).c_str(),
                microseconds(floor).c_str(), ratio(time, other).c_str(),
                ratio(time, floor).c_str(),
                microseconds(one.estimateSeconds).c_str(),
                ratio(one.estimateSeconds, time).c_str(), verdict.worst,
                !verdict.isRight() ? "WRONG"
                : verdict.isOfPart ? "not compared"
                                   : "right");
    if (!verdict.isRight()) {
      std::printf("\nWRONG: %s: %lld numbers compared, worst error %.3g of "
                  "what is tolerated\n\n",
                  one.kernels.c_str(), static_cast<long long>(verdict.compared),
                  verdict.worst);
    }
    std::fflush(stdout);
    return true;
  }

  uint64_t seed;
  std::string only;
  Library library;
  Ceilings ceilings;
  int cases = 0, wrong = 0;
};

} // namespace

int main(int argc, char **argv) {
  uint64_t seed = std::random_device()() % 1000000;
  std::string folder, only;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word.rfind("--seed=", 0) == 0) {
      seed = std::stoull(word.substr(7));
    } else if (word.rfind("--only=", 0) == 0) {
      only = word.substr(7);
    } else {
      folder = word;
    }
  }
  openMachine();
  if (modelc_open(folder.c_str())) {
    std::fprintf(stderr, "%s\n", modelc_last_error());
    return 2;
  }
  return Suite(seed, only).run();
}
