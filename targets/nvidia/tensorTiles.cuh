//===- tensorTiles.cuh - Products into tensor memory ----------------------===//
//
// Included by tiles.cuh, whose head lists the names. sm_100a and later.
//
//===----------------------------------------------------------------------===//
#ifndef TARGETS_NVIDIA_TENSORTILES_CUH
#define TARGETS_NVIDIA_TENSORTILES_CUH

namespace modelc {

/// Takes columns of tensor memory for the whole workgroup. Their address arrives
/// in the first word of `shared`, which is free again afterwards: a word of its
/// own would cost the line that dynamic shared memory is aligned to.
template <int Columns, int Workgroups = 1>
TILE uint32_t allocTensor(char *shared) {
  uint32_t *word = (uint32_t *)shared;
  if (waveId() == 0) {
    if constexpr (Workgroups == Pair) {
      tensorAllocOfPair<Columns>(word);
      tensorRelinquishOfPair();
    } else {
      tensorAlloc<Columns>(word);
      tensorRelinquish();
    }
    fenceAsyncShared(); // boxes come to the word's place
  }
  tensorFenceBefore();
  sync();
  tensorFenceAfter();
  const uint32_t address = *word;
  sync();
  return address;
}
/// A pair ends together: each signals barriers of the other to its end.
template <int Columns, int Workgroups = 1>
TILE void freeTensor(uint32_t address) {
  tensorFenceBefore();
  if constexpr (Workgroups == Pair) {
    syncCluster();
  } else {
    sync();
  }
  if (waveId() == 0) {
    if constexpr (Workgroups == Pair) {
      tensorFreeOfPair<Columns>(address);
    } else {
      tensorFree<Columns>(address);
    }
  }
}

/// An accumulator, or an operand with several neighbours of a row in each word: 128 rows in lanes, further rows in
/// further columns of words.
template <int Rows, int Columns>
struct TensorPlace {
  uint32_t address;
};
/// Several of them, side by side, that take turns.
template <int Rows, int Columns, int Slots>
struct TensorRing {
  uint32_t address;
  TILE_MEMBER TensorPlace<Rows, Columns> operator[](int trip) const {
    return {address + (uint32_t)trip % (uint32_t)Slots * (uint32_t)((Rows + 127) / 128 * Columns)};
  }
};

/// Words of scales of blocks along K, of each row of an operand: 128 rows in four columns.
template <int Words, int Rows>
struct ScalesPlace {
  uint32_t address;
  TILE_MEMBER uint32_t at(int word, int row) const { return address + (uint32_t)((word * Rows + row) / 32); }
};

template <Callers By = Callers::All, int Workgroups = 1, Reach To>
TILE void arriveAfterMma(BarrierTrip<To> at) {
  static_assert((Workgroups == Pair) == (To == Reach::All), "expected a pair that signals both of its workgroups");
  if (!isIssuer<By>()) {
    return;
  }
  if constexpr (Workgroups == Pair) {
    tensorCommitOfPair(at.barrier, 3);
  } else {
    tensorCommit(at.barrier);
  }
}

template <class S>
TILE uint64_t tensorDescriptor(Place<S> place, int byte) {
  using O = Operand<S>;
  return sharedDescriptorBlackwell(sharedAddress(place.at + byte), O::strideBytes,
                                   S::columnCount > S::neighbours() ? O::leadingBytes : 0, O::swizzle);
}

struct Tcgen05Bf16 {
  static constexpr int k = 16, workgroups = 1;
  TILE_CONSTEXPR static uint32_t instruction(int rows, int columns, bool transposed) {
    return tensorInstructionBf16(rows, columns, Major::K, transposed ? Major::MN : Major::K);
  }
  TILE_MEMBER static void multiply(uint32_t d, uint64_t a, uint64_t b, uint32_t instruction, bool add) {
    tensorMmaBf16(d, a, b, instruction, add);
  }
};
struct Tcgen05F8 {
  static constexpr int k = 32, workgroups = 1;
  TILE_CONSTEXPR static uint32_t instruction(int rows, int columns, bool transposed) {
    return tensorInstructionFp8(rows, columns, Major::K, transposed ? Major::MN : Major::K);
  }
  TILE_MEMBER static void multiply(uint32_t d, uint64_t a, uint64_t b, uint32_t instruction, bool add) {
    tensorMmaFp8(d, a, b, instruction, add);
  }
};

struct Tcgen05Bf16Pair : Tcgen05Bf16 {
  static constexpr int workgroups = Pair;
  TILE_MEMBER static void multiply(uint32_t d, uint64_t a, uint64_t b, uint32_t instruction, bool add) {
    tensorMmaBf16OfPair(d, a, b, instruction, add);
  }
};
struct Tcgen05F8Pair : Tcgen05F8 {
  static constexpr int workgroups = Pair;
  TILE_MEMBER static void multiply(uint32_t d, uint64_t a, uint64_t b, uint32_t instruction, bool add) {
    tensorMmaFp8OfPair(d, a, b, instruction, add);
  }
};

/// Products of an accumulator in their order, each by the thread that issues them: multiply(i, j, step).
template <Callers By, int InRows, int InColumns, int Steps, class F>
TILE void forEachProduct(F multiply) {
  if (!isIssuer<By>()) {
    return;
  }
  tensorFenceAfter();
  repeat<InRows>([&](auto i) INLINE {
    repeat<InColumns>([&](auto j) INLINE { repeat<Steps>([&](auto step) INLINE { multiply(i, j, step); }); });
  });
}

/// c (+)= a b^T, both in shared memory; issued by one thread, done when a barrier
/// that arrives after it says so. Of a pair each workgroup has its rows of c and
/// a and its half of b, at the same addresses.
template <Callers By, class I, bool BTransposed = false, int Rows, int Columns, class SA, class SB>
TILE void mma(TensorPlace<Rows, Columns> c, Place<SA> a, Place<SB> b, bool add = true) {
  constexpr int height = smaller(Rows, 128), width = smaller(Columns, 256);
  forEachProduct<By, Rows / height, Columns / width, SA::columnCount / I::k>([&](auto i, auto j, auto step) INLINE {
    constexpr int k = step.value * I::k;
    constexpr int byteA = SA::at(rows(i.value * height) | columns(k));
    constexpr int first = j.value * width / I::workgroups;
    constexpr int byteB = SB::at(BTransposed ? rows(k) | columns(first) : rows(first) | columns(k));
    I::multiply(c.address + i.value * Columns + j.value * width, tensorDescriptor(a, byteA), tensorDescriptor(b, byteB),
                I::instruction(height * I::workgroups, width, BTransposed), add || step.value > 0);
  });
}

template <class I, bool BTransposed = false, int Rows, int Columns, class SA, class SB>
TILE void mma(TensorPlace<Rows, Columns> c, Place<SA> a, Place<SB> b, bool add = true) {
  mma<Callers::All, I, BTransposed>(c, a, b, add);
}

struct Tcgen05Bf16FromTensor : Tcgen05Bf16 {
  static constexpr int words = k / 2; // of a row of a
  TILE_MEMBER static void multiply(uint32_t d, uint32_t a, uint64_t b, uint32_t instruction, bool add) {
    tensorMmaBf16FromTensor(d, a, b, instruction, add);
  }
};
struct Tcgen05F8FromTensor : Tcgen05F8 {
  static constexpr int words = k / 4;
  TILE_MEMBER static void multiply(uint32_t d, uint32_t a, uint64_t b, uint32_t instruction, bool add) {
    tensorMmaFp8FromTensor(d, a, b, instruction, add);
  }
};

/// The same with a in tensor memory.
template <class I, bool BTransposed = false, int Rows, int Columns, int Words, class SB>
TILE void mma(TensorPlace<Rows, Columns> c, TensorPlace<Rows, Words> a, Place<SB> b, bool add = true) {
  constexpr int height = smaller(Rows, 128), width = smaller(Columns, 256);
  forEachProduct<Callers::All, Rows / height, Columns / width, Words / I::words>([&](auto i, auto j, auto step) INLINE {
    constexpr int k = step.value * I::k, first = j.value * width;
    constexpr int byteB = SB::at(BTransposed ? rows(k) | columns(first) : rows(first) | columns(k));
    I::multiply(c.address + i.value * Columns + first, a.address + i.value * Words + step.value * I::words,
                tensorDescriptor(b, byteB), I::instruction(height, width, BTransposed), add || step.value > 0);
  });
}

/// Rows of scales that one copy takes to tensor memory, and the bytes from the scales of 8 of them to those of the
/// next.
constexpr int kScaleRows = 128, kScaleStrideBytes = 128;

/// Words of scales to tensor memory, before the products that follow. Of a pair each workgroup has its own at the same
/// addresses.
template <Callers By = Callers::All, int Workgroups = 1, int Words, int Rows, class S>
TILE void copyScales(ScalesPlace<Words, Rows> to, Place<S> from) {
  static_assert(S::at(columns(1)) == 16 && S::at(columns(16)) == 256 && S::at(columns(32)) == 4 &&
                    S::at(columns(64)) == 8,
                "expected rows in the order in which they are copied");
  if (!isIssuer<By>()) {
    return;
  }
  tensorFenceAfter();
  repeat<Words>([&](auto word) INLINE {
    repeat<Rows / kScaleRows>([&](auto block) INLINE {
      constexpr int row = block.value * kScaleRows, byte = S::at(rows(word.value) | columns(row));
      const uint64_t source =
          sharedDescriptorBlackwell(sharedAddress(from.at + byte), kScaleStrideBytes, 16, Swizzle::None);
      if constexpr (Workgroups == Pair) {
        tensorCopyScalesOfPair(to.at(word.value, row), source);
      } else {
        tensorCopyScales(to.at(word.value, row), source);
      }
    });
  });
}

/// Products of blocks: 32 stored elements a step, of which `steps` share a word of scales; by one workgroup or a pair.
#define MODELC_TCGEN05_SCALED(name, together, ofWord, call, ...)                                                       \
  struct name {                                                                                                        \
    static constexpr int k = 32, steps = ofWord, workgroups = together;                                                \
    MODELC_EVERYWHERE static uint32_t instruction(int rows, int columns, int firstScale) { return __VA_ARGS__; }       \
    TILE_MEMBER static void multiply(uint32_t d, uint64_t a, uint64_t b, uint32_t instruction, uint32_t scalesOfA,     \
                                     uint32_t scalesOfB, bool add) {                                                   \
      call(d, a, b, instruction, scalesOfA, scalesOfB, add);                                                           \
    }                                                                                                                  \
  }
MODELC_TCGEN05_SCALED(Tcgen05Nvf4, 1, 1, tensorMmaNvf4,
                      tensorInstructionFp4(rows, columns, ScaleType::E4M3, firstScale));
MODELC_TCGEN05_SCALED(Tcgen05Mxf4, 1, 2, tensorMmaMxf4,
                      tensorInstructionFp4(rows, columns, ScaleType::E8M0, firstScale));
MODELC_TCGEN05_SCALED(Tcgen05Mx8, 1, 4, tensorMmaMx8, tensorInstructionMx8(rows, columns, firstScale));
MODELC_TCGEN05_SCALED(Tcgen05Nvf4Pair, Pair, 1, tensorMmaNvf4OfPair,
                      tensorInstructionFp4(rows, columns, ScaleType::E4M3, firstScale));
MODELC_TCGEN05_SCALED(Tcgen05Mxf4Pair, Pair, 2, tensorMmaMxf4OfPair,
                      tensorInstructionFp4(rows, columns, ScaleType::E8M0, firstScale));
MODELC_TCGEN05_SCALED(Tcgen05Mx8Pair, Pair, 4, tensorMmaMx8OfPair, tensorInstructionMx8(rows, columns, firstScale));
#undef MODELC_TCGEN05_SCALED

/// c (+)= a b^T with scales of blocks in tensor memory; of a pair each workgroup has those of its rows of a and of all
/// columns of b.
template <Callers By, class I, int Rows, int Columns, class SA, class SB, int Words>
TILE void mma(TensorPlace<Rows, Columns> c, Place<SA> a, Place<SB> b, ScalesPlace<Words, Rows> scalesOfA,
              ScalesPlace<Words, Columns> scalesOfB, bool add = true) {
  constexpr int height = smaller(Rows, 128), width = smaller(Columns, 256);
  static_assert(SA::columnCount == Words * I::steps * I::k, "expected a word of scales for each step, two or four");
  forEachProduct<By, Rows / height, Columns / width, SA::columnCount / I::k>([&](auto i, auto j, auto step) INLINE {
    constexpr int k = step.value * I::k, word = step.value / I::steps;
    constexpr int firstScale = step.value % I::steps * (4 / I::steps);
    constexpr int row = i.value * height, column = j.value * width;
    constexpr uint32_t instruction = I::instruction(height * I::workgroups, width, firstScale);
    I::multiply(c.address + i.value * Columns + column, tensorDescriptor(a, SA::at(rows(row) | columns(k))),
                tensorDescriptor(b, SB::at(rows(column / I::workgroups) | columns(k))), instruction,
                scalesOfA.at(word, row), scalesOfB.at(word, column), add || step.value > 0);
  });
}
template <class I, int Rows, int Columns, class SA, class SB, int Words>
TILE void mma(TensorPlace<Rows, Columns> c, Place<SA> a, Place<SB> b, ScalesPlace<Words, Rows> scalesOfA,
              ScalesPlace<Words, Columns> scalesOfB, bool add = true) {
  mma<Callers::All, I>(c, a, b, scalesOfA, scalesOfB, add);
}

/// The columns of a place that a tile holds, `PerWord` elements in each: f(first register, length of the run, address)
/// for each run of neighbours.
template <class L, int Columns, int PerWord = 1, class F>
TILE void forEachTensorRun(uint32_t address, F f) {
  static_assert(L::OfLane::image(0) == rows(1) && L::OfLane::image(4) == rows(16) && L::OfWave::image(0) == rows(32),
                "expected one row for each lane, and 32 rows for each wave");
  constexpr int chunk = smaller(64, 1 << Run<typename L::OfRegister, columns(1), 64>::lengthBits(0));
  static_assert(chunk >= 8, "expected neighbouring columns in the registers of a lane");
  const int wave = waveId();
  const int column = mapBits<typename ColumnPart<typename L::OfWave>::Type>(wave);
  repeat<L::registers / chunk>([&](auto c) INLINE {
    constexpr int image = L::OfRegister::map(c.value * chunk);
    constexpr int behind = columnOf(image) / PerWord + rowOf(image) / 128 * Columns;
    f(Constant<c.value * chunk>{}, Constant<chunk>{}, address + column / PerWord + behind + (wave % 4 * 32 << 16));
  });
}

/// An accumulator, or its columns from `column` on, to registers: lanes and the
/// first waves hold rows.
template <class L, int Rows, int Columns>
TILE void loadTensor(Tile<float, L> &tile, TensorPlace<Rows, Columns> from, int column = 0) {
  tensorFenceAfter();
  forEachTensorRun<L, Columns>(from.address + column, [&](auto first, auto chunk, uint32_t address) INLINE {
    tensorLoad(*(float (*)[chunk.value])(tile.v + first.value), address);
  });
  tensorWaitLoads(tile.v);
  tensorFenceBefore();
}
/// The opposite direction; visible to products behind the next sync.
template <class L, int Rows, int Columns>
TILE void storeTensor(const Tile<float, L> &tile, TensorPlace<Rows, Columns> to, int column = 0) {
  tensorFenceAfter();
  forEachTensorRun<L, Columns>(to.address + column, [&](auto first, auto chunk, uint32_t address) INLINE {
    tensorStore(address, *(const float (*)[chunk.value])(tile.v + first.value));
  });
  tensorWaitStores();
  tensorFenceBefore();
}
/// An operand, several elements in each word.
template <class T, class L, int Rows, int Words>
TILE void storeTensor(const Tile<T, L> &tile, TensorPlace<Rows, Words> to) {
  constexpr int perWord = 4 / sizeof(T);
  tensorFenceAfter();
  forEachTensorRun<L, Words, perWord>(to.address, [&](auto first, auto chunk, uint32_t address) INLINE {
    tensorStore(address, *(const uint32_t (*)[chunk.value / perWord])(tile.v + first.value));
  });
  tensorWaitStores();
  tensorFenceBefore();
}

} // namespace modelc

#endif // TARGETS_NVIDIA_TENSORTILES_CUH
