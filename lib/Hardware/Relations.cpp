//===- Relations.cpp - What facts of a machine must be to each other ------===//
//
// Each value may be right and two of them not: of those, the one that was said
// last is at fault, as an override is beside the file that it changes.
//
//===----------------------------------------------------------------------===//

#include "lib/Hardware/Loader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

namespace modelc {

namespace {
/// Collects what does not hold.
struct Relations {
  std::vector<Contradiction> found;

  /// The first key is what the message is about.
  void expect(bool holds, std::vector<std::string> keys,
              const llvm::Twine &wanted, const llvm::Twine &got) {
    if (!holds) {
      std::string text =
          ("expected " + keys.front() + " " + wanted + ", got " + got).str();
      found.push_back({std::move(keys), std::move(text)});
    }
  }
  void expectAtMost(double value, const char *key, double most,
                    const char *other) {
    expect(value <= most, {key, other},
           "of at most " + llvm::Twine(other) + ", " + printNumber(most),
           printNumber(value));
  }
  void expectPowerOfTwo(int64_t value, const char *key) {
    expect(llvm::isPowerOf2_64(value), {key}, "to be a power of two",
           llvm::Twine(value));
  }
};
} // namespace

static void relateExecution(const Target &target, Relations &relations) {
  const Execution &e = target.execution;
  relations.expectPowerOfTwo(e.waveSize, "execution.wave_size");
  relations.expectAtMost(double(e.waveSize), "execution.wave_size",
                         double(e.maxThreadsPerWorkgroup),
                         "execution.max_threads_per_workgroup");
  relations.expectAtMost(double(e.chiplets), "execution.chiplets",
                         double(e.units), "execution.units");
  relations.expectAtMost(
      double(e.schedulersPerUnit), "execution.schedulers_per_unit",
      double(e.maxWavesPerUnit), "execution.max_waves_per_unit");
  relations.expectAtMost(
      double(e.registerGranule), "execution.register_granule",
      double(e.maxRegistersPerThread), "execution.max_registers_per_thread");
  int64_t threads = e.maxWavesPerUnit * e.waveSize;
  relations.expect(e.maxThreadsPerWorkgroup <= threads,
                   {"execution.max_threads_per_workgroup",
                    "execution.max_waves_per_unit", "execution.wave_size"},
                   "of at most all waves of a unit, " + llvm::Twine(threads),
                   llvm::Twine(e.maxThreadsPerWorkgroup));
  int64_t registers = e.registerBytesPerUnit / 4 / e.waveSize;
  relations.expect(e.maxRegistersPerThread <= registers,
                   {"execution.max_registers_per_thread",
                    "execution.register_bytes_per_unit", "execution.wave_size"},
                   "of at most what a unit has for one wave, " +
                       llvm::Twine(registers),
                   llvm::Twine(e.maxRegistersPerThread));
  for (const auto &[type, hertz] : target.clock.sustainedHz) {
    std::string key = "clock.sustained." + type;
    relations.expectAtMost(hertz, key.c_str(), target.clock.boostHz,
                           "clock.boost");
  }
}

static void relateMemories(const Target &target, Relations &relations) {
  const SharedMemory &shared = target.shared;
  relations.expect(shared.maxBytesPerWorkgroup +
                           shared.reservedBytesPerWorkgroup <=
                       shared.bytesPerUnit,
                   {"shared.max_bytes_per_workgroup", "shared.bytes_per_unit",
                    "shared.reserved_bytes_per_workgroup"},
                   "and what is reserved beside it of at most "
                   "shared.bytes_per_unit, " +
                       llvm::Twine(shared.bytesPerUnit),
                   llvm::Twine(shared.maxBytesPerWorkgroup) + " and " +
                       llvm::Twine(shared.reservedBytesPerWorkgroup));
  relations.expectPowerOfTwo(shared.banks, "shared.banks");
  relations.expectPowerOfTwo(shared.bankBytes, "shared.bank_bytes");
  const TensorMemory &tensor = target.tensorMemory;
  bool hasAll = tensor.lanes > 0 && tensor.columnGranule > 0 &&
                tensor.columnGranule <= tensor.columns &&
                tensor.readBytesPerClock > 0;
  relations.expect(tensor.columns == 0 || hasAll,
                   {"tensor_memory.columns", "tensor_memory.lanes",
                    "tensor_memory.column_granule", "tensor_memory.read_rate"},
                   "to have lanes, a granule of as many columns at most and a "
                   "rate, or to be 0",
                   llvm::Twine(tensor.columns));
  const Copy &copy = target.copy;
  constexpr int64_t kWord = 4; // bytes: no machine copies less behind a wave
  relations.expect(!copy.asyncToShared ||
                       (copy.bytesPerLane >= kWord &&
                        llvm::isPowerOf2_64(copy.bytesPerLane)),
                   {"copy.bytes_per_lane", "copy.async_to_shared"},
                   "to be a power of two from 4 beside copy.async_to_shared",
                   llvm::Twine(copy.bytesPerLane));
  const Cache &cache = target.cache;
  relations.expectPowerOfTwo(cache.lineBytes, "cache.line");
  relations.expect(cache.sectorBytes == 0 ||
                       cache.lineBytes % cache.sectorBytes == 0,
                   {"cache.sector", "cache.line"},
                   "to divide cache.line, " + llvm::Twine(cache.lineBytes),
                   llvm::Twine(cache.sectorBytes));
  relations.expect(cache.llcBytes == 0 || cache.llcBandwidth > 0,
                   {"cache.llc_bandwidth", "cache.llc"},
                   "above 0 beside cache.llc", "0");
}

/// Rows were checked as they were read; a wave of another size, or another
/// extent, may have come since.
static void relateRows(const Target &target, Relations &relations) {
  for (const MmaRow &row : target.mma) {
    MmaRow again = row;
    std::string wrong = finishMmaRow(target.execution, again);
    if (wrong.empty()) {
      continue;
    }
    std::vector<std::string> keys = {"execution.wave_size"};
    std::string prefix = "mma." + row.name + ".";
    for (auto fact = target.facts.lower_bound(prefix);
         fact != target.facts.end() &&
         llvm::StringRef(fact->first).starts_with(prefix);
         ++fact) {
      keys.push_back(fact->first);
    }
    relations.found.push_back({keys, "mma." + row.name + ": " + wrong});
  }
  size_t bits = llvm::Log2_64(target.execution.waveSize);
  for (const SharedAccess &access : target.shared.accesses) {
    std::string row = "shared.access." + access.kind + " ";
    relations.expect(access.phaseOfLaneBit.size() == bits,
                     {"execution.wave_size"},
                     "of as many lanes as \"phase_of_lane_bit\" of " + row +
                         llvm::Twine(access.bytes) + " B has bits of, " +
                         llvm::Twine(access.phaseOfLaneBit.size()),
                     llvm::Twine(bits) + " bits");
  }
}

std::vector<Contradiction> contradictions(const Target &target) {
  Relations relations;
  relateExecution(target, relations);
  relateMemories(target, relations);
  const Power &power = target.power;
  relations.expect(power.idle < power.tdp, {"power.idle", "power.tdp"},
                   "below power.tdp, " + printNumber(power.tdp) +
                       ", so that work has some",
                   printNumber(power.idle));
  // A wave of no power of two fits no row: one mistake.
  if (relations.found.empty()) {
    relateRows(target, relations);
  }
  return std::move(relations.found);
}

void Loader::checkRelations() {
  std::vector<const Statement *> blamed;
  for (const Contradiction &wrong : contradictions(target)) {
    const Statement *last = nullptr;
    for (const std::string &key : wrong.keys) {
      auto said = statements.find(key);
      bool isLater = said != statements.end() &&
                     (!last || said->second.order > last->order);
      last = isLater ? &said->second : last;
    }
    if (last && !llvm::is_contained(blamed, last)) {
      blamed.push_back(last);
      error(*last->file, last->place, wrong.text);
    }
  }
}

} // namespace modelc
