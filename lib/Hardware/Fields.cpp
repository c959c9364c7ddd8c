//===- Fields.cpp - The table of everything a target file can say ---------===//

#include "lib/Hardware/Fields.h"

namespace modelc {

llvm::ArrayRef<llvm::StringRef> elementTypes() {
  static constexpr llvm::StringRef kTypes[] = {
      "f32",        "tf32",       "bf16",     "f16",      "f8E4M3FN", "f8E5M2",
      "f8E4M3FNUZ", "f8E5M2FNUZ", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN", "i8"};
  return kTypes;
}

llvm::ArrayRef<llvm::StringRef> priceBases() {
  static constexpr llvm::StringRef kBases[] = {"hyperscaler", "neocloud",
                                               "rental", "list"};
  return kBases;
}

static constexpr Need kOptional = Need::Optional;
static constexpr Need kPositive = Need::Positive;
static constexpr Need kFraction = Need::Fraction;
using T = Target;

/// A word of [target] that must be one of a few.
static Field<Target> word(llvm::StringRef name, std::string Identity::*member,
                          std::vector<llvm::StringRef> words,
                          llvm::StringRef meaning) {
  auto read = [=](Target &target, llvm::StringRef, const Node &node,
                  std::string &why) {
    if (!node.isString() || !llvm::is_contained(words, node.string)) {
      why = "expected " + listWords(words) + ", got " + node.print() +
            didYouMean(node.string, words);
      return llvm::failure();
    }
    target.identity.*member = node.string;
    return llvm::success();
  };
  return {name.str(), "", meaning, Need::Required, read, {}};
}

static const std::vector<Field<Target>> kTargetFields = {
    field("target.product", &T::identity, &Identity::product, "",
          "name of the vendor"),
    field("target.family", &T::identity, &Identity::family, "", "architecture"),
    field("target.isa", &T::identity, &Identity::isa, "",
          "name for the device compiler"),
    word("target.language", &Identity::language, {"hip", "cuda"},
         "of the emitted text"),
    field("target.prelude", &T::identity, &Identity::prelude, "",
          "device prelude, a path below the folder of targets"),
    word("target.status", &Identity::status, {"shipping", "announced", "test"},
         "whether it can be had"),

    field("compiler.driver", &T::compiler, &Compiler::driver, "",
          "device compiler"),
    field("compiler.flags", &T::compiler, &Compiler::flags, "",
          "all flags but input and output"),
    field("compiler.suffix", &T::compiler, &Compiler::suffix, "",
          "of the binary"),

    field("execution.wave_size", &T::execution, &Execution::waveSize, "",
          "lanes of a wave", kPositive),
    field("execution.units", &T::execution, &Execution::units, "",
          "units that run workgroups", kPositive),
    field("execution.chiplets", &T::execution, &Execution::chiplets, "",
          "groups of units with an L2 of their own", kPositive),
    field("execution.schedulers_per_unit", &T::execution,
          &Execution::schedulersPerUnit, "",
          "waves of a unit that issue in one clock", kPositive),
    field("execution.matrix_pipes_per_unit", &T::execution,
          &Execution::matrixPipesPerUnit, "",
          "matrix instructions of a unit that run at once", kPositive),
    field("execution.max_waves_per_unit", &T::execution,
          &Execution::maxWavesPerUnit, "", "waves that a unit holds",
          kPositive),
    field("execution.max_workgroups_per_unit", &T::execution,
          &Execution::maxWorkgroupsPerUnit, "", "workgroups that a unit holds",
          kPositive),
    field("execution.max_threads_per_workgroup", &T::execution,
          &Execution::maxThreadsPerWorkgroup, "",
          "threads of the largest workgroup", kPositive),
    field("execution.max_registers_per_thread", &T::execution,
          &Execution::maxRegistersPerThread, "",
          "registers of 4 bytes that a thread can have", kPositive),
    field("execution.register_granule", &T::execution,
          &Execution::registerGranule, "",
          "step in which registers per thread are allocated", kPositive),
    field("execution.register_bytes_per_unit", &T::execution,
          &Execution::registerBytesPerUnit, "B", "register file of a unit",
          kPositive),
    field("execution.max_cluster_workgroups", &T::execution,
          &Execution::maxClusterWorkgroups, "",
          "workgroups that share their shared memories", kPositive),
    field("execution.reassigns_registers", &T::execution,
          &Execution::reassignsRegisters, "",
          "waves of a workgroup can have different register counts"),
    field("execution.adds_rounding_down", &T::execution,
          &Execution::addsRoundingDown, "",
          "floats can be added rounding down, which splits exp2"),
    field("execution.fp32", &T::execution, &Execution::fp32FlopPerClock,
          "flop/clk", "vector fp32 rate of a unit, an fma counts two",
          kPositive),
    field("execution.exp2", &T::execution, &Execution::exp2PerClock, "op/clk",
          "exponentials of a unit", kPositive),
    field("execution.wave_issue", &T::execution, &Execution::waveIssueClocks,
          "clk",
          "between instructions of a wave that is alone on its scheduler",
          kOptional),
    field("execution.exp2_stalls_matrix", &T::execution,
          &Execution::exp2StallsMatrix, "",
          "part of its exponentials that a unit does not multiply beside",
          kOptional),
    field("execution.convert", &T::execution, &Execution::convertPerClock,
          "op/clk", "narrowing float conversions of a unit", kPositive),

    field("clock.boost", &T::clock, &Clock::boostHz, "Hz",
          "clock that the peak rates assume", kPositive),
    field("clock.sustained", &T::clock, &Clock::sustainedHz, "Hz",
          "clock measured under matrix load of a type", kOptional),

    field("shared.bytes_per_unit", &T::shared, &SharedMemory::bytesPerUnit, "B",
          "shared memory of a unit", kPositive),
    field("shared.max_bytes_per_workgroup", &T::shared,
          &SharedMemory::maxBytesPerWorkgroup, "B",
          "shared memory that one workgroup can have", kPositive),
    field("shared.reserved_bytes_per_workgroup", &T::shared,
          &SharedMemory::reservedBytesPerWorkgroup, "B",
          "shared memory that the system takes for each workgroup"),
    field("shared.rate", &T::shared, &SharedMemory::bytesPerClock, "B/clk",
          "shared memory bandwidth of a unit", kPositive),
    field("shared.banks", &T::shared, &SharedMemory::banks, "",
          "banks of shared memory", kPositive),
    field("shared.bank_bytes", &T::shared, &SharedMemory::bankBytes, "B",
          "width of a bank", kPositive),
    field("shared.latency", &T::shared, &SharedMemory::latencyClocks, "clk",
          "latency of a read"),
    field("shared.transposed_read_bits", &T::shared,
          &SharedMemory::transposedReadBits, "",
          "element widths that a read can transpose"),
    field("shared.transposed_read_lanes", &T::shared,
          &SharedMemory::transposedReadLanes, "",
          "lanes that own as many neighbours then, absent = any do", kOptional),

    field("tensor_memory.columns", &T::tensorMemory, &TensorMemory::columns, "",
          "columns of 4 bytes of accumulator memory, 0 for none"),
    field("tensor_memory.lanes", &T::tensorMemory, &TensorMemory::lanes, "",
          "rows of accumulator memory"),
    field("tensor_memory.column_granule", &T::tensorMemory,
          &TensorMemory::columnGranule, "", "least columns of an allocation"),
    field("tensor_memory.read_rate", &T::tensorMemory,
          &TensorMemory::readBytesPerClock, "B/clk",
          "accumulator memory to registers, of a unit"),

    field("copy.async_to_shared", &T::copy, &Copy::asyncToShared, "",
          "global to shared memory without registers"),
    field("copy.bytes_per_lane", &T::copy, &Copy::bytesPerLane, "B",
          "widest asynchronous copy of one lane"),
    field("copy.lane_contiguous", &T::copy, &Copy::laneContiguous, "",
          "the bytes of a wave land one lane after the other"),
    field("copy.max_pending", &T::copy, &Copy::maxPending, "",
          "copies of a wave in flight that can be counted"),
    field("copy.boxes", &T::copy, &Copy::boxes, "",
          "one thread copies a box of a tensor"),
    field("copy.box_swizzle_bytes", &T::copy, &Copy::boxSwizzleBytes, "B",
          "row widths for which a box swizzle exists"),
    field("copy.multicast", &T::copy, &Copy::multicast, "",
          "a box can land in all workgroups of a cluster"),
    field("copy.shared_to_tensor", &T::copy, &Copy::sharedToTensor, "",
          "copies from shared to accumulator memory"),
    field("copy.completion", &T::copy, &Copy::completion, "",
          "how arrival is known: counted or barrier"),

    field("memory.capacity", &T::memory, &Memory::capacityBytes, "B",
          "usable device memory", kPositive),
    field("memory.bandwidth", &T::memory, &Memory::bandwidth, "B/s",
          "peak rate of device memory", kPositive),
    field("memory.latency", &T::memory, &Memory::latencyClocks, "clk",
          "latency of a read from device memory"),

    field("cache.l2", &T::cache, &Cache::l2Bytes, "B", "L2 of the GPU",
          kPositive),
    field("cache.l2_bandwidth", &T::cache, &Cache::l2Bandwidth, "B/s",
          "L2 bandwidth of all units", kPositive),
    field("cache.unit_rate", &T::cache, &Cache::unitBytesPerClock, "B/clk",
          "what one unit takes in at most and lanes that copy wait for, absent "
          "= its share of cache.l2_bandwidth",
          kOptional),
    field("cache.l2_latency", &T::cache, &Cache::l2LatencyClocks, "clk",
          "latency of an L2 hit"),
    field("cache.line", &T::cache, &Cache::lineBytes, "B", "line of the L2",
          kPositive),
    field("cache.sector", &T::cache, &Cache::sectorBytes, "B",
          "part of a line that an access moves at least", kOptional),
    field("cache.llc", &T::cache, &Cache::llcBytes, "B",
          "cache between L2 and memory, 0 B for none"),
    field("cache.llc_bandwidth", &T::cache, &Cache::llcBandwidth, "B/s",
          "rate of that cache", kOptional),
    field("cache.llc_latency", &T::cache, &Cache::llcLatencyClocks, "clk",
          "latency of a hit in that cache", kOptional),

    field("link.kind", &T::link, &Link::kind, "", "fabric"),
    field("link.domain", &T::link, &Link::domain, "",
          "GPUs that reach each other", kPositive),
    field("link.bandwidth", &T::link, &Link::bandwidth, "B/s",
          "of one GPU to all peers, one direction", kPositive),
    field("link.pair_bandwidth", &T::link, &Link::pairBandwidth, "B/s",
          "of one GPU to one peer, one direction", kPositive),
    field("link.library_latency", &T::link, &Link::libraryLatency, "s",
          "a small call of the vendor's communication library on 8 GPUs of a "
          "domain"),
    field("link.library_pair_latency", &T::link, &Link::pairLatency, "s",
          "the same on two", kOptional),
    field("link.library_pipeline", &T::link, &Link::libraryPipelineBytes, "B",
          "that a device has under way in its slots, absent = next to none",
          kOptional),
    field("link.library_copy", &T::link, &Link::libraryCopy, "B/s",
          "of its own slice, which a device moves beside what it sends, absent "
          "= in no time",
          kOptional),
    field("link.message_latency", &T::link, &Link::messageLatency, "s",
          "a small write to a peer until it is seen"),
    field("link.engines_pull", &T::link, &Link::enginesPull, "",
          "to add in two steps more than two devices of an engine read from "
          "each other, absent = they write, as ours",
          kOptional),
    field("link.network_bandwidth", &T::link, &Link::networkBandwidth, "B/s",
          "of one GPU beyond the domain, one direction"),
    field("link.network_latency", &T::link, &Link::networkLatency, "s",
          "a small write beyond the domain"),

    field("launch.starts_early", &T::launch, &Launch::startsEarly, "",
          "a kernel may start before the one before it has ended, for which it "
          "waits by itself",
          kOptional),
    field("launch.gap", &T::launch, &Launch::gap, "s",
          "kernel to kernel inside a graph"),
    field("launch.reads_arguments", &T::launch, &Launch::readsArguments, "",
          "a kernel waits for its arguments from memory first; the gap is of "
          "kernels without any; absent = no",
          kOptional),
    field(
        "launch.workgroup", &T::launch, &Launch::workgroup, "s",
        "from the end of a workgroup to the first load of the next one in its "
        "place; absent = no time",
        kOptional),
    field("launch.engine_gap", &T::launch, &Launch::engineGap, "s",
          "the same of engines' kernels, which measurements are of", kOptional),
    field("launch.engine_rounding", &T::launch, &Launch::engineRounding, "clk",
          "of a unit for a number that engines round to 8 bits, absent = as "
          "ours",
          kOptional),
    field(
        "launch.library_gap", &T::launch, &Launch::libraryGap, "s",
        "the same of two kernels of the vendor's library, the second of which "
        "starts early",
        kOptional),
    field("launch.ramp", &T::launch, &Launch::ramp, "s",
          "time constant with which memory comes to its full rate"),
    field("launch.host", &T::launch, &Launch::hostLaunch, "s",
          "one launch from the host"),
    field("launch.graph_replay", &T::launch, &Launch::graphReplay, "s",
          "fixed cost of starting a graph"),

    field("power.tdp", &T::power, &Power::tdp, "W", "board power limit",
          kPositive),
    field("power.idle", &T::power, &Power::idle, "W",
          "board power with clocks up and no work"),
    field("power.clock_exponent", &T::power, &Power::clockExponent, "",
          "joules of work on the chip go with clock ^ this, absent = none",
          kOptional),
    field("power.at_clock", &T::power, &Power::atClockHz, "Hz",
          "clock that joules of work on the chip hold at, absent = boost",
          kOptional),
    field("power.per_flop", &T::power, &Power::perFlop, "J/flop",
          "matrix operations of a type, operands and result included"),
    field("power.per_vector_flop", &T::power, &Power::perVectorFlop, "J/flop",
          "vector fp32 operations"),
    field("power.per_byte_memory", &T::power, &Power::perByteMemory, "J/B",
          "device memory, whole path"),
    field("power.per_byte_l2", &T::power, &Power::perByteL2, "J/B",
          "L2 to a unit"),
    field("power.per_byte_shared", &T::power, &Power::perByteShared, "J/B",
          "shared memory"),
    field("power.per_byte_link", &T::power, &Power::perByteLink, "J/B",
          "scale-up link"),
    field("power.host_per_gpu", &T::power, &Power::hostPerGpu, "W",
          "host, network and fans for each GPU"),
    field("power.pue", &T::power, &Power::pue, "",
          "power at the wall over power of the machines", kPositive),

    field("price.per_hour", &T::price, &Price::perHour, "$/h",
          "one GPU for an hour, by basis"),
    field("price.date", &T::price, &Price::date, "",
          "when the prices were read"),

    field("efficiency.matrix", &T::efficiency, &Efficiency::matrix, "",
          "best library on large squares over peak, by type", kFraction),
    field("efficiency.read", &T::efficiency, &Efficiency::read, "",
          "of memory bandwidth, reading more than 1 GB", kFraction),
    field("efficiency.copy", &T::efficiency, &Efficiency::copy, "",
          "of memory bandwidth, reading and writing", kFraction),
    field("efficiency.attention", &T::efficiency, &Efficiency::attention, "",
          "of memory bandwidth, decode attention", kFraction),
    field("efficiency.link", &T::efficiency, &Efficiency::link, "",
          "of link bandwidth, large writes to peers", kFraction),
    field("efficiency.library", &T::efficiency, &Efficiency::library, "",
          "of link bandwidth, large calls of the communication library",
          kFraction),
    field("efficiency.switches", &T::efficiency, &Efficiency::switches, "",
          "of what large calls reach, where switches add; absent = none do",
          kOptional),
};

static const std::vector<Field<MmaRow>> kMmaFields = {
    field("name", &MmaRow::name, "", "of the function in the prelude"),
    field("mnemonic", &MmaRow::mnemonic, "", "in the machine code"),
    field("plain_mnemonic", &MmaRow::plainMnemonic, "",
          "in its place where scales are constants", kOptional),
    field("m", &MmaRow::m, "", "rows of A and C", kPositive),
    field("n", &MmaRow::n, "", "rows of B, columns of C", kOptional),
    field("n_min", &MmaRow::nMin, "", "smallest n", kOptional),
    field("n_max", &MmaRow::nMax, "", "largest n", kOptional),
    field("n_step", &MmaRow::nStep, "", "step of n", kOptional),
    field("k", &MmaRow::k, "", "columns of A and B", kPositive),
    field("a", &MmaRow::aType, "", "element type of A"),
    field("b", &MmaRow::bType, "", "element type of B"),
    field("c", &MmaRow::cType, "", "element type of the accumulator"),
    field("compute", &MmaRow::computeType, "",
          "type that the machine code converts A and B to before; absent = it "
          "multiplies them as they are",
          kOptional),
    field("scale_block", &MmaRow::scaleBlock, "",
          "elements along k for each scale, absent = unscaled", kOptional),
    field("scale", &MmaRow::scaleType, "", "element type of a scale",
          kOptional),
    field("scale_space", &MmaRow::scaleSpace, "",
          "where scales lie, absent = registers", kOptional),
    field("workgroups", &MmaRow::workgroups, "",
          "of a cluster that multiply together, m and rate of each; absent = 1",
          kOptional),
    field("scope", &MmaRow::scope, "", "who issues it: wave, group4 or single"),
    field("a_space", &MmaRow::aSpace, "", "where A lies"),
    field("b_space", &MmaRow::bSpace, "", "where B lies"),
    field("b_transposed", &MmaRow::bTransposed, "",
          "whether B may also lie as K x N there; absent = no", kOptional),
    field("c_space", &MmaRow::cSpace, "", "where the accumulator lies"),
    field("rate", &MmaRow::flopPerClock, "flop/clk",
          "of one unit with all its matrix pipes busy", kPositive),
    field("latency", &MmaRow::latencyClocks, "clk",
          "until the result can be an operand"),
    field("per_flop", &MmaRow::joulesPerFlop, "J/flop",
          "of an operation; absent = as power.per_flop of its type", kOptional),
    field("a_layout", &MmaRow::aLayout, "",
          "bits of register and lane to (m, k)", kOptional),
    field("b_layout", &MmaRow::bLayout, "",
          "bits of register and lane to (n, k)", kOptional),
    field("c_layout", &MmaRow::cLayout, "",
          "bits of register and lane to (m, n)", kOptional),
    field("a_scale_layout", &MmaRow::aScaleLayout, "",
          "bits of register and lane to (m, block of k)", kOptional),
    field("b_scale_layout", &MmaRow::bScaleLayout, "",
          "bits of register and lane to (n, block of k)", kOptional),
};

static const std::vector<Field<SharedAccess>> kAccessFields = {
    field("kind", &SharedAccess::kind, "", "read or write"),
    field("bytes", &SharedAccess::bytes, "B", "that one lane moves", kPositive),
    field("banks", &SharedAccess::banks, "", "that this access sees",
          kPositive),
    field("phase_of_lane_bit", &SharedAccess::phaseOfLaneBit, "",
          "image of each bit of the lane number in the number of its phase"),
};

const std::vector<Field<Target>> &targetFields() { return kTargetFields; }
const std::vector<Field<MmaRow>> &mmaFields() { return kMmaFields; }
const std::vector<Field<SharedAccess>> &accessFields() { return kAccessFields; }

} // namespace modelc
