//===- Model.cpp - One graph under construction ---------------------------===//

#include "lib/Dsl/Model.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace modelc;

Location Where::in(MLIRContext *context) const {
  if (inFile) {
    return *inFile;
  }
  return FileLineColLoc::get(context, inSource.file_name(), inSource.line(),
                             inSource.column());
}

Where Where::about(ArrayRef<Stated> sizes) const {
  SmallVector<model::SubjectPlace> subjects;
  for (const Stated &size : sizes) {
    if (size.place) {
      subjects.push_back({size.subject, *size.place});
    }
  }
  if (subjects.empty()) {
    return *this;
  }
  return model::withPlaces(in(subjects.front().second.getContext()), subjects);
}

Model::Model(MLIRContext *context, StringRef name, const ModelOptions &options,
             Where where)
    : builder(context) {
  context->loadDialect<model::ModelDialect>();
  Location loc =
      where
          .about({{model::Subject::MaxContext, options.maxContextPlace},
                  {model::Subject::Weights, options.weightsPlace}})
          .in(context);
  elementType =
      options.elementType ? options.elementType : builder.getBF16Type();
  storedType = options.storedType ? options.storedType : elementType;
  module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto tokenType =
      RankedTensorType::get({ShapedType::kDynamic}, builder.getI32Type());
  FunctionType type = builder.getFunctionType(
      {tokenType, model::BatchType::get(context)}, {tokenType});
  graph = model::GraphOp::create(builder, loc, name, type);
  if (options.maxContext > 0) {
    graph.setMaxContext(options.maxContext);
  }
  batch = graph.getBody().getArgument(1);
  builder.setInsertionPointToStart(&graph.getBody().front());
}

RankedTensorType Model::withColumns(Value rows, int64_t columns) {
  int64_t count = cast<RankedTensorType>(rows.getType()).getDimSize(0);
  return RankedTensorType::get({count, columns}, elementType);
}

Value Model::tokens() { return graph.getBody().getArgument(0); }

Value Model::weight(StringRef name, ArrayRef<int64_t> shape, Where where) {
  return weights(name.str(), shape, {}, where);
}

Value Model::weights(ArrayRef<std::string> names, ArrayRef<int64_t> shape,
                     const WeightOptions &options, Where where) {
  auto type =
      RankedTensorType::get(shape, options.type ? options.type : elementType);
  Value &known = knownWeights[llvm::join(names, "\n")];
  if (known && known.getType() == type) {
    return known;
  }
  SmallVector<model::SourceAttr> sources;
  for (const std::string &name : names) {
    sources.push_back(model::SourceAttr::get(builder.getContext(), name));
  }
  auto op = model::WeightOp::create(builder, where.in(builder.getContext()),
                                    type, sources);
  if (storedType != elementType && !options.type) {
    op.setStored(storedType);
  }
  op.setTransposed(options.transposed);
  known = op;
  return known;
}

/// The number as an attribute, or null where it is 0, which says nothing.
static FloatAttr numberOrNone(OpBuilder &builder, double value) {
  return value != 0 ? builder.getF64FloatAttr(value) : FloatAttr();
}

static IntegerAttr sizeOrNone(OpBuilder &builder, int64_t size) {
  return size > 0 ? builder.getI64IntegerAttr(size) : IntegerAttr();
}

Value Model::embed(Value tokens, Value table, double scale, Where where) {
  int64_t columns = cast<RankedTensorType>(table.getType()).getShape().back();
  return model::EmbedOp::create(builder, where.in(builder.getContext()),
                                withColumns(tokens, columns), tokens, table,
                                numberOrNone(builder, scale));
}

Value Model::norm(Value x, Value weight, double eps, Where where) {
  return norm(x, weight, NormOptions{.eps = eps}, where);
}

Value Model::norm(Value x, Value weight, const NormOptions &options,
                  Where where) {
  return model::NormOp::create(
             builder, where.in(builder.getContext()), x.getType(),
             /*scale=*/Type(), /*sum=*/Type(), x, weight,
             /*residual=*/Value(), /*tensor_scale=*/Value(),
             builder.getF64FloatAttr(options.eps),
             sizeOrNone(builder, options.headDim),
             sizeOrNone(builder, options.first),
             options.onePlus ? builder.getUnitAttr() : UnitAttr())
      .getOut();
}

