// tables FILE: each line "POSITIONS WIDTH SOURCE" is the binding of a constant;
// what modelc_fill makes of it goes to the standard output, bit by bit.
#include "tables.h"

#include <fstream>

int main(int, char **arguments) {
  std::ifstream file(arguments[1]);
  mc_binding binding{};
  binding.name = "table";
  binding.role = MC_CONSTANT;
  binding.type = MC_F32;
  binding.rank = 2;
  for (std::string source; file >> binding.shape[0] >> binding.shape[1] &&
                           std::getline(file >> std::ws, source);) {
    binding.source = source.c_str();
    std::vector<float> numbers(size_t(binding.shape[0] * binding.shape[1]));
    if (modelc_host::fillTable(&binding, numbers.data())) {
      std::fprintf(stderr, "%s\n", modelc_host::lastError);
    }
    std::fwrite(numbers.data(), sizeof(float), numbers.size(), stdout);
  }
}
