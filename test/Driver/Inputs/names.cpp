// Prints the tensors that the loader of a package asks for, each with a zero
// byte behind it.
#include "modelc_kernels.h"
#include "source.h"

#include <cstdio>

static void print(const mc_binding *bindings, int count) {
  for (int i = 0; i < count; ++i) {
    if (bindings[i].role != MC_WEIGHT) {
      continue;
    }
    const modelc_host::WeightSource source(bindings[i].source, 0);
    for (const modelc_host::SourcePart &part : source.parts) {
      std::fwrite(part.name.c_str(), 1, part.name.size() + 1, stdout);
    }
  }
}

int main() {
  int count = 0;
  const mc_binding *prefill = modelc_bindings_prefill(&count);
  print(prefill, count);
  const mc_binding *decode = modelc_bindings_decode(&count);
  print(decode, count);
}
