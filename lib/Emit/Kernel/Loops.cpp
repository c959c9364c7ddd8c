//===- Loops.cpp - Blocks, loops, conditions, roles -----------------------===//

#include "lib/Emit/Kernel/Issued.h"
#include "lib/Emit/Kernel/Printer.h"
#include "lib/Text/Text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

/// The condition of a loop of 0 or 1 trips, or null.
static Value conditionOf(LoopOp loop) {
  auto select = loop.getUpperBounds()[0].getDefiningOp<arith::SelectOp>();
  if (select && matchPattern(loop.getLowerBounds()[0], m_Zero()) &&
      matchPattern(select.getTrueValue(), m_One()) &&
      matchPattern(select.getFalseValue(), m_Zero())) {
    return select.getCondition();
  }
  return {};
}

LogicalResult KernelPrinter::printBlock(Block &block) {
  for (auto it = block.begin(); it != block.end();) {
    auto end = isOneThread ? it : endOfIssued(it, block);
    if (end == it) {
      Operation &op = *it++;
      if (!isa<YieldOp>(op) && failed(printOp(&op))) {
        return failure();
      }
      continue;
    }
    open("if (isIssuer()) {");
    names.enterScope();
    isOneThread = true;
    for (; it != end; ++it) {
      if (failed(printOp(&*it))) {
        return failure();
      }
    }
    isOneThread = false;
    names.leaveScope();
    close();
  }
  return success();
}

/// A choice of 0 or 1 that only bounds conditions is not printed.
static bool isOnlyCondition(Operation *op) {
  return isa<arith::SelectOp>(op) && !op->use_empty() &&
         llvm::all_of(op->getUsers(), [&](Operation *user) {
           auto loop = dyn_cast<LoopOp>(user);
           return loop && loop.getKind() == LoopKind::Sequence &&
                  loop.getUpperBounds()[0] == op->getResult(0) &&
                  conditionOf(loop);
         });
}

LogicalResult KernelPrinter::printOp(Operation *op) {
  if (idle.contains(op)) {
    handOn(op);
    return success();
  }
  if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect())) {
    return isOnlyCondition(op) ? success() : printScalar(op);
  }
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<AllocOp>([](auto) { return success(); })
      .Case<PrefetchOp>([&](PrefetchOp o) { return printPrefetch(o); })
      .Case<LoadOp>([&](LoadOp o) { return printLoad(o); })
      .Case<StoreOp>([&](StoreOp o) { return printStore(o); })
      .Case<CopyOp>([&](CopyOp o) { return printCopy(o); })
      .Case<MapOp>([&](MapOp o) { return printMap(o); })
      .Case<MmaOp>([&](MmaOp o) { return printMma(o); })
      .Case<ReduceOp>([&](ReduceOp o) { return printReduce(o); })
      .Case<RelayoutOp>([&](RelayoutOp o) { return printRelayout(o); })
      .Case<AnyOp>([&](AnyOp o) { return printAny(o); })
      .Case<WaitOp>([&](WaitOp o) { return printWait(o); })
      .Case<ArriveOp>([&](ArriveOp o) { return printArrive(o); })
      .Case<SyncOp>([&](SyncOp o) { return printSync(o); })
      .Case<RoleOp>([&](RoleOp o) {
        auto printWork = [&] { return printBlock(o.getBody().front()); };
        return !walking       ? printRole(o, printWork)
               : walking == o ? printWork()
                              : success();
      })
      .Case<LoopOp>([&](LoopOp o) {
        return o.getKind() == LoopKind::Workgroups ? printGrid(o)
                                                   : printLoop(o);
      })
      .Default([](Operation *o) {
        return o->emitOpError("expected an op of a kernel in the final form");
      });
}

//===----------------------------------------------------------------------===//
// Carried values
//===----------------------------------------------------------------------===//

static std::string variableType(Value value, StringRef layout) {
  auto tile = dyn_cast<TileType>(value.getType());
  return tile ? "Tile<" + elementName(tile.getElementType()) + ", " +
                    layout.str() + ">"
              : elementName(value.getType());
}

/// A carried value takes over the variable of what starts it, or starts as a
/// copy. Tokens have no variable.
void KernelPrinter::declareCarried(LoopOp loop) {
  for (auto [init, carried, result] :
       llvm::zip_equal(loop.getInits(), loop.getCarried(), loop.getResults())) {
    if (isa<TokenType>(carried.getType())) {
      continue;
    }
    auto tile = dyn_cast<TileType>(carried.getType());
    if (tile && handsOn(init, loop, carried.getType())) {
      // A copy first: the map may move when it grows.
      spelled[carried] = std::string(spelled[init]);
    } else {
      std::string start = text(init), wish = wishFor(carried);
      std::string layout = tile ? layoutName(tile, wish) : "";
      std::string name = nameOf(carried, wish);
      line(variableType(carried, layout) + " " + name + " = " + start + ";");
    }
    spelled[result] = std::string(spelled[carried]);
  }
}