Value Model::linear(Value x, Value weight, const LinearOptions &options,
                    Where where) {
  auto op = model::LinearOp::create(builder, where.in(builder.getContext()), x,
                                    weight, options.bias);
  op.setRole(options.role);
  if (options.headDim > 0) {
    op.setHeadDim(options.headDim);
  }
  return op;
}

Value Model::logits(Value x, Value weight, Value bias, Where where) {
  auto op = model::LinearOp::create(builder, where.in(builder.getContext()), x,
                                    weight, bias);
  op.getOut().setType(op.getType().clone(builder.getF32Type()));
  return op;
}

Value Model::rope(Value x, const RopeOptions &options, Where where) {
  auto op = model::RopeOp::create(builder, where.in(builder.getContext()), x,
                                  batch, options.headDim, options.theta);
  if (const std::optional<Llama3Scaling> &of = options.scaling) {
    op.setScalingAttr(model::Llama3ScalingAttr::get(
        builder.getContext(), of->factor, of->lowFreqFactor, of->highFreqFactor,
        of->originalContext));
  }
  if (const std::optional<Yarn> &of = options.yarn) {
    op.setYarnAttr(model::YarnAttr::get(
        builder.getContext(), of->factor, of->betaFast, of->betaSlow,
        of->originalContext, of->magnitude, of->truncate));
  }
  if (options.stretched != 1) {
    op.setStretchedAttr(builder.getF64FloatAttr(options.stretched));
  }
  op.setRotatedAttr(sizeOrNone(builder, options.rotated));
  op.setFirst(options.first);
  op.setInterleaved(options.interleaved);
  return op;
}

/// That of the layer whose weights were stated last.
Value Model::cache(model::CacheType type, Location loc) {
  int64_t layer = 0;
  for (auto weight : builder.getBlock()->getOps<model::WeightOp>()) {
    layer = model::layerPlaceOf(weight).value_or(layer);
  }
  return model::CacheOp::create(builder, loc, type, layer);
}

Value Model::attention(Value q, Value k, Value v,
                       const AttentionOptions &options, Where where) {
  Location loc = where.in(builder.getContext());
  auto type = model::CacheType::get(builder.getContext(), options.kvHeads,
                                    options.headDim, elementType, /*page=*/0);
  Value cache = this->cache(type, loc);
  cache = model::AppendOp::create(builder, loc, type, k, v, cache, batch);
  auto op =
      model::AttentionOp::create(builder, loc, q, cache, batch, options.sink);
  op.setWindowAttr(sizeOrNone(builder, options.window));
  op.setChunkAttr(sizeOrNone(builder, options.chunk));
  op.setScaleAttr(numberOrNone(builder, options.scale));
  op.setSoftCapAttr(numberOrNone(builder, options.softCap));
  if (options.temperature) {
    op.setTemperatureAttr(model::TemperatureAttr::get(
        builder.getContext(), options.temperature->scale,
        options.temperature->every));
  }
  return op;
}

Value Model::latentAttention(Value q, Value kv, Value expand,
                             const LatentShape &shape, double scale,
                             Where where) {
  Location loc = where.in(builder.getContext());
  const int64_t row = shape.rank + shape.ropeDim;
  auto type = model::CacheType::get(builder.getContext(), /*kvHeads=*/1, row,
                                    elementType, /*page=*/0, shape.rank);
  const int64_t heads = cast<RankedTensorType>(q.getType()).getDimSize(1) /
                        (shape.keyDim + shape.ropeDim);
  Value cache = this->cache(type, loc);
  cache = model::LatentAppendOp::create(builder, loc, type, kv, cache, batch);
  return model::LatentAttentionOp::create(
      builder, loc, withColumns(q, heads * shape.valueDim), q, expand, cache,
      batch, /*absorbed=*/UnitAttr(), builder.getF64FloatAttr(scale));
}

Value Model::swiglu(Value gate, Value up, model::Gating gating, Where where) {
  return model::SwigluOp::create(builder, where.in(builder.getContext()),
                                 gate.getType(), /*scale=*/Type(), gate, up,
                                 /*tensor_scale=*/Value(), gating)
      .getOut();
}

