//===- expect.h - A line for each thing that holds, or does not -----------===//
#ifndef TEST_ENDTOEND_INPUTS_EXPECT_H
#define TEST_ENDTOEND_INPUTS_EXPECT_H

#include <cstdint>
#include <cstdio>
#include <vector>

using Floats = std::vector<float>;
using Bytes = std::vector<uint8_t>;

inline int wrong = 0;

inline void expect(const char *what, bool isRight) {
  std::printf("%s: %s\n", what, isRight ? "right" : "wrong");
  wrong += !isRight;
}

#endif // TEST_ENDTOEND_INPUTS_EXPECT_H