/// Assigns what is yielded; values that are overwritten too early are saved.
void KernelPrinter::printYield(LoopOp loop) {
  SmallVector<std::pair<std::string, std::string>> assignments;
  for (auto [carried, value] :
       llvm::zip_equal(loop.getCarried(), loop.getYield().getValues())) {
    if (isa<TokenType>(carried.getType()) || isLeftOut(value)) {
      continue;
    }
    std::string to = spelled[carried], from = text(value);
    if (to != from) {
      assignments.push_back({to, from});
    }
  }
  for (auto [i, assignment] : llvm::enumerate(assignments)) {
    std::string &from = assignment.second;
    bool isLate = llvm::any_of(
        ArrayRef(assignments).take_front(i),
        [&](const auto &earlier) { return earlier.first == from; });
    if (isLate) {
      std::string saved = names.fresh("last" + capitalised(from));
      line("const auto " + saved + " = " + from + ";");
      from = saved;
    }
  }
  for (const auto &[to, from] : assignments) {
    line(to + " = " + from + ";");
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

LogicalResult KernelPrinter::printBody(LoopOp loop) {
  if (failed(printBlock(loop.getBody().front()))) {
    return failure();
  }
  printYield(loop);
  return success();
}

/// A staggered loop: the last groups of waves run one rendezvous late, and all
/// meet again behind it.
void KernelPrinter::syncLate(LoopOp loop, bool isBefore) {
  int64_t groups = loop.getStagger().value_or(1);
  if (groups == 1) {
    return;
  }
  std::string why = isBefore ? "these waves move while the others multiply"
                             : "all meet again";
  open(Twine(isBefore ? "if (waveId() >= " : "if (waveId() < ") +
       Twine(kernel.getWaves() / groups) + ") { " + lineComment(why));
  line("syncOnly();");
  close();
}

static bool isScheduled(LoopOp loop) {
  bool ofRole = !!loop->getParentOfType<RoleOp>();
  return loop
      ->walk([&](Operation *op) {
        return WalkResult(
            failure(isa<MmaOp>(op) || (ofRole && isa<WaitOp>(op))));
      })
      .wasInterrupted();
}

/// Whether the bound of a loop says that there is a trip: one of at least 1.
static bool knowsOfTrip(LoopOp loop) {
  auto bound = loop.getUpperBounds()[0].getDefiningOp<arith::MaxSIOp>();
  APInt least;
  return bound && matchPattern(loop.getLowerBounds()[0], m_Zero()) &&
         matchPattern(bound.getRhs(), m_ConstantInt(&least)) &&
         least.isStrictlyPositive();
}

static bool isProductInRegisters(Value value) {
  return value.getDefiningOp<MmaOp>() && isa<TileType>(value.getType());
}

/// In each trip that is written out, sums that a map adds products to: a
/// compiler would add all of them behind the last trip.
void KernelPrinter::holdAddends(LoopOp loop) {
  for (auto [sum, value] :
       llvm::zip_equal(loop.getCarried(), loop.getYield().getValues())) {
    auto map = value.getDefiningOp<MapOp>();
    if (map && llvm::any_of(map.getInputs(), isProductInRegisters)) {
      line("hold<1>(" + spelled[sum] + ");");
    }
  }
}

/// A compiler moves products of trips that follow the loop over a ring, where
/// their number is no multiple of its slots, to where their sums are stored:
/// behind conditions, and with all operands kept until there.
void KernelPrinter::holdSums(LoopOp loop, int64_t slots) {
  constexpr int64_t kOfFragment = 4; // registers that a product fills together
  APInt trips;
  if (matchPattern(loop.getUpperBounds()[0], m_ConstantInt(&trips)) &&
      trips.getSExtValue() % slots == 0) {
    return;
  }
  for (auto [sum, value] :
       llvm::zip_equal(loop.getResults(), loop.getYield().getValues())) {
    if (isProductInRegisters(value)) {
      line("hold<" + Twine(kOfFragment) + ">(" + spelled[sum] + ");");
    }
  }
}

LogicalResult KernelPrinter::printLoop(LoopOp loop) {
  declareCarried(loop);
  syncLate(loop, /*isBefore=*/true);
  BlockArgument variable = loop.getInductionVars()[0];
  Value lower = loop.getLowerBounds()[0], upper = loop.getUpperBounds()[0];
  names.enterScope();
  if (Value condition = conditionOf(loop)) {
    spelled[variable] = "0";
    open("if (" + text(condition) + ") {");
    LogicalResult result = printBody(loop);
    close();
    names.leaveScope();
    return result;
  }
  if (loop.getDelayed()) {
    LogicalResult result = printDelayed(loop);
    names.leaveScope();
    return result;
  }
  std::string name = nameOf(variable, wishFor(variable));
  if (int64_t slots = tripsWrittenOut(loop, target); slots > 1) {
    APInt first;
    if (!matchPattern(lower, m_ConstantInt(&first)) ||
        first.getSExtValue() % slots != 0 || !loop.getSteps().empty()) {
      return loop.emitOpError("expected a loop over a ring to count its trips "
                              "from 0 in steps of 1");
    }
    open("unroll<" + Twine(slots) + ">(" + text(lower) + ", " + text(upper) +
         ", [&](auto " + name + ") INLINE {");
    LogicalResult result = printBody(loop);
    holdAddends(loop);
    close("});");
    names.leaveScope();
    syncLate(loop, /*isBefore=*/false);
    holdSums(loop, slots);
    return result;
  }
  std::string step = loop.getSteps().empty()
                         ? "++" + name
                         : name + " += " + text(loop.getSteps()[0]);
  // The schedule has placed what overlaps; trips that a compiler writes out of
  // its own spill what they load ahead.
  if (isScheduled(loop)) {
    // A product that may not happen is one that the vendor's compiler waits
    // for.
    if (knowsOfTrip(loop)) {
      line("__builtin_assume(" + text(upper, 10) + " > 0);");
    }
    line("#pragma unroll 1");
  }
  open("for (int " + name + " = " + text(lower) + "; " + name + " < " +
       text(upper, 10) + "; " + step + ") {");
  LogicalResult result = printBody(loop);
  close();
  names.leaveScope();
  syncLate(loop, /*isBefore=*/false);
  return result;
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// Template arguments of what one thread does: says so where the text around is
/// run by that thread alone.
std::string KernelPrinter::caller(StringRef rest) {
  std::string text = isOneThread ? "OneThread" : "";
  text += (text.empty() || rest.empty() ? "" : ", ") + rest.str();
  return text.empty() ? "" : "<" + text + ">";
}

/// Roles that follow each other are the branches of one choice.
void KernelPrinter::openRole(RoleOp role) {
  bool isFirst = !isa_and_nonnull<RoleOp>(role->getPrevNode());
  bool isLast = role.getFirst() + role.getWaves() == kernel.getWaves();
  if (isFirst) {
    waveName = names.fresh("wave");
    line("const int " + waveName + " = uniformWaveId();");
  }
  std::string condition =
      isLast && !isFirst
          ? ""
          : "if (" + waveName + " < " +
                std::to_string(role.getFirst() + role.getWaves()) + ") ";
  open((isFirst ? "" : "} else ") + condition + "{ " +
       lineComment("role: " + role.getName()));
}

LogicalResult
KernelPrinter::printRole(RoleOp role, function_ref<LogicalResult()> printWork) {
  openRole(role);
  names.enterScope();
  if (role.getRegisters()) {
    const Execution &execution = target.execution;
    int64_t atLaunch = execution.registerBytesPerUnit / 4 /
                       (kernel.getWaves() * execution.waveSize);
    int64_t own = *role.getRegisters();
    line((own < atLaunch ? "lowerRegisters<" : "raiseRegisters<") + Twine(own) +
         ">();");
  }
  if (role.getLeader() && !role.getElect()) {
    return role.emitOpError("expected one thread where only the first "
                            "workgroup of a cluster runs a role");
  }
  if (role.getElect()) {
    std::string whose = role.getLeader() ? "clusterRank() == 0 && " : "";
    open("if (" + whose +
         (role.getWaves() > 1
              ? waveName + " == " + std::to_string(role.getFirst()) + " && "
              : "") +
         "elect()) {");
  }
  isOneThread = role.getElect();
  LogicalResult result = printWork();
  isOneThread = false;
  if (role.getElect()) {
    close();
    line("syncWave();");
  }
  names.leaveScope();
  --depth;
  if (!isa_and_nonnull<RoleOp>(role->getNextNode())) {
    line("}");
  }
  return result;
}
