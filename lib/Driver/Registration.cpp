//===- Registration.cpp - All dialects and passes of the project ----------===//

#include "lib/Driver/Registration.h"

#include "dialects/Model/Model.h"
#include "dialects/Schedule/Schedule.h"
#include "lib/Cost/Cost.h"
#include "lib/Kernels/Kernels.h"
#include "lib/ModelPasses/ModelPasses.h"
#include "lib/SchedulePasses/SchedulePasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/Passes.h"

void modelc::registerEverything(mlir::DialectRegistry &registry) {
  registry.insert<model::ModelDialect, schedule::ScheduleDialect,
                  mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::math::MathDialect, mlir::vector::VectorDialect>();
}

void modelc::registerAllPasses() {
  registerCostPasses();
  registerKernelsBuild();
  registerKernelsLower();
  registerModelPasses();
  registerScheduleFlags();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
}
