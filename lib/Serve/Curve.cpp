//===- Curve.cpp - Many users or fast ones --------------------------------===//
//
// A scheduler takes a step after the other: the next token of every request
// that decodes, and beside them, up to the tokens that a step may have, prompts
// of requests that begin. A prompt is in one of two places, then: in the queue
// of the steps, which read `room` tokens of prompts each, or among those that
// decode, for one step a token. With a fixed number of users that is a closed
// network of two stations, and mean-value analysis (Reiser and Lavenberg, 1980)
// says how long prompts wait and how many requests end in a step.
//
//   64 users, 1024 tokens in, 1025 out, 16384 in a step: room for 16384 - 63 =
//   16321, of which a prompt takes 0.063. About 64 / 1025 = 0.062 requests end
//   in a step, so 6.2 % of the steps read a prompt, and the queue is nearly
//   always empty. With 8192 in and 129 out it would be 0.5 requests in a step
//   of which each takes half: one waits a quarter of a step.
//
//===----------------------------------------------------------------------===//

#include "lib/Serve/Objectives.h"
#include "lib/Serve/Rates.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

namespace modelc {

namespace {
/// How prompts pass the queue with some requests in flight.
struct Flow {
  double perStep = 0; // requests that end
  double wait = 0;    // steps of a prompt behind others
};
} // namespace

/// With one request more than in `before`. A prompt that comes meets the queue
/// as it is without it, the prompt being read half read.
static Flow withOneMore(const Flow &before, double requests, double service,
                        double otherSteps) {
  double busy = before.perStep * service;
  double queue = before.perStep * (before.wait + service);
  Flow flow;
  flow.wait = service * std::max(queue - busy / 2, 0.0);
  flow.perStep = requests / (flow.wait + otherSteps);
  if (flow.perStep > 1 / service) { // never more than the steps can read
    flow.perStep = 1 / service;
    flow.wait = requests / flow.perStep - otherSteps;
  }
  return flow;
}

/// The steps that read `together` prompts, with the decodes of others.
static std::vector<CountedStep> mixedSteps(const Workload &load, double room,
                                           int64_t together, int64_t others) {
  auto length = static_cast<int64_t>(load.inputTokens);
  std::vector<CountedStep> steps =
      prefillSteps(together, length, static_cast<int64_t>(room));
  int64_t context = std::llround(load.inputTokens + load.outputTokens / 2);
  for (CountedStep &counted : steps) {
    if (others > 0) {
      counted.step.groups.push_back({others, 1, std::max(context, length + 1)});
    }
  }
  return steps;
}

SteadyState steadyState(const Workload &load) {
  SteadyState state;
  state.running = load.sequences;
  state.decodeSteps = load.outputTokens - 1;
  bool decodes = state.decodeSteps > 0;
  double room =
      std::max(load.stepTokens - (decodes ? load.sequences - 1 : 0), 1.0);
  double service = load.inputTokens / room;
  state.ownSteps = std::ceil(service);
  Flow without, flow;
  for (double requests = 1; requests <= load.sequences; ++requests) {
    without = flow;
    flow = withOneMore(without, requests, service,
                       state.ownSteps + state.decodeSteps);
  }
  state.waitSteps = flow.wait;
  double together = std::clamp(std::floor(flow.perStep), 1.0,
                               std::max(std::floor(1 / service), 1.0));
  double decoding = std::round(flow.perStep * state.decodeSteps);
  double others = std::min(load.sequences - together, decoding);
  state.mixed = mixedSteps(load, room, static_cast<int64_t>(together),
                           static_cast<int64_t>(others));
  double times = 0;
  for (const CountedStep &counted : state.mixed) {
    times += counted.times;
  }
  for (CountedStep &counted : state.mixed) {
    counted.times /= times;
  }
  state.fill = std::max(flow.perStep * times / together, 1.0);
  state.mixedByOthers = without.perStep * times / together / state.fill;
  if (decodes) {
    int64_t context = std::llround(load.inputTokens + load.outputTokens / 2);
    int64_t sequences = std::max<int64_t>(static_cast<int64_t>(decoding), 1);
    state.decode = {{{sequences, 1, context}}};
  }
  return state;
}

StepPoint inTurn(const StepPoint &first, const StepPoint &second) {
  bool isFirst = first.seconds.expectation >= second.seconds.expectation;
  StepPoint both = isFirst ? first : second;
  both.seconds = each(std::plus<double>(), first.seconds, second.seconds);
  both.joules = each(std::plus<double>(), first.joules, second.joules);
  return both;
}

StepPoint meanOf(llvm::ArrayRef<CountedStep> steps,
                 llvm::ArrayRef<StepPoint> points) {
  StepPoint mean = points.front();
  mean.seconds = mean.joules = {};
  for (auto [counted, point] : llvm::zip_equal(steps, points)) {
    auto add = [times = counted.times](double sum, double one) {
      return sum + times * one;
    };
    mean.seconds = each(add, mean.seconds, point.seconds);
    mean.joules = each(add, mean.joules, point.joules);
  }
  return mean;
}

/// A step with more prompts than the one that was costed, on the line through
/// it and the step without any.
static StepPoint filled(StepPoint mixed, const StepPoint &decode, double fill) {
  auto more = [fill](double mixed, double decode) {
    return decode + fill * (mixed - decode);
  };
  mixed.seconds = each(more, mixed.seconds, decode.seconds);
  mixed.joules = each(more, mixed.joules, decode.joules);
  return mixed;
}

/// What a request takes of something of which steps take `mixed` or `decode`.
static Views ofRequest(const SteadyState &state, const Views &mixed,
                       const Views &decode) {
  return each(
      [&](double mixed, double decode) {
        double next = decode + state.mixedByOthers * (mixed - decode);
        return (state.ownSteps + state.waitSteps) * mixed +
               state.decodeSteps * next;
      },
      mixed, decode);
}

static CurvePoint pointOf(const CurveInput &input, double users,
                          SteadyState state, const StepPoint &mixed,
                          const StepPoint &decode, const Target &target) {
  const Workload &load = input.workload;
  CurvePoint point;
  point.users = users;
  point.waiting = users - state.running;
  point.limit = state.decode ? decode.limit : mixed.limit;
  Service &service = point.service;
  service.batching = Batching::Mixed;
  Views seconds = ofRequest(state, mixed.seconds, decode.seconds);
  double steps = state.ownSteps + state.waitSteps;
  double turns = point.waiting / state.running;
  point.ttftSeconds =
      each([&](double step,
               double request) { return steps * step + turns * request; },
           mixed.seconds, seconds);
  service.requestSeconds =
      each([&](double request) { return (1 + turns) * request; }, seconds);
  if (state.decode) {
    service.tpot = each(
        [&](double mixed, double decode) {
          return decode + state.mixedByOthers * (mixed - decode);
        },
        mixed.seconds, decode.seconds);
  }
  Production made = {seconds, ofRequest(state, mixed.joules, decode.joules),
                     state.running * load.outputTokens,
                     state.running * (load.inputTokens + load.outputTokens)};
  fillRates(service, made, {load, double(input.gpus), input.dollarsPerHour},
            target);
  point.state = std::move(state);
  return point;
}

/// Tokens in a second of one user; first tokens where there are no others.
static double speedOf(const CurvePoint &point) {
  const std::optional<Views> &speed = point.service.outputPerSecondPerUser;
  return speed ? speed->expectation : 1 / point.ttftSeconds.expectation;
}

/// Whether one has more of both, or as much for fewer users.
static bool isBeyond(const CurvePoint &a, const CurvePoint &b) {
  auto of = [](const CurvePoint &point) {
    return std::pair(speedOf(point),
                     point.service.outputPerSecondPerGpu.expectation);
  };
  return of(a).first >= of(b).first && of(a).second >= of(b).second &&
         (of(a) != of(b) || a.users < b.users);
}

/// One point, with the steps that it needs.
static llvm::FailureOr<CurvePoint> pointAt(const CurveInput &input,
                                           double users, const Target &target,
                                           TimeStep time) {
  Workload load = input.workload;
  load.sequences = std::min(users, input.mostRunning);
  SteadyState state = steadyState(load);
  std::vector<StepPoint> mixed;
  for (const CountedStep &counted : state.mixed) {
    llvm::FailureOr<StepPoint> point = time(counted.step);
    if (failed(point)) {
      return llvm::failure();
    }
    mixed.push_back(*point);
  }
  llvm::FailureOr<StepPoint> decode = StepPoint();
  if (state.decode) {
    decode = time(*state.decode);
  }
  if (failed(decode)) {
    return llvm::failure();
  }
  StepPoint mean = filled(meanOf(state.mixed, mixed), *decode, state.fill);
  CurvePoint point =
      pointOf(input, users, std::move(state), mean, *decode, target);
  point.misses = missed(point, input.objectives);
  return point;
}

/// The point of the most users between those of `last` and of `next` that still
/// meets what `last` meets and `next` misses; `last` itself adds nothing.
static llvm::FailureOr<std::optional<CurvePoint>>
mostWithin(const CurveInput &input, double last, double next,
           const Target &target, TimeStep time) {
  std::optional<CurvePoint> most;
  while (next - last > 1) {
    double middle = std::floor((last + next) / 2);
    llvm::FailureOr<CurvePoint> point = pointAt(input, middle, target, time);
    if (failed(point)) {
      return llvm::failure();
    }
    if (point->misses.empty()) {
      last = middle;
      most = std::move(*point);
    } else {
      next = middle;
    }
  }
  return most;
}

llvm::FailureOr<std::vector<CurvePoint>>
curveOf(const CurveInput &input, const Target &target, TimeStep time) {
  std::vector<CurvePoint> points;
  for (double users : input.users) {
    llvm::FailureOr<CurvePoint> point = pointAt(input, users, target, time);
    if (failed(point)) {
      return llvm::failure();
    }
    bool isLast = !points.empty() && points.back().misses.empty() &&
                  !point->misses.empty();
    if (isLast) {
      auto most = mostWithin(input, points.back().users, users, target, time);
      if (failed(most)) {
        return llvm::failure();
      }
      if (*most) {
        points.push_back(std::move(**most));
      }
    }
    points.push_back(std::move(*point));
  }
  for (CurvePoint &point : points) {
    point.isBest = llvm::none_of(points, [&](const CurvePoint &other) {
      return isBeyond(other, point);
    });
  }
  return points;
}

} // namespace modelc
