// Compares what the kernels of a case wrote with the reference.
#ifndef TEST_GPU_CHECK_H
#define TEST_GPU_CHECK_H

#include "tensors.h"

/// The largest error of a case, in units of what is tolerated.
struct Verdict {
  double worst = 0;
  int64_t compared = 0;
  bool isOfPart = false; ///< of a kernel that others finish: it is only timed
  bool isRight() const { return (compared > 0 || isOfPart) && worst <= 1; }
};

/// One result and what it should be.
struct Pair {
  double got, expected, size;
};

/// The size of what is added to a result, where one of its rows may be far
/// larger than the mean of all.
struct NoSize {
  BOTH double operator()(int64_t) const { return 0; }
};
/// Of attention: fewer keys, larger results. Values lie in [-2, 2].
struct SizeOfAttention {
  Place place;
  int64_t rowNumbers;
  BOTH double operator()(int64_t i) const {
    int64_t position = place.position(i / rowNumbers);
    return 1 / sqrt(1.0 + double(position - place.firstSeen(position)));
  }
};

template <typename F, typename Got, typename Size>
struct Sample {
  F expected;
  Got got;
  Size size;
  int64_t total, taken;
  uint64_t seed;
  Pair *pairs;

  BOTH void operator()(int64_t n) const {
    // All of a small result; of a large one its corners and numbers at random.
    int64_t i = taken == total ? n
                : n == 0       ? 0
                : n == 1
                    ? total - 1
                    : int64_t(randomBits(seed, uint64_t(n)) % uint64_t(total));
    pairs[n] = {got(i), expected(i), size(i)};
  }
};

/// Whether rows hold what is no number: results that nobody wrote.
struct Unwritten {
  Numbers numbers;
  int64_t columns;
  double *rows;

  BOTH void operator()(int64_t row) const {
    double count = 0;
    for (int64_t i = 0; i < columns; ++i) {
      double value = numbers[row * columns + i];
      count += value != value ? 1 : 0;
    }
    rows[row] = count;
  }
};

/// A result as it is.
struct Plain {
  Numbers numbers;
  BOTH double operator()(int64_t i) const { return numbers[i]; }
};
/// Times the scale of its row.
struct Scaled {
  Numbers numbers, scale;
  int64_t columns;
  BOTH double operator()(int64_t i) const {
    return numbers[i] * (scale.data ? scale[i / columns] : 1);
  }
};
/// What a cache holds of element i of the step's keys or values.
struct Cached {
  Numbers cache;
  Place place;
  int64_t heads, width;
  BOTH double operator()(int64_t i) const {
    int64_t token = i / (heads * width);
    int64_t row = place.cacheRow(token / place.news, place.position(token));
    return cache[row * heads * width + i % (heads * width)];
  }
};
/// The number of a row that an index names.
struct Chosen {
  Numbers numbers, index;
  int64_t columns;
  BOTH double operator()(int64_t row) const {
    int64_t column = int64_t(index[row]);
    return column >= 0 && column < columns ? numbers[row * columns + column]
                                           : NAN;
  }
};

class Checker {
public:
  Checker(const Case &of, const Tensors &tensors, uint64_t seed)
      : of(of), tensors(tensors), seed(seed) {}

  Verdict check() {
    const std::string &kind = of.kind;
    verdict.isOfPart = kind == "part";
    if (kind == "linear") {
      linear();
    } else if (kind == "norm" || kind == "quantise") {
      rows();
    } else if (kind == "embed" || kind == "last") {
      int64_t columns = tensors.extent("out", 1);
      compare(Gather{at(kind == "last" ? "starts" : "ids"), at("table"),
                     columns, kind == "last"},
              Plain{at("out")}, tensors.extent("out", 0) * columns, 0);
    } else if (kind == "rope_append") {
      rope();
    } else if (kind == "append") {
      append("k", "k_cache");
      append("v", "v_cache");
    } else if (kind == "attention_prefill" || kind == "attention_decode") {
      attention();
    } else if (kind == "sample") {
      int64_t columns = tensors.extent("logits", 1);
      compare(Largest{at("logits"), columns},
              Chosen{at("logits"), at("out"), columns},
              tensors.extent("out", 0), 0);
    }
    for (const Argument &argument : of.arguments) {
      bool isPart = argument.name == "partial" || argument.name == "part" ||
                    argument.name == "stat";
      bool isCache = argument.name == "k_cache" || argument.name == "v_cache";
      if (argument.isWritten && argument.type != MC_I32 && !isPart &&
          !isCache) {
        allWritten(argument);
      }
    }
    return verdict;
  }

private:
  static constexpr int64_t kSamples = 1 << 14;
  /// Of a result in bf16 that was summed in f32, over its size and the mean
  /// size: two units of the last place. In 8 bits a unit is 1/8.
  static constexpr double kBf16 = 1.0 / 128, kF8 = 1.0 / 15;
  /// Hopper keeps 14 bits of a sum of products of 8 bits (DeepSeek-V3, arXiv
  /// 2412.19437, section 3.3.2): what each instruction of 32 products may lose.
  static constexpr double kLostOfF8 = 1.0 / (1 << 14) / 32;
  /// What a gate loses is multiplied by up, which may be four times its mean.
  static constexpr double kGated = 4;

  Numbers at(const char *name) const { return tensors.numbers(name); }
  Place place() const {
    return {at("pages"),
            of.batch.news,
            of.batch.context,
            of.batch.page,
            of.batch.pagesPerSequence(),
            of.batch.window};
  }

