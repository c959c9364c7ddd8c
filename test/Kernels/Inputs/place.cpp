// The slots of pairs against a list for each expert. The kernels' sources lie
// in a folder `place` of the include path, each in a namespace of its own.
#include "place/prelude.h"
#define modelc modelc::ofFew
#include "place/few.h"
#undef modelc
#define modelc modelc::ofCount
#include "place/count.h"
#undef modelc
#define modelc modelc::ofChunks
#include "place/chunks.h"
#undef modelc
#define modelc modelc::ofMany
#include "place/many.h"
#undef modelc
#define modelc modelc::ofRankCount
#include "place/rank_count.h"
#undef modelc
#define modelc modelc::ofRank
#include "place/rank.h"
#undef modelc
#define KERNEL "place/prelude.h"
#include "run.h"

/// Experts of a rank, out of `all`; rows of a tile; pairs of a workgroup.
struct Placing {
  int all, experts, first, topK, rows, chunk;
};

/// How tokens fall on experts.
enum Load { kAny, kFirst, kLast };

/// Different experts for each token; all tokens go to the same, first or last.
static std::vector<int> choose(const Placing &of, int tokens, Load load) {
  std::vector<int> chosen, order(of.all);
  for (int e = 0; e < of.all; ++e) {
    order[e] = load == kLast ? of.all - 1 - e : e;
  }
  for (int t = 0; t < tokens; ++t) {
    if (load == kAny) {
      std::shuffle(order.begin(), order.end(), generator);
    }
    chosen.insert(chosen.end(), order.begin(), order.begin() + of.topK);
  }
  return chosen;
}

/// What is expected of the three arrays.
struct Expected {
  std::vector<double> slotTokens, tileExperts, pairSlots;
};

static Expected place(const Placing &of, const std::vector<int> &chosen) {
  const int pairs = int(chosen.size()), tokens = pairs / of.topK;
  const int tiles =
      pairs <= of.experts ? pairs : of.experts + (pairs - of.experts) / of.rows;
  std::vector<std::vector<int>> ofExpert(of.experts);
  for (int p = 0; p < pairs; ++p) {
    const int expert = chosen[p] - of.first;
    if (expert >= 0 && expert < of.experts) {
      ofExpert[expert].push_back(p);
    }
  }
  Expected result;
  result.slotTokens.assign(tiles * of.rows, tokens);
  result.pairSlots.assign(pairs, tiles * of.rows);
  int last = 0;
  for (int e = 0; e < of.experts; ++e) {
    const int first = int(result.tileExperts.size()) * of.rows;
    const int count = int(ofExpert[e].size());
    for (int i = 0; i < count; ++i) {
      result.slotTokens[first + i] = ofExpert[e][i] / of.topK;
      result.pairSlots[ofExpert[e][i]] = first + i;
    }
    last = count ? e : last;
    result.tileExperts.insert(result.tileExperts.end(),
                              (count + of.rows - 1) / of.rows, e);
  }
  if (int(result.tileExperts.size()) > tiles) {
    std::printf("more tiles than there may be\n");
    ++wrongResults;
  }
  result.tileExperts.resize(tiles, last);
  return result;
}

template <typename Kernel>
static void
launchPlace(const char *name, const Placing &of, int tokens, Kernel place,
            Allocation<int> &chosen, Allocation<int> &slotTokens,
            Allocation<int> &tileExperts, Allocation<int> &pairSlots) {
  launch(name, 1, place, chosen.data(), slotTokens.data(), tileExperts.data(),
         pairSlots.data(), tokens);
}

/// A kernel that counts, and one that places.
template <typename Count, typename Place>
static void launchPlace(const char *name, const Placing &of, int tokens,
                        std::pair<Count, Place> kernels,
                        Allocation<int> &chosen, Allocation<int> &slotTokens,
                        Allocation<int> &tileExperts,
                        Allocation<int> &pairSlots) {
  const int chunks = (tokens * of.topK + of.chunk - 1) / of.chunk;
  Allocation<int> counts(chunks * of.experts);
  launch(name, chunks, kernels.first, chosen.data(), counts.data(), tokens);
  launch(name, chunks, kernels.second, chosen.data(), counts.data(),
         slotTokens.data(), tileExperts.data(), pairSlots.data(), tokens);
}

template <typename Kernels>
static void check(const char *name, Kernels kernels, const Placing &of,
                  int tokens, Load load = kAny) {
  std::vector<int> pairs = choose(of, tokens, load);
  Expected wanted = place(of, pairs);
  Allocation<int> chosen(pairs.size()), slotTokens(wanted.slotTokens.size()),
      tileExperts(wanted.tileExperts.size()), pairSlots(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    chosen[i] = pairs[i];
  }
  // What nobody writes is no number that is expected.
  std::fill_n(slotTokens.data(), slotTokens.size(), -7);
  launchPlace(name, of, tokens, kernels, chosen, slotTokens, tileExperts,
              pairSlots);
  compare(name, pairSlots, wanted.pairSlots, 0);
  compare(name, slotTokens, wanted.slotTokens, 0);
  compare(name, tileExperts, wanted.tileExperts, 0);
}

int main() {
  const Placing few = {8, 8, 0, 2, 16, 64};
  for (int tokens : {1, 3, 32}) {
    check("few", modelc::ofFew::few, few, tokens);
  }
  check("few, two experts", modelc::ofFew::few, few, 32, kLast);
  auto chunks = std::pair{&modelc::ofCount::count, &modelc::ofChunks::chunks};
  check("chunks", chunks, few, 300);
  check("chunks, two experts", chunks, few, 33, kFirst);
  const Placing many = {256, 256, 0, 8, 16, 512};
  for (int tokens : {1, 64}) {
    check("many", modelc::ofMany::many, many, tokens);
  }
  const Placing rank = {384, 96, 288, 8, 32, 128};
  auto ofRank =
      std::pair{&modelc::ofRankCount::rank_count, &modelc::ofRank::rank};
  check("rank", ofRank, rank, 150);
  check("rank with all", ofRank, rank, 150, kLast);
  check("rank with none", ofRank, rank, 150, kFirst);
  return wrongResults;
}
