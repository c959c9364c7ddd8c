// Runs one emitted kernel on the emulator. KERNEL names the source, THREADS and
// DYNAMIC_BYTES its launch; buffers are checked by the emulator.
#ifndef TEST_KERNELS_INPUTS_RUN_H
#define TEST_KERNELS_INPUTS_RUN_H

#include KERNEL

#include "../../Emulator/Inputs/compare.h"

#include <string>

using emulator::Allocation;
using modelc::bf16;

inline bf16 asBf16(float x) {
  return __builtin_bit_cast(bf16, emulator::toBf16(x));
}
inline double asDouble(float x) { return x; }
inline double asDouble(bf16 x) {
  return emulator::fromBf16(__builtin_bit_cast(uint16_t, x));
}

/// The machine's numbers of 8 bits. FNUZ numbers are half of what the other
/// machines keep, scales twice as large; the largest that a kernel makes is
/// kLimit.
#if MODELC_CHIP == 942
constexpr const emulator::Format &kEightBits = emulator::kE4M3Fnuz;
constexpr double kLimit = 224, kScaleFactor = 2;
#else
constexpr const emulator::Format &kEightBits = emulator::kE4M3;
constexpr double kLimit = 448, kScaleFactor = 1;
#endif
using modelc::f8;
inline f8 asF8(double x) {
  x = std::clamp(x, -kLimit, kLimit);
  return {uint8_t(emulator::encode(kEightBits, float(x)))};
}
inline double asDouble(f8 x) { return emulator::decode(kEightBits, x.bits); }
/// How far it is from a number, saturated, in units of the last bit.
inline double lastBits(f8 x, double exact) {
  double wanted = std::clamp(exact, -kLimit, kLimit);
  int exponent = std::max(std::ilogb(wanted), 1 - kEightBits.bias);
  return std::fabs(asDouble(x) - wanted) / std::ldexp(1, exponent - 3);
}

/// The element type of caches and their scales; arguments that only caches of 8
/// bits have.
#ifdef EIGHT_BITS
using CacheElement = f8;
constexpr float kKeyScale = KEY_SCALE * kScaleFactor,
                kValueScale = 0.0043f * kScaleFactor;
#define KEY_ARGUMENT scales.key.data(),
#define VALUE_ARGUMENT scales.value.data(),
#else
using CacheElement = bf16;
constexpr float kKeyScale = 1, kValueScale = 1;
#define KEY_ARGUMENT
#define VALUE_ARGUMENT
#endif
/// The same of queries, where products are of numbers of 8 bits.
#ifdef EIGHT_BIT_PRODUCTS
using QueryElement = f8;
constexpr float kQueryScale = 0.021f * kScaleFactor;
constexpr double kTolerance = 1.0 / 30; // a weight is rounded by a sixteenth
#define QUERY_ARGUMENT scales.query.data(),
#else
using QueryElement = bf16;
constexpr float kQueryScale = 1;
constexpr double kTolerance = 1.0 / 100;
#define QUERY_ARGUMENT
#endif
struct CacheScales {
  Allocation<float> query{1}, key{1}, value{1};
  CacheScales() {
    query[0] = kQueryScale;
    key[0] = kKeyScale;
    value[0] = kValueScale;
  }
};
/// A number as a buffer holds it.
inline void put(bf16 &x, double value) { x = asBf16(float(value)); }
inline void put(f8 &x, double value) { x = asF8(value); }

/// Numbers that are normal times the scale.
template <typename Element>
void fillScaled(Allocation<Element> &buffer, float scale) {
  for (Element &x : buffer) {
    put(x, randomNormal() / scale);
  }
}

/// Normal numbers as bf16.
inline void fillRandom(Allocation<bf16> &buffer) {
  for (bf16 &x : buffer) {
    x = asBf16(randomNormal());
  }
}

/// Numbers that a product adds: more than the rings of its kernel hold.
#ifndef INPUTS
#define INPUTS 448
#endif

#ifndef SHARED_KIB
#define SHARED_KIB 160
#endif

#ifndef CLUSTER_SIZE
#define CLUSTER_SIZE 1
#endif
#ifndef WORKGROUPS
#define WORKGROUPS (1 << 20)
#endif

