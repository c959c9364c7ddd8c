//===- Energy.cpp - Joules of a kernel ------------------------------------===//
//
// Joules for each operation by type and for each byte by level, and the power
// of the idle board over the time. A chip raises its voltage with its clock:
// an operation takes joules as a power of the clock (power.clock_exponent), if
// the target knows it, and the same at any clock if not.
//
//===----------------------------------------------------------------------===//

#include "lib/Cost/Time/Energy.h"
#include "lib/Cost/Time/Rates.h"
#include "lib/Support/Support.h"

namespace modelc {

EnergyAmounts energyAmounts(const KernelWork &work, const Traffic &traffic) {
  EnergyAmounts sum;
  std::vector<double> executions(work.blocks.size(), 0);
  executions[0] = work.workgroups();
  for (auto [number, block] : llvm::enumerate(work.blocks)) {
    double trips = executions[number] * block.trips;
    for (const Step &step : block.steps) {
      if (step.nested >= 0) {
        executions[step.nested] = trips * step.executions;
        continue;
      }
      double times = trips * step.executions;
      const Amounts &amounts = step.amounts;
      if (amounts.row) {
        sum.flopByRow[amounts.row] += times * amounts.matrixFlop;
      }
      sum.vectorOperations +=
          times * (amounts.vector + amounts.exp2 + amounts.convert);
      sum.sharedBytes += times * (amounts.sharedBytes + amounts.boxBytes);
    }
  }
  sum.l2Bytes = traffic.l2;
  sum.memoryBytes = traffic.memory();
  sum.linkBytes = traffic.link;
  return sum;
}

static double perFlop(const Target &target, const MmaRow &row) {
  const Power &power = target.power;
  return row.joulesPerFlop > 0
             ? row.joulesPerFlop
             : valueFor(power.perFlop, row.ratedType(), power.perVectorFlop);
}

static std::string factOf(const Target &target, const MmaRow &row) {
  llvm::StringRef key = keyFor(target.power.perFlop, row.ratedType());
  return row.joulesPerFlop > 0 ? "mma." + row.name + ".per_flop"
         : key.empty()         ? "power.per_vector_flop"
                               : "power.per_flop." + key.str();
}

void WorkJoules::add(double times, const WorkJoules &other) {
  chip += times * other.chip;
  beside += times * other.beside;
}

double WorkJoules::at(double clockHz, const Target &target) const {
  return chip * target.joulesOver(clockHz) + beside;
}

WorkJoules workJoules(const EnergyAmounts &amounts, const Target &target) {
  const Power &power = target.power;
  WorkJoules joules;
  joules.chip = amounts.vectorOperations * power.perVectorFlop +
                amounts.sharedBytes * power.perByteShared +
                amounts.l2Bytes * power.perByteL2;
  for (const auto &[row, flop] : amounts.flopByRow) {
    joules.chip += flop * perFlop(target, *row);
  }
  joules.beside = amounts.memoryBytes * power.perByteMemory +
                  amounts.linkBytes * power.perByteLink;
  return joules;
}

/// amount x joules each, which follow from the facts.
static void addProduct(Term &sum, llvm::StringRef name, double amount,
                       llvm::StringRef unit, double each,
                       std::vector<std::string> facts) {
  if (amount <= 0) {
    return;
  }
  Term term{name.str(), amount * each, "J", "", std::move(facts), {}};
  term.formula = formatQuantity(amount, unit) + " x " +
                 formatQuantity(each, "J/" + unit.str());
  sum.children.push_back(std::move(term));
}

Term energyTerm(const EnergyAmounts &amounts, const Target &target,
                double clockHz, double seconds) {
  const Power &power = target.power;
  Term sum{"energy", 0, "J", "sum of the work and of the idle board", {}, {}};
  double over = target.joulesOver(clockHz);
  auto addOnChip = [&](llvm::StringRef name, double amount,
                       llvm::StringRef unit, double each, std::string fact) {
    std::vector<std::string> facts = {std::move(fact)};
    if (power.clockExponent > 0) {
      facts.push_back("power.clock_exponent");
    }
    if (power.clockExponent > 0 && power.atClockHz > 0) {
      facts.push_back("power.at_clock");
    }
    addProduct(sum, name, amount, unit, over * each, std::move(facts));
  };
  for (const auto &[row, flop] : amounts.flopByRow) {
    addOnChip("matrix " + row->ratedType(), flop, "flop", perFlop(target, *row),
              factOf(target, *row));
  }
  addOnChip("vector units", amounts.vectorOperations, "flop",
            power.perVectorFlop, "power.per_vector_flop");
  addOnChip("shared memory", amounts.sharedBytes, "B", power.perByteShared,
            "power.per_byte_shared");
  addOnChip("L2", amounts.l2Bytes, "B", power.perByteL2, "power.per_byte_l2");
  addProduct(sum, "device memory", amounts.memoryBytes, "B",
             power.perByteMemory, {"power.per_byte_memory"});
  addProduct(sum, "links", amounts.linkBytes, "B", power.perByteLink,
             {"power.per_byte_link"});
  Term idle{"idle board", power.idle * seconds, "J", "", {"power.idle"}, {}};
  idle.formula =
      formatQuantity(power.idle, "W") + " x " + formatQuantity(seconds, "s");
  sum.children.push_back(std::move(idle));
  for (const Term &child : sum.children) {
    sum.value += child.value;
  }
  return sum;
}

} // namespace modelc
