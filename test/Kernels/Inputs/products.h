// Results of a linear against sums in double.
#ifndef TEST_KERNELS_INPUTS_PRODUCTS_H
#define TEST_KERNELS_INPUTS_PRODUCTS_H

#include "run.h"

/// Compares d[rows, columns] with the products of rows of a and of w, with
/// SWIGLU of gate and up; `valueOfA(row, k)`, `valueOfW(row, k)` and
/// `added(index)`, to the result, in double.
template <class A, class W, class Added>
void compareProducts(Allocation<bf16> &d, int rows, int columns, int inputs,
                     A valueOfA, W valueOfW, Added added) {
  std::vector<double> results, reference;
  auto product = [&](int r, int row) {
    double sum = 0;
    for (int k = 0; k < inputs; ++k) {
      sum += valueOfA(r, k) * valueOfW(row, k);
    }
    return sum;
  };
  for (int i = 0; i < rows * columns; ++i) {
    int r = i / columns, column = i % columns;
    double exact = product(r, column);
    if (SWIGLU) {
      exact = exact / (1 + std::exp(-exact)) * product(r, column + columns);
    }
    exact += added(i);
    double unit = std::max(1.0, std::fabs(exact));
    results.push_back(1 + (asDouble(d[i]) - exact) / unit);
    reference.push_back(1);
  }
  compare("linear", results, reference, 1.0 / 200);
}

#endif // TEST_KERNELS_INPUTS_PRODUCTS_H
