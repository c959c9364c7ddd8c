//===- ExchangeTiling.cpp - How devices add up rows -----------------------===//
//
// In one step, in two, or by the vendor's library; and, where a norm is all
// that reads the sums, in the norm's kernel or before it. Arithmetic from facts
// of the links rejects what is far behind, the cost of the kernels judges the
// rest, at every power of two of rows.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Tiling.h"

#include "lib/Cost/Cost.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

/// Rows up to which devices add between themselves, and what one holds of all
/// at most, so that staging buffers stay at tens of MB.
static constexpr int64_t kMostRows = 1024, kMostStaged = 2048;
/// Columns of a slice.
static constexpr int64_t kLeastSlice = 64;
/// Of the previews: what is slower than the best by more is not judged.
static constexpr double kHopeless = 1.25;

namespace {
struct Candidate {
  SumVariant way;
  double seconds = 0; ///< by arithmetic, then as judged
};
} // namespace

RowTile Tiling::sliced(int64_t columns, int64_t ranks) const {
  RowTile tile = piece(columns);
  int64_t width = tile.columns;
  while (width >= kLeastSlice && columns % (width * ranks) != 0) {
    width /= 2;
  }
  // All slices are read again together.
  tile.waves = wholeRow(width * ranks).waves;
  tile.columns =
      width >= kLeastSlice && llvm::isPowerOf2_64(ranks) ? width * ranks : 0;
  return tile;
}

int64_t Tiling::stagingRows(Exchange kind, int64_t ranks) const {
  return kind == Exchange::ReduceInTwo
             ? kMostRows
             : std::min(kMostRows, kMostStaged / ranks);
}

RowTile Tiling::tileOf(const ExchangeShape &shape) const {
  return shape.kind == Exchange::ReduceInTwo
             ? sliced(shape.columns, shape.ranks)
             : piece(shape.columns);
}

RowTile Tiling::tileOf(const NormShape &shape) const {
  if (shape.heads > 1) {
    return headsOfRow(shape.heads, shape.normedColumns());
  }
  RowTile tile =
      shape.scales ? blocksOfWholeRow(shape.columns, shape.scales, shape.result)
                   : wholeRow(shape.normedColumns());
  if (!shape.isExchanged() || shape.exchange.kind == Exchange::ReduceInTwo) {
    return tile;
  }
  // Beside sums, residuals and results a lane holds parts of several devices; a
  // quarter of its registers is left to addresses.
  tile.waves = wholeRow(shape.columns).waves;
  int64_t elements =
      llvm::divideCeil(tile.columns, tile.waves * target.execution.waveSize);
  int64_t part =
      llvm::divideCeil(elements * shape.element.getIntOrFloatBitWidth(), 32);
  int64_t registers = 3 * target.execution.registersOf(tile.waves) / 4;
  while (tile.peers > 1 && tile.peers * part + 3 * elements > registers) {
    tile.peers /= 2;
  }
  return tile;
}

/// Whether devices can each have a slice of the rows.
static bool canSlice(const Tiling &tiling, const ExchangeShape &shape,
                     const NormShape *norm) {
  if (!norm) {
    return tiling.sliced(shape.columns, shape.ranks).columns > 0;
  }
  RowTile tile = tiling.tileOf(*norm);
  int64_t units = norm->scales ? tile.columns / norm->scales.wordNumbers()
                               : tile.columns / kLeastSlice;
  return llvm::isPowerOf2_64(shape.ranks) && units % shape.ranks == 0;
}

/// Seconds by arithmetic from facts.
static double preview(const Tiling &tiling, const ExchangeShape &shape,
                      const NormShape *norm, const SumVariant &way, int64_t m) {
  const Target &target = tiling.target;
  const Link &link = target.link;
  auto ranks = static_cast<double>(shape.ranks);
  double bytes = static_cast<double>(m * shape.columns) *
                 shape.element.getIntOrFloatBitWidth() / 8.0;
  double others = bytes * (ranks - 1);
  double rate = std::min(link.bandwidth, link.pairBandwidth * (ranks - 1)) *
                target.efficiency.link;
  double read = target.memory.latencyClocks / target.clock.boostHz;
  double seconds = 0;
  if (!way.kind) {
    FailureOr<KernelCost> library =
        costCollective("all_reduce", bytes, shape.ranks, target);
    seconds = succeeded(library) ? library->expectation.seconds : 0;
  } else if (*way.kind == Exchange::ReduceInTwo) {
    seconds = target.startSeconds() + 2 * link.messageLatency + 3 * read +
              2 * others / ranks / rate;
  } else {
    seconds =
        target.startSeconds() + link.messageLatency + 2 * read + others / rate;
  }
  if (norm && !way.isFused) {
    seconds += target.startSeconds() + 2 * read +
               4 * bytes / target.memory.bandwidth; // x, residual, sum, result
  }
  return seconds;
}

