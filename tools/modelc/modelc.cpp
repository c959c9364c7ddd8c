//===- modelc.cpp - The user's command ------------------------------------===//
//
// modelc MODEL --target=... compiles a model and estimates it; the other verbs
// are `explain`, `targets` and `import`. Everything is done by lib/Driver; this
// file only reads the command line.
//
//===----------------------------------------------------------------------===//

#include "dialects/Model/NumberFormats.h"
#include "lib/Driver/Driver.h"
#include "lib/Support/Support.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstdlib>

using namespace llvm;
using namespace modelc;

static cl::OptionCategory category("modelc options");
static cl::SubCommand explainCommand("explain", "show the sum behind a number");
static cl::SubCommand
    serveCommand("serve", "show the curve from throughput to interactivity");
static cl::SubCommand
    compareCommand("compare",
                   "hold machines against each other at equal speed");
static cl::SubCommand
    searchCommand("search", "find the plan that serves best, and say why");
/// Those that compile a model: for one plan, or for any; those that serve, and
/// those that choose among plans.
static cl::SubCommandGroup onePlan({&cl::SubCommand::getTopLevel(),
                                    &serveCommand});
static cl::SubCommandGroup compiling({&cl::SubCommand::getTopLevel(),
                                      &serveCommand, &compareCommand,
                                      &searchCommand});
static cl::SubCommandGroup serving({&serveCommand, &compareCommand,
                                    &searchCommand});
static cl::SubCommandGroup choosing({&compareCommand, &searchCommand});
static cl::SubCommand targetsCommand("targets",
                                     "list the machines, or show one");
static cl::SubCommand importCommand("import",
                                    "convert a model to the TOML graph");

namespace {
/// Reads one word of a few, and says which where it is none.
template <typename T>
struct Word : cl::parser<T> {
  using cl::parser<T>::parser;
  bool parse(cl::Option &option, StringRef name, StringRef text, T &value) {
    std::vector<StringRef> words;
    for (const auto &info : this->Values) {
      if (info.Name == text) {
        value = info.V.getValue();
        return false;
      }
      words.push_back(info.Name);
    }
    return option.error("expected " + listWords(words) + ", got \"" + text +
                            "\"" + didYouMean(text, words),
                        name);
  }
};
} // namespace

template <typename T>
using Flag = cl::opt<T>;
template <typename T>
using Choice = cl::opt<T, false, Word<T>>;

//===----------------------------------------------------------------------===//
// modelc MODEL
//===----------------------------------------------------------------------===//

static cl::opt<std::string> input(cl::Positional, cl::desc("MODEL"),
                                  cl::cat(category), cl::sub(compiling));
static cl::opt<std::string>
    target("target", cl::desc("machine by name, or a file: ./mine.toml"),
           cl::value_desc("name"), cl::cat(category), cl::sub(onePlan));
static cl::list<std::string> overrides("set",
                                       cl::desc("replace a fact of the target"),
                                       cl::value_desc("key=value"),
                                       cl::cat(category), cl::sub(compiling),
                                       cl::sub(targetsCommand));
static cl::opt<std::string> targetsDirectory(
    "targets-dir",
    cl::desc("folder of the target files; else $MODELC_TARGETS, else the "
             "installed one"),
    cl::value_desc("folder"), cl::cat(category), cl::sub(compiling),
    cl::sub(targetsCommand));
static Flag<int64_t> tensorParallel("tp", cl::desc("tensor parallel ranks"),
                                    cl::init(1), cl::cat(category),
                                    cl::sub(onePlan));
static Flag<int64_t> inputLength("isl", cl::desc("prompt tokens of a request"),
                                 cl::init(1024), cl::cat(category),
                                 cl::sub(compiling));
static Flag<int64_t> outputLength("osl",
                                  cl::desc("generated tokens of a request"),
                                  cl::init(1024), cl::cat(category),
                                  cl::sub(compiling));
static Flag<int64_t> batch("batch", cl::desc("requests decoded together"),
                           cl::init(64), cl::cat(category));
static Flag<int64_t> maxBatchedTokens(
    "max-batched-tokens",
    cl::desc("new tokens of a step at most: longer prompts take several steps"),
    cl::init(RequestShape().maxBatchedTokens), cl::cat(category),
    cl::sub(compiling));
static Flag<std::string>
    expertLoad("expert-load",
               cl::desc("how tokens fall on experts: uniform, balanced, or "
                        "power:E, a power law with that exponent"),
               cl::value_desc("load"), cl::init(RequestShape().expertLoad),
               cl::cat(category), cl::sub(compiling));
using Format = const model::NumberFormat *;
static const Format kImported = model::findFormat("bf16");
static Choice<Format> weights("weights",
                              cl::desc("type of the weights of linears"),
                              model::FormatValues{model::kWeights},
                              cl::init(kImported), cl::cat(category),
                              cl::sub(onePlan));
