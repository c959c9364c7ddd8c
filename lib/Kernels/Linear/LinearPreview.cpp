#include "lib/Kernels/Linear/LinearPreview.h"
#include "lib/Cost/Cost.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

/// Bytes of the sums that wait to be added.
double LinearPreview::partBytes(const LinearTile &tile) const {
  return rows * static_cast<double>(shape.weightRows() * tile.splits) * 4;
}

/// Clocks that device memory takes.
double LinearPreview::memoryClocks(double read, double written) const {
  const Efficiency &reached = target.efficiency;
  double seconds = (read / reached.read + written / reached.write()) /
                   target.memory.bandwidth;
  return seconds * clockHz;
}

/// One workgroup: clocks of a unit that holds it alone, for each trip along the
/// sum where nothing else is said.
struct LinearPreview::Workgroup {
  double count = 0; ///< of the grid
  double trips = 0;
  double aBytes = 0, bBytes = 0; ///< of one trip
  double placed = 0;             ///< of those, what shared memory holds
  double groupRows = 1;          ///< rows of tiles that those of a chiplet span
  double rowsOfExpert = 1;       ///< rows of tiles that read one matrix
  int64_t slots = 2;
  double matrix = 0, shared = 0, l2 = 0;
  double joules = 0;        ///< of the products of a trip
  double matrixSharing = 1; ///< how much longer where few waves fill the pipes
  double chain = 0;         ///< of reads, where waves wait for each other
  double turn = 0;          ///< of the products that those wait for
  bool copiesFirst = false; ///< they copy before, not in between
  double copied = 0; ///< of the L2 port, where lanes wait at their copies
  double loaded = 0; ///< of what is loaded in the trip before
  double scaled = 0; ///< vector operations that scale products and add them
  double stored = 0; ///< at the L2 port, once
  double memory = 0, memoryAtEnd = 0; ///< of each trip, and once
  double end = 0;                     ///< latencies after the last trip
};

/// Bytes of a number, with its scale where that comes as the numbers do.
static double bytesOf(Type number, const LinearShape &shape) {
  double bytes = number.getIntOrFloatBitWidth() / 8.0;
  return shape.blockScales.order.empty()
             ? bytes
             : bytes + 1.0 / static_cast<double>(shape.blockScales.block);
}

LinearPreview::LinearPreview(const Target &target, const LinearShape &shape,
                             int64_t rows)
    : target(target), shape(shape), rows(static_cast<double>(rows)),
      products(shape.isSwiglu ? 2 : 1),
      inputBytes(bytesOf(shape.element, shape)),
      weightBytes(bytesOf(shape.weightElement(), shape)),
      clockHz(target.clock.boostHz) {
  std::string type;
  llvm::raw_string_ostream(type) << shape.element;
  auto valueOf = [&](const ByType &table, double otherwise) {
    auto found = table.find(type);
    return found == table.end() ? otherwise : found->second;
  };
  matrixSlowdown =
      std::max(1.0, target.sustainedHz(type) /
                        (clockHz * valueOf(target.efficiency.matrix, 1)));
  joulesPerFlop = valueOf(target.power.perFlop, target.power.perVectorFlop);
  results = this->rows * static_cast<double>(shape.columns) *
            shape.result.getIntOrFloatBitWidth() / 8.0;
  if (shape.isOfExperts()) {
    std::string why;
    experts = *evaluateExpression(shape.expertsHit(), {{"m", this->rows}}, why);
  }
  operands = (static_cast<double>(shape.weightRows()) * experts * weightBytes +
              this->rows * inputBytes) *
             static_cast<double>(shape.inputs);
}

/// Bytes of both operands that waves read for one trip, shared among them as a
/// grid that reads least; operands of wider scope are read by each product, and
/// groups of waves read the columns again for each of an instruction's rows. A
/// weight in registers is each wave's own.
static double operandBytes(const LinearShape &shape, const LinearTile &tile,
                           const MmaRow &row, double aBytes, double bBytes) {
  if (row.scope != MmaScope::Wave) {
    auto reads = [&](ArrayRef<int64_t> parts, bool areRows) {
      int64_t count = 0;
      for (int64_t part : parts) {
        count += areRows ? row.readsOfB(part) : 1;
      }
      return static_cast<double>(count);
    };
    double products = shape.isSwiglu ? 2 : 1;
    return aBytes * reads(tile.columnParts(shape), tile.isSwapped) * products +
           bBytes * reads(tile.rowParts(), !tile.isSwapped);
  }
  int64_t m = tile.rowParts().front() / row.m;
  int64_t n = tile.columnParts(shape).front() / row.n;
  bool taken = tile.hasPieces() && tile.groups > 1;
  int64_t waves = taken ? tile.waves / 2 : tile.waves;
  if (tile.weightsAhead) {
    return aBytes * static_cast<double>(std::min(waves, n));
  }
  std::pair<int64_t, double> best = {0, 0};
  for (int64_t gridM = 1; gridM <= std::min(waves, m); gridM *= 2) {
    int64_t gridN = std::min(waves / gridM, n);
    double bytes = aBytes * static_cast<double>(gridN) +
                   bBytes * static_cast<double>(gridM);
    best = std::max(best, {gridM * gridN, -bytes});
  }
  return -best.second;
}

