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

/// The whole of modelc-opt: mlir-opt over the project's dialects and passes,
/// that also reads what `modelc` reads and, with --export-toml, writes it.
int optMain(int argc, char **argv);

/// The whole of modelc-emit: the final form in, sources of its target out.
int emitMain(int argc, char **argv);

} // namespace modelc

#endif // LIB_DRIVER_REGISTRATION_H
