//===- LowerLinear.cpp - Linears, and what joins their parts --------------===//

#include "lib/Kernels/Graph/Launches.h"
#include "lib/Kernels/Refusals.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

static LinearShape shapeOf(model::LinearOp op, Type input, Type ofWeight,
                           const Target &target) {
  Type element = numberType(input), weight = numberType(ofWeight);
  LinearShape shape;
  shape.isSwiglu = op.getSwiglu();
  shape.columns = op.getOutputs() / (shape.isSwiglu ? 2 : 1);
  shape.inputs = op.getInputs();
  shape.element = element;
  shape.weight = weight == element ? Type() : weight;
  shape.result = elementOf(op.getOut());
  shape.biasType = op.getBias() ? elementOf(op.getBias()) : Type();
  shape.blockScales = scalesFor(weight, op.getWeightScale(), target);
  shape.isScaled =
      op.getXScale() && !scalesFor(element, op.getXScale(), target);
  shape.isTensorScaled = static_cast<bool>(op.getXTensorScale());
  shape.hasResidual = static_cast<bool>(op.getResidual());
  return shape;
}

/// The scale where it is of rank 1, of rows, or 2, of blocks; or null.
static Value ofRank(int64_t rank, Value scale) {
  bool isWanted =
      scale && cast<RankedTensorType>(scale.getType()).getRank() == rank;
  return isWanted ? scale : Value();
}

/// Scales, bias and residual, for a kernel of sums.
static NamedValues epilogueOf(const Lowering &in, model::LinearOp op) {
  return in.buffersOf({{"a_scale", ofRank(1, op.getXScale())},
                       {"w_scale", ofRank(1, op.getWeightScale())},
                       {"a_tensor_scale", op.getXTensorScale()},
                       {"w_tensor_scale", op.getWeightTensorScale()},
                       {"bias", op.getBias()},
                       {"residual", op.getResidual()}});
}

/// Parts of sums and what finishes them, for a kernel that rotates. It reads
/// one scale for all rows by the name of those of rows.
static NamedValues rotatedSums(const LinearArguments &arguments,
                               Value partial) {
  NamedValues rows = {{"partial", partial}};
  for (const NamedValue &argument : arguments.epilogue) {
    StringRef name = argument.name;
    rows.push_back({name == "a_tensor_scale"   ? "a_scale"
                    : name == "w_tensor_scale" ? "w_scale"
                                               : argument.name,
                    argument.value});
  }
  return rows;
}

static void launchVariant(Lowering &in, const LinearShape &shape,
                          const LinearVariant &variant,
                          const LinearArguments &arguments, StringRef label) {
  Value rows = in.inside(arguments.rows, variant.rows);
  Value partial =
      in.plan.workspace(rows, {variant.tile.splits, shape.weightRows()},
                        in.plan.builder.getF32Type());
  NamedValues products = arguments.operands;
  products.append({{"tile_experts", arguments.tileExperts},
                   {"partial", partial},
                   {"m", arguments.rows}});
  in.plan.launch(variant.kernel, products, label);
  if (arguments.rope) {
    launchRope(in, arguments.rope, rotatedSums(arguments, partial),
               SumParts::of(shape, variant.tile.splits));
    return in.plan.release(partial);
  }
  NamedValues reduce = {{"partial", partial}};
  if (shape.finishesByExpert()) {
    reduce.push_back({"tile_experts", arguments.tileExperts});
  }
  llvm::append_range(reduce, arguments.epilogue);
  if (arguments.quantise) {
    llvm::append_range(reduce, resultsOf(in, arguments.quantise));
  } else {
    reduce.push_back({"d", arguments.d});
  }
  reduce.push_back({"m", arguments.rows});
  in.plan.launch(variant.reduce, reduce, label.str() + "_reduce");
  in.plan.release(partial);
}

void kernels::launchLinear(Lowering &in, const LinearShape &shape,
                           ArrayRef<LinearVariant> variants,
                           const LinearArguments &arguments, StringRef label) {
  NamedValues whole = arguments.operands;
  whole.push_back({"tile_experts", arguments.tileExperts});
  llvm::append_range(whole, arguments.epilogue);
  whole.append({{"d", arguments.d}, {"m", arguments.rows}});
  // Neighbours that do not split are one launch of several kernels.
  for (size_t i = 0; i < variants.size();) {
    size_t end = i + 1;
    SmallVector<Attribute> kernels = {variants[i].kernel};
    while (variants[i].tile.splits == 1 && end < variants.size() &&
           variants[end].tile.splits == 1) {
      Attribute next = variants[end++].kernel;
      if (!llvm::is_contained(kernels, next)) {
        kernels.push_back(next);
      }
    }
    Range range = {variants[i].rows.minimum, variants[end - 1].rows.maximum};
    auto launch = [&] {
      if (variants[i].tile.splits > 1) {
        return launchVariant(in, shape, variants[i], arguments, label);
      }
      in.plan.launch(kernels, whole, label);
      if (arguments.quantise) {
        launchQuantise(in, arguments.quantise, arguments.d);
      }
      if (arguments.rope) {
        launchRope(in, arguments.rope, {{"qkv", arguments.d}}, {});
      }
    };
    if (i == 0 && end == variants.size()) {
      launch();
    } else {
      in.plan.when(arguments.rows, range, launch);
    }
    i = end;
  }
}

LogicalResult kernels::lower(Lowering &in, model::LinearOp op) {
  return lower(in, op, nullptr);
}

LogicalResult kernels::lower(Lowering &in, model::LinearOp op,
                             Operation *second) {
  LinearArguments arguments;
  arguments.epilogue = epilogueOf(in, op);
  arguments.rows = in.rowsOf(op.getX());
  LinearShape shape =
      shapeOf(op, in.stored(elementOf(op.getX())),
              in.stored(elementOf(op.getWeight())), in.library.tiling.target);
  if (shape.scalesInputBlocks() &&
      failed(verifyWords(op, shape.blockScales, shape.inputs))) {
    return failure();
  }
  arguments.operands =
      in.buffersOf({{"a", op.getX()},
                    {"w", op.getWeight()},
                    {"a_scales", ofRank(2, op.getXScale())},
                    {"w_scales", ofRank(2, op.getWeightScale())}});
  auto quantise = dyn_cast_or_null<model::QuantiseOp>(second);
  if (quantise && canQuantiseParts(in, quantise)) {
    arguments.quantise = quantise;
    shape.quantise = quantiseShapeOf(in, quantise);
    in.bindNumbers(quantise.getOut(), quantise.getScale(), arguments.rows);
  }
  if (auto rope = dyn_cast_or_null<model::RopeAppendOp>(second)) {
    arguments.rope = rope;
    bindRope(in, rope, arguments.rows);
  }
  FailureOr<SmallVector<LinearVariant>> found =
      in.library.linear(op, shape, in.rangesOf(arguments.rows));
  if (failed(found)) {
    return failure();
  }
  bool isSplit = llvm::all_of(*found, [](const LinearVariant &variant) {
    return variant.tile.splits > 1;
  });
  if (!(arguments.quantise || arguments.rope) || !isSplit) {
    in.bind(op.getOut(), arguments.rows);
    arguments.d = in.bufferOf(op.getOut());
  }
  launchLinear(in, shape, *found, arguments, model::getShortName(op));
  return success();
}