std::pair<Value, Value> Model::route(Value logits, Value correction,
                                     const RouteOptions &options, Where where) {
  const int64_t tokens = cast<RankedTensorType>(logits.getType()).getDimSize(0);
  auto of = [&](Type element) {
    return RankedTensorType::get({tokens, options.topK}, element);
  };
  model::GroupsAttr groups;
  if (options.groups) {
    groups = model::GroupsAttr::get(builder.getContext(), options.groups->count,
                                    options.groups->kept, options.groups->score,
                                    options.groups->mask);
  }
  auto number = [&](std::optional<double> value) {
    return value ? builder.getF64FloatAttr(*value) : FloatAttr();
  };
  auto op = model::RouteOp::create(
      builder, where.in(builder.getContext()), of(builder.getI32Type()),
      of(builder.getF32Type()), logits, correction, options.scoring,
      options.topK, groups, number(options.renormalised),
      number(options.scaled));
  return {op.getExperts(), op.getWeights()};
}

Value Model::experts(Value x, std::pair<Value, Value> route,
                     const ExpertWeights &weights, Where where) {
  return model::ExpertsOp::create(
      builder, where.in(builder.getContext()), x.getType(), x, route.first,
      route.second, weights.gateUp, weights.down, /*gate_up_scale=*/Value(),
      /*down_scale=*/Value(), /*gate_up_tensor_scale=*/Value(),
      /*down_tensor_scale=*/Value(), weights.gateUpBias, weights.downBias,
      weights.interleaved, weights.weighInputs, weights.gating.gating,
      numberOrNone(builder, weights.gating.alpha),
      numberOrNone(builder, weights.gating.limit), /*inputs=*/TypeAttr());
}

Value Model::gate(Value x, Value gate, Where where) {
  return model::GateOp::create(builder, where.in(builder.getContext()),
                               x.getType(), x, gate);
}

Value Model::concat(Value a, Value b, Where where) {
  auto columns = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getDimSize(1);
  };
  return model::ConcatOp::create(builder, where.in(builder.getContext()),
                                 withColumns(a, columns(a) + columns(b)), a, b);
}

Value Model::add(Value a, Value b, Where where) {
  return model::AddOp::create(builder, where.in(builder.getContext()),
                              a.getType(), a, b);
}

Value Model::last(Value x, Where where) {
  return model::LastOp::create(builder, where.in(builder.getContext()),
                               x.getType(), x, batch);
}

Value Model::sample(Value logits, const SamplingOptions &options, Where where) {
  auto number = [&](std::optional<double> value) {
    return value ? builder.getF64FloatAttr(*value) : FloatAttr();
  };
  return model::SampleOp::create(
      builder, where.in(builder.getContext()), tokens().getType(), logits,
      batch, options.random ? model::Sampling::Random : model::Sampling::Greedy,
      /*words=*/IntegerAttr(),
      options.topK ? builder.getI64IntegerAttr(*options.topK) : IntegerAttr(),
      number(options.topP), number(options.temperature));
}

SmallVector<Value>
Model::layers(int64_t count, ValueRange inits,
              llvm::function_ref<SmallVector<Value>(ValueRange)> body,
              Where where, int64_t step) {
  Location loc = where.in(builder.getContext());
  auto op = model::LayersOp::create(builder, loc, inits.getTypes(), count,
                                    nextLayer, step, inits);
  nextLayer += count * step;
  Block &block = op.getBody().emplaceBlock();
  for (Value init : inits) {
    block.addArgument(init.getType(), loc);
  }
  OpBuilder::InsertionGuard guard(builder);
  llvm::StringMap<Value> outside = knownWeights;
  builder.setInsertionPointToStart(&block);
  SmallVector<Value> yielded = body(block.getArguments());
  model::YieldOp::create(builder, loc, yielded);
  knownWeights = std::move(outside);
  return SmallVector<Value>(op.getResults());
}

Value Model::layers(int64_t count, Value init,
                    llvm::function_ref<Value(Value)> body, Where where,
                    int64_t step) {
  return layers(
      count, ValueRange(init),
      [&](ValueRange carried) {
        return SmallVector<Value>{body(carried.front())};
      },
      where, step)[0];
}

FailureOr<OwningOpRef<ModuleOp>> Model::finish(Value result, Where where) {
  model::ReturnOp::create(builder, where.in(builder.getContext()), result);
  if (failed(verify(*module))) {
    return failure();
  }
  return std::move(module);
}
