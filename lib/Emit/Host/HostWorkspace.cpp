//===- HostWorkspace.cpp - Buffers that can lie at one place --------------===//
//
// The launches of a plan are numbered in order. A buffer lives from its first
// to its last use. Around a loop whose body it is not made in, it lives from
// trip to trip, hence through the whole loop, unless each trip writes it before
// it reads it. Buffers are put, largest first, into the first slot in which
// nothing lives at the same time; sizes are compared as if every size of the
// run were 1024, which only affects how good the result is.
//
//===----------------------------------------------------------------------===//

#include "lib/Emit/Host/HostPlan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace modelc;
using namespace modelc::schedule;

namespace {
/// Numbers of the first and last launch that need a buffer.
struct Life {
  int64_t first = INT64_MAX, last = -1;

  void extend(int64_t from, int64_t to) {
    first = std::min(first, from);
    last = std::max(last, to);
  }
  bool meets(const Life &other) const {
    return first <= other.last && other.first <= last;
  }
};

/// The order of the launches and what each does with a buffer.
class Lives {
public:
  Lives(HostPlan &plan, const HostModule &kernels) : kernels(kernels) {
    plan.op.walk([&](Operation *op) {
      if (isa<LaunchOp, CollectiveOp>(op)) {
        number[op] = static_cast<int64_t>(number.size());
      }
    });
  }

  Life of(AllocOp alloc) const {
    Life life;
    SmallVector<Operation *> users(alloc->getUsers().begin(),
                                   alloc->getUsers().end());
    llvm::erase_if(users, [&](Operation *op) { return !number.contains(op); });
    llvm::sort(users, [&](Operation *a, Operation *b) {
      return number.at(a) < number.at(b);
    });
    for (Operation *user : users) {
      life.extend(number.at(user), number.at(user));
      for (Operation *loop = user->getParentOp(); !loop->isAncestor(alloc);
           loop = loop->getParentOp()) {
        if (livesAround(loop, users, alloc.getResult())) {
          Life whole = spanOf(loop);
          life.extend(whole.first, whole.last);
        }
      }
    }
    return life;
  }

private:
  /// Whether a trip can read what the trip before it left in the buffer.
  bool livesAround(Operation *loop, ArrayRef<Operation *> users,
                   Value buffer) const {
    auto repeated = cast<LoopOp>(loop);
    if (conditionOf(repeated.getLowerBounds()[0],
                    repeated.getUpperBounds()[0])) {
      return false;
    }
    Operation *first = *llvm::find_if(
        users, [&](Operation *user) { return loop->isAncestor(user); });
    return reads(first, buffer);
  }

  bool reads(Operation *user, Value buffer) const {
    auto launch = dyn_cast<LaunchOp>(user);
    if (!launch) {
      return true;
    }
    for (unsigned number : kernels.choiceOf(launch).kernels) {
      KernelOp kernel = kernels.kernels[number].op;
      for (auto [name, argument] : launch.getNamedArguments()) {
        if (argument == buffer &&
            kernel.getRole(kernel.getArgument(name)).isRead) {
          return true;
        }
      }
    }
    return false;
  }

  Life spanOf(Operation *loop) const {
    Life span;
    loop->walk([&](Operation *op) {
      if (auto found = number.find(op); found != number.end()) {
        span.extend(found->second, found->second);
      }
    });
    return span;
  }

  const HostModule &kernels;
  llvm::DenseMap<Operation *, int64_t> number;
};
} // namespace

static int64_t estimatedBytes(const HostBuffer &buffer) {
  constexpr int64_t typicalSize = 1024;
  int64_t bytes = buffer.type().getElementBytes();
  unsigned next = 0;
  AllocOp alloc = buffer.op;
  for (int64_t extent : buffer.type().getShape()) {
    bool isKnown = extent >= 0 || next >= alloc.getSizes().size();
    bytes *= isKnown ? std::max<int64_t>(extent, 1)
                     : valueIfSizesWere(alloc.getSizes()[next++], typicalSize)
                           .value_or(typicalSize);
  }
  return bytes;
}

static FailureOr<std::string> bytesText(const HostPlan &plan,
                                        const HostBuffer &buffer) {
  FailureOr<std::vector<std::string>> factors = plan.extents(buffer);
  if (failed(factors)) {
    return failure();
  }
  factors->push_back(std::to_string(buffer.type().getElementBytes()));
  return productText(*factors);
}

/// The largest of the buffers of a slot; equal expressions count once.
static LogicalResult nameBytes(const HostPlan &plan, HostSlot &slot) {
  SmallVector<std::string> texts;
  for (unsigned buffer : slot.buffers) {
    FailureOr<std::string> text = bytesText(plan, plan.workspace[buffer]);
    if (failed(text)) {
      return failure();
    }
    if (!llvm::is_contained(texts, *text)) {
      texts.push_back(*text);
    }
  }
  slot.bytes = texts.front();
  for (const std::string &text : ArrayRef(texts).drop_front()) {
    slot.bytes = "maximum(" + slot.bytes + ", " + text + ")";
  }
  return success();
}

LogicalResult modelc::assignSlots(HostPlan &plan, const HostModule &kernels) {
  Lives lives(plan, kernels);
  SmallVector<Life> life;
  SmallVector<unsigned> order;
  for (const HostBuffer &buffer : plan.workspace) {
    order.push_back(life.size());
    life.push_back(lives.of(buffer.op));
  }
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::make_pair(-estimatedBytes(plan.workspace[a]), a) <
           std::make_pair(-estimatedBytes(plan.workspace[b]), b);
  });
  for (unsigned buffer : order) {
    auto slot = llvm::find_if(plan.slots, [&](const HostSlot &slot) {
      return llvm::none_of(slot.buffers, [&](unsigned other) {
        return life[buffer].meets(life[other]);
      });
    });
    if (slot == plan.slots.end()) {
      slot = plan.slots.insert(slot, HostSlot());
    }
    slot->buffers.push_back(buffer);
  }
  for (HostSlot &slot : plan.slots) {
    if (failed(nameBytes(plan, slot))) {
      return failure();
    }
  }
  return success();
}
