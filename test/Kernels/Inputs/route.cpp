// Routers of several families against sorting: few different logits, so that
// many are equal. The kernels' sources lie in a folder `route` of the include
// path, each in a namespace of its own: they have names in common.
#include "route/prelude.h"
#define modelc modelc::ofMixtral
#include "route/mixtral.h"
#undef modelc
#define modelc modelc::ofDeepSeek2
#include "route/deepseek2.h"
#undef modelc
#define modelc modelc::ofDeepSeek3
#include "route/deepseek3.h"
#undef modelc
#define modelc modelc::ofZeroed
#include "route/zeroed.h"
#undef modelc
#define modelc modelc::ofKimi
#include "route/kimi.h"
#undef modelc
#define modelc modelc::ofGptOss
#include "route/gptoss.h"
#undef modelc
#define modelc modelc::ofLlama4
#include "route/llama4.h"
#undef modelc
#define modelc modelc::ofAll
#include "route/all.h"
#undef modelc
#define KERNEL "route/prelude.h"
#include "run.h"

constexpr int kTokens = 9;
enum Scoring { kSoftmax, kSoftmaxOfChosen, kSigmoid };

struct Router {
  int experts, topK;
  Scoring scoring;
  bool isCorrected = false;
  int groups = 1, kept = 1;
  bool isTopTwo = false, isZeroed = false;
  bool isRenormalised = false;
  float epsilon = 0, scale = 1;
};

/// Expert and weight of each pair of a token.
using Choice = std::vector<std::pair<int, float>>;

/// The larger first, of equals the lower number.
static std::vector<int> ordered(const std::vector<float> &values) {
  std::vector<int> order(values.size());
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = int(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return values[a] > values[b]; });
  return order;
}

static std::vector<float> softmax(const std::vector<float> &logits) {
  std::vector<float> powers;
  float most = *std::max_element(logits.begin(), logits.end()), sum = 0;
  for (float logit : logits) {
    powers.push_back(std::exp(logit - most));
    sum += powers.back();
  }
  for (float &power : powers) {
    power /= sum;
  }
  return powers;
}

/// Experts of groups that are not kept score `outside`.
static void leaveGroupsOut(const Router &router, std::vector<float> &choice,
                           float outside) {
  std::vector<float> scores;
  const int members = router.experts / router.groups;
  for (int g = 0; g < router.groups; ++g) {
    std::vector<float> of(choice.begin() + g * members,
                          choice.begin() + (g + 1) * members);
    std::sort(of.rbegin(), of.rend());
    scores.push_back(router.isTopTwo ? of[0] + of[1] : of[0]);
  }
  std::vector<int> order = ordered(scores);
  for (size_t i = size_t(router.kept); i < order.size(); ++i) {
    std::fill_n(choice.begin() + order[i] * members, members, outside);
  }
}

static Choice expected(const Router &router, const std::vector<float> &logits,
                       const float *correction) {
  std::vector<float> scores = logits;
  if (router.scoring == kSoftmax) {
    scores = softmax(logits);
  }
  for (float &score : scores) {
    score = router.scoring == kSigmoid
                ? 1 / (1 + std::exp2(score * float(-1.4426950408889634)))
                : score;
  }
  // Scores that nothing is added to are in the order of the logits, above zero.
  const bool areAdded = router.isCorrected || router.isTopTwo;
  std::vector<float> choice = areAdded ? scores : logits;
  for (int e = 0; router.isCorrected && e < router.experts; ++e) {
    choice[e] += correction[e];
  }
  if (router.groups > 1) {
    leaveGroupsOut(router, choice, areAdded && router.isZeroed ? 0 : -INFINITY);
  }
  std::vector<int> order = ordered(choice);
  std::vector<float> weights;
  for (int j = 0; j < router.topK; ++j) {
    weights.push_back(scores[order[j]]);
  }
  if (router.scoring == kSoftmaxOfChosen) {
    weights = softmax(weights);
  }
  float sum = router.epsilon;
  for (float weight : weights) {
    sum += weight;
  }
  Choice result;
  for (int j = 0; j < router.topK; ++j) {
    float weight = router.isRenormalised ? weights[j] / sum : weights[j];
    result.push_back({order[j], weight * router.scale});
  }
  return result;
}

static void put(float &x, double value) { x = float(value); }
static float valueOf(float x) { return x; }
static float valueOf(bf16 x) { return float(asDouble(x)); }

template <typename Element, typename Kernel>
static void check(const char *name, Kernel kernel, const Router &router) {
  Allocation<Element> logits(kTokens * router.experts);
  Allocation<float> correction(router.experts);
  Allocation<int> chosen(kTokens * router.topK);
  Allocation<float> weights(kTokens * router.topK);
  for (size_t i = 0; i < logits.size(); ++i) {
    const int row = int(i) / router.experts;
    // Quarters; all alike; two zeros; far from zero.
    float value = std::nearbyint(4 * randomNormal()) / 4;
    value = row == 1   ? -1.5f
            : row == 2 ? (i % 3 == 1   ? -0.0f
                          : i % 3 == 2 ? 0.0f
                                       : -2.0f)
            : row == 3 ? value + 40
                       : value;
    put(logits[i], value);
  }
  for (float &x : correction) {
    // Negative ones too: what scores zero may win then.
    x = (float(randomBelow(16)) - 14) / 8;
  }
  if constexpr (std::is_invocable_v<Kernel, const Element *, const float *,
                                    int *, float *, int>) {
    launch(name, kTokens, kernel, logits.data(), correction.data(),
           chosen.data(), weights.data(), kTokens);
  } else {
    launch(name, kTokens, kernel, logits.data(), chosen.data(), weights.data(),
           kTokens);
  }
  std::vector<double> experts, numbers;
  for (int t = 0; t < kTokens; ++t) {
    std::vector<float> row;
    for (int e = 0; e < router.experts; ++e) {
      row.push_back(valueOf(logits[t * router.experts + e]));
    }
    for (auto [expert, weight] : expected(router, row, correction.data())) {
      experts.push_back(expert);
      numbers.push_back(weight);
    }
  }
  compare((std::string(name) + " experts").c_str(), chosen, experts, 0);
  compare((std::string(name) + " weights").c_str(), weights, numbers, 1e-6);
}

int main() {
  check<float>("mixtral", modelc::ofMixtral::mixtral,
               {8, 2, kSoftmax, false, 1, 1, false, false, true});
  check<bf16>("deepseek2", modelc::ofDeepSeek2::deepseek2,
              {160, 6, kSoftmax, false, 8, 3, false, true, false, 0, 16});
  check<float>("deepseek3", modelc::ofDeepSeek3::deepseek3,
               {256, 8, kSigmoid, true, 8, 4, true, false, true, 1e-20f, 2.5f});
  check<float>("zeroed", modelc::ofZeroed::zeroed,
               {256, 8, kSigmoid, true, 8, 4, true, true, true, 1e-20f, 2.5f});
  check<float>("kimi", modelc::ofKimi::kimi,
               {384, 8, kSigmoid, true, 1, 1, false, false, true, 0, 2.827f});
  check<bf16>("gptoss", modelc::ofGptOss::gptoss, {128, 4, kSoftmaxOfChosen});
  check<bf16>("llama4", modelc::ofLlama4::llama4, {16, 1, kSigmoid});
  check<bf16>("all", modelc::ofAll::all,
              {6, 6, kSoftmax, true, 2, 2, true, true, true, 0.5f, 1});
  return wrongResults;
}
