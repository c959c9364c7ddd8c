//===- Emit.h - From the final form to sources, host library, package -----===//
//
// One body printer for all machines: one spelling for each schedule op, whose
// tile functions each machine's prelude defines (targets/), and one expression
// printer for `map` regions and index arithmetic. What is printed is
// deterministic to the byte.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_EMIT_EMIT_H
#define LIB_EMIT_EMIT_H

#include "dialects/Schedule/Schedule.h"
#include "lib/Hardware/Hardware.h"
#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <string>
#include <vector>

namespace modelc {

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// What the caller knows beyond the IR.
struct EmitOptions {
  /// One line on time and energy, for the header comment; empty: none.
  std::string prediction;
};

/// The source of one kernel in the final form: header comment, layouts, the
/// kernel function. Needs only the target's prelude to compile. A kernel that
/// is not in the final form is an error at the op that is not.
llvm::FailureOr<std::string> emitKernel(schedule::KernelOp kernel,
                                        const Target &target,
                                        const EmitOptions &options = {});

/// Suffix of a source file in the target's language, with its dot.
llvm::StringRef sourceSuffix(const Target &target);

//===----------------------------------------------------------------------===//
// Host library, manifest, package
//===----------------------------------------------------------------------===//

/// One file of a package: where it lies in the folder, and its contents.
struct PackageFile {
  std::string path, text;
};

/// The C functions that launch the kernels of a module and run its plans
/// (functions with `schedule.plan`): host/modelc_kernels.h and .cpp.
llvm::FailureOr<std::vector<PackageFile>> emitHostLibrary(mlir::ModuleOp module,
                                                          const Target &target);

/// What the estimate says of one launch of a kernel.
struct Prediction {
  double seconds = 0, joules = 0;
  std::map<std::string, double> sizes; ///< arguments of that launch
  std::string limit;                   ///< what binds it
  double peakFraction = 0;      ///< shortest time at peak rates over `seconds`
  std::string peakOf;           ///< the unit that this shortest time is of
  double workgroupsPerUnit = 0; ///< that run at once
  std::string perUnitBy;        ///< the fact that limits them
  int64_t registers = 0;        ///< of a thread, as planned
  double movedBytes = 0, leastBytes = 0; ///< of device memory
  /// One trip of the main loop: of the workgroup where there is none.
  double trips = 1, conflictClocks = 0, waits = 0, syncs = 0;
};

/// One loop of a compiler's text, without the loops inside that multiply.
struct CodeLoop {
  int64_t matrix = 0; ///< matrix instructions
  int64_t copies = 1; ///< of a trip: what each sort of wait is a multiple of
};

/// Where the matrix instructions of a compiler's text stand.
struct MatrixCode {
  std::vector<CodeLoop> loops; ///< those that multiply, smaller ones first
  int64_t outside = 0;         ///< matrix instructions of no loop
};

/// What a compiler made of one kernel, read back from its binary.
struct BinaryFacts {
  std::string symbol;
  int64_t registers = 0;    ///< of a thread, 4 bytes each
  int64_t spilledBytes = 0; ///< of a thread, to memory
  /// Asynchronous products one at a time: the compiler could not follow them.
  bool serialisesProducts = false;
  int64_t sharedBytes = 0; ///< declared by the kernel
  int64_t threads = 0;     ///< the most that a workgroup may have, 0 = any
  std::vector<int64_t> argumentOffsets; ///< bytes; empty: not said
  MatrixCode matrix;
};

/// What a package takes from outside of the IR.
struct PackageOptions {
  /// The folder of target files and preludes.
  std::string targetsFolder;
  /// By the symbol of the kernel; may be empty.
  std::map<std::string, Prediction> predictions;
  /// Of binaries that were built, by the symbol of the kernel; may be empty.
  std::map<std::string, BinaryFacts> binaries;
};

/// manifest.json: the contract of a package. `sources` are its kernels' files.
llvm::FailureOr<std::string> emitManifest(mlir::ModuleOp module,
                                          const Target &target,
                                          llvm::ArrayRef<PackageFile> sources,
                                          const PackageOptions &options);

/// All files of a package: sources, preludes, host library, manifest.
llvm::FailureOr<std::vector<PackageFile>>
emitPackage(mlir::ModuleOp module, const Target &target,
            const PackageOptions &options);

/// Writes the files, and files.txt that lists them, to a temporary folder
/// beside `folder` and renames it, so that `folder` is either as it was or
/// complete: `finish` adds to the temporary folder before it is renamed.
/// Replaces only an empty folder, or a package with no other or edited files.
/// An interrupt leaves nothing behind. Says on `errors` what failed.
llvm::LogicalResult writePackage(
    llvm::ArrayRef<PackageFile> files, llvm::StringRef folder,
    llvm::raw_ostream &errors,
    llvm::function_ref<llvm::LogicalResult(llvm::StringRef)> finish = {});

/// Whether the user or the system asked to stop while a package was written.
bool wasInterrupted();

//===----------------------------------------------------------------------===//
// Binaries
//===----------------------------------------------------------------------===//

/// Whether the target's compiler is at hand; else `why` says what is missing.
bool hasCompiler(const Target &target, std::string &why);

/// Compiles the kernels of a package that was written to `folder` into
/// bin/<isa>/ and holds the binaries against the module: spills, registers,
/// shared memory, threads, argument offsets, matrix instructions. Every
/// violation is one line on `errors`.
llvm::FailureOr<std::vector<BinaryFacts>>
compileBinaries(mlir::ModuleOp module, const Target &target,
                llvm::StringRef folder, llvm::raw_ostream &errors);

} // namespace modelc

#endif // LIB_EMIT_EMIT_H
