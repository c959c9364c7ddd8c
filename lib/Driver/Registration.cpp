//===- Registration.cpp - All dialects and passes of the project ----------===//

#include "lib/Driver/Registration.h"

#include "dialects/Model/Model.h"
#include "dialects/Schedule/Schedule.h"

void modelc::registerEverything(mlir::DialectRegistry &registry) {
  registry.insert<model::ModelDialect, schedule::ScheduleDialect>();
}

void modelc::registerAllPasses() {}