/// What can be done at m rows, without what is far behind.
static SmallVector<Candidate> candidatesOf(const Tiling &tiling,
                                           const ExchangeShape &shape,
                                           const NormShape *norm, int64_t m) {
  SmallVector<Candidate> list;
  auto add = [&](std::optional<Exchange> kind, bool isFused) {
    SumVariant way = {{m, m}, kind, isFused};
    list.push_back({way, preview(tiling, shape, norm, way, m)});
  };
  add({}, false);
  for (bool isFused : {false, true}) {
    const NormShape *inside = isFused ? norm : nullptr;
    if (isFused && !norm) {
      continue;
    }
    if (m <= tiling.stagingRows(Exchange::Reduce, shape.ranks)) {
      add(Exchange::Reduce, isFused);
    }
    if (canSlice(tiling, shape, inside)) {
      add(Exchange::ReduceInTwo, isFused);
    }
  }
  auto isSooner = [](const Candidate &a, const Candidate &b) {
    return a.seconds < b.seconds;
  };
  double most = kHopeless * llvm::min_element(list, isSooner)->seconds;
  llvm::erase_if(list, [&](const Candidate &c) { return c.seconds > most; });
  return list;
}

/// The kernels of a candidate.
static KernelSequence kernelsOf(const Tiling &tiling, Candidates &candidates,
                                ExchangeShape shape, const NormShape *norm,
                                const SumVariant &way) {
  KernelSequence kernels;
  Range rows = {1, kMostRows};
  if (way.kind) {
    shape.kind = *way.kind;
    shape.stagingRows = tiling.stagingRows(shape.kind, shape.ranks);
    rows.maximum = shape.stagingRows;
  }
  if (way.kind && !way.isFused) {
    kernels.push_back(candidates.kernel(
        "exchange" + identityOf(shape), [&](auto &builder, auto &label) {
          return buildExchange(builder, label, shape, tiling.tileOf(shape),
                               rows);
        }));
  }
  if (norm) {
    NormShape normed = *norm;
    if (way.isFused) {
      normed.exchange = shape;
    }
    kernels.push_back(candidates.kernel(
        "norm" + identityOf(normed), [&](auto &builder, auto &label) {
          auto write = normed.scales ? buildNormBlocks : buildNorm;
          return write(builder, label, normed, tiling.tileOf(normed), rows);
        }));
  }
  return kernels;
}

/// Seconds as judged; what cannot be scheduled is left out.
static void judge(const Tiling &tiling, Candidates &candidates,
                  const ExchangeShape &shape, const NormShape *norm,
                  SmallVector<Candidate> &list, int64_t m) {
  SmallVector<KernelSequence> kernels;
  SmallVector<Candidate *> judged;
  for (Candidate &one : list) {
    if (one.way.kind || norm) {
      kernels.push_back(kernelsOf(tiling, candidates, shape, norm, one.way));
      judged.push_back(&one);
    }
  }
  auto rows = static_cast<double>(m);
  std::vector<FailureOr<Judgement>> judgements =
      tiling.options.evaluate(kernels, SizesOfRun{{"m", rows}, {"rank", 0}});
  for (auto [one, judgement] : llvm::zip_equal(judged, judgements)) {
    // The library's call is beside its norm.
    double call =
        one->way.kind ? 0 : preview(tiling, shape, nullptr, one->way, m);
    one->seconds = succeeded(judgement)
                       ? call + judgement->seconds[0]
                       : std::numeric_limits<double>::infinity();
  }
  if (tiling.options.count) {
    tiling.options.count->judged += kernels.size();
  }
}

/// Whether a step that will be asked for has from `least` to `most` rows.
static bool isMet(const KernelOptions &options, int64_t least, int64_t most) {
  auto isOfStep = [&](const StepShape &step) {
    return least <= step.tokens() && step.tokens() <= most;
  };
  return options.steps.empty() || llvm::any_of(options.steps, isOfStep);
}

static bool isSame(const SumVariant &a, const SumVariant &b) {
  return a.kind == b.kind && a.isFused == b.isFused;
}

SmallVector<SumVariant> Tiling::possibleSums(const ExchangeShape &shape,
                                             const NormShape *norm) const {
  SmallVector<SumVariant> ways;
  for (int64_t m = 1; m <= kMostRows; m *= 2) {
    for (const Candidate &one : candidatesOf(*this, shape, norm, m)) {
      bool isKnown = llvm::any_of(
          ways, [&](const SumVariant &way) { return isSame(way, one.way); });
      if (one.way.kind && !isKnown) {
        ways.push_back(one.way);
      }
    }
  }
  return ways;
}

SmallVector<SumVariant> Tiling::sums(Candidates &candidates,
                                     const ExchangeShape &shape,
                                     const NormShape *norm) const {
  SmallVector<SumVariant> variants;
  for (int64_t m = 1, last = 0; m <= kMostRows; m *= 2) {
    if (!isMet(options, m / 2 + 1, m)) {
      continue;
    }
    SmallVector<Candidate> list = candidatesOf(*this, shape, norm, m);
    if (options.evaluate && list.size() > 1) {
      judge(*this, candidates, shape, norm, list, m);
    }
    const Candidate &best =
        *llvm::min_element(list, [](const Candidate &a, const Candidate &b) {
          return a.seconds < b.seconds;
        });
    if (variants.empty() || !isSame(variants.back(), best.way)) {
      variants.push_back(best.way);
      variants.back().rows.minimum = last + 1;
    }
    variants.back().rows.maximum = last = m;
  }
  SumVariant library;
  library.rows = {variants.empty() ? 1 : variants.back().rows.maximum + 1,
                  std::numeric_limits<int64_t>::max()};
  if (!variants.empty() && isSame(variants.back(), library)) {
    variants.back().rows.maximum = library.rows.maximum;
  } else {
    variants.push_back(library);
  }
  return variants;
}
