//===- Roles.cpp - What a linear is for -----------------------------------===//

#include "lib/ModelPasses/Roles.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace modelc;

Operation *modelc::getAttentionConsumer(model::LinearOp linear) {
  Value value = linear.getOut();
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (!isa<model::RopeOp>(user)) {
      return user;
    }
    value = user->getResult(0);
  }
  return nullptr;
}

static bool feedsSampling(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    auto gather = dyn_cast<model::AllGatherOp>(user);
    return gather ? feedsSampling(gather.getOut()) : isa<model::SampleOp>(user);
  });
}

/// The op that made the input of a linear, before its quantisation.
static Operation *producer(model::LinearOp linear) {
  Operation *op = linear.getX().getDefiningOp();
  if (auto quantise = dyn_cast_or_null<model::QuantiseOp>(op)) {
    op = quantise.getX().getDefiningOp();
  }
  return op;
}

Role modelc::getRole(model::LinearOp linear) {
  if (feedsSampling(linear.getOut())) {
    return Role::Head;
  }
  if (linear.getSwiglu()) {
    return Role::GateOrUp;
  }
  Operation *before = producer(linear);
  if (isa_and_nonnull<model::AttentionOp>(before)) {
    return Role::AttentionOutput;
  }
  auto fused = dyn_cast_or_null<model::LinearOp>(before);
  if (isa_and_nonnull<model::SwigluOp>(before) ||
      (fused && fused.getSwiglu())) {
    return Role::Down;
  }
  Operation *after = getAttentionConsumer(linear);
  if (!after) {
    bool gates = llvm::any_of(linear.getOut().getUsers(), [](Operation *user) {
      return isa<model::SwigluOp>(user);
    });
    return gates ? Role::GateOrUp : Role::Other;
  }
  return llvm::TypeSwitch<Operation *, Role>(after)
      .Case([](model::AttentionOp) { return Role::Query; })
      .Case([](model::AppendOp) { return Role::KeyOrValue; })
      .Case([](model::RopeAppendOp) { return Role::Qkv; })
      .Case([](model::SwigluOp) { return Role::GateOrUp; })
      .Default([](Operation *) { return Role::Other; });
}