static Choice<Format> activations("activations",
                                  cl::desc("type of the inputs of linears"),
                                  model::FormatValues{model::kInputs},
                                  cl::init(Format(nullptr)), cl::cat(category),
                                  cl::sub(compiling));
static Choice<Format> cacheType("kv", cl::desc("type of the KV cache"),
                                model::FormatValues{model::kCache},
                                cl::init(kImported), cl::cat(category),
                                cl::sub(onePlan));
static Choice<Format>
    queryType("queries",
              cl::desc("type of the queries that meet it; fp8 beside --kv=fp8"),
              model::FormatValues{model::kCache}, cl::init(kImported),
              cl::cat(category), cl::sub(compiling));
static Flag<std::string> priceBasis("price",
                                    cl::desc("price basis of the target file"),
                                    cl::value_desc("basis"),
                                    cl::init(CompileOptions().priceBasis),
                                    cl::cat(category), cl::sub(compiling));
static Choice<Stage> emit(
    "emit", cl::desc("print one stage instead of the estimate"),
    cl::values(clEnumValN(Stage::Model, "model", "the graphs of both phases"),
               clEnumValN(Stage::Schedule, "schedule", "kernels and plans"),
               clEnumValN(Stage::Source, "source", "emitted kernels"),
               clEnumValN(Stage::Binary, "binary", "check every binary"),
               clEnumValN(Stage::Estimate, "estimate", "the estimate alone")),
    cl::init(Stage::All), cl::cat(category));
static cl::opt<std::string>
    output("o", cl::desc("output folder or file, - for standard output"),
           cl::value_desc("path"), cl::cat(category), cl::sub(compiling),
           cl::sub(importCommand));
static Flag<bool> json("json", cl::desc("the estimate as JSON"),
                       cl::cat(category), cl::sub(compiling));
static Flag<bool> csv("csv", cl::desc("the estimate as CSV"), cl::cat(category),
                      cl::sub(compiling));

//===----------------------------------------------------------------------===//
// The other verbs
//===----------------------------------------------------------------------===//

static const ServeOptions kAsked;
static Flag<std::string> users(
    "concurrency",
    cl::desc("users at once, each with one request: numbers with commas, or "
             "auto: up to what memory holds"),
    cl::value_desc("1,2,4,..."), cl::init(kAsked.users), cl::cat(category),
    cl::sub(serving));
static Flag<std::string> objectives(
    "slo", cl::desc("limits of tpot, ttft, request, tokens_per_s_per_user"),
    cl::value_desc("tpot<=20ms,..."), cl::cat(category), cl::sub(serving));
static Flag<std::string>
    engine("engine",
           cl::desc("that runs the steps: modelc, or one "
                    "of the folder engines of the targets"),
           cl::value_desc("name"), cl::init(kAsked.engine), cl::cat(category),
           cl::sub(serving));
static Flag<std::string> machines("targets",
                                  cl::desc("machines to choose from"),
                                  cl::value_desc("name,..."), cl::cat(category),
                                  cl::sub(choosing));
static Flag<std::string> ranksOfPlans("tp", cl::desc("tensor parallel ranks"),
                                      cl::value_desc("1,2,..."),
                                      cl::init(kAsked.ranks), cl::cat(category),
                                      cl::sub(choosing));
static Flag<std::string>
    weightsOfPlans("weights", cl::desc("types of the weights of linears"),
                   cl::value_desc("bf16,fp8,..."), cl::cat(category),
                   cl::sub(choosing));
static Flag<std::string> cachesOfPlans("kv", cl::desc("types of the KV cache"),
                                       cl::value_desc("bf16,fp8"),
                                       cl::cat(category), cl::sub(choosing));
static Flag<std::string>
    metric("objective",
           cl::desc("tokens_per_s_per_gpu, usd_per_mtok, j_per_token or "
                    "tokens_per_s_per_mw"),
           cl::value_desc("metric"), cl::init(kAsked.metric), cl::cat(category),
           cl::sub(searchCommand));
static cl::opt<std::string> explainFolder(cl::Positional, cl::Required,
                                          cl::desc("FOLDER"),
                                          cl::sub(explainCommand));
static cl::opt<std::string> askedItem(cl::Positional,
                                      cl::desc("[FIGURE or OP]"),
                                      cl::sub(explainCommand));
enum class Phase { prefill, decode };
static Choice<Phase> explainPhase(
    "phase", cl::desc("which step"),
    cl::values(clEnumValN(Phase::prefill, "prefill", "all prompts"),
               clEnumValN(Phase::decode, "decode",
                          "one token for each sequence")),
    cl::init(Phase::decode), cl::cat(category), cl::sub(explainCommand));
