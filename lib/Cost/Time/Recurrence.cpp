#include "lib/Cost/Time/Recurrence.h"
#include <cmath>

namespace modelc {

double edgeClocks(const Edge &edge, const Step &from, const StepTime &time,
                  unsigned pieces) {
  switch (edge.kind) {
  case Edge::Kind::Complete:
    return time.occupancy + time.latency;
  case Edge::Kind::Piece:
    return time.occupancy / pieces + time.latency;
  case Edge::Kind::Accumulate:
    // An accumulator in registers comes back from the pipe once for each
    // instruction along k; one in the background is added to in the pipe.
    return from.kind == StepKind::Matrix ? from.pieces * time.latency
                                         : time.occupancy;
  case Edge::Kind::Issue:
    return 0;
  }
  return 0;
}

/// A signal is sent when its edges allow, by the unit that it follows; its
/// stream goes on.
static bool holdsStream(const Step &step) {
  return step.kind != StepKind::Signal;
}

namespace {
class TripFollower {
public:
  TripFollower(const Body &block, llvm::ArrayRef<StepTime> times)
      : block(block), times(times), steps(block.steps.size()) {
    for (const Step &step : block.steps) {
      streams = std::max(streams, step.stream + 1);
    }
    released.assign(streams, 0);
  }

  /// Adds a trip; the clock at which all but its copies are done.
  double follow();

private:
  bool relax(unsigned trip);
  double allowed(const Step &step, unsigned trip) const;

  const Body &block;
  llvm::ArrayRef<StepTime> times;
  unsigned steps, streams = 1;
  std::vector<double> issued;   // of every step of every trip so far
  std::vector<double> released; // of every stream, before this trip
};
} // namespace

double TripFollower::allowed(const Step &step, unsigned trip) const {
  double clock = 0;
  for (const Edge &edge : step.after) {
    const Step &from = block.steps[edge.from];
    double weight = edgeClocks(edge, from, times[edge.from], step.pieces);
    if (edge.distance <= trip) {
      unsigned at = (trip - edge.distance) * steps + edge.from;
      clock = std::max(clock, issued[at] + weight);
    } else if (from.kind == StepKind::Copy) {
      // Issued in the prologue, just before the loop.
      clock = std::max(clock, weight);
    }
  }
  return clock;
}

bool TripFollower::relax(unsigned trip) {
  std::vector<double> clock = released;
  bool changed = false;
  for (unsigned i = 0; i < steps; ++i) {
    const Step &step = block.steps[i];
    double at = std::max(clock[step.stream], allowed(step, trip));
    double &known = issued[trip * steps + i];
    changed |= at > known;
    known = std::max(known, at);
    if (holdsStream(step)) {
      clock[step.stream] = known + times[i].hold;
    }
  }
  return changed;
}

double TripFollower::follow() {
  unsigned trip = issued.size() / std::max(1u, steps);
  issued.resize(issued.size() + steps, 0);
  // Streams wait for each other within a trip at most once in each direction
  // for every barrier; one stream needs a single pass.
  for (unsigned pass = 0; relax(trip) && streams > 1 && pass < steps; ++pass) {
  }
  double done = 0;
  for (unsigned i = 0; i < steps; ++i) {
    double at = issued[trip * steps + i];
    unsigned stream = block.steps[i].stream;
    if (holdsStream(block.steps[i])) {
      released[stream] = std::max(released[stream], at + times[i].hold);
    }
    bool awaited = block.steps[i].kind != StepKind::Copy &&
                   block.steps[i].kind != StepKind::Wait;
    done = std::max(done,
                    awaited ? at + times[i].occupancy + times[i].latency : at);
  }
  return done;
}

Recurrence followTrips(const Body &block, llvm::ArrayRef<StepTime> times,
                       double most) {
  if (block.steps.empty()) {
    return {};
  }
  unsigned longest = 1;
  for (const Step &step : block.steps) {
    for (const Edge &edge : step.after) {
      longest = std::max(longest, edge.distance);
    }
  }
  unsigned trips = std::min<double>(2 * longest + 8,
                                    std::ceil(most > 0 ? most : block.trips));
  trips = std::max(1u, trips);
  TripFollower follower(block, times);
  std::vector<double> done;
  for (unsigned trip = 0; trip < trips; ++trip) {
    done.push_back(follower.follow());
  }
  unsigned half = trips / 2;
  if (half == 0) {
    return {0, done.back(), done.back()};
  }
  // The slope over the second half, where the start has died away; whole turns
  // of the longest ring, so that a periodic pattern does not alias.
  unsigned turns = std::max(1u, (trips - half) / longest) * longest;
  unsigned from = trips > turns ? trips - turns : 0;
  double begin = from > 0 ? done[from - 1] : 0;
  double slope = (done.back() - begin) / (trips - from);
  return {std::max(0.0, done.back() - slope * trips), slope, done.front()};
}

double copyClocks(const Body &block, std::vector<StepTime> times) {
  bool copies = false;
  for (auto [step, time] : llvm::zip_equal(block.steps, times)) {
    if (step.kind == StepKind::Copy && step.amounts.globalBytes > 0) {
      copies = true;
    } else {
      time = {};
    }
  }
  return copies ? followTrips(block, times).perTrip : 0;
}

} // namespace modelc
