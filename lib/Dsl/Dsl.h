//===- Dsl.h - Model graphs in C++ ----------------------------------------===//
//
// Values of this language are mlir::Values and every function makes ops of the
// model dialect at once: there is no graph beside the IR. Example:
//
//   Model m(&context, "tiny", {.maxContext = 2048});
//   Value table = m.weight("model.embed_tokens.weight", {320, 128});
//   Value x = m.embed(m.tokens(), table);
//   x = m.layers(3, x, [&](Value h) {
//     h = m.add(h, selfAttention(m, h, attention));
//     return m.add(h, swigluMlp(m, h, mlp));
//   });
//   x = rmsNorm(m, m.last(x), "model.norm.weight", 1e-5);
//   auto module = m.finish(m.sample(m.linear(x, table)));
//
// Ops carry the place of the call, so messages point into the user's C++.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DSL_DSL_H
#define LIB_DSL_DSL_H

#include "lib/Dsl/Blocks.h"
#include "lib/Dsl/Model.h"

#endif // LIB_DSL_DSL_H
