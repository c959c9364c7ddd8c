//===- Prompts.h - How steps read prompts, in words -----------------------===//

#ifndef LIB_REPORT_PROMPTS_H
#define LIB_REPORT_PROMPTS_H

#include "lib/Serve/Serve.h"

namespace modelc {

/// "one prompt", "16 prompts": that an in-flight batch reads in one step.
std::string promptsTogether(const ServeResult &service);
/// That a step reads several of them; empty where it does not.
std::string togetherInWords(const ServeResult &service, Batching batching);
/// That a prompt takes several steps; empty where it takes one.
std::string chunksInWords(const Workload &load);

} // namespace modelc

#endif // LIB_REPORT_PROMPTS_H