/// At the end of the program: its kernels ran more trips than rings have slots.
/// FEW_TRIPS: a window has no more.
#ifdef FEW_TRIPS
constexpr bool kTurns = false;
#else
constexpr bool kTurns = true;
#endif
inline struct Turns {
  ~Turns() {
    if (kTurns && !wrongResults) {
      emulator::requireTurns();
    }
  }
} turns;

/// Launches a workgroup for each tile, or WORKGROUPS that go on from tile to
/// tile.
template <typename Kernel, typename... Arguments>
void launch(const char *name, int tiles, Kernel kernel,
            Arguments... arguments) {
  const int workgroups = std::min(tiles, WORKGROUPS);
  // The emulator keeps its address.
  static emulator::Device device{.waveSize = modelc::kWaveSize,
                                 .sharedBytes = SHARED_KIB << 10};
  emulator::Shape shape{.kernel = name,
                        .grid = {unsigned(workgroups)},
                        .block = {THREADS},
                        .cluster = {CLUSTER_SIZE},
                        .sharedBytes = DYNAMIC_BYTES,
                        .startsEarly = modelc::kStartsEarly,
                        .sums = (tiles + workgroups - 1) / workgroups};
  emulator::run(device, shape, kernel, arguments...);
}

/// Sequences of a step with their pages shuffled over a cache.
struct Sequences {
  std::vector<int> contexts, news;
  int pageSize, pagesPerSequence = 0, tokens = 0;
  Allocation<int> starts, lengths, pages;

  Sequences(std::vector<int> contexts, std::vector<int> news, int pageSize)
      : contexts(contexts), news(news), pageSize(pageSize),
        starts(news.size() + 1), lengths(news.size()), pages(pageCount()) {
    std::vector<int> order(cacheRows() / pageSize);
    for (size_t i = 0; i < order.size(); ++i) {
      order[i] = int(i);
    }
    std::shuffle(order.begin(), order.end(), generator);
    for (size_t i = 0; i < order.size(); ++i) {
      pages[i] = order[i];
    }
    starts[0] = 0;
    for (size_t s = 0; s < news.size(); ++s) {
      lengths[s] = contexts[s];
      tokens += news[s];
      starts[s + 1] = tokens;
    }
  }
  int pageCount() {
    int longest = *std::max_element(contexts.begin(), contexts.end());
    pagesPerSequence = (longest + pageSize - 1) / pageSize;
    return pagesPerSequence * int(contexts.size());
  }
  int count() const { return int(contexts.size()); }
  int longest() const { return *std::max_element(news.begin(), news.end()); }
  int cacheRows() const { return pagesPerSequence * count() * pageSize; }
  /// Row of the cache at a position of a sequence.
  int row(int sequence, int position) {
    int page = pages[sequence * pagesPerSequence + position / pageSize];
    return page * pageSize + position % pageSize;
  }
};

/// Queries and keys whose scores are normal, near -128 or near 128, in turns by
/// query: in the first quarter of the columns all keys are alike.
inline void fillQueriesAndKeys(Allocation<QueryElement> &queries,
                               Allocation<CacheElement> &keys, int headDim) {
  fillScaled(queries, kQueryScale), fillScaled(keys, kKeyScale);
  const double key = std::min(8.0, 200.0 * kKeyScale);
  const double query = 128 * 4 / (std::sqrt(double(headDim)) * key);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (int(i) % headDim < headDim / 4) {
      put(keys[i], key / kKeyScale);
    }
  }
  for (size_t i = 0; i < queries.size(); ++i) {
    const int turn = int(i) / headDim % 3;
    if (int(i) % headDim < headDim / 4 && turn) {
      put(queries[i], (turn == 1 ? -query : query) / kQueryScale);
    }
  }
}

/// Nobody has written what a cache holds beyond the contexts: it may be NaN.
template <typename Element>
void poisonBeyond(Sequences &sequences, Allocation<Element> &cache) {
  const size_t width = cache.size() / size_t(sequences.cacheRows());
  std::vector<bool> isHeld(size_t(sequences.cacheRows()));
  for (int s = 0; s < sequences.count(); ++s) {
    for (int p = 0; p < sequences.contexts[s]; ++p) {
      isHeld[sequences.row(s, p)] = true;
    }
  }
  for (size_t i = 0; i < cache.size(); ++i) {
    if (!isHeld[i / width]) {
      put(cache[i], NAN);
    }
  }
}

