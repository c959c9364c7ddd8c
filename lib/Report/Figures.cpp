//===- Figures.cpp - The numbers of a report, each with its sum -----------===//
//
// Every sum is made again from its parts, so that a figure whose explanation
// does not give its value shows in a test.
//
//===----------------------------------------------------------------------===//

#include "lib/Report/Figures.h"
#include "lib/Report/OpRows.h"
#include "lib/Support/Support.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

namespace modelc {

static std::string text(double value, llvm::StringRef unit = "") {
  return formatQuantity(value, unit, 4);
}

namespace {
/// Builds the figures of one report.
class FigureList {
public:
  FigureList(const Report &report, const Target &target)
      : report(report), target(target), service(report.service),
        load(report.service.workload) {}
  std::vector<Figure> build();

private:
  void add(std::string name, std::vector<std::string> keys, Views value,
           Term term);
  void addSteps();
  void addService(const Service &one, llvm::StringRef prefix);
  void addRates(const Service &one, llvm::StringRef prefix);
  void addEnergy(const Service &one, llvm::StringRef prefix);
  void addDollars(const Service &one, llvm::StringRef prefix);
  void addMemory();
  Term stepTerm(std::string name, const PlanCost &plan) const;
  Term decodeTerm() const;
  Term tpotTerm(const Service &one) const;
  Term requestTerm(const Service &one) const;
  Term productionTerm(const Service &one) const;
  Term energyTerm(const Service &one, bool wall) const;

