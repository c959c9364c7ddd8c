//===- Search.cpp - How fast tiles are chosen -----------------------------===//

#include "lib/Driver/Bench/Bench.h"
#include "lib/Driver/Bench/BenchModel.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Timer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace modelc;

int modelc::printSearch(const CompileOptions &options) {
  BenchModel model(options);
  if (int code = model.read(); code != kExitOk) {
    return code;
  }
  SearchCount count;
  double before = llvm::TimeRecord::getCurrentTime().getUserTime();
  FailureOr<OwningOpRef<ModuleOp>> module =
      lowerToFinalSchedule(*model.phases, model.target, options, &count);
  double after = llvm::TimeRecord::getCurrentTime(false).getUserTime();
  if (failed(module)) {
    return kExitInput;
  }
  double seconds = after - before;
  uint64_t tiles = count.rejected + count.previewed;
  llvm::outs() << count.choices << " choices of a tile for "
               << model.target.identity.product << "\n"
               << tiles << " candidates: " << count.rejected << " rejected and "
               << count.previewed << " timed by arithmetic, " << count.judged
               << " built and costed\n"
               << llvm::format("%.3f s on one core with all kernels finished "
                               "and proven: %.0f candidates/s\n",
                               seconds, double(tiles) / seconds);
  return kExitOk;
}
