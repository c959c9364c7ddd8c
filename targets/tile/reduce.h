//===- reduce.h - Elements across registers, lanes and waves --------------===//
//
//   reduce<Max, 1>(result, tile)                 within each wave
//   reduce<Add, 1, Waves>(result, tile, place)   the last steps through shared memory
//   relayout(result, tile)                       other registers or lanes of the same wave
//   relayout(result, tile, place)                through shared memory
//   lookup(column, row)                          an element of a tile of one column
//
//===----------------------------------------------------------------------===//
#ifndef MODELC_TARGETS_TILE_REDUCE_H
#define MODELC_TARGETS_TILE_REDUCE_H

namespace modelc {

struct Add {
  template <class T>
  TILE_MEMBER static T combine(T a, T b) {
    return a + b;
  }
};
struct Max {
  template <class T>
  TILE_MEMBER static T combine(T a, T b) {
    return maximum(a, b);
  }
};
struct Min {
  template <class T>
  TILE_MEMBER static T combine(T a, T b) {
    return minimum(a, b);
  }
};

/// Lanes exchange words: narrower elements travel in one.
template <class T, class F>
TILE T throughWord(T value, F exchange) {
  if constexpr (sizeof(T) == 2) {
    return __builtin_bit_cast(T, (uint16_t)exchange((uint32_t)__builtin_bit_cast(uint16_t, value)));
  } else if constexpr (sizeof(T) == 1) {
    return __builtin_bit_cast(T, (uint8_t)exchange((uint32_t)__builtin_bit_cast(uint8_t, value)));
  } else {
    return exchange(value);
  }
}
template <class T>
TILE T valueOfLane(T value, int lane) {
  return throughWord(value, [=](auto word) INLINE { return shuffle(word, lane); });
}
template <int Mask, class T>
TILE T valueAcross(T value) {
  return throughWord(value, [](auto word) INLINE { return shuffleXor<Mask>(word); });
}

/// The bits of an input whose image moves along the dimension.
template <int Dimension, class B>
TILE_CONSTEXPR int bitsAlong(int) {
  int mask = 0;
  for (int bit = 0; bit < B::count; bit++) {
    mask |= (Dimension == 0 ? rowOf(B::image(bit)) : columnOf(B::image(bit))) != 0 ? 1 << bit : 0;
  }
  return mask;
}

/// The bits in `mask`, side by side.
TILE_CONSTEXPR int gatheredBits(int mask, int bits) {
  int result = 0, to = 0;
  for (int bit = 0; mask >> bit; bit++) {
    if (mask >> bit & 1) {
      result |= (bits >> bit & 1) << to++;
    }
  }
  return result;
}

/// Combines the registers of each lane, in up to four chains side by side: the steps of one wait for each other.
template <class Combiner, int Along, class T, class R, class L>
TILE void combineRegisters(Tile<T, R> &result, const Tile<T, L> &tile) {
  constexpr int along = bitsAlong<Along, typename L::OfRegister>(0);
  constexpr int levels = __builtin_popcount(along) < 2 ? __builtin_popcount(along) : 2;
  T chain[1 << levels][R::registers];
  bool seen[1 << levels][R::registers] = {};
  repeat<L::registers>([&](auto r) INLINE {
    constexpr int to = broadcastRegister<L, R::rowCount, R::columnCount>(r.value);
    constexpr int own = gatheredBits(along, r.value) & ((1 << levels) - 1);
    chain[own][to] = seen[own][to] ? Combiner::combine(chain[own][to], tile.v[r.value]) : tile.v[r.value];
    seen[own][to] = true;
  });
  repeat<R::registers>([&](auto r) INLINE {
    repeat<levels>([&](auto level) INLINE {
      constexpr int rest = 1 << (levels - 1 - level.value);
      repeat<rest>([&](auto i) INLINE {
        chain[i.value][r.value] = Combiner::combine(chain[i.value][r.value], chain[rest + i.value][r.value]);
      });
    });
    result.v[r.value] = chain[0][r.value];
  });
}

/// Combines what the lanes hold; all of them get the result.
template <class Combiner, int Mask, class T, class L>
TILE void combineLanes(Tile<T, L> &tile) {
  repeat<log2Of(kWaveSize)>([&](auto bit) INLINE {
    if constexpr (Mask >> bit.value & 1) {
      repeat<L::registers>([&](auto r) INLINE {
        tile.v[r.value] = Combiner::combine(tile.v[r.value], valueAcross<1 << bit.value>(tile.v[r.value]));
      });
    }
  });
}

/// The wave bits in `mask`, side by side.
template <int Mask, int Bit = 0>
TILE int gatherBits(int wave) {
  if constexpr (Mask >> Bit == 0) {
    return 0;
  } else {
    const int rest = gatherBits<Mask, Bit + 1>(wave);
    return Mask >> Bit & 1 ? rest << 1 | (wave >> Bit & 1) : rest;
  }
}

/// Combines what the waves hold: each writes its part, all read all parts.
template <class Combiner, int Mask, class T, class L>
TILE void combineWaves(Tile<T, L> &tile, char *scratch) {
  constexpr int extent = L::rowCount * L::columnCount, parts = 1 << __builtin_popcount(Mask);
  constexpr int otherWaves = L::OfWave::unused() & ~Mask;
  T *const part = (T *)scratch;
  const int wave = waveId(), own = gatherBits<Mask>(wave) * extent;
  if ((laneId() & L::OfLane::unused()) == 0 && (wave & otherWaves) == 0) {
    forEach<L>([&](auto i, int row, int column) INLINE { part[own + row + column] = tile.v[i.value]; });
  }
  sync();
  forEach<L>([&](auto i, int row, int column) INLINE {
    T sum = part[row + column];
    repeat<parts - 1>([&](auto p)
                          INLINE { sum = Combiner::combine(sum, part[(p.value + 1) * extent + row + column]); });
    tile.v[i.value] = sum;
  });
  sync();
}

/// Combines along dimension `Along` (0: over rows) into a tile of extent 1
/// there. Where waves hold different parts, `scratch` is shared memory for
/// (parts x extent of the result) elements.
template <class Combiner, int Along, class T, class R, class L>
TILE void reduce(Tile<T, R> &result, const Tile<T, L> &tile, char *scratch = nullptr) {
  constexpr int waves = bitsAlong<Along, typename L::OfWave>(0);
  combineRegisters<Combiner, Along>(result, tile);
  combineLanes<Combiner, bitsAlong<Along, typename L::OfLane>(0)>(result);
  if constexpr (waves != 0) {
    combineWaves<Combiner, waves>(result, scratch);
  }
}
template <class Combiner, int Along, class T, class R, class L, class S>
TILE void reduce(Tile<T, R> &result, const Tile<T, L> &tile, Place<S> scratch) {
  reduce<Combiner, Along>(result, tile, scratch.at);
}

/// Whether an element that the wave holds is not zero: the same in all lanes.
template <class T, class L>
TILE bool isAny(const Tile<T, L> &tile) {
  bool found = false;
  repeat<L::registers>([&](auto r) INLINE { found |= tile.v[r.value] != T(0); });
  return anyLane(found);
}

//===- Who holds what -----------------------------------------------------===//

/// Where a wave holds its elements: the register (low bits) and lane (from bit
/// 16) of a position, by elimination over the images of registers, then lanes.
template <class L>
struct Holder {
  static constexpr int registerBits = L::OfRegister::count, bits = registerBits + L::OfLane::count;
  TILE_CONSTEXPR static int of(int position) {
    int image[bits + 1] = {}, source[bits + 1] = {};
    for (int i = 0; i < bits; i++) {
      image[i] = i < registerBits ? L::OfRegister::image(i) : L::OfLane::image(i - registerBits);
      source[i] = i < registerBits ? 1 << i : 0x10000 << (i - registerBits);
    }
    int result = 0;
    for (int i = 0; i < bits; i++) {
      const int lowest = image[i] & -image[i];
      for (int j = i + 1; j < bits && lowest; j++) {
        if (image[j] & lowest) {
          image[j] ^= image[i];
          source[j] ^= source[i];
        }
      }
    }
    for (int i = 0; i < bits; i++) {
      const int lowest = image[i] & -image[i];
      if (lowest && position & lowest) {
        position ^= image[i];
        result ^= source[i];
      }
    }
    return position == 0 ? result : -1;
  }
  /// Every element is in each wave.
  TILE_CONSTEXPR static bool isWhole() { return L::OfWave::reach() == 0; }
};

/// The holder of bits 1 << 0, 1 << 1, ... of rows or columns.
template <class L, bool Rows, class Sequence>
struct HoldersOf;
template <class L, bool Rows, int... I>
struct HoldersOf<L, Rows, Sequence<I...>> {
  using Type = Bits<Holder<L>::of(Rows ? rows(1 << I) : columns(1 << I))...>;
};

/// Register `r` of the lane `lane`; r differs between lanes.
template <class T, class L>
TILE T fromLane(const Tile<T, L> &tile, int r, int lane) {
  T result = valueOfLane(tile.v[0], lane);
  repeat<L::registers - 1>([&](auto other) INLINE {
    const T value = valueOfLane(tile.v[other.value + 1], lane);
    result = r == other.value + 1 ? value : result;
  });
  return result;
}

/// The element of a tile of one column (or row) at a place known at run time.
template <class Ids>
TILE typename Ids::Element lookup(const Ids &ids, int index) {
  using L = typename Ids::InLayout;
  static_assert(Holder<L>::isWhole(), "expected every wave to hold all row numbers");
  constexpr bool isColumn = L::rowCount > 1;
  constexpr int bits = log2Of(isColumn ? L::rowCount : L::columnCount);
  const int holder = mapBits<typename HoldersOf<L, isColumn, typename SequenceTo<bits>::Type>::Type>(index);
  return fromLane(ids, holder & 0xFFFF, holder >> 16);
}

//===- Other layouts ------------------------------------------------------===//

/// Holders in layout L of the images of another layout's bits.
template <class L, class B>
struct HoldersOfImages;
template <class L, int... I>
struct HoldersOfImages<L, Bits<I...>> {
  using Type = Bits<Holder<L>::of(I)...>;
};

/// Between two layouts of a wave in which bits of the lane take the place of bits of the register, whole words of 32
/// bits: no lane needs more than what one other has.
template <class T, class To, class From>
struct LaneExchange {
  static constexpr int lanes = From::OfLane::count, bits = From::OfRegister::count;
  static constexpr int bitsOfWord = sizeof(T) == 4 ? 0 : sizeof(T) == 2 ? 1 : 2;
  /// The bit of the register in From that is bit `lane` of the lane in To, or -1: it stays.
  TILE_CONSTEXPR static int registerOf(int lane) {
    const int wanted = To::OfLane::image(lane);
    for (int bit = 0; bit < bits; bit++) {
      if (From::OfLane::image(lane) != wanted && wanted != 0 && From::OfRegister::image(bit) == wanted) {
        return bit;
      }
    }
    return -1;
  }
  /// The image of a bit of the register once lanes have exchanged.
  TILE_CONSTEXPR static int image(int bit) {
    for (int lane = 0; lane < lanes; lane++) {
      if (registerOf(lane) == bit) {
        return From::OfLane::image(lane);
      }
    }
    return From::OfRegister::image(bit);
  }
  /// The register that holds then what register r of To is to hold, or -1.
  TILE_CONSTEXPR static int source(int r) {
    int result = 0;
    for (int to = 0; to < bits; to++) {
      int from = 0;
      while (from < bits && image(from) != To::OfRegister::image(to)) {
        from++;
      }
      if (from == bits) {
        return -1;
      }
      result |= (r >> to & 1) << from;
    }
    return result;
  }
  TILE_CONSTEXPR static bool isPossible() {
    bool result = sizeof(T) <= 4 && bits >= bitsOfWord && lanes == To::OfLane::count && bits == To::OfRegister::count;
    int moved = 0;
    for (int lane = 0; result && lane < lanes; lane++) {
      const int bit = registerOf(lane);
      moved += bit >= 0 ? 1 : 0;
      result = bit >= bitsOfWord || (bit < 0 && From::OfLane::image(lane) == To::OfLane::image(lane));
    }
    for (int r = 1; result && r < 1 << bits; r <<= 1) {
      result = source(r) >= 0 && (r >= 1 << bitsOfWord || source(r) == r);
    }
    return result && moved > 0;
  }
};
template <class T, class To, class From>
TILE void exchangeLanes(Tile<T, To> &result, const Tile<T, From> &tile) {
  using E = LaneExchange<T, To, From>;
  constexpr int count = From::registers >> E::bitsOfWord, perWord = 1 << E::bitsOfWord;
  uint32_t words[count];
  repeat<count>([&](auto w)
                    INLINE { __builtin_memcpy(&words[w.value], &tile.v[w.value * perWord], sizeof(uint32_t)); });
  repeat<E::lanes>([&](auto lane) INLINE {
    constexpr int bit = E::registerOf(lane.value) - E::bitsOfWord;
    if constexpr (bit >= 0) {
      const bool isUpper = laneId() >> lane.value & 1;
      repeat<count / 2>([&](auto w) INLINE {
        constexpr int low = (w.value >> bit << (bit + 1)) | (w.value & ((1 << bit) - 1)), high = low | 1 << bit;
        const uint32_t got = shuffleXor<1 << lane.value>(isUpper ? words[low] : words[high]);
        words[low] = isUpper ? got : words[low];
        words[high] = isUpper ? words[high] : got;
      });
    }
  });
  repeat<count>([&](auto w) INLINE {
    constexpr int from = E::source(w.value * perWord) / perWord;
    __builtin_memcpy(&result.v[w.value * perWord], &words[from], sizeof(uint32_t));
  });
}

/// In which lane and register of From a wave finds what it has first in To: in the first, where both give it the same.
template <class To, class From>
struct OfWaves;
template <int... I, int... J>
struct OfWaves<Bits<I...>, Bits<J...>> {
  template <class L>
  using In = typename HoldersOfImages<L, Bits<(I ^ J)...>>::Type;
};

/// The same elements in another layout, where each wave has in one what it needs in the other.
template <class T, class To, class From>
TILE void relayout(Tile<T, To> &result, const Tile<T, From> &tile) {
  constexpr bool sameWaves = kSameType<typename To::OfWave, typename From::OfWave>;
  if constexpr (sameWaves && LaneExchange<T, To, From>::isPossible()) {
    exchangeLanes(result, tile);
  } else {
    using OfLane = typename HoldersOfImages<From, typename To::OfLane>::Type;
    using OfWave = typename OfWaves<typename To::OfWave, typename From::OfWave>::template In<From>;
    static_assert(OfWave::reach() >= 0, "expected the same elements in each wave; others need a shared place");
    constexpr bool inLane = sameWaves && kSameType<typename To::OfLane, typename From::OfLane>;
    int mine = inLane ? 0 : mapBits<OfLane>(laneId());
    if constexpr (!sameWaves) {
      mine ^= mapBits<OfWave>(waveId());
    }
    repeat<To::registers>([&](auto r) INLINE {
      constexpr int holder = Holder<From>::of(To::OfRegister::map(r.value));
      static_assert(holder >= 0, "expected every element in this wave");
      if constexpr (inLane && holder < 0x10000) {
        result.v[r.value] = tile.v[holder];
      } else {
        const int at = (inLane ? laneId() << 16 : mine) ^ holder;
        result.v[r.value] = fromLane(tile, at & 0xFFFF, at >> 16);
      }
    });
  }
}

/// The same elements in any other layout.
template <class T, class To, class From, class S>
TILE void relayout(Tile<T, To> &result, const Tile<T, From> &tile, Place<S> scratch) {
  storeShared(tile, scratch);
  sync();
  loadShared(result, scratch);
  sync();
}

} // namespace modelc

#endif // MODELC_TARGETS_TILE_REDUCE_H
