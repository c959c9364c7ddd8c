//===- HostPlanText.cpp - Plans of the host library -----------------------===//

#include "lib/Emit/Host/HostText.h"
#include "lib/Text/Text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

namespace {
/// Prints the body of a plan: sizes, buffers, launches, in the order of the IR.
class PlanPrinter {
public:
  PlanPrinter(llvm::raw_ostream &os, const HostPlan &plan,
              const HostModule &kernels)
      : os(os), plan(plan), kernels(kernels), sizes(plan.sizes) {
    for (const HostBuffer &buffer : plan.bindings) {
      buffers[AllocOp(buffer.op).getResult()] = &buffer;
    }
    for (const HostBuffer &buffer : plan.workspace) {
      buffers[AllocOp(buffer.op).getResult()] = &buffer;
    }
  }

  LogicalResult printBlock(Block &block);

private:
  LogicalResult printOp(Operation *op);
  LogicalResult printAlloc(AllocOp op);
  LogicalResult printLoop(LoopOp op);
  LogicalResult printCondition(LoopOp op, Value condition);
  LogicalResult printCollective(CollectiveOp op);
  LogicalResult printLaunch(LaunchOp op);
  std::string pad() const { return std::string(depth * 2, ' '); }

  llvm::raw_ostream &os;
  const HostPlan &plan;
  const HostModule &kernels;
  SizeNames sizes;
  llvm::DenseMap<Value, const HostBuffer *> buffers;
  std::string layer; ///< name of the innermost loop's index
  unsigned depth = 1;
};
} // namespace

LogicalResult PlanPrinter::printAlloc(AllocOp op) {
  const HostBuffer &buffer = *buffers.at(op.getResult());
  FailureOr<std::vector<std::string>> extents = plan.extents(buffer);
  if (buffer.role == StorageRole::Workspace) {
    if (failed(extents)) {
      return failure();
    }
    std::string rows = extents->empty() ? "1" : extents->front();
    os << pad() << "const Buffer " << buffer.name << "(at." << buffer.name
       << ", " << rows << ");\n";
    return success();
  }
  std::string index = std::to_string(buffer.first);
  if (buffer.layer) {
    FailureOr<std::string> number = sizes.text(buffer.layer, kSizeProduct);
    if (failed(number)) {
      return failure();
    }
    // In steps the index is a multiple of one and always the same rest.
    int64_t base = buffer.first - buffer.firstIndex / buffer.layerStep;
    index = base == 0 ? *number : std::to_string(base) + " + " + *number;
    if (buffer.layerStep > 1) {
      index += " / " + std::to_string(buffer.layerStep);
    }
  }
  os << pad() << "const Buffer " << buffer.name << " = tensors[" << index
     << "];\n";
  if (buffer.role == StorageRole::Peer) {
    os << pad() << "const Buffer " << peerTable(buffer.name) << " = tensors["
       << buffer.first + 1 << "];\n";
  }
  return success();
}

LogicalResult PlanPrinter::printCondition(LoopOp op, Value condition) {
  FailureOr<std::string> text = sizes.text(condition);
  if (failed(text)) {
    return failure();
  }
  os << pad() << "if (" << *text << ") {\n";
  ++depth;
  LogicalResult result = printBlock(op.getBody().front());
  --depth;
  os << pad() << "}\n";
  return result;
}

LogicalResult PlanPrinter::printCollective(CollectiveOp op) {
  const HostBuffer &buffer = *buffers.at(op.getBuffer());
  SmallVector<std::string> factors;
  FailureOr<std::string> rows = sizes.text(op.getSizes()[0], kSizeProduct);
  if (failed(rows)) {
    return failure();
  }
  factors.push_back(*rows);
  for (int64_t extent : buffer.type().getShape().drop_front()) {
    factors.push_back(std::to_string(extent));
  }
  if (op.getVerb() != "all_reduce") {
    return op.emitOpError("expected 'all_reduce', got '")
           << op.getVerb() << "'";
  }
  os << pad() << "run.step(" << cString(op.getLabel().value_or(op.getVerb()))
     << (layer.empty() ? "" : ", " + layer) << ");\n"
     << pad() << "run.allReduce(" << buffer.name << ".data, "
     << hostType(buffer.type().getElementType()) << ", " << productText(factors)
     << ");\n";
  return success();
}

