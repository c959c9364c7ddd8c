//===- Json.cpp - An estimate for programs --------------------------------===//
//
// "bound" and "expectation" hold the same keys. Names of `vllm bench serve`:
// mean_ttft_ms, mean_tpot_ms, mean_e2el_ms, output_throughput, ...; of rows of
// InferenceX: hw, conc, isl, osl, tput_per_gpu, joules_per_output_token, ...
//
//===----------------------------------------------------------------------===//

#include "llvm/Support/JSON.h"
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

static void writeService(OStream &json, const Service &service, View view) {
  auto write = [&](llvm::StringRef key, const Views &views, double scale = 1) {
    put(json, key, scale * (views.*view));
  };
  constexpr double kMilli = 1e3;
  write("mean_tpot_ms", service.tpot, kMilli);
  write("mean_e2el_ms", service.requestSeconds, kMilli);
  write("request_throughput", service.requestsPerSecond);
  write("output_throughput", service.outputPerSecond);
  write("total_token_throughput", service.totalPerSecond);
  write("output_tput_per_gpu", service.outputPerSecondPerGpu);
  write("mean_intvty", service.outputPerSecondPerUser);
  write("joules_per_output_token", service.boardJoulesPerOutput);
  write("joules_per_total_token", service.boardJoulesPerToken);
  write("wall_joules_per_output_token", service.wallJoulesPerOutput);
  write("wall_joules_per_total_token", service.wallJoulesPerToken);
  write("dollars_per_million_output_tokens", service.dollarsPerMillionOutput);
  write("dollars_per_million_total_tokens", service.dollarsPerMillionTokens);
}

static void writeView(OStream &json, const Report &report, View view) {
  const ServeResult &service = report.service;
  constexpr double kMilli = 1e3;
  put(json, "mean_ttft_ms", kMilli * (service.ttftSeconds.*view));
  put(json, "prefill_ms", kMilli * (service.prefillAllSeconds.*view));
  put(json, "decode_step_ms", kMilli * (service.decodeSeconds.*view));
  put(json, "prefill_avg_power_w", service.prefillWatts.*view);
  put(json, "decode_avg_power_w", service.decodeWatts.*view);
  put(json, "joules_per_input_token", service.joulesPerInput.*view);
  put(json, "decode_joules_per_output_token", service.joulesPerOutput.*view);
  json.attributeObject("in_flight", [&] {
    writeService(json, service.inFlight, view);
    put(json, "tput_per_gpu",
        service.inFlight.totalPerSecond.*view / double(service.gpus));
  });
  json.attributeObject("static", [&] {
    writeService(json, service.fixed, view);
    put(json, "tput_per_gpu",
        service.fixed.totalPerSecond.*view / double(service.gpus));
  });
}

static void writeMemory(OStream &json, const FitResult &memory) {
  json.attribute("fits", memory.fits);
  putBytes(json, "capacity_bytes", memory.capacity);
  putBytes(json, "weight_bytes", memory.weights);
  putBytes(json, "cache_bytes", memory.cache);
  putBytes(json, "cache_bytes_per_sequence", memory.perSequence);
  putBytes(json, "workspace_bytes", memory.workspace);
  putBytes(json, "reserved_bytes", memory.reserved);
  putBytes(json, "left_bytes", memory.left);
  put(json, "max_sequences", memory.maxSequences);
}

static void writePlan(OStream &json, const PlanCost &plan) {
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
    put(json, "tp", double(report.tensorParallel));
    put(json, "num_gpus", double(service.gpus));
    json.attributeObject("bound",
                         [&] { writeView(json, report, &Views::bound); });
    json.attributeObject("expectation",
                         [&] { writeView(json, report, &Views::expectation); });
    json.attributeObject("memory", [&] { writeMemory(json, report.memory); });
    json.attributeObject("price", [&] {
      put(json, "basis", service.priceBasis);
      put(json, "dollars_per_gpu_hour", service.dollarsPerHour);
      put(json, "date", service.priceDate);
    });
    json.attributeObject("prefill", [&] { writePlan(json, report.prefill); });
    json.attributeObject("decode", [&] { writePlan(json, report.decode); });
  });
  os << "\n";
}

} // namespace modelc
