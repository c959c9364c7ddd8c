// prepareLines FILE: each line "TYPE ROWSxCOLUMNS SOURCE" is the binding of a
// weight, which is prepared from tensors of ones: what cannot be prepared is
// one message, whatever the line says.
#include "prepare.h"

#include <fstream>

using namespace modelc_host;

static constexpr int64_t kRows = 256, kColumns = 256, kMost = 1 << 17;

static int readOnes(void *context, const char *name, mc_tensor *tensor) {
  const std::string text = name;
  if (text.find("absent") != std::string::npos) {
    return 1;
  }
  tensor->data = context;
  tensor->type = MC_F32;
  tensor->rank = 2;
  tensor->shape[0] = kRows;
  tensor->shape[1] = kColumns;
  return 0;
}

/// The elements of a binding, or 0 where there are more than fit here.
static int64_t countOf(const mc_binding &binding) {
  int64_t count = 1;
  for (int i = 0; i < binding.rank; ++i) {
    if (binding.shape[i] < 0 || binding.shape[i] > kMost) {
      return 0;
    }
    count *= binding.shape[i];
    if (count > kMost) {
      return 0;
    }
  }
  return count;
}

int main(int, char **arguments) {
  std::vector<float> ones(kRows * kColumns, 1.0f);
  std::ifstream file(arguments[1]);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    mc_binding binding{};
    std::string shape, source;
    if (!(words >> binding.type >> shape) || !std::getline(words, source)) {
      continue;
    }
    source.erase(0, 1);
    std::istringstream sizes(shape);
    for (std::string size;
         binding.rank < 3 && std::getline(sizes, size, 'x');) {
      binding.shape[binding.rank++] = std::strtoll(size.c_str(), nullptr, 10);
    }
    binding.name = "w";
    binding.role = MC_WEIGHT;
    binding.source = source.c_str();
    const int64_t count = countOf(binding);
    if (binding.type < 0 || binding.type > MC_F32X32 || count == 0) {
      continue;
    }
    std::vector<char> out(size_t(count * elementBytes(binding.type)));
    if (prepare(&binding, 1, 3, readOnes, ones.data(), out.data()) &&
        !*lastError) {
      return 1;
    }
  }
  return 0;
}
