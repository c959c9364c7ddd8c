//===- modelc-opt.cpp - Every pass and stage, for compiler developers -----===//

#include "lib/Driver/Registration.h"

int main(int argc, char **argv) { return modelc::optMain(argc, argv); }
