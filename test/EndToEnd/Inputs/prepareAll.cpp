// Prepares every weight of a package's decode plan by modelc_prepare, from the
// checkpoint that compare_prepack.py has made:
//
//   prepareAll CHECKPOINT RANKS OUT
//
// CHECKPOINT.txt: a tensor a line, its name, mc_type, place in CHECKPOINT.bin,
// rank and extents. OUT: the weights of the first rank, then of the next.
#include "modelc_kernels.h"
#include "numbers.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <vector>

namespace {

struct KnownTensor {
  mc_tensor tensor{};
  size_t place = 0;
};

class Tensors {
public:
  explicit Tensors(const std::string &path) {
    std::ifstream file(path + ".bin", std::ios::binary);
    data.assign(std::istreambuf_iterator<char>(file), {});
    std::ifstream index(path + ".txt");
    for (std::string line, name; std::getline(index, line);) {
      std::istringstream words(line);
      KnownTensor known;
      words >> name >> known.tensor.type >> known.place >> known.tensor.rank;
      for (int i = 0; i < known.tensor.rank; ++i) {
        words >> known.tensor.shape[i];
      }
      tensors[name] = known;
    }
  }

  /// An mc_read.
  static int read(void *self, const char *name, mc_tensor *tensor) {
    Tensors &own = *static_cast<Tensors *>(self);
    auto found = own.tensors.find(name);
    if (found == own.tensors.end()) {
      return 1;
    }
    *tensor = found->second.tensor;
    tensor->data = own.data.data() + found->second.place;
    return 0;
  }

private:
  std::vector<char> data;
  std::map<std::string, KnownTensor> tensors;
};

size_t bytesOf(const mc_binding &weight) {
  size_t bytes = size_t(modelc_host::elementBytes(weight.type));
  for (int i = 0; i < weight.rank; ++i) {
    bytes *= size_t(weight.shape[i]);
  }
  return bytes;
}

} // namespace

int main(int, char **argv) {
  Tensors tensors(argv[1]);
  std::ofstream out(argv[3], std::ios::binary);
  int count = 0;
  const mc_binding *all = modelc_bindings_decode(&count);
  for (int rank = 0; rank < std::stoi(argv[2]); ++rank) {
    for (const mc_binding *weight = all; weight != all + count; ++weight) {
      if (weight->role != MC_WEIGHT) {
        continue;
      }
      std::vector<char> bytes(bytesOf(*weight), char(0xAA));
      for (int layer = 0; layer < weight->count; ++layer) {
        if (modelc_prepare(weight, layer, rank, Tensors::read, &tensors,
                           bytes.data())) {
          std::fprintf(stderr, "%s\n", modelc_last_error());
          return 1;
        }
        out.write(bytes.data(), std::streamsize(bytes.size()));
      }
    }
  }
  return out ? 0 : 1;
}
