#include "lib/Report/CurveFigures.h"
#include "lib/Support/Support.h"
#include <cmath>

namespace modelc {

using Value = std::optional<Views>;

static const CurveFigure kFigures[] = {
    {"tokens/s", "output_throughput", "", 1,
     [](const CurvePoint &p) -> Value { return p.service.outputPerSecond; }},
    {"tokens/s/GPU", "output_tput_per_gpu", "", 1,
     [](const CurvePoint &p) -> Value {
       return p.service.outputPerSecondPerGpu;
     }},
    {"tokens/s/user", "mean_intvty", "", 1,
     [](const CurvePoint &p) -> Value {
       return p.service.outputPerSecondPerUser;
     }},
    {"TPOT", "mean_tpot_ms", "s", 1e3,
     [](const CurvePoint &p) -> Value { return p.service.tpot; }},
    {"TTFT", "mean_ttft_ms", "s", 1e3,
     [](const CurvePoint &p) -> Value { return p.ttftSeconds; }},
    {"request", "mean_e2el_ms", "s", 1e3,
     [](const CurvePoint &p) -> Value { return p.service.requestSeconds; }},
    {"", "total_token_throughput", "", 1,
     [](const CurvePoint &p) -> Value { return p.service.totalPerSecond; }},
    {"", "request_throughput", "", 1,
     [](const CurvePoint &p) -> Value { return p.service.requestsPerSecond; }},
    {"J/token", "joules_per_output_token", "J", 1,
     [](const CurvePoint &p) -> Value {
       return p.service.boardJoulesPerOutput;
     }},
    {"", "wall_joules_per_output_token", "J", 1,
     [](const CurvePoint &p) -> Value {
       return p.service.wallJoulesPerOutput;
     }},
    {"$/Mtoken", "dollars_per_million_output_tokens", "$", 1,
     [](const CurvePoint &p) -> Value {
       return p.service.dollarsPerMillionOutput;
     }},
};

llvm::ArrayRef<CurveFigure> curveFigures() { return kFigures; }

Value CurveFigure::at(const CurvePoint &point) const {
  Value value = of(point);
  bool isFinite =
      value && std::isfinite(value->bound) && std::isfinite(value->expectation);
  return isFinite ? value : std::nullopt;
}

std::string remarkOn(const CurvePoint &point) {
  if (point.waiting > 0) {
    return "KV memory: " + formatQuantity(point.waiting, "") +
           (point.waiting == 1 ? " waits" : " wait");
  }
  return point.misses.empty() ? point.limit : point.misses;
}

} // namespace modelc
