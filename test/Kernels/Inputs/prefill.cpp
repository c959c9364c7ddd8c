// Causal attention of packed sequences, some with a past in the cache.
#include "run.h"

#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif
#ifndef PAGE_SIZE
#define PAGE_SIZE 16
#endif
#ifndef VALUE_DIM
#define VALUE_DIM HEAD_DIM
#endif
#ifndef CONTEXTS
#define CONTEXTS {70, 1, 400, 33}
#define NEWS {70, 1, 40, 2}
#endif

constexpr int kHeads = 4, kKvHeads = 2, kDim = HEAD_DIM, kValueDim = VALUE_DIM,
              kGroup = kHeads / kKvHeads;

int main() {
  Sequences sequences(CONTEXTS, NEWS, PAGE_SIZE);
  Allocation<QueryElement> q(sequences.tokens * kHeads * kDim);
  Allocation<CacheElement> keys(sequences.cacheRows() * kKvHeads * kDim);
  CacheScales scales;
  Allocation<CacheElement> values(sequences.cacheRows() * kKvHeads * kValueDim);
  Allocation<bf16> out(sequences.tokens * kHeads * kValueDim);
  fillAttention(sequences, q, keys, values, kDim);
  int tiles = (sequences.longest() + QUERIES - 1) / QUERIES;
  launch("attention_prefill", sequences.count() * kHeads * tiles,
         modelc::attention_prefill, q.data(), keys.data(), values.data(),
         QUERY_ARGUMENT KEY_ARGUMENT VALUE_ARGUMENT SCORE_ARGUMENTS
             sequences.starts.data(),
         sequences.lengths.data(), sequences.pages.data(), out.data(),
         sequences.tokens, sequences.count(), sequences.longest(),
         sequences.pagesPerSequence);
  std::vector<double> results, reference;
  for (int s = 0; s < sequences.count(); ++s) {
    for (int t = 0; t < sequences.news[s]; ++t) {
      int row = sequences.starts[s] + t;
      int position = sequences.contexts[s] - sequences.news[s] + t;
      for (int h = 0; h < kHeads; ++h) {
        auto exact =
            attend(sequences, s, position, &q[(row * kHeads + h) * kDim], keys,
                   values, kKvHeads, h, kGroup, kDim, kValueDim);
        reference.insert(reference.end(), exact.begin(), exact.end());
        for (int i = 0; i < kValueDim; ++i) {
          results.push_back(asDouble(out[(row * kHeads + h) * kValueDim + i]));
        }
      }
    }
  }
  compare("prefill", results, reference, kTolerance);
  return wrongResults;
}
