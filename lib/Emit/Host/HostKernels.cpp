#include "lib/Emit/Host/HostKernels.h"
#include "lib/Text/Text.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

std::string modelc::typeName(Type type) {
  if (type.isIndex()) {
    return "i32";
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << numberType(type);
  if (int64_t count = packedNumbers(type); count > 1) {
    os << "x" << count;
  }
  return text;
}

std::string modelc::hostType(Type type) {
  return "MC_" + StringRef(typeName(type)).upper();
}

/// What generated functions have in scope, and what they call.
static constexpr StringLiteral kReserved =
    "Box Buffer Kernel KernelTable Run TensorMap aligned at base bytes ceilDiv "
    "count floorDiv isIn kKernels layer maximum minimum modelc modelc_host "
    "prepare run select sizeCount sizes std stream tensors workspace";

HostNames::HostNames() {
  for (StringRef word : llvm::split(kReserved, ' ')) {
    taken.insert(word);
  }
}

std::string HostNames::fresh(StringRef wish) {
  std::string base = nameFrom(wish);
  // Functions and variables that are named after others.
  auto isBefore = [&](StringRef part) {
    return StringRef(base).starts_with(part);
  };
  auto isBehind = [&](StringRef part) {
    return StringRef(base).ends_with(part);
  };
  if (llvm::any_of(ArrayRef<StringRef>{"choose_", "launch_"}, isBefore) ||
      llvm::any_of(ArrayRef<StringRef>{"Map", "OfPeers"}, isBehind)) {
    base += "_";
  }
  std::string name = base;
  for (int i = 2; !taken.insert(name).second; ++i) {
    name = base + "_" + std::to_string(i);
  }
  return name;
}

std::string modelc::guardText(KernelOp kernel) {
  SmallVector<std::string> words;
  for (const SizeDemand &demand : kernel.getDemands()) {
    SmallVector<std::string> ranges;
    for (RangeAttr range : demand.ranges) {
      std::string text = "[" + std::to_string(range.getMinimum()) + ", " +
                         std::to_string(range.getMaximum()) + "]";
      if (range.getMultiple() != 1) {
        text += ", a multiple of " + std::to_string(range.getMultiple());
      }
      ranges.push_back(text);
    }
    words.push_back(demand.argument.str() + " in " +
                    llvm::join(ranges, " or "));
  }
  return words.empty() ? "any size" : llvm::join(words, "; ");
}

std::string modelc::binaryPath(StringRef symbol, const Target &target) {
  return "bin/" + target.identity.isa + "/" + symbol.str() + "." +
         target.compiler.suffix;
}

//===----------------------------------------------------------------------===//
// One kernel
//===----------------------------------------------------------------------===//

static SmallVector<unsigned> argumentsWhere(KernelOp op, bool isBuffer) {
  SmallVector<unsigned> result;
  for (BlockArgument argument : op.getBody().front().getArguments()) {
    if (isa<BufferType>(argument.getType()) == isBuffer) {
      result.push_back(argument.getArgNumber());
    }
  }
  return result;
}

SmallVector<unsigned> HostKernel::buffers() const {
  return argumentsWhere(op, true);
}

SmallVector<unsigned> HostKernel::sizeArguments() const {
  return argumentsWhere(op, false);
}

BufferType HostKernel::bufferType(unsigned argument) const {
  return cast<BufferType>(
      KernelOp(op).getEntry().getArgument(argument).getType());
}

std::string HostKernel::argumentName(unsigned argument) const {
  return KernelOp(op).getArgumentName(argument).str();
}

const std::string &HostKernel::hostName(StringRef argument) const {
  return hostNames[KernelOp(op).getArgument(argument).getArgNumber()];
}

BufferRole HostKernel::role(unsigned argument) const {
  return KernelOp(op).getRole(KernelOp(op).getEntry().getArgument(argument));
}

/// Workgroups, whole clusters: the product of the trips of the grid's indices.
static FailureOr<std::string> gridOf(LoopOp grid, const SizeNames &sizes,
                                     const Target &target, int64_t cluster) {
  SmallVector<std::string> factors;
  for (unsigned i = 0; i < grid.getUpperBounds().size(); ++i) {
    bool isFromZero = matchPattern(grid.getLowerBounds()[i], m_Zero());
    FailureOr<std::string> trips =
        sizes.text(grid.getUpperBounds()[i], isFromZero ? kSizeProduct : 0);
    FailureOr<std::string> first = sizes.text(grid.getLowerBounds()[i]);
    if (failed(trips) || failed(first)) {
      return failure();
    }
    std::string factor =
        isFromZero ? *trips : "(" + *trips + " - (" + *first + "))";
    if (!grid.getSteps().empty() &&
        !matchPattern(grid.getSteps()[i], m_One())) {
      FailureOr<std::string> step = sizes.text(grid.getSteps()[i]);
      if (failed(step)) {
        return failure();
      }
      factor = "ceilDiv(" + factor + ", " + *step + ")";
    }
    factors.push_back(factor);
  }
  std::string product = productText(factors);
  if (!grid.getPersistent()) {
    return product;
  }
  int64_t units = llvm::alignDown(target.execution.units, cluster);
  return "minimum(" + product + ", " + std::to_string(units) + ")";
}

static FailureOr<HostKernel> describeKernel(KernelOp op, const Target &target) {
  FailureOr<KernelInterface> interface = KernelInterface::of(op);
  if (failed(interface)) {
    return failure();
  }
  HostKernel kernel;
  kernel.op = op;
  kernel.interface = *interface;
  kernel.symbol = op.getSymName().str();
  kernel.opName = op.getOpName().value_or(op.getSymName()).str();
  kernel.threads = op.getWaves() * target.execution.waveSize;
  kernel.sharedBytes = op.getSharedBytes().value_or(0);
  // Where each slot must be an object of its own, the kernel declares them.
  bool declares = target.copy.completion == Completion::Counted &&
                  target.copy.laneContiguous;
  kernel.dynamicBytes = declares ? 0 : kernel.sharedBytes;
  kernel.cluster = op.getCluster().value_or(1);
  HostNames names;
  for (unsigned i = 0; i < op.getEntry().getNumArguments(); ++i) {
    kernel.hostNames.push_back(names.fresh(kernel.argumentName(i)));
  }
  for (unsigned argument : kernel.sizeArguments()) {
    kernel.sizes.add(op.getEntry().getArgument(argument),
                     kernel.hostNames[argument]);
  }
  FailureOr<std::string> grid =
      gridOf(op.getGrid(), kernel.sizes, target, kernel.cluster);
  if (failed(grid)) {
    return failure();
  }
  kernel.grid = *grid;
  return kernel;
}

//===----------------------------------------------------------------------===//
// All kernels
//===----------------------------------------------------------------------===//

/// No sizes are served by both.
static bool areDisjoint(KernelOp a, KernelOp b) {
  auto areApart = [](RangeAttr own, RangeAttr other) {
    return own.getMaximum() < other.getMinimum() ||
           other.getMaximum() < own.getMinimum();
  };
  SmallVector<SizeDemand> demands = b.getDemands();
  return llvm::any_of(a.getDemands(), [&](const SizeDemand &own) {
    return llvm::any_of(demands, [&](const SizeDemand &other) {
      return own.argument == other.argument &&
             llvm::all_of(own.ranges, [&](RangeAttr range) {
               return llvm::all_of(other.ranges, [&](RangeAttr taken) {
                 return areApart(range, taken);
               });
             });
    });
  });
}

/// Whether a caller gives both kernels the same tensors and sizes.
static bool haveSameArguments(KernelOp a, KernelOp b) {
  auto isSameName = [&](unsigned i) {
    return a.getArgumentName(i) == b.getArgumentName(i);
  };
  return a.getFunctionType() == b.getFunctionType() &&
         llvm::all_of(llvm::seq(a.getFunctionType().getNumInputs()),
                      isSameName);
}

/// Whether a call that may run any of `choice` may run `kernel` as well: sizes
/// tell them apart.
static bool canJoin(const HostModule &module, const HostChoice &choice,
                    unsigned kernel) {
  const HostKernel &added = module.kernels[kernel];
  return choice.opName == added.opName &&
         llvm::all_of(choice.kernels, [&](unsigned other) {
           KernelOp known = module.kernels[other].op;
           return other == kernel || (haveSameArguments(known, added.op) &&
                                      areDisjoint(known, added.op));
         });
}

/// Adds the kernels to the choice that their op makes for such arguments.
static void addChoice(HostModule &module, ArrayRef<unsigned> kernels) {
  StringRef opName = module.kernels[kernels.front()].opName;
  auto isHome = [&](const HostChoice &choice) {
    return ArrayRef<unsigned>(choice.kernels) == kernels ||
           llvm::all_of(kernels, [&](unsigned kernel) {
             return canJoin(module, choice, kernel);
           });
  };
  auto home = llvm::find_if(module.choices, isHome);
  if (home == module.choices.end()) {
    std::string name = "choose_" + opName.str();
    auto isSame = [&](const HostChoice &other) {
      return other.opName == opName;
    };
    auto same = llvm::count_if(module.choices, isSame);
    HostChoice choice;
    choice.opName = opName.str();
    choice.name = same == 0 ? name : name + "_" + std::to_string(same + 1);
    home = module.choices.insert(home, std::move(choice));
  }
  for (unsigned kernel : kernels) {
    if (!llvm::is_contained(home->kernels, kernel)) {
      home->kernels.push_back(kernel);
    }
  }
}

SmallVector<unsigned> HostModule::kernelsOf(LaunchOp launch) const {
  return llvm::map_to_vector(
      launch.getKernels().getAsRange<FlatSymbolRefAttr>(),
      [&](FlatSymbolRefAttr symbol) { return bySymbol.at(symbol.getValue()); });
}

const HostChoice &HostModule::choiceOf(LaunchOp launch) const {
  SmallVector<unsigned> wanted = kernelsOf(launch);
  return *llvm::find_if(choices, [&](const HostChoice &choice) {
    return llvm::all_of(wanted, [&](unsigned kernel) {
      return llvm::is_contained(choice.kernels, kernel);
    });
  });
}

FailureOr<HostModule> HostModule::of(ModuleOp module, const Target &target) {
  HostModule result;
  for (KernelOp op : module.getOps<KernelOp>()) {
    FailureOr<HostKernel> kernel = describeKernel(op, target);
    if (failed(kernel)) {
      return failure();
    }
    result.bySymbol[kernel->symbol] = result.kernels.size();
    result.kernels.push_back(std::move(*kernel));
  }
  llvm::DenseSet<unsigned> chosen;
  module.walk([&](LaunchOp launch) {
    SmallVector<unsigned> kernels = result.kernelsOf(launch);
    addChoice(result, kernels);
    chosen.insert(kernels.begin(), kernels.end());
  });
  // Kernels that no plan launches are ops of their own, with those like them.
  for (unsigned i = 0; i < result.kernels.size(); ++i) {
    if (chosen.contains(i)) {
      continue;
    }
    SmallVector<unsigned> alike;
    for (unsigned j = i; j < result.kernels.size(); ++j) {
      if (!chosen.contains(j) &&
          haveSameArguments(result.kernels[i].op, result.kernels[j].op) &&
          result.kernels[i].opName == result.kernels[j].opName) {
        alike.push_back(j);
        chosen.insert(j);
      }
    }
    addChoice(result, alike);
  }
  return result;
}
