//===- Refusals.cpp - What no kernel of a target takes, said to users -----===//
//
// Sizes that work are those for which the tiling has tiles and, of heads, whose
// kernels the judge can schedule: no list of them is kept.
//
//===----------------------------------------------------------------------===//

#include "lib/Kernels/Refusals.h"

#include "dialects/Model/Model.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;

//===----------------------------------------------------------------------===//
// Linears
//===----------------------------------------------------------------------===//

/// The multiples next to a size, below and above, of the smallest power of two
/// for which both work; empty: none does.
static SmallVector<int64_t> nearSizes(int64_t size,
                                      llvm::function_ref<bool(int64_t)> works) {
  constexpr int64_t kMostAlignment = 1024;
  for (int64_t step = 2; step <= kMostAlignment; step *= 2) {
    SmallVector<int64_t> near;
    for (uint64_t other : {llvm::alignDown<uint64_t>(size, step),
                           llvm::alignTo<uint64_t>(size, step)}) {
      bool isNew = other != uint64_t(size) && !llvm::is_contained(near, other);
      if (other > 0 && other <= model::kLargestSize && isNew && works(other)) {
        near.push_back(other);
      }
    }
    if (!near.empty() && near.back() > size) {
      return near;
    }
  }
  return {};
}

static std::string alternatives(ArrayRef<int64_t> sizes) {
  SmallVector<std::string> words;
  for (int64_t size : sizes) {
    words.push_back(std::to_string(size));
  }
  return llvm::join(words, " or ");
}

/// No instruction multiplies the types: the format of weights is at fault, or
/// of what they meet if they are multiplied among themselves.
static LogicalResult refuseTypes(Operation *op, const LinearShape &shape,
                                 const Tiling &tiling) {
  LinearShape alike = shape;
  alike.element = shape.weightElement();
  alike.weight = {};
  model::Subject subject = shape.weight && tiling.multiplies(alike)
                               ? model::Subject::Activations
                               : model::Subject::Weights;
  InFlightDiagnostic error = emitError(model::placeOf(op, subject),
                                       "expected operands of a type that '")
                             << tiling.target.identity.name << "' multiplies, "
                             << llvm::join(tiling.multiplied(), ", ")
                             << ", got " << shape.element;
  if (shape.weight) {
    error << " by " << shape.weight;
  }
  if (shape.blockScales) {
    error << " with a scale for each block of " << shape.blockScales.block;
  }
  return error << "; try other types of "
               << (subject == model::Subject::Weights ? "weights"
                                                      : "activations");
}

/// Whether a linear reads a part of the inputs: its weight is cut along them.
static bool readsPart(Operation *op) {
  auto linear = dyn_cast<model::LinearOp>(op);
  auto weight = linear ? linear.getWeight().getDefiningOp<model::WeightOp>()
                       : model::WeightOp();
  return weight &&
         llvm::any_of(weight.getSources(), [](model::SourceAttr source) {
           return source.getParts(1) > 1;
         });
}

LogicalResult modelc::kernels::refuse(Operation *op, const LinearShape &shape,
                                      ArrayRef<Range> ranges,
                                      const Tiling &tiling,
                                      Candidates &candidates) {
  if (!tiling.multiplies(shape)) {
    return refuseTypes(op, shape, tiling);
  }
  using model::Subject;
  struct Size {
    Subject subject;
    StringRef name;
    int64_t LinearShape::*member;
    bool isPart;
  };
  bool isSplit =
      op->getParentOfType<model::GraphOp>().getRanks(model::Axis::Tensor) > 1;
  const Size sizes[] = {
      {Subject::Inputs, "inputs", &LinearShape::inputs, readsPart(op)},
      {Subject::Outputs, "outputs", &LinearShape::columns, !readsPart(op)}};
  for (const Size &size : sizes) {
    int64_t now = shape.*size.member;
    SmallVector<int64_t> near = nearSizes(now, [&](int64_t other) {
      LinearShape changed = shape;
      changed.*size.member = other;
      return llvm::all_of(ranges, [&](Range rows) {
        return succeeded(tiling.linear(candidates, changed, rows));
      });
    });
    if (!near.empty()) {
      bool isOfRanks = isSplit && size.isPart;
      return emitError(
                 model::placeOf(op, isOfRanks ? Subject::Ranks : size.subject),
                 "expected ")
             << size.name << " of a linear that '"
             << tiling.target.identity.name << "' multiplies in "
             << shape.element << ", got " << now
             << (isOfRanks ? " on a GPU" : "") << "; try " << alternatives(near)
             << (isOfRanks ? ", with other ranks" : "");
    }
  }
  return op->emitError("expected a linear that '")
         << tiling.target.identity.name << "' multiplies, got " << shape.columns
         << " outputs of " << shape.inputs << " inputs of " << shape.element
         << "; try other types of weights";
}

