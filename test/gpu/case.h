// One op of a step: its tensors and the calls of the package's host library
// that compute it. prepare.py writes them.
#ifndef TEST_GPU_CASE_H
#define TEST_GPU_CASE_H

#include "modelc.h"

#include <string>
#include <vector>

struct Argument {
  std::string name; // that the kernel gives it
  int32_t type;
  std::vector<int64_t> shape;
  bool isWritten;
};

struct Call {
  int (*function)(const mc_tensor *, int, const int64_t *, int, void *, void *);
  std::vector<int> tensors; // numbers of arguments
  std::vector<int64_t> sizes;
};

/// Sequences of one length: `news` tokens of `context` are of this step. Each
/// sees the last `window` keys, its own with them; 0: all.
struct Batch {
  int64_t sequences, news, context, page, window;
  int64_t tokens() const { return sequences * news; }
  int64_t pagesPerSequence() const { return (context + page - 1) / page; }
};

struct Case {
  std::string label, title, kind, kernels;
  Batch batch;
  double readBytes, writtenBytes; // the least of each
  double flop;                    // of the matrix units
  double estimateSeconds;
  std::vector<Argument> arguments;
  std::vector<Call> calls;
};

const std::vector<Case> &allCases();

#endif // TEST_GPU_CASE_H