/// Clocks of the units for one trip, and of the chain of waits through it.
void LinearPreview::addTrip(Workgroup &one, const LinearTile &tile,
                            const MmaRow &row) const {
  double flop = 2.0 * static_cast<double>(tile.m * tile.n * tile.k) * products;
  double bytes = one.aBytes + one.bBytes;
  double asked = operandBytes(shape, tile, row, one.aBytes, one.bBytes);
  double port = target.shared.bytesPerClock;
  double latency = target.shared.latencyClocks;
  one.joules =
      flop * (row.joulesPerFlop > 0 ? row.joulesPerFlop : joulesPerFlop);
  one.matrix = flop * matrixSlowdown / row.flopPerClock;
  one.shared = (asked + (target.copy.boxes ? 0 : one.placed)) / port;
  one.l2 = bytes / target.portBytesPerClock(clockHz);
  if (row.scope == MmaScope::Wave) {
    auto pipes = static_cast<double>(target.execution.matrixPipesPerUnit);
    one.matrixSharing = pipes / static_cast<double>(tile.waves);
    // A rendezvous, the reads of both operands side by side, and the products.
    one.chain = 2 * latency + asked / 2 / port;
    one.turn = one.matrix * std::max(1.0, one.matrixSharing);
    one.copied = target.cache.unitBytesPerClock > 0 ? one.l2 : 0;
  }
  if (shape.blockScales.isByKernel()) {
    return addScaling(one, tile, row);
  }
  if (tile.hasPieces()) {
    // One rendezvous a trip, where reads for the next product lie under this
    // one; or each product of each group stands between two.
    auto pieces = static_cast<double>(tile.piecesM * tile.piecesN);
    one.chain = (tile.groups == 1 ? 1 : 2 * pieces * products) * latency;
    one.copied = 0;
    // Scales are loaded in the trip before.
    one.loaded = shape.blockScales ? target.memory.latencyClocks + latency : 0;
  }
}

/// A product is done before it is read, scaled and added.
void LinearPreview::addScaling(Workgroup &one, const LinearTile &tile,
                               const MmaRow &row) const {
  double sums = static_cast<double>(tile.m * tile.n) * products;
  one.scaled = 2 * sums / target.execution.fp32FlopPerClock;
  double read = row.cSpace == OperandSpace::Tensor
                    ? 4 * sums / target.tensorMemory.readBytesPerClock
                    : 0;
  double last = row.scope == MmaScope::Wave ? row.latencyClocks
                                            : one.matrix + row.latencyClocks;
  one.chain += last + read + one.scaled;
}

/// What goes to device memory, and what follows the last trip.
void LinearPreview::addMemory(Workgroup &one, const LinearTile &tile) const {
  bool isWhole = tile.splits == 1;
  double residual = isWhole && shape.hasResidual ? results : 0;
  double written = isWhole ? results : partBytes(tile);
  one.memory = memoryClocks(operands, 0) / one.count / one.trips;
  one.memoryAtEnd = memoryClocks(residual, written) / one.count;
  double width =
      isWhole ? shape.result.getIntOrFloatBitWidth() / 8.0 : 4 * products;
  one.stored = static_cast<double>(tile.m * tile.n) * width /
               target.portBytesPerClock(clockHz);
  one.end = target.shared.latencyClocks +
            (residual > 0 ? target.memory.latencyClocks : 0);
}

