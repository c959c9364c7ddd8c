//===- Pad.cpp - Vocabularies filled up -----------------------------------===//

#include "lib/ModelPasses/ModelPasses.h"
#include "lib/ModelPasses/Weights.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace modelc {
#define GEN_PASS_DEF_MODELPAD
#include "lib/ModelPasses/Passes.h.inc"

/// Words that vLLM and SGLang fill a vocabulary up to a multiple of.
static constexpr int64_t kWordsTogether = 64;

/// A head whose logits are sampled alone, and whose numbers have no scales.
static bool canPad(model::LinearOp head) {
  auto weight = head.getWeight().getDefiningOp<model::WeightOp>();
  bool isPlain = weight && weight.getSources().size() == 1 &&
                 !head.getWeightScale() && !head.getResidual();
  return isPlain && llvm::all_of(head.getOut().getUsers(), [](Operation *op) {
           auto sample = dyn_cast<model::SampleOp>(op);
           return sample && !sample.getWords();
         });
}

static void pad(model::LinearOp head, int64_t words) {
  int64_t before = head.getOutputs();
  OpBuilder builder(head);
  for (OpOperand &operand : head->getOpOperands()) {
    auto weight = operand.get().getDefiningOp<model::WeightOp>();
    if (weight) {
      operand.set(padWeight(builder, weight, words - before));
      if (weight->use_empty()) {
        weight->erase();
      }
    }
  }
  RankedTensorType type = head.getType();
  head.getOut().setType(type.clone({type.getDimSize(0), words}));
  for (Operation *user : head.getOut().getUsers()) {
    cast<model::SampleOp>(user).setWords(before);
  }
}

namespace {
struct Pad : public impl::ModelPadBase<Pad> {
  using ModelPadBase::ModelPadBase;

  void runOnOperation() override {
    SmallVector<model::LinearOp> heads;
    getOperation().walk([&](model::LinearOp linear) {
      if (linear.getRole() == model::Role::Vocabulary && canPad(linear)) {
        heads.push_back(linear);
      }
    });
    int64_t together = std::lcm(kWordsTogether, std::max<int64_t>(tp, 1));
    for (model::LinearOp head : heads) {
      int64_t words = llvm::alignTo(head.getOutputs(), together);
      if (words != head.getOutputs() && words <= model::kLargestSize) {
        pad(head, words);
      }
    }
  }
};
} // namespace
} // namespace modelc
