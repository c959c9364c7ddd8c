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
constexpr int kLengths[] = {37, 5}, kBehind[] = {60, 0}, kTokens = 37 + 5;

bf16 asBf16(float x) { return __builtin_bit_cast(bf16, toBf16(x)); }
double asDouble(bf16 x) { return fromBf16(__builtin_bit_cast(uint16_t, x)); }

/// Element of row `position` of a sequence in a paged cache.
int cacheIndex(const Allocation<int> &pages, int sequence, int position,
               int head, int column) {
  int page = pages[sequence * kPagesPerSequence + position / kPage];
  return ((page * kPage + position % kPage) * kKvHeads + head) * kSize + column;
}

/// What a launch reads and writes.
struct Data {
  Allocation<bf16> q{kTokens * kHeads * kSize}, out{kTokens * kHeads * kSize};
  Allocation<bf16> k{kPages * kPage * kKvHeads * kSize};
  Allocation<bf16> v{kPages * kPage * kKvHeads * kSize};
  Allocation<int> starts{kSequences + 1}, contexts{kSequences};
  Allocation<int> pages{kSequences * kPagesPerSequence};

  Data() {
    for (auto *list : {&q, &k, &v}) {
      for (bf16 &x : *list) {
        x = asBf16(randomNormal());
      }
    }
    starts[0] = 0;
    for (int s = 0; s < kSequences; ++s) {
      starts[s + 1] = starts[s] + kLengths[s];
      contexts[s] = kLengths[s] + kBehind[s];
    }
    for (int i = 0; i < kSequences * kPagesPerSequence; ++i) {
      pages[i] = (i * 5 + 3) % kPages;
    }
  }
};

/// One query of one head in double.
void attend(const Data &data, int s, int t, int h, double *result) {
  const int row = ((data.starts[s] + t) * kHeads + h) * kSize;
  const int kvHead = h / (kHeads / kKvHeads);
  std::vector<double> weight(kBehind[s] + t + 1);
  double sum = 0;
  for (size_t key = 0; key < weight.size(); ++key) {
    double dot = 0;
    for (int c = 0; c < kSize; ++c) {
      int at = cacheIndex(data.pages, s, key, kvHead, c);
      dot += asDouble(data.q[row + c]) * asDouble(data.k[at]);
    }
    sum += weight[key] = std::exp(dot / std::sqrt(double(kSize)));
  }
  for (size_t key = 0; key < weight.size(); ++key) {
    for (int c = 0; c < kSize; ++c) {
      int at = cacheIndex(data.pages, s, key, kvHead, c);
      result[row + c] += weight[key] / sum * asDouble(data.v[at]);
    }
  }
}

} // namespace

int main() {
  Data data;
  Device device{.waveSize = modelc::kWaveSize, .sharedBytes = SHARED_LIMIT};
  const int tiles = (kLengths[0] + kTile - 1) / kTile;
  Shape shape{.kernel = "attention_prefill",
              .grid = {unsigned(kSequences * kHeads * tiles)},
              .block = {THREADS},
              .sharedBytes = SHARED_BYTES};
  run(device, shape, modelc::attention_prefill, data.q.data(), data.k.data(),
      data.v.data(), data.starts.data(), data.contexts.data(),
      data.pages.data(), data.out.data(), kTokens, kSequences, kLengths[0],
      kPagesPerSequence);
  std::vector<double> reference(kTokens * kHeads * kSize), values;
  for (int s = 0; s < kSequences; ++s) {
    for (int t = 0; t < kLengths[s]; ++t) {
      for (int h = 0; h < kHeads; ++h) {
        attend(data, s, t, h, reference.data());
      }
    }
  }
  for (bf16 x : data.out) {
    values.push_back(asDouble(x));
  }
  compare("attention", values, reference, 1.0 / 128);
  return wrongResults;
}
