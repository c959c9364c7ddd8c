//===- Bench.cpp - modelc-bench -------------------------------------------===//

#include "lib/Driver/Bench/Bench.h"

#include "lib/Driver/Bench/BenchModel.h"
#include "lib/Engines/Accuracy.h"
#include "lib/Support/Support.h"
#include "llvm/Support/CommandLine.h"

using namespace modelc;
namespace cl = llvm::cl;

static cl::OptionCategory category("modelc-bench");
static cl::SubCommand accuracy("accuracy",
                               "predict measured kernels and print the errors");
static cl::SubCommand peak("peak",
                           "print what part of the machine linears reach");
static cl::SubCommand search("search", "print how fast tiles are chosen");

static cl::SubCommand serving("serving",
                              "predict measured deployments, print the errors");

static cl::list<std::string> files(cl::Positional, cl::OneOrMore,
                                   cl::desc("FILE..."), cl::cat(category),
                                   cl::sub(accuracy), cl::sub(serving));
static cl::opt<std::string>
    models("models", cl::desc("folder of the files NAME.json of the models"),
           cl::value_desc("folder"), cl::init("."), cl::cat(category),
           cl::sub(serving));
static cl::opt<unsigned>
    stride("every", cl::desc("take every N-th row of each chip, kind and type"),
           cl::init(1), cl::cat(category), cl::sub(accuracy));
static cl::opt<unsigned> worst("worst", cl::desc("largest errors to print"),
                               cl::init(10), cl::cat(category),
                               cl::sub(accuracy));
static cl::opt<bool>
    own("own",
        cl::desc("predict the kernels that modelc would choose, not those of "
                 "the measured library or engine"),
        cl::cat(category), cl::sub(accuracy));
static cl::opt<std::string> directory("targets-dir",
                                      cl::desc("folder of the target files"),
                                      cl::cat(category), cl::sub(accuracy),
                                      cl::sub(peak), cl::sub(search),
                                      cl::sub(serving));
static cl::opt<std::string> modelFile(cl::Positional, cl::Required,
                                      cl::desc("MODEL"), cl::cat(category),
                                      cl::sub(peak), cl::sub(search));
static cl::opt<std::string> target("target", cl::Required,
                                   cl::desc("machine to compile for"),
                                   cl::cat(category), cl::sub(peak),
                                   cl::sub(search));
enum class Weights { bf16, fp8, fp8_block, mxfp8, mxfp6, mxfp4, nvfp4 };
static cl::opt<Weights> weights(
    "weights", cl::desc("type of weights and inputs of linears"),
    cl::values(clEnumValN(Weights::bf16, "bf16", "as imported"),
               clEnumValN(Weights::fp8, "fp8", "e4m3"),
               clEnumValN(Weights::fp8_block, "fp8_block",
                          "e4m3 in blocks of 128 x 128"),
               clEnumValN(Weights::mxfp8, "mxfp8", "e4m3 in blocks of 32"),
               clEnumValN(Weights::mxfp6, "mxfp6", "e2m3 in blocks of 32"),
               clEnumValN(Weights::mxfp4, "mxfp4", "e2m1 in blocks of 32"),
               clEnumValN(Weights::nvfp4, "nvfp4", "e2m1 in blocks of 16")),
    cl::init(Weights::bf16), cl::cat(category), cl::sub(peak), cl::sub(search));
static cl::opt<int64_t> ranks("tp", cl::desc("tensor-parallel ranks"),
                              cl::init(1), cl::cat(category), cl::sub(peak),
                              cl::sub(search));
static cl::list<int64_t> rows("rows", cl::CommaSeparated,
                              cl::desc("numbers of rows (1,16,64,...)"),
                              cl::cat(category), cl::sub(peak));
static cl::opt<std::string>
    published("published",
              cl::desc("table of measured linears to print beside"),
              cl::cat(category), cl::sub(peak));

static constexpr const char *kWords[] = {"bf16",  "fp8",   "fp8_block", "mxfp8",
                                         "mxfp6", "mxfp4", "nvfp4"};

/// Says what is wrong with the command line, if anything is.
static int complain(llvm::StringRef mistake) {
  sayError(llvm::errs()) << mistake << "\n";
  return kExitUsage;
}

int modelc::benchMain(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  if (!parseCommandLine(argc, argv, "holds predictions against measurements\n",
                        llvm::errs())) {
    return kExitUsage;
  }
  if (accuracy) {
    if (stride == 0) {
      return complain("expected --every of at least 1, got 0");
    }
    AccuracyOptions options = {
        {files.begin(), files.end()}, stride, worst, own, directory};
    bool isPrinted =
        succeeded(printAccuracy(options, loweringOfAll(), llvm::outs()));
    return isPrinted ? kExitOk : kExitInput;
  }
  if (serving) {
    return printServing({{files.begin(), files.end()}, models, directory});
  }
  CompileOptions options;
  options.input = modelFile;
  options.target = target;
  options.weights = kWords[static_cast<int>(Weights(weights))];
  options.tensorParallel = ranks;
  options.targetsDirectory = directory;
  options.emit = Stage::Schedule;
  if (search) {
    return printSearch(options);
  }
  if (!peak) {
    return complain("expected 'modelc-bench accuracy FILE...', 'modelc-bench "
                    "serving FILE...', 'modelc-bench peak MODEL --target=...' "
                    "or 'modelc-bench search MODEL "
                    "--target=...'");
  }
  std::vector<int64_t> asked(rows.begin(), rows.end());
  if (asked.empty()) {
    asked = {1, 16, 64, 256, 1024, 4096, 8192};
  }
  if (llvm::any_of(asked, [](int64_t m) { return m < 1; })) {
    return complain("expected --rows of at least 1");
  }
  return printPeaks(options, asked, published);
}
