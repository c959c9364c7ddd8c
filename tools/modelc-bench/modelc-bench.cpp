//===- modelc-bench.cpp - Predictions held against measurements -----------===//

#include "lib/Driver/Driver.h"

int main(int argc, char **argv) { return modelc::benchMain(argc, argv); }
