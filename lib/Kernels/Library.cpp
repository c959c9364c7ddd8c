#include "lib/Kernels/Library.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

Library::Library(ModuleOp module, const Target &target,
                 const KernelOptions &options)
    : tiling(target, options), options(options),
      builder(OpBuilder::atBlockEnd(module.getBody())) {}

Range Library::allRows() const {
  return {1, std::max(options.maxTokens, options.maxSequences)};
}

/// An element type as part of a name: bf16, f8e4m3fn.
static std::string word(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return StringRef(text).lower();
}

static std::string extent(int64_t value) { return std::to_string(value); }

FlatSymbolRefAttr Library::once(const Twine &name, Build build) {
  std::string symbol = name.str();
  FlatSymbolRefAttr &kernel = kernels[symbol];
  if (!kernel) {
    build({symbol, symbol, ""});
    kernel = FlatSymbolRefAttr::get(builder.getContext(), symbol);
  }
  return kernel;
}

/// Which of the formats with scales of blocks, where a target knows several.
static std::string nameOf(const BlockScales &scales, Type number,
                          bool isTensorScaled) {
  bool isSaid =
      scales && (!scales.order.empty() || number.getIntOrFloatBitWidth() == 8);
  return (isSaid ? "_" + word(scales.type) : "") +
         (isTensorScaled ? "_tensor_scaled" : "");
}

/// What a kernel quantises its result to, or nothing.
static std::string nameOf(const std::optional<QuantiseShape> &quantise) {
  return quantise ? "_to_" + word(quantise->result) +
                        nameOf(quantise->scales, quantise->result,
                               quantise->isTensorScaled)
                  : "";
}

static std::string nameOf(const LinearShape &shape) {
  std::string name = "linear_" + extent(shape.weightRows()) + "x" +
                     extent(shape.inputs) + "_" + word(shape.element);
  if (shape.weightElement() != shape.element) {
    name += "_" + word(shape.weightElement());
  }
  if (shape.result != shape.element) {
    name += "_" + word(shape.result);
  }
  name += nameOf(shape.blockScales, shape.weightElement(),
                 /*isTensorScaled=*/false);
  std::pair<bool, StringRef> parts[] = {
      {shape.isScaled, "_scaled"},
      {shape.isTensorScaled, "_tensor_scaled"},
      {!!shape.biasType, "_bias"},
      {shape.isSwiglu, "_swiglu"},
      {shape.hasResidual, "_residual"}};
  for (auto [isThere, part] : parts) {
    name += isThere ? part.str() : "";
  }
  return name + nameOf(shape.quantise);
}

/// Where no tile is left, or nothing multiplies the types.
static LogicalResult refuse(Operation *op, const LinearShape &shape, Range rows,
                            const Tiling &tiling) {
  SmallVector<std::string> types = tiling.multiplied();
  if (!tiling.multiplies(shape)) {
    InFlightDiagnostic error =
        op->emitError("expected operands of a type that '")
        << tiling.target.identity.name << "' multiplies, "
        << llvm::join(types, ", ") << ", got " << shape.element;
    if (shape.weight) {
      error << " by " << shape.weight;
    }
    if (shape.blockScales) {
      error << " with a scale for each block of " << shape.blockScales.block;
    }
    return error << "; try other types of weights";
  }
  return op->emitError("expected a tile that the target can multiply, got "
                       "none for operands of ")
         << shape.element << ", " << rows.minimum << " to " << rows.maximum
         << " rows; try other types of weights";
}

