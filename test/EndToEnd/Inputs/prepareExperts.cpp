// modelc_prepare of experts: a tensor of each or one of all, other orders of
// rows and columns, names of other formats, numbers that are dequantised.
#include "expect.h"
#include "prepare.h"

#include <map>

using namespace modelc_host;

namespace {

struct HostTensor {
  std::vector<char> bytes;
  mc_tensor tensor{};
};
using HostCheckpoint = std::map<std::string, HostTensor>;

int readFrom(void *context, const char *name, mc_tensor *tensor) {
  auto &checkpoint = *static_cast<HostCheckpoint *>(context);
  auto found = checkpoint.find(name);
  if (found == checkpoint.end()) {
    return 1;
  }
  *tensor = found->second.tensor;
  tensor->data = found->second.bytes.data();
  return 0;
}

template <class T>
void add(HostCheckpoint &checkpoint, const std::string &name, int type,
         const std::vector<int64_t> &shape, const std::vector<T> &values) {
  HostTensor &made = checkpoint[name];
  made.bytes.resize(values.size() * sizeof(T));
  std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  made.tensor.type = type;
  made.tensor.rank = int(shape.size());
  std::copy(shape.begin(), shape.end(), made.tensor.shape);
}

template <class T>
std::vector<T> prepared(HostCheckpoint &checkpoint, const std::string &source,
                        int type, const std::vector<int64_t> &shape,
                        int rank = 0) {
  mc_binding binding{};
  binding.name = "w";
  binding.role = MC_WEIGHT;
  binding.source = source.c_str();
  binding.type = type;
  binding.rank = int(shape.size());
  std::copy(shape.begin(), shape.end(), binding.shape);
  size_t bytes = size_t(elementBytes(type));
  for (int64_t extent : shape) {
    bytes *= size_t(extent);
  }
  std::vector<T> out(bytes / sizeof(T));
  if (prepare(&binding, 3, rank, readFrom, &checkpoint, out.data())) {
    std::printf("%s\n", lastError);
    out.clear();
  }
  return out;
}

std::vector<float> counted(int count, float first = 0) {
  std::vector<float> values(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    values[size_t(i)] = first + float(i);
  }
  return values;
}

/// Two experts, gate and up of 2 rows and 2 columns.
void checkNames() {
  HostCheckpoint c;
  add(c, "l3.0.gate", MC_F32, {2, 2}, counted(4));
  add(c, "l3.0.up", MC_F32, {2, 2}, counted(4, 10));
  add(c, "l3.1.gate", MC_F32, {2, 2}, counted(4, 20));
  add(c, "l3.1.up", MC_F32, {2, 2}, counted(4, 30));
  add(c, "l3.down", MC_F32, {2, 3, 2}, counted(12));
  add(c, "l3.turned", MC_F32, {2, 2, 3}, counted(12));
  expect("a tensor of each, rows of a rank",
         prepared<float>(c,
                         "[\"l{layer}.{expert}.gate\" split 1 of 2, "
                         "\"l{layer}.{expert}.up\" split 1 of 2] experts 2",
                         MC_F32, {2, 2, 2},
                         1) == Floats({2, 3, 12, 13, 22, 23, 32, 33}));
  expect("one of all, columns of a rank",
         prepared<float>(c, "[\"l3.down\" split 2 of 2] experts 2", MC_F32,
                         {2, 3, 1}, 1) == Floats({1, 3, 5, 7, 9, 11}));
  expect("inputs first",
         prepared<float>(c, "[\"l3.turned\"] experts 2 transposed", MC_F32,
                         {2, 3, 2}) ==
             Floats({0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}));
  expect("inputs first, columns of a rank",
         prepared<float>(c, "[\"l3.turned\" split 2 of 2] experts 2 transposed",
                         MC_F32, {2, 3, 1}, 1) == Floats({3, 4, 5, 9, 10, 11}));
}

/// Rows of gate and up in turn: 0 1 2 3 are gate, up, gate, up.
void checkTurns() {
  HostCheckpoint c;
  add(c, "gu", MC_F32, {2, 4, 1}, counted(8));
  add(c, "bias", MC_F32, {2, 4}, counted(8));
  const std::string words = " experts 2 interleaved";
  expect("gate above up",
         prepared<float>(c, "[\"gu\"]" + words, MC_F32, {2, 4, 1}) ==
             Floats({0, 2, 1, 3, 4, 6, 5, 7}));
  expect("of a rank",
         prepared<float>(c, "[\"gu\" split 1 of 2]" + words, MC_F32, {2, 2, 1},
                         1) == Floats({2, 3, 6, 7}));
  expect("of a rank, halves",
         prepared<float>(c, "[\"gu\" split 1 of 2] experts 2 halves", MC_F32,
                         {2, 2, 1}, 1) == Floats({1, 3, 5, 7}));
  expect("biases", prepared<float>(c, "[\"bias\"]" + words, MC_F32, {2, 4}) ==
                       Floats({0, 2, 1, 3, 4, 6, 5, 7}));
}

/// What a matrix of all experts becomes is what theirs become.
void checkQuantised() {
  HostCheckpoint c;
  std::vector<float> values = counted(2 * 2 * 64);
  add(c, "w", MC_F32, {2, 2, 64}, values);
  for (int e = 0; e < 2; ++e) {
    add(c, "w" + std::to_string(e), MC_F32, {2, 64},
        std::vector<float>(values.begin() + e * 128,
                           values.begin() + (e + 1) * 128));
  }
  auto same = [&](const std::string &words, int type,
                  std::vector<int64_t> shape) {
    const auto all =
        prepared<char>(c, "[\"w\"] stored f32 experts 2" + words, type, shape);
    shape.erase(shape.begin());
    auto one = prepared<char>(c, "[\"w0\"] stored f32" + words, type, shape);
    const auto other =
        prepared<char>(c, "[\"w1\"] stored f32" + words, type, shape);
    one.insert(one.end(), other.begin(), other.end());
    return !all.empty() && all == one;
  };
  const std::string nvfp4 = " blocks 16 of f4E2M1FN scaled f8E4M3FN";
  expect("8 bits", same("", MC_F8E4M3FN, {2, 2, 64}));
  expect("their scales", same(" channel_scale", MC_F32, {2, 2}));
  expect("4 bits", same(nvfp4, MC_F4E2M1FNX2, {2, 2, 32}));
  expect("second scales of each",
         same(nvfp4 + " tensor_scale", MC_F32, {2, 2}));
  const auto words = prepared<uint8_t>(
      c, "[\"w\"] stored f32 experts 2" + nvfp4 + " block_scale", MC_F8E4M3FNX4,
      {2, 1, 256});
  const auto last =
      prepared<uint8_t>(c, "[\"w1\"] stored f32" + nvfp4 + " block_scale",
                        MC_F8E4M3FNX4, {1, 1, 256});
  expect("scales of each in groups of their own",
         words.size() == 2048 && last.size() == 1024 &&
             std::equal(last.begin(), last.end(), words.begin() + 1024));
}

/// Of two experts four rows with gate and up in turn, of 64 numbers.
void checkBlocks() {
  HostCheckpoint c;
  std::vector<uint8_t> numbers(2 * 4 * 32), scales(2 * 4 * 2);
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = uint8_t(i * 37);
  }
  for (size_t i = 0; i < scales.size(); ++i) {
    scales[i] = uint8_t(120 + i);
  }
  add(c, "gu_blocks", MC_F4E2M1FNX2, {2, 4, 2, 16}, numbers);
  add(c, "gu_scales", MC_F8E8M0FNU, {2, 4, 2}, scales);
  const std::string source =
      "[\"gu\"] stored bf16 blocks 32 of f4E2M1FN scaled "
      "f8E8M0FNU held _blocks by _scales experts 2 "
      "interleaved";
  const auto kept = prepared<uint8_t>(c, source, MC_F4E2M1FNX2, {2, 4, 32});
  bool isSame = kept.size() == numbers.size();
  for (size_t row = 0; isSame && row < 8; ++row) {
    const size_t from[] = {0, 2, 1, 3, 4, 6, 5, 7};
    isSame &= std::equal(&kept[row * 32], &kept[row * 32] + 32,
                         &numbers[from[row] * 32]);
  }
  expect("blocks are kept, gate above up", isSame);
  const auto words = prepared<uint8_t>(c, source + " block_scale",
                                       MC_F8E8M0FNUX4, {2, 1, 256});
  expect("so are their scales", words.size() == 2048 && words[0] == 120 &&
                                    words[1] == 121 && words[4] == 124 &&
                                    words[8] == 122 && words[1024] == 128 &&
                                    words[1028] == 132);
  const auto numbersOf = prepared<float>(
      c,
      "[\"gu\"] held _blocks by _scales dequantised f4E2M1FN/f8E8M0FNU "
      "f4E2M1FN/f8E8M0FNU experts 2",
      MC_F32, {2, 4, 64});
  expect(
      "or numbers times them",
      numbersOf.size() == 512 &&
          numbersOf[33] == fromE2M1(numbers[16] >> 4) * fromE8M0(scales[1]) &&
          numbersOf[511] == fromE2M1(numbers[255] >> 4) * fromE8M0(scales[15]));
}

