// Keys and values of new tokens in the cache; what was there stays.
#include "run.h"

constexpr int kKvHeads = KV_HEADS, kDim = 64, kRow = kKvHeads * kDim;

/// How far what the cache holds is from a number over its scale, in units of
/// the last bit.
static double errorOf(bf16 held, double number, double) {
  return asDouble(held) == number ? 0 : 1;
}
static double errorOf(f8 held, double number, double scale) {
  return lastBits(held, number / scale);
}

static bool isSame(CacheElement a, CacheElement b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

int main() {
  Sequences sequences(CONTEXTS, NEWS, 16);
  Allocation<bf16> k(sequences.tokens * kRow), v(sequences.tokens * kRow);
  Allocation<CacheElement> keys(sequences.cacheRows() * kRow);
  Allocation<CacheElement> values(sequences.cacheRows() * kRow);
  CacheScales scales;
  fillRandom(k);
  fillRandom(v);
  fillScaled(keys, kKeyScale);
  fillScaled(values, kValueScale);
  std::vector<CacheElement> oldKeys(keys.begin(), keys.end());
  std::vector<CacheElement> oldValues(values.begin(), values.end());
  int tiles = (sequences.longest() + TOKENS - 1) / TOKENS;
  launch("append", sequences.count() * tiles * (PACKED ? 1 : kKvHeads),
         modelc::append, k.data(), v.data(), sequences.starts.data(),
         sequences.lengths.data(), sequences.pages.data(), keys.data(),
         values.data(), KEY_ARGUMENT VALUE_ARGUMENT sequences.tokens,
         sequences.count(), sequences.longest(), sequences.pagesPerSequence);
  int wrong = 0;
  std::vector<bool> isNew(sequences.cacheRows());
  for (int s = 0; s < sequences.count(); ++s) {
    for (int t = 0; t < sequences.news[s]; ++t) {
      int from = (sequences.starts[s] + t) * kRow;
      int row = sequences.row(s, sequences.contexts[s] - sequences.news[s] + t);
      isNew[row] = true;
      for (int i = 0; i < kRow; ++i) {
        double error =
            errorOf(keys[row * kRow + i], asDouble(k[from + i]), kKeyScale);
        double other =
            errorOf(values[row * kRow + i], asDouble(v[from + i]), kValueScale);
        wrong += !(error <= 0.51) + !(other <= 0.51); // no number is wrong too
      }
    }
  }
  int changed = 0;
  for (int i = 0; i < sequences.cacheRows() * kRow; ++i) {
    changed += !isNew[i / kRow] && !(isSame(keys[i], oldKeys[i]) &&
                                     isSame(values[i], oldValues[i]));
  }
  std::printf("new rows: %d wrong\n", wrong);
  std::printf("other rows: %d changed\n", changed);
  return wrong > 0 || changed > 0;
}