/// What tells a tile of one linear from another.
static std::string nameOf(const LinearTile &tile) {
  std::string name =
      "_" + extent(tile.m) + "x" + extent(tile.n) + "x" + extent(tile.k);
  auto add = [&](StringRef what, int64_t count, int64_t usual) {
    name += count == usual ? "" : ("_" + what + extent(count)).str();
  };
  add("waves", tile.waves, 4);
  add("parts", tile.splits, 1);
  if (tile.hasPieces()) {
    name += "_in" + extent(tile.piecesM) + "x" + extent(tile.piecesN);
    add("groups", tile.groups, 2);
  }
  name += tile.isSwapped ? "_swapped" : "";
  name += tile.hasRoles ? "_roles" : "";
  add("cluster", tile.cluster, 1);
  add("sharers", tile.sharers, 1);
  add("ahead", tile.weightsAhead, 0);
  add("slots", tile.slots, 0);
  add("early", tile.early, 0);
  return name;
}

/// That the kernel serves these rows too, after those that it does.
static void serve(KernelOp kernel, Range rows) {
  MLIRContext *context = kernel.getContext();
  SmallVector<Attribute> guard(kernel.getGuard().getValue());
  auto last = llvm::find_if(llvm::reverse(guard), [](Attribute attribute) {
    return cast<RangeAttr>(attribute).getArgument() == "m";
  });
  auto known = cast<RangeAttr>(*last);
  bool isNext = known.getMaximum() + 1 == rows.minimum;
  auto range =
      RangeAttr::get(context, "m", isNext ? known.getMinimum() : rows.minimum,
                     rows.maximum, 1);
  if (isNext) {
    *last = range;
  } else {
    guard.insert(last.base(), range);
  }
  kernel.setGuardAttr(ArrayAttr::get(context, guard));
}

FlatSymbolRefAttr Library::serving(Range rows, const Twine &name, Build build) {
  FlatSymbolRefAttr known = kernels.lookup(name.str());
  if (!known) {
    return once(name, build);
  }
  auto module = cast<ModuleOp>(builder.getBlock()->getParentOp());
  serve(module.lookupSymbol<KernelOp>(known.getAttr()), rows);
  return known;
}

FailureOr<LinearVariant>
Library::variant(Operation *op, const LinearShape &shape, Range rows) {
  FailureOr<Chosen<LinearTile>> chosen = tiling.linear(builder, shape, rows);
  if (failed(chosen)) {
    return refuse(op, shape, rows, tiling);
  }
  std::string name = nameOf(shape), symbol = name + nameOf(chosen->tile);
  LinearVariant variant = {rows, chosen->tile, {}, {}};
  variant.kernel = serving(rows, symbol, [&](const Label &label) {
    buildLinear(builder, {label.symbol, name, chosen->note}, shape,
                chosen->tile, rows);
  });
  if (chosen->tile.splits > 1) {
    variant.reduce = serving(rows, symbol + "_reduce", [&](const Label &label) {
      buildLinearReduce(builder, {label.symbol, name + "_reduce", ""}, shape,
                        chosen->tile, rows);
    });
  }
  return variant;
}

FailureOr<SmallVector<LinearVariant>> Library::linear(Operation *op,
                                                      const LinearShape &shape,
                                                      ArrayRef<Range> ranges) {
  SmallVector<LinearVariant> variants;
  for (Range rows : ranges) {
    std::string symbol = nameOf(shape) + "_m" + extent(rows.maximum);
    auto known = linears.find(symbol);
    if (known == linears.end()) {
      FailureOr<LinearVariant> next = variant(op, shape, rows);
      if (failed(next)) {
        return failure();
      }
      known = linears.insert({symbol, *next}).first;
    }
    const LinearVariant &next = known->second;
    LinearVariant *last = variants.empty() ? nullptr : &variants.back();
    if (last && last->kernel == next.kernel &&
        last->rows.maximum + 1 == rows.minimum) {
      last->rows.maximum = rows.maximum;
    } else {
      variants.push_back(next);
    }
  }
  return variants;
}

static std::string nameOf(const ExchangeShape &shape) {
  StringRef kind = shape.kind == Exchange::Gather   ? "all_gather_"
                   : shape.kind == Exchange::Reduce ? "all_reduce_"
                                                    : "all_reduce_in_two_";
  return (kind + extent(shape.columns) + "_" + word(shape.element) + "_r" +
          extent(shape.ranks))
      .str();
}

