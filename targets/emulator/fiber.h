// A fiber: one stack that is run, left and resumed by hand. On x86-64 the
// switch is 14 instructions; elsewhere it is ucontext. Address and thread
// sanitizers are told about every switch, so that their reports stay right.
#ifndef TARGETS_EMULATOR_FIBER_H
#define TARGETS_EMULATOR_FIBER_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#if __has_feature(thread_sanitizer)
#define EMULATOR_TSAN 1
extern "C" {
void *__tsan_create_fiber(unsigned flags);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void *__tsan_get_current_fiber();
void __tsan_acquire(void *address);
void __tsan_release(void *address);
void __tsan_read_range(void *address, unsigned long bytes);
void __tsan_write_range(void *address, unsigned long bytes);
void __tsan_ignore_thread_begin();
void __tsan_ignore_thread_end();
}
#endif
#if __has_feature(address_sanitizer)
#define EMULATOR_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace emulator {

/// Orders what this thread did before `release(a)` before what another does
/// after its `acquire(a)`, for the race detector only.
inline void acquire([[maybe_unused]] const void *address) {
#ifdef EMULATOR_TSAN
  __tsan_acquire(const_cast<void *>(address));
#endif
}
inline void release([[maybe_unused]] const void *address) {
#ifdef EMULATOR_TSAN
  __tsan_release(const_cast<void *>(address));
#endif
}
/// Tells the race detector that this thread read or wrote `bytes` bytes; the
/// emulator's own accesses are not instrumented (see tsan.ignore).
inline void noteRead([[maybe_unused]] const void *address,
                     [[maybe_unused]] size_t bytes) {
#ifdef EMULATOR_TSAN
  __tsan_read_range(const_cast<void *>(address), bytes);
#endif
}
inline void noteWrite([[maybe_unused]] void *address,
                      [[maybe_unused]] size_t bytes) {
#ifdef EMULATOR_TSAN
  __tsan_write_range(address, bytes);
#endif
}
/// While it lives, the race detector sees nothing that this thread does, not
/// even in the library: for the emulator's own tables.
struct Unseen {
#ifdef EMULATOR_TSAN
  Unseen() { __tsan_ignore_thread_begin(); }
  ~Unseen() { __tsan_ignore_thread_end(); }
#else
  Unseen() {}
#endif
  Unseen(const Unseen &) = delete;
};
/// Forbids or allows the address sanitizer to see accesses to these bytes.
inline void forbid([[maybe_unused]] void *address,
                   [[maybe_unused]] size_t bytes) {
#ifdef EMULATOR_ASAN
  __asan_poison_memory_region(address, bytes);
#endif
}
inline void allow([[maybe_unused]] void *address,
                  [[maybe_unused]] size_t bytes) {
#ifdef EMULATOR_ASAN
  __asan_unpoison_memory_region(address, bytes);
#endif
}

#if defined(__x86_64__)
/// Saves the callee-saved registers and the stack pointer, loads another's.
__attribute__((naked, noinline)) inline void switchStack(void ** /*save*/,
                                                         void * /*load*/) {
  asm("pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n"
      "pushq %r15\n movq %rsp, (%rdi)\n movq %rsi, %rsp\n popq %r15\n"
      "popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n retq");
}
#endif

/// A stack of `stackBytes` on which `entry` runs; `entry` never returns. A
/// fiber made without arguments stands for the stack of its maker.
class Fiber {
public:
  Fiber() {
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &bottom, &bytes);
    pthread_attr_destroy(&attributes);
#ifdef EMULATOR_TSAN
    sanitizerFiber = __tsan_get_current_fiber();
#endif
  }

  Fiber(void (*entry)(), size_t stackBytes) : bytes(stackBytes) {
    constexpr size_t kGuardBytes = 4096;
    char *memory = static_cast<char *>(
        mmap(nullptr, bytes + kGuardBytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0));
    if (memory == MAP_FAILED) {
      std::fprintf(stderr, "emulator: no memory for a stack of %zu bytes\n",
                   bytes);
      std::_Exit(3);
    }
    mprotect(memory, kGuardBytes, PROT_NONE);
    bottom = memory + kGuardBytes;
#if defined(__x86_64__)
    void **top = reinterpret_cast<void **>(memory + kGuardBytes + bytes);
    top[-2] = reinterpret_cast<void *>(entry); // the address that ret takes
    for (int i = 3; i <= 8; ++i) {
      top[-i] = nullptr; // the six saved registers
    }
    stackPointer = top - 8;
#else
    getcontext(&context);
    context.uc_stack.ss_sp = bottom;
    context.uc_stack.ss_size = bytes;
    makecontext(&context, entry, 0);
#endif
#ifdef EMULATOR_TSAN
    sanitizerFiber = __tsan_create_fiber(0);
#endif
  }
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  /// Leaves this fiber, which must be the running one, and resumes `next`.
  void switchTo(Fiber &next) {
#ifdef EMULATOR_TSAN
    __tsan_switch_to_fiber(next.sanitizerFiber, 1); // 1: orders nothing
#endif
#ifdef EMULATOR_ASAN
    __sanitizer_start_switch_fiber(&fakeStack, next.bottom, next.bytes);
#endif
#if defined(__x86_64__)
    switchStack(&stackPointer, next.stackPointer);
#else
    swapcontext(&context, &next.context);
#endif
    arrived();
  }

  /// To be called first thing by `entry`.
  void arrived() {
#ifdef EMULATOR_ASAN
    __sanitizer_finish_switch_fiber(fakeStack, nullptr, nullptr);
#endif
  }

private:
  void *bottom = nullptr;
  size_t bytes = 0;
#if defined(__x86_64__)
  void *stackPointer = nullptr;
#else
  ucontext_t context;
#endif
  [[maybe_unused]] void *fakeStack = nullptr;      // the address sanitizer's
  [[maybe_unused]] void *sanitizerFiber = nullptr; // the race detector's
};

} // namespace emulator

#endif // TARGETS_EMULATOR_FIBER_H