void checkOtherNames() {
  HostCheckpoint c;
  add(c, "a.0.weight_packed", MC_F4E2M1FNX2, {1, 8},
      std::vector<uint8_t>{1, 2, 3, 4, 5, 6, 7, 8});
  add(c, "a.0.weight_scale", MC_F8E4M3FN, {1, 1}, std::vector<uint8_t>{0x38});
  add(c, "a.0.weight_global_scale", MC_F32, {1}, Floats{4});
  const std::string source =
      "[\"a.{expert}.weight\"] stored bf16 blocks 16 of f4E2M1FN scaled "
      "f8E4M3FN held .weight_packed by .weight_scale over "
      ".weight_global_scale experts 1";
  expect("names of another format",
         prepared<uint8_t>(c, source, MC_F4E2M1FNX2, {1, 1, 8}) ==
             Bytes({1, 2, 3, 4, 5, 6, 7, 8}));
  expect("a scale that numbers are divided by",
         prepared<float>(c, source + " tensor_scale", MC_F32, {1, 1}) ==
             Floats({0.25f}));
  add(c, "a.input_global_scale", MC_F32, {1}, Floats{8});
  expect(
      "the largest of one over each",
      prepared<float>(c,
                      "[\"a.input_global_scale\", "
                      "\"a.0.weight_global_scale\"] largest default 1 inverse",
                      MC_F32, {1}) == Floats({0.25f}));
  add(c, "b.0.weight", MC_F32, {1, 16}, counted(16));
  expect("tensors that are not quantised have their own names",
         prepared<uint8_t>(c, "[\"b.{expert}.weight\"]" + source.substr(21),
                           MC_F4E2M1FNX2, {1, 1, 8})
                 .size() == 8);
}

