//===- Evidence.h - What can be counted of a kernel before it runs --------===//

#ifndef LIB_COST_EVIDENCE_H
#define LIB_COST_EVIDENCE_H

#include "lib/Cost/Time/Launched.h"

namespace modelc {

Evidence evidenceOf(const Launched &launched, const Target &target);

} // namespace modelc

#endif // LIB_COST_EVIDENCE_H
