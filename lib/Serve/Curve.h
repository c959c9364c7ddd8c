//===- Curve.h - From throughput to interactivity -------------------------===//

#ifndef LIB_SERVE_CURVE_H
#define LIB_SERVE_CURVE_H

#include "lib/Serve/Service.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace modelc {

/// Where a scheduler settles that keeps so many requests in flight and reads
/// prompts, in chunks where they are long, beside the next tokens of others.
/// Times are counted in steps here; what one takes is not known yet.
struct SteadyState {
  double running = 1;       // requests in flight
  double ownSteps = 1;      // in which a prompt is read
  double waitSteps = 0;     // of a prompt behind those of others, the mean
  double decodeSteps = 0;   // of a request, one for each token but the first
  double mixedByOthers = 0; // the part of these in which prompts are read
  double fill = 1; // prompts in a step that has room for no more, over `mixed`
  /// A step without prompts; none where a request takes no decode step.
  std::optional<StepShape> decode;
  /// Steps with prompts: of one prompt, in parts of a whole that sum to 1.
  std::vector<CountedStep> mixed;
};
SteadyState steadyState(const Workload &load);

/// One step after the other; what binds the longer one binds both.
StepPoint inTurn(const StepPoint &first, const StepPoint &second);
/// The mean of steps; `times` of theirs sum to 1.
StepPoint meanOf(llvm::ArrayRef<CountedStep> steps,
                 llvm::ArrayRef<StepPoint> points);

/// One number of users at once. Each sends a request as soon as the one before
/// it is answered.
struct CurvePoint {
  double users = 1;
  SteadyState state;
  /// From the request to its first token: the queue for memory, the queue for
  /// the steps, the prompt itself.
  Views ttftSeconds;
  Service service;
  std::string limit;   // what binds the steps
  std::string misses;  // how it misses an objective, if it does
  double waiting = 0;  // users for whom memory has no room
  bool isBest = false; // no other point has more of both speeds
};

/// A limit of what a user waits for: "tpot<=20ms".
struct Objective {
  std::string name;   // "tpot"
  double limit = 0;   // in base units
  bool isMost = true; // or the least that is asked for
  std::string said;   // as it was written
};

/// A deployment at several numbers of users.
struct CurveInput {
  Workload workload; // `sequences` aside
  int64_t gpus = 1;
  double dollarsPerHour = 0; // of one GPU
  double mostRunning = 1;    // that memory holds
  std::vector<double> users;
  std::vector<Objective> objectives;
};

/// What a step takes.
using TimeStep =
    llvm::function_ref<llvm::FailureOr<StepPoint>(const StepShape &)>;

/// The points of a curve; fails only where `time` does. Where one meets all
/// objectives and the next does not, the most users that do are a point too.
llvm::FailureOr<std::vector<CurvePoint>>
curveOf(const CurveInput &input, const Target &target, TimeStep time);

} // namespace modelc

#endif // LIB_SERVE_CURVE_H
