//===- EngineLayers.cpp - What layers of engines take beyond kernels ------===//

#include "lib/Driver/EngineLayers.h"

using namespace mlir;
using namespace modelc;

bool modelc::isAttention(const MeasuredRow &row) {
  return row.kind == Measurement::Prefill || row.kind == Measurement::Decode;
}

Target modelc::asAlone(Target target) {
  target.launch.startsEarly = false;
  return target;
}

bool modelc::isOfLibrary(const MeasuredRow &row, const Target &target) {
  return row.isLayer && row.isUnquantised() && target.launch.libraryGap > 0;
}

Target modelc::asEnginesRun(const MeasuredRow &row, Target target,
                            const EngineKernels *engine) {
  if (engine && !engine->instructions.empty()) {
    llvm::erase_if(target.mma, [&](const MmaRow &mma) {
      return !llvm::is_contained(engine->instructions, mma.name);
    });
  }
  if (engine && !engine->tiles.empty()) {
    target.copy.amongProducts = engine->interleaves;
  }
  Launch &launch = target.launch;
  double gap = row.startsEarly()          ? launch.gap
               : isOfLibrary(row, target) ? launch.libraryGap
                                          : launch.engineGap;
  if ((row.isLayer || isAttention(row)) && gap > 0) {
    launch.gap = gap;
    return asAlone(target);
  }
  return target;
}

const EngineAttention *modelc::attentionOf(const MeasuredRow &row,
                                           const Target &target) {
  StringRef phase = row.kind == Measurement::Prefill ? "prefill" : "decode";
  for (const EngineAttention &engine : target.attentionEngines) {
    if (isAttention(row) && engine.phase == phase &&
        llvm::is_contained(engine.names, row.engine()) &&
        llvm::is_contained(engine.caches, row.cacheType) &&
        (engine.mostNew == 0 || row.newTokens <= engine.mostNew) &&
        (engine.mostColumns == 0 || row.headDim <= engine.mostColumns) &&
        (engine.mostGroup == 0 ||
         row.heads <= engine.mostGroup * row.kvHeads)) {
      return &engine;
    }
  }
  return nullptr;
}

double modelc::secondsOfReplay(const MeasuredRow &row, const Target &target) {
  if (!row.isLayer && !isAttention(row)) {
    return 0;
  }
  const Launch &launch = target.launch;
  double layers = row.isLayer ? row.layersOfTurn(target.cache.l2Bytes) : 1;
  return std::max(0.0, launch.hostLaunch - launch.gap) / layers;
}

double modelc::secondsOfEngine(const EngineAttention &engine,
                               const MeasuredRow &row, const StepCost &step,
                               const Target &target) {
  StringRef label = step.label;
  const Launch &launch = target.launch;
  if (label.ends_with("append")) {
    double columns = double(row.rows()) * double(row.heads * row.headDim);
    double rotation = columns * engine.rotation /
                      double(target.execution.units) / target.clock.boostHz;
    return engine.launches * (launch.gap + target.memory.latencyClocks /
                                               target.clock.boostHz) +
           std::max(0.0, rotation - step.cost.expectation.seconds);
  }
  if (label.ends_with("combine")) {
    return engine.joins ? -launch.gap : 0;
  }
  int64_t heads = engine.isEach ? row.heads : row.kvHeads;
  double rounds =
      double(row.sequences) * double(heads) / double(target.execution.units);
  double reads =
      engine.isEach ? row.cacheBytes(heads) / target.cache.l2Bandwidth : 0;
  return std::max(0.0, launch.gap + std::max(rounds * engine.turn, reads) -
                           step.cost.expectation.seconds);
}

double modelc::secondsOfTensorScale(const MeasuredRow &row,
                                    const Target &target) {
  if (!row.isLayer || row.type != "fp8" || row.engine() != "trtllm") {
    return 0;
  }
  double bytes = 2.0 * double(row.m) * double(row.k);
  return 2 * target.launch.gap +
         target.memory.latencyClocks / target.clock.boostHz +
         bytes / (target.memory.bandwidth * target.efficiency.read);
}

double modelc::secondsOfAdding(const EngineKernels &engine,
                               const MeasuredRow &row, const StepCost &step) {
  constexpr double kResult = 2; // bytes
  double bytes =
      double(row.m) * double(row.n) * kResult * double(engine.leastParts);
  return engine.join + bytes / engine.addRate - step.cost.expectation.seconds;
}

std::vector<EngineKernels> modelc::enginesOf(const MeasuredRow &row,
                                             const Target &target) {
  std::vector<EngineKernels> engines;
  for (const EngineKernels &engine : target.engines) {
    if (row.kind != Measurement::Linear || row.type != engine.type) {
      continue;
    }
    if (engine.addRate <= 0) {
      engines.push_back(engine);
      continue;
    }
    // What adds parts is not of ours, so that the cost cannot choose their
    // number.
    for (int64_t parts = 1; parts <= engine.mostParts; parts *= 2) {
      engines.push_back(engine);
      engines.back().leastParts = engines.back().mostParts = parts;
    }
  }
  return engines;
}