  /// What a linear leaves to a kernel that adds its parts.
  Sums parts() const {
    const char *name = "partial";
    int64_t columns = tensors.extent(name, 2), width = tensors.extent(name, 3);
    return {at(name),
            columns * std::max<int64_t>(width, 1),
            tensors.extent(name, 1),
            at("a_scale"),
            at("w_scale"),
            at("bias"),
            tensors.extent("a_scale", 0)};
  }

  void linear() {
    bool isWhole = at("d").data;
    Sums sums = parts();
    int64_t columns = isWhole ? tensors.extent("d", 1) : sums.columns;
    Linear wanted = {at("a"),        at("w"),
                     at("a_scale"),  at("w_scale"),
                     at("residual"), tensors.extent("a", 1),
                     columns,        tensors.extent("w", 0) == 2 * columns};
    double lost = wanted.a.type == MC_F8E4M3FN ? kLostOfF8 : 0;
    lost *= wanted.isGated ? kGated : 1;
    double relative = kBf16 + lost * double(wanted.inputs);
    int64_t total = tensors.extent("a", 0) * columns;
    if (isWhole) {
      compare(wanted, Plain{at("d")}, total, relative);
    } else {
      compare(wanted, sums, total, relative);
    }
  }
  void rows() {
    int64_t columns = tensors.extent("out", 1);
    bool isF8 = at("out").type == MC_F8E4M3FN;
    compare(Norm{at("x"), at("weight"), columns},
            Scaled{at("out"), at("scale"), columns},
            tensors.extent("out", 0) * columns, isF8 ? kF8 : kBf16);
  }
  void rope() {
    bool isWhole = at("qkv").data;
    int64_t width = tensors.extent("q", 2), heads = tensors.extent("q", 1);
    Sums qkv =
        isWhole ? Sums{at("qkv"), tensors.extent("qkv", 1) * width} : parts();
    int64_t kvHeads = tensors.extent("k_cache", 1), tokens = of.batch.tokens();
    auto part = [&](int64_t first, int64_t count, bool rotates) {
      return Rope{qkv, at("rope"), place(), first, count, width, rotates};
    };
    compare(part(0, heads, true), Plain{at("q")}, tokens * heads * width,
            kBf16);
    compare(part(heads, kvHeads, true),
            Cached{at("k_cache"), place(), kvHeads, width},
            tokens * kvHeads * width, kBf16);
    compare(part(heads + kvHeads, kvHeads, false),
            Cached{at("v_cache"), place(), kvHeads, width},
            tokens * kvHeads * width, isWhole ? 0 : kBf16);
  }
  void append(const char *rows, const char *cache) {
    int64_t heads = tensors.extent(cache, 1), width = tensors.extent(cache, 2);
    compare(Plain{at(rows)}, Cached{at(cache), place(), heads, width},
            of.batch.tokens() * heads * width, 0);
  }
  void attention() {
    Attention wanted = {at("q"),
                        at("k_cache"),
                        at("v_cache"),
                        place(),
                        tensors.extent("q", 1),
                        tensors.extent("k_cache", 1),
                        tensors.extent("q", 2)};
    int64_t rowNumbers = wanted.heads * wanted.width;
    compare(wanted, Plain{at("out")}, of.batch.tokens() * rowNumbers, 2 * kBf16,
            SizeOfAttention{place(), rowNumbers});
  }

  /// Tolerates `relative` of the number and of the mean size of all, or of its
  /// own where that is larger.
  template <typename F, typename Got, typename Size = NoSize>
  void compare(F expected, Got got, int64_t total, double relative,
               Size size = {}) {
    int64_t taken = std::min(total, kSamples);
    auto *pairs = static_cast<Pair *>(allocate(size_t(taken) * sizeof(Pair)));
    forEach(taken, Sample<F, Got, Size>{expected, got, size, total, taken, seed,
                                        pairs});
    synchronize();
    std::vector<Pair> own(static_cast<size_t>(taken));
    fetch(own.data(), pairs, own.size() * sizeof(Pair));
    release(pairs);
    double squares = 0;
    for (const Pair &pair : own) {
      squares += pair.expected * pair.expected;
    }
    double mean = std::sqrt(squares / double(std::max<int64_t>(taken, 1)));
    for (const Pair &pair : own) {
      double error = std::fabs(pair.got - pair.expected);
      double tolerated =
          relative * (std::fabs(pair.expected) + std::max(mean, pair.size));
      note(error == 0 ? 0 : error / tolerated); // NaN and 0 are the worst
    }
    verdict.compared += taken;
  }
  void allWritten(const Argument &argument) {
    int64_t count = argument.shape[0];
    auto *unwritten =
        static_cast<double *>(allocate(size_t(count) * sizeof(double)));
    forEach(count, Unwritten{at(argument.name.c_str()),
                             elementsOf(argument) / count, unwritten});
    synchronize();
    std::vector<double> own(static_cast<size_t>(count));
    fetch(own.data(), unwritten, own.size() * sizeof(double));
    release(unwritten);
    for (double number : own) {
      note(number > 0 ? INFINITY : 0);
    }
  }
  /// NaN is the worst.
  void note(double error) {
    verdict.worst = error <= verdict.worst ? verdict.worst
                    : error == error       ? error
                                           : INFINITY;
  }

  const Case &of;
  const Tensors &tensors;
  uint64_t seed;
  Verdict verdict;
};

#endif // TEST_GPU_CHECK_H
