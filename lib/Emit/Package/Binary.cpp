//===- Binary.cpp - Compile the sources and hold the result against the plan =//
//
// Each source is compiled alone by the target's compiler, which leaves its
// intermediate text beside the binary. What was planned is compared with what
// came out; every difference is an error with both numbers.
//
//===----------------------------------------------------------------------===//

#include "lib/Emit/Host/HostKernels.h"
#include "lib/Emit/Package/BinaryFacts.h"
#include "lib/Emit/Package/Files.h"
#include "lib/Emit/Package/MachineCode.h"
#include "lib/Support/Support.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// A compiler that reports in words and keeps its intermediate text on demand.
static constexpr StringLiteral kReportingDriver = "nvcc";

/// Of DYNAMIC_SHARED in the preludes.
static constexpr int64_t kDynamicAlignment = 1024;

namespace {
/// What the plan demands of one binary.
struct Demand {
  std::string symbol, source, binary;
  int64_t threads = 0, sharedBytes = 0, dynamicBytes = 0;
  std::vector<int64_t> argumentOffsets;
  Mnemonics mnemonics;
  MatrixNeeds matrix;
};

/// What came of compiling one source.
struct Outcome {
  BinaryFacts facts;
  std::string failure; ///< empty: compiled
  std::string assembly;
};
} // namespace

//===----------------------------------------------------------------------===//
// The compiler
//===----------------------------------------------------------------------===//

/// MODELC_<DRIVER>, then the path, then where the packages put them.
static std::string findCompiler(const Target &target) {
  const std::string &driver = target.compiler.driver;
  if (auto path =
          llvm::sys::Process::GetEnv("MODELC_" + StringRef(driver).upper())) {
    return *path;
  }
  std::string versioned = driver + "-" + std::to_string(LLVM_VERSION_MAJOR);
  for (const std::string &name : {versioned, driver}) {
    if (auto path = llvm::sys::findProgramByName(name)) {
      return *path;
    }
  }
  std::string packaged[] = {"/usr/lib/llvm-" +
                                std::to_string(LLVM_VERSION_MAJOR) + "/bin/",
                            "/usr/local/cuda/bin/"};
  for (const std::string &folder : packaged) {
    if (llvm::sys::fs::can_execute(folder + driver)) {
      return folder + driver;
    }
  }
  return "";
}

bool modelc::hasCompiler(const Target &target, std::string &why) {
  if (!findCompiler(target).empty()) {
    return true;
  }
  why = "expected the compiler '" + target.compiler.driver +
        "' on the path, got none; install it or set MODELC_" +
        StringRef(target.compiler.driver).upper();
  return false;
}

static std::string readAll(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

/// The intermediate text that the compiler left in a folder.
static std::string findAssembly(StringRef folder) {
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(folder, error), end; it != end;
       it.increment(error)) {
    StringRef suffix = llvm::sys::path::extension(it->path());
    if (suffix == ".s" || suffix == ".ptx") {
      return readAll(it->path());
    }
  }
  return "";
}

static std::vector<std::string>
commandLine(const std::string &compiler, const Target &target, StringRef folder,
            const Demand &demand, StringRef scratch) {
  std::vector<std::string> words = {compiler};
  for (std::string flag : target.compiler.flags) {
    if (size_t at = flag.find("{isa}"); at != std::string::npos) {
      flag.replace(at, 5, target.identity.isa);
    }
    words.push_back(flag);
  }
  if (target.compiler.driver == kReportingDriver) {
    words.insert(words.end(),
                 {"-Xptxas", "-v", "--keep", "--keep-dir", scratch.str()});
  } else {
    words.push_back("-save-temps=obj");
  }
  std::string output = (scratch + "/out.binary").str();
  words.insert(words.end(), {"-I", (folder + "/include").str(), "-o", output,
                             (folder + "/" + demand.source).str()});
  return words;
}

static Outcome compile(const std::string &compiler, const Target &target,
                       StringRef folder, const Demand &demand) {
  Outcome outcome;
  SmallString<128> scratch;
  if (wasInterrupted()) {
    outcome.failure = "interrupted";
    return outcome;
  }
  if (llvm::sys::fs::createUniqueDirectory("modelc", scratch)) {
    outcome.failure = "expected a writable temporary folder";
    return outcome;
  }
  std::vector<std::string> words =
      commandLine(compiler, target, folder, demand, scratch);
  SmallVector<StringRef> arguments(words.begin(), words.end());
  std::string report = (scratch + "/report").str(), why;
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(report),
                                          StringRef(report)};
  int status = llvm::sys::ExecuteAndWait(compiler, arguments, std::nullopt,
                                         redirects, 0, 0, &why);
  std::string output = (scratch + "/out.binary").str();
  if (status != 0) {
    outcome.failure = "expected it to compile, got: " + why + readAll(report) +
                      "\nwith: " + llvm::join(words, " ");
  } else {
    outcome.assembly = findAssembly(scratch);
    FailureOr<BinaryFacts> facts =
        target.compiler.driver == kReportingDriver
            ? factsFromReport(readAll(report), outcome.assembly, demand.symbol,
                              why)
            : factsFromNotes(output, demand.symbol, why);
    if (succeeded(facts)) {
      outcome.facts = *facts;
      outcome.facts.matrix =
          matrixCodeOf(outcome.assembly, demand.mnemonics.counted);
    } else {
      outcome.failure = why;
    }
    std::string binary = (folder + "/" + demand.binary).str();
    createFolders(llvm::sys::path::parent_path(binary));
    if (llvm::sys::fs::copy_file(output, binary)) {
      outcome.failure = "expected to write '" + binary + "'";
    }
  }
  llvm::sys::fs::remove_directories(scratch);
  return outcome;
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// Where the parameters lie: pointers of 8 bytes, sizes of 4, tensor maps.
static std::vector<int64_t> plannedOffsets(const HostKernel &kernel) {
  std::vector<int64_t> offsets;
  int64_t offset = 0;
  for (const Parameter &parameter : kernel.interface.parameters) {
    bool isMap = parameter.kind == Parameter::Kind::Map;
    bool isSize = parameter.kind == Parameter::Kind::Size;
    int64_t bytes = isMap ? 128 : isSize ? 4 : 8;
    offset = llvm::alignTo(offset, isMap ? 64 : bytes);
    offsets.push_back(offset);
    offset += bytes;
  }
  return offsets;
}

