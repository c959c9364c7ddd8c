// modelc_prepare: cuts, joins, defaults, 8 bits in both formats, 4 bits with
// scales of blocks.
#include "prepare.h"
#include "expect.h"

#include <map>

using namespace modelc_host;

namespace {

const std::string kMxfp4 = " blocks 32 of f4E2M1FN scaled f8E8M0FNU",
                  kNvfp4 = " blocks 16 of f4E2M1FN scaled f8E4M3FN";

struct HostTensor {
  std::vector<float> floats;
  std::vector<uint8_t> bytes;
  mc_tensor tensor{};
};
using HostCheckpoint = std::map<std::string, HostTensor>;

int readFrom(void *context, const char *name, mc_tensor *tensor) {
  auto &checkpoint = *static_cast<HostCheckpoint *>(context);
  auto found = checkpoint.find(name);
  if (found == checkpoint.end()) {
    return 1;
  }
  HostTensor &known = found->second;
  *tensor = known.tensor;
  tensor->data = known.bytes.empty() ? static_cast<void *>(known.floats.data())
                                     : known.bytes.data();
  return 0;
}

void add(HostCheckpoint &checkpoint, const char *name, int rows, int columns,
         std::vector<float> values) {
  HostTensor &made = checkpoint[name];
  made.floats = std::move(values);
  made.tensor.type = MC_F32;
  made.tensor.rank = columns ? 2 : 1;
  made.tensor.shape[0] = rows;
  made.tensor.shape[1] = columns;
}

mc_binding bind(const char *source, int type, int64_t rows, int64_t columns) {
  mc_binding binding{};
  binding.name = "w";
  binding.role = MC_WEIGHT;
  binding.source = source;
  binding.type = type;
  binding.rank = columns ? 2 : 1;
  binding.shape[0] = rows;
  binding.shape[1] = columns;
  return binding;
}

template <class T>
std::vector<T> prepared(HostCheckpoint &checkpoint, const std::string &source,
                        int type, int64_t rows, int64_t columns, int rank,
                        int64_t layer = 0) {
  mc_binding binding = bind(source.c_str(), type, rows, columns);
  std::vector<T> out(size_t(rows * (columns ? columns : 1)));
  if (prepare(&binding, layer, rank, readFrom, &checkpoint, out.data())) {
    std::printf("%s\n", lastError);
    out.clear();
  }
  return out;
}

/// What a pattern of FNUZ means, from its definition: bias 8, NaN at 0x80.
double fromFnuz(int bits) {
  if (bits == 0x80) {
    return NAN;
  }
  const int exponent = bits >> 3 & 15, mantissa = bits & 7;
  const double size = exponent ? std::ldexp(1 + mantissa / 8.0, exponent - 8)
                               : std::ldexp(mantissa / 8.0, -7);
  return bits & 0x80 ? -size : size;
}

void checkFormats() {
  bool isSame = true, isHalf = true;
  for (int bits = 0; bits < 256; ++bits) {
    const float value = fromE4M3(uint8_t(bits));
    isSame &= std::isnan(value) || toE4M3(value) == bits;
    const double half = fromFnuz(toFnuz(uint8_t(bits)));
    isHalf &= std::isnan(value) ? std::isnan(half) : half == value / 2;
  }
  expect("all numbers of 8 bits come back", isSame);
  expect("all are half in FNUZ, without minus zero", isHalf);
  expect("ties to even, saturation, subnormals",
         toE4M3(17) == toE4M3(16) && toE4M3(19) == toE4M3(20) &&
             toE4M3(1e9f) == 0x7E && toE4M3(-1e9f) == 0xFE &&
             fromE4M3(toE4M3(0.003f)) == 0.00390625f && toE4M3(0.0009f) == 0);
}

void checkParts() {
  HostCheckpoint c;
  add(c, "l2.a", 4, 2, {0, 1, 2, 3, 4, 5, 6, 7});
  add(c, "l2.b", 2, 2, {10, 11, 12, 13});
  expect("below one another, rows of a rank",
         prepared<float>(c, "[\"l{layer}.a\" split 0 of 2, \"l{layer}.b\"]",
                         MC_F32, 4, 2, 1,
                         2) == Floats({4, 5, 6, 7, 10, 11, 12, 13}));
  expect("columns of a rank, with copies",
         prepared<float>(c, "[\"l{layer}.a\" split 1 of 2 copies 2]", MC_F32, 4,
                         1, 3, 2) == Floats({1, 3, 5, 7}));
  expect("zeros behind the last row, before the split",
         prepared<float>(c, "[\"l2.a\" padded 2 split 0 of 3]", MC_F32, 2, 2,
                         2) == Floats({0, 0, 0, 0}) &&
             prepared<float>(c, "[\"l2.b\" padded 1]", MC_F32, 3, 2, 0) ==
                 Floats({10, 11, 12, 13, 0, 0}));
  expect("zeros behind the first rank",
         prepared<float>(c, "[\"l2.b\" first rank]", MC_F32, 2, 2, 1) ==
             Floats({0, 0, 0, 0}));
  expect("defaults, doubled",
         prepared<float>(c, "[\"k_scale\"] default 1.5 doubled", MC_F32, 1, 0,
                         0) == Floats({3}));
  expect("bf16 to nearest even",
         prepared<uint16_t>(c, "[\"l2.a\"]", MC_BF16, 4, 2, 0)[3] == 0x4040);
}

void checkQuantised() {
  HostCheckpoint c;
  add(c, "w", 3, 4, {448, -2, 1, 0, 0, 0, 0, 0, -0.5f, 0.25f, 0.125f, -0.0f});
  // Scales are those of whole rows, whichever columns a rank has.
  expect("rows over their scales",
         prepared<uint8_t>(c, "[\"w\" split 1 of 2] stored bf16", MC_F8E4M3FN,
                           3, 2,
                           1) == Bytes({0x38, 0, 0, 0, toE4M3(112), 0x80}));
  expect("the same in FNUZ",
         prepared<uint8_t>(c, "[\"w\" split 1 of 2] stored bf16", MC_F8E4M3FNUZ,
                           3, 2, 1) == Bytes({0x38, 0, 0, 0, toE4M3(112), 0}));
  expect("scales", prepared<float>(c, "[\"w\"] channel_scale", MC_F32, 3, 0,
                                   0) == Floats({1, 1, 0.5f / 448}));
  expect("scales, doubled",
         prepared<float>(c, "[\"w\"] channel_scale doubled", MC_F32, 3, 0, 0) ==
             Floats({2, 2, 1.0f / 448}));
}

void checkStored() {
  HostCheckpoint c;
  add(c, "w", 2, 2, {});
  c["w"].bytes = {0x01, 0x80, 0x7F, 0x38};
  c["w"].tensor.type = MC_F8E4M3FN;
  add(c, "w_scale", 2, 0, {0.5f, 3});
  expect("stored numbers are kept",
         prepared<uint8_t>(c, "[\"w\"] stored bf16", MC_F8E4M3FN, 2, 2, 0) ==
             Bytes({0x01, 0x80, 0x7F, 0x38}));
  expect("and encoded for FNUZ",
         prepared<uint8_t>(c, "[\"w\"] stored bf16", MC_F8E4M3FNUZ, 2, 2, 0) ==
             Bytes({0x01, 0, 0x80, 0x38}));
  expect("with their own scales",
         prepared<float>(c, "[\"w\" split 0 of 2] channel_scale doubled",
                         MC_F32, 1, 0, 1) == Floats({6}));
  add(c, "w_scale", 3, 0, {1, 2, 3});
  prepared<float>(c, "[\"w\"] channel_scale", MC_F32, 2, 0, 0);
}

/// Two rows of four blocks; the largest of block b of row r is 6 * 2^(b + r).
void addBlocks(HostCheckpoint &c, const char *name, float factor) {
  std::vector<float> values;
  for (int row = 0; row < 2; ++row) {
    for (int i = 0; i < 128; ++i) {
      const float unit = factor * std::ldexp(1.0f, i / 32 + row);
      values.push_back(unit * (i % 32 == 3   ? -6.0f
                               : i % 32 == 4 ? 2.5f
                                             : 0.5f));
    }
  }
  add(c, name, 2, 128, values);
}

/// Scales of blocks in words of that type.
std::vector<uint8_t> wordsOf(HostCheckpoint &c, const std::string &source,
                             int type, int groups, int words, int rank) {
  mc_binding binding = bind(source.c_str(), type, groups, words);
  binding.rank = 3;
  binding.shape[2] = 256;
  std::vector<uint8_t> out(size_t(groups * words * 1024), 0xAA);
  if (prepare(&binding, 0, rank, readFrom, &c, out.data())) {
    std::printf("%s\n", lastError);
    out.clear();
  }
  return out;
}

/// Of a scale buffer [1, 1, 256]: those of a row.
std::vector<uint8_t> scalesOfRow(HostCheckpoint &c, const char *source, int row,
                                 int rank) {
  std::vector<uint8_t> out =
      wordsOf(c, source + kMxfp4 + " block_scale", MC_F8E8M0FNUX4, 1, 1, rank);
  out.resize(1024);
  return {out.begin() + row * 4, out.begin() + row * 4 + 4};
}

void checkBlocks() {
  HostCheckpoint c;
  addBlocks(c, "a", 1);
  addBlocks(c, "b", 0.25f);
  bool isSame = true;
  for (int bits = 0; bits < 16; ++bits) {
    isSame &= toE2M1(fromE2M1(bits)) == bits;
  }
  expect("all numbers of 4 bits come back", isSame);
  expect("ties to even, saturation, the smallest",
         toE2M1(2.5f) == toE2M1(2) && toE2M1(3.5f) == toE2M1(4) &&
             toE2M1(-5) == toE2M1(-4) && toE2M1(1e9f) == 7 &&
             toE2M1(0.25f) == 0 && fromE2M1(toE2M1(0.26f)) == 0.5f);
  // 0.5 is 1, -6 is 15 and 2.5 becomes 2, which is 4.
  Bytes numbers = prepared<uint8_t>(c, "[\"a\" split 1 of 2]" + kMxfp4,
                                    MC_F4E2M1FNX2, 2, 32, 1);
  expect("blocks over their scales, in pairs",
         numbers.size() == 64 && numbers[0] == 0x11 && numbers[1] == 0xF1 &&
             numbers[2] == 0x14 && numbers[16 + 1] == 0xF1);
  expect("scales of blocks",
         scalesOfRow(c, "[\"a\"]", 1, 0) == Bytes({128, 129, 130, 131}));
  expect("of the columns of a rank, below one another",
         scalesOfRow(c, "[\"a\" split 1 of 2, \"b\" split 1 of 2]", 2, 1) ==
             Bytes({127, 128, 0, 0}));
  expect("nothing beyond the last row",
         scalesOfRow(c, "[\"a\"]", 2, 0) == Bytes({0, 0, 0, 0}));
  addBlocks(c, "tiny", std::ldexp(1.0f, -128));
  expect("the smallest scale",
         scalesOfRow(c, "[\"tiny\"]", 0, 0) == Bytes({0, 0, 1, 2}));
}

void checkStoredBlocks() {
  HostCheckpoint c;
  add(c, "w", 2, 32, {});
  for (int i = 0; i < 64; ++i) {
    c["w"].bytes.push_back(uint8_t(i * 37));
  }
  c["w"].tensor.type = MC_F4E2M1FNX2;
  add(c, "w_scale", 2, 2, {});
  c["w_scale"].bytes = {0, 100, 127, 255};
  c["w_scale"].tensor.type = MC_F8E8M0FNU;
  expect("stored numbers of 4 bits are kept",
         prepared<uint8_t>(c, "[\"w\"]" + kMxfp4, MC_F4E2M1FNX2, 2, 32, 0) ==
             c["w"].bytes);
  expect("with their own scales of blocks",
         scalesOfRow(c, "[\"w\"]", 1, 0) == Bytes({127, 255, 0, 0}) &&
             scalesOfRow(c, "[\"w\" split 1 of 2]", 0, 1) ==
                 Bytes({100, 0, 0, 0}));
}

/// Random scales where NVIDIA's descriptions of block scales put them (PTX ISA,
/// scale factors of tcgen05.mma; cuBLAS, tiles of 128 x 4): of 128 rows and 4
/// blocks the scale of row r and block b is byte r % 32 * 16 + r / 32 * 4 + b.
void checkPackedBlocks() {
  const int rows = 300, blocks = 12, groups = 2, words = 3;
  HostCheckpoint c;
  add(c, "w", rows, blocks * 32 / 2, {});
  c["w"].bytes.assign(size_t(rows * blocks * 16), 0);
  c["w"].tensor.type = MC_F4E2M1FNX2;
  add(c, "w_scale", rows, blocks, {});
  c["w_scale"].tensor.type = MC_F8E8M0FNU;
  std::vector<uint8_t> expected(groups * words * 1024);
  uint32_t random = 1;
  for (int row = 0; row < rows; ++row) {
    for (int block = 0; block < blocks; ++block) {
      random = random * 1664525 + 1013904223;
      const uint8_t scale = uint8_t(1 + (random >> 24) % 254);
      c["w_scale"].bytes.push_back(scale);
      const int tile = (row / 256 * words + block / 4) * 2 + row / 128 % 2;
      expected[size_t(tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 +
                      block % 4)] = scale;
    }
  }
  const std::string packed = " block_scale packed 16 32 64 128 256 4 8";
  expect("scales in the order of tensor memory",
         wordsOf(c, "[\"w\"]" + kMxfp4 + packed, MC_F8E8M0FNUX4, groups, words,
                 0) == expected);
}

/// [rows, columns] of numbers whose blocks of 16 have the largest magnitude 6,
/// and powers of two as scales; of the tensor it is 1344, half of 6 x 448.
std::vector<float> fineValues(int rows, int columns) {
  std::vector<float> values;
  for (int i = 0; i < rows * columns; ++i) {
    const int block = i / 16;
    const float unit = i < 16 ? 224 : std::ldexp(1.0f, block % 5 - 3);
    values.push_back(unit * (i % 16 == 7 ? -6.0f : i % 16 == 9 ? 2.4f : 1.0f));
  }
  return values;
}

std::vector<uint8_t> fineScales(HostCheckpoint &c, const char *what, int groups,
                                int words, int rank) {
  return wordsOf(c, "[\"w\"]" + kNvfp4 + " block_scale" + what, MC_F8E4M3FNX4,
                 groups, words, rank);
}

void checkNvfp4() {
  HostCheckpoint c;
  add(c, "w", 4, 64, fineValues(4, 64));
  add(c, "v", 2, 64, std::vector<float>(128));
  expect("scales of tensors, for each row",
         prepared<float>(c, "[\"w\" split 0 of 2, \"v\"] tensor_scale" + kNvfp4,
                         MC_F32, 4, 0, 1) == Floats({0.5f, 0.5f, 1, 1}));
  Bytes scales = fineScales(c, "", 1, 1, 0);
  // Blocks have the scales 224, 1/4, 1/2, 1, then 2, 1/8, ..., over 1/2.
  expect("scales of blocks over them",
         scales.size() == 1024 && scales[0] == toE4M3(448) &&
             scales[1] == toE4M3(0.5f) && scales[3] == toE4M3(2) &&
             scales[4] == toE4M3(4) && scales[5] == toE4M3(0.25f));
  const std::string numbers = "[\"w\" split 1 of 2]" + kNvfp4;
  Bytes half = prepared<uint8_t>(c, numbers, MC_F4E2M1FNX2, 4, 16, 1);
  // 1 is 2, -6 is 15 and 2.4 becomes 2, which is 4.
  expect("numbers over both, of the columns of a rank",
         half.size() == 64 && half[0] == 0x22 && half[3] == 0xF2 &&
             half[4] == 0x42 && half[8 + 3] == 0xF2 && half[60] == 0x42);
  add(c, "a.input_scale", 1, 0, {0.25f});
  add(c, "b.input_scale", 1, 0, {0.5f});
  const char *largest = "[\"a.input_scale\", \"x.input_scale\", "
                        "\"b.input_scale\"] largest default 1";
  expect("the largest of those that there are",
         prepared<float>(c, largest, MC_F32, 1, 0, 0) == Floats({0.5f}));
  expect("or the default", prepared<float>(c, "[\"x\"] largest default 1",
                                           MC_F32, 1, 0, 0) == Floats({1}));
}

/// As ModelOpt stores it: pairs, weight_scale in e4m3, weight_scale_2.
void checkStoredNvfp4() {
  HostCheckpoint c;
  const int rows = 200, blocks = 8, half = 100;
  add(c, "w", rows, blocks * 8, {});
  c["w"].tensor.type = MC_F4E2M1FNX2;
  add(c, "w_scale", rows, blocks, {});
  c["w_scale"].tensor.type = MC_F8E4M3FN;
  add(c, "w_scale_2", 1, 0, {0.0123f});
  uint32_t random = 7;
  auto next = [&] {
    return uint8_t((random = random * 1664525 + 1013904223) >> 24);
  };
  for (int i = 0; i < rows * blocks * 8; ++i) {
    c["w"].bytes.push_back(next());
  }
  // Of each row and block; those of row 100 and on begin a group.
  Bytes expected(2 * 2 * 1024);
  for (int i = 0; i < rows * blocks; ++i) {
    const uint8_t scale = uint8_t(next() % 0x7F);
    const int row = i / blocks, block = i % blocks;
    c["w_scale"].bytes.push_back(scale);
    const int place = row % half, tile = (row / half * 2 + block / 4) * 2;
    expected[size_t(tile * 512 + place % 32 * 16 + place / 32 * 4 +
                    block % 4)] = scale;
  }
  const char *scales = " apart 100 packed 16 32 64 128 256 4 8";
  expect("stored scales of blocks, of halves apart",
         fineScales(c, scales, 2, 2, 0) == expected);
  expect("stored numbers are kept",
         prepared<uint8_t>(c, "[\"w\"]" + kNvfp4, MC_F4E2M1FNX2, rows,
                           blocks * 8, 0) == c["w"].bytes);
  expect("and stored scales of tensors",
         prepared<float>(c, "[\"w\" split 0 of 100] tensor_scale" + kNvfp4,
                         MC_F32, 2, 0, 3) == Floats({0.0123f, 0.0123f}));
  // Too many rows for the groups that are left; scales of fewer rows; another
  // format.
  fineScales(c, " apart 100", 1, 2, 0);
  c["w_scale"].tensor.shape[0] = rows / 2;
  fineScales(c, "", 1, 2, 0);
  c["w_scale"].tensor.shape[0] = rows;
  prepared<uint8_t>(c, "[\"w\"]" + kMxfp4, MC_F4E2M1FNX2, rows, blocks * 8, 0);
  prepared<uint16_t>(c, "[\"w\"]", MC_BF16, rows, blocks * 16, 0);
  prepared<float>(c, "[\"w\"] channel_scale", MC_F32, rows, 0, 0);
  c.erase("w_scale_2");
  prepared<float>(c, "[\"w\"] tensor_scale" + kNvfp4, MC_F32, rows, 0, 0);
}

} // namespace

int main() {
  checkFormats();
  checkParts();
  checkQuantised();
  checkStored();
  checkBlocks();
  checkStoredBlocks();
  checkPackedBlocks();
  checkNvfp4();
  checkStoredNvfp4();
  HostCheckpoint none;
  prepared<float>(none, "[\"missing\"]", MC_F32, 1, 0, 0);
  for (const char *broken :
       {"[\"a\" split 0 of 0]", "[{}, \"a\", [{}]] largest", "[]",
        "[\"a\"] blocks 16 of f4E2M1FN scaled f8E4M3FN block_scale"}) {
    prepared<float>(none, broken, MC_F32, 1, 0, 0);
  }
  add(none, "w", 2, 2, {1, 2, 3, 4});
  prepared<float>(none, "[\"w\"]", MC_F32, 1, 2, 0);
  prepared<float>(none, "[\"w\"]", MC_F32, 4, 2, 0);
  prepared<uint8_t>(none, "[\"w\"]" + kMxfp4, MC_F4E2M1FNX2, 2, 1, 0);
  add(none, "long", 1, 256, std::vector<float>(256));
  scalesOfRow(none, "[\"long\"]", 0, 0);
  return wrong;
}
