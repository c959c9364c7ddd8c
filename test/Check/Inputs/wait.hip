// Blocks that wait for each other, and mistakes that only machine code shows.
#include "amd/instructions.hip.h"

namespace modelc {

/// Each block waits for all others by counting and polling.
KERNEL(64, 1) gridBarrier(unsigned *count, int *seen, int blocks) {
  if (threadId() == 0) {
    atomicAdd(count, 1u);
    waitForFlag(count, uint32_t(blocks));
  }
  sync();
  seen[workgroupId() * 64 + threadId()] = int(loadAcquire(count));
}

/// The same without a pause between two looks.
KERNEL(64, 1) poll(unsigned *count, int *seen, int blocks) {
  if (threadId() == 0) {
    atomicAdd(count, 1u);
    while (loadAcquire(count) < uint32_t(blocks)) {
    }
  }
  sync();
  seen[workgroupId() * 64 + threadId()] = int(loadAcquire(count));
}

#ifndef MODELC_EMULATOR
KERNEL(64, 1) beyond(int *x) { x[threadId() + 1] = 1; }

KERNEL(64, 1) unknown(int *x) {
  int y = x[threadId()];
  asm volatile("v_sad_hi_u8 %0, %0, %0, %0" : "+v"(y));
  x[threadId()] = y;
}

KERNEL(64, 1) forever(int *x) {
  while (loadAcquire((const uint32_t *)x) != 1) {
    __builtin_amdgcn_s_sleep(1);
  }
}

KERNEL(64, 1) endless(int *x) {
  int i = 0;
  while (x[0] != 1) {
    asm volatile("s_add_i32 %0, %0, 1" : "+s"(i));
  }
}

/// A wait that the compiler cannot put: it does not know that this loads.
KERNEL(64, 1) unwaited(const int *x, int *y) {
  int value;
  asm volatile("global_load_dword %0, %1, off" : "=v"(value) : "v"(x));
  y[threadId()] = value;
}

/// Waves exchange values without a barrier.
KERNEL(128, 1) exchange(int *x) {
  SHARED(int, all, 128);
  all[threadId()] = threadId();
  waitReads<0>();
  x[threadId()] = all[127 - threadId()];
}

/// The barrier comes before the store has arrived.
KERNEL(128, 1) early(int *x) {
  SHARED(int, all, 128);
  all[threadId()] = threadId();
  syncOnly();
  x[threadId()] = all[127 - threadId()];
}

/// A copy right behind the write of its base.
KERNEL(64, 1) hasty(const int *x) {
  SHARED(int, all, 64);
  asm volatile("s_mov_b32 m0, %1\n\tglobal_load_lds_dword %0, off" ::"v"(x),
               "s"((int)(long)localAddress(all)));
  waitCopies<0>();
}

/// A read that another wave's write may overtake.
KERNEL(128, 1) overtaken(int *x) {
  SHARED(int, all, 128);
  all[threadId()] = threadId();
  sync();
  int value;
  asm volatile("ds_read_b32 %0, %1"
               : "=v"(value)
               : "v"(localAddress(all + 127 - threadId()))
               : "memory");
  syncOnly();
  all[threadId()] = 0;
  waitReads<0>();
  x[threadId()] = value;
}
#endif

} // namespace modelc
