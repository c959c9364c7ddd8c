//===- StateFormats.cpp - Which numbers and scales weights are ------------===//

#include "lib/ModelPasses/ModelPasses.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace modelc {
#define GEN_PASS_DEF_MODELSTATEFORMATS
#include "lib/ModelPasses/Passes.h.inc"

/// A tensor that is read as two formats is two weights.
static void state(OpOperand &operand, model::FormatAttr format) {
  auto weight = operand.get().getDefiningOp<model::WeightOp>();
  if (!weight || !format) {
    return;
  }
  if (weight.getFormatAttr() && weight.getFormatAttr() != format) {
    OpBuilder builder(weight);
    weight = cast<model::WeightOp>(builder.clone(*weight));
    operand.set(weight);
  }
  weight.setFormatAttr(format);
}

static void state(MutableOperandRange operands, model::FormatAttr format) {
  for (OpOperand &operand : operands) {
    state(operand, format);
  }
}

namespace {
struct StateFormats : public impl::ModelStateFormatsBase<StateFormats> {
  using ModelStateFormatsBase::ModelStateFormatsBase;

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      llvm::TypeSwitch<Operation *>(op)
          .Case([](model::LinearOp linear) {
            model::FormatAttr format = linear.getWeightFormat();
            state(linear.getWeightMutable(), format);
            state(linear.getWeightScaleMutable(), format);
            state(linear.getWeightTensorScaleMutable(), format);
          })
          .Case([](model::ExpertsOp experts) {
            model::FormatAttr gateUp = experts.getGateUpFormat();
            state(experts.getGateUpMutable(), gateUp);
            state(experts.getGateUpScaleMutable(), gateUp);
            state(experts.getGateUpTensorScaleMutable(), gateUp);
            model::FormatAttr down = experts.getDownFormat();
            state(experts.getDownMutable(), down);
            state(experts.getDownScaleMutable(), down);
            state(experts.getDownTensorScaleMutable(), down);
          })
          .Case([](model::CacheOp cache) {
            state(cache.getKScaleMutable(), cache.getType().getFormat());
            state(cache.getVScaleMutable(), cache.getType().getFormat());
          })
          .Case<model::RopeAppendOp, model::AttentionOp>([](auto heads) {
            state(heads.getQScaleMutable(),
                  heads.getCache().getType().getFormat());
          });
    });
  }
};
} // namespace
} // namespace modelc
