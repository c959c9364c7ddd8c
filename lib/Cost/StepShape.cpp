#include "lib/Cost/StepShape.h"

#include "llvm/ADT/STLExtras.h"

namespace modelc {

int64_t StepShape::tokens() const {
  int64_t sum = 0;
  for (const StepGroup &group : groups) {
    sum += group.sequences * group.newTokens;
  }
  return sum;
}

int64_t StepShape::sequences() const {
  int64_t sum = 0;
  for (const StepGroup &group : groups) {
    sum += group.sequences;
  }
  return sum;
}

int64_t StepShape::longest() const {
  int64_t most = 0;
  for (const StepGroup &group : groups) {
    most = std::max(most, group.newTokens);
  }
  return most;
}

bool StepShape::isDecode() const {
  return llvm::all_of(groups, [](const StepGroup &group) {
    return group.newTokens == 1 && group.context > 1;
  });
}

Bindings StepShape::sizes() const {
  double positions = 0;
  for (const StepGroup &group : groups) {
    positions += double(group.sequences) * double(group.context);
  }
  return {{"tokens", double(tokens())},
          {"sequences", double(sequences())},
          {"longest", double(longest())},
          {"context", positions / double(sequences())}};
}

} // namespace modelc