LogicalResult modelc::kernels::verifyWords(Operation *op,
                                           const BlockScales &scales,
                                           int64_t columns) {
  if (!scales || columns % scales.wordNumbers() == 0) {
    return success();
  }
  int64_t word = scales.wordNumbers();
  SmallVector<int64_t> near;
  if (columns > word) {
    near.push_back(llvm::alignDown(columns, word));
  }
  near.push_back(llvm::alignTo(columns, word));
  int64_t ranks =
      op->getParentOfType<model::GraphOp>().getRanks(model::Axis::Tensor);
  // Users of the second of two joined ops read what both make.
  Operation *maker =
      isa<model::JoinedOp>(op->getParentOp()) ? op->getParentOp() : op;
  bool isOfPart = readsPart(op) || llvm::any_of(maker->getUsers(), readsPart);
  bool isPart = ranks > 1 && isOfPart && columns * ranks % word == 0;
  model::Subject subject =
      isPart ? model::Subject::Ranks : model::Subject::Inputs;
  return emitError(model::placeOf(op, subject),
                   "expected rows of a multiple of ")
         << word << " numbers with scales of blocks, got " << columns
         << (isPart ? " on each GPU; try fewer" : "; try ")
         << (isPart ? std::string() : alternatives(near))
         << ", or other types of weights";
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

/// Columns that the instructions for a type multiply at once, the fewest.
static int64_t leastColumns(const Target &target, Type element) {
  std::string type;
  llvm::raw_string_ostream(type) << element;
  int64_t least = 0;
  for (const MmaRow &row : target.mma) {
    if (row.aType == type && !row.scaled) {
      least = least ? std::min(least, row.k) : row.k;
    }
  }
  return least;
}

/// "multiples of 16 up to 512" where they are that, else all.
static std::string listSizes(ArrayRef<int64_t> sizes) {
  SmallVector<std::string> words;
  bool areMultiples = sizes.size() > 3;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    words.push_back(std::to_string(size));
    areMultiples &= size == int64_t(i + 1) * sizes.front();
  }
  return areMultiples
             ? "multiples of " + words.front() + " up to " + words.back()
             : llvm::join(words, ", ");
}

/// The sizes up to some multiples of what instructions take that work.
static SmallVector<int64_t> workingSizes(const HeadShape &shape,
                                         StepRange sizes, const Tiling &tiling,
                                         Candidates &candidates) {
  constexpr int64_t kMultiples = 32;
  int64_t step = leastColumns(tiling.target, shape.queryElement());
  SmallVector<int64_t> working;
  for (int64_t i = 1; step && i <= kMultiples; ++i) {
    HeadShape other = shape;
    other.headDim = other.valueDim = i * step;
    if (tiling.attends(candidates, other, sizes)) {
      working.push_back(i * step);
    }
  }
  return working;
}

LogicalResult modelc::kernels::refuse(Operation *op, const HeadShape &shape,
                                      StepRange sizes, const Tiling &tiling,
                                      Candidates &candidates) {
  StringRef machine = tiling.target.identity.name;
  for (int64_t group = llvm::bit_floor<uint64_t>(shape.group()) / 2; group > 0;
       group /= 2) {
    HeadShape fewer = shape;
    fewer.heads = group * shape.kvHeads;
    if (tiling.attends(candidates, fewer, sizes)) {
      return emitError(model::placeOf(op, model::Subject::Heads),
                       "expected heads of queries of which '")
             << machine << "' multiplies all on one of keys, got "
             << shape.group() << "; try " << group << " or fewer";
    }
  }
  SmallVector<int64_t> working = workingSizes(shape, sizes, tiling, candidates);
  if (!working.empty()) {
    return emitError(model::placeOf(op, model::Subject::HeadDim),
                     "expected heads of a size that '")
           << machine << "' multiplies in " << shape.queryElement() << ", got "
           << shape.headDim << "; sizes that work: " << listSizes(working);
  }
  bool isNarrow = shape.queryElement() != shape.element;
  return emitError(model::placeOf(op, isNarrow ? model::Subject::Queries
                                               : model::Subject::Cache),
                   "expected queries and keys of a type that '")
         << machine << "' multiplies, got " << shape.queryElement() << " by "
         << shape.cacheElement << "; try other types";
}
