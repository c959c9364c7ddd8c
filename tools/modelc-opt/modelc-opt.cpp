//===- modelc-opt.cpp - Every pass and stage, for compiler developers -----===//

#include "lib/Driver/Registration.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  modelc::registerEverything(registry);
  modelc::registerAllPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "modelc-opt: passes over the model and schedule dialects\n",
      registry));
}
