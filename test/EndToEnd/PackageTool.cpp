// Makes a package from final schedule IR:
//   modelc-package input.mlir TARGETS_FOLDER OUTPUT_FOLDER [binary]
// The target is the one that the module names.
#include "dialects/Schedule/Schedule.h"
#include "lib/Emit/Emit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static int makePackage(ModuleOp module, StringRef targets, StringRef output,
                       bool withBinaries) {
  auto name = module->getAttrOfType<StringAttr>("schedule.target");
  if (!name) {
    module.emitError("expected the attribute 'schedule.target'");
    return 1;
  }
  FailureOr<modelc::Target> target =
      modelc::loadTarget(name.getValue(), {}, {targets.str()}, llvm::errs());
  if (failed(target)) {
    return 1;
  }
  modelc::PackageOptions options;
  options.targetsFolder = targets.str();
  FailureOr<std::vector<modelc::PackageFile>> files =
      modelc::emitPackage(module, *target, options);
  if (failed(files) ||
      failed(modelc::writePackage(*files, output, llvm::errs()))) {
    return 1;
  }
  if (!withBinaries) {
    return 0;
  }
  FailureOr<std::vector<modelc::BinaryFacts>> facts =
      modelc::compileBinaries(module, *target, output, llvm::errs());
  if (failed(facts)) {
    return 1;
  }
  for (const modelc::BinaryFacts &fact : *facts) {
    llvm::outs() << fact.symbol << ": " << fact.registers << " registers, "
                 << fact.spilledBytes << " spilled bytes, " << fact.sharedBytes
                 << " shared bytes, matrix instructions in loops:";
    for (const modelc::CodeLoop &loop : fact.matrix.loops) {
      llvm::outs() << " " << loop.matrix;
    }
    llvm::outs() << ", elsewhere: " << fact.matrix.outside << "\n";
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 4) {
    llvm::errs() << "usage: modelc-package INPUT TARGETS OUTPUT [binary]\n";
    return 2;
  }
  DialectRegistry registry;
  registry
      .insert<modelc::schedule::ScheduleDialect, arith::ArithDialect,
              func::FuncDialect, math::MathDialect, vector::VectorDialect>();
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  return module ? makePackage(*module, argv[2], argv[3], argc > 4) : 1;
}