/// 130 rows are two groups of 128, the last of two rows.
void checkGroups() {
  HostCheckpoint c;
  std::vector<uint8_t> numbers(130 * 130, 0x38);
  numbers[129 * 130 + 127] = 0x40;
  add(c, "w", MC_F8E4M3FN, {130, 130}, numbers);
  add(c, "w_scale_inv", MC_F32, {2, 2}, Floats{1, 2, 3, 4});
  const auto made = prepared<float>(
      c, "[\"w\"] held .weight by _scale_inv dequantised f8E4M3FN/f32", MC_F32,
      {130, 130});
  c["w.weight"] = c["w"];
  const auto renamed = prepared<float>(
      c, "[\"w\"] held .weight by _scale_inv dequantised f8E4M3FN/f32", MC_F32,
      {130, 130});
  expect("groups that rows do not fill, times their scales",
         renamed.size() == 16900 && renamed[0] == 1 && renamed[129] == 2 &&
             renamed[128 * 130] == 3 && renamed[129 * 130 + 127] == 6 &&
             renamed[16899] == 4 && made == renamed);
}

void checkMistakes() {
  HostCheckpoint c;
  add(c, "w.0", MC_F32, {2, 2}, counted(4));
  prepared<float>(c, "[\"w.{expert}\"] experts 2", MC_F32, {2, 2, 2});
  prepared<float>(c, "[\"w.{expert}\"] experts 3", MC_F32, {4, 2, 2});
  prepared<float>(c, "[\"w.{expert}\" split 0 of 2] experts 1", MC_F32,
                  {1, 2, 2});
  add(c, "gu", MC_F32, {1, 4, 1}, counted(4));
  for (const char *order : {"interleaved", "halves"}) {
    prepared<float>(c, std::string("[\"gu\" split 1 of 4] experts 1 ") + order,
                    MC_F32, {1, 1, 1}, 1);
  }
}

} // namespace

int main() {
  checkNames();
  checkTurns();
  checkQuantised();
  checkBlocks();
  checkOtherNames();
  checkGroups();
  checkMistakes();
  return 0;
}
