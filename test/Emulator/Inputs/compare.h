// What the programs of these tests share: random numbers and a comparison with
// a reference in double.
#ifndef TEST_EMULATOR_INPUTS_COMPARE_H
#define TEST_EMULATOR_INPUTS_COMPARE_H

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

inline std::mt19937 generator(7);
inline int wrongResults = 0;

inline float randomNormal() {
  return std::normal_distribution<float>()(generator);
}
inline unsigned randomBelow(unsigned limit) { return generator() % limit; }

/// Prints whether all of `values` are within `tolerance` of the largest of
/// `reference`; a NaN never is.
template <typename T>
void compare(const char *name, const T &values,
             const std::vector<double> &reference, double tolerance) {
  double worst = 0, largest = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    double difference = std::fabs(double(values[i]) - reference[i]);
    worst = difference == difference ? std::max(worst, difference) : INFINITY;
    largest = std::max(largest, std::fabs(reference[i]));
  }
  bool right = worst <= tolerance * largest;
  std::printf("%s: %s, %g off of %g\n", name, right ? "right" : "wrong", worst,
              largest);
  wrongResults += !right;
}

#endif // TEST_EMULATOR_INPUTS_COMPARE_H