static std::string nameOf(const NormShape &shape) {
  std::string name = "norm_" + extent(shape.columns) + "_" +
                     word(shape.element) + "_" + word(shape.result) +
                     nameOf(shape.scales, shape.result, shape.isTensorScaled);
  name += shape.hasResidual ? "_residual" : "";
  name += shape.hasSum ? "_sum" : "";
  return shape.isExchanged() ? name + "_of_" + nameOf(shape.exchange) : name;
}

FlatSymbolRefAttr Library::norm(const NormShape &shape) {
  return once(nameOf(shape), [&](const Label &label) {
    auto build = shape.scales ? buildNormBlocks : buildNorm;
    build(builder, label, shape, tiling.tileOf(shape),
          shape.isExchanged() ? Range{1, shape.exchange.stagingRows}
                              : allRows());
  });
}

FlatSymbolRefAttr Library::quantise(QuantiseShape shape) {
  const EngineKernels *engine = tiling.options.engine;
  shape.knowsScales = engine && engine->knowsScales;
  StringRef kind = shape.isSwiglu ? "swiglu_quantise_" : "quantise_";
  return once(kind + extent(shape.columns) + "_" + word(shape.result) +
                  nameOf(shape.scales, shape.result, shape.isTensorScaled),
              [&](const Label &label) {
                bool isBlocks = static_cast<bool>(shape.scales);
                auto build = isBlocks ? buildQuantiseBlocks : buildQuantise;
                build(builder, label, shape,
                      isBlocks ? tiling.blocksOfRow(shape.columns, shape.scales,
                                                    shape.result)
                               : tiling.chunkedRow(shape.columns),
                      allRows());
              });
}

FlatSymbolRefAttr Library::elementwise(const ElementwiseShape &shape) {
  auto verb = [&]() -> StringRef {
    switch (shape.kind) {
    case Elementwise::Add:
      return "add_";
    case Elementwise::Swiglu:
      return "swiglu_";
    case Elementwise::Zeros:
      return "zeros_";
    case Elementwise::Narrow:
      return "narrow_";
    }
    return "";
  };
  std::string name = verb().str() + extent(shape.columns) + "_" +
                     word(shape.element) +
                     (shape.result ? "_" + word(shape.result) : "");
  return once(name, [&](const Label &label) {
    buildElementwise(builder, label, shape, tiling.piece(shape.columns),
                     allRows());
  });
}

FlatSymbolRefAttr Library::gather(const GatherShape &shape) {
  StringRef kind = shape.isLast ? "last_" : "embed_";
  return once(kind + extent(shape.columns) + "_" + word(shape.element),
              [&](const Label &label) {
                buildGather(builder, label, shape, tiling.piece(shape.columns),
                            shape.isLast ? allSequences() : allRows());
              });
}

static std::string nameOf(StringRef kind, const HeadShape &shape) {
  return (kind + "_h" + extent(shape.heads) + "_kv" + extent(shape.kvHeads) +
          "_d" + extent(shape.headDim) + "_" + word(shape.cacheElement) +
          (shape.window > 0 ? "_w" + extent(shape.window) : "") +
          (shape.queries ? "_queries_" + word(shape.queries) : ""))
      .str();
}

static std::string nameOf(const SumParts &sums) {
  if (!sums) {
    return "";
  }
  std::string name = "_of_parts" + extent(sums.count);
  name += sums.isTensorScaled  ? "_tensor_scaled"
          : sums.hasInputScale ? "_scaled"
                               : "";
  name += sums.hasInputScale && !sums.hasWeightScale ? "_input" : "";
  return name + (sums.biasType ? "_bias_" + word(sums.biasType) : "");
}

