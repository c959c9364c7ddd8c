//===- Registration.h - All dialects and passes of the project ------------===//

#ifndef LIB_DRIVER_REGISTRATION_H
#define LIB_DRIVER_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace modelc {

/// Adds every dialect that the compiler reads or makes.
void registerEverything(mlir::DialectRegistry &registry);

/// Makes every pass known by its flag.
void registerAllPasses();

} // namespace modelc

#endif // LIB_DRIVER_REGISTRATION_H
