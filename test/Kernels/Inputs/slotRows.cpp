// Rows of tokens become rows of slots, and the other way, weighed or not. The
// kernels' sources lie in a folder `slots` of the include path.
#include "slots/prelude.h"
#define modelc modelc::ofExpand
#include "slots/expand.h"
#undef modelc
#define modelc modelc::ofWeighed
#include "slots/weighed.h"
#undef modelc
#define modelc modelc::ofCombine
#include "slots/combine.h"
#undef modelc
#define modelc modelc::ofSum
#include "slots/sum.h"
#undef modelc
#define KERNEL "slots/prelude.h"
#include "run.h"

// 5 tokens, 3 of all experts each, 4 experts here, tiles of 4 rows: 15 pairs, 6
// tiles at most. Pairs whose slot is 24 are of other ranks.
constexpr int kTokens = 5, kTopK = 3, kSlots = 24, kColumns = 200;
constexpr int kPairSlots[kTokens * kTopK] = {0,  4, 24, 8, 24, 1,  24, 24,
                                             24, 5, 9,  2, 12, 10, 24};

static std::vector<double> doubles(const Allocation<bf16> &x) {
  std::vector<double> values;
  for (size_t i = 0; i < x.size(); ++i) {
    values.push_back(asDouble(x[i]));
  }
  return values;
}

int main() {
  Allocation<bf16> x(kTokens * kColumns), y(kSlots * kColumns),
      slots(kSlots * kColumns), out(kTokens * kColumns);
  Allocation<int> slotTokens(kSlots), pairSlots(kTokens * kTopK);
  Allocation<float> weights(kTokens * kTopK);
  fillRandom(x), fillRandom(y);
  std::vector<int> pairOf(kSlots, -1);
  for (int p = 0; p < kTokens * kTopK; ++p) {
    pairSlots[p] = kPairSlots[p];
    weights[p] = randomNormal();
    if (kPairSlots[p] < kSlots) {
      pairOf[kPairSlots[p]] = p;
    }
  }
  std::vector<double> expanded, weighed, combined, summed;
  for (int s = 0; s < kSlots; ++s) {
    slotTokens[s] = pairOf[s] < 0 ? kTokens : pairOf[s] / kTopK;
    for (int c = 0; c < kColumns; ++c) {
      double value =
          pairOf[s] < 0 ? 0 : asDouble(x[slotTokens[s] * kColumns + c]);
      expanded.push_back(value);
      weighed.push_back(pairOf[s] < 0 ? 0 : value * weights[pairOf[s]]);
    }
  }
  for (int i = 0; i < kTokens * kColumns; ++i) {
    double sum = 0, plain = 0;
    for (int p = i / kColumns * kTopK; p < (i / kColumns + 1) * kTopK; ++p) {
      if (kPairSlots[p] < kSlots) {
        double value = asDouble(y[kPairSlots[p] * kColumns + i % kColumns]);
        sum += weights[p] * value;
        plain += value;
      }
    }
    combined.push_back(sum);
    summed.push_back(plain);
  }
  const int tiles = kSlots * 2, rows = kTokens * 2; // two of columns
  launch("expand", tiles, modelc::ofExpand::expand, x.data(), slotTokens.data(),
         slots.data(), kTokens);
  compare("expanded", doubles(slots), expanded, 0);
  launch("weighed", tiles, modelc::ofWeighed::weighed, x.data(),
         slotTokens.data(), weights.data(), pairSlots.data(), slots.data(),
         kTokens);
  compare("weighed", doubles(slots), weighed, 1.0 / 256);
  launch("combine", rows, modelc::ofCombine::combine, y.data(),
         pairSlots.data(), weights.data(), out.data(), kTokens);
  compare("combined", doubles(out), combined, 1.0 / 256);
  launch("sum", rows, modelc::ofSum::sum, y.data(), pairSlots.data(),
         out.data(), kTokens);
  compare("summed", doubles(out), summed, 1.0 / 256);
  return wrongResults;
}
