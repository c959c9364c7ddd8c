//===- Figures.cpp - The numbers of a report, each with its sum -----------===//
//
// Every sum is made again from its parts, so that a figure whose explanation
// does not give its value shows in a test.
//
//===----------------------------------------------------------------------===//

#include "lib/Report/Figures.h"
#include "lib/Report/OpRows.h"
#include "lib/Report/Prompts.h"
#include "lib/Support/Support.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

namespace modelc {

static std::string text(double value, llvm::StringRef unit = "") {
  return formatQuantity(value, unit, 4);
}

namespace {
/// Builds the figures of steps and service of one report.
class ServiceFigures {
public:
  ServiceFigures(const Report &report, const Target &target, FigureList &list)
      : report(report), target(target), service(report.service),
        load(report.service.workload), list(list) {}
  void build();

private:
  void addPrefill();
  void addDecode();
  void addWatts(std::string name, std::string key, const Views &value,
                const StepPoint &point, const PlanCost &plan);
  void addService(const Service &one, llvm::StringRef prefix);
  void addTpot(const Service &one, llvm::StringRef prefix);
  void addRates(const Service &one, llvm::StringRef prefix);
  void addEnergy(const Service &one, llvm::StringRef prefix);
  void addDollars(const Service &one, llvm::StringRef prefix);
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
  FigureList &list;
};
} // namespace

/// A number that is what it is.
static Term leaf(std::string name, double value, std::string unit,
                 std::string formula = "",
                 std::vector<std::string> facts = {}) {
  return {std::move(name),  value, std::move(unit), std::move(formula),
          std::move(facts), {}};
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
Term ServiceFigures::stepTerm(std::string name, const PlanCost &plan) const {
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

Term ServiceFigures::decodeTerm() const {
  Term term = leaf("decode step", service.decode->seconds.expectation, "s",
                   "mean over contexts from " + text(load.inputTokens) +
                       " to " + text(load.inputTokens + load.outputTokens));
  for (const StepPoint &point : service.decodePoints) {
    std::string name = "at a context of " + text(point.context);
    if (point.context == report.decodeContext) {
      term.children.push_back(stepTerm(std::move(name), report.decode));
    } else {
      term.children.push_back(
          leaf(std::move(name), point.seconds.expectation, "s"));
    }
  }
  return term;
}

void ServiceFigures::addWatts(std::string name, std::string key,
                              const Views &value, const StepPoint &point,
                              const PlanCost &plan) {
  Term term = leaf("", point.joules.expectation / point.seconds.expectation,
                   "W", "joules over seconds of one board");
  term.children = {leaf("joules", point.joules.expectation, "J"),
                   leaf("seconds", point.seconds.expectation, "s")};
  if (!plan.power.name.empty()) {
    term.children.push_back(plan.power);
  }
  list.add(std::move(name), std::move(key), value, std::move(term));
  if (value.bound > target.power.tdp) {
    list.addNote("the bound draws more than the board may, " +
                 text(target.power.tdp, "W"));
  }
}

void ServiceFigures::addPrefill() {
  list.add("ttft", "mean_ttft_ms", service.ttftSeconds,
           stepTerm("", report.prefillOne));
  list.addNote(chunksInWords(load));
  list.add("prefill", "prefill_ms", service.prefillAllSeconds,
           stepTerm("", report.prefill));
  list.addNote(chunksInWords(load));
  const StepPoint &all = service.prefillAll;
  double gpus = double(service.gpus);
  double prompts = load.sequences * load.inputTokens;
  list.add("prefill_tokens_per_second", "input_throughput",
           service.inputPerSecond,
           leaf("", prompts / all.seconds.expectation, "",
                text(prompts) + " tokens in / " +
                    text(all.seconds.expectation, "s")));
  addWatts("prefill_watts", "prefill_avg_power_w", service.prefillWatts, all,
           report.prefill);
  list.add("joules_per_input_token", "joules_per_input_token",
           service.joulesPerInput,
           leaf("", all.joules.expectation * gpus / prompts, "J",
                text(gpus) + " boards x " + text(all.joules.expectation, "J") +
                    " / " + text(prompts) + " tokens in"));
}

void ServiceFigures::addDecode() {
  struct Name {
    llvm::StringLiteral name, key;
  };
  constexpr Name kStep{"decode_step", "decode_step_ms"},
      kWatts{"decode_watts", "decode_avg_power_w"},
      kJoules{"decode_joules_per_output_token",
              "decode_joules_per_output_token"};
  if (!service.decode) {
    for (const Name &one : {kStep, kWatts, kJoules}) {
      list.addAbsent(one.name.str(), one.key.str(), kNoDecode.str());
    }
    return;
  }
  list.add(kStep.name.str(), kStep.key.str(), *service.decodeSeconds,
           decodeTerm());
  addWatts(kWatts.name.str(), kWatts.key.str(), *service.decodeWatts,
           *service.decode, report.decode);
  double gpus = double(service.gpus);
  double joules = service.decode->joules.expectation;
  list.add(kJoules.name.str(), kJoules.key.str(), *service.joulesPerOutput,
           leaf("", joules * gpus / load.sequences, "J",
                text(gpus) + " boards x " + text(joules, "J") + " / " +
                    text(load.sequences) + " tokens out, decode alone"));
}

Term ServiceFigures::tpotTerm(const Service &one) const {
  Term decode = decodeTerm();
  if (one.batching == Batching::Static) {
    return decode;
  }
  double together = service.promptsTogether;
  double others = load.sequences / together - 1, steps = load.outputTokens - 1;
  Term prefill = stepTerm("prefill of " + promptsTogether(service),
                          report.prefillInFlight);
  Term term =
      leaf("", decode.value + others / steps * prefill.value, "s",
           "decode step + " + text(others) +
               (together > 1 ? " other prefills / " : " other sequences / ") +
               text(steps) + " further tokens x prefill of " +
               promptsTogether(service));
  term.children = {std::move(decode), std::move(prefill)};
  return term;
}

Term ServiceFigures::requestTerm(const Service &one) const {
  bool inFlight = one.batching == Batching::InFlight;
  double together = inFlight ? service.promptsTogether : load.sequences;
  double first = inFlight ? service.prefillInFlight.seconds.expectation
                          : service.prefillAllSeconds.expectation;
  double steps = load.outputTokens - 1;
  std::string firstName = !inFlight ? "prefill of all prompts"
                          : together > 1
                              ? "prefill of " + promptsTogether(service)
                              : "ttft";
  if (!one.tpot) {
    double turns = load.sequences / together;
    return leaf("", turns * first, "s",
                text(turns) + " x " + firstName +
                    ", which makes the only token");
  }
  double tpot = one.tpot->expectation;
  Term term = leaf("", first + steps * tpot, "s",
                   firstName + " + " + text(steps) + " further tokens x tpot");
  term.children = {leaf(firstName, first, "s"), leaf("tpot", tpot, "s")};
  return term;
}

/// The time in which a deployment makes its tokens, and how many.
Term ServiceFigures::productionTerm(const Service &one) const {
  bool inFlight = one.batching == Batching::InFlight;
  return leaf(inFlight ? "a prefill of each sequence and all decode steps"
                       : "prefill and all decode steps",
              one.made.seconds.expectation, "s",
              "makes " + text(one.made.outputTokens) + " tokens out of " +
                  text(one.made.totalTokens) + " in and out");
}

void ServiceFigures::addRates(const Service &one, llvm::StringRef prefix) {
  double seconds = one.made.seconds.expectation;
  double gpus = double(service.gpus);
  auto rate = [&](std::string name, std::string key, Views value, double amount,
                  std::string what) {
    Term term =
        leaf("", amount / seconds, "", what + " / " + text(seconds, "s"));
    term.children = {productionTerm(one)};
    list.add(prefix.str() + name, std::move(key), value, std::move(term));
  };
  double out = one.made.outputTokens, all = one.made.totalTokens;
  rate("tokens_per_second", "output_throughput", one.outputPerSecond, out,
       text(out) + " tokens out");
  rate("tokens_per_second_per_gpu", "output_tput_per_gpu",
       one.outputPerSecondPerGpu, out / gpus,
       text(out) + " tokens out / " + text(gpus) + " GPUs");
  rate("total_tokens_per_second", "total_token_throughput", one.totalPerSecond,
       all, text(all) + " tokens in and out");
  Views perGpu{one.totalPerSecond.bound / gpus,
               one.totalPerSecond.expectation / gpus};
  rate("total_tokens_per_second_per_gpu", "tput_per_gpu", perGpu, all / gpus,
       text(all) + " tokens in and out / " + text(gpus) + " GPUs");
  rate("requests_per_second", "request_throughput", one.requestsPerSecond,
       out / load.outputTokens,
       text(out) + " tokens out / " + text(load.outputTokens) + " a request");
}

/// Joules in which the tokens are made.
Term ServiceFigures::energyTerm(const Service &one, bool wall) const {
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

void ServiceFigures::addEnergy(const Service &one, llvm::StringRef prefix) {
  auto joules = [&](std::string name, std::string key, Views value, bool wall,
                    double tokens, llvm::StringRef what) {
    Term made = energyTerm(one, wall);
    Term term = leaf("", made.value / tokens, "J",
                     text(made.value, "J") + " / " + text(tokens) + what.str());
    term.children = {std::move(made), productionTerm(one)};
    list.add(prefix.str() + name, std::move(key), value, std::move(term));
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

void ServiceFigures::addDollars(const Service &one, llvm::StringRef prefix) {
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
    list.add(prefix.str() + name, std::move(key), value, std::move(term));
  };
  dollars("dollars_per_mtoken", "dollars_per_million_output_tokens",
          one.dollarsPerMillionOutput, one.made.outputTokens, " tokens out");
  dollars("dollars_per_total_mtoken", "dollars_per_million_total_tokens",
          one.dollarsPerMillionTokens, one.made.totalTokens,
          " tokens in and out");
}

void ServiceFigures::addTpot(const Service &one, llvm::StringRef prefix) {
  std::string name = prefix.str() + "tpot";
  std::string user = prefix.str() + "tokens_per_second_per_user";
  if (!one.tpot) {
    list.addAbsent(name, "mean_tpot_ms", kNoDecode.str());
    list.addAbsent(user, "mean_intvty", kNoDecode.str());
    return;
  }
  double tpot = one.tpot->expectation;
  list.add(name, "mean_tpot_ms", *one.tpot, tpotTerm(one));
  list.addNote(togetherInWords(service, one.batching));
  list.add(user, "mean_intvty", *one.outputPerSecondPerUser,
           leaf("", 1 / tpot, "", "1 / " + text(tpot, "s") + " of tpot"));
}

void ServiceFigures::addService(const Service &one, llvm::StringRef prefix) {
  addTpot(one, prefix);
  list.add(prefix.str() + "request_seconds", "mean_e2el_ms", one.requestSeconds,
           requestTerm(one));
  list.addNote(togetherInWords(service, one.batching));
  addRates(one, prefix);
  addEnergy(one, prefix);
  addDollars(one, prefix);
}

void ServiceFigures::build() {
  addPrefill();
  addDecode();
  addService(service.inFlight, "");
  addService(service.fixed, "static_");
}

FigureList figures(const Report &report, const Target &target) {
  FigureList list;
  ServiceFigures(report, target, list).build();
  addMemoryFigures(report, list);
  const ServeResult &service = report.service;
  Views dollars{service.dollarsPerHour, service.dollarsPerHour};
  list.add("price", "dollars_per_gpu_hour", dollars,
           leaf("", service.dollarsPerHour, "$/h",
                service.priceBasis + ", " + service.priceDate,
                {"price.per_hour." + service.priceBasis, "price.date"}));
  return list;
}

} // namespace modelc
