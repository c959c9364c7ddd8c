//===- Rates.h - What a production comes to in a second, joule, dollar ----===//
//
// Inner to lib/Serve.
//
//===----------------------------------------------------------------------===//

#ifndef MODELC_LIB_SERVE_RATES_H
#define MODELC_LIB_SERVE_RATES_H

#include "lib/Serve/Service.h"

namespace modelc {

/// Applies `how` to both views of the operands.
template <typename Function, typename... Operands>
Views each(Function how, const Operands &...operands) {
  return {how(operands.bound...), how(operands.expectation...)};
}

/// Who is served, by what, at what price.
struct Served {
  const Workload &load;
  double gpus = 1;
  double dollarsPerHour = 0; // of one GPU
};

/// Tokens, requests, joules and dollars of what was made.
void fillRates(Service &service, Production production, const Served &served,
               const Target &target);

} // namespace modelc

#endif // MODELC_LIB_SERVE_RATES_H
