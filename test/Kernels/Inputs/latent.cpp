// Latent attention, absorbed: rows are appended to the cache, queries
// multiplied by what makes keys, attended over the latents, and results made of
// these. The reference makes the keys and values of every head.
#include "run.h"

constexpr int kHeads = HEADS, kLatent = 256, kRope = 32, kKey = 256,
              kValue = 64, kQuery = kKey + kRope, kRow = kLatent + kRope,
              kOfHead = kKey + kValue;
constexpr double kScale = 0.11;

/// What a head adds up, in double, of expanded keys and values.
static std::vector<double> expanded(Sequences &sequences, int s, int position,
                                    const bf16 *query, const bf16 *weight,
                                    Allocation<CacheElement> &cache) {
  std::vector<double> result(kValue), scores, latents(kLatent);
  double sum = 0;
  auto held = [&](int p, int column) {
    return kKeyScale *
           asDouble(cache[size_t(sequences.row(s, p)) * kRow + column]);
  };
  for (int p = 0; p <= position; ++p) {
    double score = 0;
    for (int i = 0; i < kKey; ++i) {
      double key = 0;
      for (int c = 0; c < kLatent; ++c) {
        key += asDouble(weight[i * kLatent + c]) * held(p, c);
      }
      score += asDouble(query[i]) * key;
    }
    for (int i = 0; i < kRope; ++i) {
      score += asDouble(query[kKey + i]) * held(p, kLatent + i);
    }
    scores.push_back(std::exp(kScale * score));
    sum += scores.back();
  }
  for (int p = 0; p <= position; ++p) {
    for (int i = 0; i < kValue; ++i) {
      double value = 0;
      for (int c = 0; c < kLatent; ++c) {
        value += asDouble(weight[(kKey + i) * kLatent + c]) * held(p, c);
      }
      result[i] += scores[p] / sum * value;
    }
  }
  return result;
}

int main() {
  Sequences sequences(CONTEXTS, NEWS, 16);
  const int tokens = sequences.tokens, count = sequences.count();
  Allocation<bf16> q(tokens * kHeads * kQuery), rows(tokens * kRow),
      weight(kHeads * kOfHead * kLatent), absorbed(tokens * kHeads * kLatent),
      latents(tokens * kHeads * kLatent), out(tokens * kHeads * kValue);
  Allocation<CacheElement> cache(sequences.cacheRows() * kRow);
  CacheScales scales;
  fillRandom(q), fillRandom(rows), fillScaled(cache, kKeyScale);
  fillScaled(weight, 8);
  poisonBeyond(sequences, cache);
  launch("append", count * ((sequences.longest() + TOKENS - 1) / TOKENS),
         modelc::append, rows.data(), sequences.starts.data(),
         sequences.lengths.data(), sequences.pages.data(), cache.data(),
         KEY_ARGUMENT tokens, count, sequences.longest(),
         sequences.pagesPerSequence);
  const int rowTiles = (tokens + 15) / 16;
  launch("absorb", kHeads * rowTiles * (kLatent / 64), modelc::absorb, q.data(),
         weight.data(), absorbed.data(), tokens);
#ifdef QUERIES
  launch("attention",
         count * kHeads * ((sequences.longest() + QUERIES - 1) / QUERIES),
         modelc::attention, absorbed.data(), q.data(), cache.data(),
         KEY_ARGUMENT sequences.starts.data(), sequences.lengths.data(),
         sequences.pages.data(), latents.data(), tokens, count,
         sequences.longest(), sequences.pagesPerSequence);
#else
  launch("attention", count * ((kHeads + 15) / 16), modelc::attention,
         absorbed.data(), q.data(), cache.data(),
         KEY_ARGUMENT sequences.lengths.data(), sequences.pages.data(),
         latents.data(), count, sequences.pagesPerSequence);
#endif
  launch("expand", kHeads * rowTiles * (kValue / 64), modelc::expand,
         latents.data(), weight.data(), out.data(), tokens);
  std::vector<double> results, reference;
  for (int s = 0; s < count; ++s) {
    for (int t = 0; t < sequences.news[s]; ++t) {
      const int row = sequences.starts[s] + t;
      const int position = sequences.contexts[s] - sequences.news[s] + t;
      for (int h = 0; h < kHeads; ++h) {
        auto exact =
            expanded(sequences, s, position, &q[(row * kHeads + h) * kQuery],
                     &weight[h * kOfHead * kLatent], cache);
        reference.insert(reference.end(), exact.begin(), exact.end());
        for (int i = 0; i < kValue; ++i) {
          results.push_back(asDouble(out[(row * kHeads + h) * kValue + i]));
        }
      }
    }
  }
  compare("latent", results, reference, kTolerance);
  return wrongResults;
}
