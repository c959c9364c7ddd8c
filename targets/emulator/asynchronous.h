// What goes on beside the threads: copies of one thread that complete in order,
// and actions of a block (bulk copies, matrix operations) done by other
// engines.
//
// Eager: everything completes where it is issued. Lazy: a copy lands when a
// wait demands it, a deferred action only when no thread of any block can go
// on; the destination of a copy holds poison (0xFF) meanwhile. A kernel is
// right when it is right both ways.
#ifndef TARGETS_EMULATOR_ASYNCHRONOUS_H
#define TARGETS_EMULATOR_ASYNCHRONOUS_H

#include "meeting.h"
#include "rings.h"

namespace emulator {

/// Copies at once, seen by the sanitizers. No source: zeros.
inline void copyNow(const Copy &copy) {
  noteWrite(copy.to, copy.bytes);
  if (!copy.from) {
    std::memset(copy.to, 0, copy.bytes);
    return;
  }
  noteRead(copy.from, copy.bytes);
  std::memcpy(copy.to, copy.from, copy.bytes);
}

/// Starts a copy of this thread; `from` of null writes zeros.
inline void startCopy(void *to, const void *from, uint32_t bytes) {
  CopyQueue &queue = self().copies;
  Copy copy{to, from, bytes, queue.group};
  if (from) {
    noteFill(*self().block, static_cast<const char *>(to),
             static_cast<const char *>(from), bytes);
  }
  if (!state.options.lazy) {
    copyNow(copy);
    copy.bytes = 0; // it still counts
  } else {
    noteWrite(to, bytes);
    std::memset(to, 0xFF, bytes);
  }
  Unseen unseen;
  queue.copies.push_back(copy);
}

/// Counts an operation that shares the queue of the copies but lands elsewhere.
inline void countOperation() {
  Unseen unseen;
  CopyQueue &queue = self().copies;
  queue.copies.push_back({nullptr, nullptr, 0, queue.group});
}

inline void finishOldestCopy(CopyQueue &queue) {
  Copy copy = queue.copies[queue.head++];
  if (copy.bytes) {
    copyNow(copy);
  }
  Unseen unseen;
  if (queue.head == queue.copies.size()) {
    queue.copies.clear();
    queue.head = 0;
  }
}

/// Waits until at most `pending` operations of this thread are in flight.
inline void waitCopies(size_t pending) {
  CopyQueue &queue = self().copies;
  while (queue.size() > pending) {
    finishOldestCopy(queue);
  }
}

/// Closes the group of copies started since the last call.
inline void commitCopies() { ++self().copies.group; }

/// Waits until at most `pending` closed groups of this thread are in flight.
inline void waitCopyGroups(uint32_t pending) {
  CopyQueue &queue = self().copies;
  while (queue.size() > 0 &&
         queue.copies[queue.head].group + pending < queue.group) {
    finishOldestCopy(queue);
  }
}

/// Hands an action of the block to another engine: done at once (eager), or in
/// order within its queue when no thread can go on (lazy; lower queues first).
/// `what` names it in reports. The action runs outside of any thread: it calls
/// `notify` on what it changed, and must not wait.
inline void defer(Block &block, int queue, std::string what,
                  std::function<void()> action) {
  if (!state.options.lazy) {
    action();
    return;
  }
  Unseen unseen;
  block.deferred[queue].push_back({std::move(what), std::move(action)});
}

/// Runs the actions of one queue that are waiting, from within a thread.
inline void drainDeferred(Block &block, int queue) {
  while (!block.deferred[queue].empty()) {
    Deferred next = std::move(block.deferred[queue].front());
    block.deferred[queue].pop_front();
    next.run();
  }
}

} // namespace emulator

#endif // TARGETS_EMULATOR_ASYNCHRONOUS_H
