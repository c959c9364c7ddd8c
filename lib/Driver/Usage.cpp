//===- Usage.cpp - Mistakes of a command line -----------------------------===//

#include "lib/Driver/Usage.h"

#include "dialects/Model/NumberFormats.h"
#include "lib/Cost/ExpertLoad.h"
#include "lib/Hardware/Hardware.h"
#include "lib/Support/Support.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace modelc;

/// Tokens and sequences beyond this are a slip of the finger, not a workload.
static constexpr int64_t kMostTokens = int64_t(1) << 30;

static LogicalResult complain(raw_ostream &errors, const Twine &message) {
  sayError(errors) << message << "\n";
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
  if (files.empty()) {
    sayNoTargets(targetsFolder(options.targetsDirectory), errors);
    return failure();
  }
  std::vector<StringRef> names;
  for (const TargetFile &file : files) {
    names.push_back(file.name);
  }
  return complain(errors, "expected --target, a .toml file or one of " +
                              listWords(names) + ", got none");
}

LogicalResult modelc::checkInput(const CompileOptions &options,
                                 raw_ostream &errors) {
  if (options.input.empty()) {
    return complain(errors,
                    "expected a model: a config.json, a graph.toml or a "
                    "graph.mlir; try 'modelc --help'");
  }
  StringRef verb = nearest(options.input, {"compare", "explain", "import",
                                           "search", "serve", "targets"});
  if (!verb.empty() && !sys::fs::exists(options.input)) {
    return complain(errors, "expected a model or a command, got \"" +
                                options.input + "\", did you mean \"" + verb +
                                "\"");
  }
  return success();
}

LogicalResult modelc::checkUsage(const CompileOptions &options,
                                 raw_ostream &errors) {
  const RequestShape &request = options.workload;
  if (failed(checkTarget(options, errors)) ||
      failed(checkCount("tp", options.tensorParallel, 1024, errors)) ||
      failed(checkCount("isl", request.inputLength, kMostTokens, errors)) ||
      failed(checkCount("osl", request.outputLength, kMostTokens, errors)) ||
      failed(checkCount("batch", request.batch, kMostTokens, errors)) ||
      failed(checkCount("max-batched-tokens", request.maxBatchedTokens,
                        kMostTokens, errors))) {
    return failure();
  }
  if (!ExpertLoad::parse(request.expertLoad)) {
    return complain(errors, "expected --expert-load=uniform, balanced or "
                            "power:E with an exponent above 0 and at most 8, "
                            "got \"" +
                                request.expertLoad + "\"");
  }
  if (request.maxBatchedTokens < request.batch) {
    return complain(errors, "expected --max-batched-tokens of at least " +
                                Twine(request.batch) +
                                ", a token of each sequence of a decode step "
                                "(--batch), got " +
                                Twine(request.maxBatchedTokens));
  }
  StringRef weights = options.weights;
  if (model::findFormat(options.activations) &&
      !model::formatOf(weights)->takesBytes) {
    return complain(errors,
                    "expected " + model::listBesideBytes("--weights=") +
                        " with --activations=" + options.activations +
                        ", got --weights=" + model::formatOf(weights)->name);
  }
  if (options.emit == Stage::Binary && !options.hasFolder()) {
    return complain(errors, "expected -o FOLDER with --emit=binary, the place "
                            "of the binaries");
  }
  return success();
}

LogicalResult modelc::checkStepTokens(const CompileOptions &options,
                                      int64_t page, raw_ostream &errors) {
  if (options.workload.maxBatchedTokens >= page) {
    return success();
  }
  return complain(errors, "expected --max-batched-tokens of at least " +
                              Twine(page) +
                              ", the tokens in a page of the cache, got " +
                              Twine(options.workload.maxBatchedTokens));
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

LogicalResult modelc::checkPrelude(const CompileOptions &options,
                                   const Target &target, raw_ostream &errors) {
  std::string folder = targetsFolder(options.targetsDirectory);
  SmallString<128> path(folder);
  sys::path::append(path, target.identity.prelude);
  if (!target.identity.prelude.empty() && sys::fs::is_regular_file(path)) {
    return success();
  }
  const Fact &fact = target.facts.at("target.prelude");
  std::string ignored;
  raw_string_ostream none(ignored);
  FailureOr<SourceFile> file = SourceFile::read(fact.file, none);
  std::string message = "expected target.prelude to be a file below '" +
                        folder + "', got \"" + target.identity.prelude + "\"";
  if (failed(file)) {
    return complain(errors, message);
  }
  file->error(errors, {fact.line, 1}, message);
  return failure();
}

using Print = function_ref<void(raw_ostream &)>;

static std::error_code printTo(int descriptor, Print print) {
  raw_fd_ostream os(descriptor, /*shouldClose=*/false);
  print(os);
  return takeError(os);
}

/// A device or a pipe is written to: a rename would put a file in its place.
static bool isStream(StringRef path) {
  sys::fs::file_status status;
  return !sys::fs::status(path, status) && !sys::fs::is_regular_file(status) &&
         !sys::fs::is_directory(status);
}

static Error writeStream(StringRef path, Print print) {
  int descriptor = 0;
  std::error_code error = sys::fs::openFileForWrite(
      path, descriptor, sys::fs::CD_OpenExisting, sys::fs::OF_None);
  if (!error) {
    error = printTo(descriptor, print);
    std::error_code closing =
        sys::Process::SafelyCloseFileDescriptor(descriptor);
    error = error ? error : closing;
  }
  return errorCodeToError(error);
}

/// Through a temporary file that is renamed: nothing is left half written. A
/// link stays one.
static Error writeWhole(StringRef link, Print print) {
  SmallString<128> path;
  if (sys::fs::real_path(link, path)) {
    path = link; // nothing there yet
  }
  Expected<sys::fs::TempFile> file =
      sys::fs::TempFile::create(path + ".%%%%%%");
  if (!file) {
    return file.takeError();
  }
  std::error_code error = printTo(file->FD, print);
  if (!error) {
    if (Error failure = file->keep(path)) {
      return joinErrors(std::move(failure), file->discard());
    }
    return Error::success();
  }
  return joinErrors(errorCodeToError(error), file->discard());
}

int modelc::writeText(StringRef path, Print print, raw_ostream &out,
                      raw_ostream &errors) {
  if (path.empty() || path == "-") {
    print(out);
    return kExitOk;
  }
  if (Error error =
          isStream(path) ? writeStream(path, print) : writeWhole(path, print)) {
    sayError(errors) << "cannot write '" << path
                     << "': " << toString(std::move(error)) << "\n";
    return kExitInput;
  }
  return kExitOk;
}
