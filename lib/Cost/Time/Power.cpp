//===- Power.cpp - The clock that a board's power allows ------------------===//
//
// The board draws joules / seconds + idle; where that is more than its limit
// the clock falls until the work takes as long as the limit needs for its
// joules, which fall with the clock, if at all, slower than seconds rise. Work
// that waits for memory gets no slower at first, so the clock is found step by
// step, from above.
//
//===----------------------------------------------------------------------===//

#include "lib/Cost/Time/Launched.h"
#include "lib/Support/Support.h"
#include <algorithm>
#include <cmath>

namespace modelc {

PowerState underPower(const WorkJoules &joules, const Target &target,
                      llvm::function_ref<double(double)> secondsAt) {
  constexpr unsigned kMostSteps = 24;
  constexpr double kLowestClock = 0.2; // of boost
  constexpr double kNear = 0.999;
  const Power &power = target.power;
  double lowest = kLowestClock * target.clock.boostHz;
  PowerState state;
  auto runAt = [&](double clockHz) {
    state.clockHz = clockHz;
    state.seconds = secondsAt(clockHz);
    state.workJoules = joules.at(clockHz, target);
    return state.workJoules / (power.tdp - power.idle);
  };
  double least = runAt(target.clock.boostHz);
  for (unsigned step = 0; step < kMostSteps; ++step) {
    double part =
        std::pow(state.seconds / least, 1 / (1 + power.clockExponent));
    double clock = std::max(lowest, state.clockHz * part);
    if (state.seconds >= kNear * least || clock >= state.clockHz) {
      break;
    }
    least = runAt(clock);
  }
  if (state.seconds > 0) {
    state.stretch = std::max(1.0, least / state.seconds);
    state.seconds *= state.stretch;
    state.watts = power.idle + state.workJoules / state.seconds;
  }
  return state;
}

Term powerTerm(const PowerState &state, const Target &target) {
  const Power &power = target.power;
  Term watts{"board power, mean", state.watts, "W", "", {"power.idle"}, {}};
  watts.formula = formatQuantity(state.workJoules, "J") + " of work / " +
                  formatQuantity(state.seconds, "s") + " + " +
                  formatQuantity(power.idle, "W");
  Term clock{"clock", state.clockHz, "Hz", "", {"clock.boost", "power.tdp"},
             {}};
  bool isBoost = state.clockHz >= target.clock.boostHz;
  clock.formula =
      (isBoost ? "boost: that is within " : "as high as it is within ") +
      formatQuantity(power.tdp, "W");
  watts.children.push_back(std::move(clock));
  if (state.stretch > 1.01) {
    watts.children.push_back({"stretch",
                              state.stretch,
                              "",
                              "of all times: no clock is low enough",
                              {"power.tdp"},
                              {}});
  }
  return watts;
}

} // namespace modelc
