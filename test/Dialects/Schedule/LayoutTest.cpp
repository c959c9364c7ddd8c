//===- LayoutTest.cpp - Layouts against brute force and known tables ------===//
//
// Prints one line per fact; layouts.test checks them. The expectations are
// computed here by loops over elements, never by linear algebra.
//
//===----------------------------------------------------------------------===//

#include "dialects/Schedule/Layout.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <vector>

using namespace modelc;

/// The 128-bit read of a machine with 64 banks: phases {0-3,12-15,20-27},
/// {4-11,16-19,28-31} and the same + 32.
static const std::array<int, 6> kPhaseOfLaneBit = {0, 0, 1, 1, 1, 2};

static Layout linear(const char *name, std::initializer_list<int> images,
                     const char *output, int size) {
  Layout::Input input{name, {}};
  for (int image : images) {
    input.bits.push_back({image});
  }
  return Layout({input}, {{output, size}});
}

static Layout phaseMap() {
  return linear("lane", {0, 0, 1, 1, 1, 2}, "phase", 4);
}

/// 16 rows of 128 bytes; row bit i swaps 16-byte units by rowXor[i].
static Layout swizzled(std::array<int, 4> rowXor) {
  Layout::Input row{"row", {}}, column{"column", {}};
  for (int bit = 0; bit < 4; ++bit) {
    row.bits.push_back({(128 << bit) ^ (rowXor[bit] << 4)});
  }
  for (int bit = 0; bit < 7; ++bit) {
    column.bits.push_back({1 << bit});
  }
  return Layout({row, column}, {{"byte", 2048}});
}

/// Lane l reads 16 bytes of row l % 16, unit l / 16; a further constant would
/// be one xor for all lanes and change nothing.
static Layout operandRead(const Layout &shared) {
  Layout lanes({{"lane", {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {0, 16}, {0, 32}}}},
               {{"row", 16}, {"column", 128}});

  return lanes.then(shared);
}

/// Distinct words that one phase asks of one bank, by counting.
static unsigned countedDegree(const Layout &lanesToByte, int banks) {
  unsigned worst = 0;
  for (int phase = 0; phase < 4; ++phase) {
    std::vector<std::set<int>> words(banks);
    for (int lane = 0; lane < 64; ++lane) {
      int own = 0;
      for (int bit = 0; bit < 6; ++bit) {
        own ^= (lane >> bit & 1) * kPhaseOfLaneBit[bit];
      }
      for (int word = 0; own == phase && word < 4; ++word) {
        int address = lanesToByte.apply({lane})[0] / 4 + word;
        words[address % banks].insert(address);
      }
    }
    for (const std::set<int> &bank : words) {
      worst = std::max<unsigned>(worst, bank.size());
    }
  }
  return worst;
}

static void testConflicts() {
  int equal = 0, free = 0;
  for (int code = 0; code < 4096; ++code) {
    Layout read = operandRead(
        swizzled({code & 7, code >> 3 & 7, code >> 6 & 7, code >> 9}));
    unsigned degree = bankConflictDegree(read, phaseMap(), 64, 4);
    equal += degree == countedDegree(read, 64);
    free += degree == 1;
  }
  std::printf("swizzles: %d of 4096 equal, %d free of conflicts\n", equal,
              free);
  std::printf("degrees: none %u, row %u, half row %u\n",
              bankConflictDegree(operandRead(swizzled({0, 0, 0, 0})),
                                 phaseMap(), 64, 4),
              bankConflictDegree(operandRead(swizzled({1, 2, 4, 0})),
                                 phaseMap(), 64, 4),
              bankConflictDegree(operandRead(swizzled({0, 1, 2, 4})),
                                 phaseMap(), 64, 4));
}