LinearPreview::Workgroup LinearPreview::describe(const LinearTile &tile,
                                                 const MmaRow &row) const {
  auto m = static_cast<double>(tile.m), n = static_cast<double>(tile.n);
  auto k = static_cast<double>(tile.k);
  Workgroup one;
  auto tilesOf = [](double extent, double size, int64_t ofNeighbours) {
    auto together = static_cast<double>(ofNeighbours);
    return std::ceil(extent / together) * together / size;
  };
  double tileRows = tilesOf(rows, m, tile.rowsOfNeighbours());
  one.count = tileRows * static_cast<double>(tile.splits) *
              tilesOf(static_cast<double>(shape.columns), n,
                      tile.columnsOfNeighbours());
  one.trips = static_cast<double>(
      llvm::divideCeil(llvm::divideCeil(shape.inputs, tile.k), tile.splits));
  one.aBytes = m * k * inputBytes;
  one.bBytes = products * n * k * weightBytes;
  (tile.isSwapped ? one.aBytes : one.bBytes) /=
      static_cast<double>(tile.cluster);
  one.placed = one.aBytes + (tile.weightsAhead ? 0 : one.bBytes);
  auto slotBytes = static_cast<int64_t>(one.placed);
  int64_t most = target.shared.maxBytesPerWorkgroup;
  // Where products are added by waves, lanes copy.
  bool areBoxes = target.copy.boxes && row.scope != MmaScope::Wave &&
                  !shape.blockScales.isByKernel();
  one.slots = tile.slots ? std::min(tile.slots, most / slotBytes)
                         : target.ringSlots(slotBytes, most, areBoxes);
  auto ordered = static_cast<double>(target.tileRowsOfChiplet(tile.groupRows));
  one.groupRows = std::min(tileRows, ordered);
  one.rowsOfExpert = tileRows / experts;
  one.copiesFirst = tile.copiesFirst;
  addTrip(one, tile, row);
  addMemory(one, tile);
  return one;
}

double LinearPreview::workgroupsPerUnit(const LinearTile &tile,
                                        const MmaRow &row,
                                        const Workgroup &one) const {
  const Execution &execution = target.execution;
  int64_t allowed = tile.workgroupsOfUnit ? tile.workgroupsOfUnit
                                          : execution.maxWorkgroupsPerUnit;
  double most = static_cast<double>(
      std::min(allowed, execution.maxWavesPerUnit / tile.waves));
  double bytes = one.placed * static_cast<double>(one.slots) +
                 static_cast<double>(target.shared.reservedBytesPerWorkgroup);
  most = std::min(
      most,
      std::floor(static_cast<double>(target.shared.bytesPerUnit) / bytes));
  double sums = static_cast<double>(tile.m * tile.n) * products;
  double threads = static_cast<double>(tile.waves * execution.waveSize);
  if (row.cSpace == OperandSpace::Tensor) {
    double rowsOfSums = static_cast<double>(row.m);
    most = std::min(
        most, std::floor(static_cast<double>(target.tensorMemory.columns) *
                         rowsOfSums / sums));
  }
  bool addsProducts = shape.blockScales.isByKernel();
  if (row.cSpace != OperandSpace::Tensor || addsProducts) {
    bool loadsScales = shape.blockScales && tile.hasPieces();
    double registers =
        (addsProducts ? 2 : 1) * sums / threads +
        (loadsScales && tile.groups == 1 ? schedule::kAddressRegistersOfLoads
                                         : schedule::kAddressRegisters);
    double held =
        2 * one.placed +
        one.bBytes *
            static_cast<double>(tile.weightsAhead ? tile.weightsAhead + 1 : 0);
    double fragments = row.scope == MmaScope::Wave ? held / 4 / threads : 0;
    double epilogue = shape.hasResidual ? sums / threads / 2 : 0;
    registers += std::max(fragments, epilogue);
    registers = std::min(registers,
                         static_cast<double>(execution.maxRegistersPerThread));
    most = std::min(
        most, std::floor(static_cast<double>(execution.registerBytesPerUnit) /
                         (4 * registers * threads)));
  }
  return std::max(1.0, most);
}

/// Of one trip of all workgroups at L2 and the cache behind it: what those of a
/// chiplet share comes once to that.
double LinearPreview::cacheClocks(const Workgroup &one,
                                  const Load &load) const {
  double l2 =
      load.active * (one.aBytes + one.bBytes) / target.cache.l2Bandwidth;
  if (target.cache.llcBandwidth <= 0) {
    return l2 * clockHz;
  }
  auto chiplets = static_cast<double>(target.execution.chiplets);
  double columns = std::ceil(load.active / chiplets / one.groupRows);
  double weights = std::max(1.0, one.groupRows / one.rowsOfExpert);
  double bytes =
      chiplets * (one.groupRows * one.aBytes + columns * weights * one.bBytes);
  return std::max(l2, bytes / target.cache.llcBandwidth) * clockHz;
}

