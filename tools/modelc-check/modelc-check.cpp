//===- modelc-check.cpp - Compiled kernels, run and checked on the CPU ----===//

#include "lib/Check/Check.h"

int main(int argc, char **argv) { return modelc::checkMain(argc, argv); }
