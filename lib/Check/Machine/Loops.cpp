//===- Loops.cpp - Natural loops of the control flow ----------------------===//
//
// An instruction is a node. A step to a header that all ways to it lead through
// closes a loop; its body are the instructions that can reach that step without
// the header. The compiler may put parts of a body anywhere and may enter it in
// the middle.
//
//===----------------------------------------------------------------------===//

#include "lib/Check/Machine/Loops.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace modelc::check;
using llvm::BitVector;
using Neighbours = std::vector<llvm::SmallVector<uint32_t, 2>>;

static Neighbours successorsOf(const std::vector<Instruction> &code) {
  Neighbours next(code.size());
  for (uint32_t i = 0; i < code.size(); ++i) {
    llvm::StringRef name = code[i].name;
    if (code[i].target != ~0u) {
      next[i].push_back(code[i].target);
    }
    if (name != "s_branch" && name != "s_endpgm" && i + 1 < code.size()) {
      next[i].push_back(i + 1);
    }
  }
  return next;
}

static Neighbours reversed(const Neighbours &edges) {
  Neighbours result(edges.size());
  for (uint32_t i = 0; i < edges.size(); ++i) {
    for (uint32_t to : edges[i]) {
      result[to].push_back(i);
    }
  }
  return result;
}

/// What can be reached from a node without going through another.
static BitVector reach(const Neighbours &edges, uint32_t from,
                       uint32_t without) {
  BitVector seen(unsigned(edges.size()));
  std::vector<uint32_t> open;
  auto visit = [&](uint32_t node) {
    if (node != without && !seen[node]) {
      seen.set(node);
      open.push_back(node);
    }
  };
  visit(from);
  while (!open.empty()) {
    uint32_t node = open.back();
    open.pop_back();
    for (uint32_t next : edges[node]) {
      visit(next);
    }
  }
  return seen;
}

std::vector<Loop>
modelc::check::innermostLoops(const std::vector<Instruction> &code) {
  Neighbours next = successorsOf(code), previous = reversed(next);
  BitVector live = reach(next, 0, ~0u);
  std::map<uint32_t, BitVector> bodies; // by header
  for (uint32_t header = 0; header < code.size(); ++header) {
    if (!live[header] || previous[header].size() < 2) {
      continue;
    }
    BitVector around = reach(next, 0, header);
    BitVector body(unsigned(code.size()));
    for (uint32_t from : previous[header]) {
      if (live[from] && !around[from]) {
        body |= reach(previous, from, header);
      }
    }
    if (body.any()) {
      body.set(header);
      bodies[header] = body;
    }
  }
  std::vector<Loop> loops;
  for (const auto &[header, body] : bodies) {
    bool innermost = llvm::none_of(bodies, [&](const auto &other) {
      return other.first != header && body[other.first];
    });
    if (innermost) {
      Loop &loop = loops.emplace_back();
      loop.header = header;
      for (unsigned i : body.set_bits()) {
        loop.body.push_back(i);
      }
    }
  }
  return loops;
}
