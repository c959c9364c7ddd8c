//===- Json.cpp - An estimate for programs --------------------------------===//
//
// "bound" and "expectation" hold the same keys. A figure that a workload does
// not have is left out, and "absent" says why. Names of `vllm bench serve`:
// mean_ttft_ms, mean_tpot_ms, mean_e2el_ms, output_throughput, ...; of rows of
// InferenceX: hw, conc, isl, osl, tput_per_gpu, joules_per_output_token, ...
//
//===----------------------------------------------------------------------===//

#include "llvm/Support/JSON.h"
#include "lib/Report/Figures.h"
#include "lib/Report/OpRows.h"
#include "lib/Text/Text.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace modelc {

using llvm::json::OStream;

static void put(OStream &json, llvm::StringRef key, double value) {
  writeNumber(json, key, value);
}

/// Bytes are whole, also those that are a mean over expected contexts.
static void putBytes(OStream &json, llvm::StringRef key, double bytes) {
  writeNumber(json, key, std::round(bytes));
}

static void put(OStream &json, llvm::StringRef key, llvm::StringRef text) {
  json.attribute(key, llvm::json::fixUTF8(text));
}

/// Which view of a number.
using View = double Views::*;

/// By its key, in the unit that the key ends in; nothing where it has no value.
static void put(OStream &json, const Figure &figure, View view) {
  if (figure.value) {
    constexpr double kMilli = 1e3;
    double scale = llvm::StringRef(figure.key).ends_with("_ms") ? kMilli : 1;
    double value = scale * (*figure.value.*view);
    figure.unit == "B" ? putBytes(json, figure.key, value)
                       : put(json, figure.key, value);
  }
}

static constexpr llvm::StringLiteral kSteps[] = {
    "ttft",
    "prefill",
    "prefill_tokens_per_second",
    "decode_step",
    "prefill_watts",
    "decode_watts",
    "joules_per_input_token",
    "decode_joules_per_output_token"};
static constexpr llvm::StringLiteral kService[] = {
    "tpot",
    "request_seconds",
    "requests_per_second",
    "tokens_per_second",
    "total_tokens_per_second",
    "tokens_per_second_per_gpu",
    "tokens_per_second_per_user",
    "joules_per_token",
    "joules_per_total_token",
    "wall_joules_per_token",
    "wall_joules_per_total_token",
    "dollars_per_mtoken",
    "dollars_per_total_mtoken",
    "total_tokens_per_second_per_gpu"};
static constexpr llvm::StringLiteral kMemory[] = {
    "capacity",  "weights",  "cache",  "cache_per_sequence",
    "workspace", "reserved", "memory", "max_sequences"};

static void writeView(OStream &json, const FigureList &figures, View view) {
  for (llvm::StringRef name : kSteps) {
    put(json, figures.named(name), view);
  }
  auto service = [&](llvm::StringRef key, llvm::StringRef prefix) {
    json.attributeObject(key, [&] {
      for (llvm::StringRef name : kService) {
        put(json, figures.named((prefix + name).str()), view);
      }
    });
  };
  service("in_flight", "");
  service("static", "static_");
}

/// What has to be said of figures, by their names.
static void writeSaid(OStream &json, llvm::StringRef key,
                      const FigureList &figures, std::string Figure::*said) {
  json.attributeObject(key, [&] {
    for (const Figure &figure : figures.all()) {
      if (!(figure.*said).empty()) {
        put(json, figure.name, figure.*said);
      }
    }
  });
}

static void writeMemory(OStream &json, const FitResult &memory,
                        const FigureList &figures) {
  json.attribute("fits", memory.fits);
  for (llvm::StringRef name : kMemory) {
    put(json, figures.named(name), &Views::expectation);
  }
}

/// A phase that the workload does not have is empty.
static void writePlan(OStream &json, const PlanCost &plan) {
  if (plan.steps.empty()) {
    json.attributeArray("ops", [] {});
    return;
  }
  put(json, "bound_s", plan.bound.seconds);
  put(json, "expectation_s", plan.expectation.seconds);
  put(json, "joules", plan.expectation.joules);
  put(json, "limit", plan.expectation.limit);
  put(json, "launches", plan.launches);
  json.attributeArray("ops", [&] {
    for (const OpRow &row : opRows(plan)) {
      json.object([&] {
        put(json, "op", row.label);
        put(json, "kernel", row.kernel);
        put(json, "count", row.count);
        put(json, "bound_s", row.seconds.bound);
        put(json, "expectation_s", row.seconds.expectation);
        put(json, "share", row.share);
        put(json, "joules", row.joules);
        putBytes(json, "memory_bytes", row.memoryBytes);
        putBytes(json, "link_bytes", row.linkBytes);
        put(json, "flop", row.flop);
        put(json, "limit", row.limit);
      });
    }
  });
}

void printJson(const Report &report, const Target &target,
               llvm::raw_ostream &os) {
  const ServeResult &service = report.service;
  FigureList all = figures(report, target);
  OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    put(json, "model", report.model);
    put(json, "hw", target.identity.name);
    put(json, "framework", "modelc");
    put(json, "precision", report.precision);
    put(json, "activation_precision",
        report.activations == "fp8" ? report.activations : report.precision);
    put(json, "kv_precision", report.cachePrecision);
    put(json, "query_precision", report.queryPrecision);
    put(json, "isl", service.workload.inputTokens);
    put(json, "osl", service.workload.outputTokens);
    put(json, "conc", service.workload.sequences);
    put(json, "max_batched_tokens", service.workload.stepTokens);
    put(json, "tp", double(report.tensorParallel));
    put(json, "num_gpus", double(service.gpus));
    json.attributeObject("bound", [&] { writeView(json, all, &Views::bound); });
    json.attributeObject("expectation",
                         [&] { writeView(json, all, &Views::expectation); });
    writeSaid(json, "absent", all, &Figure::reason);
    writeSaid(json, "notes", all, &Figure::note);
    json.attributeObject("memory",
                         [&] { writeMemory(json, report.memory, all); });
    json.attributeObject("price", [&] {
      put(json, "basis", service.priceBasis);
      put(json, all.named("price"), &Views::expectation);
      put(json, "date", service.priceDate);
      put(json, "source", service.priceSource);
    });
    json.attributeObject("prefill", [&] { writePlan(json, report.prefill); });
    json.attributeObject("decode", [&] { writePlan(json, report.decode); });
  });
  os << "\n";
}

} // namespace modelc
