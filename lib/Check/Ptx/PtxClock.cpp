#include "lib/Check/Ptx/PtxClock.h"
#include <algorithm>

using namespace modelc::ptx;

void Clock::learn(uint32_t who, uint32_t when) {
  if (times.size() <= who) {
    times.resize(who + 1);
  }
  times[who] = std::max(times[who], when);
}

void Clock::rewind(uint32_t who, uint32_t when) {
  if (who < times.size()) {
    times[who] = when;
  }
}

void Clock::join(const Clock &other) {
  if (times.size() < other.times.size()) {
    times.resize(other.times.size());
  }
  for (size_t who = 0; who < other.times.size(); ++who) {
    times[who] = std::max(times[who], other.times[who]);
  }
}

uint32_t StampSets::add(uint32_t set, Stamp stamp) {
  auto [found, isNew] = known.try_emplace({set, stamp}, uint32_t(sets.size()));
  if (!isNew) {
    return found->second;
  }
  llvm::SmallVector<Stamp, 4> with = sets[set];
  for (Stamp &old : with) {
    if (whoOf(old) == whoOf(stamp)) {
      if (whenOf(old) >= whenOf(stamp)) {
        return found->second = set;
      }
      old = stamp;
      sets.push_back(with);
      return found->second;
    }
  }
  with.push_back(stamp);
  sets.push_back(with);
  return found->second;
}

std::optional<Conflict> Cells::touch(size_t first, size_t count,
                                     const Touch &touch) {
  // Neighbours mostly have the same state: what was found for one holds for
  // all.
  Stamp orderedWriter = 0;
  uint32_t orderedReaders = 0, oldSet = ~0u, newSet = 0;
  for (size_t cell = first; cell < first + count; ++cell) {
    CellState &state = states[cell];
    if (state.writer != orderedWriter) {
      if (!isOrdered(state.writer, touch)) {
        return Conflict{cell, state.writer, true};
      }
      orderedWriter = state.writer;
    }
    if (!touch.writes) {
      if (state.readers != oldSet) {
        oldSet = state.readers;
        newSet = sets.add(oldSet, touch.stamp);
      }
      state.readers = newSet;
      continue;
    }
    if (state.readers != orderedReaders) {
      for (Stamp reader : sets.at(state.readers)) {
        if (!touch.known->knows(reader)) {
          return Conflict{cell, reader, false};
        }
      }
      orderedReaders = state.readers;
    }
    state = {touch.stamp, 0};
  }
  return std::nullopt;
}
