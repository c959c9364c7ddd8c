// Runs a finished prefill attention on the emulator against sums in double: two
// sequences of ragged lengths behind a shuffled page table, causal. KERNEL
// names the source, THREADS, SHARED_BYTES and SHARED_LIMIT its launch.
#include KERNEL

#include "../../Emulator/Inputs/compare.h"

#include <cstdlib>

using namespace emulator;
using modelc::bf16;

namespace {

constexpr int kHeads = 8, kKvHeads = 2, kSize = 128, kPage = 16, kTile = 128;
constexpr int kSequences = 2, kPages = 16, kPagesPerSequence = 8;

bf16 asBf16(float x) { return __builtin_bit_cast(bf16, toBf16(x)); }
double asDouble(bf16 x) { return fromBf16(__builtin_bit_cast(uint16_t, x)); }

/// Element of row `position` of a sequence in a paged cache.
int cacheIndex(const Allocation<int> &pages, int sequence, int position,
               int head, int column) {
  int page = pages[sequence * kPagesPerSequence + position / kPage];
  return ((page * kPage + position % kPage) * kKvHeads + head) * kSize + column;
}

void fillSequences(const int *lengths, const int *behind,
                   Allocation<int> &starts, Allocation<int> &contexts,
                   Allocation<int> &pages) {
  starts[0] = 0;
  for (int s = 0; s < kSequences; ++s) {
    starts[s + 1] = starts[s] + lengths[s];
    contexts[s] = lengths[s] + behind[s];
  }
  for (int i = 0; i < kSequences * kPagesPerSequence; ++i) {
    pages[i] = (i * 5 + 3) % kPages;
  }
}

} // namespace

int main() {
  const int lengths[] = {37, 5}, behind[] = {60, 0};
  const int tokens = lengths[0] + lengths[1];
  Allocation<bf16> q(tokens * kHeads * kSize), out(tokens * kHeads * kSize);
  Allocation<bf16> k(kPages * kPage * kKvHeads * kSize),
      v(kPages * kPage * kKvHeads * kSize);
  Allocation<int> starts(kSequences + 1), contexts(kSequences),
      pages(kSequences * kPagesPerSequence);
  for (auto *list : {&q, &k, &v}) {
    for (bf16 &x : *list) {
      x = asBf16(randomNormal());
    }
  }
  fillSequences(lengths, behind, starts, contexts, pages);
  Device device{.waveSize = modelc::kWaveSize, .sharedBytes = SHARED_LIMIT};
  Shape shape{.kernel = "attention_prefill",
              .grid = {unsigned(kSequences * kHeads *
                                ((lengths[0] + kTile - 1) / kTile))},
              .block = {THREADS},
              .sharedBytes = SHARED_BYTES};
  run(device, shape, modelc::attention_prefill, q.data(), k.data(), v.data(),
      starts.data(), contexts.data(), pages.data(), out.data(), tokens,
      kSequences, lengths[0], kPagesPerSequence);

  std::vector<double> reference(tokens * kHeads * kSize),
      values(reference.size());
  for (int s = 0; s < kSequences; ++s) {
    for (int t = 0; t < lengths[s]; ++t) {
      for (int h = 0; h < kHeads; ++h) {
        const int row = ((starts[s] + t) * kHeads + h) * kSize,
                  kvHead = h / (kHeads / kKvHeads);
        std::vector<double> weight(behind[s] + t + 1);
        double sum = 0;
        for (size_t key = 0; key < weight.size(); ++key) {
          double dot = 0;
          for (int c = 0; c < kSize; ++c) {
            dot += asDouble(q[row + c]) *
                   asDouble(k[cacheIndex(pages, s, key, kvHead, c)]);
          }
          sum += weight[key] = std::exp(dot / std::sqrt(double(kSize)));
        }
        for (size_t key = 0; key < weight.size(); ++key) {
          for (int c = 0; c < kSize; ++c) {
            reference[row + c] +=
                weight[key] / sum *
                asDouble(v[cacheIndex(pages, s, key, kvHead, c)]);
          }
        }
        for (int c = 0; c < kSize; ++c) {
          values[row + c] = asDouble(out[row + c]);
        }
      }
    }
  }
  compare("attention", values, reference, 1.0 / 128);
  return wrongResults;
}
