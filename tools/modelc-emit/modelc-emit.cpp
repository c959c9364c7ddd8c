//===- modelc-emit.cpp - The final form of kernels as source --------------===//

#include "lib/Driver/Registration.h"

int main(int argc, char **argv) { return modelc::emitMain(argc, argv); }