LogicalResult PlanPrinter::printLoop(LoopOp op) {
  if (op.getUpperBounds().size() != 1 || op.getNumResults() != 0) {
    return op.emitOpError("expected one index and no carried values in a plan");
  }
  if (Value condition =
          conditionOf(op.getLowerBounds()[0], op.getUpperBounds()[0])) {
    return printCondition(op, condition);
  }
  FailureOr<std::string> first = sizes.text(op.getLowerBounds()[0]);
  FailureOr<std::string> last =
      sizes.text(op.getUpperBounds()[0], kSizeCompare);
  FailureOr<std::string> step =
      op.getSteps().empty() ? std::string("1") : sizes.text(op.getSteps()[0]);
  if (failed(first) || failed(last) || failed(step)) {
    return failure();
  }
  std::string outer = layer;
  auto name = dyn_cast<NameLoc>(op.getInductionVars()[0].getLoc());
  layer = name         ? nameFrom(name.getName())
          : depth == 1 ? "layer"
                       : "index" + std::to_string(depth);
  sizes.add(op.getInductionVars()[0], layer);
  os << pad() << "for (int64_t " << layer << " = " << *first << "; " << layer
     << " < " << *last << "; "
     << (*step == "1" ? "++" + layer : layer + " += " + *step) << ") {\n";
  ++depth;
  if (failed(printBlock(op.getBody().front()))) {
    return failure();
  }
  --depth;
  os << pad() << "}\n";
  layer = outer;
  return success();
}

LogicalResult PlanPrinter::printLaunch(LaunchOp op) {
  const HostChoice &choice = kernels.choiceOf(op);
  const HostKernel &kernel = choice.first(kernels.kernels);
  os << pad() << "run.step(" << cString(op.getLabel().value_or(choice.opName))
     << (layer.empty() ? "" : ", " + layer) << ");\n";
  SmallVector<std::string> arguments = {"run"};
  KernelOp declared = kernel.op;
  for (unsigned i = 0; i < declared.getArgNames().size(); ++i) {
    Value argument = op.getArgument(declared.getArgumentName(i));
    if (auto found = buffers.find(argument); found != buffers.end()) {
      arguments.push_back(found->second->name);
      if (kernel.isPeer(i)) {
        arguments.push_back(peerTable(found->second->name));
      }
      continue;
    }
    FailureOr<std::string> text = sizes.text(argument);
    if (failed(text)) {
      return failure();
    }
    arguments.push_back(*text);
  }
  unsigned indent = pad().size() + choice.name.size() + 1;
  os << wrapped(pad() + choice.name + "(", arguments, ");",
                std::min(indent, 40u))
     << "\n";
  return success();
}

LogicalResult PlanPrinter::printOp(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<AllocOp>([&](AllocOp alloc) { return printAlloc(alloc); })
      .Case<LoopOp>([&](LoopOp loop) { return printLoop(loop); })
      .Case<LaunchOp>([&](LaunchOp launch) { return printLaunch(launch); })
      .Case<CollectiveOp>(
          [&](CollectiveOp collective) { return printCollective(collective); })
      .Case<YieldOp, func::ReturnOp>([](auto) { return success(); })
      .Default([&](Operation *other) -> LogicalResult {
        if (isa_and_nonnull<arith::ArithDialect>(other->getDialect())) {
          return success(); // named before all else, or spelled where used
        }
        return other->emitOpError("expected an op of a plan (alloc, loop, "
                                  "launch, index arithmetic)");
      });
}

