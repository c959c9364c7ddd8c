//===- Plan.cpp - What a plan binds to the arguments of kernels -----------===//
//
// A kernel declares its arguments: their names and types, and by its body what
// it does with them. A launch binds values to the names, so that no order can
// be mistaken, and whoever asks what a kernel is launched with asks by name.
//
//===----------------------------------------------------------------------===//

#include "dialects/Schedule/Schedule.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

bool schedule::isPlan(Operation *function) {
  return function->hasAttr("schedule.plan");
}

SmallVector<StringRef> schedule::sizeNamesOf(Operation *plan) {
  auto names = plan->getAttrOfType<ArrayAttr>("arg_names");
  return names ? SmallVector<StringRef>(names.getAsValueRange<StringAttr>())
               : SmallVector<StringRef>();
}

LogicalResult ScheduleDialect::verifyOperationAttribute(Operation *op,
                                                        NamedAttribute given) {
  if (given.getName() != "schedule.plan") {
    return success();
  }
  auto plan = dyn_cast<FunctionOpInterface>(op);
  if (!plan) {
    return op->emitOpError("expected a function as plan");
  }
  auto list = op->getAttrOfType<ArrayAttr>("arg_names");
  if (list && !llvm::all_of(list, llvm::IsaPred<StringAttr>)) {
    return op->emitOpError("expected the names of sizes in 'arg_names', got ")
           << list;
  }
  SmallVector<StringRef> names = sizeNamesOf(op);
  bool areSizes = llvm::all_of(plan.getArgumentTypes(),
                               [](Type type) { return type.isIndex(); });
  if (!areSizes || names.size() != plan.getNumArguments()) {
    return op->emitOpError("expected 'index' arguments with a name each in "
                           "'arg_names', got ")
           << plan.getNumArguments() << " arguments and " << names.size()
           << " names";
  }
  for (auto [i, name] : llvm::enumerate(names)) {
    if (llvm::is_contained(ArrayRef(names).take_front(i), name)) {
      return op->emitOpError("expected sizes of different names, got '")
             << name << "' twice";
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

SmallVector<std::pair<StringRef, Value>> LaunchOp::getNamedArguments() {
  SmallVector<std::pair<StringRef, Value>> named;
  for (auto [name, value] :
       llvm::zip(getArgNames().getAsValueRange<StringAttr>(), getArguments())) {
    named.push_back({name, value});
  }
  return named;
}

Value LaunchOp::getArgument(StringRef name) {
  for (auto [known, value] : getNamedArguments()) {
    if (known == name) {
      return value;
    }
  }
  return {};
}

/// Whether a kernel can see a buffer as one of its type: the same numbers, or
/// words of their bits, as many in a row of the outermost dimension, or in all
/// where they are known. A kernel that names no layout finds the places of a
/// packed buffer itself.
static bool isSameMemory(Type buffer, Type ofKernel) {
  auto first = dyn_cast<BufferType>(buffer),
       second = dyn_cast<BufferType>(ofKernel);
  if (buffer == ofKernel || !first || !second) {
    return buffer == ofKernel;
  }
  auto bytes = [](BufferType type, ArrayRef<int64_t> shape) {
    int64_t count = type.getElementBytes();
    for (int64_t extent : shape) {
      count *= extent < 0 ? 1 : extent;
    }
    return count;
  };
  auto isEqual = [&](int64_t outermost) {
    return bytes(first, first.getShape().drop_front(outermost)) ==
           bytes(second, second.getShape().drop_front(outermost));
  };
  bool isKnown = !ShapedType::isDynamicShape(first.getShape()) &&
                 !ShapedType::isDynamicShape(second.getShape());
  Type number = numberType(second.getElementType());
  return (numberType(first.getElementType()) == number ||
          number.isInteger(64)) &&
         (!second.getPacked() || first.getPacked() == second.getPacked()) &&
         (isEqual(1) || (isKnown && isEqual(0)));
}

LogicalResult LaunchOp::verify() {
  if (getArgNames().size() != getArguments().size()) {
    return emitOpError("expected one name for each of the ")
           << getArguments().size() << " arguments, got "
           << getArgNames().size();
  }
  llvm::StringSet<> names;
  for (StringRef name : getArgNames().getAsValueRange<StringAttr>()) {
    if (!names.insert(name).second) {
      return emitOpError("expected each argument once, got '")
             << name << "' twice";
    }
  }
  return success();
}

/// What a buffer of a plan is for, where the launch sees it.
static std::optional<StorageRole> storageOf(Value buffer) {
  auto alloc = buffer.getDefiningOp<AllocOp>();
  return alloc ? alloc.getStorage().value_or(StorageRole::Workspace)
               : std::optional<StorageRole>();
}

/// Who binds the buffer has filled it, and no launch changes it.
static bool isGiven(StorageRole storage) {
  return storage == StorageRole::Weight || storage == StorageRole::Constant ||
         storage == StorageRole::Input;
}

/// That a kernel can take the value as its argument.
static LogicalResult verifyArgument(LaunchOp launch, KernelOp kernel,
                                    BlockArgument argument, Value value) {
  StringRef name = kernel.getArgumentName(argument.getArgNumber());
  auto mistake = [&](const Twine &expected) {
    InFlightDiagnostic message = launch.emitOpError("expected ");
    message << expected << " for '" << name << "' of '" << kernel.getSymName()
            << "', got ";
    message.attachNote(kernel.getLoc()) << "the kernel that is launched";
    return message;
  };
  if (!value) {
    return mistake("a value") << "none";
  }
  if (!isSameMemory(value.getType(), argument.getType())) {
    std::string type;
    llvm::raw_string_ostream(type) << argument.getType();
    return mistake("'" + Twine(type) + "'") << value.getType();
  }
  std::optional<StorageRole> storage = storageOf(value);
  if (!storage) {
    return success();
  }
  BufferRole role = kernel.getRole(argument);
  if (role.reachesPeers && storage != StorageRole::Peer) {
    return mistake("a buffer 'as peer', as it is reached on other devices,")
           << "one 'as " << stringifyStorageRole(*storage) << "'";
  }
  if (role.isWritten && isGiven(*storage)) {
    return mistake("a buffer that may be written")
           << "one 'as " << stringifyStorageRole(*storage) << "'";
  }
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (auto symbol : getKernels().getAsRange<FlatSymbolRefAttr>()) {
    auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(*this, symbol);
    if (!kernel) {
      return emitOpError("expected a kernel of this module, got '")
             << symbol.getValue() << "'";
    }
    for (auto [name, value] : getNamedArguments()) {
      if (!kernel.getArgument(name)) {
        return emitOpError("expected an argument of '")
               << kernel.getSymName() << "', got '" << name << "'; it has "
               << kernel.getArgNames();
      }
    }
    for (BlockArgument argument : kernel.getEntry().getArguments()) {
      StringRef name = kernel.getArgumentName(argument.getArgNumber());
      if (failed(verifyArgument(*this, kernel, argument, getArgument(name)))) {
        return failure();
      }
    }
  }
  return success();
}
