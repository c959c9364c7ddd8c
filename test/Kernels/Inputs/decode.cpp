// Split decode attention; the parts are joined here in double. With WHOLE, the
// kernel that splits nothing.
#include "run.h"

#ifndef HEAD_DIM
#define HEAD_DIM 64
#define VALUE_DIM 64
#endif

constexpr int kHeads = 8, kKvHeads = 2, kDim = HEAD_DIM, kValueDim = VALUE_DIM,
              kGroup = kHeads / kKvHeads;

#ifdef WHOLE
static void runWhole() {
  Sequences sequences({1, 65, 200, 16}, {1, 1, 1, 1}, 16);
  int count = sequences.count();
  Allocation<QueryElement> q(count * kHeads * kDim);
  Allocation<bf16> out(count * kHeads * kValueDim);
  Allocation<CacheElement> keys(sequences.cacheRows() * kKvHeads * kDim);
  CacheScales scales;
  Allocation<CacheElement> values(sequences.cacheRows() * kKvHeads * kValueDim);
  fillAttention(sequences, q, keys, values, kDim);
  launch("attention_decode", count * kKvHeads, modelc::attention_decode,
         q.data(), keys.data(), values.data(),
         QUERY_ARGUMENT KEY_ARGUMENT VALUE_ARGUMENT SCORE_ARGUMENTS
             sequences.lengths.data(),
         sequences.pages.data(), out.data(), count, sequences.pagesPerSequence);
  std::vector<double> results, reference;
  for (int s = 0; s < count; ++s) {
    for (int h = 0; h < kHeads; ++h) {
      auto exact = attend(sequences, s, sequences.contexts[s] - 1,
                          &q[(s * kHeads + h) * kDim], keys, values, kKvHeads,
                          h, kGroup, kDim, kValueDim);
      reference.insert(reference.end(), exact.begin(), exact.end());
      for (int i = 0; i < kValueDim; ++i) {
        results.push_back(asDouble(out[(s * kHeads + h) * kValueDim + i]));
      }
    }
  }
  compare("whole", results, reference, kTolerance);
}
#else
static void runSplits(int splits) {
  Sequences sequences({1, 65, 200, 16}, {1, 1, 1, 1}, 16);
  int count = sequences.count();
  Allocation<QueryElement> q(count * kHeads * kDim);
  Allocation<CacheElement> keys(sequences.cacheRows() * kKvHeads * kDim);
  CacheScales scales;
  Allocation<CacheElement> values(sequences.cacheRows() * kKvHeads * kValueDim);
  fillAttention(sequences, q, keys, values, kDim);
  Allocation<float> part(count * splits * kHeads * kValueDim);
  Allocation<float> stat(count * splits * kHeads * 2);
  launch("attention_decode", count * kKvHeads * splits,
         modelc::attention_decode, q.data(), keys.data(), values.data(),
         QUERY_ARGUMENT KEY_ARGUMENT SCORE_ARGUMENTS sequences.lengths.data(),
         sequences.pages.data(), part.data(), stat.data(), count, splits,
         sequences.pagesPerSequence);
  std::vector<double> results, reference;
  for (int s = 0; s < count; ++s) {
    for (int h = 0; h < kHeads; ++h) {
      auto exact = attend(sequences, s, sequences.contexts[s] - 1,
                          &q[(s * kHeads + h) * kDim], keys, values, kKvHeads,
                          h, kGroup, kDim, kValueDim);
      reference.insert(reference.end(), exact.begin(), exact.end());
      double best = -INFINITY, sum = 0;
      for (int p = 0; p < splits; ++p) {
        best =
            std::max(best, double(stat[((s * splits + p) * kHeads + h) * 2]));
      }
      std::vector<double> joined(kValueDim);
      for (int p = 0; p < splits; ++p) {
        size_t row = (s * splits + p) * kHeads + h;
        double factor = std::exp2(stat[row * 2] - best);
        sum += factor * stat[row * 2 + 1];
        for (int i = 0; i < kValueDim; ++i) {
          joined[i] += factor * part[row * kValueDim + i];
        }
      }
      for (double x : joined) {
        results.push_back(kValueScale * x / sum); // left to the next kernel
      }
    }
  }
  compare(("splits = " + std::to_string(splits)).c_str(), results, reference,
          kTolerance);
}

#endif

int main() {
#ifdef WHOLE
  runWhole();
#else
  runSplits(1);
  runSplits(3);
#endif
  return wrongResults;
}
