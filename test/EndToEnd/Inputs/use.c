/* A host in C, on a machine without the driver. */
#include "modelc_kernels.h"

#include <stdio.h>

int main(void) {
  int count = 0;
  const int64_t sizes[] = {100};
  const mc_binding *bindings = modelc_bindings_prefill(&count);
  int status = modelc_open(".");
  printf("%d tensors, the first is %s, workspace %lld\n", count,
         bindings[0].name, (long long)modelc_workspace_bytes_prefill(sizes));
  printf("%d: %s\n", status, modelc_last_error());
  return status;
}
