//===- Traffic.cpp - Bytes that move below L2 -----------------------------===//
//
// Workgroups that run at once and touch the same bytes share them in L2: a
// round of the grid reads each byte that it touches once (once for each chiplet
// from the cache behind L2). Which workgroups those are follows from the order
// of the grid. Later rounds read it again, unless it fits into the last cache
// beside what one round streams through. What a workgroup reads a second time
// is still there if a cache holds what the round has read.
//
// Example: 8 x 8 tiles of a product, 16 units. In plain order a round is 2 rows
// of 8 tiles: 2 panels of A and 8 of B. With `order = [1, 4]` it is 4 rows of 4
// tiles: 4 panels of A and 4 of B.
//
//===----------------------------------------------------------------------===//

#include "lib/Cost/Time/Traffic.h"
#include "dialects/Schedule/Schedule.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <set>

namespace modelc {

double KernelWork::workgroups() const {
  double product = 1;
  for (double extent : grid) {
    product *= extent;
  }
  return product;
}

namespace {
/// Something of a unit that workgroups share.
struct Share {
  llvm::StringRef fact;
  double available, each; // each: of a workgroup
};
} // namespace

/// All but tensor memory, which a workgroup takes when it runs already.
static llvm::SmallVector<Share, 5> sharesOf(const KernelWork &work,
                                            const Target &target) {
  const Execution &execution = target.execution;
  double shared =
      work.sharedBytes > 0
          ? double(work.sharedBytes + target.shared.reservedBytesPerWorkgroup)
          : 0.0;
  int64_t most = work.mostOfUnit
                     ? std::min(work.mostOfUnit, execution.maxWorkgroupsPerUnit)
                     : execution.maxWorkgroupsPerUnit;
  return {{"execution.max_workgroups_per_unit", double(most), 1},
          {"execution.max_waves_per_unit", double(execution.maxWavesPerUnit),
           double(work.waves)},
          {"shared.bytes_per_unit", double(target.shared.bytesPerUnit), shared},
          {"execution.register_bytes_per_unit",
           double(execution.registerBytesPerUnit),
           4.0 * work.registersPerThread * work.waves * execution.waveSize}};
}

double workgroupsPerUnit(const KernelWork &work, const Target &target,
                         llvm::StringRef &limit) {
  llvm::SmallVector<Share, 5> shares = sharesOf(work, target);
  shares.push_back({"tensor_memory.columns",
                    double(target.tensorMemory.columns),
                    double(work.tensorColumns)});
  double most = INFINITY;
  for (const Share &share : shares) {
    double own = std::floor(share.available / share.each);
    if (share.each > 0 && own < most) {
      most = own;
      limit = share.fact;
    }
  }
  return std::max(1.0, most);
}

double workgroupsBeside(const KernelWork &work, const Target &target,
                        const KernelWork &other, double count) {
  double most = INFINITY;
  for (auto [own, taken] :
       llvm::zip_equal(sharesOf(work, target), sharesOf(other, target))) {
    if (own.each > 0) {
      double left = own.available - count * taken.each;
      most = std::min(most, std::floor(std::max(0.0, left) / own.each));
    }
  }
  return most;
}

static int64_t classOf(const GridUse &use, int64_t index) {
  return index < int64_t(use.classes.size()) ? use.classes[index] : index;
}

/// Different addresses along one index of the grid.
static int64_t classesOf(const GridUse &use, int64_t extent) {
  if (use.classes.empty()) {
    return extent;
  }
  // Classes are numbered from 0 on, the others are their own.
  int64_t known = use.classes.size();
  llvm::BitVector seen(known);
  for (uint32_t own : llvm::ArrayRef(use.classes).take_front(extent)) {
    seen.set(own);
  }
  return seen.count() + std::max<int64_t>(0, extent - known);
}

namespace {
/// Addresses of a grid that are told apart by a bit each, at most.
constexpr double kMostNumbers = 1 << 24;

/// The workgroups that run at once.
class Round {
public:
  Round(const KernelWork &work, int64_t count)
      : work(work), extents(work.grid.begin(), work.grid.end()), count(count) {}
  /// Different addresses of each access among every `stride`-th workgroup.
  std::vector<double> uniqueAddresses(int64_t stride) const {
    // All of the grid meets each combination of its indices.
    bool isWhole =
        stride == 1 && count > 0 && double(count) == work.workgroups();
    Tiles tiles = isWhole ? Tiles() : tilesOf(stride);
    std::vector<double> unique;
    for (const Access &access : work.accesses) {
      size_t alike =
          std::distance(work.accesses.begin(),
                        llvm::find_if(work.accesses, [&](const Access &other) {
                          return other.uses == access.uses;
                        }));
      unique.push_back(alike < unique.size() ? unique[alike]
                       : isWhole             ? countWhole(access)
                                             : countAmong(tiles, access));
    }
    return unique;
  }

private:
  /// The indices of each.
  using Tiles = std::vector<llvm::SmallVector<int64_t, 4>>;
  Tiles tilesOf(int64_t stride) const {
    schedule::GridOrder order({work.orderChiplets, work.orderRows});
    Tiles tiles;
    tiles.reserve(count / stride + 1);
    for (int64_t launched = 0; launched < count; launched += stride) {
      order.indicesOf(launched, extents, tiles.emplace_back());
    }
    return tiles;
  }
  /// Of what is different along all indices, and along those that walk what no
  /// neighbour has: the first, but for the part that is not fresh.
  template <typename Different>
  static double countBy(const Access &access, Different different) {
    double all = different(/*least=*/0), fresh = 1;
    for (const GridUse &use : access.uses) {
      fresh = std::min(fresh, use.fresh);
    }
    double apart = fresh < 1 ? different(/*least=*/1) : all;
    return apart + (all - apart) * fresh;
  }
  double countWhole(const Access &access) const {
    return countBy(access, [&](double least) {
      double numbers = 1;
      for (auto [use, extent] : llvm::zip(access.uses, extents)) {
        bool differs = use.depends && use.fresh >= least;
        numbers *= differs ? double(classesOf(use, extent)) : 1;
      }
      return numbers;
    });
  }
  double countAmong(const Tiles &tiles, const Access &access) const {
    return countBy(
        access, [&](double least) { return different(tiles, access, least); });
  }
  /// Along indices of which at least such a part is fresh.
  double different(const Tiles &tiles, const Access &access,
                   double least) const {
    // An address as a number whose digits are its classes along the grid.
    llvm::SmallVector<std::pair<unsigned, int64_t>, 4> digits;
    double numbers = 1;
    for (auto [dimension, use] : llvm::enumerate(access.uses)) {
      if (use.depends && use.fresh >= least) {
        digits.push_back({dimension, extents[dimension]});
        numbers *= double(digits.back().second);
      }
    }
    if (numbers > kMostNumbers) {
      return differentOfMany(tiles, access, digits);
    }
    llvm::BitVector seen(static_cast<unsigned>(numbers));
    for (const auto &tile : tiles) {
      int64_t number = 0;
      for (auto [dimension, size] : digits) {
        number =
            number * size + classOf(access.uses[dimension], tile[dimension]);
      }
      seen.set(number);
    }
    return seen.count();
  }
  /// The same where the grid is so large that its addresses have no number.
  static double
  differentOfMany(const Tiles &tiles, const Access &access,
                  llvm::ArrayRef<std::pair<unsigned, int64_t>> digits) {
    std::set<llvm::SmallVector<int64_t, 4>> addresses;
    for (const auto &tile : tiles) {
      llvm::SmallVector<int64_t, 4> address;
      for (auto [dimension, size] : digits) {
        address.push_back(classOf(access.uses[dimension], tile[dimension]));
      }
      addresses.insert(address);
    }
    return addresses.size();
  }