/// The table of fragments: element = row * columns + column.
static void testFragments() {
  Layout fp8({{"register", {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 64}}},
              {"lane", {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {0, 16}, {0, 32}}}},
             {{"row", 16}, {"column", 128}});
  int wrong = 0;
  for (int lane = 0; lane < 64; ++lane) {
    for (int byte = 0; byte < 32; ++byte) {
      auto at = fp8.apply({byte, lane});
      int group = lane / 16;
      wrong += at[0] != lane % 16 ||
               at[1] != 16 * group + byte % 16 + 64 * (byte / 16);
    }
  }
  std::printf("fp8 operand: bijective %d, wrong %d\n", fp8.isBijective(),
              wrong);
  Layout acc({{"register", {{1, 0}, {2, 0}, {8, 0}, {16, 0}}},
              {"lane", {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {4, 0}}}},
             {{"row", 32}, {"column", 32}});
  wrong = 0;
  for (int lane = 0; lane < 64; ++lane) {
    for (int i = 0; i < 16; ++i) {
      auto at = acc.apply({i, lane});
      wrong +=
          at[0] != 8 * (i / 4) + 4 * (lane / 32) + i % 4 || at[1] != lane % 32;
    }
  }
  std::printf("accumulator 32x32: bijective %d, wrong %d\n", acc.isBijective(),
              wrong);
}

static void testInverse() {
  Layout shared = swizzled({1, 2, 4, 0});
  Layout inverse = *shared.inverse();
  int wrong = 0;
  for (int byte = 0; byte < 2048; ++byte) {
    auto at = inverse.apply({byte});
    wrong += shared.apply({at[0], at[1]})[0] != byte;
  }
  // Lane l of a copy writes bytes 16 * l: which element must it fetch?
  Layout lanes =
      linear("lane", {16, 32, 64, 128, 256, 512}, "byte", 2048).then(inverse);
  for (int lane = 0; lane < 64; ++lane) {
    auto at = lanes.apply({lane});
    wrong += at[0] != lane / 8 || at[1] != ((lane % 8) ^ (lane / 8)) * 16;
  }
  std::printf("inverse: wrong %d, none without an image %d\n", wrong,
              !linear("lane", {1, 1}, "byte", 4).inverse().has_value());
  // Replicated lanes take the value 0.
  Layout replicated({{"register", {{1}}}, {"lane", {{0}, {2}}}}, {{"row", 4}});
  auto back = *replicated.inverse();
  std::printf("inverse of a replicated map: row 2 -> register %d lane %d\n",
              back.apply({2})[0], back.apply({2})[1]);
}

static void testProductAndReduced() {
  Layout fragment({{"register", {{0, 1}}}, {"lane", {{1, 0}, {2, 0}}}},
                  {{"row", 4}, {"column", 2}});
  Layout repeats({{"register", {{0, 1}, {1, 0}}}, {"wave", {{0, 0}, {2, 0}}}},
                 {{"row", 4}, {"column", 2}});
  Layout tile = fragment.product(repeats);
  int wrong = 0;
  for (int i = 0; i < 8; ++i) {
    for (int lane = 0; lane < 4; ++lane) {
      for (int wave = 0; wave < 4; ++wave) {
        auto at = tile.apply({i, lane, wave});
        int row = lane + 4 * (i / 4) + 8 * (wave / 2);
        int column = i % 2 + 2 * (i / 2 % 2);
        wrong += at[0] != row || at[1] != column;
      }
    }
  }
  Layout rows = tile.reduced("column");
  for (int lane = 0; lane < 4; ++lane) {
    for (int i = 0; i < 2; ++i) {
      wrong += rows.apply({i, lane, 0})[0] != lane + 4 * i;
    }
  }
  std::printf("product and reduced: wrong %d, registers %d, contiguous %d\n",
              wrong, rows.inputSize("register"), tile.contiguous("column", 8));
  auto back = tile.transposed().apply({5, 1, 2});
  auto same = tile.apply({5, 1, 2});
  std::printf("transposed: wrong %d\n",
              back[0] != same[1] || back[1] != same[0]);
  std::printf("rank %u, injective %d, surjective %d\n", tile.rank(),
              tile.isInjective(), tile.isSurjective());
}

int main() {
  testConflicts();
  testFragments();
  testInverse();
  testProductAndReduced();
}
