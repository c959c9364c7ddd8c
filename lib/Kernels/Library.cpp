#include "lib/Kernels/Library.h"

#include "lib/Kernels/Names.h"
#include "lib/Kernels/Refusals.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::kernels;
using namespace modelc::schedule;

Library::Library(ModuleOp module, const Target &target,
                 const KernelOptions &options)
    : tiling(target, options), options(options), asker(module.getLoc()),
      builder(OpBuilder::atBlockEnd(module.getBody())),
      candidates(module.getLoc()) {}

Range Library::allRows() const {
  return {1, std::max(options.maxTokens, options.maxSequences)};
}

std::string Library::unusedSymbol(StringRef name) {
  std::string symbol = name.str();
  for (int64_t number = 2; !symbols.insert(symbol).second; ++number) {
    symbol = (name + "_v" + Twine(number)).str();
  }
  return symbol;
}

FlatSymbolRefAttr Library::once(const Wanted &wanted, Build build) {
  FlatSymbolRefAttr &kernel = kernels[wanted.identity];
  if (!kernel) {
    std::string symbol = unusedSymbol(wanted.name);
    build({symbol, symbol, ""});
    auto module = cast<ModuleOp>(builder.getBlock()->getParentOp());
    module.lookupSymbol(symbol)->setLoc(
        NameLoc::get(builder.getStringAttr(symbol), asker));
    kernel = FlatSymbolRefAttr::get(builder.getContext(), symbol);
  }
  return kernel;
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

FlatSymbolRefAttr Library::serving(Range rows, const Wanted &wanted,
                                   Build build) {
  FlatSymbolRefAttr known = kernels.lookup(wanted.identity);
  if (!known) {
    return once(wanted, build);
  }
  auto module = cast<ModuleOp>(builder.getBlock()->getParentOp());
  serve(module.lookupSymbol<KernelOp>(known.getAttr()), rows);
  return known;
}

FailureOr<LinearVariant> Library::variant(const LinearShape &shape,
                                          Range rows) {
  FailureOr<Chosen<LinearTile>> chosen = tiling.linear(candidates, shape, rows);
  if (failed(chosen)) {
    return failure();
  }
  std::string name = nameOf(shape), symbol = name + nameOf(chosen->tile);
  std::string identity = identityOf(shape, chosen->tile);
  LinearVariant variant = {rows, chosen->tile, {}, {}};
  Wanted whole = {symbol, "linear" + identity};
  variant.kernel = serving(rows, whole, [&](const Label &label) {
    buildLinear(builder, {label.symbol, name, chosen->note}, shape,
                chosen->tile, rows);
  });
  if (chosen->tile.splits > 1) {
    Wanted sum = {symbol + "_reduce", "reduce" + identity};
    variant.reduce = serving(rows, sum, [&](const Label &label) {
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
    std::string identity = identityOf(shape, rows);
    auto known = linears.find(identity);
    if (known == linears.end()) {
      FailureOr<LinearVariant> next = variant(shape, rows);
      if (failed(next)) {
        return refuse(op, shape, ranges, tiling, candidates);
      }
      known = linears.insert({identity, *next}).first;
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

FlatSymbolRefAttr Library::norm(const NormShape &shape) {
  Wanted norm = {nameOf(shape), "norm" + identityOf(shape)};
  return once(norm, [&](const Label &label) {
    auto build = shape.scales ? buildNormBlocks : buildNorm;
    build(builder, label, shape, tiling.tileOf(shape),
          shape.isExchanged() ? Range{1, shape.exchange.stagingRows}
                              : allRows());
  });
}

FlatSymbolRefAttr Library::quantise(QuantiseShape shape, Range rows) {
  const LinearCut *cut = tiling.options.cut;
  shape.knowsScales = cut && cut->knowsScales;
  Wanted quantise = {nameOf(shape), "quantise" + identityOf(shape, rows)};
  return once(quantise, [&](const Label &label) {
    bool isBlocks = static_cast<bool>(shape.scales);
    auto build = isBlocks ? buildQuantiseBlocks : buildQuantise;
    build(builder, label, shape,
          isBlocks
              ? tiling.blocksOfRow(shape.columns, shape.scales, shape.result)
              : tiling.chunkedRow(shape.columns),
          rows);
  });
}

FlatSymbolRefAttr Library::elementwise(const ElementwiseShape &shape) {
  Wanted wanted = {nameOf(shape), "elementwise" + identityOf(shape)};
  return once(wanted, [&](const Label &label) {
    buildElementwise(builder, label, shape, tiling.piece(shape.columns),
                     allRows());
  });
}

FlatSymbolRefAttr Library::gather(const GatherShape &shape) {
  Wanted gather = {nameOf(shape), "gather" + identityOf(shape)};
  return once(gather, [&](const Label &label) {
    buildGather(builder, label, shape, tiling.piece(shape.columns),
                shape.isLast ? allSequences() : allRows());
  });
}

FailureOr<SmallVector<Attribute>>
Library::headLinear(Operation *op, const HeadLinearShape &shape,
                    ArrayRef<Range> ranges) {
  FailureOr<SmallVector<HeadLinearTile>> tiles =
      tiling.headLinear(candidates, shape, ranges);
  if (failed(tiles)) {
    return op->emitError("expected heads whose linears '")
           << tiling.target.identity.name << "' multiplies, got "
           << shape.columns << " outputs of " << shape.inputs << " inputs of "
           << shape.element;
  }
  SmallVector<Attribute> list;
  for (auto [rows, tile] : llvm::zip_equal(ranges, *tiles)) {
    std::string name = nameOf(shape);
    Wanted wanted = {name + nameOf(tile),
                     "head_linear" + identityOf(shape, tile)};
    FlatSymbolRefAttr kernel = serving(rows, wanted, [&](const Label &label) {
      buildHeadLinear(builder, {label.symbol, name, ""}, shape, tile, rows);
    });
    if (!llvm::is_contained(list, kernel)) {
      list.push_back(kernel);
    }
  }
  return list;
}

/// Of kernels that do not make results in few bits.
static HeadShape ofKeys(HeadShape shape) {
  shape.quantise = std::nullopt;
  return shape;
}

Library::Wanted Library::ofHeads(StringRef kind, const HeadShape &shape) {
  return {nameOf(kind, shape), kind.str() + identityOf(ofKeys(shape))};
}

FlatSymbolRefAttr Library::ropeAppend(const HeadShape &shape, bool isDecode,
                                      const SumParts &sums) {
  StringRef kind = isDecode ? "rope_append_decode" : "rope_append_prefill";
  StepRange sizes = stepOf(isDecode);
  Wanted rope = ofHeads(kind, shape);
  rope.name += nameOf(sums);
  rope.identity += identityOf(sums);
  return once(rope, [&](const Label &label) {
    RopeTile tile = tiling.rope(shape, isDecode);
    tile.sums = sums;
    buildRopeAppend(builder, label, shape, tile, sizes);
  });
}

FlatSymbolRefAttr Library::rope(const HeadShape &shape, bool isDecode) {
  StringRef kind = isDecode ? "rope_decode" : "rope_prefill";
  StepRange sizes = stepOf(isDecode);
  return once(ofHeads(kind, shape), [&](const Label &label) {
    buildRope(builder, label, shape, tiling.rotated(shape, isDecode), sizes);
  });
}

FlatSymbolRefAttr Library::append(const HeadShape &shape, bool isDecode) {
  StringRef kind = isDecode ? "append_decode" : "append_prefill";
  StepRange sizes = stepOf(isDecode);
  return once(ofHeads(kind, shape), [&](const Label &label) {
    buildAppend(builder, label, shape, tiling.append(shape, isDecode), sizes);
  });
}

LogicalResult Library::chooseTile(Operation *op, const HeadShape &shape,
                                  bool isDecode) {
  StepRange sizes = stepOf(isDecode);
  HeadShape keys = ofKeys(shape);
  std::string identity = identityOf(isDecode ? keys : shape);
  if (isDecode && !decodeTiles.contains(identity)) {
    FailureOr<DecodeTile> tile = tiling.decode(candidates, keys);
    if (failed(tile)) {
      return refuse(op, shape, sizes, tiling, candidates);
    }
    decodeTiles[identity] = *tile;
  }
  if (!isDecode && !prefillTiles.contains(identity)) {
    FailureOr<Chosen<PrefillTile>> tile =
        tiling.prefill(candidates, shape, sizes);
    if (failed(tile)) {
      return refuse(op, shape, sizes, tiling, candidates);
    }
    prefillTiles[identity] = *tile;
  }
  return success();
}

FlatSymbolRefAttr Library::prefill(const HeadShape &shape) {
  return once(ofHeads("attention_prefill", shape), [&](const Label &label) {
    const Chosen<PrefillTile> &chosen = prefillTiles.at(identityOf(shape));
    buildAttentionPrefill(builder, {label.symbol, label.op, chosen.note},
                          tiling.asMultiplied(shape, chosen.tile), chosen.tile,
                          stepOf(/*isDecode=*/false));
  });
}

const DecodeTile &Library::decodeTile(const HeadShape &shape) {
  return decodeTiles.at(identityOf(ofKeys(shape)));
}

FlatSymbolRefAttr Library::decodeWhole(const HeadShape &shape) {
  return once(
      ofHeads("attention_decode_whole", shape), [&](const Label &label) {
        DecodeTile tile = decodeTile(shape);
        tile.maxSplits = 1;
        buildAttentionDecode(builder, label, shape, tile, allSequences());
      });
}

FlatSymbolRefAttr Library::decodePart(const HeadShape &shape) {
  return once(ofHeads("attention_decode", shape), [&](const Label &label) {
    buildAttentionDecode(builder, label, shape, decodeTile(shape),
                         allSequences());
  });
}

FlatSymbolRefAttr Library::combine(const HeadShape &shape) {
  Wanted join = {nameOf("attention_combine", shape) +
                     nameOfQuantised(shape.quantise),
                 "attention_combine" + identityOf(shape)};
  return once(join, [&](const Label &label) {
    buildAttentionCombine(builder, label, shape, decodeTile(shape),
                          allSequences());
  });
}

FlatSymbolRefAttr Library::route(const RouteShape &shape) {
  Wanted route = {nameOf(shape), "route" + identityOf(shape)};
  return once(route, [&](const Label &label) {
    buildRoute(builder, label, shape, /*waves=*/1, allRows());
  });
}

PlaceKernels Library::place(const SlotShape &slots, int64_t firstExpert) {
  const PlaceTile tile = tiling.place(slots);
  PlaceShape shape = {slots, firstExpert, false}, whole = shape;
  whole.isWhole = true;
  auto built = [&](StringRef kind, const PlaceShape &of, Range tokens,
                   auto build) {
    Wanted wanted = {nameOf(kind, of), kind.str() + identityOf(of)};
    return once(wanted, [&](const Label &label) {
      build(builder, label, of, tile, tokens);
    });
  };
  const int64_t most = allRows().maximum;
  PlaceKernels kernels;
  kernels.wholeTokens = std::min(tile.chunk / slots.topK, most);
  kernels.chunkPairs = tile.chunk;
  if (kernels.wholeTokens > 0) {
    kernels.whole = built("place", whole, {1, kernels.wholeTokens}, buildPlace);
  }
  if (kernels.wholeTokens < most) {
    Range more = {kernels.wholeTokens + 1, most};
    kernels.count = built("count_pairs", shape, more, buildCountPairs);
    kernels.place = built("place", shape, more, buildPlace);
  }
  return kernels;
}

FlatSymbolRefAttr Library::expand(const SlotRowsShape &shape) {
  Wanted expand = {nameOf("expand", shape), "expand" + identityOf(shape)};
  return once(expand, [&](const Label &label) {
    buildExpand(builder, label, shape, tiling.piece(shape.columns), allRows());
  });
}

FlatSymbolRefAttr Library::combine(const SlotRowsShape &shape) {
  Wanted combine = {nameOf("combine", shape), "combine" + identityOf(shape)};
  return once(combine, [&](const Label &label) {
    buildCombine(builder, label, shape, tiling.piece(shape.columns), allRows());
  });
}

FlatSymbolRefAttr Library::sample(const SampleShape &shape) {
  Wanted sample = {nameOf(shape), "sample" + identityOf(shape)};
  return once(sample, [&](const Label &label) {
    buildSample(builder, label, shape, tiling.sample(shape), allSequences());
  });
}

FlatSymbolRefAttr Library::exchange(const ExchangeShape &shape) {
  Range rows = shape.kind == Exchange::Gather ? allSequences()
                                              : Range{1, shape.stagingRows};
  Wanted exchange = {nameOf(shape), "exchange" + identityOf(shape)};
  return once(exchange, [&](const Label &label) {
    buildExchange(builder, label, shape, tiling.tileOf(shape), rows);
  });
}

ArrayRef<SumVariant> Library::sums(const ExchangeShape &shape,
                                   const NormShape *norm) {
  auto [known, isNew] = sumVariants.try_emplace(norm ? identityOf(shape, *norm)
                                                     : identityOf(shape));
  if (isNew) {
    known->second = tiling.sums(candidates, shape, norm);
  }
  return known->second;
}