FlatSymbolRefAttr Library::ropeAppend(const HeadShape &shape, bool isDecode,
                                      const SumParts &sums) {
  StringRef kind = isDecode ? "rope_append_decode" : "rope_append_prefill";
  StepRange sizes = {allSequences(), {1, isDecode ? 1 : options.maxTokens}};
  std::string name = nameOf(kind, shape);
  name += nameOf(sums);
  return once(name, [&](const Label &label) {
    RopeTile tile = tiling.rope(shape, isDecode);
    tile.sums = sums;
    buildRopeAppend(builder, label, shape, tile, sizes);
  });
}

FlatSymbolRefAttr Library::append(const HeadShape &shape, bool isDecode) {
  StringRef kind = isDecode ? "append_decode" : "append_prefill";
  StepRange sizes = {allSequences(), {1, isDecode ? 1 : options.maxTokens}};
  return once(nameOf(kind, shape), [&](const Label &label) {
    buildAppend(builder, label, shape, tiling.append(shape, isDecode), sizes);
  });
}

FlatSymbolRefAttr Library::prefill(const HeadShape &shape) {
  StepRange sizes = {allSequences(), {1, options.maxTokens}};
  return once(nameOf("attention_prefill", shape), [&](const Label &label) {
    Chosen<PrefillTile> chosen = tiling.prefill(builder, shape, sizes);
    buildAttentionPrefill(builder, {label.symbol, label.op, chosen.note},
                          tiling.asMultiplied(shape, chosen.tile), chosen.tile,
                          sizes);
  });
}

const DecodeTile &Library::decodeTile(const HeadShape &shape) {
  auto [tile, isNew] = decodeTiles.try_emplace(nameOf("", shape));
  if (isNew) {
    tile->second = tiling.decode(builder, shape);
  }
  return tile->second;
}

FlatSymbolRefAttr Library::decodeWhole(const HeadShape &shape) {
  return once(nameOf("attention_decode_whole", shape), [&](const Label &label) {
    DecodeTile tile = decodeTile(shape);
    tile.maxSplits = 1;
    buildAttentionDecode(builder, label, shape, tile, allSequences());
  });
}

FlatSymbolRefAttr Library::decodePart(const HeadShape &shape) {
  return once(nameOf("attention_decode", shape), [&](const Label &label) {
    buildAttentionDecode(builder, label, shape, decodeTile(shape),
                         allSequences());
  });
}

FlatSymbolRefAttr Library::combine(const HeadShape &shape) {
  std::string name = nameOf("attention_combine", shape);
  return once(name + nameOf(shape.quantise), [&](const Label &label) {
    buildAttentionCombine(builder, label, shape, decodeTile(shape),
                          allSequences());
  });
}

FlatSymbolRefAttr Library::sample(const SampleShape &shape) {
  std::string name = "sample_" + extent(shape.vocabulary);
  if (shape.isGreedy) {
    name += "_greedy";
  } else {
    // Hundredths, so that the name stays a symbol.
    name += "_k" + extent(shape.topK) + "_p" +
            extent(static_cast<int64_t>(shape.topP * 100)) + "_t" +
            extent(static_cast<int64_t>(shape.temperature * 100));
  }
  return once(name, [&](const Label &label) {
    buildSample(builder, label, shape, tiling.sample(shape), allSequences());
  });
}

FlatSymbolRefAttr Library::exchange(const ExchangeShape &shape) {
  Range rows = shape.kind == Exchange::Gather ? allSequences()
                                              : Range{1, shape.stagingRows};
  return once(nameOf(shape), [&](const Label &label) {
    buildExchange(builder, label, shape, tiling.tileOf(shape), rows);
  });
}

ArrayRef<SumVariant> Library::sums(const ExchangeShape &shape,
                                   const NormShape *norm) {
  std::string name = nameOf(shape) + (norm ? "_" + nameOf(*norm) : "");
  auto [known, isNew] = sumVariants.try_emplace(name);
  if (isNew) {
    known->second = tiling.sums(builder, shape, norm);
  }
  return known->second;
}
