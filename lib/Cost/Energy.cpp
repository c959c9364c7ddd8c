//===- Energy.cpp - Joules of a kernel ------------------------------------===//
//
// Joules for each operation by type and for each byte by level, and the power
// of the idle board over the time. The energy for an operation holds at any
// clock; what a lower voltage saves is in the measured figures of the target
// file.
//
//===----------------------------------------------------------------------===//

#include "lib/Cost/Energy.h"
#include "lib/Cost/Rates.h"
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
        sum.flopByType[amounts.row->ratedType()] += times * amounts.matrixFlop;
      }
      sum.vectorOperations +=
          times * (amounts.vector + amounts.exp2 + amounts.convert);
      sum.sharedBytes += times * amounts.sharedBytes;
    }
  }
  sum.l2Bytes = traffic.l2;
  sum.memoryBytes = traffic.memory();
  sum.linkBytes = traffic.link;
  return sum;
}

static double perFlop(const Target &target, llvm::StringRef type) {
  return valueFor(target.power.perFlop, type, target.power.perVectorFlop);
}

double dynamicJoules(const EnergyAmounts &amounts, const Target &target) {
  const Power &power = target.power;
  double joules = amounts.vectorOperations * power.perVectorFlop +
                  amounts.sharedBytes * power.perByteShared +
                  amounts.l2Bytes * power.perByteL2 +
                  amounts.memoryBytes * power.perByteMemory +
                  amounts.linkBytes * power.perByteLink;
  for (const auto &[type, flop] : amounts.flopByType) {
    joules += flop * perFlop(target, type);
  }
  return joules;
}

/// amount x joules each.
static void addProduct(Term &sum, llvm::StringRef name, double amount,
                       llvm::StringRef unit, double each, std::string fact) {
  if (amount <= 0) {
    return;
  }
  Term term{name.str(), amount * each, "J", "", {std::move(fact)}, {}};
  term.formula = formatQuantity(amount, unit) + " x " +
                 formatQuantity(each, "J/" + unit.str());
  sum.children.push_back(std::move(term));
}

Term energyTerm(const EnergyAmounts &amounts, const Target &target,
                double seconds) {
  const Power &power = target.power;
  Term sum{"energy", 0, "J", "sum of the work and of the idle board", {}, {}};
  for (const auto &[type, flop] : amounts.flopByType) {
    llvm::StringRef key = keyFor(power.perFlop, type);
    addProduct(sum, "matrix " + type, flop, "flop", perFlop(target, type),
               key.empty() ? "power.per_vector_flop"
                           : "power.per_flop." + key.str());
  }
  addProduct(sum, "vector units", amounts.vectorOperations, "flop",
             power.perVectorFlop, "power.per_vector_flop");
  addProduct(sum, "shared memory", amounts.sharedBytes, "B",
             power.perByteShared, "power.per_byte_shared");
  addProduct(sum, "L2", amounts.l2Bytes, "B", power.perByteL2,
             "power.per_byte_l2");
  addProduct(sum, "device memory", amounts.memoryBytes, "B",
             power.perByteMemory, "power.per_byte_memory");
  addProduct(sum, "links", amounts.linkBytes, "B", power.perByteLink,
             "power.per_byte_link");
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
