/* modelc.h - What every host library of modelc has in common, in plain C.
 *
 * A compilation adds modelc_kernels.h with one function for each op and each
 * plan (prefill, decode), all of this shape:
 *
 *   int modelc_<name>(const mc_tensor *tensors, int count,
 *                     const int64_t *sizes, int sizeCount,
 *                     void *workspace, void *stream);
 *
 * and for each plan modelc_workspace_bytes_<plan>, modelc_bindings_<plan>. They
 * put kernels on a stream of the current device and return: they allocate
 * nothing, wait for nothing and may be called from any thread and while a graph
 * is captured. A CUDA driver may start a kernel while the one before it in the
 * stream ends (programmatic dependent launch, in graphs from 12.3 on); ours
 * wait for that one before they touch memory. 0 is success; else
 * modelc_last_error() says what was wrong.
 */
#ifndef MODELC_HOST_MODELC_H
#define MODELC_HOST_MODELC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a function returns. */
enum mc_status {
  MC_OK = 0,
  MC_BAD_ARGUMENT = 1, /* a tensor or a size is not what the manifest says */
  MC_NO_KERNEL = 2,    /* no kernel serves these sizes */
  MC_NOT_OPEN = 3,     /* modelc_open was not called for this device */
  MC_NO_FILE = 4,      /* a binary is missing */
  MC_DRIVER = 5        /* the driver refused; its code is in the message */
};

/* Element types, spelled as in the manifest. */
enum mc_type {
  MC_BF16 = 0,
  MC_F16 = 1,
  MC_F32 = 2,
  MC_F8E4M3FN = 3,
  MC_F8E4M3FNUZ = 4,
  MC_I32 = 5,
  MC_I64 = 6,
  MC_F4E2M1FNX2 = 7,  /* two numbers in a byte, the first in the lower bits */
  MC_F8E8M0FNU = 8,   /* a power of two: a scale */
  MC_F8E8M0FNUX4 = 9, /* scales of four neighbouring blocks, first one lowest */
  MC_BF16X2 = 10,     /* pairs, of kernels that make four bits */
  MC_F16X2 = 11,
  MC_F32X2 = 12,
  MC_F8E4M3FNX4 = 13,  /* as MC_F8E8M0FNUX4, of scales with a fraction */
  MC_F6E2M3FNX32 = 14, /* a block in 24 bytes, the first in the lowest bits */
  MC_I64X2 = 15,   /* the first 16 bytes of such blocks, as kernels see it */
  MC_BF16X32 = 16, /* blocks, of kernels that make six bits */
  MC_F16X32 = 17,
  MC_F32X32 = 18
};

/* An extent that is a size of the run. */
#define MC_ANY ((int64_t)-1)

/* A row-major array in device memory, at a multiple of 16 bytes. */
typedef struct mc_tensor {
  void *data;
  int32_t type; /* mc_type */
  int32_t rank;
  int64_t shape[6];
} mc_tensor;

/* What a tensor of a plan is for. */
enum mc_role {
  MC_ARGUMENT = 0, /* of an op: what the caller makes of it */
  MC_WEIGHT = 1,   /* from the checkpoint, see `source` */
  MC_CACHE = 2,    /* lives from step to step; contents are the plan's */
  MC_INPUT = 3,
  MC_OUTPUT = 4,
  MC_CONSTANT = 5,  /* a table made once, see `source` */
  MC_PEER = 6,      /* this device's own of a buffer that all devices of the
                       group have and reach; zero at first */
  MC_PEER_TABLE = 7 /* addresses of the buffer `source` on each device */
};

/* One tensor of a plan, or `count` alike: one for each layer of a weight or a
 * cache. They are tensors[first] and on, of layer first_layer, of the one
 * layer_step further, and so on. */
typedef struct mc_binding {
  const char *name;
  int32_t role;       /* mc_role */
  const char *source; /* where the contents come from, or null */
  int32_t type;       /* mc_type */
  int32_t rank;
  int64_t shape[6]; /* MC_ANY: a size of the run */
  int32_t first;
  int32_t count;
  int32_t first_layer;
  int32_t layer_step; /* 0: of no layer */
} mc_binding;

/* Gives a whole tensor of the checkpoint by its name, row-major in host memory,
 * where it stays until modelc_prepare returns. Not 0: there is none. */
typedef int (*mc_read)(void *context, const char *name, mc_tensor *tensor);

/* Makes one weight of a plan for a rank, in host memory at `out`, of the type
 * and shape of its binding: cuts, joins and converts the tensors that the
 * binding's `source` names, `layer` in place of {layer}. Numbers of 8 or 4 bits
 * in the checkpoint (with "<name>_scale") stay what they are, others are
 * quantised. For machines of f8E4M3FNUZ numbers are halved, scales doubled.
 * Needs no device. */
int modelc_prepare(const mc_binding *weight, int64_t layer, int rank,
                   mc_read read, void *context, void *out);

/* Makes one table of a plan, the binding of a constant, in host memory at
 * `out`. Needs no device. */
int modelc_fill(const mc_binding *constant, void *out);

/* Loads the binaries of `folder`, the one that holds manifest.json, for the
 * current device. Call it once on each device before anything else. */
int modelc_open(const char *folder);

/* Gives the current device its communicator, an ncclComm_t of NCCL or RCCL, for
 * plans over several devices whose steps are too large to exchange within a
 * kernel. */
int modelc_communicator(void *communicator);

/* Unloads them from all devices. Nothing may run any more. */
void modelc_close(void);

/* What the last failed call of this thread found, one line. */
const char *modelc_last_error(void);

#ifdef __cplusplus
}
#endif

#endif /* MODELC_HOST_MODELC_H */
