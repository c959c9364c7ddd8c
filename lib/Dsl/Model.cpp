//===- Model.cpp - One graph under construction ---------------------------===//

#include "lib/Dsl/Dsl.h"

#include "mlir/IR/Verifier.h"

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
  auto type = RankedTensorType::get(shape, elementType);
  Value &known = weights[name];
  if (known && known.getType() == type) {
    return known;
  }
  auto source = model::SourceAttr::get(builder.getContext(), name);
  auto op = model::WeightOp::create(builder, where.in(builder.getContext()),
                                    type, source);
  if (storedType != elementType) {
    op.setStored(storedType);
  }
  known = op;
  return known;
}

Value Model::embed(Value tokens, Value table, Where where) {
  int64_t columns = cast<RankedTensorType>(table.getType()).getShape().back();
  return model::EmbedOp::create(builder, where.in(builder.getContext()),
                                withColumns(tokens, columns), tokens, table);
}

Value Model::norm(Value x, Value weight, double eps, Where where) {
  return model::NormOp::create(builder, where.in(builder.getContext()),
                               x.getType(),
                               /*scale=*/Type(), /*sum=*/Type(), x, weight,
                               /*residual=*/Value(), /*tensor_scale=*/Value(),
                               builder.getF64FloatAttr(eps))
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

Value Model::rope(Value x, const RopeOptions &options, Where where) {
  model::Llama3ScalingAttr scaling;
  if (options.scaling) {
    scaling = model::Llama3ScalingAttr::get(
        builder.getContext(), options.scaling->factor,
        options.scaling->lowFreqFactor, options.scaling->highFreqFactor,
        options.scaling->originalContext);
  }
  return model::RopeOp::create(builder, where.in(builder.getContext()),
                               x.getType(), x, batch,
                               builder.getI64IntegerAttr(options.headDim),
                               builder.getF64FloatAttr(options.theta), scaling);
}

Value Model::attention(Value q, Value k, Value v,
                       const AttentionOptions &options, Where where) {
  Location loc = where.in(builder.getContext());
  auto type = model::CacheType::get(builder.getContext(), options.kvHeads,
                                    options.headDim, elementType, /*page=*/0);
  Value cache = model::CacheOp::create(builder, loc, type);
  cache = model::AppendOp::create(builder, loc, type, k, v, cache, batch);
  IntegerAttr window;
  if (options.window > 0) {
    window = builder.getI64IntegerAttr(options.window);
  }
  return model::AttentionOp::create(builder, loc, q.getType(), q, cache, batch,
                                    /*q_scale=*/Value(), window);
}

Value Model::swiglu(Value gate, Value up, Where where) {
  return model::SwigluOp::create(builder, where.in(builder.getContext()),
                                 gate.getType(), /*scale=*/Type(), gate, up,
                                 /*tensor_scale=*/Value())
      .getOut();
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
              Where where) {
  Location loc = where.in(builder.getContext());
  auto op = model::LayersOp::create(builder, loc, inits.getTypes(), count,
                                    nextLayer, inits);
  nextLayer += count;
  Block &block = op.getBody().emplaceBlock();
  for (Value init : inits) {
    block.addArgument(init.getType(), loc);
  }
  OpBuilder::InsertionGuard guard(builder);
  llvm::StringMap<Value> outside = weights;
  builder.setInsertionPointToStart(&block);
  SmallVector<Value> yielded = body(block.getArguments());
  model::YieldOp::create(builder, loc, yielded);
  weights = std::move(outside);
  return SmallVector<Value>(op.getResults());
}

Value Model::layers(int64_t count, Value init,
                    llvm::function_ref<Value(Value)> body, Where where) {
  return layers(
      count, ValueRange(init),
      [&](ValueRange carried) {
        return SmallVector<Value>{body(carried.front())};
      },
      where)[0];
}

FailureOr<OwningOpRef<ModuleOp>> Model::finish(Value result, Where where) {
  model::ReturnOp::create(builder, where.in(builder.getContext()), result);
  if (failed(verify(*module))) {
    return failure();
  }
  return std::move(module);
}