static Demand demandOf(const HostKernel &kernel, const Target &target) {
  Demand demand;
  demand.symbol = kernel.symbol;
  demand.source = "src/" + kernel.symbol + sourceSuffix(target).str();
  demand.binary = binaryPath(kernel.symbol, target);
  demand.threads = kernel.threads;
  demand.sharedBytes = kernel.sharedBytes - kernel.dynamicBytes;
  // Barriers are declared beside what the plan counts, and memory that the
  // launch asks for begins at a multiple of kDynamicAlignment.
  KernelOp op = kernel.op;
  op.walk([&](AllocOp alloc) {
    if (auto barrier = dyn_cast<BarrierType>(alloc.getResult().getType())) {
      demand.sharedBytes += 8 * barrier.getSlots();
    }
  });
  demand.dynamicBytes = kernel.dynamicBytes;
  if (kernel.dynamicBytes) {
    demand.sharedBytes = llvm::alignTo(demand.sharedBytes, kDynamicAlignment);
  }
  demand.mnemonics = mnemonicsOf(op, target);
  demand.matrix = matrixNeeds(op, target);
  demand.argumentOffsets = plannedOffsets(kernel);
  return demand;
}

namespace {
/// Compares one binary with its plan and says what differs.
class Judge {
public:
  Judge(const Demand &demand, const Outcome &outcome, llvm::raw_ostream &errors)
      : demand(demand), outcome(outcome), errors(errors) {}

  bool isRight(const Target &target) {
    if (!outcome.failure.empty()) {
      say(outcome.failure);
      return false;
    }
    const BinaryFacts &facts = outcome.facts;
    if (facts.spilledBytes) {
      say("expected no spills, got " + Twine(facts.spilledBytes) +
          " bytes of a thread in memory");
    }
    if (facts.serialisesProducts) {
      say("expected products that run beside the waves, got code that waits "
          "for each");
    }
    int64_t granule = target.execution.registerGranule;
    int64_t allocated = llvm::alignTo(facts.registers, granule);
    most("registers", target.execution.maxRegistersPerThread, facts.registers);
    most("bytes of registers of a workgroup",
         target.execution.registerBytesPerUnit, allocated * 4 * demand.threads);
    // The device compiler may count what the system takes of each workgroup.
    most("bytes of declared shared memory",
         demand.sharedBytes + target.shared.reservedBytesPerWorkgroup,
         facts.sharedBytes);
    if (facts.threads && facts.threads != demand.threads) {
      say("expected workgroups of " + Twine(demand.threads) + " threads, got " +
          Twine(facts.threads));
    }
    if (facts.argumentOffsets != demand.argumentOffsets) {
      say("expected arguments at bytes " + list(demand.argumentOffsets) +
          ", got " + list(facts.argumentOffsets));
    }
    for (const std::string &mnemonic : demand.mnemonics.demanded) {
      if (!StringRef(outcome.assembly).contains(mnemonic)) {
        say("expected '" + mnemonic + "' in the code, got none");
      }
    }
    std::string reason = reasonAgainst(demand.matrix, facts.matrix);
    if (!reason.empty()) {
      say(reason);
    }
    return right;
  }

private:
  void say(const Twine &text) {
    sayError(errors) << demand.symbol << ": " << text << "\n";
    right = false;
  }
  void most(StringRef what, int64_t limit, int64_t got) {
    if (got > limit) {
      say("expected at most " + Twine(limit) + " " + what + ", got " +
          Twine(got));
    }
  }
  static std::string list(ArrayRef<int64_t> numbers) {
    return "[" +
           llvm::join(llvm::map_range(
                          numbers, [](int64_t n) { return std::to_string(n); }),
                      ", ") +
           "]";
  }

  const Demand &demand;
  const Outcome &outcome;
  llvm::raw_ostream &errors;
  bool right = true;
};
} // namespace

FailureOr<std::vector<BinaryFacts>>
modelc::compileBinaries(ModuleOp module, const Target &target, StringRef folder,
                        llvm::raw_ostream &errors) {
  FailureOr<HostModule> kernels = HostModule::of(module, target);
  std::string compiler = findCompiler(target), why;
  if (failed(kernels)) {
    return failure();
  }
  if (!hasCompiler(target, why)) {
    sayError(errors) << why << "\n";
    return failure();
  }
  std::vector<Demand> demands;
  for (const HostKernel &kernel : kernels->kernels) {
    demands.push_back(demandOf(kernel, target));
  }
  std::vector<Outcome> outcomes(demands.size());
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency());
  for (size_t i = 0; i < demands.size(); ++i) {
    pool.async([&, i] {
      outcomes[i] = compile(compiler, target, folder, demands[i]);
    });
  }
  pool.wait();
  std::vector<BinaryFacts> facts;
  bool right = true;
  for (auto [demand, outcome] : llvm::zip_equal(demands, outcomes)) {
    right &= Judge(demand, outcome, errors).isRight(target);
    facts.push_back(outcome.facts);
  }
  if (!right) {
    return failure();
  }
  return facts;
}
