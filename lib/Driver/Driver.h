#ifndef MODELC_LIB_DRIVER_DRIVER_H
#define MODELC_LIB_DRIVER_DRIVER_H

#include "lib/Report/Report.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include <cstdint>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace mlir {
class ModuleOp;
}

namespace modelc {

struct LinearCut;

/// Exit codes of every command.
enum ExitCode {
  kExitOk = 0,
  kExitInput = 1, ///< the input has a mistake; a located message was printed
  kExitUsage = 2, ///< the command line has one
  kExitInfeasible =
      3, ///< it does not fit or cannot be met; the limit was named
  kExitInterrupted = 130, ///< nothing was written
  kExitInternal = 70, ///< a mistake of the compiler; a reproducer was written
};

/// One kind of request, decoded in batches of equal requests.
struct RequestShape {
  int64_t inputLength = 1024;
  int64_t outputLength = 1024;
  int64_t batch = 64;
  /// New tokens of prompts that a step takes at most: vLLM's
  /// `max_num_batched_tokens` where all requests are known
  /// (`UsageContext.LLM_CLASS` in vllm/engine/arg_utils.py; 8192 behind its
  /// server) and SGLang's `chunked_prefill_size` (sglang/srt/server_args.py),
  /// both of GPUs of this size.
  int64_t maxBatchedTokens = 16384;
  /// How its tokens fall on experts, as `ExpertLoad` reads it.
  std::string expertLoad = "uniform";
};

/// Where a compilation stops.
enum class Stage { All, Model, Schedule, Source, Binary, Estimate };

struct CompileOptions {
  std::string input;
  std::string target;
  std::vector<std::string> overrides; ///< "key=value" facts of the target
  std::string targetsDirectory;       ///< empty: as `targetsFolder` says
  int64_t tensorParallel = 1;
  RequestShape workload;
  std::string weights = "bf16";        ///< empty: as the checkpoint says
  std::string activations = "weights"; ///< as the weights, or "fp8"
  std::string cache = "bf16";          ///< empty: as the checkpoint says
  std::string queries = "bf16";
  std::string priceBasis = "hyperscaler";
  Stage emit = Stage::All;
  std::string output; ///< empty: estimate only
  ReportFormat format = ReportFormat::Table;
  /// How linears are cut; null: as is best.
  const LinearCut *cut = nullptr;
  /// Whether steps beside those of the workload will be costed.
  bool wantsAnyStep = false;

  /// Whether the output is a folder, not a stream.
  bool hasFolder() const { return !output.empty() && output != "-"; }
  /// Whether no kernel leaves the compiler: it answers for the workload alone.
  bool wantsEstimateOnly() const {
    return emit == Stage::Estimate || (emit == Stage::All && !hasFolder());
  }
};

struct ExplainOptions {
  std::string folder; ///< that a compilation wrote
  std::string item;   ///< figure or op; empty: the whole step
  std::string phase;
};

/// Compiles a model for a target: prints the estimate to `out`, writes the
/// package to `options.output` (through a temporary folder). Returns an
/// ExitCode; every failure was explained on `errors`.
int compile(const CompileOptions &options, llvm::raw_ostream &out,
            llvm::raw_ostream &errors);

/// The same for a model that a program made with lib/Dsl instead of
/// `options.input`: answers its estimate (lib/Report) instead of printing it. A
/// model that does not fit the machine is a failure too.
llvm::FailureOr<Report> compileModel(mlir::ModuleOp model,
                                     const CompileOptions &options,
                                     llvm::raw_ostream &errors);

/// What is asked of deployments, as the command line says it.
struct ServeOptions {
  std::string users = "auto"; ///< at once: "1,2,4", or up to what memory holds
  std::string objectives;     ///< "tpot<=20ms,ttft<=1s"
  std::string engine = "modelc"; ///< that runs the steps, "vllm"
  /// Plans to compare or to search, with commas.
  std::string targets, ranks = "1,2,4,8", weights, caches;
  std::string metric = "tokens_per_s_per_gpu"; ///< of a search
};

/// Prints the curve of a model on a target from throughput to interactivity: a
/// row for each number of users.
int serveModel(const CompileOptions &options, const ServeOptions &asked,
               llvm::raw_ostream &out, llvm::raw_ostream &errors);

/// Prints what several machines reach at equal speed for the user.
int compareModel(const CompileOptions &options, const ServeOptions &asked,
                 llvm::raw_ostream &out, llvm::raw_ostream &errors);

/// Prints which plan serves best within the objectives, and why others do not.
int searchModel(const CompileOptions &options, const ServeOptions &asked,
                llvm::raw_ostream &out, llvm::raw_ostream &errors);

/// Prints the sum behind a number of an earlier compilation.
int explain(const ExplainOptions &options, llvm::raw_ostream &out,
            llvm::raw_ostream &errors);

/// Lists the machines, or everything that is known of one.
int showTargets(llvm::StringRef name, llvm::ArrayRef<std::string> overrides,
                llvm::StringRef directory, llvm::raw_ostream &out,
                llvm::raw_ostream &errors);

/// Writes a model in the project's TOML form; `output` empty or "-": to `out`.
int importToToml(llvm::StringRef input, llvm::StringRef output,
                 llvm::raw_ostream &out, llvm::raw_ostream &errors);

/// The whole of modelc-bench: `modelc-bench accuracy FILE...` predicts every
/// measured kernel of the tables from the schedule that would be chosen for it
/// and prints how far off the predictions are. Returns an ExitCode.
int benchMain(int argc, char **argv);

void printVersion(llvm::raw_ostream &out);

} // namespace modelc

#endif // MODELC_LIB_DRIVER_DRIVER_H
