//===- Service.h - What step costs mean to those who serve ----------------===//
//
// Steps of a model (prefill, decode) cost seconds and joules; a workload is
// prompts of `inputTokens` that each become `outputTokens`, `sequences` of them
// at once. From both follow the times that a user sees, throughput, energy,
// dollars, and whether it fits into memory. Plain numbers in, plain numbers
// out.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_SERVE_SERVICE_H
#define LIB_SERVE_SERVICE_H

#include "lib/Cost/Cost.h"
#include "lib/Hardware/Hardware.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/LogicalResult.h"
#include <optional>
#include <string>
#include <vector>

namespace modelc {

/// A number on ideal hardware, and as it is expected (see Cost.h).
struct Views {
  double bound = 0;
  double expectation = 0;
};

/// One step on one GPU. Every GPU of a tensor-parallel group takes as long.
struct StepPoint {
  double context = 0; // tokens of each sequence before or with the step
  Views seconds;
  Views joules;
  std::string limit = {}; // what binds most of it: Estimate::limit
};

/// What is asked of a deployment.
struct Workload {
  double inputTokens = 1024; // of a request
  double outputTokens = 1024;
  double sequences = 64; // at once
  /// New tokens of prompts that a step takes at most.
  double stepTokens = 16384;
};

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// A step that runs so many times; of a few like it, it may stand for others.
struct CountedStep {
  StepShape step;
  double times = 1;
};

/// The steps that read prompts of `length` tokens, of at most `budget` tokens
/// each: as many whole prompts as fit, or one prompt in chunks, each behind the
/// earlier ones.
std::vector<CountedStep> prefillSteps(int64_t prompts, int64_t length,
                                      int64_t budget);

/// How many prompts an in-flight batch reads in one step: as many as end in
/// the time of a decode step, and no more than fit.
int64_t promptsTogether(int64_t sequences, int64_t inputTokens,
                        int64_t outputTokens, int64_t budget);

//===----------------------------------------------------------------------===//
// Service
//===----------------------------------------------------------------------===//

/// Bytes on one GPU.
struct MemoryNeeds {
  double weights = 0;
  double cachePerToken = 0;    // of a sequence
  double cachePerSequence = 0; // whatever its length
  double workspace = 0;
  double reserved = 0; // by the runtime
};

/// How requests meet the steps.
enum class Batching {
  /// All sequences start together: one prefill of all, then decode steps.
  Static,
  /// Steady state with in-flight batching: a finished sequence makes room for
  /// the next prompt, whose prefill holds up all others. Prompts that come in
  /// the time of one decode step are read together. A request waits for its
  /// own prefill and those of all other sequences.
  InFlight,
  /// Steady state, prompts beside decode steps: `steadyState`.
  Mixed,
};

struct ServeInput {
  Workload workload;
  int64_t gpus = 1; // that serve the sequences together
  /// Of all sequences, by ascending context; none where a request of one token
  /// out takes no such step.
  std::vector<StepPoint> decode;
  StepPoint prefillAll;       // of all sequences' prompts
  StepPoint prefillOne;       // of one prompt alone
  StepPoint prefillInFlight;  // of as many as an in-flight batch reads at once
  double promptsTogether = 1; // that are these
  std::string priceBasis = "hyperscaler";
};

/// Time and boards' energy in which a deployment makes some tokens.
struct Production {
  Views seconds;
  Views joules;            // of one GPU
  double outputTokens = 0; // of the deployment
  double totalTokens = 0;
};

/// One manner of batching.
struct Service {
  Batching batching = Batching::Static;
  Production made;
  /// Seconds for an output token of a user behind the first, and how many come
  /// in a second; none where there is no second token.
  std::optional<Views> tpot, outputPerSecondPerUser;
  Views requestSeconds;  // from prompt to last token
  Views outputPerSecond; // tokens, of the deployment
  Views totalPerSecond;  // tokens in and out
  Views outputPerSecondPerGpu;
  Views requestsPerSecond;
  /// Joules for an output token and for any token; of the boards, and at the
  /// wall with hosts, network and cooling.
  Views boardJoulesPerOutput, wallJoulesPerOutput;
  Views boardJoulesPerToken, wallJoulesPerToken;
  Views dollarsPerMillionOutput, dollarsPerMillionTokens;
};

struct ServeResult {
  Workload workload;
  int64_t gpus = 1;
  /// The steps behind the numbers; the mean decode step stands between those of
  /// the points. Without one, figures of decode are absent.
  StepPoint prefillAll, prefillOne, prefillInFlight;
  double promptsTogether = 1; // in prefillInFlight
  std::optional<StepPoint> decode;
  std::vector<StepPoint> decodePoints;
  Views prefillAllSeconds;
  Views inputPerSecond;                 // tokens, in the prefill of all
  Views ttftSeconds;                    // of one request on an idle deployment
  Views prefillWatts;                   // of one board in the prefill of all
  Views joulesPerInput;                 // boards, prefill
  std::optional<Views> decodeSeconds;   // the mean step over all contexts
  std::optional<Views> decodeWatts;     // of one board in the mean decode step
  std::optional<Views> joulesPerOutput; // boards, decode alone
  Service fixed, inFlight;
  std::string priceBasis;
  double dollarsPerHour = 0; // of one GPU
  std::string priceDate;
  std::string priceSource; // whose figure it is
};

/// The mean of `points` over contexts from `first` to `last`: lines between the
/// points, and beyond them.
StepPoint meanStep(llvm::ArrayRef<StepPoint> points, double first, double last);

/// All numbers of a service on `target`. Fails, with a message, if the target
/// has no price of the basis.
llvm::FailureOr<ServeResult>
serve(const ServeInput &input, const Target &target, llvm::raw_ostream &errors);

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// What a plan could change to need less memory.
struct FitChoices {
  int64_t tensorParallel = 1;
  int64_t maxTensorParallel = 1; // that the model and the domain allow
  int64_t cacheShards = 1;       // most GPUs over which the cache spreads
  int64_t weightBits = 16, cacheBits = 16;
};

struct FitResult {
  bool fits = false;
  double capacity = 0;
  double weights = 0, workspace = 0, reserved = 0;
  double cache = 0;        // of all sequences at their longest
  double perSequence = 0;  // cache of one sequence at its longest
  double left = 0;         // of the capacity, negative where it does not fit
  double maxSequences = 0; // that fit at their longest
  /// What binds where it does not fit: "weights", "cache" or "workspace".
  std::string limit;
  /// The smallest change that makes it fit, as an option: "--batch=12",
  /// "--kv=fp8", "--weights=fp8 --tp=4"; empty if there is none.
  std::string remedy;
};

FitResult fit(const MemoryNeeds &needs, const Workload &workload,
              const FitChoices &choices, const Target &target);

/// "does not fit: ..." on one line, for exit code 3.
std::string fitMessage(const FitResult &result, const Workload &workload);

} // namespace modelc

#endif // LIB_SERVE_SERVICE_H
