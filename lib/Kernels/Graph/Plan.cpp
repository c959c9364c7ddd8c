#include "lib/Kernels/Graph/Plan.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

Plan::Plan(ModuleOp module, StringRef name, bool isDecode, int64_t ranks)
    : builder(OpBuilder::atBlockEnd(module.getBody())), asker(module.getLoc()),
      isDecode(isDecode) {
  SmallVector<std::pair<StringRef, Value *>> arguments;
  if (!isDecode) {
    arguments.push_back({"tokens", &sizes.tokens});
  }
  arguments.push_back({"sequences", &sizes.sequences});
  if (!isDecode) {
    arguments.push_back({"longest", &sizes.longest});
  }
  arguments.push_back({"pages_per_sequence", &sizes.pagesPerSequence});
  arguments.push_back({"cache_rows", &sizes.cacheRows});
  if (ranks > 1) {
    arguments.push_back({"rank", &sizes.rank});
  }
  SmallVector<Type> types(arguments.size(), builder.getIndexType());
  function = func::FuncOp::create(builder, location(), name,
                                  builder.getFunctionType(types, {}));
  Block *entry = function.addEntryBlock();
  SmallVector<StringRef> names;
  for (auto [argument, value] :
       llvm::zip_equal(arguments, entry->getArguments())) {
    value.setLoc(NameLoc::get(builder.getStringAttr(argument.first)));
    *argument.second = value;
    names.push_back(argument.first);
  }
  function->setAttr("schedule.plan", builder.getUnitAttr());
  function->setAttr("arg_names", builder.getStrArrayAttr(names));
  if (ranks > 1) {
    function->setAttr("ranks", builder.getI64IntegerAttr(ranks));
  }
  builder.setInsertionPointToEnd(entry);
  auto end = func::ReturnOp::create(builder, location());
  builder.setInsertionPoint(end);
  if (isDecode) {
    sizes.tokens = sizes.sequences;
    sizes.longest = constant(1);
  }
}

Value Plan::constant(int64_t value) {
  Value &cached = constants[value];
  if (!cached) {
    cached = atTop([&]() -> Value {
      return arith::ConstantIndexOp::create(builder, location(), value);
    });
  }
  return cached;
}

Value Plan::allocate(const NamedBuffer &buffer) {
  Type type = BufferType::get(builder.getContext(), buffer.shape,
                              buffer.element, buffer.packed);
  auto role = StorageRoleAttr::get(builder.getContext(), buffer.role);
  StringAttr source = buffer.source.empty()
                          ? StringAttr()
                          : builder.getStringAttr(buffer.source);
  return AllocOp::create(builder, location(), type, buffer.sizes, IntegerAttr(),
                         role, source, IntegerAttr());
}

Value Plan::named(const NamedBuffer &buffer) {
  Value &cached = namedBuffers[buffer.source];
  if (!cached) {
    cached = atTop([&] { return allocate(buffer); });
  }
  return cached;
}

Value Plan::local(const NamedBuffer &buffer) { return allocate(buffer); }

Value Plan::workspace(Value rows, ArrayRef<int64_t> columns, Type element,
                      LayoutAttr packed) {
  SmallVector<int64_t> shape = {ShapedType::kDynamic};
  shape.append(columns.begin(), columns.end());
  Type type = BufferType::get(builder.getContext(), shape, element, packed);
  auto *found = llvm::find_if(unused, [&](Value buffer) {
    return buffer.getType() == type && rowsOfWorkspace[buffer] == rows;
  });
  if (found != unused.end()) {
    Value buffer = *found;
    unused.erase(found);
    return buffer;
  }
  Value buffer = atTop([&] {
    return allocate(
        {StorageRole::Workspace, "", shape, element, {rows}, packed});
  });
  rowsOfWorkspace[buffer] = rows;
  return buffer;
}

void Plan::release(Value buffer) {
  if (rowsOfWorkspace.contains(buffer) && !llvm::is_contained(unused, buffer)) {
    unused.push_back(buffer);
  }
}

void Plan::launch(ArrayRef<Attribute> kernels, ArrayRef<NamedValue> arguments,
                  StringRef label) {
  SmallVector<StringRef> names;
  SmallVector<Value> values;
  for (const NamedValue &argument : arguments) {
    if (argument.value) {
      names.push_back(argument.name);
      values.push_back(argument.value);
    }
  }
  LaunchOp::create(builder, asker, builder.getArrayAttr(kernels), values,
                   builder.getStrArrayAttr(names),
                   builder.getStringAttr(label));
}

Value Plan::isInside(Value size, Range range) {
  Value &condition = conditions[{size, {range.minimum, range.maximum}}];
  if (condition) {
    return condition;
  }
  auto compare = [&](arith::CmpIPredicate predicate, int64_t bound) -> Value {
    Value limit = constant(bound);
    return atTop([&] {
      return arith::CmpIOp::create(builder, location(), predicate, size, limit);
    });
  };
  bool isOpen = range.maximum == kNoLimit;
  condition =
      isOpen ? Value() : compare(arith::CmpIPredicate::sle, range.maximum);
  if (range.minimum > 1) {
    Value isAbove = compare(arith::CmpIPredicate::sge, range.minimum);
    condition =
        condition ? compute<arith::AndIOp>(isAbove, condition) : isAbove;
  }
  return condition;
}

Value Plan::isLess(Value a, Value b) {
  return atTop([&] {
    return arith::CmpIOp::create(builder, location(), arith::CmpIPredicate::slt,
                                 a, b);
  });
}

Value Plan::select(Value condition, Value yes, Value no) {
  return atTop([&] {
    return arith::SelectOp::create(builder, location(), condition, yes, no);
  });
}

void Plan::when(Value size, Range range, function_ref<void()> body) {
  Value trips = select(isInside(size, range), constant(1), constant(0));
  auto loop = LoopOp::create(builder, location(), constant(0), trips,
                             ValueRange(), ValueRange());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&loop.getBody().front());
  body();
}