static cl::opt<std::string> targetsName(cl::Positional, cl::desc("[NAME]"),
                                        cl::sub(targetsCommand));
static cl::opt<std::string> importInput(cl::Positional, cl::Required,
                                        cl::desc("MODEL"),
                                        cl::sub(importCommand));

/// Without the flag, what the checkpoint has.
static std::string given(const Choice<Format> &flag) {
  return flag.getNumOccurrences() ? flag.getValue()->name.str() : "";
}

static CompileOptions compileOptions() {
  CompileOptions options;
  options.input = input;
  options.target = target;
  options.overrides.assign(overrides.begin(), overrides.end());
  options.targetsDirectory = targetsDirectory;
  options.tensorParallel = tensorParallel;
  options.workload = {inputLength, outputLength, batch, maxBatchedTokens,
                      expertLoad};
  if (!maxBatchedTokens.getNumOccurrences()) { // a decode step has to fit
    options.workload.maxBatchedTokens =
        std::max<int64_t>(maxBatchedTokens, batch);
  }
  options.weights = given(weights);
  options.activations = activations ? activations->name.str() : "weights";
  options.cache = given(cacheType);
  options.queries = queryType->name;
  options.priceBasis = priceBasis;
  options.emit = emit;
  options.output = output;
  options.format = json  ? ReportFormat::Json
                   : csv ? ReportFormat::Csv
                         : ReportFormat::Table;
  return options;
}

//===----------------------------------------------------------------------===//
// Mistakes of the compiler
//===----------------------------------------------------------------------===//

using Arguments = ArrayRef<const char *>;

static void printReproducer(Arguments arguments) {
  sayError(errs())
      << "internal error, a mistake of the compiler; please report "
         "it with the files and the command that show it:\n ";
  for (const char *argument : arguments) {
    errs() << " ";
    sys::printArg(errs(), argument, /*Quote=*/false);
  }
  errs() << "\nby ";
  printVersion(errs());
}

/// Runs in the handler of a fatal signal; temporary files are gone already.
static void reportCrash(void *arguments) {
  sys::PrintStackTrace(errs());
  printReproducer(*static_cast<Arguments *>(arguments));
  errs().flush();
  std::_Exit(kExitInternal);
}

//===----------------------------------------------------------------------===//
// Verbs
//===----------------------------------------------------------------------===//

/// The verbs that serve; LLVM takes flags of `modelc MODEL` behind any verb.
static int runServing() {
  for (const cl::Option *flag :
       std::initializer_list<const cl::Option *>{&batch, &emit}) {
    if (flag->getNumOccurrences()) {
      sayError(errs()) << "expected no --" << flag->ArgStr
                       << " behind this verb; --concurrency says how many "
                          "users there are\n";
      return kExitUsage;
    }
  }
  CompileOptions options = compileOptions();
  ServeOptions asked{users,        objectives,     engine,        machines,
                     ranksOfPlans, weightsOfPlans, cachesOfPlans, metric};
  if (serveCommand) {
    return serveModel(options, asked, outs(), errs());
  }
  if (!target.empty() || tensorParallel.getNumOccurrences()) {
    sayError(errs()) << "expected --targets=NAME,... of the machines to choose "
                        "from, got --target="
                     << target << "\n";
    return kExitUsage;
  }
  return compareCommand ? compareModel(options, asked, outs(), errs())
                        : searchModel(options, asked, outs(), errs());
}

static int runVerb() {
  if (explainCommand) {
    bool isPrefill = explainPhase == Phase::prefill;
    return explain({explainFolder, askedItem, isPrefill ? "prefill" : "decode"},
                   outs(), errs());
  }
  if (targetsCommand) {
    std::vector<std::string> sets(overrides.begin(), overrides.end());
    return showTargets(targetsName, sets, targetsDirectory, outs(), errs());
  }
  if (importCommand) {
    return importToToml(importInput, output, outs(), errs());
  }
  if (json && csv) {
    sayError(errs()) << "expected one of --json and --csv, got both\n";
    return kExitUsage;
  }
  if (serveCommand || compareCommand || searchCommand) {
    return runServing();
  }
  return compile(compileOptions(), outs(), errs());
}

int main(int argc, char **argv) {
  // Not InitLLVM: it would ask for reports to LLVM and exit by the signal.
  Arguments arguments(argv, argc);
  sys::AddSignalHandler(reportCrash, &arguments);
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](raw_ostream &os) { printVersion(os); });
  if (!parseCommandLine(
          argc, argv,
          "compiles a large language model for a GPU and estimates it\n",
          errs())) {
    return kExitUsage;
  }
  int code = runVerb();
  if (code == kExitInternal) {
    printReproducer(arguments);
  }
  code = finishOutput(code, errs());
  if (code == kExitInterrupted) {
    // As the shell expects of what it interrupted.
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  return code;
}
