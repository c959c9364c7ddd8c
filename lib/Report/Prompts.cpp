#include "lib/Report/Prompts.h"
#include "lib/Support/Support.h"
#include <cmath>

namespace modelc {

std::string promptsTogether(const ServeResult &service) {
  double prompts = service.promptsTogether;
  return prompts > 1 ? formatQuantity(prompts, "", 4) + " prompts"
                     : "one prompt";
}

std::string togetherInWords(const ServeResult &service, Batching batching) {
  bool isSaid = batching == Batching::InFlight && service.promptsTogether > 1;
  return isSaid ? "a prefill reads " + promptsTogether(service) + " together"
                : "";
}

std::string chunksInWords(const Workload &load) {
  double chunks = std::ceil(load.inputTokens / load.stepTokens);
  return chunks > 1 ? "each prompt in " + formatQuantity(chunks, "", 4) +
                          " chunks of at most " +
                          formatQuantity(load.stepTokens, "", 4) + " tokens"
                    : "";
}

} // namespace modelc
