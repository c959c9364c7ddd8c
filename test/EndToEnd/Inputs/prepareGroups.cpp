// modelc_prepare: numbers of 8 bits with a scale in f32 for each group of rows
// and columns, made from wider ones or kept as a checkpoint has them.
#include "expect.h"
#include "prepare.h"

#include <map>

using namespace modelc_host;

namespace {

constexpr int kGroup = 4, kRows = 8, kColumns = 12;

/// "w" of 8 x 12 numbers and, where it has 8 bits, its scales of groups.
struct GroupCheckpoint {
  Floats wide = Floats(kRows * kColumns);
  Bytes narrow;
  std::string suffix = "_scale_inv";
  Floats scales = {0.5f, 1, 2, 4, 8, 16};

  static int read(void *self, const char *name, mc_tensor *tensor) {
    auto &own = *static_cast<GroupCheckpoint *>(self);
    tensor->rank = 2;
    if (std::string(name) == "w") {
      tensor->type = own.narrow.empty() ? MC_F32 : MC_F8E4M3FN;
      tensor->data = own.narrow.empty() ? (void *)own.wide.data()
                                        : (void *)own.narrow.data();
      tensor->shape[0] = kRows, tensor->shape[1] = kColumns;
      return 0;
    }
    tensor->type = MC_F32;
    tensor->data = own.scales.data();
    tensor->shape[0] = kRows / kGroup;
    tensor->shape[1] = int64_t(own.scales.size()) / tensor->shape[0];
    return own.narrow.empty() || name != "w" + own.suffix;
  }
};

template <class T>
std::vector<T> prepared(GroupCheckpoint &checkpoint, const char *source,
                        int type, int64_t rows, int64_t columns, int rank) {
  mc_binding binding{};
  binding.name = "w";
  binding.role = MC_WEIGHT;
  binding.source = source;
  binding.type = type;
  binding.rank = 2;
  binding.shape[0] = rows;
  binding.shape[1] = columns;
  std::vector<T> out(size_t(rows * columns));
  if (prepare(&binding, 0, rank, GroupCheckpoint::read, &checkpoint,
              out.data())) {
    std::printf("%s\n", lastError);
    out.clear();
  }
  return out;
}

/// The largest of group g is 448 * 2^(g - 2), of group 4 zero.
void checkMade() {
  GroupCheckpoint c;
  for (int i = 0; i < kRows * kColumns; ++i) {
    const int row = i / kColumns, column = i % kColumns;
    const int group = row / kGroup * 3 + column / kGroup;
    const float number = float((row * 5 + column * 3) % 16 - 8) * 32;
    c.wide[size_t(i)] = group == 4 ? 0 : std::ldexp(number, group - 2);
    if (row % kGroup == 2 && column % kGroup == 1 && group != 4) {
      c.wide[size_t(i)] = std::ldexp(-448.0f, group - 2);
    }
  }
  Floats scales =
      prepared<float>(c, "[\"w\"] grouped 4 block_scale", MC_F32, 2, 3, 0);
  expect("largest magnitudes over 448, 1 for zeros",
         scales == Floats({0.25f, 0.5f, 1, 2, 1, 8}));
  Bytes numbers = prepared<uint8_t>(c, "[\"w\"] stored f32 grouped 4",
                                    MC_F8E4M3FN, kRows, kColumns, 0);
  bool isSame = numbers.size() == c.wide.size();
  for (size_t i = 0; isSame && i < numbers.size(); ++i) {
    const size_t group = i / kColumns / kGroup * 3 + i % kColumns / kGroup;
    isSame &= fromE4M3(numbers[i]) * scales[group] == c.wide[i];
  }
  expect("numbers over the scales of their groups", isSame);
  expect("those of a part of the columns",
         prepared<float>(c, "[\"w\" split 1 of 3] grouped 4 block_scale",
                         MC_F32, 2, 1, 2) == Floats({1, 8}));
  Bytes part = prepared<uint8_t>(c, "[\"w\" split 0 of 2] stored f32 grouped 4",
                                 MC_F8E4M3FN, kRows / 2, kColumns, 1);
  expect("numbers of a part of the rows",
         Bytes(numbers.begin() + kRows / 2 * kColumns, numbers.end()) == part);
  prepared<uint8_t>(c, "[\"w\" split 0 of 4] stored f32 grouped 4", MC_F8E4M3FN,
                    kRows / 4, kColumns, 0);
}

void checkStored() {
  GroupCheckpoint c;
  for (int i = 0; i < kRows * kColumns; ++i) {
    c.narrow.push_back(uint8_t(i));
  }
  expect("stored numbers are kept",
         prepared<uint8_t>(c, "[\"w\"] stored bf16 grouped 4", MC_F8E4M3FN,
                           kRows, kColumns, 0) == c.narrow);
  expect("with their scales",
         prepared<float>(c, "[\"w\"] grouped 4 block_scale", MC_F32, 2, 3, 0) ==
             c.scales);
  expect("of a part, doubled",
         prepared<float>(c,
                         "[\"w\" split 0 of 2] grouped 4 block_scale doubled",
                         MC_F32, 1, 3, 1) == Floats({8, 16, 32}));
  c.suffix = "_scale";
  expect("by another name", prepared<float>(c, "[\"w\"] grouped 4 block_scale",
                                            MC_F32, 2, 3, 0) == c.scales);
  // The last group of rows is cut; exact numbers, so that nothing is rounded.
  Floats wide = prepared<float>(c, "[\"w\" split 0 of 4] grouped 4", MC_F32,
                                kRows / 4, kColumns, 3);
  bool isSame = wide.size() == kColumns * kRows / 4;
  for (size_t i = 0; isSame && i < wide.size(); ++i) {
    const size_t at = i + size_t(kColumns * (kRows - kRows / 4));
    isSame &=
        wide[i] == fromE4M3(c.narrow[at]) * c.scales[3 + i % kColumns / 4];
  }
  expect("widened, of a part of a group", isSame);
  c.scales.resize(4);
  prepared<float>(c, "[\"w\"] grouped 4 block_scale", MC_F32, 2, 3, 0);
  c.suffix = "_other";
  prepared<float>(c, "[\"w\"] grouped 4 block_scale", MC_F32, 2, 3, 0);
}

} // namespace

int main() {
  checkMade();
  checkStored();
  return wrong;
}