/// The inputs of attention.
inline void fillAttention(Sequences &sequences,
                          Allocation<QueryElement> &queries,
                          Allocation<CacheElement> &keys,
                          Allocation<CacheElement> &values, int headDim) {
  fillQueriesAndKeys(queries, keys, headDim);
  fillScaled(values, kValueScale);
  poisonBeyond(sequences, keys), poisonBeyond(sequences, values);
}

#ifndef WINDOW
#define WINDOW (1 << 20)
#endif

/// What scores have beside products, if a kernel is built so: one more for each
/// head (SINKS), and a factor for each position (TEMPERED).
struct ScoreNumbers {
  Allocation<bf16> sinks{16};
  Allocation<float> temperatures{512};
  ScoreNumbers() {
    for (bf16 &sink : sinks) { // as much as all keys together
      put(sink, 4 + 2 * randomNormal());
    }
    for (size_t i = 0; i < temperatures.size(); ++i) {
      temperatures[i] = float(1 + 0.5 * std::log(1 + double((i + 1) / 32)));
    }
  }
};
inline ScoreNumbers &scoreNumbers() {
  static ScoreNumbers one;
  return one;
}
#ifdef SINKS
#define SINK_ARGUMENT scoreNumbers().sinks.data(),
#else
#define SINK_ARGUMENT
#endif
#ifdef TEMPERED
#define SCORE_ARGUMENTS SINK_ARGUMENT scoreNumbers().temperatures.data(),
#else
#define SCORE_ARGUMENTS SINK_ARGUMENT
#endif

/// A score of a product, with the scale SCALE in place of 1 / sqrt(headDim),
/// and held below SOFT_CAP.
inline double scoreOf(double product, int position, int headDim) {
  double score = kQueryScale * kKeyScale * product;
#ifdef SCALE
  score *= SCALE;
#else
  score /= std::sqrt(double(headDim));
#endif
#ifdef TEMPERED
  score *= scoreNumbers().temperatures[position];
#endif
#ifdef SOFT_CAP
  score = SOFT_CAP * std::tanh(score / SOFT_CAP);
#endif
  return score;
}

/// The first key that a query sees: of the last WINDOW, or of its CHUNK.
inline int firstSeen(int position) {
#ifdef CHUNK
  return position - position % CHUNK;
#else
  return std::max(0, position + 1 - WINDOW);
#endif
}

/// Attention of one query at `position` over the keys of a cache that it sees,
/// its own with them, in double. Queries, keys and values are kQueryScale,
/// kKeyScale and kValueScale times what is held.
template <typename Cache>
std::vector<double> attend(Sequences &sequences, int s, int position,
                           const QueryElement *query, Cache &keys,
                           Cache &values, int kvHeads, int head, int group,
                           int headDim, int valueDim) {
  std::vector<double> result(valueDim), weights(position + 1);
  const int kvHead = head / group;
  double sum = 0;
#ifdef SINKS
  double sink = asDouble(scoreNumbers().sinks[head]);
#ifdef SINKS_SCALED // a mistake
  sink = scoreOf(sink, position, headDim);
#endif
  sum = std::exp(sink);
#endif
  int first = firstSeen(position);
  for (int p = first; p <= position; ++p) {
    double score = 0;
    size_t base = (size_t(sequences.row(s, p)) * kvHeads + kvHead) * headDim;
    for (int i = 0; i < headDim; ++i) {
      score += asDouble(query[i]) * asDouble(keys[base + i]);
    }
    sum += weights[p] = std::exp(scoreOf(score, position, headDim));
  }
  for (int p = first; p <= position; ++p) {
    size_t base = (size_t(sequences.row(s, p)) * kvHeads + kvHead) * valueDim;
    for (int i = 0; i < valueDim; ++i) {
      result[i] += kValueScale * weights[p] / sum * asDouble(values[base + i]);
    }
  }
  return result;
}

#endif // TEST_KERNELS_INPUTS_RUN_H