  const KernelWork &work;
  llvm::SmallVector<int64_t, 4> extents;
  int64_t count;
};
} // namespace

/// Bytes that the kernel touches at least once.
static double distinctBytes(const KernelWork &work, const Access &access) {
  double addresses = access.walked;
  for (auto [use, extent] : llvm::zip(access.uses, work.grid)) {
    if (!use.depends) {
      continue;
    }
    double different = extent;
    if (!use.classes.empty()) {
      double most = *llvm::max_element(use.classes) + 1.0;
      different = most * extent / use.classes.size();
    }
    addresses *= 1 + (different - 1) * use.fresh;
  }
  double bytes = addresses * access.bytes;
  return access.bufferBytes > 0 ? std::min(bytes, access.bufferBytes) : bytes;
}

static void addUp(const KernelWork &work, TrafficByAccess &result) {
  for (auto [access, traffic] : llvm::zip(work.accesses, result.accesses)) {
    if (access.peer) {
      result.sum.link += traffic.requested;
      continue;
    }
    result.sum.l2 += traffic.requested;
    result.sum.lastLevel += traffic.lastLevel;
    (access.writes ? result.sum.written : result.sum.read) += traffic.memory;
  }
}

TrafficByAccess trafficOf(const KernelWork &work, const Target &target,
                          const CostOptions &options) {
  llvm::StringRef limit;
  double count = work.workgroups();
  double atOnce = std::min(count, target.execution.units *
                                      workgroupsPerUnit(work, target, limit));
  double rounds = atOnce > 0 ? count / atOnce : 0;
  int64_t chiplets = std::max<int64_t>(1, target.execution.chiplets);
  Round round(work, static_cast<int64_t>(atOnce));
  std::vector<double> all = round.uniqueAddresses(1);
  std::vector<double> ofChiplet =
      chiplets > 1 ? round.uniqueAddresses(chiplets) : all;
  double capacity =
      std::max<double>(target.cache.l2Bytes, target.cache.llcBytes) -
      options.cacheBytesTaken;
  double streamed = 0; // by one round
  for (auto [access, unique] : llvm::zip(work.accesses, all)) {
    bool isNew = !access.peer && !access.isRepeat;
    streamed += !isNew ? 0 : unique * access.walked * access.bytes;
  }
  TrafficByAccess result;
  for (auto [i, access] : llvm::enumerate(work.accesses)) {
    AccessTraffic one;
    double perAddress = access.walked * access.bytes;
    one.requested = access.bytes * access.executions * count / access.sharers;
    one.distinct = std::min(distinctBytes(work, access), one.requested);
    one.sharers = all[i] > 0 ? atOnce / all[i] : 1;
    double others = streamed - all[i] * perAddress;
    one.retained = one.distinct + others <= capacity;
    double again =
        std::clamp(rounds * all[i] * perAddress, one.distinct, one.requested);
    one.memory = one.retained ? one.distinct : again;
    bool isHeld = access.isRepeat && streamed <= capacity;
    if (access.peer || isHeld || (access.resident && one.retained)) {
      one.memory = 0;
    }
    double misses = rounds * chiplets * ofChiplet[i] * perAddress;
    if (one.distinct + others / chiplets <= target.cache.l2Bytes / chiplets) {
      misses = std::min(misses, chiplets * one.distinct);
    }
    one.lastLevel =
        std::clamp(misses, one.memory, std::max(one.memory, one.requested));
    bool isNear = access.isRepeat &&
                  streamed / chiplets <= target.cache.l2Bytes / chiplets;
    one.lastLevel = access.peer || isNear ? 0 : one.lastLevel;
    result.accesses.push_back(one);
  }
  addUp(work, result);
  return result;
}

} // namespace modelc