LogicalResult PlanPrinter::printBlock(Block &block) {
  for (Operation &op : block) {
    if (failed(printOp(&op))) {
      return failure();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Tables and functions
//===----------------------------------------------------------------------===//

static std::string roleText(StorageRole role) {
  return "MC_" + stringifyStorageRole(role).upper();
}

static size_t bindingCount(const HostPlan &plan) {
  return plan.bindings.size() +
         llvm::count_if(plan.bindings, [](const HostBuffer &buffer) {
           return buffer.role == StorageRole::Peer;
         });
}

static void printBindings(llvm::raw_ostream &os, const HostPlan &plan) {
  os << "\nconst mc_binding " << plan.name << "_bindings[] = {\n";
  for (const HostBuffer &buffer : plan.bindings) {
    SmallVector<int64_t> shape = buffer.shape();
    printBinding(os,
                 {buffer.name, roleText(buffer.role), buffer.source(),
                  hostType(buffer.type().getElementType()), shape, buffer.first,
                  buffer.count, buffer.firstLayer, buffer.layerStep});
    if (buffer.role == StorageRole::Peer) {
      printPeerTable(os, buffer.name, plan.ranks, buffer.first + 1);
    }
  }
  os << "};\n";
}

/// A variable for each size.
static std::string sizeVariables(const HostPlan &plan, const std::string &pad) {
  std::string text;
  std::string declare = pad + "[[maybe_unused]] const int64_t ";
  for (auto [i, name] : llvm::enumerate(plan.sizeNames)) {
    text += declare + name + " = sizes[" + std::to_string(i) + "];\n";
  }
  for (const HostSize &size : plan.derived) {
    text += declare + size.name + " =\n" + pad + "    " + size.text + ";\n";
  }
  return text;
}

static void printWorkspace(llvm::raw_ostream &os, const HostPlan &plan) {
  os << "\n/// Where buffers lie in the workspace. Those that are never needed "
        "at the same\n/// time share a place.\nstruct Workspace_"
     << plan.name << " {\n";
  for (const HostBuffer &buffer : plan.workspace) {
    os << "  char *" << buffer.name << ";\n";
  }
  os << "  int64_t bytes = 0;\n\n  Workspace_" << plan.name
     << "(char *base, const int64_t *sizes) {\n"
     << sizeVariables(plan, "    ");
  for (const HostSlot &slot : plan.slots) {
    os << "    ";
    for (unsigned buffer : slot.buffers) {
      os << plan.workspace[buffer].name << " = ";
    }
    os << "base + bytes;\n    bytes += aligned(" << slot.bytes << ");\n";
  }
  os << "  }\n};\n";
}

LogicalResult modelc::printPlan(llvm::raw_ostream &os, const HostPlan &plan,
                                const HostModule &kernels) {
  os << "\nnamespace {\n";
  printBindings(os, plan);
  printWorkspace(os, plan);
  os << "\n} // namespace\n\nint64_t modelc_workspace_bytes_" << plan.name
     << "(const int64_t *sizes) {\n  return Workspace_" << plan.name
     << "(nullptr, sizes).bytes;\n}\n\nconst mc_binding *modelc_bindings_"
     << plan.name << "(int *count) {\n  *count = " << bindingCount(plan)
     << ";\n  return " << plan.name << "_bindings;\n}\n\nint modelc_"
     << plan.name
     << "(const mc_tensor *tensors, int count,\n    const int64_t *sizes, int "
        "sizeCount, void *workspace, void *stream) {\n  Run run("
     << cString(plan.name) << ", stream);\n  if (!run.hasCounts(count, "
     << plan.tensorCount << ", sizeCount, " << plan.sizeNames.size()
     << ") ||\n      !run.hasBindings(tensors, " << plan.name << "_bindings, "
     << bindingCount(plan) << ")) {\n    return run.result();\n  }\n"
     << sizeVariables(plan, "  ") << "  const Workspace_" << plan.name
     << " at(static_cast<char *>(workspace), sizes);\n";
  PlanPrinter printer(os, plan, kernels);
  func::FuncOp op = plan.op;
  if (failed(printer.printBlock(op.getBody().front()))) {
    return failure();
  }
  os << "  return run.result();\n}\n";
  return success();
}