/// The board's power allows as many joules a second: seconds of work that takes
/// `seconds` at the boost clock, as far as chip and memory are not one.
double LinearPreview::powerSeconds(Workgroup one, double seconds,
                                   double perUnit) const {
  const Power &power = target.power;
  double joules =
      one.joules +
      one.shared * target.shared.bytesPerClock * power.perByteShared +
      (one.aBytes + one.bBytes) * power.perByteL2;
  joules *= one.count * one.trips * target.joulesOver(clockHz);
  joules += (operands + results) * power.perByteMemory;
  double least = joules / (power.tdp - power.idle);
  if (least <= seconds) {
    return seconds;
  }
  // Memory keeps its clock, and the chip lowers its own.
  one.memory = one.memoryAtEnd = 0;
  double onChip = gridClocks(one, perUnit) / clockHz;
  double part = std::max(1.0, least / onChip);
  onChip *= std::pow(part, 1 / (1 + power.clockExponent));
  return std::max(seconds, onChip);
}

double LinearPreview::tripClocks(const Workgroup &one, const Load &load) const {
  double matrix = one.matrix * std::max(load.perUnit, one.matrixSharing);
  double inFlight = (target.memory.latencyClocks + one.l2) /
                    static_cast<double>(std::max<int64_t>(one.slots - 1, 1));
  // Other workgroups' copies stand before one's own.
  double copied = load.perUnit * one.copied;
  double chain = one.chain + (one.copiesFirst ? one.turn + copied
                                              : std::max(one.turn, copied));
  return std::max({matrix, load.perUnit * one.shared, load.perUnit * one.l2,
                   cacheClocks(one, load),
                   queuedClocks(load.active * one.memory, inFlight),
                   load.perUnit * one.scaled, one.loaded, chain});
}

double LinearPreview::roundClocks(const Workgroup &one,
                                  const Load &load) const {
  return target.memory.latencyClocks + one.l2 +
         one.trips * tripClocks(one, load) +
         std::max(load.perUnit * one.stored, load.active * one.memoryAtEnd) +
         one.end;
}

/// The kernel that adds the parts: they are in the cache still, and are asked
/// for at once.
double LinearPreview::addingSeconds(const LinearTile &tile) const {
  return target.startSeconds() + partBytes(tile) / target.cache.l2Bandwidth +
         2 * target.memory.latencyClocks / clockHz;
}

/// The kernel that quantises d, where no parts are added: all of it lies in the
/// cache.
double LinearPreview::quantisingSeconds() const {
  return shape.quantise
             ? target.startSeconds() + 2 * target.memory.latencyClocks / clockHz
             : 0;
}

/// Bytes of the weight that the tile's workgroups ask for early.
double LinearPreview::earlyBytes(const LinearTile &tile) const {
  int64_t together = schedule::packedNumbers(packedType(shape.weightElement()));
  return static_cast<double>(shape.weightRows() * tile.splits * tile.early *
                             together) *
         weightBytes;
}

double LinearPreview::seconds(const LinearTile &tile, const MmaRow &row) const {
  Workgroup one = describe(tile, row);
  double late = seconds(one, tile, row);
  if (tile.early == 0) {
    return late;
  }
  // Some follow a kernel that leaves memory idle, some one that does not.
  one.memory *= 1 - earlyBytes(tile) / operands;
  return (late + seconds(one, tile, row)) / 2;
}

/// Of all rounds.
double LinearPreview::gridClocks(const Workgroup &one, double perUnit) const {
  auto units = static_cast<double>(target.execution.units);
  double atOnce = units * perUnit;
  double rounds = std::floor(one.count / atOnce);
  double rest = one.count - rounds * atOnce;
  double clocks = 0, first = 0, firstActive = rest;
  if (rounds > 0) {
    first = roundClocks(one, {perUnit, atOnce});
    firstActive = atOnce;
    clocks += rounds * first;
  }
  if (rest > 0) {
    double last = roundClocks(one, {std::ceil(rest / units), rest});
    first = rounds > 0 ? first : last;
    clocks += last;
  }
  // Memory takes a while until it runs at its full rate.
  double ofOne = one.trips * one.memory + one.memoryAtEnd;
  double streamed = firstActive * ofOne +
                    lagClocks(one.count * ofOne, target.launch.ramp * clockHz);
  return clocks + std::max(0.0, streamed - first);
}

double LinearPreview::seconds(const Workgroup &one, const LinearTile &tile,
                              const MmaRow &row) const {
  double perUnit = workgroupsPerUnit(tile, row, one);
  double seconds = gridClocks(one, perUnit) / clockHz;
  return target.startSeconds() + powerSeconds(one, seconds, perUnit) +
         (tile.splits > 1 ? addingSeconds(tile) : quantisingSeconds());
}

double LinearPreview::memorySeconds(const LinearTile &tile) const {
  double clocks = memoryClocks(operands - earlyBytes(tile) / 2, results);
  double lag = lagClocks(clocks, target.launch.ramp * clockHz);
  return target.startSeconds() + (clocks + lag) / clockHz;
}
