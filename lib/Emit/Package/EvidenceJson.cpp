//===- EvidenceJson.cpp - What a manifest says for a kernel's speed -------===//
//
// One record for each kernel: what its schedule needs, what compilers made of
// it where binaries were built, what the estimate expects and what limits it.
//
//===----------------------------------------------------------------------===//

#include "lib/Emit/Package/EvidenceJson.h"
#include "lib/Emit/Package/MachineCode.h"
#include "lib/Text/Text.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using llvm::json::OStream;

/// Copies of a trip of whichever loop of the IR this one is.
static int64_t copiesOf(const CodeLoop &loop, ArrayRef<LoopNeed> needs) {
  for (const LoopNeed &need : needs) {
    if (int64_t copies = copiesIn(loop, need)) {
      return copies;
    }
  }
  return 0;
}

static void writeBinary(OStream &json, const BinaryFacts &facts,
                        ArrayRef<LoopNeed> needs) {
  json.attributeObject("binary", [&] {
    json.attribute("registers", facts.registers);
    json.attribute("spilled_bytes", facts.spilledBytes);
    json.attribute("shared_bytes", facts.sharedBytes);
    json.attributeArray("loops", [&] {
      for (const CodeLoop &loop : facts.matrix.loops) {
        json.object([&] {
          json.attribute("matrix_instructions", loop.matrix);
          json.attribute("copies_of_a_trip", copiesOf(loop, needs));
        });
      }
    });
  });
}

/// Workgroups of a binary's registers that a unit has room for, of those that
/// the schedule has room for.
static double occupancy(const HostKernel &kernel, const Prediction &prediction,
                        const BinaryFacts &facts, const Target &target) {
  const Execution &execution = target.execution;
  int64_t registers = llvm::alignTo(std::max<int64_t>(facts.registers, 1),
                                    execution.registerGranule);
  int64_t bytes = 4 * registers * kernel.threads;
  return std::min<double>(prediction.workgroupsPerUnit,
                          execution.registerBytesPerUnit / bytes);
}

static void writeTrip(OStream &json, const Prediction &prediction,
                      ArrayRef<LoopNeed> needs) {
  const LoopNeed *main = mainLoopOf(needs);
  json.attributeObject("trip", [&] {
    writeNumber(json, "trips", prediction.trips);
    json.attribute("matrix_instructions", main ? main->perTrip : 0);
    writeNumber(json, "bank_conflict_clocks", prediction.conflictClocks);
    writeNumber(json, "waits", prediction.waits);
    writeNumber(json, "syncs", prediction.syncs);
  });
}

void modelc::writeEvidence(OStream &json, const HostKernel &kernel,
                           const Target &target,
                           const PackageOptions &options) {
  auto predicted = options.predictions.find(kernel.symbol);
  if (predicted == options.predictions.end()) {
    return;
  }
  const Prediction &prediction = predicted->second;
  auto built = options.binaries.find(kernel.symbol);
  bool isBuilt = built != options.binaries.end();
  std::vector<LoopNeed> needs = matrixNeeds(kernel.op, target).loops;
  json.attributeObject("evidence", [&] {
    json.attributeObject("sizes", [&] {
      for (const auto &[name, value] : prediction.sizes) {
        writeNumber(json, name, value);
      }
    });
    json.attribute("registers", prediction.registers);
    if (isBuilt) {
      writeBinary(json, built->second, needs);
    }
    writeNumber(json, "workgroups_per_unit",
                isBuilt ? occupancy(kernel, prediction, built->second, target)
                        : prediction.workgroupsPerUnit);
    json.attribute("limited_by", prediction.perUnitBy);
    writeTrip(json, prediction, needs);
    json.attributeObject("memory_bytes", [&] {
      writeNumber(json, "moved", prediction.movedBytes);
      writeNumber(json, "least", prediction.leastBytes);
    });
    writeNumber(json, "fraction_of_peak", prediction.peakFraction);
    json.attribute("peak_of", prediction.peakOf);
    json.attribute("limit", prediction.limit);
  });
}
