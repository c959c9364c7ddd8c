//===- Time.cpp - Clocks of a kernel --------------------------------------===//
//
// A trip of a loop in steady state takes the larger of two bounds. *Resource*:
// for each unit, the work of all workgroups on it over its rate. *Recurrence*:
// the longest cycle of latencies over the trips it spans (Recurrence.h). What a
// chosen kernel is expected to take follows its trips event by event besides
// (Simulate.h). A loop takes its fill and its trips; a workgroup its chain of
// ops and loops; a round of the grid the larger of that and what any resource
// needs for all of it. Rounds, the partial last, the starts of workgroups
// behind others and the launch add up.
//
// Example, toy GPU, one workgroup of one wave on a unit, a loop that multiplies
// 128x128x64 from a ring of three slots, rates 10,000 flop/clk and 50 B/clk:
//   matrix 2 * 128 * 128 * 64 / 10000 = 210 clk, L2 port 32768 / 50 = 655 clk;
//   a copy takes 1000 + 655 clk and spans 2 trips: about 830 clk a trip; so the
//   loop is bound by the latency of its copies and a fourth slot would pay.
//
//===----------------------------------------------------------------------===//

#include "lib/Cost/Time/Round.h"
#include <cmath>

namespace modelc {

/// A kernel that streams for long needs all of `launch.ramp` until memory runs
/// at its full rate, a short one is over before; once, in its first round.
static void addRamp(KernelTime &time, const Rates &rates) {
  bool several = time.fullRounds > 0;
  const RoundTime &first = several ? time.full : time.last;
  unsigned memory = unsigned(Resource::Memory);
  double busy =
      time.fullRounds * time.full.totals[memory] + time.last.totals[memory];
  double streamed = first.totals[memory] + lagClocks(busy, rates.rampClocks);
  time.rampClocks = std::max(0.0, streamed - first.clocks);
  time.clocks += time.rampClocks;
  if (time.rampClocks > 0 && 2 * first.clocks > time.clocks) {
    time.limit = resourceName(Resource::Memory);
  }
}

KernelTime timeOf(const KernelWork &work, const TrafficByAccess &traffic,
                  double workgroupsPerUnit, const Rates &rates) {
  const Target &target = rates.target;
  KernelTime time;
  time.gapSeconds = target.startSeconds();
  time.longest = work.longest;
  double count = work.workgroups();
  double units = target.execution.units;
  double slots = units * workgroupsPerUnit;
  time.fullRounds = std::floor(count / slots);
  bool follows = work.follows && count > slots;
  if (follows && time.fullRounds * slots == count) {
    --time.fullRounds; // the last tile takes its whole chain
  }
  double rest = count - time.fullRounds * slots;
  StepClocks clocks = clocksOfSteps(work, traffic, rates);
  if (time.fullRounds > 0) {
    time.full =
        RoundTimer(work, traffic, rates, clocks, {workgroupsPerUnit, slots})
            .time(follows);
    time.clocks += time.fullRounds * time.full.clocks;
    time.startClocks = (time.fullRounds - 1) * time.full.start;
    time.limit = time.full.limit;
  }
  if (rest > 0) {
    time.last = RoundTimer(work, traffic, rates, clocks,
                           {std::ceil(rest / units), rest})
                    .time(/*follows=*/false);
    time.clocks += time.last.clocks;
    time.startClocks += time.fullRounds > 0 ? time.last.start : 0;
    if (time.last.clocks > time.fullRounds * time.full.clocks) {
      time.limit = time.last.limit;
    }
  } else {
    time.last.load = {0, 0};
  }
  time.clocks += time.startClocks;
  addRamp(time, rates);
  // The longest workgroup ends last.
  double end = rest > 0 ? time.last.clocks : time.full.clocks;
  time.clocks += (time.longest - 1) * end;
  double running = time.clocks / rates.clockHz;
  time.seconds = time.gapSeconds + running;
  if (time.gapSeconds > running) {
    time.limit = "launch";
  }
  return time;
}

} // namespace modelc
