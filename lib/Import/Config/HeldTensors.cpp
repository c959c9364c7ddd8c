//===- HeldTensors.cpp - Which tensors of a checkpoint are quantised ------===//
//
// A checkpoint quantises the linears of layers and its experts, but for those
// that it lists: by name ("model.layers.0.mlp.gate", or "gate" of any layer),
// by a part of names before them ("model.layers.*.self_attn"), or by a regular
// expression behind "re:". Embeddings, the head, routers and norms never are.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Config/HeldTensors.h"

#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace modelc;

/// "a.b.c" and all that it lies in: "a.b", "a".
static SmallVector<StringRef> withParents(StringRef module) {
  SmallVector<StringRef> names;
  while (!module.empty()) {
    names.push_back(module);
    module = module.contains('.') ? module.rsplit('.').first : StringRef();
  }
  return names;
}

static bool matches(StringRef pattern, StringRef module) {
  if (pattern.consume_front("re:")) {
    return llvm::Regex(("^(" + pattern + ")").str()).match(module);
  }
  if (!pattern.contains('.') && !pattern.contains('*')) {
    SmallVector<StringRef> words;
    module.split(words, '.');
    return llvm::is_contained(words, pattern);
  }
  llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(pattern);
  if (!glob) {
    llvm::consumeError(glob.takeError());
    return module == pattern;
  }
  return llvm::any_of(withParents(module),
                      [&](StringRef name) { return glob->match(name); });
}

static std::string replaced(StringRef text, StringRef from,
                            const std::string &to) {
  const size_t at = text.find(from);
  return at == StringRef::npos
             ? text.str()
             : (text.take_front(at) + to + text.substr(at + from.size())).str();
}

/// The module of a tensor in a layer: "model.layers.3.mlp.experts.0.up_proj".
static std::string moduleOf(StringRef source, int64_t layer) {
  source.consume_back(".weight");
  std::string name = replaced(source, model::kExpertPlaceholder, "0");
  StringRef rest = name;
  const size_t open = rest.find("{layer");
  if (open == StringRef::npos) {
    return name;
  }
  StringRef placeholder =
      rest.substr(open).take_until([](char letter) { return letter == '}'; });
  StringRef number = placeholder;
  int64_t later = 0;
  if (number.consume_front("{layer+")) {
    number.consumeInteger(10, later);
  }
  return replaced(name, (placeholder + "}").str(),
                  std::to_string(layer + later));
}

/// Whether the numbers of a weight are those of a linear of a layer, or of
/// experts.
static bool isMultiplied(model::WeightOp weight) {
  return llvm::any_of(weight->getUsers(), [&](Operation *user) {
    if (auto linear = dyn_cast<model::LinearOp>(user)) {
      bool routes = llvm::any_of(linear.getOut().getUsers(),
                                 llvm::IsaPred<model::RouteOp>);
      return linear.getWeight() == weight && !routes;
    }
    if (auto experts = dyn_cast<model::ExpertsOp>(user)) {
      return experts.getGateUp() == weight || experts.getDown() == weight;
    }
    return isa<model::LatentAttentionOp>(user);
  });
}

static model::HeldAttr attributeOf(MLIRContext *context,
                                   const HeldFormat &held) {
  auto word = [&](const std::string &text) {
    return text.empty() ? StringAttr() : StringAttr::get(context, text);
  };
  return model::HeldAttr::get(context, word(held.format), word(held.data),
                              word(held.scale), word(held.tensorScale),
                              word(held.tensorDivisor));
}

LogicalResult modelc::holdTensors(ModuleOp module, const Source &source) {
  if (!source.held) {
    return success();
  }
  model::HeldAttr held = attributeOf(module.getContext(), *source.held);
  WalkResult walk = module.walk([&](model::WeightOp weight) {
    auto layers = weight->getParentOfType<model::LayersOp>();
    if (!layers || !isMultiplied(weight)) {
      return WalkResult::advance();
    }
    const int64_t count = layers.getCount();
    int64_t kept = 0;
    for (int64_t i = 0; i < count; ++i) {
      const std::string name =
          moduleOf(weight.getSources().begin()->getName().getValue(),
                   int64_t(layers.getFirst()) + i * int64_t(layers.getStep()));
      kept += llvm::any_of(source.held->kept, [&](const std::string &pattern) {
        return matches(pattern, name);
      });
    }
    if (kept != 0 && kept != count) {
      emitError(source.weightsPlace.value_or(weight.getLoc()))
          << "expected layers that are alike to be quantised alike, got "
          << count - kept << " of " << count << " with \""
          << model::getShortName(weight) << "\" in few bits";
      return WalkResult::interrupt();
    }
    if (kept == 0) {
      weight.setHeldAttr(held);
    }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}
