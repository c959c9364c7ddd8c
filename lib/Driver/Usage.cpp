//===- Usage.cpp - Mistakes of a command line -----------------------------===//

#include "lib/Driver/Usage.h"

#include "lib/Hardware/Hardware.h"
#include "lib/Support/Support.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace modelc;

/// Tokens and sequences beyond this are a slip of the finger, not a workload.
static constexpr int64_t kMostTokens = int64_t(1) << 30;

static LogicalResult complain(raw_ostream &errors, const Twine &message) {
  errors << "modelc: " << message << "\n";
  return failure();
}

static LogicalResult checkCount(StringRef flag, int64_t value, int64_t most,
                                raw_ostream &errors) {
  if (value >= 1 && value <= most) {
    return success();
  }
  return complain(errors, "expected --" + flag + " from 1 to " + Twine(most) +
                              ", got " + Twine(value));
}

static LogicalResult checkTarget(const CompileOptions &options,
                                 raw_ostream &errors) {
  if (!options.target.empty() || options.emit == Stage::Model) {
    return success();
  }
  std::vector<TargetFile> files = listTargets({options.targetsDirectory});
  std::vector<StringRef> names;
  for (const TargetFile &file : files) {
    names.push_back(file.name);
  }
  return complain(errors, "expected --target, a .toml file or one of " +
                              listWords(names) + ", got none");
}

LogicalResult modelc::checkUsage(const CompileOptions &options,
                                 raw_ostream &errors) {
  if (options.input.empty()) {
    return complain(errors,
                    "expected a model: a config.json, a graph.toml or a "
                    "graph.mlir; try 'modelc --help'");
  }
  const RequestShape &request = options.workload;
  if (failed(checkTarget(options, errors)) ||
      failed(checkCount("tp", options.tensorParallel, 1024, errors)) ||
      failed(checkCount("isl", request.inputLength, kMostTokens, errors)) ||
      failed(checkCount("osl", request.outputLength, kMostTokens, errors)) ||
      failed(checkCount("batch", request.batch, kMostTokens, errors))) {
    return failure();
  }
  bool hasFolder = !options.output.empty() && options.output != "-";
  if (options.emit == Stage::Binary && !hasFolder) {
    return complain(errors, "expected -o FOLDER with --emit=binary, the place "
                            "of the binaries");
  }
  return success();
}

LogicalResult modelc::checkPriceBasis(const CompileOptions &options,
                                      const Target &target,
                                      raw_ostream &errors) {
  if (target.price.perHour.count(options.priceBasis)) {
    return success();
  }
  std::vector<StringRef> known;
  for (const auto &[basis, dollars] : target.price.perHour) {
    known.push_back(basis);
  }
  return complain(errors, "expected a --price of target \"" +
                              target.identity.name + "\" (" + listWords(known) +
                              "), got \"" + options.priceBasis + "\"" +
                              didYouMean(options.priceBasis, known));
}

int modelc::writeText(StringRef path, function_ref<void(raw_ostream &)> print,
                      raw_ostream &out, raw_ostream &errors) {
  if (path.empty() || path == "-") {
    print(out);
    return kExitOk;
  }
  // Through a temporary file that is renamed: nothing is left half written.
  Error error = writeToOutput(path, [&](raw_ostream &file) {
    print(file);
    return Error::success();
  });
  if (error) {
    errors << "modelc: cannot write '" << path
           << "': " << toString(std::move(error)) << "\n";
    return kExitInput;
  }
  return kExitOk;
}
