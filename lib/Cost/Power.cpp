//===- Power.cpp - The clock that a board's power allows ------------------===//
//
// Joules of work do not depend on the clock (Energy.cpp), seconds do. The board
// draws joules / seconds + idle; where that is more than its limit the clock
// falls until the work takes as long as the limit needs for its joules. Work
// that waits for memory gets no slower at first, so the clock is found step by
// step.
//
//===----------------------------------------------------------------------===//

#include "lib/Cost/Launched.h"
#include "lib/Support/Support.h"
#include <algorithm>

namespace modelc {

PowerState underPower(double dynamicJoules, const Target &target,
                      llvm::function_ref<double(double)> secondsAt) {
  constexpr unsigned kMostSteps = 12;
  constexpr double kLowestClock = 0.2; // of boost
  constexpr double kNear = 0.999;
  const Power &power = target.power;
  double least = dynamicJoules / (power.tdp - power.idle);
  double lowest = kLowestClock * target.clock.boostHz;
  PowerState state;
  state.dynamicJoules = dynamicJoules;
  state.clockHz = target.clock.boostHz;
  state.seconds = secondsAt(state.clockHz);
  for (unsigned step = 0; step < kMostSteps; ++step) {
    double clock = std::max(lowest, state.clockHz * state.seconds / least);
    if (state.seconds >= kNear * least || clock >= state.clockHz) {
      break;
    }
    state.clockHz = clock;
    state.seconds = secondsAt(clock);
  }
  if (state.seconds > 0) {
    state.stretch = std::max(1.0, least / state.seconds);
    state.seconds *= state.stretch;
    state.watts = power.idle + dynamicJoules / state.seconds;
  }
  return state;
}

Term powerTerm(const PowerState &state, const Target &target) {
  const Power &power = target.power;
  Term watts{"board power, mean", state.watts, "W", "", {"power.idle"}, {}};
  watts.formula = formatQuantity(state.dynamicJoules, "J") + " of work / " +
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
