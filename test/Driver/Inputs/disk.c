// A disk that is full: preloaded, every write to a file fails.
#include <errno.h>
#include <stddef.h>
#include <unistd.h>

long syscall(long number, ...);

ssize_t write(int file, const void *bytes, size_t count) {
  if (file > 2) {
    errno = ENOSPC;
    return -1;
  }
  return syscall(1, file, bytes, count);
}
