//===- estimate.cpp - A model in C++, compiled and estimated --------------===//
//
// A program outside the tree of modelc: it writes a decoder in the language of
// lib/Dsl, compiles it for a machine at growing batches, and prints how fast
// each would be served.
//
//   estimate [MACHINE [FOLDER]]      the last one's package goes to FOLDER
//
//===----------------------------------------------------------------------===//

#include "lib/Driver/Driver.h"
#include "lib/Dsl/Dsl.h"
#include "lib/Report/Report.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace modelc;
using mlir::Value;

/// Attention and MLP of a layer stand beside each other, as in PaLM.
static mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
buildModel(mlir::MLIRContext *context) {
  const DecoderShape shape = {.hidden = 2048,
                              .heads = 16,
                              .kvHeads = 4,
                              .headDim = 128,
                              .ffn = 8192,
                              .vocab = 32000};
  Model m(context, "side-by-side", {.maxContext = 8192});
  Value x = m.embed(m.tokens(), m.weight("model.embed_tokens.weight",
                                         {shape.vocab, shape.hidden}));
  x = m.layers(24, x, [&](Value h) {
    Value attention = selfAttention(m, h, shape);
    return m.add(m.add(h, attention), swigluMlp(m, h, shape));
  });
  x = rmsNorm(m, m.last(x), "model.norm.weight", shape.normEps);
  Value head = m.weight("lm_head.weight", {shape.vocab, shape.hidden});
  return m.finish(m.sample(m.linear(x, head)));
}

int main(int argc, char **argv) {
  mlir::MLIRContext context;
  auto model = buildModel(&context);
  if (failed(model)) {
    return 1;
  }
  CompileOptions options;
  options.target = argc > 1 ? argv[1] : "mi355x";
  options.targetsDirectory = MODELC_TARGETS;
  for (int64_t batch : {1, 16, 256}) {
    options.workload.batch = batch;
    options.output = argc > 2 && batch == 256 ? argv[2] : "";
    mlir::FailureOr<Report> report =
        compileModel(**model, options, llvm::errs());
    if (failed(report)) {
      return 1;
    }
    const Service &service = report->service.fixed;
    llvm::outs() << llvm::format(
        "batch %4d: %8.0f tokens/s, %6.2f ms each\n", int(batch),
        service.outputPerSecond.expectation, service.tpot->expectation * 1e3);
  }
  return 0;
}