  const Report &report;
  const Target &target;
  const ServeResult &service;
  const Workload &load;
  std::vector<Figure> list;
};
} // namespace

/// A number that is what it is.
static Term leaf(std::string name, double value, std::string unit,
                 std::string formula = "",
                 std::vector<std::string> facts = {}) {
  return {std::move(name),  value, std::move(unit), std::move(formula),
          std::move(facts), {}};
}

void FigureList::add(std::string name, std::vector<std::string> keys,
                     Views value, Term term) {
  term.name = name;
  std::string unit = term.unit;
  list.push_back({std::move(name), std::move(keys), std::move(unit), value,
                  std::move(term)});
}

/// The facts in a tree.
static void collectFacts(const Term &term, std::vector<std::string> &facts) {
  std::vector<const Term *> pending = {&term};
  while (!pending.empty()) {
    const Term *next = pending.back();
    pending.pop_back();
    for (const std::string &fact : next->facts) {
      if (!llvm::is_contained(facts, fact)) {
        facts.push_back(fact);
      }
    }
    for (const Term &child : next->children) {
      pending.push_back(&child);
    }
  }
}

/// A step as the sum of its ops, each of which opens by its own name.
Term FigureList::stepTerm(std::string name, const PlanCost &plan) const {
  Term term = leaf(std::move(name), 0, "s",
                   "sum of its ops, mostly bound by " + plan.expectation.limit);
  for (const OpRow &row : opRows(plan)) {
    Term op = leaf(row.label, row.seconds.expectation, "s",
                   text(row.count) + " x " +
                       text(row.seconds.expectation / row.count, "s") +
                       ", bound by " + row.limit);
    for (const StepCost &step : plan.steps) {
      if (step.label == row.label) {
        collectFacts(step.cost.time, op.facts);
      }
    }
    if (row.label == kStartLabel) {
      collectFacts(plan.startTime, op.facts);
    }
    term.value += op.value;
    term.children.push_back(std::move(op));
  }
  llvm::sort(term.children, [](const Term &a, const Term &b) {
    return std::pair(-a.value, a.name) < std::pair(-b.value, b.name);
  });
  if (!plan.power.name.empty()) {
    term.children.push_back(plan.power);
  }
  return term;
}

Term FigureList::decodeTerm() const {
  Term term = leaf("decode step", service.decode.seconds.expectation, "s",
                   "mean over contexts from " + text(load.inputTokens) +
                       " to " + text(load.inputTokens + load.outputTokens));
  for (const StepPoint &point : service.decodePoints) {
    bool isMean = &point - service.decodePoints.data() ==
                  ptrdiff_t(service.decodePoints.size() / 2);
    std::string name = "at a context of " + text(point.context);
    if (isMean && report.decode.expectation.seconds > 0) {
      term.children.push_back(stepTerm(std::move(name), report.decode));
    } else {
      term.children.push_back(
          leaf(std::move(name), point.seconds.expectation, "s"));
    }
  }
  return term;
}

void FigureList::addSteps() {
  add("ttft", {"mean_ttft_ms"}, service.ttftSeconds,
      stepTerm("", report.prefillOne));
  add("prefill", {"prefill_ms"}, service.prefillAllSeconds,
      stepTerm("", report.prefill));
  add("decode_step", {"decode_step_ms"}, service.decodeSeconds, decodeTerm());
  auto watts = [&](std::string name, std::string key, Views value,
                   const StepPoint &point, const PlanCost &plan) {
    Term term = leaf("", point.joules.expectation / point.seconds.expectation,
                     "W", "joules over seconds of one board");
    term.children = {leaf("joules", point.joules.expectation, "J"),
                     leaf("seconds", point.seconds.expectation, "s")};
    if (!plan.power.name.empty()) {
      term.children.push_back(plan.power);
    }
    add(std::move(name), {std::move(key)}, value, std::move(term));
  };
  watts("prefill_watts", "prefill_avg_power_w", service.prefillWatts,
        service.prefillAll, report.prefill);
  watts("decode_watts", "decode_avg_power_w", service.decodeWatts,
        service.decode, report.decode);
  double gpus = double(service.gpus);
  double prompts = load.sequences * load.inputTokens;
  Term input =
      leaf("", service.prefillAll.joules.expectation * gpus / prompts, "J",
           text(gpus) + " boards x " +
               text(service.prefillAll.joules.expectation, "J") + " / " +
               text(prompts) + " tokens in");
  add("joules_per_input_token", {}, service.joulesPerInput, std::move(input));
  Term output = leaf(
      "", service.decode.joules.expectation * gpus / load.sequences, "J",
      text(gpus) + " boards x " + text(service.decode.joules.expectation, "J") +
          " / " + text(load.sequences) + " tokens out, decode alone");
  add("decode_joules_per_output_token", {}, service.joulesPerOutput,
      std::move(output));
}

Term FigureList::tpotTerm(const Service &one) const {
  Term decode = decodeTerm();
  if (one.batching == Batching::Static) {
    return decode;
  }
  double prefills = load.sequences / load.outputTokens;
  Term prefill = stepTerm("prefill of one prompt", report.prefillOne);
  Term term =
      leaf("", decode.value + prefills * prefill.value, "s",
           "decode step + " + text(load.sequences) + " sequences / " +
               text(load.outputTokens) + " tokens out x prefill of one prompt");
  term.children = {std::move(decode), std::move(prefill)};
  return term;
}

Term FigureList::requestTerm(const Service &one) const {
  bool inFlight = one.batching == Batching::InFlight;
  double first = inFlight ? service.ttftSeconds.expectation
                          : service.prefillAllSeconds.expectation;
  double steps = std::max(0.0, load.outputTokens - 1);
  Term term = leaf("", first + steps * one.tpot.expectation, "s",
                   (inFlight ? "ttft + " : "prefill of all prompts + ") +
                       text(steps) + " further tokens x tpot");
  term.children = {leaf(inFlight ? "ttft" : "prefill", first, "s"),
                   leaf("tpot", one.tpot.expectation, "s")};
  return term;
}

/// The time in which a deployment makes its tokens, and how many.
Term FigureList::productionTerm(const Service &one) const {
  bool inFlight = one.batching == Batching::InFlight;
  return leaf(inFlight ? "tpot" : "prefill and all decode steps",
              one.made.seconds.expectation, "s",
              "makes " + text(one.made.outputTokens) + " tokens out of " +
                  text(one.made.totalTokens) + " in and out");
}

void FigureList::addRates(const Service &one, llvm::StringRef prefix) {
  double seconds = one.made.seconds.expectation;
  double gpus = double(service.gpus);
  auto rate = [&](std::string name, std::vector<std::string> keys, Views value,
                  double amount, std::string what) {
    Term term =
        leaf("", amount / seconds, "", what + " / " + text(seconds, "s"));
    term.children = {productionTerm(one)};
    add(prefix.str() + name, std::move(keys), value, std::move(term));
  };
  double out = one.made.outputTokens, all = one.made.totalTokens;
  rate("tokens_per_second", {"output_throughput"}, one.outputPerSecond, out,
       text(out) + " tokens out");
  Term user = leaf("", 1 / one.tpot.expectation, "",
                   "1 / " + text(one.tpot.expectation, "s") + " of tpot");
  add(prefix.str() + "tokens_per_second_per_user", {"mean_intvty"},
      one.outputPerSecondPerUser, std::move(user));
  rate("tokens_per_second_per_gpu", {"output_tput_per_gpu"},
       one.outputPerSecondPerGpu, out / gpus,
       text(out) + " tokens out / " + text(gpus) + " GPUs");
  rate("total_tokens_per_second", {"total_token_throughput"},
       one.totalPerSecond, all, text(all) + " tokens in and out");
  Views perGpu{one.totalPerSecond.bound / gpus,
               one.totalPerSecond.expectation / gpus};
  rate("total_tokens_per_second_per_gpu", {"tput_per_gpu"}, perGpu, all / gpus,
       text(all) + " tokens in and out / " + text(gpus) + " GPUs");
  rate("requests_per_second", {"request_throughput"}, one.requestsPerSecond,
       out / load.outputTokens,
       text(out) + " tokens out / " + text(load.outputTokens) + " a request");
}

/// Joules in which the tokens are made.
Term FigureList::energyTerm(const Service &one, bool wall) const {
  double gpus = double(service.gpus);
  double board = one.made.joules.expectation * gpus;
  Term boards =
      leaf("boards", board, "J",
           text(gpus) + " x " + text(one.made.joules.expectation, "J"));
  collectFacts(report.decode.power, boards.facts);
  for (const StepCost &step : report.decode.steps) {
    collectFacts(step.cost.energy, boards.facts);
  }
  if (!wall) {
    return boards;
  }
  const Power &power = target.power;
  double seconds = one.made.seconds.expectation;
  Term hosts =
      leaf("hosts, network, fans", power.hostPerGpu * gpus * seconds, "J",
           text(gpus) + " x " + text(power.hostPerGpu, "W") + " x " +
               text(seconds, "s"),
           {"power.host_per_gpu"});
  Term term = leaf("at the wall", (board + hosts.value) * power.pue, "J",
                   "(boards + hosts) x " + text(power.pue), {"power.pue"});
  term.children = {std::move(boards), std::move(hosts)};
  return term;
}

void FigureList::addEnergy(const Service &one, llvm::StringRef prefix) {
  auto joules = [&](std::string name, std::string key, Views value, bool wall,
                    double tokens, llvm::StringRef what) {
    Term made = energyTerm(one, wall);
    Term term = leaf("", made.value / tokens, "J",
                     text(made.value, "J") + " / " + text(tokens) + what.str());
    term.children = {std::move(made), productionTerm(one)};
    add(prefix.str() + name, {std::move(key)}, value, std::move(term));
  };
  double out = one.made.outputTokens, all = one.made.totalTokens;
  joules("joules_per_token", "joules_per_output_token",
         one.boardJoulesPerOutput, false, out, " tokens out");
  joules("wall_joules_per_token", "wall_joules_per_output_token",
         one.wallJoulesPerOutput, true, out, " tokens out");
  joules("joules_per_total_token", "joules_per_total_token",
         one.boardJoulesPerToken, false, all, " tokens in and out");
  joules("wall_joules_per_total_token", "wall_joules_per_total_token",
         one.wallJoulesPerToken, true, all, " tokens in and out");
}

void FigureList::addDollars(const Service &one, llvm::StringRef prefix) {
  constexpr double kSecondsPerHour = 3600, kMillion = 1e6;
  auto dollars = [&](std::string name, std::string key, Views value,
                     double tokens, llvm::StringRef what) {
    double seconds = one.made.seconds.expectation;
    double hour = service.dollarsPerHour * double(service.gpus);
    Term term =
        leaf("", hour / kSecondsPerHour * seconds / tokens * kMillion, "$",
             text(service.gpus) + " x " + text(service.dollarsPerHour, "$/h") +
                 " x " + text(seconds, "s") + " / " + text(tokens) +
                 what.str() + " x 1 M",
             {"price.per_hour." + service.priceBasis, "price.date"});
    term.children = {productionTerm(one)};
    add(prefix.str() + name, {std::move(key)}, value, std::move(term));
  };
  dollars("dollars_per_mtoken", "dollars_per_million_output_tokens",
          one.dollarsPerMillionOutput, one.made.outputTokens, " tokens out");
  dollars("dollars_per_total_mtoken", "dollars_per_million_total_tokens",
          one.dollarsPerMillionTokens, one.made.totalTokens,
          " tokens in and out");
}

void FigureList::addService(const Service &one, llvm::StringRef prefix) {
  add(prefix.str() + "tpot", {"mean_tpot_ms"}, one.tpot, tpotTerm(one));
  add(prefix.str() + "request_seconds", {"mean_e2el_ms"}, one.requestSeconds,
      requestTerm(one));
  addRates(one, prefix);
  addEnergy(one, prefix);
  addDollars(one, prefix);
}

void FigureList::addMemory() {
  const FitResult &memory = report.memory;
  double longest = load.inputTokens + load.outputTokens;
  auto bytes = [&](std::string name, std::string key, Term term) {
    term.unit = "B";
    Views value{term.value, term.value};
    add(std::move(name), {std::move(key)}, value, std::move(term));
  };
  Term one = leaf("", memory.perSequence, "B",
                  text(memory.perSequence / longest, "B") + " a token x " +
                      text(longest) + " tokens in and out");
  Term cache = leaf("", load.sequences * memory.perSequence, "B",
                    text(load.sequences) + " sequences x " +
                        text(memory.perSequence, "B"));
  Term weights = leaf("", memory.weights, "B",
                      "weights of the graph on one GPU, " + report.precision);
  Term workspace = leaf("", memory.workspace, "B",
                        "buffers between kernels, the larger of both steps");
  Term reserved = leaf("", memory.reserved, "B", "by the runtime");
  Term capacity = leaf("", memory.capacity, "B", "", {"memory.capacity"});
  double beside = memory.weights + memory.workspace + memory.reserved;
  Term left = leaf("", memory.capacity - beside - cache.value, "B",
                   "capacity - weights - workspace - reserved - cache");
  Term fit = leaf("",
                  std::floor((memory.capacity - beside) /
                             std::max(1.0, memory.perSequence)),
                  "",
                  "what weights, workspace and reserved leave / " +
                      text(memory.perSequence, "B"));
  Term named[] = {capacity, weights, workspace, reserved, cache};
  llvm::StringRef names[] = {"capacity", "weights", "workspace", "reserved",
                             "cache"};
  for (auto [part, name] : llvm::zip(named, names)) {
    part.name = name.str();
    left.children.push_back(part);
  }
  fit.children = left.children;
  cache.children = {one};
  cache.children.front().name = "cache of one sequence";
  bytes("memory", "left_bytes", std::move(left));
  bytes("capacity", "capacity_bytes", std::move(capacity));
  bytes("weights", "weight_bytes", std::move(weights));
  bytes("cache", "cache_bytes", std::move(cache));
  bytes("cache_per_sequence", "cache_bytes_per_sequence", std::move(one));
  bytes("workspace", "workspace_bytes", std::move(workspace));
  bytes("reserved", "reserved_bytes", std::move(reserved));
  Views most{fit.value, fit.value};
  add("max_sequences", {}, most, std::move(fit));
}

std::vector<Figure> FigureList::build() {
  addSteps();
  addService(service.inFlight, "");
  addService(service.fixed, "static_");
  addMemory();
  Term price = leaf("", service.dollarsPerHour, "$/h",
                    service.priceBasis + ", " + service.priceDate,
                    {"price.per_hour." + service.priceBasis, "price.date"});
  Views dollars{service.dollarsPerHour, service.dollarsPerHour};
  add("price", {"dollars_per_gpu_hour"}, dollars, std::move(price));
  return std::move(list);
}

std::vector<Figure> figures(const Report &report, const Target &target) {
  return FigureList(report, target).build();
}

} // namespace modelc
