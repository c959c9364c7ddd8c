//===- ExportGraph.cpp - A graph op by op in TOML -------------------------===//

#include "lib/Import/GraphPrinter.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace modelc;

std::string GraphPrinter::name(Value value) {
  std::string &known = names[value];
  if (known.empty()) {
    known = "v" + std::to_string(names.size());
  }
  return known;
}

void GraphPrinter::printTables() {
  os << "[model]\nname = " << tomlString(graph.getName()) << "\n";
  if (graph.getMaxContext()) {
    os << "max_context = " << *graph.getMaxContext() << "\n";
  }
  graph.walk([&](model::WeightOp op) {
    os << "dtype = "
       << tomlString(printElementType(op.getType().getElementType())) << "\n";
    if (op.getStored()) {
      os << "stored = " << tomlString(printElementType(*op.getStored()))
         << "\n";
    }
    return WalkResult::interrupt();
  });
  graph.walk([&](model::RopeOp op) {
    sharedRope = op;
    return WalkResult::interrupt();
  });
  if (sharedRope) {
    os << "\n[rope]\ntheta = "
       << exactReal(sharedRope.getTheta().convertToDouble()) << "\n";
    if (model::Llama3ScalingAttr scaling = sharedRope.getScalingAttr()) {
      os << "scaling = { kind = " << tomlString("llama3")
         << ", factor = " << exactReal(scaling.getFactor().convertToDouble())
         << ", low_freq_factor = "
         << exactReal(scaling.getLowFreqFactor().convertToDouble())
         << ", high_freq_factor = "
         << exactReal(scaling.getHighFreqFactor().convertToDouble())
         << ", original_context = " << scaling.getOriginalContext() << " }\n";
    }
  }
  graph.walk([&](model::SampleOp op) {
    os << "\n[sampling]\nmethod = "
       << tomlString(stringifySampling(op.getSampling())) << "\n";
    if (op.getTopK()) {
      os << "top_k = " << *op.getTopK() << "\n";
    }
    if (op.getTopP()) {
      os << "top_p = " << exactReal(op.getTopP()->convertToDouble()) << "\n";
    }
    if (op.getTemperature()) {
      os << "temperature = "
         << exactReal(op.getTemperature()->convertToDouble()) << "\n";
    }
  });
}

void GraphPrinter::begin(Operation *op, ValueRange inputs) {
  auto namesOf = [&](ValueRange values) {
    SmallVector<std::string> words;
    for (Value value : values) {
      words.push_back(name(value));
    }
    return words;
  };
  SmallVector<std::string> from = namesOf(inputs);
  SmallVector<std::string> made =
      namesOf(isa<model::RouteOp>(op) ? ValueRange(op->getResults())
                                      : ValueRange(op->getResult(0)));
  os << "  { out = " << listOf(made)
     << ", op = " << tomlString(op->getName().stripDialect())
     << ", in = " << listOf(from);
}

LogicalResult GraphPrinter::weight(StringRef key, Value value) {
  auto op = value.getDefiningOp<model::WeightOp>();
  if (!op || op.getSources().size() != 1) {
    return unsupported(op ? op : graph.getOperation());
  }
  os << ", " << key << " = "
     << tomlString(op.getSources()[0].getName().getValue());
  return success();
}

LogicalResult GraphPrinter::printOp(Operation *op) {
  LogicalResult result =
      llvm::TypeSwitch<Operation *, LogicalResult>(op)
          .Case([&](model::EmbedOp op) {
            begin(op, op.getTokens());
            size("rows", op.getTable().getType().getDimSize(0));
            size("size", op.getTable().getType().getDimSize(1));
            number("times", op.getTimes());
            return weight("weight", op.getTable());
          })
          .Case([&](model::NormOp op) { return norm(op); })
          .Case([&](model::LinearOp op) { return linear(op); })
          .Case([&](model::RopeOp op) { return rope(op); })
          .Case([&](model::AttentionOp op) { return attention(op); })
          .Case(
              [&](model::LatentAttentionOp op) { return latentAttention(op); })
          .Case([&](model::RouteOp op) { return route(op); })
          .Case([&](model::ExpertsOp op) { return experts(op); })
          .Case([&](model::SwigluOp op) {
            begin(op, {op.getGate(), op.getUp()});
            if (op.getGating() != model::Gating::Silu) {
              word("gating", stringifyGating(op.getGating()));
            }
            return success();
          })
          .Case<model::AddOp, model::GateOp, model::ConcatOp>(
              [&](Operation *op) {
                begin(op, op->getOperands());
                return success();
              })
          .Case<model::LastOp, model::SampleOp>([&](Operation *op) {
            begin(op, op->getOperand(0));
            return success();
          })
          .Default([&](Operation *op) { return unsupported(op); });
  os << " },\n";
  return result;
}

LogicalResult GraphPrinter::printBlock(ArrayRef<Operation *> ops) {
  os << "ops = [\n";
  for (Operation *op : ops) {
    if (!isa<model::WeightOp, model::CacheOp, model::AppendOp,
             model::LatentAppendOp>(op) &&
        failed(printOp(op))) {
      return failure();
    }
  }
  os << "]\n";
  return success();
}

LogicalResult GraphPrinter::printLayers(model::LayersOp layers) {
  SmallVector<std::string> carried;
  SmallVector<Operation *> ops;
  for (Operation &op : layers.getBody().front().without_terminator()) {
    ops.push_back(&op);
  }
  // A carried value has one name: before, inside, as it is yielded, and after.
  for (auto [init, argument, yielded, out] :
       llvm::zip_equal(layers.getInits(), layers.getBody().getArguments(),
                       layers.getYield().getValues(), layers.getOuts())) {
    names[argument] = names[yielded] = names[out] = name(init);
    carried.push_back(tomlString(name(init)));
  }
  os << "\n[[block]]\nrepeat = " << layers.getCount();
  if (layers.getStep() > 1) {
    os << "\nstep = " << layers.getStep();
  }
  os << "\ncarry = [" << llvm::join(carried, ", ") << "]\n";
  return printBlock(ops);
}

LogicalResult GraphPrinter::print() {
  names[graph.getBody().getArgument(0)] = "tokens";
  printTables();
  SmallVector<Operation *> plain;
  auto flush = [&]() {
    SmallVector<Operation *> ops = std::move(plain);
    plain.clear();
    if (ops.empty()) {
      return success();
    }
    os << "\n[[block]]\n";
    return printBlock(ops);
  };
  for (Operation &op : graph.getBody().front().without_terminator()) {
    auto layers = dyn_cast<model::LayersOp>(op);
    if (!layers) {
      plain.push_back(&op);
    } else if (failed(flush()) || failed(printLayers(layers))) {
      return failure();
    }
  }
  return flush();
}

LogicalResult modelc::exportGraph(model::GraphOp graph, raw_ostream &os) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (failed(GraphPrinter(graph, stream).print())) {
    return failure();
  }
  os << text;
  return success();
}
